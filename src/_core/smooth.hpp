// Stochastic gradient descent for neurons: every example moves the weights down the slope of its own loss.
//
// Problem: minimise mean(loss(y (w.x + b))) + alpha / 2 |w|^2 for each task. Input and output as in epoch.hpp.
// Robbins and Monro 1951; Bottou 2012, section 2. With alpha the weights are kept as scale * w, so that shrinking them
// costs nothing but a product, whatever their number (Shalev-Shwartz et al. 2011, section 2.3).
//
// Included by kernels.cpp only, inside the namespace of one build.

constexpr double kSmallestScale = 0x1p-64;

// The step of a smooth rule now.
SX_HOT double step_size(const Rule& rule, const BinaryTask& t) {
    const double eta = rule.eta * t.real[rate];
    return rule.falling ? eta / ::sqrt(double(t.count[updates] + 1)) : eta;
}

// Meet one example, whose product with w is `dot`; the multiple of its row that w should move by goes to `step`. False
// when the activation is not finite.
template <class Loss, class Rows>
SX_HOT bool meet(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i, double dot,
                 double share, double clock, double* step) {
    const bool positive = pass.codes[i] == t.positive;
    const double activation = t.real[scale] * dot + t.real[bias];
    if (!is_finite(activation)) return false;
    const double eta = step_size(rule, t) * (share < 1.0 ? share : 1.0);
    if (rule.alpha > 0.0) t.real[scale] *= 1.0 - eta * rule.alpha;
    const double inverse = t.real[scale] == 1.0 ? 1.0 : 1.0 / t.real[scale];
    const double signed_eta = positive ? eta : -eta;
    const double margin = positive ? activation : -activation;
    const Loss at(margin);
    t.count[mistakes] += is_mistake(margin, 0.0, t.tie_is_mistake[positive]);
    note_loss(at, share, t);
    const double signed_tau = signed_eta * at.slope;
    *step = signed_eta * inverse * at.slope;
    t.real[bias] += signed_tau * pass.bias_square;
    ++t.count[updates];
    if (t.average_correction) {
        const double aged = (clock - t.real[birth]) * signed_tau;
        X.add(i, aged, t.average_correction);
        t.real[average_correction_bias] += aged * pass.bias_square;
    }
    return true;
}

// One presentation of row i.
template <class Loss, class Rows>
SX_HOT bool present(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i, double dot,
                    double share, double clock) {
    double step;
    if (!meet<Loss>(X, pass, rule, t, i, dot, share, clock, &step)) return false;
    X.add(i, step, t.w);
    if (t.real[scale] < kSmallestScale) settle(X, t, clock - t.real[birth]);
    return true;
}

// The further presentations of a row that weighs more than 1. The last of many carries the loss of all the weight that
// is left, but steps no further than the others: steps that grow with a weight would be too large for some weight.
template <class Loss, class Rows>
SX_COLD bool present_again(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask& t, std::int64_t i,
                           double weight) {
    const double* w[1] = {t.w};
    double remaining = weight - 1.0, clock = pass.clock + 1.0;
    for (int copy = 2; remaining > 0.0; ++copy) {
        const double share = remaining < 1.0 || copy == kCopies ? remaining : 1.0;
        double dot;
        X.template dots<1>(i, w, &dot);
        if (!present<Loss>(X, pass, rule, t, i, dot, share, clock)) return false;
        remaining -= share;
        clock += share;
    }
    return true;
}

template <int N, class Loss, class Rows>
SX_HOT bool visit_row_smoothly(const Rows& X, const Pass& pass, const Rule& rule, BinaryTask* tasks, std::int64_t i,
                               double weight, std::int64_t ahead) {
    const double* w[N];
    double dot[N];
    SX_UNROLL for (int k = 0; k < N; ++k) w[k] = tasks[k].w;
    X.template dots<N>(i, w, dot, ahead);
    SX_UNROLL for (int k = 0; k < N; ++k) {
        BinaryTask& t = tasks[k];
        if (!(weight > 0.0)) {  // it changes nothing, but must still be a number
            if (!is_finite(dot[k])) return false;
            continue;
        }
        if (!present<Loss>(X, pass, rule, t, i, dot[k], weight < 1.0 ? weight : 1.0, pass.clock)) return false;
        if (weight > 1.0 && !present_again<Loss>(X, pass, rule, t, i, weight)) return false;
    }
    return true;
}

// One task and examples of weight 1: the move by one row and the product with the next share a pass over w.
template <class Loss, class Rows>
std::int64_t visit_alone(const Rows& X, Pass& pass, const Rule& rule, BinaryTask& t) {
    const double* w[1] = {t.w};
    double dot = 0.0, step;
    if (pass.begin < pass.end) X.template dots<1>(row_at(pass, pass.begin), w, &dot);
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        const std::int64_t i = row_at(pass, p);
        if (!meet<Loss>(X, pass, rule, t, i, dot, 1.0, pass.clock, &step)) return i;
        pass.clock += 1.0;
        if (p + 1 < pass.end && t.real[scale] >= kSmallestScale) {
            dot = X.add_and_dot(i, step, t.w, row_at(pass, p + 1), row_ahead<Rows>(pass, p));
        } else {
            X.add(i, step, t.w);
            if (t.real[scale] < kSmallestScale) settle(X, t, pass.clock - t.real[birth]);
            if (p + 1 < pass.end) X.template dots<1>(row_at(pass, p + 1), w, &dot);
        }
    }
    end_epoch(X, pass, &t, 1);
    return all_good;
}

template <class Loss, class Rows>
std::int64_t visit_smoothly(const Rows& X, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    if (n_tasks == 1 && !pass.weights) return visit_alone<Loss>(X, pass, rule, tasks[0]);
    auto visit = [&](auto block, BinaryTask* some, std::int64_t i, double weight, std::int64_t ahead) {
        return visit_row_smoothly<decltype(block)::size, Loss>(X, pass, rule, some, i, weight, ahead);
    };
    return visit_with(X, pass, tasks, n_tasks, visit);
}
