// The binding of the sums of columns.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

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

// Of every column over the rows 0, step, 2 step, ...: the mean, and the sum of the squared deviations from it.
template <class T>
void dense_moments(const Matrix& m, std::int64_t step, double n, double* mean, double* squares) {
    const T* data = static_cast<const T*>(m.data);
    for (std::int64_t i = 0; i < m.rows; i += step) {
        const T* x = data + i * m.stride;
        for (std::int64_t j = 0; j < m.cols; ++j) mean[j] += double(x[j]);
    }
    for (std::int64_t j = 0; j < m.cols; ++j) mean[j] /= n;
    for (std::int64_t i = 0; i < m.rows; i += step) {
        const T* x = data + i * m.stride;
        for (std::int64_t j = 0; j < m.cols; ++j) squares[j] += (double(x[j]) - mean[j]) * (double(x[j]) - mean[j]);
    }
}

template <class T, class I>
void sparse_moments(const Matrix& m, std::int64_t step, double n, double* mean, double* squares) {
    const T* data = static_cast<const T*>(m.data);
    const I* indices = static_cast<const I*>(m.indices);
    const I* indptr = static_cast<const I*>(m.indptr);
    const auto each = [&](auto work) {
        for (std::int64_t i = 0; i < m.rows; i += step) {
            for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) work(indices[p], double(data[p]));
        }
    };
    std::vector<std::int32_t> stored(m.cols);
    each([&](I j, double x) {
        mean[j] += x;
        ++stored[j];
    });
    for (std::int64_t j = 0; j < m.cols; ++j) {
        if (stored[j] == 0) continue;
        mean[j] /= n;
        squares[j] = (n - stored[j]) * mean[j] * mean[j];
    }
    each([&](I j, double x) { squares[j] += (x - mean[j]) * (x - mean[j]); });
}

template <class T>
void moments_of(const Matrix& m, std::int64_t step, double n, double* mean, double* squares) {
    if (m.layout == Layout::dense) {
        dense_moments<T>(m, step, n, mean, squares);
    } else if (m.index == Index::i32) {
        sparse_moments<T, std::uint32_t>(m, step, n, mean, squares);
    } else {
        sparse_moments<T, std::int64_t>(m, step, n, mean, squares);
    }
}

auto sample_moments(const HeldMatrix& X, std::int64_t step) {
    expect(step >= 1, "step must be at least 1");
    std::vector<double> mean(X.m.cols), squares(X.m.cols);
    {
        nb::gil_scoped_release free;
        const double n = double((X.m.rows + step - 1) / step);
        if (X.m.value == Value::f32) {
            moments_of<float>(X.m, step, n, mean.data(), squares.data());
        } else {
            moments_of<double>(X.m, step, n, mean.data(), squares.data());
        }
    }
    return std::make_pair(to_numpy(std::move(mean)), to_numpy(std::move(squares)));
}

}  // namespace

void bind_sums(nb::module_& module) {
    module.def("column_sums", &column_sums, "X"_a.noconvert(), "centre"_a.none() = nb::none(), "squares"_a = false,
               "n_jobs"_a = 1,
               "Return the sums of each column of X less its centre, and of the squares of that, added up as NumPy adds "
               "up a column that lies in memory by itself.");
    module.def("sample_moments", &sample_moments, "X"_a, "step"_a,
               "The means and the sums of squared deviations of each column over every step-th row.");
}

}  // namespace sx
