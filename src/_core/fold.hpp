// Fold and batch gradient descent: the updates of all examples of a fold are computed with the weights fixed; their
// weighted mean is applied (Lecture 002).
//
// Problem, input and output as in epoch.hpp and smooth.hpp. Two matrix products, X w and X^T tau, with their sums in a
// fixed order. Dense rows are read once for both, the second product going to `sums`; for CSR rows, whose folds
// touch few of the columns, the taus are kept and the rows read again, so that no fold costs as much as the columns.
//
// Included by kernels.cpp only, inside the namespace of one build.

// Move one task's weights by the updates of a fold.
template <class Rows>
void move_by_fold(const Rows& X, const Pass& pass, BinaryTask& t, std::int64_t from, std::int64_t to, double* sums,
                  double shrink, double total, double age) {
    if constexpr (Rows::kSparse) {
        t.real[scale] *= shrink;
        if (t.real[scale] < kSmallestScale) settle(X, t, age);
        for (std::int64_t p = from; p < to; ++p) {
            const double step = sums[p - from] / total;
            if (step == 0.0) continue;
            const std::int64_t i = row_at(pass, p);
            X.add(i, step / t.real[scale], t.w);
            if (t.average_correction) X.add(i, age * step, t.average_correction);
        }
    } else {
        settle(X, t, age);
        for (std::int64_t j = 0; j < X.cols; ++j) {
            const double step = sums[j] / total;
            t.w[j] = shrink * t.w[j] + step;
            if (t.average_correction) t.average_correction[j] += age * step;
            sums[j] = 0.0;
        }
    }
}

template <class Loss, class Rows>
std::int64_t fold_rows(const Rows& X, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks,
                       const Folds& folds, const Scratch& scratch) {
    const std::int64_t width = Rows::kSparse ? scratch.parts : X.cols;
    const std::int64_t* edge = folds.edges;
    if constexpr (Loss::kHinge) measure(X, pass, rule, tasks, n_tasks);
    for (std::int64_t from = pass.begin, to; from < pass.end; from = to) {
        to = edge ? *++edge : pass.end - from > folds.size ? from + folds.size : pass.end;
        double total = 0.0;
        for (int k = 0; k < n_tasks; ++k) scratch.bias_sum[k] = 0.0, scratch.moving[k] = 0;
        for (std::int64_t p = from; p < to; ++p) {
            const std::int64_t i = row_at(pass, p);
            const double weight = weight_at(pass, p, i);
            total += weight;
            const std::int64_t ahead = row_ahead<Rows>(pass, p);
            const bool good = in_blocks(n_tasks, [&](auto block, int first) {
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
                    const Loss at(margin);
                    const bool wrong = is_mistake(margin, rule.threshold, t.tie_is_mistake[positive]);
                    t.count[mistakes] += wrong;
                    if constexpr (Loss::kAlways) {
                        note_loss(at, weight, t);
                    } else if (!wrong) {
                        continue;
                    }
                    if (Loss::kHinge && at.slope == 0.0) continue;
                    const double tau = (Loss::kHinge ? 1.0 : step_size(rule, t)) * at.slope * weight;
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
            BinaryTask& t = tasks[k];
            if constexpr (Loss::kHinge) {  // shrinks also where no example adds to the weights
                if (total > 0.0) {
                    move_hinge_by_fold(X, pass, rule, t, from, to, scratch.sums + k * width, scratch.bias_sum[k], total,
                                       scratch.moving[k] > 0);
                }
                continue;
            }
            if (scratch.moving[k] == 0) continue;
            if (t.pocket) check_pocket(X, pass, t, pass.clock);
            const double age = pass.clock - t.real[birth];
            const double shrink = 1.0 - step_size(rule, t) * rule.alpha;
            move_by_fold(X, pass, t, from, to, scratch.sums + k * width, shrink, total, age);
            const double bias_step = scratch.bias_sum[k] / total;
            t.real[bias] += bias_step;
            t.real[average_correction_bias] += age * bias_step;
            t.real[run_start] = pass.clock + total;
            t.count[pocket_checked] = 0;
            ++t.count[updates];
        }
        pass.clock += total;
    }
    end_epoch(X, pass, tasks, n_tasks);
    return all_good;
}
