// What coordinate descent with an L1 penalty asks of the core: plain structs of pointers, shared by every build.
#pragma once
#include "core.hpp"

namespace sx {

// The losses that are smooth enough: log(1 + e^-m), and max(0, 1 - m)^2.
enum class Smooth : int { log, squared_hinge };

// A loss over all rows, at scores + along * length + bias.
struct Losses {
    Smooth kind;
    std::int64_t n;
    const double* scores;
    const double* along;  // null: length is 0
    double length, bias;
    const double* signs;
    const double* costs;
};

struct Slopes {
    double loss, slope, curvature;  // sums over the rows
};

// The quadratic model of a loss around some weights, in a few features: rows of `columns` are the features' values.
//   sum_j G_j d_j + sum_i D_i (x_i.d + b)^2 / 2 + ridge |w + d|^2 / 2 + lasso |w + d|_1
// where a free bias b is eliminated: it is as if every column were centred with the weights D.
struct Quadratic {
    const double* curvature;  // D of every row
    const double* bends;      // of every feature: sum D x^2, centred
    const double* sums;       // of every feature: sum D x; null without a free bias
    double total;             // sum D
    double ridge, lasso;
};

// Where a descent is: `residual` is the slope of the model at each row, but for the bias, which adds -shift D.
struct DescentState {
    double* weights;   // w + d of every feature
    double* residual;  // of every row
    double shift;
    std::int64_t read;      // numbers of the columns that were read
    std::int64_t epochs;
    double violation;  // the sum over the features of how far each was from its optimum when last visited
};

// `penalty` is that of the weights, `reach` the sum of the sizes of the weights that belong to the slopes.
struct PenaltyGap {
    double gap, penalty, reach;
};

constexpr int kSteps = 10;  // of descent, from which it is extrapolated

constexpr std::int64_t descent_room(std::int64_t m, std::int64_t rows) { return (kSteps + 2) * m + rows; }

struct DescentKernels {
    // The loss, and of each row its slope and its curvature in the score.
    Slopes (*slopes)(const Losses&, double* slope, double* curvature);
    double (*loss)(const Losses&);
    // Of each margin log(1 + e^-m), and its pull s(-m), unless null.
    void (*log_losses)(const double* m, std::int64_t n, double* value, double* pull);
    // Of each margin how far p is from its pull: the Kullback-Leibler divergence (beyond |m| = 708 an upper bound).
    void (*log_divergences)(const double* p, const double* m, std::int64_t n, double* out);
    // The sum over the rows of an upper bound on loss + conjugate + alpha m, for scale * alpha.
    double (*apart)(const Losses&, const double* alpha, double scale);
    // The sum over the features of penalty(w) + conjugate(scale z) - w scale z.
    PenaltyGap (*penalty_gap)(const double* w, const double* z, std::int64_t d, double scale, double ridge, double lasso);
    double (*largest)(const double* z, std::int64_t d);
    // out += sum of weight x^2 over the rows, for every column.
    void (*spread)(const Matrix&, const double* weights, double* out);
    // out += X' v, each sum kept with its rounding error, so that it is as if rounded once.
    void (*combine_precisely)(const Matrix&, const double* v, double* out, double* errors);
    // Of each chosen row x of the matrix: sum D x^2, sum D x, sum r x.
    void (*curve)(const Matrix&, const std::int64_t* chosen, std::int64_t m, const double* curvature, const double* r,
                  double* squares, double* sums, double* slopes);
    // Epochs of coordinate descent over the chosen features until the violation is at most `enough`, `epochs` are over,
    // or `most` numbers have been read. `order` holds m numbers, `room` descent_room(m, rows).
    void (*descend)(const Matrix&, const std::int64_t* chosen, std::int64_t m, const Quadratic&, DescentState&,
                    double enough, std::int64_t epochs, std::int64_t most, std::int64_t* order, double* room);
    // The same where the table of all products of the features is at hand: `slope` is the model's at each feature.
    void (*descend_gram)(const double* table, std::int64_t m, const Quadratic&, double* slope, DescentState&,
                         double enough, std::int64_t epochs, std::int64_t* room);
};

}  // namespace sx
