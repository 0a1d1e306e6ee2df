// What the largest-margin solvers ask of the core: plain structs of pointers, shared by every build.
#pragma once
#include "core.hpp"

namespace sx {

// One example of the dual problem  max sum(alpha) - |w|^2 / 2 - sum(D alpha^2) / 2,  0 <= alpha <= U,  w = sum alpha y x.
// All that a visit reads and writes of it lies in half a cache line. The fields' names and order are in svm/ascent.py.
struct Point {
    double alpha;
    double square;      // |x|^2, without the bias coordinate
    double cost;        // C for this example: U for the hinge, 1 / (2 D) for its square
    float slack;        // 1 - y (w.x + b) when last visited
    std::int8_t sign;   // y
    std::uint8_t rest;  // visits in a row that found it where it must stay
    std::uint8_t wait;  // epochs that it is still left out
    std::uint8_t leave; // epochs that it was left out for at the last visit
};
static_assert(sizeof(Point) == 32);

// The bias is shift + bias_square * balance, where balance is the sum of alpha y. `drift` is how far the slack of a
// resting point moves in an epoch, by the length of its row (the root of the mean square; infinite while not known); the
// last two slots sum up the squares that this epoch sees, and count them.
enum AscentReal : int { shift, balance, drift, drifted, drifters, ascent_slots };
struct Ascent {
    Point* points;
    const std::uint32_t* order;
    std::int64_t begin, end;
    double* w;
    double* real;
    double bias_square;
    double relax;  // steps go this much of the way to the top of the parabola
    bool squared;
};

// Sums over all points, in their order: of the losses as last met and of the dual's terms in alpha, and how many points
// are at 0 and at U.
struct Standing {
    double loss, gain;
    std::int64_t at_zero, at_upper;
};

struct MarginKernels {
    // Coordinate ascent over order[begin..end); the first row whose activation is not finite, or all_good.
    std::int64_t (*ascend)(const Matrix&, const Ascent&);
    Standing (*standing)(const Point*, std::int64_t n, bool squared);
    // out += X' v, for the columns from..to.
    void (*combine)(const Matrix&, const double* v, double* out, std::int64_t from, std::int64_t to);
    // Add t_i (x_i, 1)(x_i, 1)' for the rows begin..end to the lower triangle `out`, a table of (cols + 1)^2, in its rows
    // from..to alone; `room` holds gram_room(cols).
    void (*gram)(const Matrix&, const double* t, std::int64_t begin, std::int64_t end, double* out, double* room,
                 std::int64_t from, std::int64_t to);
    // How much work each column is, in a product with the rows or (pairs) in the Gram matrix, as some of the rows tell.
    void (*work_of_columns)(const Matrix&, bool pairs, double* out);
    // Turn the columns begin..end of the lower triangle of a positive matrix into those of its Cholesky factor; the ones
    // before are done. Pivots below `least` become `replaced`.
    void (*factor)(double* a, std::int64_t n, std::int64_t begin, std::int64_t end, double least, double replaced);
    double (*dot)(const double* a, const double* b, std::int64_t n);
    // The least value / -way over all entries that fall (way < 0); infinity if none does.
    double (*reach)(const double* value, const double* way, double sign, std::int64_t n);
};

constexpr std::int64_t kGramRows = 64;
constexpr std::int64_t kGramColumns = 16;
inline std::int64_t gram_width(std::int64_t cols) { return (cols + 1 + kGramColumns - 1) / kGramColumns * kGramColumns; }
inline std::int64_t gram_room(std::int64_t cols) { return 2 * kGramRows * gram_width(cols); }

}  // namespace sx
