// Dense and CSR matrices from NumPy's arrays, checked.
#pragma once
#include <cstdint>
#include <string>

#include "bind.hpp"

namespace sx {

template <class T>
void check_csr(const HeldMatrix& held, bool* canonical, std::int64_t n_values, std::int64_t n_indices,
               std::int64_t n_indptr) {
    const Matrix& m = held.m;
    const T* indices = static_cast<const T*>(m.indices);
    const T* indptr = static_cast<const T*>(m.indptr);
    expect(n_values == n_indices, "a CSR matrix needs as many indices as values: found " + std::to_string(n_indices) +
                                      " and " + std::to_string(n_values));
    expect(n_indptr == m.rows + 1, "a CSR matrix needs one more entry in indptr than rows");
    expect(indptr[0] == 0, "a CSR matrix starts at 0: found indptr[0] = " + std::to_string(indptr[0]));
    for (std::int64_t i = 0; i < m.rows; ++i) {
        if (indptr[i + 1] < indptr[i]) {
            refuse("indptr of a CSR matrix must not fall: it does at row " + std::to_string(i));
        }
    }
    expect(indptr[m.rows] <= n_values, "indptr of a CSR matrix ends at " + std::to_string(indptr[m.rows]) +
                                           " but there are " + std::to_string(n_values) + " values");
    const std::int64_t stored = indptr[m.rows];
    const IndexSurvey seen = kernels().survey(m.index, m.indices, stored);
    if (stored > 0 && seen.largest >= std::uint64_t(m.cols)) {
        for (std::int64_t i = 0; i < m.rows; ++i) {
            for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) {
                if (indices[p] < 0 || indices[p] >= m.cols) {
                    refuse("row " + std::to_string(i) + " of a CSR matrix has a column outside 0.." +
                           std::to_string(m.cols - 1) + ": " + std::to_string(indices[p]));
                }
            }
        }
    }
    std::int64_t between_rows = 0;
    for (std::int64_t i = 0; i < m.rows; ++i) {
        const std::int64_t p = indptr[i];
        between_rows += p > 0 && p < std::int64_t(indptr[i + 1]) && indices[p] <= indices[p - 1];
    }
    *canonical = seen.descents == between_rows;
}

template <class T>
HeldMatrix dense(nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> X) {
    HeldMatrix held;
    const std::int64_t rows = X.shape(0), cols = X.shape(1);
    const std::int64_t stride = rows > 1 ? X.stride(0) : cols;
    expect(cols <= 1 || rows == 0 || X.stride(1) == 1,
           "a dense matrix must be C-ordered: the values of a row side by side");
    expect(stride >= cols, "the rows of a dense matrix must not overlap");
    expect_aligned(X);
    held.m = {Layout::dense, sizeof(T) == 4 ? Value::f32 : Value::f64, Index::i32, X.data(), nullptr, nullptr,
              rows, cols, stride};
    held.data = nb::cast(X);
    return held;
}

template <class T, class I>
HeldMatrix csr(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, std::int64_t cols) {
    HeldMatrix held;
    expect(cols >= 0, "a matrix cannot have a negative number of columns");
    expect(sizeof(I) == 8 || cols <= std::int64_t(1) << 31, "32-bit indices allow at most 2^31 columns");
    expect(indptr.shape(0) >= 1, "indptr of a CSR matrix is empty");
    expect_aligned(data, indices, indptr);
    held.m = {Layout::csr, sizeof(T) == 4 ? Value::f32 : Value::f64, sizeof(I) == 4 ? Index::i32 : Index::i64,
              data.data(), indices.data(), indptr.data(), std::int64_t(indptr.shape(0)) - 1, cols, 0};
    {
        nb::gil_scoped_release free;
        check_csr<I>(held, &held.canonical, data.shape(0), indices.shape(0), indptr.shape(0));
    }
    held.data = nb::cast(data);
    held.indices = nb::cast(indices);
    held.indptr = nb::cast(indptr);
    return held;
}

// The same rows, of which the kernels for optimum problems read each value less the centre of its column.
inline HeldMatrix centred(const HeldMatrix& X, Vector<const double> centre) {
    expect(std::int64_t(centre.shape(0)) == X.m.cols, "centre must have one number for each column of X");
    expect_aligned(centre);
    if (X.m.layout == Layout::csr) {
        std::vector<std::int64_t> missing(X.m.cols);
        for (std::int64_t j = 0; j < X.m.cols; ++j) missing[j] = centre.data()[j] == 0.0 ? 0 : X.m.rows;
        with_csr(X.m, [&](const auto* indices, const auto* indptr) {
            for (std::int64_t p = 0; p < std::int64_t(indptr[X.m.rows]); ++p) --missing[indices[p]];
        });
        for (const std::int64_t left : missing) {
            expect(left <= 0, "a sparse column can have a centre only where every row has a value");
        }
    }
    HeldMatrix held = X;
    held.m.centre = centre.data();
    held.centre = nb::cast(centre);
    return held;
}

}  // namespace sx
