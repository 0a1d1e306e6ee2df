// One build of the sums over rows for Newton's method and for proofs of a gap. CMake compiles this file once for each
// instruction set, as kernels.cpp.
#include "newton.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "losses.hpp"
#include "loss_blocks.hpp"

template <class Of>
SlopesAlong slopes_along_as(const Losses& job, double bias_step) {
    double loss[kSums] = {}, slope[kSums] = {}, curvature[kSums] = {}, alpha[kSums] = {};
    each_block(job, [&](std::int64_t first, int n, const double* m) {
        double value[kBlock], down[kBlock], bend[kBlock], pull[kBlock], moved[kBlock];
        Of::all(m, n, value, down, bend);
        const double* signs = job.signs + first;
        const double* costs = job.costs + first;
        for (int i = 0; i < n; ++i) moved[i] = signs[i] * ((job.along ? job.along[first + i] : 0.0) + bias_step);
        for (int i = 0; i < n; ++i) {
            value[i] = costs[i] * value[i];
            pull[i] = costs[i] * down[i];
            down[i] = moved[i] * pull[i];
            bend[i] = (moved[i] * moved[i]) * (costs[i] * bend[i]);
        }
        for (int i = 0; i < n; ++i) {
            loss[i % kSums] += value[i];
            slope[i % kSums] += down[i];
            curvature[i % kSums] += bend[i];
            alpha[i % kSums] -= pull[i];
        }
    });
    return {joined(loss), joined(slope), joined(curvature), joined(alpha)};
}

SlopesAlong slopes_along(const Losses& job, double bias_step) {
    return job.kind == Smooth::log ? slopes_along_as<LogLosses>(job, bias_step)
                                   : slopes_along_as<SquaredHingeLosses>(job, bias_step);
}

constexpr std::int64_t kAhead = 8;

void hessian_product(const Matrix& m, const double* curvature, const double* v, double* scores, double* out) {
    with_centred_rows(m, [&]<class Rows>(const Rows& X) {
        const double* const some[1] = {v};
        for (std::int64_t i = 0; i < m.rows; ++i) {
            if (curvature[i] == 0.0) continue;
            double dot;
            X.template dots<1>(i, some, &dot, Rows::kSparse && i + kAhead < m.rows ? i + kAhead : -1);
            scores[i] = dot;
            const double pull = curvature[i] * dot;
            if (pull != 0.0) X.add(i, pull, out);
        }
    });
}

MarginSums margin_sums(const Margins& job, double* slack) {
    double loss[kSums] = {}, error[kSums] = {}, lengths[kSums] = {};
    double longest = 0.0;
    const double base = 1.0 + fabs(job.bias);
    for (std::int64_t i = 0; i < job.n; ++i) {
        const double m = job.signs[i] * (job.scores[i] + job.bias), length = sqrt(job.squares[i]);
        const double off = job.unit * (base + job.norm * length);
        const double behind = 1.0 - m > 0.0 ? 1.0 - m : 0.0;
        const double price = job.costs[i] * (job.squared ? 2.0 * (behind + off) : 1.0);
        slack[i] = behind;
        loss[i % kSums] += job.costs[i] * (job.squared ? behind * behind : behind);
        error[i % kSums] += m < 1.0 + off ? price * off : 0.0;
        lengths[i % kSums] += job.alpha[i] * (length + job.constant);
        longest = off > longest ? off : longest;
    }
    return {joined(loss), joined(error), longest, joined(lengths)};
}

void add_scaled(double* out, double factor, const double* v, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] += factor * v[i];
}

extern const NewtonKernels newton_kernels;
const NewtonKernels newton_kernels = {slopes_along, hessian_product, margin_sums, add_scaled};

}  // namespace SX_BUILD
}  // namespace sx
