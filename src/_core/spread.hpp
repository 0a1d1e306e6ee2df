// A spread of the weights: the covariance S of rules that know how sure each weight is, diagonal or full.
//
// `spread` holds S over the columns and, last, the bias coordinate K: d + 1 numbers, or (d + 1)^2. A step adds a multiple
// of S x to the weights and takes a multiple of (Sx)(Sx)' from S; of a diagonal spread, the diagonal of that.
//
// While sparse rows are visited, the weights and a diagonal spread may stand side by side in `pairs` (without the bias):
// one cache line then serves both, and x.Sx comes with the product at no cost. They are put there and back by bind.cpp.
//
// Included by kernels.cpp only, inside the namespace of one build.

// What is left of a variance, which rounding does not bring to 0.
SX_HOT double narrowed_by(double s, double less) {
    const double left = s - less;
    return left > kNarrowest ? left : kNarrowest;
}

// The vector S x of a full spread, bias coordinate last.
template <class Rows>
void spread_direction(const Rows& X, const BinaryTask& t, std::int64_t i, double K) {
    const std::int64_t n = X.cols + 1;
    double* g = t.direction;
    for (std::int64_t k = 0; k < n; ++k) g[k] = 0.0;
    auto add = [&](std::int64_t j, double value) {
        if (value == 0.0) return;
        const double* column = t.spread + j * n;
        for (std::int64_t k = 0; k < n; ++k) g[k] += value * column[k];
    };
    X.each(i, add);
    add(X.cols, K);
}

// The product of row i with the weights; where they stand beside the spread, x.Sx without the bias coordinate too.
template <class Rows>
SX_HOT double spread_dot(const Rows& X, const BinaryTask& t, std::int64_t i, double* square, std::int64_t ahead) {
    double dot;
    if constexpr (Rows::kSparse) {
        if (t.pairs) {
            X.pair_dots(i, t.pairs, &dot, square, ahead);
            return dot;
        }
    }
    const double* w[1] = {t.w};
    X.template dots<1>(i, w, &dot, ahead);
    return dot;
}

// x.Sx for a full S, the bias coordinate included. Leaves S x in `direction`.
template <class Rows>
SX_COLD double full_square(const Rows& X, const BinaryTask& t, std::int64_t i, double bias_square) {
    const double K = ::sqrt(bias_square);
    spread_direction(X, t, i, K);
    const double* g[1] = {t.direction};
    double v;
    X.template dots<1>(i, g, &v);
    return v + K * t.direction[X.cols];
}

// x.Sx, the bias coordinate included; `square` is it without, where known.
template <class Rows>
SX_HOT double spread_square(const Rows& X, const BinaryTask& t, std::int64_t i, double square, double bias_square) {
    if (t.direction) return full_square(X, t, i, bias_square);
    return (t.pairs ? square : X.spread_square(i, t.spread)) + bias_square * t.spread[X.cols];
}

// The step where S is full and S x in `direction`; returns that of the bias.
SX_COLD inline double full_move(BinaryTask& t, std::int64_t d, double tau, double beta, double age, double bias_square) {
    const std::int64_t n = d + 1;
    const double* g = t.direction;
    for (std::int64_t k = 0; k < d; ++k) t.w[k] += tau * g[k];
    if (t.average_correction) {
        for (std::int64_t k = 0; k < d; ++k) t.average_correction[k] += (age * tau) * g[k];
    }
    for (std::int64_t j = 0; j < n; ++j) {
        if (g[j] == 0.0) continue;
        const double part = beta * g[j];
        double* row = t.spread + j * n;
        const double own = narrowed_by(row[j], part * g[j]);
        for (std::int64_t k = 0; k < n; ++k) row[k] -= part * g[k];
        row[j] = own;
    }
    return tau * (::sqrt(bias_square) * g[d]);
}

// w += tau S x, S -= beta (Sx)(Sx)', and the average with them; returns the step of the bias.
template <class Rows>
SX_HOT double spread_move(const Rows& X, BinaryTask& t, std::int64_t i, double tau, double beta, double age,
                          double bias_square) {
    if (t.direction) return full_move(t, X.cols, tau, beta, age, bias_square);
    if constexpr (Rows::kSparse) {
        if (t.pairs) X.pair_add(i, tau, beta, age * tau, t.pairs, t.average_correction);
    }
    if (!t.pairs) X.spread_add(i, tau, beta, age * tau, t.w, t.spread, t.average_correction);
    double& s = t.spread[X.cols];
    const double bias_step = tau * (bias_square * s);
    s = narrowed_by(s, beta * (bias_square * (s * s)));
    return bias_step;
}
