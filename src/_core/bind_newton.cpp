// The binding of the sums over rows for Newton's method and for proofs of a gap.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "bind.hpp"
#include "newton.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

auto slopes_along(bool squared, Vector<const double> scores, const std::optional<Vector<const double>>& along,
                  double length, double bias, double bias_step, Vector<const double> signs,
                  Vector<const double> costs) {
    const std::size_t n = scores.shape(0);
    expect(signs.shape(0) == n && costs.shape(0) == n && (!along || along->shape(0) == n),
           "scores, steps, signs and costs differ in number");
    expect_aligned(scores, signs, costs);
    if (along) expect_aligned(along);
    const Losses job{squared ? Smooth::squared_hinge : Smooth::log, std::int64_t(n), scores.data(),
                     along ? along->data() : nullptr, length, bias, signs.data(), costs.data()};
    SlopesAlong sums;
    {
        nb::gil_scoped_release free;
        sums = kernels().newton->slopes_along(job, bias_step);
    }
    return std::make_tuple(sums.loss, sums.slope, sums.curvature, sums.alpha);
}

// One reading of the rows, or two products that several threads share: the sums are the same.
void hessian_product(const HeldMatrix& X, Vector<const double> curvature, Vector<const double> v,
                     Vector<double> scores, Vector<double> out) {
    const std::int64_t n = X.m.rows, d = X.m.cols;
    expect(std::int64_t(curvature.shape(0)) == n && std::int64_t(scores.shape(0)) == n,
           "curvatures or scores and rows differ in number");
    expect(std::int64_t(v.shape(0)) == d && std::int64_t(out.shape(0)) == d, "weights and columns of X differ in number");
    expect_aligned(curvature, v);
    expect_aligned(scores);
    expect_aligned(out);
    nb::gil_scoped_release free;
    std::copy_n(v.data(), d, out.data());
    const int jobs = threads_for(double(stored_numbers(X.m)));
    if (jobs == 1) {
        std::fill_n(scores.data(), n, 0.0);
        kernels().newton->hessian_product(X.m, curvature.data(), v.data(), scores.data(), out.data());
        return;
    }
    std::vector<double> pulls(n);
    const double none = 0.0;
    in_parallel(n, jobs, [&](std::int64_t first, std::int64_t last) {
        kernels().decide(X.m, first, last, v.data(), &none, 1, scores.data());
        for (std::int64_t i = first; i < last; ++i) {
            scores.data()[i] = curvature.data()[i] == 0.0 ? 0.0 : scores.data()[i];
            pulls[i] = curvature.data()[i] * scores.data()[i];
        }
    });
    add_combined(X, pulls.data(), out.data());
}

void add_scaled(Vector<double> out, double factor, Vector<const double> v) {
    expect(out.shape(0) == v.shape(0), "vectors differ in length");
    expect_aligned(out);
    expect_aligned(v);
    nb::gil_scoped_release free;
    kernels().newton->add_scaled(out.data(), factor, v.data(), out.shape(0));
}

auto margin_sums(bool squared, Vector<const double> scores, double bias, Vector<const double> signs,
                 Vector<const double> costs, Vector<const double> squares, Vector<const double> alpha, double unit,
                 double norm, double constant) {
    const std::size_t n = scores.shape(0);
    for (const auto* each : {&scores, &signs, &costs, &squares, &alpha}) {
        expect(each->shape(0) == n, "scores, signs, costs, squares and alpha differ in number");
        expect_aligned(*each);
    }
    const Margins job{squared, std::int64_t(n), scores.data(), bias, signs.data(), costs.data(), squares.data(),
                      alpha.data(), unit, norm, constant};
    std::vector<double> slack(n);
    MarginSums sums;
    {
        nb::gil_scoped_release free;
        sums = kernels().newton->margin_sums(job, slack.data());
    }
    return std::make_tuple(sums.loss, sums.error, sums.longest, sums.lengths, to_numpy(std::move(slack)));
}

}  // namespace

void sx::bind_newton(nb::module_& module) {
    module.def("slopes_along", &slopes_along, "squared"_a, "scores"_a.noconvert(), "along"_a.noconvert().none(),
               "length"_a, "bias"_a, "bias_step"_a, "signs"_a.noconvert(), "costs"_a.noconvert(),
               "The loss at scores + length * along + bias, its slope and curvature in the length, and the sum of alpha.");
    module.def("hessian_product", &hessian_product, "X"_a, "curvature"_a.noconvert(), "v"_a.noconvert(),
               "scores"_a.noconvert(), "out"_a.noconvert(),
               "scores = X v (0 where a row has no curvature), and out = v + X' (curvature scores).");
    module.def("add_scaled", &add_scaled, "out"_a.noconvert(), "factor"_a, "v"_a.noconvert(), "out += factor v.");
    module.def("margin_sums", &margin_sums, "squared"_a, "scores"_a.noconvert(), "bias"_a, "signs"_a.noconvert(),
               "costs"_a.noconvert(), "squares"_a.noconvert(), "alpha"_a.noconvert(), "unit"_a, "norm"_a, "constant"_a,
               "The loss, a bound on its rounding error, the largest error of a margin, the sum of alpha |x|, and the slacks.");
}
