// The kernels for WebAssembly: the loops of kernels.cpp, compiled for dense rows of doubles alone, one task at a time. The
// whole of kernels.cpp would make the module ten times as large.
#include "bind_wasm.hpp"

#include <math.h>
#include <string.h>

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "losses.hpp"
#include "rules.hpp"
#include "readouts.hpp"
#include "spread.hpp"
#include "screen.hpp"
#include "loop.hpp"
#include "fold.hpp"
#include "dual_rows.hpp"

Dense<double> rows_of(const Matrix& m) { return {static_cast<const double*>(m.data), m.cols, m.stride}; }

std::int64_t visit(const Matrix& m, Pass& pass, const Rule& rule, BinaryTask* task, int) {
    return with_rule(rule, [&](const auto& each) { return visit_rows(rows_of(m), pass, each, task, 1); });
}

std::int64_t visit_dual(const KernelStore& stored, Pass& pass, const Rule& rule, BinaryTask& task, const Budget*) {
    return visit_rows(DualRows{stored, stored.n}, pass, Threshold(rule.parameters), &task, 1);
}

std::int64_t fold(const Matrix& m, Pass& pass, const Rule& rule, BinaryTask* task, int, const Folds& folds,
                  const Scratch& scratch) {
    return with_rule(rule, [&]<class R>(const R& each) -> std::int64_t {
        if constexpr (R::kFolds) {
            return fold_rows(rows_of(m), pass, each, task, 1, folds, scratch);
        } else {
            return all_good;  // which the page does not ask for
        }
    });
}

void decide(const Matrix& m, std::int64_t begin, std::int64_t end, const double* w, const double* bias, int, double* out) {
    const Dense<double> X = rows_of(m);
    for (std::int64_t i = begin; i < end; ++i) {
        X.template dots<1>(i, &w, out + i);
        out[i] += *bias;
    }
}

void square_norms(const Matrix& m, double* out) {
    const Dense<double> X = rows_of(m);
    for (std::int64_t i = 0; i < m.rows; ++i) out[i] = X.square_norm(i);
}

extern const DualKernels dual_kernels;
extern const MarginKernels margin_kernels;
extern const ExactKernels exact_kernels;
extern const Kernels kernels;
constinit const Kernels kernels = {.name = "wasm32", .rules = Facts<Rules>::all, .n_rules = Facts<Rules>::count,
                                   .visit = visit, .visit_dual = visit_dual, .fold = fold, .decide = decide,
                                   .square_norms = square_norms, .dual = &dual_kernels, .margin = &margin_kernels,
                                   .exact = &exact_kernels};

}  // namespace SX_BUILD
}  // namespace sx
