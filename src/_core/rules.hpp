// The rules that step while a margin is below 1, one struct each: what they read, and their answer.
//
// A rule sees the margin m, q = |x|^2 (bias coordinate included), the weight met so far (age) and that of the example
// (share). It answers what to multiply the weights by and how much of y x to add. The loop in hinge.hpp asks; what a
// rule does not read (kSquare) or do (kShrinks) is left out of its loop.
//
// Included by kernels.cpp only, inside the namespace of one build.

struct Update {
    double shrink, tau;
};

// Kind `hinge`: Lecture 003, 2.7. Kind `pegasos`: Shalev-Shwartz, Singer, Srebro and Cotter 2011, figures 1 and 2, with
// t counted by weight: a step over `share` of weight, after `age` of it, shrinks by age / (age + share).
struct Shrinking {
    static constexpr bool kShrinks = true, kSquare = false;

    SX_HOT static Update step(const Rule& rule, double, double, double age, double share) {
        if (rule.kind == Kind::pegasos) {
            const double after = age + share;
            return {age / after, share / (rule.alpha * after)};
        }
        const double part = share < 1.0 ? share : 1.0;  // no weight makes a step longer
        return {1.0 - part * rule.decay, part * rule.eta};
    }
};

// Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006, figure 1: the shortest step to a margin of 1 (pa), cut at C
// (pa1), or damped (pa2). A row of zeros cannot be moved to.
struct PassiveAggressive {
    static constexpr bool kShrinks = false, kSquare = true;

    SX_HOT static Update step(const Rule& rule, double m, double q, double, double share) {
        const double loss = 1.0 - m, part = share < 1.0 ? share : 1.0;
        double tau = 0.0;
        if (rule.kind == Kind::pa2) {
            tau = loss / (q + 1.0 / (2.0 * rule.cost));
        } else if (q > 0.0) {
            tau = loss / q;
            if (rule.kind == Kind::pa1 && rule.cost < tau) tau = rule.cost;
        }
        return {1.0, part * tau};
    }
};
