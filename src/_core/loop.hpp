// The loop: present examples one at a time to a rule (rules.hpp) and move the weights of each task by its answer.
//
// Problem: for each binary task ("class c or not?") run a rule over the examples of a Pass, in order. Input: rows, codes,
// weights, order. Output: the tasks' weights and counts, changed in place (readouts.hpp).
//
// An example of weight 2.5 is presented at most three times in succession, with shares of 1, 1 and 0.5: an integer weight
// is exactly that many copies of the row (the thousandth takes all that is left, so that no weight can hold up the run).
// A rule that learns from mistakes only is not asked again once the example is right.
//
// Weights that shrink are scale * w, so that an example costs its own values and no more: shrinking is one product, and so
// is bringing the weights back to a ball, whose test needs only `square` = |w|^2, kept up to date by each addition and
// taken anew when an epoch begins (Shalev-Shwartz et al. 2011, section 2.3). A rule that reads it may also lengthen the
// weights, which then lose digits to what is added: so it is taken anew whenever the scale has been brought in.
//
// Rows may be those of a kernel (dual_rows.hpp): w then holds the activations of all examples, a dot product is one of
// them, and an addition is a kernel row. With a budget (budget.hpp) it may cost another example its place.
//
// Included by kernels.cpp only, inside the namespace of one build.

constexpr double kSmallestScale = 0x1p-64, kSmallestAveragedScale = 0x1p-10, kLargestScale = 0x1p10;

// What a rule may read of the row at hand, computed when it is first asked for; see spread.hpp for a rule with a spread.
template <class Rows>
struct RowFacts {
    const Rows& X;
    std::int64_t i;
    double bias_square, square = -1.0;

    SX_HOT double q() {
        if (square < 0.0) square = X.square_norm(i) + bias_square;
        return square;
    }
};

SX_HOT Time time_of(const BinaryTask& t, double age, double share) {
    return {age, share, t.count[updates], t.real[rate]};
}

// Shrink the weights, and return what the array w was multiplied by: 1 but for when the scale was brought into it.
template <class R, class Rows>
SX_HOT double shrink_by(const Rows& X, const R& rule, BinaryTask& t, double shrink, double age) {
    if (shrink == 1.0) return 1.0;
    if (rule.bias_shrinks) t.real[bias] *= shrink;
    t.real[scale] *= shrink;
    const double least = R::kNorm || t.average_correction ? kSmallestAveragedScale : kSmallestScale;
    if (t.real[scale] >= least && t.real[scale] <= kLargestScale) return 1.0;
    const double brought_in = t.real[scale];
    settle(X, t, age);
    return brought_in;
}

// Whether |w|^2 is kept up to date.
template <class R>
SX_HOT bool keeps_square(const R& rule) {
    return R::kNorm || (R::kBall && rule.radius < HUGE_VAL);
}

// What is due after the weights have moved: bring them back to the ball, and count them into the average.
template <class R>
SX_HOT void finish_step(const Pass& pass, const R& rule, BinaryTask& t, double bias_before, double bias_step, double age,
                        double share) {
    if constexpr (R::kBall) {
        if (keeps_square(rule)) {
            double length = t.real[scale] * t.real[scale] * t.real[square];
            if (rule.bias_shrinks && pass.bias_square > 0.0) length += t.real[bias] * t.real[bias] / pass.bias_square;
            if (length > rule.radius * rule.radius) {
                const double back = rule.radius / ::sqrt(length);
                t.real[scale] *= back;
                if (rule.bias_shrinks) t.real[bias] *= back;
            }
        }
    }
    if (t.average_correction) {
        t.real[average_correction_bias] += age * (R::kBiasShrinks ? t.real[bias] - bias_before : bias_step);
        if constexpr (R::kShrinks) t.real[scale_deficit] += share * (1.0 - t.real[scale]);
    }
}

enum class Outcome { moved, correct, stopped };

// What is due when the weights stay as they are: the average has them once more.
template <class R>
SX_HOT Outcome stay(BinaryTask& t, double share) {
    if constexpr (R::kShrinks) {
        if (t.average_correction) t.real[scale_deficit] += share * (1.0 - t.real[scale]);
    }
    return Outcome::correct;
}

// One presentation of the row at hand, whose product with w is `dot`. What w is due is left to the caller: `step` times
// the row. `stopped` when the activation is not finite, or the row not at hand.
template <class R, class Rows>
SX_HOT Outcome present(const Rows& X, const Pass& pass, const R& rule, BinaryTask& t, RowFacts<Rows>& row, double dot,
                       double share, double clock, double* step) {
    *step = 0.0;
    const std::int64_t i = row.i;
    const bool positive = pass.codes[i] == t.positive;
    const double bias_before = t.real[bias], activation = (R::kShrinks ? t.real[scale] * dot : dot) + bias_before;
    if (!is_finite(activation)) return Outcome::stopped;
    const double margin = positive ? activation : -activation;
    const bool wrong = is_mistake(margin, rule.threshold, t.tie_is_mistake[positive]);
    if constexpr (!R::kAlways) {
        if (!wrong) return Outcome::correct;
        if (!X.at_hand(i)) return Outcome::stopped;
        if (t.pocket) check_pocket(X, pass, t, clock);
    }
    t.count[mistakes] += wrong;
    const double age = clock - t.real[birth];
    const typename R::Loss at(margin);
    if constexpr (R::kAlways) note_loss(at, share, t);
    const bool moves = rule.moves(at);
    if (!R::kDecays && !moves) return stay<R>(t, share);
    double q = 0.0, n = 0.0, brought_in = 1.0, bias_step = 0.0;
    if constexpr (R::kSpread) {
        q = spread_square(X, t, i, row.square, pass.bias_square);
    } else if constexpr (R::kSquare) {
        q = row.q();
    }
    if constexpr (R::kNorm) {
        if (t.real[square] < 0.0) t.real[square] = square_of(t.w, X.cols);
        n = t.real[scale] * t.real[scale] * t.real[square];
        if (pass.bias_square > 0.0) n += t.real[bias] * t.real[bias] / pass.bias_square;
    }
    const Update update = rule.step(at, q, n, time_of(t, age, share));
    if (R::kDeclines && update.tau == 0.0) return stay<R>(t, share);
    if constexpr (R::kShrinks) brought_in = shrink_by(X, rule, t, update.shrink, age);
    if (moves) {
        const double tau = positive ? update.tau : -update.tau;
        if constexpr (R::kSpread) {
            bias_step = spread_move(X, t, i, tau, update.beta, age, pass.bias_square);
        } else {
            const double over = R::kShrinks ? rule.over_scale(update, at.slope, t.real[scale]) : update.tau;
            *step = positive ? over : -over;
            if (R::kNorm && brought_in != 1.0) {
                t.real[square] = -1.0;  // it may lose all its digits here: it is taken anew when a rule next reads it
            } else if (keeps_square(rule)) {
                t.real[square] += *step * (2.0 * (brought_in * dot) + *step * X.square_norm(i));
            }
            if (t.average_correction) X.note(i, (age - t.real[scale_deficit]) * *step, t.average_correction);
            bias_step = tau * pass.bias_square;
        }
        t.real[bias] += bias_step;
        ++t.count[updates];
    }
    if constexpr (!R::kAlways) {
        if (t.votes.push) t.votes.push(t.votes.owner, i, *step, age);
        t.real[run_start] = clock + share;
        t.count[pocket_checked] = 0;
    }
    finish_step(pass, rule, t, bias_before, bias_step, age, share);
    return Outcome::moved;
}

// Add what is due to the weights.
template <class R, class Rows>
SX_HOT void add_step(const Rows& X, BinaryTask& t, std::int64_t i, double step) {
    if (step == 0.0) return;
    if constexpr (Rows::kBudget) {
        X.learn(i, step);
        return;
    }
    X.add(i, step, t.w);
    if constexpr (!R::kAlways) {
        if (t.coef) t.coef[i] += step;
        if (t.shadow) cast_shadow(X, t);
    }
}

// The presentations of a row that still has this weight, from number `copy` on: present(copy, share, clock) says how each
// came out. False when the run stops here.
template <class R, class Present>
SX_HOT bool present_shares(double remaining, double clock, int copy, Present present) {
    for (; remaining > 0.0; ++copy) {
        const double share = remaining < 1.0 || copy == kCopies ? remaining : 1.0;
        const Outcome outcome = present(copy, share, clock);
        if (outcome == Outcome::stopped) return false;
        if (!R::kAlways && outcome == Outcome::correct) return true;
        remaining -= share;
        clock += share;
    }
    return true;
}

// The same for one task; `dot` is the product of the row with w at the first.
template <class R, class Rows>
SX_COLD bool present_rest(const Rows& X, const Pass& pass, const R& rule, BinaryTask& t, RowFacts<Rows>& row, double dot,
                          double remaining, double clock, int copy) {
    return present_shares<R>(remaining, clock, copy, [&](int number, double share, double now) {
        if (number > 1) {
            if constexpr (R::kSpread) {
                dot = spread_dot(X, t, row.i, &row.square, -1);
            } else {
                const double* w[1] = {t.w};
                X.template dots<1>(row.i, w, &dot);
            }
        }
        double step;
        const Outcome outcome = present(X, pass, rule, t, row, dot, share, now, &step);
        add_step<R>(X, t, row.i, step);
        return outcome;
    });
}

// Present row i to some tasks. False when the run stops here.
template <class R, int N, class Rows>
SX_HOT bool visit_row(const Rows& X, const Pass& pass, const R& rule, BinaryTask* tasks, std::int64_t i, double weight,
                      std::int64_t ahead) {
    const double* w[N];
    double dot[N];
    SX_UNROLL for (int k = 0; k < N; ++k) w[k] = tasks[k].w;
    RowFacts<Rows> row{X, i, pass.bias_square};
    if constexpr (R::kSpread) {
        dot[0] = spread_dot(X, tasks[0], i, &row.square, ahead);
    } else {
        X.template dots<N>(i, w, dot, ahead);
    }
    const std::int32_t code = pass.codes[i];
    SX_UNROLL for (int k = 0; k < N; ++k) {
        BinaryTask& t = tasks[k];
        if constexpr (!R::kAlways) {  // most predictions are correct, and cost no more than this
            const double activation = dot[k] + t.real[bias], margin = code == t.positive ? activation : -activation;
            if (margin > rule.threshold && is_finite(margin)) continue;
            if (!(weight > 0.0) && !is_finite(margin)) return false;
            if (!present_rest(X, pass, rule, t, row, dot[k], weight, pass.clock, 1)) return false;
        } else {
            if (!(weight > 0.0)) {
                if (!is_finite(dot[k])) return false;
                continue;
            }
            const double share = weight < 1.0 ? weight : 1.0;
            double step;
            if (present(X, pass, rule, t, row, dot[k], share, pass.clock, &step) == Outcome::stopped) return false;
            add_step<R>(X, t, i, step);
            if (weight > 1.0 && !present_rest(X, pass, rule, t, row, 0.0, weight - 1.0, pass.clock + 1.0, 2)) return false;
        }
    }
    return true;
}

template <class Rows>
SX_COLD bool visit_row_exactly(const Rows& X, const Pass& pass, const Threshold& rule, BinaryTask& t, std::int64_t i,
                               double weight) {
    return visit_row<Threshold, 1>(X, pass, rule, &t, i, weight, -1);
}

// The same, looking in single precision first (screen.hpp).
template <int N, class Rows>
SX_HOT bool visit_row_quickly(const Rows& X, const Pass& pass, const Threshold& rule, BinaryTask* tasks, std::int64_t i,
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

// Take |w|^2 anew where an epoch begins, so that the rounding of many additions does not pile up.
template <class R, class Rows>
void measure(const Rows& X, const Pass& pass, const R& rule, BinaryTask* tasks, int n_tasks) {
    if (pass.begin != 0 || !keeps_square(rule)) return;
    for (int k = 0; k < n_tasks; ++k) tasks[k].real[square] = square_of(tasks[k].w, X.cols);
}

// Visit the examples one at a time; `visit` presents one row for a block of tasks, or for one where they do not look at it
// together. A run that stops leaves pass.begin at the example where it did.
template <bool kTogether, class Rows, class Visit>
SX_HOT std::int64_t visit_with(const Rows& X, Pass& pass, BinaryTask* tasks, int n_tasks, Visit visit) {
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        const std::int64_t i = row_at(pass, p);
        const std::int64_t ahead = row_ahead<Rows>(pass, p);
        const double weight = pass.weights ? pass.weights[i] : 1.0;
        bool good = true;
        if constexpr (!kTogether) {
            for (int k = 0; good && k < n_tasks; ++k) good = visit(Block<1>{}, tasks + k, i, weight, k == 0 ? ahead : -1);
        } else if (n_tasks == 1) {  // the common case, kept apart: the compiler does better by it alone
            good = visit(Block<1>{}, tasks, i, weight, ahead);
        } else {
            good = in_blocks<Rows::kMost>(n_tasks, [&](auto block, int k) {
                return visit(block, tasks + k, i, weight, k == 0 ? ahead : -1);
            });
        }
        if (!good) {
            pass.begin = p;
            return i;
        }
        pass.clock += weight;
    }
    end_epoch(X, pass, tasks, n_tasks);
    return all_good;
}

// One task and examples of weight 1, for rules that are asked at every example: the move by one row and the product with
// the next share a pass over w.
template <class R, class Rows>
std::int64_t visit_alone(const Rows& X, Pass& pass, const R& rule, BinaryTask& t) {
    constexpr bool measured = Rows::kSparse && R::kSquare;  // |x|^2 comes with the product
    const double* w[1] = {t.w};
    double dot = 0.0, square = 0.0, step;
    if (pass.begin < pass.end) X.template dots<1, measured>(row_at(pass, pass.begin), w, &dot, -1, &square);
    for (std::int64_t p = pass.begin; p < pass.end; ++p) {
        RowFacts<Rows> row{X, row_at(pass, p), pass.bias_square};
        if (measured) row.square = square + pass.bias_square;
        if (present(X, pass, rule, t, row, dot, 1.0, pass.clock, &step) == Outcome::stopped) return row.i;
        pass.clock += 1.0;
        if (p + 1 == pass.end) {
            add_step<R>(X, t, row.i, step);
        } else if (step != 0.0) {
            const std::int64_t next = row_at(pass, p + 1), ahead = row_ahead<Rows>(pass, p + 1);
            dot = X.template add_and_dot<measured>(row.i, step, t.w, next, ahead, &square);
        } else {
            X.template dots<1, measured>(row_at(pass, p + 1), w, &dot, row_ahead<Rows>(pass, p + 1), &square);
        }
    }
    end_epoch(X, pass, &t, 1);
    return all_good;
}

template <class R, class Rows>
std::int64_t visit_rows(const Rows& X, Pass& pass, const R& rule, BinaryTask* tasks, int n_tasks) {
    measure(X, pass, rule, tasks, n_tasks);
    if constexpr (R::kAlways && !R::kSpread) {
        if (n_tasks == 1 && !pass.weights) return visit_alone(X, pass, rule, tasks[0]);
    }
    return visit_with<R::kTogether>(X, pass, tasks, n_tasks, [&](auto block, BinaryTask* t, std::int64_t i,
                                                                 double weight, std::int64_t ahead) {
        return visit_row<R, decltype(block)::size>(X, pass, rule, t, i, weight, ahead);
    });
}

template <class Rows>
std::int64_t visit_rows_quickly(const Rows& X, Pass& pass, const Threshold& rule, BinaryTask* tasks, int n_tasks) {
    for (int k = 0; k < n_tasks; ++k) cast_shadow(X, tasks[k]);
    return visit_with<true>(X, pass, tasks, n_tasks, [&](auto block, BinaryTask* t, std::int64_t i, double weight,
                                                         std::int64_t ahead) {
        return visit_row_quickly<decltype(block)::size>(X, pass, rule, t, i, weight, ahead);
    });
}
