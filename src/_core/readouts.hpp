// The examples of a pass, and what the readouts and the losses of a task need besides its weights.
//
// Averaged and voted readouts: Freund and Schapire 1999, figure 1. Pocket with ratchet: Gallant 1990, section III.
//
// The average is kept in the lazy form w - average_correction / age, so that an example that changes nothing costs
// nothing. Where weights shrink they are scale * v: with c the sum of the scales over all weight met (each as the example
// left it), the sum of all weights is c v - average_correction if each addition g x to v adds c g x to
// average_correction, c being that before the example. With a scale of 1 throughout c is the age, so `scale_deficit` =
// age - c is kept. The two parts of that difference are as large as the age / scale: to lose no more than a few digits to
// it, the scale is brought into the weights before it has fallen far.
//
// Included by kernels.cpp only, inside the namespace of one build.

constexpr std::int64_t kAhead = 6;  // examples between asking for a row and reading it

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

inline void copy(double* to, const double* from, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) to[j] = from[j];
}

inline double square_of(const double* w, std::int64_t n) {
    double sum = 0.0;
    for (std::int64_t j = 0; j < n; ++j) sum += w[j] * w[j];
    return sum;
}

// Add the losses of one example at its margin.
template <bool Smooth>
SX_HOT void add_losses(double weight, double margin, bool wrong, Tally* out) {
    if (Smooth) {
        out->squared += weight * SquaredLoss(margin).loss();
        out->log += weight * LogLoss(margin).loss();
        const double shortfall = margin < 1.0 ? 1.0 - margin : 0.0;
        out->hinge += weight * shortfall;
        out->squared_hinge += weight * (shortfall * shortfall);
    }
    if (wrong) {
        out->zero_one += weight;
        out->perceptron -= weight * margin;
    }
}

// Sum the losses at the margins that margin_of(i, ahead, &wrong) gives, those that are positive for correct predictions
// too only with Smooth; give up once the weight of the mistakes reaches `limit` (the result is then `limit` or more).
template <bool Smooth, class Rows, class Margin>
SX_HOT std::int64_t tally_margins(const Pass& pass, double limit, Tally* out, Margin margin_of) {
    *out = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        const std::int64_t i = row_at(pass, p);
        bool wrong;
        const double margin = margin_of(i, row_ahead<Rows>(pass, p), &wrong);
        if (!is_finite(margin)) return i;
        add_losses<Smooth>(weight_at(pass, p, i), margin, wrong, out);
        if (out->zero_one >= limit) return all_good;
    }
    return all_good;
}

// The losses of one weight vector.
template <bool Smooth, class Rows>
std::int64_t tally_rows(const Rows& X, const Pass& pass, const BinaryTask& t, double limit, Tally* out) {
    const double* w[1] = {t.w};
    return tally_margins<Smooth, Rows>(pass, limit, out, [&](std::int64_t i, std::int64_t ahead, bool* wrong) {
        double a;
        X.template dots<1>(i, w, &a, ahead);
        a += t.real[bias];
        const bool positive = pass.codes[i] == t.positive;
        const double margin = positive ? a : -a;
        *wrong = is_mistake(margin, 0.0, t.tie_is_mistake[positive]);
        return margin;
    });
}

// The ratchet: when the current weights have had the longest run of correct predictions, they replace the pocket's
// (`keep`) if they also make less loss on all examples of the epoch (`tally`).
template <class Tallying, class Keep>
SX_HOT void check_ratchet(const Pass& pass, BinaryTask& t, double clock, Tallying tally, Keep keep) {
    const double run = clock - t.real[run_start];
    if (!(run > t.real[pocket_run]) || t.count[pocket_checked]) return;
    Pass whole = pass;
    whole.begin = 0;
    whole.end = pass.pool;
    Tally seen;
    if (tally(whole, t.real[pocket_loss], &seen) != all_good) return;
    t.count[pocket_checked] = 1;
    if (seen.zero_one < t.real[pocket_loss]) {
        t.real[pocket_loss] = seen.zero_one;
        t.real[pocket_run] = run;
        keep();
    }
}

template <class Rows>
void check_pocket(const Rows& X, const Pass& pass, BinaryTask& t, double clock) {
    const auto tally = [&](const Pass& whole, double limit, Tally* out) {
        return tally_rows<false>(X, whole, t, limit, out);
    };
    check_ratchet(pass, t, clock, tally, [&] {
        t.real[pocket_bias] = t.real[bias];
        copy(t.pocket, t.coef ? t.coef : t.w, X.cols);
    });
}

// Bring the scale into the weights. The average stays what it is.
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
