// Sequential minimal optimisation on a working set that lies in the cache.
//
// Problem: minimise 1/2 sum_ij a_i a_j y_i y_j K_ij - sum_i a_i, 0 <= a_i <= C_i, with sum_i a_i y_i kept as it is, where
// the points outside the working set stand still. Input: K among the points, y, C, a and F_i = sum_j a_j y_j K_ij - y_i
// (j over all points). Output: a and F. A step moves two points: a_i along y_i up, a_j along y_j down. The first is the
// one with the smallest F among those that can go up, the second the one that promises the largest decrease (Fan, Chen
// and Lin 2005, "Working set selection using second order information", algorithm WSS 2; curvatures below tau as there).
// It ends when the largest F that can go down is less than `tolerance` above the smallest that can go up.
//
// Included by dual_kernels.cpp only, inside the namespace of one build.

constexpr double kTau = 1e-12;

#if defined(__GNUC__)
typedef double Eight __attribute__((vector_size(64)));
typedef std::int64_t EightWhole __attribute__((vector_size(64)));
typedef float EightFloats __attribute__((vector_size(32)));
SX_HOT Eight eight(const double* p) {
    Eight v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
SX_HOT Eight eight(const float* p) {
#if defined(__AVX512F__)
    return (Eight)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
    EightFloats v;
    __builtin_memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Eight);
#endif
}
SX_HOT void put(double* p, Eight v) { __builtin_memcpy(p, &v, sizeof v); }
SX_HOT Eight all_eight(double x) { return Eight{x, x, x, x, x, x, x, x}; }
#endif

struct Extremes {
    std::int64_t i;      // the smallest F that can go up, -1 if none can
    double smallest, largest;
};

// F += step * (K_i - K_j), and the extremes of what comes out.
template <class T>
SX_HOT Extremes shift(const WorkingSet<T>& s, const T* Ki, const T* Kj, double step) {
    Extremes seen{-1, HUGE_VAL, -HUGE_VAL};
#if defined(__GNUC__)
    Eight smallest = all_eight(HUGE_VAL), largest = all_eight(-HUGE_VAL);
    EightWhole at = {-1, -1, -1, -1, -1, -1, -1, -1}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    const Eight by = all_eight(step);
    for (std::int64_t t = 0; t < s.padded; t += 8) {
        const Eight F = eight(s.F + t) + by * (eight(Ki + t) - eight(Kj + t));
        put(s.F + t, F);
        const Eight up = F + eight(s.up + t), low = F + eight(s.low + t);
        const EightWhole less = up < smallest;
        smallest = less ? up : smallest;
        at = less ? here : at;
        largest = low > largest ? low : largest;
        here += 8;
    }
    for (int l = 0; l < 8; ++l) {
        if (smallest[l] < seen.smallest || (smallest[l] == seen.smallest && at[l] < seen.i)) {
            seen.smallest = smallest[l];
            seen.i = at[l];
        }
        seen.largest = largest[l] > seen.largest ? largest[l] : seen.largest;
    }
#else
    for (std::int64_t t = 0; t < s.padded; ++t) {
        s.F[t] += step * (double(Ki[t]) - double(Kj[t]));
        const double up = s.F[t] + s.up[t], low = s.F[t] + s.low[t];
        if (up < seen.smallest) seen = {t, up, seen.largest};
        if (low > seen.largest) seen.largest = low;
    }
#endif
    return seen;
}

// The partner of i that promises most: the largest (F_j - F_i)^2 / (K_ii + K_jj - 2 K_ij).
template <class T>
SX_HOT std::int64_t partner(const WorkingSet<T>& s, std::int64_t i, const T* Ki) {
    std::int64_t best = -1;
    double most = 0.0;
    const double Fi = s.F[i], Kii = s.diagonal[i];
#if defined(__GNUC__)
    const Eight F = all_eight(Fi), own = all_eight(Kii), none = all_eight(0.0), tau = all_eight(kTau);
    Eight top = none;
    EightWhole at = {-1, -1, -1, -1, -1, -1, -1, -1}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    for (std::int64_t t = 0; t < s.padded; t += 8) {
        Eight above = eight(s.F + t) + eight(s.low + t) - F;
        above = above > none ? above : none;
        Eight curve = own + eight(s.diagonal + t) - 2.0 * eight(Ki + t);
        curve = curve > tau ? curve : tau;
        const Eight gain = above * above / curve;
        const EightWhole more = gain > top;
        top = more ? gain : top;
        at = more ? here : at;
        here += 8;
    }
    for (int l = 0; l < 8; ++l) {
        if (top[l] > most || (top[l] == most && best >= 0 && at[l] >= 0 && at[l] < best)) {
            most = top[l];
            best = at[l];
        }
    }
#else
    for (std::int64_t t = 0; t < s.padded; ++t) {
        const double above = s.F[t] + s.low[t] - Fi;
        if (!(above > 0.0)) continue;
        const double curve = Kii + s.diagonal[t] - 2.0 * double(Ki[t]);
        const double gain = above * above / (curve > kTau ? curve : kTau);
        if (gain > most) {
            most = gain;
            best = t;
        }
    }
#endif
    return best;
}

template <class T>
SX_HOT void mark(const WorkingSet<T>& s, std::int64_t t) {
    const bool below = s.alpha[t] < s.C[t], above = s.alpha[t] > 0.0, positive = s.y[t] > 0.0;
    s.up[t] = (positive ? below : above) ? 0.0 : HUGE_VAL;
    s.low[t] = (positive ? above : below) ? 0.0 : -HUGE_VAL;
}

// Returns the number of steps made.
template <class T>
std::int64_t smo(const WorkingSet<T>& s, double tolerance, std::int64_t max_steps) {
    for (std::int64_t t = 0; t < s.padded; ++t) {
        if (t < s.n) {
            mark(s, t);
        } else {
            s.up[t] = HUGE_VAL;
            s.low[t] = -HUGE_VAL;
        }
    }
    Extremes now = shift(s, s.K, s.K, 0.0);
    std::int64_t steps = 0;
    for (; steps < max_steps; ++steps) {
        const std::int64_t i = now.i;
        if (i < 0 || !(now.largest - now.smallest > tolerance)) break;
        const T* Ki = s.K + i * s.padded;
        const std::int64_t j = partner(s, i, Ki);
        if (j < 0) break;
        const T* Kj = s.K + j * s.padded;
        const double curve = s.diagonal[i] + s.diagonal[j] - 2.0 * double(Ki[j]);
        const double room_i = s.y[i] > 0.0 ? s.C[i] - s.alpha[i] : s.alpha[i];
        const double room_j = s.y[j] > 0.0 ? s.alpha[j] : s.C[j] - s.alpha[j];
        double step = (s.F[j] - s.F[i]) / (curve > kTau ? curve : kTau);
        step = step < room_i ? step : room_i;
        step = step < room_j ? step : room_j;
        // A point that reaches its bound is put exactly there, so that it counts as bound.
        s.alpha[i] = step == room_i ? (s.y[i] > 0.0 ? s.C[i] : 0.0) : s.alpha[i] + s.y[i] * step;
        s.alpha[j] = step == room_j ? (s.y[j] > 0.0 ? 0.0 : s.C[j]) : s.alpha[j] - s.y[j] * step;
        mark(s, i);
        mark(s, j);
        now = shift(s, Ki, Kj, step);
    }
    return steps;
}
