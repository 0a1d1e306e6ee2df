// What Newton's method and the proof of a gap ask of the core: plain structs of pointers, shared by every build.
#pragma once
#include "descent.hpp"

namespace sx {

// The margins of all rows of a largest-margin task, and what the bound on their rounding errors needs.
struct Margins {
    bool squared;
    std::int64_t n;
    const double* scores;
    double bias;
    const double* signs;
    const double* costs;
    const double* squares;  // |x|^2
    const double* alpha;
    double unit;      // the error of a score is at most unit (1 + |bias| + norm |x|)
    double norm;      // |w|
    double constant;  // what the bias coordinate adds to |x|
};

// Sums over the rows: of the losses, of how far rounding can move them, and of alpha |x|; and the largest error of a
// margin.
struct MarginSums {
    double loss, error, longest, lengths;
};

// A loss along a step: its value, slope and curvature, and the sum of alpha.
struct SlopesAlong {
    double loss, slope, curvature, alpha;
};

struct NewtonKernels {
    // The loss at scores + along * length + bias, and its slope and curvature in the length, where the bias moves by
    // bias_step. Without `along` the bias moves alone.
    SlopesAlong (*slopes_along)(const Losses&, double bias_step);
    // scores = X v and out += X' (curvature * scores), the rows read once; those without curvature are left out.
    void (*hessian_product)(const Matrix&, const double* curvature, const double* v, double* scores, double* out);
    MarginSums (*margin_sums)(const Margins&, double* slack);
    // out += factor * v.
    void (*add_scaled)(double* out, double factor, const double* v, std::int64_t n);
};

}  // namespace sx
