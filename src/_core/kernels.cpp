// One build of the kernels. CMake compiles this file once for each instruction set, with SX_BUILD naming it.
#include "core.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "losses.hpp"
#include "rules.hpp"
#include "readouts.hpp"
#include "screen.hpp"
#include "spread.hpp"
#include "loop.hpp"
#include "joint.hpp"
#include "fold.hpp"
#include "dual_rows.hpp"
#include "mix.hpp"
#include "budget.hpp"

std::int64_t visit(const Matrix& m, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks) {
    if (pass.lengths) {  // bind.cpp gives them for dense float32 rows and the first rule only
        const Dense<float> X{static_cast<const float*>(m.data), m.cols, m.stride};
        return visit_rows_quickly(X, pass, Threshold(rule.parameters), tasks, n_tasks);
    }
    return with_rows(m, [&](const auto& X) {
        return with_rule(rule, [&](const auto& each) { return visit_rows(X, pass, each, tasks, n_tasks); });
    });
}

std::int64_t visit_dual(const KernelStore& stored, Pass& pass, const Rule& rule, BinaryTask& task, const Budget* budget) {
    const DualRows X{stored, stored.n};
    if (budget) return visit_rows(BudgetRows{X, *budget, task, pass.bias_square}, pass, Threshold(rule.parameters), &task, 1);
    return visit_rows(X, pass, Threshold(rule.parameters), &task, 1);
}

std::int64_t fold(const Matrix& m, Pass& pass, const Rule& rule, BinaryTask* tasks, int n_tasks,
                  const Folds& folds, const Scratch& scratch) {
    return with_rows(m, [&](const auto& X) {
        return with_rule(rule, [&]<class R>(const R& each) -> std::int64_t {
            if constexpr (R::kFolds) {
                return fold_rows(X, pass, each, tasks, n_tasks, folds, scratch);
            } else {
                return all_good;  // which bind.cpp does not ask for
            }
        });
    });
}

std::int64_t visit_joint(const Matrix& m, Pass& pass, const Rule& rule, JointTask& task) {
    return with_rows(m, [&](const auto& X) {
        return with_rule(rule, [&]<class R>(const R& each) -> std::int64_t {
            if constexpr (R::kJoint) {
                return visit_jointly(X, pass, each, task);
            } else {
                return all_good;  // which bind_joint.cpp does not ask for
            }
        });
    });
}

std::int64_t tally_joint(const Matrix& m, const Pass& pass, const JointTask& task, bool smooth, Tally* out) {
    return with_rows(m, [&](const auto& X) {
        return smooth ? tally_jointly<true>(X, pass, task, HUGE_VAL, out)
                      : tally_jointly<false>(X, pass, task, HUGE_VAL, out);
    });
}

std::int64_t tally(const Matrix& m, const Pass& pass, const BinaryTask& task, bool smooth, Tally* out) {
    return with_rows(m, [&](const auto& X) {
        return smooth ? tally_rows<true>(X, pass, task, HUGE_VAL, out)
                      : tally_rows<false>(X, pass, task, HUGE_VAL, out);
    });
}

void decide(const Matrix& m, std::int64_t begin, std::int64_t end, const double* w, const double* bias,
            int n_tasks, double* out) {
    with_centred_rows(m, [&]<class Rows>(const Rows& X) {
        for (std::int64_t i = begin; i < end; ++i) {
            double* a = out + i * n_tasks;
            const std::int64_t ahead = Rows::kSparse && i + kAhead < end ? i + kAhead : -1;
            in_blocks<Rows::kMost>(n_tasks, [&](auto block, int first) {
                constexpr int n = decltype(block)::size;
                const double* some[n];
                for (int b = 0; b < n; ++b) some[b] = w + (first + b) * m.cols;
                X.template dots<n>(i, some, a + first, first == 0 ? ahead : -1);
                return true;
            });
            for (int k = 0; k < n_tasks; ++k) a[k] += bias[k];
        }
    });
}

void square_norms(const Matrix& m, double* out) {
    with_centred_rows(m, [&](const auto& X) {
        for (std::int64_t i = 0; i < m.rows; ++i) out[i] = X.square_norm(i);
    });
}

template <class I, class U>
IndexSurvey survey_as(const I* index, std::int64_t n) {
    U largest = n > 0 ? U(index[0]) : U(0);
    std::int64_t descents = 0;
    for (std::int64_t p = 1; p < n;) {
        const std::int64_t end = p + 4096 < n ? p + 4096 : n;
        I here = 0;  // of the index's own width, so that one vector holds as many counts as indices
        for (; p < end; ++p) {
            largest = largest > U(index[p]) ? largest : U(index[p]);
            here += index[p] <= index[p - 1];
        }
        descents += here;
    }
    return {std::uint64_t(largest), descents};
}

IndexSurvey survey(Index kind, const void* indices, std::int64_t n) {
    if (kind == Index::i32) {
        return survey_as<std::int32_t, std::uint32_t>(static_cast<const std::int32_t*>(indices), n);
    }
    return survey_as<std::int64_t, std::uint64_t>(static_cast<const std::int64_t*>(indices), n);
}

std::int64_t first_bad_row(const Matrix& m, std::int64_t begin, std::int64_t end) {
    return with_rows(m, [&](const auto& X) -> std::int64_t {
        for (std::int64_t i = begin; i < end; ++i) {
            if (!X.finite(i)) return i;
        }
        return all_good;
    });
}

#define SX_TEXT(name) #name
#define SX_NAME(name) SX_TEXT(name)
extern const DualKernels dual_kernels;
extern const MarginKernels margin_kernels;
extern const ExactKernels exact_kernels;
extern const DescentKernels descent_kernels;
extern const MultinomialKernels multinomial_kernels;
extern const NewtonKernels newton_kernels;
extern const Kernels kernels;
constinit const Kernels kernels = {SX_NAME(SX_BUILD), Facts<Rules>::all, Facts<Rules>::count, visit, visit_dual, fold,
                                    visit_joint, tally, tally_joint, decide, square_norms, survey, first_bad_row,
                                    &dual_kernels, &margin_kernels, &exact_kernels, &descent_kernels, &newton_kernels,
                                    &multinomial_kernels};

}  // namespace SX_BUILD
}  // namespace sx
