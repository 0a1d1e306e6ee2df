// The perceptron's loops: visit examples one at a time, or only look. (Folds: fold.hpp; neurons: smooth.hpp.)
//
// Problem: for each binary task ("class c or not?") run a rule of kind `threshold` over the
// examples of a Pass, in order. Input: rows, codes, weights, order. Output: the tasks' weights and counts,
// changed in place. Perceptron: Rosenblatt 1958. Averaged and voted readouts: Freund and Schapire 1999, figure 1;
// the average is kept in the lazy form w - average_correction / time, so a correct prediction costs nothing but its dot
// product. Pocket with ratchet: Gallant 1990, section III.
//
// An example of weight 2.5 is presented at most three times in succession, with steps of 1, 1 and 0.5 times eta:
// an integer weight is exactly that many copies of the row (the thousandth takes all that is left, so that no weight
// can hold up the run).
//
// Quick predictions. Most predictions are correct by far, and then only the sign of the activation matters. Over
// float32 rows, for several tasks at once, it is first taken in single precision with single-precision weights: the
// result differs from the double one by less than doubt * |x|, doubt = (d + 8) 2^-24 |w| (Higham 2002, section 3.1,
// with Cauchy's inequality for the sum of |w_j x_j|). Only a margin that clears the threshold by more than that is
// believed; all others are computed in double. So every decision, and with it every bit of the weights, is that of the
// double computation.
//
// Included by kernels.cpp only, inside the namespace of one build.

constexpr std::int64_t kAhead = 6;  // examples between asking for a row and reading it
constexpr int kCopies = 1000;

inline bool is_mistake(double margin, double threshold, bool tie_is_mistake) {
    return (margin < threshold) | (tie_is_mistake & (margin == threshold));
}

inline std::int64_t row_at(const Pass& pass, std::int64_t p) { return pass.order ? std::int64_t(pass.order[p]) : p; }

inline double weight_at(const Pass& pass, std::int64_t p, std::int64_t i) {
    return pass.shares ? pass.shares[p] : pass.weights ? pass.weights[i] : 1.0;
}

// The row to ask for while example p is read, or -1. Dense rows in order need none: the processor sees them coming.
template <class Rows>
inline std::int64_t row_ahead(const Pass& pass, std::int64_t p) {
    if (p + kAhead >= pass.end || (!pass.order && !Rows::kSparse)) return -1;
    return row_at(pass, p + kAhead);
}

// Threads that ask about the same rows may note the same length at the same time.
#if defined(__GNUC__)
SX_HOT float load_relaxed(const float* p) {
    float value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
SX_HOT void store_relaxed(float* p, float value) { __atomic_store(p, &value, __ATOMIC_RELAXED); }
#else
inline float load_relaxed(const float* p) { return *p; }
inline void store_relaxed(float* p, float value) { *p = value; }
#endif

inline void copy(double* to, const double* from, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) to[j] = from[j];
}

// Sum the losses of one weight vector, those that are positive for correct predictions too only with Smooth; give up
// once the weight of the mistakes reaches `limit` (the result is then `limit` or more).
template <bool Smooth, class Rows>
std::int64_t tally_rows(const Rows& X, const Pass& pass, const BinaryTask& t, double limit, Tally* out) {
    *out = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double* w[1] = {t.w};
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        const std::int64_t i = row_at(pass, p);
        double a;
        X.template dots<1>(i, w, &a, row_ahead<Rows>(pass, p));
        a += t.real[bias];
        if (!is_finite(a)) return i;
        const bool positive = pass.codes[i] == t.positive;
        const double margin = positive ? a : -a;
        const double weight = weight_at(pass, p, i);
        if (Smooth) {
            out->squared += weight * Squared(margin).loss();
            out->log += weight * Log(margin).loss();
            const double shortfall = margin < 1.0 ? 1.0 - margin : 0.0;
            out->hinge += weight * shortfall;
            out->squared_hinge += weight * (shortfall * shortfall);
        }
        if (is_mistake(margin, 0.0, t.tie_is_mistake[positive])) {
            out->zero_one += weight;
            out->perceptron -= weight * margin;
            if (out->zero_one >= limit) return all_good;
        }
    }
    return all_good;
}

// The ratchet: when the current weights have had the longest run of correct predictions, they replace the pocket's
// if they also make less loss on all examples of the epoch.
template <class Rows>
void check_pocket(const Rows& X, const Pass& pass, BinaryTask& t, double clock) {
    const double run = clock - t.real[run_start];
    if (!(run > t.real[pocket_run]) || t.count[pocket_checked]) return;
    Pass whole = pass;
    whole.begin = 0;
    whole.end = pass.pool;
    Tally seen;
    if (tally_rows<false>(X, whole, t, t.real[pocket_loss], &seen) != all_good) return;
    t.count[pocket_checked] = 1;
    if (seen.zero_one < t.real[pocket_loss]) {
        t.real[pocket_loss] = seen.zero_one;
        t.real[pocket_run] = run;
        t.real[pocket_bias] = t.real[bias];
        copy(t.pocket, t.w, X.cols);
    }
}

// Bring the scale into the weights. The average (hinge.hpp) stays what it is.
template <class Rows>
void settle(const Rows& X, BinaryTask& t, double age) {
    const double s = t.real[scale];
    if (s == 1.0) return;
    if (t.average_correction) {
        const double due = age * s - (age - t.real[scale_deficit]);
        for (std::int64_t j = 0; j < X.cols; ++j) t.average_correction[j] += due * t.w[j];
    }
    for (std::int64_t j = 0; j < X.cols; ++j) t.w[j] *= s;
    t.real[square] *= s * s;
    t.real[scale] = 1.0;
    t.real[scale_deficit] = 0.0;
}

// Bring the factor into the loss met.
SX_COLD void settle_loss(BinaryTask& t) {
    t.real[epoch_loss] += log_of(t.real[epoch_loss_factor]);
    t.real[epoch_loss_factor] = 1.0;
}

// Add to the loss met. Logarithms are dear: those of whole examples are taken of their product, once in many.
template <class Loss>
SX_HOT void note_loss(const Loss& at, double share, BinaryTask& t) {
    if constexpr (Loss::kFactor) {
        if (share == 1.0) {
            t.real[epoch_loss] += at.rest();
            t.real[epoch_loss_factor] *= at.factor();
            if (t.real[epoch_loss_factor] > 0x1p1000) settle_loss(t);
            return;
        }
    }
    t.real[epoch_loss] += share * at.loss();
}

// What is due when the last example of an epoch has been met.
template <class Rows>
void end_epoch(const Rows& X, const Pass& pass, BinaryTask* tasks, int n_tasks) {
    if (pass.end != pass.pool) return;
    for (int k = 0; k < n_tasks; ++k) {
        if (tasks[k].pocket) check_pocket(X, pass, tasks[k], pass.clock);
        settle(X, tasks[k], pass.clock - tasks[k].real[birth]);
        settle_loss(tasks[k]);
    }
}

// Make the single-precision copy of the weights, and the doubt that it brings.
template <class Rows>
void cast_shadow(const Rows& X, BinaryTask& t) {
    const double* w = t.w;
    float* shadow = t.shadow;
    Vec sum[2] = {Vec{}, Vec{}};
    std::int64_t j = 0;
    for (; j + 2 * kWidth <= X.cols; j += 2 * kWidth) {
        SX_UNROLL for (int r = 0; r < 2; ++r) {
            const Vec v = load(w + j + r * kWidth);
            store_floats(shadow + j + r * kWidth, v);
            sum[r] += v * v;
        }
    }
    double lane[kWidth], square = 0.0;
    store(lane, sum[0] + sum[1]);
    for (double part : lane) square += part;
    for (; j < X.cols; ++j) {
        shadow[j] = float(w[j]);
        square += w[j] * w[j];
    }
    t.doubt = 1.01 * double(X.cols + 8) * 0x1p-24 * ::sqrt(square);
}

// An upper bound on |x| from the single-precision sum of squares, allowing for rounding and underflow.
inline float length_bound(float square, std::int64_t cols) {
    return ::sqrtf(square) * (1.0f + float(cols + 8) * 0x1p-23f) + ::sqrtf(float(cols)) * 0x1p-62f;
}

// One update of one task by row i.
template <class Rows>
void move(const Rows& X, const Pass& pass, BinaryTask& t, std::int64_t i, double signed_tau, double clock) {
    if (t.pocket) check_pocket(X, pass, t, clock);
    X.add(i, signed_tau, t.w);
    const double bias_step = signed_tau * pass.bias_square;
    t.real[bias] += bias_step;
    const double age = clock - t.real[birth];
    if (t.average_correction) {
        X.add(i, age * signed_tau, t.average_correction);
        t.real[average_correction_bias] += age * bias_step;
    }
    if (t.votes.push) t.votes.push(t.votes.owner, i, signed_tau, age);
    if (t.shadow) cast_shadow(X, t);
    ++t.count[mistakes];
    ++t.count[updates];
}

// Everything that a clearly correct prediction does not need: the tie, the update, the copies of the row still due.
// False when the activation is not finite.
template <class Rows>
SX_COLD bool learn(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i, bool positive,
           double margin, double weight) {
    const double* w[1] = {t.w};
    double clock = pass.clock, remaining = weight;
    for (int copy = 1; remaining > 0.0; ++copy) {
        if (!is_finite(margin)) return false;
        if (!is_mistake(margin, rule.threshold, t.tie_is_mistake[positive])) return true;
        const double share = remaining < 1.0 || copy == kCopies ? remaining : 1.0;
        const double tau = rule.eta * share;
        move(X, pass, t, i, positive ? tau : -tau, clock);
        clock += share;
        remaining -= share;
        t.real[run_start] = clock;
        t.count[pocket_checked] = 0;
        if (!(remaining > 0.0)) return true;
        double a;
        X.template dots<1>(i, w, &a);
        a += t.real[bias];
        margin = positive ? a : -a;
    }
    return is_finite(margin);  // an example of weight 0 changes nothing, but must still be a number
}

template <int N, class Rows>
SX_HOT bool visit_row(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask* tasks, std::int64_t i,
                      double weight, std::int64_t ahead) {
    const double* w[N];
    double a[N];
    SX_UNROLL for (int k = 0; k < N; ++k) w[k] = tasks[k].w;
    X.template dots<N>(i, w, a, ahead);
    const std::int32_t code = pass.codes[i];
    SX_UNROLL for (int k = 0; k < N; ++k) {
        BinaryTask& t = tasks[k];
        const double activation = a[k] + t.real[bias];
        const bool positive = code == t.positive;
        const double margin = positive ? activation : -activation;
        if (margin > rule.threshold && is_finite(margin)) continue;
        if (!learn(X, pass, rule, t, i, positive, margin, weight)) return false;
    }
    return true;
}

template <class Rows>
SX_COLD bool visit_row_exactly(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i,
                               double weight) {
    return visit_row<1>(X, pass, rule, &t, i, weight, -1);
}

template <int N, class Rows>
SX_HOT bool visit_row_quickly(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask* tasks, std::int64_t i,
                              double weight, std::int64_t ahead) {
    const float* w[N];
    float a[N], square = 0.0f, length = load_relaxed(pass.lengths + i);
    SX_UNROLL for (int k = 0; k < N; ++k) w[k] = tasks[k].shadow;
    const bool measure = length == 0.0f;
    X.template quick_dots<N>(i, w, a, &square, measure, ahead);
    if (measure) {
        length = length_bound(square, X.cols);
        if (is_finite(double(length))) store_relaxed(pass.lengths + i, length);
    }
    const std::int32_t code = pass.codes[i];
    SX_UNROLL for (int k = 0; k < N; ++k) {
        BinaryTask& t = tasks[k];
        const double activation = double(a[k]) + t.real[bias];
        const double margin = code == t.positive ? activation : -activation;
        const double doubt = t.doubt * double(length) + double(X.cols) * 0x1p-120;
        if (margin - doubt > rule.threshold && is_finite(margin)) continue;
        if (!visit_row_exactly(X, pass, rule, t, i, weight)) return false;
    }
    return true;
}

// Visit the examples one at a time; `visit` presents one row for a block of tasks.
template <class Rows, class Visit>
SX_HOT std::int64_t visit_with(const Rows& X, Pass& pass, BinaryTask* tasks, int n_tasks, Visit visit) {
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        const std::int64_t i = row_at(pass, p);
        const std::int64_t ahead = row_ahead<Rows>(pass, p);
        const double weight = pass.weights ? pass.weights[i] : 1.0;
        const bool good = n_tasks == 1  // the common case, kept apart: the compiler does better by it alone
                              ? visit(Block<1>{}, tasks, i, weight, ahead)
                              : in_blocks(n_tasks, [&](auto block, int k) {
                                    return visit(block, tasks + k, i, weight, k == 0 ? ahead : -1);
                                });
        if (!good) return i;
        pass.clock += weight;
    }
    end_epoch(X, pass, tasks, n_tasks);
    return all_good;
}

template <class Rows>
std::int64_t visit_rows(const Rows& X, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    auto visit = [&](auto block, BinaryTask* t, std::int64_t i, double weight, std::int64_t ahead) {
        return visit_row<decltype(block)::size>(X, pass, rule, t, i, weight, ahead);
    };
    return visit_with(X, pass, tasks, n_tasks, visit);
}

template <class Rows>
std::int64_t visit_rows_quickly(const Rows& X, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    for (int k = 0; k < n_tasks; ++k) cast_shadow(X, tasks[k]);
    auto visit = [&](auto block, BinaryTask* t, std::int64_t i, double weight, std::int64_t ahead) {
        return visit_row_quickly<decltype(block)::size>(X, pass, rule, t, i, weight, ahead);
    };
    return visit_with(X, pass, tasks, n_tasks, visit);
}
