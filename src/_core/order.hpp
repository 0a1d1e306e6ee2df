// The order of a shuffled epoch, drawn from what the rows hold and not from where they stand.
//
// Each example gets a 64-bit key of its values and its label; an epoch visits the examples by the mixed key of
// (example, seed, epoch). So the same examples in another order, in another layout (dense or CSR, float32 or float64)
// give the same run, and copies of an example stand next to each other, as an integer weight would put them.
// Examples of weight 0 are left out.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core.hpp"

namespace sx {

// Steele, Lea and Flood 2014: the finaliser of SplitMix64, a bijection.
inline std::uint64_t mix(std::uint64_t v) {
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

// A sum over the columns, so that zeros and the order of the entries do not matter. The rotation brings sign, exponent
// and leading digits to the low end, where the product spreads them over all 64 bits.
inline std::uint64_t entry_key(std::int64_t column, double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes +0, whose bits are 0
    return std::rotl(bits, 16) * (mix(std::uint64_t(column)) | 1u);
}

template <class T>
std::uint64_t values_key(const Matrix& m, std::int64_t row, std::int64_t first_columns) {
    const T* data = static_cast<const T*>(m.data);
    std::uint64_t key = 0;
    if (m.layout == Layout::dense) {
        const T* x = data + row * m.stride;
        const std::int64_t n = std::min(first_columns, m.cols);
        for (std::int64_t j = 0; j < n; ++j) key += entry_key(j, double(x[j]));
        return key;
    }
    auto sum = [&](auto* indices, auto* indptr) {
        for (std::int64_t p = indptr[row]; p < std::int64_t(indptr[row + 1]) && indices[p] < first_columns; ++p) {
            key += entry_key(indices[p], double(data[p]));
        }
    };
    if (m.index == Index::i32) {
        sum(static_cast<const std::int32_t*>(m.indices), static_cast<const std::int32_t*>(m.indptr));
    } else {
        sum(static_cast<const std::int64_t*>(m.indices), static_cast<const std::int64_t*>(m.indptr));
    }
    return key;
}

inline std::uint64_t row_key(const Matrix& m, std::int64_t row, std::int64_t first_columns) {
    return m.value == Value::f32 ? values_key<float>(m, row, first_columns) : values_key<double>(m, row, first_columns);
}

// Rows by ascending key, equal keys by row: one counting pass over the leading bits, then short sorts.
inline std::vector<std::uint32_t> by_key(const std::vector<std::uint32_t>& rows,
                                         const std::vector<std::uint64_t>& keys) {
    const int bits = std::max(1, int(std::bit_width(rows.size())) - 2);
    std::vector<std::uint32_t> start((std::size_t(1) << bits) + 1, 0);
    for (std::uint64_t key : keys) ++start[(key >> (64 - bits)) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    struct Entry {
        std::uint64_t key;
        std::uint32_t row;
        bool operator<(const Entry& other) const { return key != other.key ? key < other.key : row < other.row; }
    };
    std::vector<Entry> sorted(rows.size());
    {
        std::vector<std::uint32_t> at(start.begin(), start.end() - 1);
        for (std::size_t i = 0; i < rows.size(); ++i) sorted[at[keys[i] >> (64 - bits)]++] = {keys[i], rows[i]};
    }
    for (std::size_t b = 0; b + 1 < start.size(); ++b) {
        if (start[b + 1] - start[b] > 1) std::sort(sorted.begin() + start[b], sorted.begin() + start[b + 1]);
    }
    std::vector<std::uint32_t> out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = sorted[i].row;
    return out;
}

// The keys of one fit. Most rows differ in their first columns, so only rows that agree there, and are not mere copies
// of each other, pay for a key of all their columns.
class Shuffler {
   public:
    Shuffler(const Matrix& m, const std::int32_t* codes, const double* weights) {
        for (std::int64_t i = 0; i < m.rows; ++i) {
            if (weights && !(weights[i] > 0.0)) continue;
            rows_.push_back(std::uint32_t(i));
            keys_.push_back(mix(row_key(m, i, kFirstColumns) ^ mix(std::uint64_t(codes[i]))));
        }
        if (m.cols > kFirstColumns) tell_apart(m);
    }

    std::vector<std::uint32_t> epoch(std::uint64_t seed, std::uint64_t number) const {
        const std::uint64_t salt = mix(mix(seed) ^ (number + 1));
        std::vector<std::uint64_t> mixed(keys_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) mixed[i] = mix(keys_[i] ^ salt);
        return by_key(rows_, mixed);
    }

   private:
    static constexpr std::int64_t kFirstColumns = 8;

    void tell_apart(const Matrix& m) {
        std::vector<std::uint32_t> place(rows_.size());
        std::iota(place.begin(), place.end(), 0u);
        const std::vector<std::uint32_t> sorted = by_key(place, keys_);
        std::vector<std::uint64_t> whole;
        for (std::size_t from = 0, to; from < sorted.size(); from = to) {
            to = from + 1;
            while (to < sorted.size() && keys_[sorted[to]] == keys_[sorted[from]]) ++to;
            if (to - from == 1) continue;
            whole.clear();
            for (std::size_t i = from; i < to; ++i) whole.push_back(row_key(m, rows_[sorted[i]], m.cols));
            if (std::all_of(whole.begin(), whole.end(), [&](std::uint64_t k) { return k == whole[0]; })) continue;
            for (std::size_t i = from; i < to; ++i) keys_[sorted[i]] ^= mix(whole[i - from]);
        }
    }

    std::vector<std::uint32_t> rows_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace sx
