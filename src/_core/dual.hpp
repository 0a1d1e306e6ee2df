// What the loops over kernel rows take and give: plain structs of pointers, as in core.hpp, and for the same reason.
//
// A kernel row holds K(x_i, x_j) for one i and every j, in float32 or float64. Rows lie in a store, one in each slot;
// sums over them are always float64.
#pragma once
#include <cstdint>

namespace sx {

// n kernel rows of `cols` values, the k-th at store + slots[k] * stride.
template <class T>
struct KernelRows {
    const T* store;
    std::int64_t stride;
    const std::int64_t* slots;
    std::int64_t n;
};

// The soft-margin dual on a working set of n points, all arrays padded to a multiple of kSmoWidth (see smo.hpp).
template <class T>
struct WorkingSet {
    const T* K;  // `padded` rows of `padded` values: the kernel among the points, zeros in the padding
    std::int64_t n, padded;
    const double* diagonal;
    const double* y;  // +1 or -1
    const double* C;
    double* alpha;
    double* F;        // sum_j alpha_j y_j K_ij - y_i
    double* up;       // scratch: 0 where alpha may move up along y, infinity elsewhere
    double* low;      // scratch: 0 where it may move down along y, -infinity elsewhere
};

constexpr std::int64_t kSmoWidth = 8;

// Loops over stored rows of one type.
template <class T>
struct RowKernels {
    // sums[j] += sum_k coef_k row_k[j] for columns begin..end.
    void (*add_rows)(const KernelRows<T>&, const double* coef, std::int64_t begin, std::int64_t end, double* sums);
    std::int64_t (*smo)(const WorkingSet<T>&, double tolerance, std::int64_t max_steps);
};

struct DualKernels {
    // out[k][j] = exp(-gamma max(0, left_k + right_j - 2 products[k][j])) for columns begin..end.
    void (*exponentials)(const float* products, std::int64_t n, std::int64_t cols, const double* left,
                         const double* right, double gamma, float* store, std::int64_t stride,
                         const std::int64_t* slots, std::int64_t begin, std::int64_t end);
    RowKernels<float> f32;
    RowKernels<double> f64;
};

}  // namespace sx
