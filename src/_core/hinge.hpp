// The online soft-margin SVM and the passive-aggressive rules: examples with a margin below 1 add to the weights, and
// for the SVM every example shrinks them. How much, rules.hpp says.
//
// Problem of the SVM: minimise mean(max(0, 1 - y (w.x + b))) + alpha / 2 |w|^2 for each task. Input and output as in
// epoch.hpp.
//
// The weights are scale * w, so that an example costs its own values and no more: shrinking is one product, and so is
// bringing the weights back to a ball, whose test needs only `square` = |w|^2, kept up to date by each addition and
// taken anew when an epoch begins (section 2.3 there).
//
// The average. With v the array w, s the scale and c the sum of the scales over all weight met (each as the example
// left it), the sum of all weights is c v - average_correction if each addition g x to v adds c g x to
// average_correction, c being that before the example. With s = 1 throughout c is the age and this is the form that the
// other rules keep; so `scale_deficit` = age - c is kept, 0 for them. The two parts of that difference are as large as
// the age / s: to lose no more than a few digits to it, the scale is brought into the weights before it has fallen far.
//
// Included by kernels.cpp only, inside the namespace of one build.

constexpr double kSmallestAveragedScale = 0x1p-10;

// The hinge loss, in the form that fold.hpp needs.
struct Hinge {
    static constexpr bool kAlways = true, kFactor = false, kHinge = true;
    double slope;

    SX_HOT explicit Hinge(double m) : slope(m < 1.0 ? 1.0 : 0.0), shortfall(m < 1.0 ? 1.0 - m : 0.0) {}
    SX_HOT double loss() const { return shortfall; }

private:
    double shortfall;
};

// Shrink the weights, and return what the array w was multiplied by: 1 but for when the scale was brought into it.
template <class Rows>
SX_HOT double shrink_by(const Rows& X, const Rule& rule, BinaryTask& t, double shrink, double age) {
    if (rule.bias_shrinks) t.real[bias] *= shrink;
    t.real[scale] *= shrink;
    if (t.real[scale] >= (t.average_correction ? kSmallestAveragedScale : kSmallestScale)) return 1.0;
    const double brought_in = t.real[scale];
    settle(X, t, age);
    return brought_in;
}

// Add a multiple of row i to the weights; `dot` is its product with the array w.
template <class Rows>
SX_COLD void add_row(const Rows& X, const Rule& rule, BinaryTask& t, std::int64_t i, double multiple, double dot,
                     double age) {
    const double step = multiple / t.real[scale];
    if (rule.radius < HUGE_VAL) t.real[square] += step * (2.0 * dot + step * X.square_norm(i));
    X.add(i, step, t.w);
    if (t.average_correction) X.add(i, (age - t.real[scale_deficit]) * step, t.average_correction);
}

// What is due after the weights have moved: bring them back to the ball, and count them into the average.
SX_HOT void finish_step(const Pass& pass, const Rule& rule, BinaryTask& t, double bias_before, double age,
                        double share) {
    if (rule.radius < HUGE_VAL) {
        double length = t.real[scale] * t.real[scale] * t.real[square];
        if (rule.bias_shrinks && pass.bias_square > 0.0) length += t.real[bias] * t.real[bias] / pass.bias_square;
        if (length > rule.radius * rule.radius) {
            const double back = rule.radius / ::sqrt(length);
            t.real[scale] *= back;
            if (rule.bias_shrinks) t.real[bias] *= back;
        }
    }
    if (t.average_correction) {
        t.real[average_correction_bias] += age * (t.real[bias] - bias_before);
        t.real[scale_deficit] += share * (1.0 - t.real[scale]);
    }
}

// |x|^2 of the row at hand with its bias coordinate, computed once if some task needs it.
template <class Rows>
struct Square {
    const Rows& X;
    std::int64_t i;
    double bias_square, value = -1.0;

    SX_HOT double operator()() {
        if (value < 0.0) value = X.square_norm(i) + bias_square;
        return value;
    }
};

// One presentation of row i, whose product with w is `dot`. False when the activation is not finite.
template <class R, class Rows>
SX_HOT bool present_hinge(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i, double dot,
                          double share, double clock, Square<Rows>& square) {
    const bool positive = pass.codes[i] == t.positive;
    const double bias_before = t.real[bias], activation = t.real[scale] * dot + bias_before;
    if (!is_finite(activation)) return false;
    const double margin = positive ? activation : -activation;
    const double age = clock - t.real[birth];
    t.count[mistakes] += is_mistake(margin, 0.0, t.tie_is_mistake[positive]);
    if constexpr (!R::kShrinks) {
        if (!(margin < 1.0)) return true;
    }
    const Update update = R::step(rule, margin, R::kSquare ? square() : 0.0, age, share);
    double brought_in = 1.0;
    if constexpr (R::kShrinks) brought_in = shrink_by(X, rule, t, update.shrink, age);
    if (margin < 1.0) {
        const double signed_tau = positive ? update.tau : -update.tau;
        add_row(X, rule, t, i, signed_tau, brought_in * dot, age);
        t.real[bias] += signed_tau * pass.bias_square;
        t.real[epoch_loss] += share * (1.0 - margin);
        ++t.count[updates];
    }
    finish_step(pass, rule, t, bias_before, age, share);
    return true;
}

// The further presentations of a row that weighs more than 1, as in smooth.hpp.
template <class R, class Rows>
SX_COLD bool present_hinge_again(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i,
                                 double weight, Square<Rows>& square) {
    const double* w[1] = {t.w};
    double remaining = weight - 1.0, clock = pass.clock + 1.0;
    for (int copy = 2; remaining > 0.0; ++copy) {
        const double share = remaining < 1.0 || copy == kCopies ? remaining : 1.0;
        double dot;
        X.template dots<1>(i, w, &dot);
        if (!present_hinge<R>(X, pass, rule, t, i, dot, share, clock, square)) return false;
        remaining -= share;
        clock += share;
    }
    return true;
}

template <class R, int N, class Rows>
SX_HOT bool visit_row_hinge(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask* tasks, std::int64_t i,
                            double weight, std::int64_t ahead) {
    const double* w[N];
    double dot[N];
    SX_UNROLL for (int k = 0; k < N; ++k) w[k] = tasks[k].w;
    X.template dots<N>(i, w, dot, ahead);
    Square<Rows> square{X, i, pass.bias_square};
    SX_UNROLL for (int k = 0; k < N; ++k) {
        BinaryTask& t = tasks[k];
        if (!(weight > 0.0)) {  // it changes nothing, but must still be a number
            if (!is_finite(dot[k])) return false;
            continue;
        }
        const double share = weight < 1.0 ? weight : 1.0;
        if (!present_hinge<R>(X, pass, rule, t, i, dot[k], share, pass.clock, square)) return false;
        if (weight > 1.0 && !present_hinge_again<R>(X, pass, rule, t, i, weight, square)) return false;
    }
    return true;
}

template <class Rows>
double square_of(const Rows& X, const BinaryTask& t) {
    double sum = 0.0;
    for (std::int64_t j = 0; j < X.cols; ++j) sum += t.w[j] * t.w[j];
    return sum;
}

// Take |w|^2 anew where an epoch begins, so that the rounding of many additions does not pile up.
template <class Rows>
void measure(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    if (pass.begin != 0 || !(rule.radius < HUGE_VAL)) return;
    for (int k = 0; k < n_tasks; ++k) tasks[k].real[square] = square_of(X, tasks[k]);
}

template <class R, class Rows>
std::int64_t visit_hinge(const Rows& X, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    measure(X, pass, rule, tasks, n_tasks);
    auto visit = [&](auto block, BinaryTask* some, std::int64_t i, double weight, std::int64_t ahead) {
        return visit_row_hinge<R, decltype(block)::size>(X, pass, rule, some, i, weight, ahead);
    };
    return visit_with(X, pass, tasks, n_tasks, visit);
}

// Move one task's weights by the updates of a fold: `sums` holds weight * y for each example (CSR rows) or the sum of
// weight * y * x (dense rows) over those with a margin below 1, and `bias_sum` that of weight * y * K^2.
template <class Rows>
void move_hinge_by_fold(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t from,
                        std::int64_t to, double* sums, double bias_sum, double total, bool moving) {
    const double age = pass.clock - t.real[birth], bias_before = t.real[bias];
    const bool by_weight = rule.kind == Kind::pegasos;
    const Update pace = Shrinking::step(rule, 0.0, 0.0, age, by_weight ? total : 1.0);
    shrink_by(X, rule, t, pace.shrink, age);
    if (moving) {
        const double part = pace.tau / total;
        t.real[bias] += bias_sum * part;
        if constexpr (Rows::kSparse) {
            const double* w[1] = {t.w};
            for (std::int64_t p = from; p < to; ++p) {
                if (sums[p - from] == 0.0) continue;
                const std::int64_t i = row_at(pass, p);
                double dot = 0.0;  // with the weights as the rows before this one left them
                if (rule.radius < HUGE_VAL) X.template dots<1>(i, w, &dot);
                add_row(X, rule, t, i, sums[p - from] * part, dot, age);
            }
        } else {
            const double multiple = part / t.real[scale], counted = age - t.real[scale_deficit];
            for (std::int64_t j = 0; j < X.cols; ++j) {
                const double step = sums[j] * multiple;
                t.w[j] += step;
                if (t.average_correction) t.average_correction[j] += counted * step;
                sums[j] = 0.0;
            }
            if (rule.radius < HUGE_VAL) t.real[square] = square_of(X, t);
        }
        ++t.count[updates];
    }
    finish_step(pass, rule, t, bias_before, age, total);
}
