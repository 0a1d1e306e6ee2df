// What the parts of the binding share: checked arrays and the matrix.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
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

// Whether an array lies where the processor reads its numbers, which a view of bytes need not; one that is not there does.
template <class Array>
bool is_aligned(const Array& array) {
    if constexpr (requires { array.has_value(); }) {
        return !array || is_aligned(*array);
    } else {
        return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(std::remove_pointer_t<decltype(array.data())>) == 0;
    }
}
template <class... Arrays>
void expect_aligned(const Arrays&... arrays) {
    expect((is_aligned(arrays) && ...), "an array is not aligned in memory");
}

template <class Array>
auto* data_of(const std::optional<Array>& array) {
    return array ? array->data() : nullptr;
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

// n numbers that work(pointer) makes, without the GIL.
template <class Work>
auto made(std::int64_t n, Work work) {
    std::vector<double> out(n);
    {
        nb::gil_scoped_release free;
        work(out.data());
    }
    return to_numpy(std::move(out));
}

struct HeldMatrix {
    Matrix m;
    nb::object data, indices, indptr, centre;  // keep the arrays alive
    bool canonical = true;                     // columns strictly ascending in every row
};

// How many numbers a matrix holds.
inline std::int64_t stored_numbers(const Matrix& m) {
    if (m.layout == Layout::dense) return m.rows * m.cols;
    return with_csr(m, [&](const auto*, const auto* indptr) { return std::int64_t(indptr[m.rows]); });
}

// Receives the records of a VoteSink.
struct Votes {
    std::vector<std::int64_t> row;
    std::vector<double> signed_tau, time;

    nb::tuple taken() {
        return nb::make_tuple(to_numpy(std::move(row)), to_numpy(std::move(signed_tau)), to_numpy(std::move(time)));
    }

    static void push(void* owner, std::int64_t row, double signed_tau, double time) {
        auto* votes = static_cast<Votes*>(owner);
        votes->row.push_back(row);
        votes->signed_tau.push_back(signed_tau);
        votes->time.push_back(time);
    }
};

inline void expect_slots(const Vector<double>& real, const Vector<std::int64_t>& count) {
    expect(real.shape(0) == std::size_t(real_slots), "real needs " + std::to_string(int(real_slots)) + " slots");
    expect(count.shape(0) == std::size_t(count_slots), "count needs " + std::to_string(int(count_slots)) + " slots");
    expect_aligned(real, count);
}

// out += X' v, by as many threads as a product may use. Needs no lock of the interpreter.
void add_combined(const HeldMatrix& X, const double* v, double* out);

void bind_descent(nb::module_& module);
void bind_dual(nb::module_& module);
void bind_joint(nb::module_& module);
void bind_margin(nb::module_& module);
void bind_path(nb::module_& module);
void bind_newton(nb::module_& module);
void bind_multinomial(nb::module_& module);
void bind_csv(nb::module_& module);
void bind_exact(nb::module_& module);
void bind_libsvm(nb::module_& module);
void bind_sums(nb::module_& module);

}  // namespace sx
