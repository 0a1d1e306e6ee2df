// Several classes learned together: a weight vector each, and one rule for the margin of the correct class over its worst
// rival, the wrong class with the highest score (the first of those that tie).
//
// Problem, input and output as in loop.hpp. With z the table that has x in the row of the correct class, -x in that of the
// rival and zeros elsewhere, the margin m = w_y.x - w_r.x is that of the binary task "z or not?" over the table of all
// weights, and |z|^2 = 2 |x|^2 (Kesler's construction). So the rules of loop.hpp see m and 2 q, and "add tau z" is: add
// tau x to w_y, subtract it from w_r. Perceptron: the worst-rival update of Crammer and Singer 2003. Passive-aggressive:
// the single rival of Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006.
//
// Included by kernels.cpp only, inside the namespace of one build.

// The scores of row i, to t.scores; whether all are finite.
template <class Rows>
SX_HOT bool score_classes(const Rows& X, const JointTask& t, std::int64_t i, std::int64_t ahead) {
    in_blocks<Rows::kMost>(t.n_classes, [&](auto block, int first) {
        X.template dots<decltype(block)::size>(i, t.w + first, t.scores + first, first == 0 ? ahead : -1);
        return true;
    });
    double rest = 0.0;  // v - v is 0, or not a number
    for (int c = 0; c < t.n_classes; ++c) {
        t.scores[c] += t.bias[c];
        rest += t.scores[c] - t.scores[c];
    }
    return rest == 0.0;
}

// Of the scored row: the worst rival of class y.
SX_HOT int worst_rival(const JointTask& t, int y) {
    int rival = y == 0 ? 1 : 0;
    for (int c = rival + 1; c < t.n_classes; ++c) {
        if (c != y && t.scores[c] > t.scores[rival]) rival = c;
    }
    return rival;
}

// Whether a margin over this rival is a mistake; see JointTask for ties.
SX_HOT bool is_joint_mistake(const JointTask& t, double margin, double threshold, int y, int rival) {
    return is_mistake(margin, threshold, t.shared.tie_is_mistake[rival > y]);
}

// As tally_rows, the losses being those at the margin over the worst rival.
template <bool Smooth, class Rows>
std::int64_t tally_jointly(const Rows& X, const Pass& pass, const JointTask& t, double limit, Tally* out) {
    return tally_margins<Smooth, Rows>(pass, limit, out, [&](std::int64_t i, std::int64_t ahead, bool* wrong) {
        if (!score_classes(X, t, i, ahead)) return HUGE_VAL;
        const int y = pass.codes[i], rival = worst_rival(t, y);
        const double margin = t.scores[y] - t.scores[rival];
        *wrong = is_joint_mistake(t, margin, 0.0, y, rival);
        return margin;
    });
}

template <class Rows>
SX_COLD void check_joint_pocket(const Rows& X, const Pass& pass, JointTask& t, double clock) {
    const auto tally = [&](const Pass& whole, double limit, Tally* out) {
        return tally_jointly<false>(X, whole, t, limit, out);
    };
    check_ratchet(pass, t.shared, clock, tally, [&] {
        copy(t.pocket_bias, t.bias, t.n_classes);
        for (int c = 0; c < t.n_classes; ++c) copy(t.pocket + c * X.cols, t.w[c], X.cols);
    });
}

// Add `step` times the row to the weights of a class.
template <class Rows>
SX_HOT void move_class(const Rows& X, const Pass& pass, JointTask& t, std::int64_t i, int c, double step, double age) {
    X.add(i, step, t.w[c]);
    t.bias[c] += step * pass.bias_square;
    if (t.average_correction) {
        X.add(i, age * step, t.average_correction + c * X.cols);
        t.average_correction_bias[c] += age * (step * pass.bias_square);
    }
}

// One presentation of the scored row. `stopped` when the margin is not finite.
template <class R, class Rows>
SX_HOT Outcome present_jointly(const Rows& X, const Pass& pass, const R& rule, JointTask& t, RowFacts<Rows>& row,
                               double share, double clock) {
    BinaryTask& s = t.shared;
    const int y = pass.codes[row.i], rival = worst_rival(t, y);
    const double margin = t.scores[y] - t.scores[rival];
    if (!is_finite(margin)) return Outcome::stopped;
    const bool wrong = is_joint_mistake(t, margin, rule.threshold, y, rival);
    if (!R::kAlways && !wrong) return Outcome::correct;
    if constexpr (!R::kAlways) {
        if (t.pocket) {
            check_joint_pocket(X, pass, t, clock);  // which scores other rows
        }
    }
    s.count[mistakes] += wrong;
    const double age = clock - s.real[birth];
    const typename R::Loss at(margin);
    if constexpr (R::kAlways) note_loss(at, share, s);
    if (!rule.moves(at)) return Outcome::correct;
    const double q = R::kSquare ? 2.0 * row.q() : 0.0;
    const double tau = rule.step(at, q, 0.0, time_of(s, age, share)).tau;
    move_class(X, pass, t, row.i, y, tau, age);
    move_class(X, pass, t, row.i, rival, -tau, age);
    ++s.count[updates];
    if constexpr (!R::kAlways) {
        s.real[run_start] = clock + share;
        s.count[pocket_checked] = 0;
    }
    return Outcome::moved;
}

// Present row i. False when the run stops here.
template <class R, class Rows>
SX_HOT bool visit_row_jointly(const Rows& X, const Pass& pass, const R& rule, JointTask& t, std::int64_t i,
                              double weight, std::int64_t ahead) {
    RowFacts<Rows> row{X, i, pass.bias_square};
    if (!score_classes(X, t, i, ahead)) return false;
    return present_shares<R>(weight, pass.clock, 1, [&](int copy, double share, double clock) {
        if (copy > 1 && !score_classes(X, t, i, -1)) return Outcome::stopped;
        return present_jointly(X, pass, rule, t, row, share, clock);
    });
}

// Visit the examples one at a time. A run that stops leaves pass.begin at the example where it did.
template <class R, class Rows>
std::int64_t visit_jointly(const Rows& X, Pass& pass, const R& rule, JointTask& t) {
    const auto visit = [&](auto, BinaryTask*, std::int64_t i, double weight, std::int64_t ahead) {
        return visit_row_jointly(X, pass, rule, t, i, weight, ahead);
    };
    const std::int64_t bad = visit_with<false>(X, pass, &t.shared, 1, visit);
    if (bad == all_good && pass.end == pass.pool && t.pocket) check_joint_pocket(X, pass, t, pass.clock);
    return bad;
}
