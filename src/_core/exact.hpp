// What proofs ask of the core: sums with bounds on their rounding errors, exact signs, and keys of the data.
#pragma once
#include "core.hpp"

namespace sx {

struct ExactKernels {
    // For each of the rows begin..end: w.x + bias, a bound on the error of that number, and an upper bound on |x|^2.
    void (*enclosed_scores)(const Matrix&, std::int64_t begin, std::int64_t end, const double* w, double bias,
                            double* scores, double* errors, double* squares);
    // The sum of v_i (x_i - origin) into `sums`, bounds on its errors into `errors`. All three tables hold `cols` zeros
    // before. Rows of a CSR matrix know no origin; of a dense one they need it.
    void (*enclosed_sums)(const Matrix&, const double* v, const double* origin, double* sums, double* errors,
                          double* room);
    // The sign of the sum over k of words[k].(x, 1), for n rows; words has n_words lines of cols + 1. Returns the first
    // row that is not finite, or all_good.
    std::int64_t (*exact_sides)(const Matrix&, const std::int64_t* rows, std::int64_t n, const double* words,
                                std::int64_t n_words, std::int8_t* sides);
    // Two sums of keys for each of the rows begin..end, written one after the other. `keys` has two lines of
    // key_width(cols), zeros behind the columns.
    void (*hash_rows)(const Matrix&, std::int64_t begin, std::int64_t end, const std::uint64_t* keys,
                      std::uint64_t* out);
};

constexpr std::int64_t kKeyLanes = 8;
inline std::int64_t key_width(std::int64_t cols) { return (cols + kKeyLanes - 1) / kKeyLanes * kKeyLanes; }

constexpr std::int64_t kMostProved = std::int64_t(1) << 40;  // rows or columns that the bounds are derived for

}  // namespace sx
