// What a pass over the examples needs, checked; and weights where the loops read them best.
#pragma once
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"

namespace sx {

struct Examples {
    Vector<const std::int32_t> codes;
    std::optional<Vector<const double>> weights;
    std::optional<Vector<const std::uint32_t>> order;
    std::optional<Vector<const double>> shares;

    // Check what a pass over begin..end will read, of a pool of `pool` examples when it may look at them all.
    Pass pass(std::int64_t rows, std::int64_t begin, std::int64_t end, bool whole, double bias_square,
              double clock) const {
        expect(std::int64_t(codes.shape(0)) == rows, "codes and rows differ in number");
        expect(!weights || std::int64_t(weights->shape(0)) == rows, "weights and rows differ in number");
        const std::int64_t pool = order ? std::int64_t(order->shape(0)) : rows;
        expect(0 <= begin && begin <= end && end <= pool, "begin and end must lie within the examples");
        expect(!shares || std::int64_t(shares->shape(0)) == pool, "shares and examples differ in number");
        expect_aligned(codes, weights, shares, order);
        if (order) {
            std::uint32_t largest = 0;
            const std::int64_t from = whole ? 0 : begin, to = whole ? pool : end;
            for (std::int64_t p = from; p < to; ++p) largest = std::max(largest, order->data()[p]);
            expect(from == to || std::int64_t(largest) < rows, "order names a row that is not there");
        }
        return {codes.data(), data_of(weights), data_of(order), data_of(shares), begin, end, pool, bias_square, clock,
                nullptr};
    }

    // Check that the labels of begin..end, or of the whole pool, are codes of so many classes.
    void expect_codes(const Pass& pass, bool whole, int n_classes) const {
        for (std::int64_t p = whole ? 0 : pass.begin; p < (whole ? pass.pool : pass.end); ++p) {
            const std::int32_t code = pass.codes[pass.order ? pass.order[p] : p];
            expect(0 <= code && code < n_classes, "codes must be places among the classes");
        }
    }
};

inline auto as_tuple(std::int64_t bad, const Tally& t) {
    return std::make_tuple(bad, t.zero_one, t.perceptron, t.squared, t.log, t.hinge, t.squared_hinge);
}

constexpr std::int64_t kLine = 8;  // doubles of a cache line

// The first number from here on that begins a cache line.
template <class T>
T* line_from(T* p) {
    while (reinterpret_cast<std::uintptr_t>(p) % (kLine * sizeof(double)) != 0) ++p;
    return p;
}

// Weights at the start of cache lines while dense rows are visited: a vector that lies across two lines takes twice as
// long to read and to write, and NumPy's arrays mostly do.
class AlignedWeights {
public:
    AlignedWeights(const Matrix& m, std::size_t n_vectors) : cols_(m.cols), dense_(m.layout == Layout::dense) {
        if (!dense_) return;
        store_.resize(room() * n_vectors + kLine);
        next_ = line_from(store_.data());
    }

    double* take(double* theirs) {
        if (!dense_) return theirs;
        double* mine = next_;
        taken_.emplace_back(theirs, mine);
        std::copy(theirs, theirs + cols_, mine);
        next_ += room();
        return mine;
    }

    void give_back() {
        for (const auto& [theirs, mine] : taken_) std::copy(mine, mine + cols_, theirs);
    }

private:
    std::size_t room() const { return std::size_t((cols_ + kLine - 1) / kLine * kLine); }

    std::int64_t cols_;
    bool dense_;
    double* next_ = nullptr;
    std::vector<double> store_;
    std::vector<std::pair<double*, double*>> taken_;
};

// Whether the rows of a pass hold so many values that weights and a diagonal spread are worth putting side by side
// (spread.hpp), there and back.
inline bool worth_pairing(const Matrix& m, const Pass& pass) {
    if (m.layout != Layout::csr || m.rows == 0) return false;
    return double(stored_numbers(m)) / double(m.rows) * double(pass.end - pass.begin) >= 8.0 * double(m.cols);
}

// `store` is room for them, and for one more.
inline void pair_spread(BinaryTask& t, std::int64_t cols, std::vector<double>& store) {
    store.resize(2 * std::size_t(cols) + 2);
    t.pairs = store.data();
    for (std::int64_t j = 0; j < cols; ++j) t.pairs[2 * j] = t.w[j], t.pairs[2 * j + 1] = t.spread[j];
}

inline void unpair_spread(const BinaryTask& t, std::int64_t cols) {
    for (std::int64_t j = 0; j < cols; ++j) t.w[j] = t.pairs[2 * j], t.spread[j] = t.pairs[2 * j + 1];
}

}  // namespace sx
