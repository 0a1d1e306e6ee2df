// The rules, one struct each: what a rule reads and does, its parameters, and its answer to one example.
//
// A rule sees the loss at the margin m, q = |x|^2 and n = |w|^2 (bias coordinate included) and the time; it answers what
// to multiply the weights by (shrink) and how much of y x to add (tau). A rule that keeps a spread S of its weights gets
// x.Sx as q; tau is then a multiple of y S x, and S loses beta times (Sx)(Sx)'. The loops (loop.hpp, fold.hpp) ask, and
// leave out what a rule says that it does not need. A new rule is a struct here and its name in `Rules` at the end.
//
// Included by kernels.cpp only, inside the namespace of one build.

struct Update {
    double shrink, tau;
    double beta = 0.0;  // of a rule with a spread
    double rate = 0.0;  // of a rule that steps down a slope: tau is rate * slope
};

// The weight that came before this presentation and its own, the number of steps before it, and the factor of the rate.
struct Time {
    double age, share;
    std::int64_t steps;
    double rate;
};

// The part of a step that a presentation takes: no weight makes a step longer.
SX_HOT double part_of(const Time& t) { return t.share < 1.0 ? t.share : 1.0; }

// What a rule reads and does unless it says otherwise.
struct Plain {
    static constexpr bool kAlways = true;   // it is asked at every example, not only at mistakes
    static constexpr bool kShrinks = false;  // it multiplies the weights
    static constexpr bool kDecays = false;   // it does so at every example, also where nothing is added
    static constexpr bool kBiasShrinks = false;  // or may, if it is told to
    static constexpr bool kBall = false;     // it brings them back to a ball
    static constexpr bool kSquare = false;   // it reads q
    static constexpr bool kNorm = false;     // it reads n
    static constexpr bool kSpread = false;   // it keeps a spread of each weight
    static constexpr bool kDeclines = false;  // where its tau is 0 it leaves everything as it is
    static constexpr bool kFolds = true;     // it can learn from several examples at once
    static constexpr bool kJoint = false;    // it can learn several classes together
    static constexpr bool kTogether = true;  // several tasks look at a row at once; else the loop is compiled for one
    static constexpr bool kPaced = false;    // a fold as a whole sets the step, and shrinks even where nothing is added
    static constexpr double threshold = 0.0;  // a margin below it is a mistake
    static constexpr bool bias_shrinks = false;
    static constexpr double radius = HUGE_VAL;
    static constexpr const char* const* names = nullptr;  // of the parameters, in the order of the constructor's
    static constexpr int n_names = 0;

    static const char* refuse(const double*) { return nullptr; }  // why parameters cannot be, or null

    // Whether an example adds to the weights.
    template <class Loss>
    SX_HOT static bool moves(const Loss&) { return true; }

    // A step over the array w, where the weights are scale * w.
    SX_HOT static double over_scale(const Update& u, double, double scale) { return u.tau / scale; }
};

#define SX_PARAMETERS(...)                                     \
    static constexpr const char* kNames[] = {__VA_ARGS__};     \
    static constexpr const char* const* names = kNames;        \
    static constexpr int n_names = sizeof kNames / sizeof *kNames

// ------------------------------------------------------------------------------------------------ perceptrons

// Rosenblatt 1958, and with a margin Lecture 003: a step of eta when the margin is at most `threshold`.
struct Threshold : Plain {
    using Loss = CriterionLoss;
    static constexpr const char* name = "threshold";
    static constexpr bool kAlways = false, kJoint = true;
    SX_PARAMETERS("eta", "threshold");
    double eta, threshold;

    explicit Threshold(const double* p) : eta(p[0]), threshold(p[1]) {}
    static const char* refuse(const double* p) { return p[0] > 0.0 ? nullptr : "eta must be positive"; }

    SX_HOT Update step(const Loss&, double, double, const Time& t) const { return {1.0, eta * t.share}; }
    SX_HOT double fold_step(const Loss&, const Time& t) const { return eta * t.rate; }
};

// ------------------------------------------------------------------------------------------------ neurons

// A step down the slope of a smooth loss at every example, by eta or, when it falls, by eta / sqrt(number of the step),
// with weights that shrink by 1 - step * alpha. Robbins and Monro 1951; Bottou 2012, section 2.
template <class L>
struct Neuron : Plain {
    using Loss = L;
    static constexpr bool kShrinks = true;
    SX_PARAMETERS("eta", "alpha", "falling");
    double eta, alpha;
    bool falling;

    explicit Neuron(const double* p) : eta(p[0]), alpha(p[1]), falling(p[2] != 0.0) {}
    static const char* refuse(const double* p) {
        if (!(p[0] > 0.0 && p[1] >= 0.0)) return "eta must be positive and alpha at least 0";
        return p[0] * p[1] < 1.0 ? nullptr : "eta * alpha must be in 0..1";
    }

    SX_HOT double pace(const Time& t) const {
        const double now = eta * t.rate;
        return falling ? now / ::sqrt(double(t.steps + 1)) : now;
    }
    SX_HOT Update step(const Loss& at, double, double, const Time& t) const {
        const double now = pace(t) * part_of(t);
        return {alpha > 0.0 ? 1.0 - now * alpha : 1.0, now * at.slope, 0.0, now};
    }
    // The rate over the scale is known before the slope is.
    SX_HOT static double over_scale(const Update& u, double slope, double scale) {
        return u.rate * (scale == 1.0 ? 1.0 : 1.0 / scale) * slope;
    }
    SX_HOT double fold_step(const Loss& at, const Time& t) const { return pace(t) * at.slope; }
    SX_HOT double fold_shrink(const Time& t) const { return 1.0 - pace(t) * alpha; }
};
struct Squared : Neuron<SquaredLoss> {
    static constexpr const char* name = "squared";
    using Neuron::Neuron;
};
struct Log : Neuron<LogLoss> {
    static constexpr const char* name = "log";
    using Neuron::Neuron;
};

// ------------------------------------------------------------------------------------------------ margins below 1

struct BelowOne : Plain {
    using Loss = HingeLoss;
    SX_HOT static bool moves(const Loss& at) { return at.margin < 1.0; }
};

// Rules of online SVMs: every example shrinks the weights, and the bias with them if it is told to.
struct Shrinking : BelowOne {
    static constexpr bool kShrinks = true, kDecays = true, kBiasShrinks = true, kPaced = true;
    bool bias_shrinks;
    explicit Shrinking(double shrinks) : bias_shrinks(shrinks != 0.0) {}
};

// Lecture 003, 2.7.
struct Hinge : Shrinking {
    static constexpr const char* name = "hinge";
    SX_PARAMETERS("eta", "decay", "bias_shrinks");
    double eta, decay;

    explicit Hinge(const double* p) : Shrinking(p[2]), eta(p[0]), decay(p[1]) {}
    static const char* refuse(const double* p) {
        return p[0] > 0.0 && p[1] >= 0.0 && p[1] <= 1.0 ? nullptr : "eta must be positive and decay in 0..1";
    }

    SX_HOT Update step(const Loss&, double, double, const Time& t) const {
        return {1.0 - part_of(t) * decay, part_of(t) * eta};
    }
    SX_HOT Update fold_pace(double, double) const { return {1.0 - decay, eta}; }
};

// Shalev-Shwartz, Singer, Srebro and Cotter 2011, figures 1 and 2, with t counted by weight: a step over `share` of
// weight, after `age` of it, shrinks by age / (age + share).
struct Pegasos : Shrinking {
    static constexpr const char* name = "pegasos";
    static constexpr bool kBall = true;
    SX_PARAMETERS("alpha", "radius", "bias_shrinks");
    double alpha, radius;

    explicit Pegasos(const double* p) : Shrinking(p[2]), alpha(p[0]), radius(p[1]) {}
    static const char* refuse(const double* p) {
        return p[0] > 0.0 && p[1] > 0.0 ? nullptr : "alpha and radius must be positive";
    }

    SX_HOT Update step(const Loss&, double, double, const Time& t) const { return fold_pace(t.age, t.share); }
    SX_HOT Update fold_pace(double age, double share) const {
        const double after = age + share;
        return {age / after, share / (alpha * after)};
    }
};

// Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006, figure 1: the shortest step to a margin of 1 (pa), cut at C
// (pa1), or damped (pa2). A row of zeros cannot be moved to. The loop is compiled once, for their common form.
struct OneByOne : BelowOne {
    static constexpr bool kSquare = true, kFolds = false;
};
struct PassiveAggressive : OneByOne {
    using Form = PassiveAggressive;
    static constexpr bool kJoint = true;
    SX_PARAMETERS("C");
    double most, damp;

    PassiveAggressive(double most, double damp) : most(most), damp(damp) {}
    static const char* refuse(const double* p) { return p[0] > 0.0 ? nullptr : "C must be positive"; }

    SX_HOT Update step(const Loss& at, double q, double, const Time& t) const {
        const double room = q + damp, tau = room > 0.0 ? (1.0 - at.margin) / room : 0.0;
        return {1.0, part_of(t) * (most < tau ? most : tau)};
    }
};
struct PA : PassiveAggressive {
    static constexpr const char* name = "pa";
    static constexpr int n_names = 0;
    explicit PA(const double*) : PassiveAggressive(HUGE_VAL, 0.0) {}
    static const char* refuse(const double*) { return nullptr; }
};
struct PA1 : PassiveAggressive {
    static constexpr const char* name = "pa1";
    explicit PA1(const double* p) : PassiveAggressive(p[0], 0.0) {}
};
struct PA2 : PassiveAggressive {
    static constexpr const char* name = "pa2";
    explicit PA2(const double* p) : PassiveAggressive(HUGE_VAL, 1.0 / (2.0 * p[0])) {}
};

// Li and Long 2002: the shortest v with v.w >= |w|^2 and a margin of 1, on a mistake or, if aggressive, for a margin below
// 1. Where that is 2^30 times shorter than v may be, less is asked (romma.py).
struct ROMMA : Plain {
    using Loss = ZeroOneLoss;
    static constexpr const char* name = "romma";
    static constexpr bool kShrinks = true, kBiasShrinks = true, kSquare = true, kNorm = true, kDeclines = true,
                          kFolds = false, kTogether = false;
    static constexpr bool bias_shrinks = true;
    static constexpr double kMost = 0x1p30;
    SX_PARAMETERS("aggressive");
    bool aggressive;

    explicit ROMMA(const double* p) : aggressive(p[0] != 0.0) {}

    SX_HOT bool moves(const Loss& at) const { return aggressive ? at.margin < 1.0 : at.margin <= 0.0; }
    SX_HOT Update step(const Loss& at, double q, double n, const Time& t) const {
        if (!(q > 0.0)) return {1.0, 0.0};
        const double m = at.margin, whole = q * n, apart = whole - m * m, kept = whole < kMost ? whole : kMost;
        double shrink = 0.0, tau = 1.0 / q;
        if (m < kept && apart * kMost > whole) {
            shrink = (kept - m) / apart;
            tau = n * (1.0 - m * (kept / whole)) / apart;
        }
        const double part = part_of(t);
        return {part == 1.0 ? shrink : 1.0 - part * (1.0 - shrink), part * tau};
    }
};

// Gentile 2001, with the Euclidean norm: `part` is the paper's alpha.
struct ALMA : Plain {
    using Loss = ZeroOneLoss;
    static constexpr const char* name = "alma";
    static constexpr bool kShrinks = true, kBiasShrinks = true, kBall = true, kSquare = true, kDeclines = true,
                          kFolds = false, kTogether = false;
    static constexpr bool bias_shrinks = true;
    static constexpr double radius = 1.0;
    SX_PARAMETERS("part");
    double part;

    explicit ALMA(const double* p) : part(p[0]) {}
    static const char* refuse(const double* p) {
        return p[0] > 0.0 && p[0] <= 1.0 ? nullptr : "part must be above 0 and at most 1";
    }

    SX_HOT Update step(const Loss& at, double q, double, const Time& t) const {
        const double number = double(t.steps + 1), length = ::sqrt(q);
        const bool narrow = q > 0.0 && at.margin <= (1.0 / part - 1.0) * ::sqrt(8.0 / number) * length;
        return {1.0, narrow ? part_of(t) * (::sqrt(2.0 / number) / length) : 0.0};
    }
};

// ------------------------------------------------------------------------------------------------ with a spread

// Crammer, Kulesza and Dredze 2009.
struct AROW : OneByOne {
    static constexpr const char* name = "arow";
    static constexpr bool kSpread = true, kDeclines = true, kTogether = false;
    SX_PARAMETERS("r");
    double r;

    explicit AROW(const double* p) : r(p[0]) {}
    static const char* refuse(const double* p) { return p[0] > 0.0 ? nullptr : "r must be positive"; }

    SX_HOT Update step(const Loss& at, double v, double, const Time& t) const {
        const double beta = 1.0 / (v + r);
        return {1.0, part_of(t) * ((1.0 - at.margin) * beta), part_of(t) * beta};
    }
};

// Cesa-Bianchi, Conconi and Gentile 2005: the same on mistakes only.
struct SecondOrder : Plain {
    using Loss = ZeroOneLoss;
    static constexpr const char* name = "sop";
    static constexpr bool kSquare = true, kSpread = true, kDeclines = true, kFolds = false, kTogether = false;
    SX_PARAMETERS("a");
    double a;

    explicit SecondOrder(const double* p) : a(p[0]) {}
    static const char* refuse(const double* p) { return p[0] > 0.0 ? nullptr : "a must be positive"; }

    SX_HOT static bool moves(const Loss& at) { return at.margin <= 0.0; }
    SX_HOT Update step(const Loss& at, double v, double, const Time& t) const {
        const double beta = 1.0 / (v + a);
        return {1.0, part_of(t) * ((1.0 - at.margin) * beta), part_of(t) * beta};
    }
};

// Crammer and Lee 2010, with the full update of the spread.
struct NHERD : OneByOne {
    static constexpr const char* name = "nherd";
    static constexpr bool kSpread = true, kDeclines = true, kTogether = false;
    SX_PARAMETERS("C");
    double C;

    explicit NHERD(const double* p) : C(p[0]) {}
    static const char* refuse(const double* p) { return p[0] > 0.0 ? nullptr : "C must be positive"; }

    SX_HOT Update step(const Loss& at, double v, double, const Time& t) const {
        const double part = 1.0 / (1.0 + C * v);
        return {1.0, part_of(t) * ((1.0 - at.margin) / (v + 1.0 / C)), part_of(t) * (C * part * (1.0 + part))};
    }
};

// Wang, Zhao and Hoi 2012, propositions 1 and 2: the example must have a margin of phi sqrt(v). Each form of tau is free of
// cancellation on its side of 0.
struct SoftConfident : Plain {
    using Loss = ZeroOneLoss;
    static constexpr bool kSpread = true, kDeclines = true, kFolds = false, kTogether = false;
    SX_PARAMETERS("C", "phi");
    double C, phi;

    explicit SoftConfident(const double* p) : C(p[0]), phi(p[1]) {}
    static const char* refuse(const double* p) {
        return p[0] > 0.0 && p[1] > 0.0 && p[1] < HUGE_VAL ? nullptr : "C and phi must be positive";
    }

    // Whether the margin is too narrow; beyond these v products would overflow.
    SX_HOT bool narrow(double m, double v) const { return v > 1e-150 && v < 1e150 && phi * ::sqrt(v) > m; }
    SX_HOT Update narrowed(double tau, double v, const Time& t) const {
        const double by = tau * phi, root = 2.0 * v / (by * v + ::sqrt(by * by * v * v + 4.0 * v));
        return {1.0, part_of(t) * tau, part_of(t) * (by / (root + by * v))};
    }
};
struct SCW1 : SoftConfident {
    static constexpr const char* name = "scw1";
    using SoftConfident::SoftConfident;
    SX_HOT Update step(const Loss& at, double v, double, const Time& t) const {
        const double m = at.margin, square = phi * phi, wanted = phi * ::sqrt(v), slope = m * (1.0 + square / 2.0);
        if (!narrow(m, v)) return {1.0, 0.0};
        const double root = ::sqrt(m * m * square * square / 4.0 + v * square * (1.0 + square));
        const double tau = m > 0.0 ? (wanted - m) * (wanted + m) / (v * (root + slope))
                                   : (root - slope) / (v * (1.0 + square));
        return narrowed(C < tau ? C : tau, v, t);
    }
};
struct SCW2 : SoftConfident {
    static constexpr const char* name = "scw2";
    using SoftConfident::SoftConfident;
    SX_HOT Update step(const Loss& at, double v, double, const Time& t) const {
        const double m = at.margin, square = phi * phi, wanted = phi * ::sqrt(v), n = v + 1.0 / (2.0 * C);
        if (!narrow(m, v)) return {1.0, 0.0};
        const double slope = m * (2.0 * n + square * v), wide = n + v * square;
        const double root = phi * ::sqrt(square * m * m * v * v + 4.0 * n * v * wide);
        return narrowed(m > 0.0 ? 2.0 * (wanted - m) * (wanted + m) / (root + slope) : (root - slope) / (2.0 * n * wide),
                        v, t);
    }
};

// ------------------------------------------------------------------------------------------------ the list

template <class... R>
struct List {};
using Rules = List<Threshold, Squared, Log, Hinge, Pegasos, PA, PA1, PA2, AROW, NHERD, SCW1, SCW2, ROMMA,
                   ALMA, SecondOrder>;

// The rule as the loop is compiled for it: itself, or the form that it shares with others.
template <class R>
const auto& form_of(const R& rule) {
    if constexpr (requires { typename R::Form; }) {
        return static_cast<const typename R::Form&>(rule);
    } else {
        return rule;
    }
}

// Call work(rule) with the rule of this number in the list.
template <class Work, class First, class... Rest>
auto with_rule_of(List<First, Rest...>, int number, const double* p, Work work) {
    if constexpr (sizeof...(Rest) == 0) {
        return work(form_of(First(p)));
    } else {
        return number == 0 ? work(form_of(First(p))) : with_rule_of(List<Rest...>{}, number - 1, p, work);
    }
}
template <class Work>
auto with_rule(const Rule& rule, Work work) {
    return with_rule_of(Rules{}, rule.number, rule.parameters, work);
}

// What the binding needs to know of them.
template <class>
struct Facts;
template <class... R>
struct Facts<List<R...>> {
    static constexpr RuleFacts all[] = {
        {R::name, R::names, R::n_names, R::kFolds, R::kSpread, R::kJoint, &R::refuse}...};
    static constexpr int count = sizeof...(R);
};
