// The optima of a hinge problem for all C, piece by piece.
#pragma once
#include <cstdint>
#include <vector>

#include "core.hpp"

namespace sx {

// Minimise |w|^2 / 2 + C sum counts max(0, 1 - y (w.x + b)). `constant` is that of a penalised bias coordinate, 0 for
// none; `free` is the bias that costs nothing.
struct HingeProblem {
    Matrix rows;
    const double* signs;
    const double* counts;
    double constant;
    bool free;
};

// Solutions where one piece ends and the next begins: C, bias, weights, and dual weights of all rows. Two in a row with the
// same C are two solutions for it, from one of which the path comes, and with the other of which it goes on.
struct HingePieces {
    std::vector<double> C, bias, weights, alpha;
};

// Rows are inside the margin (alpha = C counts), on it, or beyond it (alpha = 0). While these sets stay, the dual weights
// of the rows on the margin and the bias are linear in C: the rows on it stay there (Hastie, Rosset, Tibshirani and Zhu,
// JMLR 5, 2004). A piece ends where a row meets its margin, or a dual weight its bound.
//
// Any solution will do to begin with: each row has a knot, where its loss begins. The knots are first put where the
// solution would be exact, and then brought to 1 in the same manner. From time to time this is repeated at the same C, so
// that rounding errors do not add up. Nothing here is proved: svm/hinge_pieces.py does that, from the dual weights alone.
class HingePath {
public:
    HingePath(const HingeProblem& problem, double C, const double* alpha, double bias);

    // Follow the path from where it is up to `end`, at most so many pieces. False if it cannot be followed further.
    bool follow(double end, std::int64_t most, HingePieces& pieces);

private:
    enum Side : std::int8_t { beyond, on, inside };
    struct Event {
        double step;
        std::int64_t row;  // -1: none before the end
        Side to;
    };

    bool settle();
    void read_all();
    void head(bool along);
    Event next_event(bool along, double left) const;
    void move(bool along, double step);
    bool change(const Event& event);
    bool take_on(std::int64_t row);
    bool exchange(std::int64_t row, Side from);
    bool add(std::int64_t row);
    void remove(std::size_t place);
    void put(std::int64_t row, Side side);
    void lean(std::int64_t row, double sign);
    void read_row(std::int64_t row, double* out);
    double product(const double* a, const double* b) const;
    void emit(HingePieces& pieces) const;

    const HingeProblem problem;
    const std::int64_t n, d;
    double C, bias;
    bool settled = false;
    std::int64_t since = 0;  // events since all was read anew
    std::vector<Side> side;
    std::vector<double> alpha, margin, knot, drift, rate, squares, unit;
    std::vector<std::int64_t> held;         // the rows on the margin
    std::vector<double> rows;               // and their values, one after another
    std::vector<double> inverse, solution;  // of the equations of these rows, and of the bias before them if it is free
    std::vector<double> pull;               // sum of counts y x over the rows inside
    double pull_balance = 0.0, imbalance = 0.0;  // the sums of counts y over these rows, and of alpha y over all
    std::vector<double> weights, way;            // and where they go, with the bias
    double bias_way = 0.0, way_length = 0.0;
    double noise = 0.0, farthest = 0.0;  // what rounding may make of the way, and the longest row on the margin
};

}  // namespace sx
