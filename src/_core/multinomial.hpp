// What multinomial logistic regression asks of the core: plain structs of pointers, shared by every build.
//
// Tables of a number for each row and class have a line for each class. Probabilities are kept with `wrong`, the sum of
// those that are not the row's own class: it keeps its digits where a row is nearly certain.
#pragma once
#include "core.hpp"

namespace sx {

constexpr std::int64_t kClassLanes = 8;

constexpr std::int64_t whole_lanes(std::int64_t n) { return (n + kClassLanes - 1) / kClassLanes * kClassLanes; }

// Scores of all classes: a product with the weights of each, and the shift. Dense rows read `weights`, a line for each
// class; sparse ones `turned`, a line of whole_lanes(classes) for each column, zeros behind the classes.
struct ClassScores {
    std::int64_t classes;
    const double* weights;  // both null: the scores are the shift
    const double* turned;
    const double* shift;
};

// Rows begin..end of `rows`, the codes of their classes, and what the loss of each costs.
struct ClassedRows {
    std::int64_t begin, end, rows;
    const std::int64_t* codes;
    const double* costs;
};

// Sums over the rows of a number for each class, and of the row times that: for dense rows a line of whole_lanes(cols)
// for each class, for sparse ones a line of whole_lanes(classes) for each column. Null: not wanted.
struct ClassSums {
    double* sums;
    double* pulls;
};

// How many rows are worked on together: as many as the first caches hold. It says how sums are grouped, so it depends on
// the sizes alone.
constexpr std::int64_t class_rows(std::int64_t classes, std::int64_t cols, bool dense) {
    std::int64_t most = 4096 / classes;
    if (dense && 16384 / (cols + 1) < most) most = 16384 / (cols + 1);
    return most >= 64 ? 64 : most < 32 ? 16 : 32;
}

// The numbers of scratch that a pass needs.
constexpr std::int64_t class_room(const Matrix& m, std::int64_t classes) {
    const bool dense = m.layout == Layout::dense;
    const std::int64_t rows = class_rows(classes, m.cols, dense);
    return rows * (2 * classes + (dense ? m.cols + whole_lanes(m.cols) : 0)) + whole_lanes(classes);
}

struct MultinomialKernels {
    // The losses of the rows, times their costs; the probabilities, unless null; and the sums of cost (p - 1[own class]).
    double (*losses)(const Matrix&, const ClassScores&, const ClassedRows&, double* p, double* wrong, const ClassSums&,
                     double* room);
    // The sums of cost (diag(p) - p p') scores: the Hessian's product with the weights that the scores are of.
    void (*bent)(const Matrix&, const ClassScores&, const ClassedRows&, const double* p, const ClassSums&, double* room);
    // The probabilities after a step of the scores, as if linear in them; what would be negative or above 1 is cut off.
    void (*shifted)(const Matrix&, const ClassScores&, const ClassedRows&, double* p, double* wrong, double* room);
    // The sums of cost (p - 1[own class]) of probabilities that are at hand.
    void (*pulled)(const Matrix&, const ClassScores&, const ClassedRows&, const double* p, const double* wrong,
                   const ClassSums&, double* room);
    // An upper bound on the sum of the costs times the divergences of p from q; infinity where digits would not do.
    double (*apart)(std::int64_t classes, const ClassedRows&, const double* p, const double* p_wrong, const double* q,
                    const double* q_wrong);
};

}  // namespace sx
