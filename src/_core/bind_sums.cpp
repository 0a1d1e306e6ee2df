// The binding of the sums of columns.
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "sums.hpp"

namespace sx {

using namespace nb::literals;

namespace {

auto column_sums(const Table<const double>& X, const std::optional<Vector<const double>>& centre, bool squares,
                 int n_jobs) {
    const auto n = std::int64_t(X.shape(0)), d = std::int64_t(X.shape(1));
    expect_aligned(X);
    if (centre) {
        expect(std::int64_t(centre->shape(0)) == d, "centre must have one number for each column of X");
        expect_aligned(centre);
    }
    const ColumnSums sums(X.data(), n, d, centre ? centre->data() : nullptr, squares);
    std::vector<double> out(sums.width());
    {
        nb::gil_scoped_release free;
        sums.run(out.data(), n_jobs);
    }
    return to_numpy(std::move(out), {std::size_t(squares ? 2 : 1), std::size_t(d)});
}

}  // namespace

void bind_sums(nb::module_& module) {
    module.def("column_sums", &column_sums, "X"_a.noconvert(), "centre"_a.none() = nb::none(), "squares"_a = false,
               "n_jobs"_a = 1,
               "Return the sums of each column of X less its centre, and of the squares of that, added up as NumPy adds "
               "up a column that lies in memory by itself.");
}

}  // namespace sx
