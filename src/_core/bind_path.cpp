// The binding of the path of a hinge problem along C.
#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>

#include "bind.hpp"
#include "hinge_path.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

struct HeldPath {
    HeldMatrix X;  // with the arrays that the path reads
    nb::object signs, counts;
    std::unique_ptr<HingePath> path;
};

void make_path(HeldPath* self, const HeldMatrix& X, Vector<const double> signs, Vector<const double> counts,
               double constant, bool free, double C, Vector<const double> alpha, double bias) {
    const auto n = std::size_t(X.m.rows);
    expect(signs.shape(0) == n && counts.shape(0) == n && alpha.shape(0) == n, "rows, signs, counts and alpha differ in number");
    expect_aligned(signs);
    expect_aligned(counts);
    expect_aligned(alpha);
    expect(n > 0 && C > 0.0, "a path needs rows and a positive C");
    new (self) HeldPath{X, nb::cast(signs), nb::cast(counts), nullptr};
    nb::gil_scoped_release released;
    self->path = std::make_unique<HingePath>(HingeProblem{X.m, signs.data(), counts.data(), constant, free}, C,
                                             alpha.data(), bias);
}

auto follow(HeldPath& self, double end, std::int64_t most) {
    expect(most >= 1, "a path is followed by at least one piece");
    HingePieces pieces;
    bool further;
    {
        nb::gil_scoped_release released;
        further = self.path->follow(end, most, pieces);
    }
    const std::size_t count = pieces.C.size(), n = std::size_t(self.X.m.rows);
    const std::size_t d = std::size_t(self.X.m.cols);
    return std::make_tuple(to_numpy(std::move(pieces.C)), to_numpy(std::move(pieces.bias)),
                           to_numpy(std::move(pieces.weights), {count, d}), to_numpy(std::move(pieces.alpha), {count, n}),
                           further);
}

}  // namespace

void sx::bind_path(nb::module_& module) {
    nb::class_<HeldPath>(module, "HingePath", "The optima of a hinge problem along C, from near the one for the first C.")
        .def("__init__", &make_path, "X"_a, "signs"_a.noconvert(), "counts"_a.noconvert(), "constant"_a, "free"_a, "C"_a,
             "alpha"_a.noconvert(), "bias"_a)
        .def("follow", &follow, "end"_a, "most"_a,
             "Up to this C or so many pieces further: values of C, biases, weights and dual weights of all rows for "
             "each, and whether the path could be followed.");
}
