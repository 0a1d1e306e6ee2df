// What the parts of the binding share: checked arrays and the matrix.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "builds.hpp"
#include "parallel.hpp"

namespace sx {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Numbers = nb::ndarray<double, nb::c_contig, nb::device::cpu>;  // of any shape

[[noreturn]] inline void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

inline void expect(bool holds, const std::string& message) {
    if (!holds) refuse(message);
}

template <class T>
void expect_aligned(const T* data, const char* name) {
    expect(reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0, std::string(name) + " is not aligned in memory");
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

struct HeldMatrix {
    Matrix m;
    nb::object data, indices, indptr, centre;  // keep the arrays alive
    bool canonical = true;             // columns strictly ascending in every row
};

// How many numbers a matrix holds.
inline std::int64_t stored_numbers(const Matrix& m) {
    if (m.layout == Layout::dense) return m.rows * m.cols;
    return m.index == Index::i32 ? std::int64_t(static_cast<const std::int32_t*>(m.indptr)[m.rows])
                                 : static_cast<const std::int64_t*>(m.indptr)[m.rows];
}

// Receives the records of a VoteSink.
struct Votes {
    std::vector<std::int64_t> row;
    std::vector<double> signed_tau, time;

    static void push(void* owner, std::int64_t row, double signed_tau, double time) {
        auto* votes = static_cast<Votes*>(owner);
        votes->row.push_back(row);
        votes->signed_tau.push_back(signed_tau);
        votes->time.push_back(time);
    }
};

const Kernels& kernels();  // of the build in use

void bind_descent(nb::module_& module);
void bind_dual(nb::module_& module);
void bind_joint(nb::module_& module);
void bind_margin(nb::module_& module);
void bind_multinomial(nb::module_& module);
void bind_csv(nb::module_& module);
void bind_exact(nb::module_& module);
void bind_libsvm(nb::module_& module);
void bind_sums(nb::module_& module);

}  // namespace sx
