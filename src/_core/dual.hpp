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

// One binary task of the kernel perceptron, "this class or not?", and what learning it changes; the slots of `real` and
// `count` are those of a BinaryTask (core.hpp), and null pointers switch a readout's bookkeeping off.
struct DualTask {
    double* coef;  // alpha_i y_i of every example
    double* average_correction;
    double* pocket;
    double* activation;  // sum_j coef_j K_ij of every example, without the bias
    double* real;
    std::int64_t* count;
    void* votes;
    void (*push)(void* votes, std::int64_t row, double signed_tau, double time);
    std::int32_t positive;
    bool tie_is_mistake[2];
};

// The examples that a kernel perceptron visits: rows order[begin..end), or begin..end when order is null.
struct DualPass {
    const std::int32_t* codes;
    const double* weights;
    const std::uint32_t* order;
    std::int64_t begin, end, pool, n;
    double eta, threshold, bias_square, clock;
    const double* store;            // kernel rows
    std::int64_t stride;
    const std::int64_t* slot_of;    // where each example's row lies, -1 where it is not there
};

constexpr std::int64_t kNoRow = -1, kNotFinite = -2;  // kNotFinite - i: the activation of example i is not finite

struct DualKernels {
    // out[k][j] = exp(-gamma max(0, left_k + right_j - 2 products[k][j])) for columns begin..end.
    void (*exponentials)(const float* products, std::int64_t n, std::int64_t cols, const double* left,
                         const double* right, double gamma, float* store, std::int64_t stride,
                         const std::int64_t* slots, std::int64_t begin, std::int64_t end);
    // sums[j] += sum_k coef_k row_k[j] for columns begin..end.
    void (*add_rows_f32)(const KernelRows<float>&, const double* coef, std::int64_t begin, std::int64_t end,
                         double* sums);
    void (*add_rows_f64)(const KernelRows<double>&, const double* coef, std::int64_t begin, std::int64_t end,
                         double* sums);
    std::int64_t (*smo_f32)(const WorkingSet<float>&, double tolerance, std::int64_t max_steps);
    std::int64_t (*smo_f64)(const WorkingSet<double>&, double tolerance, std::int64_t max_steps);
    // Learn until the end of the pass (kNoRow), or until a mistake whose kernel row is not in the store: its row. The
    // pass remembers where it stands.
    std::int64_t (*dual_visit)(DualPass&, DualTask&);
};

}  // namespace sx
