// The losses, each at one margin: its value and its slope. Exponentials and logarithms are made from arithmetic alone:
// the libraries' exp and log differ from machine to machine in their last bit, and these must not.
//
// e^x after Tang 1989: x = (64 k + j) ln2 / 64 + r, then 2^k 2^(j/64) times a polynomial for e^r with |r| <= ln2 / 128,
// whose first dropped term is r^6 / 720 < 2^-54. log(1 + u) by the series of 2 atanh(s), |s| < 0.172.
//
// Included by kernels.cpp, descent.cpp, multinomial.cpp and newton.cpp, inside the namespace of one build.

constexpr double kRootsOfTwo[64] = {  // 2^(j/64)
    0x1.0000000000000p+0, 0x1.02c9a3e778061p+0, 0x1.059b0d3158574p+0, 0x1.0874518759bc8p+0, 0x1.0b5586cf9890fp+0,
    0x1.0e3ec32d3d1a2p+0, 0x1.11301d0125b51p+0, 0x1.1429aaea92de0p+0, 0x1.172b83c7d517bp+0, 0x1.1a35beb6fcb75p+0,
    0x1.1d4873168b9aap+0, 0x1.2063b88628cd6p+0, 0x1.2387a6e756238p+0, 0x1.26b4565e27cddp+0, 0x1.29e9df51fdee1p+0,
    0x1.2d285a6e4030bp+0, 0x1.306fe0a31b715p+0, 0x1.33c08b26416ffp+0, 0x1.371a7373aa9cbp+0, 0x1.3a7db34e59ff7p+0,
    0x1.3dea64c123422p+0, 0x1.4160a21f72e2ap+0, 0x1.44e086061892dp+0, 0x1.486a2b5c13cd0p+0, 0x1.4bfdad5362a27p+0,
    0x1.4f9b2769d2ca7p+0, 0x1.5342b569d4f82p+0, 0x1.56f4736b527dap+0, 0x1.5ab07dd485429p+0, 0x1.5e76f15ad2148p+0,
    0x1.6247eb03a5585p+0, 0x1.6623882552225p+0, 0x1.6a09e667f3bcdp+0, 0x1.6dfb23c651a2fp+0, 0x1.71f75e8ec5f74p+0,
    0x1.75feb564267c9p+0, 0x1.7a11473eb0187p+0, 0x1.7e2f336cf4e62p+0, 0x1.82589994cce13p+0, 0x1.868d99b4492edp+0,
    0x1.8ace5422aa0dbp+0, 0x1.8f1ae99157736p+0, 0x1.93737b0cdc5e5p+0, 0x1.97d829fde4e50p+0, 0x1.9c49182a3f090p+0,
    0x1.a0c667b5de565p+0, 0x1.a5503b23e255dp+0, 0x1.a9e6b5579fdbfp+0, 0x1.ae89f995ad3adp+0, 0x1.b33a2b84f15fbp+0,
    0x1.b7f76f2fb5e47p+0, 0x1.bcc1e904bc1d2p+0, 0x1.c199bdd85529cp+0, 0x1.c67f12e57d14bp+0, 0x1.cb720dcef9069p+0,
    0x1.d072d4a07897cp+0, 0x1.d5818dcfba487p+0, 0x1.da9e603db3285p+0, 0x1.dfc97337b9b5fp+0, 0x1.e502ee78b3ff6p+0,
    0x1.ea4afa2a490dap+0, 0x1.efa1bee615a27p+0, 0x1.f50765b6e4540p+0, 0x1.fa7c1819e90d8p+0,
};

// e^x for x <= 0; below -708, where the result would be subnormal, 0.
SX_HOT double exp_of_negative(double x) {
    if (!(x > -708.0)) return 0.0;
    constexpr double kNearest = 0x1.8p52;  // adding and subtracting it rounds to the nearest whole number
    const double n = (x * 0x1.71547652b82fep+6 + kNearest) - kNearest;
    const double r = (x - n * 0x1.62e42fef80000p-7) - n * 0x1.1cf79abc9e3b4p-42;
    const double r2 = r * r;
    const double q = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    const std::int64_t whole = std::int64_t(n);
    std::int64_t bits;
    memcpy(&bits, kRootsOfTwo + (whole & 63), sizeof bits);
    bits += (whole >> 6) * (std::int64_t(1) << 52);
    double power;
    memcpy(&power, &bits, sizeof power);
    return (power + power * r) + (power * r2) * q;  // e^r = 1 + r + r^2 q
}

// log(1 + u) for 0 <= u <= 1.
SX_HOT double log_of_one_and(double u) {
    const bool large = u > 0.41421356237309515;  // then as log(2) + log(1 + (u - 1) / 2)
    const double f = large ? 0.5 * (u - 1.0) : u;
    const double s = f / (2.0 + f);
    const double s2 = s * s;
    double p = 1.0 / 23.0;
    SX_UNROLL for (int odd = 21; odd >= 3; odd -= 2) p = p * s2 + 1.0 / odd;
    const double tail = 2.0 * s * s2 * p;
    return large ? 0x1.62e42fefa39efp-1 + (2.0 * s + tail) : 2.0 * s + tail;
}

// log(x) for x that is finite, positive and not subnormal.
inline SX_COLD double log_of(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const std::uint64_t exponent = (bits >> 52) - 1023;
    bits -= exponent << 52;
    memcpy(&x, &bits, sizeof x);
    return double(std::int64_t(exponent)) * 0x1.62e42fefa39efp-1 + log_of_one_and(x - 1.0);
}

// A loss at the margin m: `slope` is -dC/dm. With kFactor the loss is rest() + log(factor()), a factor from 1 to 2.

// C = (a - t)^2 / 2 over the sigmoid neuron (Lecture 002).
struct SquaredLoss {
    static constexpr bool kFactor = false;
    double margin, slope;

    SX_HOT explicit SquaredLoss(double m) : margin(m) {
        const double small = exp_of_negative(m < 0.0 ? m : -m), whole = 1.0 + small;
        wrong = (m < 0.0 ? 1.0 : small) / whole;
        slope = wrong * wrong * ((m < 0.0 ? small : 1.0) / whole);
    }
    SX_HOT double loss() const { return 0.5 * wrong * wrong; }

private:
    double wrong;  // the probability that the neuron gives to the wrong class, s(-m)
};

// log(1 + e^-m).
struct LogLoss {
    static constexpr bool kFactor = true;
    double margin, slope;

    SX_HOT explicit LogLoss(double m) : margin(m), small(exp_of_negative(m < 0.0 ? m : -m)) {
        slope = (m < 0.0 ? 1.0 : small) / (1.0 + small);
    }
    SX_HOT double factor() const { return 1.0 + small; }
    SX_HOT double rest() const { return margin < 0.0 ? -margin : 0.0; }
    SX_HOT double loss() const { return rest() + log_of_one_and(small); }

private:
    double small;
};

// max(0, 1 - m).
struct HingeLoss {
    static constexpr bool kFactor = false;
    double margin, slope;

    SX_HOT explicit HingeLoss(double m) : margin(m), slope(m < 1.0 ? 1.0 : 0.0) {}
    SX_HOT double loss() const { return margin < 1.0 ? 1.0 - margin : 0.0; }
};

// max(0, -m), the perceptron criterion; its slope is used on mistakes only.
struct CriterionLoss {
    static constexpr bool kFactor = false;
    double margin;
    static constexpr double slope = 1.0;

    SX_HOT explicit CriterionLoss(double m) : margin(m) {}
    SX_HOT double loss() const { return margin < 0.0 ? -margin : 0.0; }
};

// 1 for a margin of 0 or less: for rules whose own loss depends on more than the margin.
struct ZeroOneLoss {
    static constexpr bool kFactor = false;
    double margin;
    static constexpr double slope = 1.0;

    SX_HOT explicit ZeroOneLoss(double m) : margin(m) {}
    SX_HOT double loss() const { return margin <= 0.0 ? 1.0 : 0.0; }
};
