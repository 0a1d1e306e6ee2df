// One build of coordinate descent with an L1 penalty. CMake compiles this file once for each instruction set, as
// kernels.cpp.
#include "descent.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "losses.hpp"
#include "loss_blocks.hpp"
#include "mix.hpp"

template <class Of>
Slopes slopes_as(const Losses& job, double* slope, double* curvature) {
    double loss[kSums] = {}, first_sum[kSums] = {}, second[kSums] = {};
    each_block(job, [&](std::int64_t first, int n, const double* m) {
        double value[kBlock], down[kBlock], bend[kBlock];
        Of::all(m, n, value, down, bend);
        const double* signs = job.signs + first;
        const double* costs = job.costs + first;
        for (int i = 0; i < n; ++i) {
            value[i] = costs[i] * value[i];
            down[i] = signs[i] * (costs[i] * down[i]);
            bend[i] = costs[i] * bend[i];
        }
        for (int i = 0; i < n; ++i) {
            loss[i % kSums] += value[i];
            first_sum[i % kSums] += down[i];
            second[i % kSums] += bend[i];
        }
        memcpy(slope + first, down, sizeof(double) * std::size_t(n));
        memcpy(curvature + first, bend, sizeof(double) * std::size_t(n));
    });
    return {sum_of_four(loss), sum_of_four(first_sum), sum_of_four(second)};
}

Slopes slopes(const Losses& job, double* slope, double* curvature) {
    return job.kind == Smooth::log ? slopes_as<LogLosses>(job, slope, curvature)
                                   : slopes_as<SquaredHingeLosses>(job, slope, curvature);
}

template <class Of>
double loss_as(const Losses& job) {
    double loss[kSums] = {};
    each_block(job, [&](std::int64_t first, int n, const double* m) {
        double value[kBlock];
        Of::values(m, n, value);
        for (int i = 0; i < n; ++i) loss[i % kSums] += job.costs[first + i] * value[i];
    });
    return sum_of_four(loss);
}

double loss(const Losses& job) {
    return job.kind == Smooth::log ? loss_as<LogLosses>(job) : loss_as<SquaredHingeLosses>(job);
}

// For log(1 + e^-m), the conjugate being minus the entropy, this is C times the divergence of p = alpha / C from
// q = s(-m): q f((p - q) / q) + (1 - q) f((q - p) / (1 - q)) with f(t) = (1 + t) log(1 + t) - t, which is at most t^2,
// t^2 (1 + |t|) / 2 for t from -1/2 to 0, and t^2 / 2 for t > 0. These bounds cancel nothing, and but for large t they
// need no logarithm.
SX_HOT double bregman(double t) {
    const double square = t * t;
    if (t > 0.5) return t < 1e300 ? (1.0 + t) * log_of(1.0 + t) - t : HUGE_VAL;
    return t >= 0.0 ? 0.5 * square : t > -0.5 ? 0.5 * square * (1.0 - t) : square;
}

// Beyond what e^-|m| can say, the divergence is at most p m, or (1 - p) |m|.
SX_HOT double far_divergence(double p, double m) { return (1.0 + 0x1p-50) * (m > 0.0 ? p * m : (1.0 - p) * -m); }

SX_HOT double log_divergence(double p, double m, double small) {
    if (small == 0.0) return far_divergence(p, m);
    const double whole = 1.0 + small;
    const double q = (m < 0.0 ? 1.0 : small) / whole, rest = (m < 0.0 ? small : 1.0) / whole, off = p - q;
    return off == 0.0 ? 0.0 : q * bregman(off / q) + rest * bregman(-off / rest);
}

double apart_by_log(const Losses& job, const double* alpha, double scale) {
    double sum[kSums] = {};
    each_block(job, [&](std::int64_t first, int n, const double* m) {
        double small[kBlock];
        exponentials(m, n, small);
        for (int i = 0; i < n; ++i) {
            const double c = job.costs[first + i];
            sum[i % kSums] += c * log_divergence(scale * alpha[first + i] / c, m[i], small[i]);
        }
    });
    return sum_of_four(sum);
}

// In blocks as above, but of any number of margins; what a margin gets does not depend on the others.
void log_losses(const double* m, std::int64_t n, double* value, double* pull) {
    for (std::int64_t first = 0; first < n; first += kBlock) {
        const int count = int(n - first < kBlock ? n - first : kBlock);
        double small[kBlock], rest[kBlock];
        exponentials(m + first, count, small);
        if (value) {
            logarithms(small, count, rest);
            for (int i = 0; i < count; ++i) value[first + i] = (m[first + i] < 0.0 ? -m[first + i] : 0.0) + rest[i];
        }
        for (int i = 0; pull && i < count; ++i) {
            pull[first + i] = (m[first + i] < 0.0 ? 1.0 : small[i]) / (1.0 + small[i]);
        }
    }
}

// f itself at n numbers above -1: by its series near 0, where the difference would lose its digits.
SX_HOT void bregmans(const double* t, int n, double* out) {
    double u[kBlock], log[kBlock];
    for (int i = 0; i < n; ++i) {
        const double size = t[i] < 0.0 ? -t[i] / (1.0 + t[i]) : t[i];
        u[i] = size <= 1.0 ? size : 0.0;
    }
    logarithms(u, n, log);
    for (int i = 0; i < n; ++i) {
        const double x = t[i], direct = (1.0 + x) * (x < 0.0 ? -log[i] : log[i]) - x;
        const double series = x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 12.0 - x * (1.0 / 20.0 - x * (1.0 / 30.0)))));
        out[i] = fabs(x) < 1e-3 ? series : direct;
    }
    for (int i = 0; i < n; ++i) {
        if (t[i] <= 1.0 && t[i] >= -0.5) continue;
        out[i] = t[i] > -1.0 ? t[i] < 1e300 ? (1.0 + t[i]) * log_of(1.0 + t[i]) - t[i] : HUGE_VAL : 1.0;
    }
}

void log_divergences(const double* p, const double* m, std::int64_t n, double* out) {
    for (std::int64_t first = 0; first < n; first += kBlock) {
        const int count = int(n - first < kBlock ? n - first : kBlock);
        double small[kBlock], q[kBlock], rest[kBlock], up[kBlock], down[kBlock], left[kBlock], right[kBlock];
        exponentials(m + first, count, small);
        for (int i = 0; i < count; ++i) {
            const bool wrong = m[first + i] < 0.0;
            const double whole = 1.0 + small[i];
            q[i] = (wrong ? 1.0 : small[i]) / whole;
            rest[i] = (wrong ? small[i] : 1.0) / whole;
            up[i] = (p[first + i] - q[i]) / q[i];
            down[i] = (q[i] - p[first + i]) / rest[i];
        }
        bregmans(up, count, left);
        bregmans(down, count, right);
        for (int i = 0; i < count; ++i) out[first + i] = q[i] * left[i] + rest[i] * right[i];
        for (int i = 0; i < count; ++i) {
            if (small[i] == 0.0) out[first + i] = far_divergence(p[first + i], m[first + i]);
        }
    }
}

double apart_by_squares(const Losses& job, const double* alpha, double scale) {
    double sum[kSums] = {};
    each_block(job, [&](std::int64_t first, int n, const double* m) {
        for (int i = 0; i < n; ++i) {
            const double slack = 1.0 - m[i], c = job.costs[first + i], a = scale * alpha[first + i], own = 0.5 * a / c;
            sum[i % kSums] += slack > 0.0 ? c * ((slack - own) * (slack - own)) : c * (own * own) - a * slack;
        }
    });
    return sum_of_four(sum);
}

double apart(const Losses& job, const double* alpha, double scale) {
    return job.kind == Smooth::log ? apart_by_log(job, alpha, scale) : apart_by_squares(job, alpha, scale);
}

PenaltyGap penalty_gap(const double* w, const double* z, std::int64_t d, double scale, double ridge, double lasso) {
    double gap[kSums] = {}, penalty[kSums] = {}, reach[kSums] = {};
    for (std::int64_t j = 0; j < d; ++j) {
        const double v = scale * z[j], size = fabs(v), here = fabs(w[j]);
        if (here == 0.0 && size <= lasso) continue;
        const double share = here * lasso + 0.5 * ridge * here * here;
        penalty[j % kSums] += share;
        if (size <= lasso || ridge == 0.0) {  // without ridge nothing else is allowed
            gap[j % kSums] += here * (lasso - (w[j] < 0.0 ? -v : v)) + 0.5 * ridge * here * here;
        } else {
            const double best = (size - lasso) / ridge;
            const bool same = (w[j] < 0.0) == (v < 0.0) || here == 0.0;
            const double off = same ? here - best : here + best;
            gap[j % kSums] += 0.5 * ridge * off * off + (same ? 0.0 : 2.0 * lasso * here);
            reach[j % kSums] += best;
        }
    }
    return {sum_of_four(gap), sum_of_four(penalty), sum_of_four(reach)};
}

double largest(const double* z, std::int64_t d) {
    double most[4] = {};
    for (std::int64_t j = 0; j < d; ++j) {
        const double size = fabs(z[j]);
        most[j % 4] = size > most[j % 4] || size != size ? size : most[j % 4];
    }
    const double left = most[0] > most[2] ? most[0] : most[2], right = most[1] > most[3] ? most[1] : most[3];
    return left > right ? left : right;
}

// The sums of D x^2, D x and r x over one feature's numbers, in lanes by their position.
template <class T>
SX_HOT void curve_one(const Dense<T>& X, std::int64_t j, const double* D, const double* r, double* out) {
    const T* x = X.row(j);
    Vec sum[3][kRegisters];
    SX_UNROLL for (int k = 0; k < 3; ++k) {
        SX_UNROLL for (int v = 0; v < kRegisters; ++v) sum[k][v] = Vec{};
    }
    std::int64_t i = 0;
    for (; i + kLanes <= X.cols; i += kLanes) {
        SX_UNROLL for (int v = 0; v < kRegisters; ++v) {
            const Vec value = load(x + i + v * kWidth), scaled = load(D + i + v * kWidth) * value;
            sum[0][v] += scaled * value;
            sum[1][v] += scaled;
            sum[2][v] += load(r + i + v * kWidth) * value;
        }
    }
    for (; i < X.cols; i += kWidth) {
        const int n = int(X.cols - i < kWidth ? X.cols - i : kWidth);
        const int v = int(i / kWidth % kRegisters);
        const Vec value = load_first(x + i, n), scaled = load_first(D + i, n) * value;
        sum[0][v] += scaled * value;
        sum[1][v] += scaled;
        sum[2][v] += load_first(r + i, n) * value;
    }
    SX_UNROLL for (int k = 0; k < 3; ++k) out[k] = sum_of_lanes(sum[k]);
}

template <class T, class I>
SX_HOT void curve_one(const Csr<T, I>& X, std::int64_t j, const double* D, const double* r, double* out) {
    double sum[3][kSparseLanes] = {};
    const std::int64_t to = X.indptr[j + 1];
    for (std::int64_t p = X.indptr[j]; p < to; p += kSparseLanes) {
        SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
            if (p + l >= to) break;
            const double value = double(X.data[p + l]), scaled = D[X.indices[p + l]] * value;
            sum[0][l] += scaled * value;
            sum[1][l] += scaled;
            sum[2][l] += r[X.indices[p + l]] * value;
        }
    }
    for (int k = 0; k < 3; ++k) out[k] = sum_of_four(sum[k]);
}

void curve(const Matrix& m, const std::int64_t* chosen, std::int64_t count, const double* D, const double* r,
           double* squares, double* sums, double* slopes) {
    with_rows(m, [&](const auto& X) {
        for (std::int64_t k = 0; k < count; ++k) {
            double out[3];
            curve_one(X, chosen[k], D, r, out);
            squares[k] = out[0];
            sums[k] = out[1];
            slopes[k] = out[2];
        }
    });
}

// r += step D x.
template <class T>
SX_HOT void add_curved(const Dense<T>& X, std::int64_t j, double step, const double* D, double* r) {
    const T* x = X.row(j);
    std::int64_t i = 0;
    for (; i + kWidth <= X.cols; i += kWidth) store(r + i, load(r + i) + (step * load(x + i)) * load(D + i));
    for (; i < X.cols; ++i) r[i] += (step * double(x[i])) * D[i];
}

template <class T, class I>
SX_HOT void add_curved(const Csr<T, I>& X, std::int64_t j, double step, const double* D, double* r) {
    for (std::int64_t p = X.indptr[j]; p < std::int64_t(X.indptr[j + 1]); ++p) {
        r[X.indices[p]] += (step * double(X.data[p])) * D[X.indices[p]];
    }
}

template <class T>
SX_HOT std::int64_t stored_in(const Dense<T>& X, std::int64_t) {
    return X.cols;
}

template <class T, class I>
SX_HOT std::int64_t stored_in(const Csr<T, I>& X, std::int64_t j) {
    return std::int64_t(X.indptr[j + 1]) - std::int64_t(X.indptr[j]);
}

// The weight at which  slope (v - w) + bend (v - w)^2 / 2 + lasso |v|  is least.
SX_HOT double thresholded(double w, double slope, double bend, double lasso) {
    const double below = slope - lasso, above = slope + lasso;
    if (above < bend * w) return w - above / bend;
    if (below > bend * w) return w - below / bend;
    return 0.0;
}

// How far a weight is from where its slope would leave it.
SX_HOT double violation_of(double w, double slope, double lasso) {
    if (w > 0.0) return fabs(slope + lasso);
    if (w < 0.0) return fabs(slope - lasso);
    return fabs(slope) > lasso ? fabs(slope) - lasso : 0.0;
}

// In a random order coordinate descent needs several times fewer epochs than in that of correlated columns.
SX_HOT void shuffle(std::int64_t* order, std::int64_t length, std::uint64_t& state) {
    for (std::int64_t a = length - 1; a > 0; --a) {
        const std::int64_t b = std::int64_t(((mix(state) >> 32) * std::uint64_t(a + 1)) >> 32);
        state += kGolden;
        const std::int64_t moved = order[a];
        order[a] = order[b];
        order[b] = moved;
    }
}

// Anderson's extrapolation (Bertrand, Massias, AISTATS 2021): near its end descent is a linear iteration, and the
// combination of the last points whose steps add up to the least is nearer to where it leads than any of them.
struct Trail {
    double* steps;   // kSteps + 1 points of m weights; of all but the last, later, the steps from there
    double* change;  // m
    double* along;   // of every row
    int count;
};

SX_HOT double product(const double* a, const double* b, std::int64_t n) {
    const double* const some[1] = {b};
    double out;
    Dense<double>{a, n, n}.dots<1>(0, some, &out);
    return out;
}

// The weights of the steps, which add up to 1, with the least sum; false where rounding decides.
SX_COLD bool least_combination(const double* steps, std::int64_t m, double* parts) {
    double table[kSteps][kSteps], trace = 0.0;
    for (int a = 0; a < kSteps; ++a) {
        for (int b = 0; b <= a; ++b) table[a][b] = product(steps + a * m, steps + b * m, m);
        trace += table[a][a];
    }
    for (int a = 0; a < kSteps; ++a) {  // Cholesky's factor
        table[a][a] += 1e-10 * trace;
        for (int b = 0; b <= a; ++b) {
            double sum = table[a][b];
            for (int c = 0; c < b; ++c) sum -= table[a][c] * table[b][c];
            if (a == b && !(sum > 0.0)) return false;
            table[a][b] = a == b ? sqrt(sum) : sum / table[b][b];
        }
    }
    double total = 0.0;
    for (int a = 0; a < kSteps; ++a) {
        double sum = 1.0;
        for (int c = 0; c < a; ++c) sum -= table[a][c] * parts[c];
        parts[a] = sum / table[a][a];
    }
    for (int a = kSteps - 1; a >= 0; --a) {
        for (int c = a + 1; c < kSteps; ++c) parts[a] -= table[c][a] * parts[c];
        parts[a] /= table[a][a];
        total += parts[a];
    }
    if (!(total > 0.0 && total < HUGE_VAL)) return false;
    for (int a = 0; a < kSteps; ++a) parts[a] /= total;
    return true;
}

// Go to where the points on the trail lead, if the model is less there.
template <class Rows>
SX_COLD void extrapolate(const Rows& X, const std::int64_t* chosen, std::int64_t m, const Quadratic& model,
                         DescentState& state, double& shift, Trail& trail, std::int64_t n) {
    double* const w = state.weights;
    double* const steps = trail.steps;
    for (std::int64_t k = 0; k < kSteps * m; ++k) steps[k] = steps[k + m] - steps[k];
    double parts[kSteps], before = 0.0;
    if (!least_combination(steps, m, parts)) return;
    double* const change = trail.change;
    memset(change, 0, sizeof(double) * std::size_t(m));
    for (int a = 1; a < kSteps; ++a) {
        before += parts[a - 1];
        for (std::int64_t k = 0; k < m; ++k) change[k] -= before * steps[a * m + k];
    }
    double* const along = trail.along;
    memset(along, 0, sizeof(double) * std::size_t(n));
    double ridge[kSums] = {}, lasso[kSums] = {}, moved = 0.0;
    for (std::int64_t k = 0; k < m; ++k) {
        if (change[k] == 0.0) continue;
        X.add(chosen[k], change[k], along);
        state.read += stored_in(X, chosen[k]);
        const double after = w[k] + change[k];
        ridge[k % kSums] += change[k] * (after + w[k]);
        lasso[k % kSums] += fabs(after) - fabs(w[k]);
        if (model.sums) moved += change[k] * model.sums[k];
    }
    double bend[kSums] = {};
    const double* const D = model.curvature;
    for (std::int64_t i = 0; i < n; ++i) bend[i % kSums] += D[i] * along[i] * along[i];
    double gain = product(state.residual, along, n) - shift * moved + 0.5 * joined(bend);
    if (model.sums) gain -= 0.5 * moved * moved / model.total;
    gain += 0.5 * model.ridge * joined(ridge) + model.lasso * joined(lasso);
    if (!(gain < 0.0)) return;
    for (std::int64_t k = 0; k < m; ++k) w[k] += change[k];
    for (std::int64_t i = 0; i < n; ++i) state.residual[i] += D[i] * along[i];
    if (model.sums) shift += moved / model.total;
}

// Coordinate descent on the quadratic model (Friedman, Hastie, Tibshirani, J. Stat. Software 33, 2010; the inner loop of
// newGLMNET, Yuan, Ho, Lin, JMLR 13, 2012). A feature whose weight is 0 and whose slope lies well within the penalty is
// left out until the others have converged; then all are visited again.
template <class Rows>
void descend_as(const Rows& X, const std::int64_t* chosen, std::int64_t m, const Quadratic& model, DescentState& state,
                double enough, std::int64_t epochs, std::int64_t most, std::int64_t* active, double* room, std::int64_t n) {
    Trail trail{room, room + (kSteps + 1) * m, room + (kSteps + 2) * m, 0};
    const double lasso = model.lasso, ridge = model.ridge;
    double* const w = state.weights;
    double* const r = state.residual;
    double shift = state.shift, margin = HUGE_VAL;
    const double* const some[1] = {r};
    for (std::int64_t k = 0; k < m; ++k) active[k] = k;
    std::int64_t length = m;
    std::uint64_t random = 0;
    while (state.epochs < epochs && state.read < most) {
        double violation = 0.0, largest = 0.0;
        const bool whole = length == m;
        std::int64_t kept = 0;
        if (trail.count == 0) shuffle(active, length, random);  // a trail is one of the same steps
        for (std::int64_t a = 0; a < length; ++a) {
            const std::int64_t k = active[a], j = chosen[k];
            double slope;
            X.template dots<1>(j, some, &slope);
            state.read += stored_in(X, j);
            if (model.sums) slope -= shift * model.sums[k];
            slope += ridge * w[k];
            const double off = violation_of(w[k], slope, lasso);
            violation += off;
            largest = off > largest ? off : largest;
            if (w[k] == 0.0 && fabs(slope) + margin <= lasso) continue;
            active[kept++] = k;
            if (off == 0.0) continue;
            const double next = thresholded(w[k], slope, model.bends[k] + ridge, lasso);
            const double step = next - w[k];
            if (step == 0.0) continue;
            w[k] = next;
            add_curved(X, j, step, model.curvature, r);
            state.read += stored_in(X, j);
            if (model.sums) shift += step * model.sums[k] / model.total;
        }
        length = kept;
        ++state.epochs;
        state.violation = violation;
        margin = largest;
        if (violation <= enough) {
            if (whole) break;
            for (std::int64_t k = 0; k < m; ++k) active[k] = k;
            length = m;
            trail.count = 0;
            continue;
        }
        memcpy(trail.steps + trail.count * m, w, sizeof(double) * std::size_t(m));
        if (trail.count++ < kSteps) continue;
        extrapolate(X, chosen, m, model, state, shift, trail, n);
        trail.count = 0;
    }
    state.shift = shift;
}

void descend(const Matrix& m, const std::int64_t* chosen, std::int64_t count, const Quadratic& model,
             DescentState& state, double enough, std::int64_t epochs, std::int64_t most, std::int64_t* order,
             double* room) {
    with_rows(m, [&](const auto& X) {
        descend_as(X, chosen, count, model, state, enough, epochs, most, order, room, m.cols);
    });
}

void descend_gram(const double* table, std::int64_t m, const Quadratic& model, double* slope, DescentState& state,
                  double enough, std::int64_t epochs, std::int64_t* order) {
    double* const w = state.weights;
    const Dense<double> rows{table, m, m};
    std::uint64_t random = 0;
    for (std::int64_t k = 0; k < m; ++k) order[k] = k;
    while (state.epochs < epochs) {
        double violation = 0.0;
        shuffle(order, m, random);
        for (std::int64_t a = 0; a < m; ++a) {
            const std::int64_t k = order[a];
            const double here = slope[k] + model.ridge * w[k];
            const double off = violation_of(w[k], here, model.lasso);
            if (off == 0.0) continue;
            violation += off;
            const double next = thresholded(w[k], here, table[k * m + k] + model.ridge, model.lasso);
            const double step = next - w[k];
            if (step == 0.0) continue;
            w[k] = next;
            rows.add(k, step, slope);
            state.read += m;
        }
        state.read += m;
        ++state.epochs;
        state.violation = violation;
        if (violation <= enough) break;
    }
}

void spread(const Matrix& m, const double* weights, double* out) {
    with_centred_rows(m, [&](const auto& X) {
        for (std::int64_t i = 0; i < m.rows; ++i) {
            const double weight = weights[i];
            X.each(i, [&](std::int64_t j, double x) { out[j] += (weight * x) * x; });
        }
    });
}

// The error of a product, by halves of 26 bits (Dekker, Numer. Math. 18, 1971); and of a sum (Knuth).
SX_HOT double error_of_product(double a, double b, double product) {
    const double wide_a = 134217729.0 * a, wide_b = 134217729.0 * b;
    const double high_a = wide_a - (wide_a - a), high_b = wide_b - (wide_b - b);
    const double low_a = a - high_a, low_b = b - high_b;
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
}
SX_HOT double error_of_sum(double a, double b, double sum) {
    const double other = sum - a;
    return (a - (sum - other)) + (b - other);
}

void combine_precisely(const Matrix& m, const double* v, double* out, double* errors) {
    with_centred_rows(m, [&](const auto& X) {
        for (std::int64_t i = 0; i < m.rows; ++i) {
            if (v[i] == 0.0) continue;
            X.each(i, [&](std::int64_t j, double x) {
                const double product = v[i] * x, before = out[j], sum = before + product;
                errors[j] += error_of_sum(before, product, sum) + error_of_product(v[i], x, product);
                out[j] = sum;
            });
        }
    });
    for (std::int64_t j = 0; j < m.cols; ++j) out[j] += errors[j];
}

extern const DescentKernels descent_kernels;
const DescentKernels descent_kernels = {slopes, loss, log_losses, log_divergences, apart, penalty_gap, largest, spread,
                                        combine_precisely, curve, descend, descend_gram};

}  // namespace SX_BUILD
}  // namespace sx
