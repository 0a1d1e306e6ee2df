// Fold and batch gradient descent: the updates of all examples of a fold are computed with the weights fixed; their
// weighted mean is applied (Lecture 002).
//
// Problem, input and output as in loop.hpp. Two matrix products, X w and X^T tau, with their sums in a fixed order. Dense
// rows are read once for both, the second product going to `sums`; for CSR rows, whose folds touch few of the columns, the
// taus are kept and the rows read again, so that no fold costs as much as the columns.
//
// Included by kernels.cpp only, inside the namespace of one build.

// What a fold has gathered for one task: `sums` is the step of each example (CSR rows) or the sum of step * x (dense
// rows), `bias_sum` that of step * K^2, both times the weights, `total` the weight of all.
struct Gathered {
    std::int64_t from, to;
    double* sums;
    double bias_sum, total;
    bool moving;  // whether an example adds to the weights
};

// Move one task's weights by a fold whose steps are those of its examples.
template <class R, class Rows>
void move_by_fold(const Rows& X, const Pass& pass, const R& rule, BinaryTask& t, const Gathered& fold) {
    if (!fold.moving) return;
    if (t.pocket) check_pocket(X, pass, t, pass.clock);
    const double age = pass.clock - t.real[birth], total = fold.total;
    double shrink = 1.0;
    if constexpr (R::kShrinks) shrink = rule.fold_shrink(time_of(t, age, total));
    if constexpr (Rows::kSparse) {
        t.real[scale] *= shrink;
        if (t.real[scale] < kSmallestScale) settle(X, t, age);
        for (std::int64_t p = fold.from; p < fold.to; ++p) {
            const double step = fold.sums[p - fold.from] / total;
            if (step == 0.0) continue;
            const std::int64_t i = row_at(pass, p);
            X.add(i, step / t.real[scale], t.w);
            if (t.average_correction) X.add(i, age * step, t.average_correction);
        }
    } else {
        settle(X, t, age);
        for (std::int64_t j = 0; j < X.cols; ++j) {
            const double step = fold.sums[j] / total;
            t.w[j] = shrink * t.w[j] + step;
            if (t.average_correction) t.average_correction[j] += age * step;
            fold.sums[j] = 0.0;
        }
    }
    const double bias_step = fold.bias_sum / total;
    t.real[bias] += bias_step;
    t.real[average_correction_bias] += age * bias_step;
    t.real[run_start] = pass.clock + total;
    t.count[pocket_checked] = 0;
    ++t.count[updates];
}

// The same where the fold as a whole sets the step, and shrinks the weights also where no example adds to them.
template <class R, class Rows>
void move_at_pace(const Rows& X, const Pass& pass, const R& rule, BinaryTask& t, const Gathered& fold) {
    if (!(fold.total > 0.0)) return;
    const double age = pass.clock - t.real[birth], bias_before = t.real[bias];
    const Update pace = rule.fold_pace(age, fold.total);
    shrink_by(X, rule, t, pace.shrink, age);
    if (fold.moving) {
        const double part = pace.tau / fold.total, counted = age - t.real[scale_deficit];
        t.real[bias] += fold.bias_sum * part;
        if constexpr (Rows::kSparse) {
            const double* w[1] = {t.w};
            for (std::int64_t p = fold.from; p < fold.to; ++p) {
                if (fold.sums[p - fold.from] == 0.0) continue;
                const std::int64_t i = row_at(pass, p);
                const double step = fold.sums[p - fold.from] * part / t.real[scale];
                if (keeps_square(rule)) {
                    double dot;  // with the weights as the rows before this one left them
                    X.template dots<1>(i, w, &dot);
                    t.real[square] += step * (2.0 * dot + step * X.square_norm(i));
                }
                X.add(i, step, t.w);
                if (t.average_correction) X.add(i, counted * step, t.average_correction);
            }
        } else {
            const double multiple = part / t.real[scale];
            for (std::int64_t j = 0; j < X.cols; ++j) {
                const double step = fold.sums[j] * multiple;
                t.w[j] += step;
                if (t.average_correction) t.average_correction[j] += counted * step;
                fold.sums[j] = 0.0;
            }
            if (keeps_square(rule)) t.real[square] = square_of(t.w, X.cols);
        }
        ++t.count[updates];
    }
    finish_step(pass, rule, t, bias_before, 0.0, age, fold.total);
}

template <class R, class Rows>
std::int64_t fold_rows(const Rows& X, Pass& pass, const R& rule, BinaryTask* tasks, int n_tasks, const Folds& folds,
                       const Scratch& scratch) {
    const std::int64_t width = Rows::kSparse ? scratch.parts : X.cols;
    const std::int64_t* edge = folds.edges;
    measure(X, pass, rule, tasks, n_tasks);
    for (std::int64_t from = pass.begin, to; from < pass.end; from = to) {
        to = edge ? *++edge : pass.end - from > folds.size ? from + folds.size : pass.end;
        double total = 0.0;
        for (int k = 0; k < n_tasks; ++k) scratch.bias_sum[k] = 0.0, scratch.moving[k] = 0;
        for (std::int64_t p = from; p < to; ++p) {
            const std::int64_t i = row_at(pass, p);
            const double weight = weight_at(pass, p, i);
            total += weight;
            const std::int64_t ahead = row_ahead<Rows>(pass, p);
            const bool good = in_blocks<Rows::kMost>(n_tasks, [&](auto block, int first) {
                constexpr int n = decltype(block)::size;
                const double* w[n];
                double dot[n];
                SX_UNROLL for (int k = 0; k < n; ++k) w[k] = tasks[first + k].w;
                X.template dots<n>(i, w, dot, first == 0 ? ahead : -1);
                for (int k = 0; k < n; ++k) {
                    BinaryTask& t = tasks[first + k];
                    double* sums = scratch.sums + (first + k) * width;
                    const double activation = t.real[scale] * dot[k] + t.real[bias];
                    if (!is_finite(activation)) return false;
                    if (Rows::kSparse) sums[p - from] = 0.0;
                    if (!(weight > 0.0)) continue;
                    const bool positive = pass.codes[i] == t.positive;
                    const double margin = positive ? activation : -activation;
                    const typename R::Loss at(margin);
                    const bool wrong = is_mistake(margin, rule.threshold, t.tie_is_mistake[positive]);
                    t.count[mistakes] += wrong;
                    if constexpr (R::kAlways) note_loss(at, weight, t);
                    if ((!R::kAlways && !wrong) || !rule.moves(at)) continue;
                    double tau = weight;
                    if constexpr (!R::kPaced) tau = rule.fold_step(at, time_of(t, 0.0, 1.0)) * weight;
                    const double signed_tau = positive ? tau : -tau;
                    scratch.bias_sum[first + k] += signed_tau * pass.bias_square;
                    ++scratch.moving[first + k];
                    if (Rows::kSparse) {
                        sums[p - from] = signed_tau;
                    } else {
                        X.add(i, signed_tau, sums);
                    }
                }
                return true;
            });
            if (!good) return i;
        }
        for (int k = 0; k < n_tasks; ++k) {
            const Gathered fold{from, to, scratch.sums + k * width, scratch.bias_sum[k], total, scratch.moving[k] > 0};
            if constexpr (R::kPaced) {
                move_at_pace(X, pass, rule, tasks[k], fold);
            } else {
                move_by_fold(X, pass, rule, tasks[k], fold);
            }
        }
        pass.clock += total;
    }
    end_epoch(X, pass, tasks, n_tasks);
    return all_good;
}
