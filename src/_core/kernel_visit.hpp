// The perceptron in dual form (Lecture 003, 2.5): visit examples one at a time, with a kernel in place of products.
//
// Problem: for one task run the perceptron over the examples of a pass, in order, keeping alpha_i y_i of every
// example and, in `activation`, sum_j alpha_j y_j K_ij. A correct prediction costs one comparison, a mistake at i one
// kernel row: activation += tau y_i K_i, b += tau y_i K^2. Weights, readouts and ties are those of epoch.hpp: an example of
// weight 2.5 is presented at most three times in succession. When the row of a mistake is not in the store, the loop
// stops there and says so; it goes on from the same place once the row has been computed.
//
// Included by dual_kernels.cpp only, inside the namespace of one build.

constexpr int kDualCopies = 1000;

SX_HOT std::int64_t dual_row(const DualPass& pass, std::int64_t p) {
    return pass.order ? std::int64_t(pass.order[p]) : p;
}

SX_HOT double dual_margin(const DualPass& pass, const DualTask& t, std::int64_t i) {
    const double a = t.activation[i] + t.real[bias];
    return pass.codes[i] == t.positive ? a : -a;
}

SX_HOT bool dual_mistake(const DualPass& pass, const DualTask& t, std::int64_t i, double margin, double threshold) {
    return (margin < threshold) | (t.tie_is_mistake[pass.codes[i] == t.positive] & (margin == threshold));
}

// The ratchet of Gallant's pocket, see epoch.hpp; the activations are at hand, so it only has to count.
SX_COLD void check_dual_pocket(const DualPass& pass, DualTask& t, double clock) {
    const double run = clock - t.real[run_start];
    if (!(run > t.real[pocket_run]) || t.count[pocket_checked]) return;
    double loss = 0.0;
    for (std::int64_t p = 0; p < pass.pool; ++p) {
        const std::int64_t i = dual_row(pass, p);
        if (dual_mistake(pass, t, i, dual_margin(pass, t, i), 0.0)) loss += pass.weights ? pass.weights[i] : 1.0;
        if (loss >= t.real[pocket_loss]) break;
    }
    t.count[pocket_checked] = 1;
    if (loss < t.real[pocket_loss]) {
        t.real[pocket_loss] = loss;
        t.real[pocket_run] = run;
        t.real[pocket_bias] = t.real[bias];
        for (std::int64_t j = 0; j < pass.n; ++j) t.pocket[j] = t.coef[j];
    }
}

SX_COLD void dual_move(const DualPass& pass, DualTask& t, std::int64_t i, double signed_tau, double clock) {
    if (t.pocket) check_dual_pocket(pass, t, clock);
    const double* row = pass.store + pass.slot_of[i] * pass.stride;
    for (std::int64_t j = 0; j < pass.n; ++j) t.activation[j] += signed_tau * row[j];
    t.coef[i] += signed_tau;
    const double bias_step = signed_tau * pass.bias_square, age = clock - t.real[birth];
    t.real[bias] += bias_step;
    if (t.average_correction) {
        t.average_correction[i] += age * signed_tau;
        t.real[average_correction_bias] += age * bias_step;
    }
    if (t.push) t.push(t.votes, i, signed_tau, age);
    ++t.count[mistakes];
    ++t.count[updates];
}

std::int64_t dual_visit(DualPass& pass, DualTask& t) {
    for (; pass.begin < pass.end; ++pass.begin) {
        const std::int64_t i = dual_row(pass, pass.begin);
        const double weight = pass.weights ? pass.weights[i] : 1.0;
        double margin = dual_margin(pass, t, i), clock = pass.clock, remaining = weight;
        for (int copy = 1; remaining > 0.0; ++copy) {
            if (!(margin - margin == 0.0)) return kNotFinite - i;
            if (!dual_mistake(pass, t, i, margin, pass.threshold)) break;
            if (pass.slot_of[i] < 0) return i;  // only ever at the first copy: nothing has been learned from it yet
            const double share = remaining < 1.0 || copy == kDualCopies ? remaining : 1.0;
            const double tau = pass.eta * share;
            dual_move(pass, t, i, pass.codes[i] == t.positive ? tau : -tau, clock);
            clock += share;
            remaining -= share;
            t.real[run_start] = clock;
            t.count[pocket_checked] = 0;
            margin = dual_margin(pass, t, i);
        }
        pass.clock += weight;
    }
    if (pass.end == pass.pool && t.pocket) check_dual_pocket(pass, t, pass.clock);
    return kNoRow;
}
