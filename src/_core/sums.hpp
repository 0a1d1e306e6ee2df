// Sums of the columns of a table by rows, in the order in which NumPy adds up one column that lies in memory by itself.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace sx {

// Problem: for each column j of the n x d table x, the sums over i of x_ij - c_j and, if wanted, of its square.
// Pairwise summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2): ranges of at most
// 128 rows in eight strands, larger ones as the sum of two halves, the first a multiple of 8 rows.
class ColumnSums {
public:
    ColumnSums(const double* x, std::int64_t n, std::int64_t d, const double* centre, bool squares)
        : x_(x), n_(n), d_(d), centre_(centre), squares_(squares) {}

    // Writes d sums, and behind them d sums of squares if they are wanted.
    void run(double* out, int n_jobs) const {
        const std::int64_t half = first_half(n_);
        if (n_jobs < 2 || n_ < 4 * kLeaf) {
            Room room(*this);
            range(0, n_, out, room);
            return;
        }
        std::vector<double> both(2 * width());
        in_parallel(2, 2, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t k = first; k < last; ++k) {
                Room room(*this);
                k == 0 ? range(0, half, both.data(), room) : range(half, n_, both.data() + width(), room);
            }
        });
        for (std::int64_t j = 0; j < width(); ++j) out[j] = both[j] + both[width() + j];
    }

    std::int64_t width() const { return squares_ ? 2 * d_ : d_; }

private:
    static constexpr std::int64_t kLeaf = 128, kStrands = 8;

    struct Room {
        std::vector<double> strands, row;
        std::vector<std::vector<double>> halves;  // one for each depth of the recursion
        explicit Room(const ColumnSums& sums) : strands(kStrands * sums.width()), row(sums.width()) {}
    };

    static std::int64_t first_half(std::int64_t n) { return n / 2 - (n / 2) % kStrands; }

    void range(std::int64_t begin, std::int64_t end, double* out, Room& room, std::size_t depth = 0) const {
        const std::int64_t n = end - begin;
        if (n <= kLeaf) {
            leaf(begin, n, out, room);
            return;
        }
        if (room.halves.size() <= depth) room.halves.emplace_back(width());
        const std::int64_t middle = begin + first_half(n);
        range(begin, middle, out, room, depth + 1);
        range(middle, end, room.halves[depth].data(), room, depth + 1);
        const double* second = room.halves[depth].data();
        for (std::int64_t j = 0; j < width(); ++j) out[j] += second[j];
    }

    void leaf(std::int64_t begin, std::int64_t n, double* out, Room& room) const {
        const std::int64_t w = width();
        if (n < kStrands) {
            std::fill(out, out + w, 0.0);
            for (std::int64_t i = 0; i < n; ++i) add(begin + i, out, room);
            return;
        }
        double* strands = room.strands.data();
        std::fill(strands, strands + kStrands * w, 0.0);
        const std::int64_t even = n - n % kStrands;
        for (std::int64_t i = 0; i < even; ++i) add(begin + i, strands + (i % kStrands) * w, room);
        for (std::int64_t j = 0; j < w; ++j) {
            const double* s = strands + j;
            out[j] = ((s[0] + s[w]) + (s[2 * w] + s[3 * w])) + ((s[4 * w] + s[5 * w]) + (s[6 * w] + s[7 * w]));
        }
        for (std::int64_t i = even; i < n; ++i) add(begin + i, out, room);
    }

    void add(std::int64_t i, double* into, Room& room) const {
        const double* row = x_ + i * d_;
        if (centre_ == nullptr) {
            for (std::int64_t j = 0; j < d_; ++j) into[j] += row[j];
            if (squares_) {
                for (std::int64_t j = 0; j < d_; ++j) into[d_ + j] += row[j] * row[j];
            }
            return;
        }
        double* off = room.row.data();
        for (std::int64_t j = 0; j < d_; ++j) off[j] = row[j] - centre_[j];
        for (std::int64_t j = 0; j < d_; ++j) into[j] += off[j];
        if (squares_) {
            for (std::int64_t j = 0; j < d_; ++j) into[d_ + j] += off[j] * off[j];
        }
    }

    const double* x_;
    std::int64_t n_, d_;
    const double* centre_;
    bool squares_;
};

}  // namespace sx
