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
#include <memory>
#include <numeric>
#include <utility>
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

// A key of one value: a sum of them over the columns does not depend on zeros or on the order of the entries. The
// rotation brings sign, exponent and leading digits to the low end, where the product spreads them over all 64 bits.
inline std::uint64_t entry_key(std::uint64_t column_key, double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes +0, whose bits are 0
    return std::rotl(bits, 16) * column_key;
}

// The keys of one fit, and from them the order of each epoch. Most rows differ in their first columns, so only rows
// that agree there, and are not mere copies of each other, pay for a key of all their columns.
class Shuffler {
   public:
    // The order of epoch `first` is drawn at once: the same sorting finds the rows whose keys are equal.
    Shuffler(const Matrix& m, const std::int32_t* codes, const double* weights, std::uint64_t seed, std::uint64_t first)
        : drawn_salt_(salt(seed, first)) {
        const std::int64_t columns = std::min(kFirstColumns, m.cols);
        for (std::int64_t j = 0; j < columns; ++j) column_keys_.push_back(column_key(j));
        if (weights) {
            for (std::int64_t i = 0; i < m.rows; ++i) {
                if (weights[i] > 0.0) rows_.push_back(std::uint32_t(i));
            }
        }
        n_ = weights ? rows_.size() : std::size_t(m.rows);
        keys_ = fresh(n_);
        for (auto& scratch : scratch_) scratch = fresh(n_);
        for (std::size_t p = 0; p < n_; ++p) {
            if (p + kAhead < n_) ask_for(m, row(p + kAhead));
            keys_[p] = mix(row_key(m, row(p), columns) ^ (std::uint64_t(codes[row(p)]) * 0xd6e8feb86659fd93u));
        }
        drawn_ = sorted(drawn_salt_);
        if (columns < m.cols && tell_apart(m)) drawn_ = sorted(drawn_salt_);
        column_keys_ = {};
    }

    // The rows by ascending mixed key, equal keys by row.
    std::vector<std::uint32_t> epoch(std::uint64_t seed, std::uint64_t number) {
        const std::uint64_t wanted = salt(seed, number);
        std::vector<std::uint32_t> places = wanted == drawn_salt_ ? drawn_ : sorted(wanted);
        if (!rows_.empty()) {
            for (std::uint32_t& place : places) place = rows_[place];
        }
        return places;
    }

   private:
    using Keys = std::unique_ptr<std::uint64_t[]>;
    static constexpr std::int64_t kFirstColumns = 4;
    static constexpr std::size_t kAhead = 16;

    static Keys fresh(std::size_t n) { return Keys(new std::uint64_t[n]); }
    std::int64_t row(std::size_t place) const { return rows_.empty() ? std::int64_t(place) : rows_[place]; }

    static void ask_for(const Matrix& m, std::int64_t row) {
#if defined(__GNUC__)
        const std::int64_t size = m.value == Value::f32 ? 4 : 8;
        const char* x = static_cast<const char*>(m.data) + row * m.stride * size;
        if (m.layout == Layout::dense) {
            __builtin_prefetch(x);
            __builtin_prefetch(x + kFirstColumns * size - 1);
        }
#endif
    }

    static std::uint64_t salt(std::uint64_t seed, std::uint64_t number) { return mix(mix(seed) ^ (number + 1)); }
    static std::uint64_t column_key(std::int64_t j) { return mix(std::uint64_t(j)) | 1u; }

    // The places 0.. of the keys, sorted by mix(key ^ salt): three counting passes over the leading 32 bits, and a
    // comparison of the whole keys where those agree.
    std::vector<std::uint32_t> sorted(std::uint64_t salt) {
        constexpr int kDigit = 11, kPasses = 3;
        constexpr std::size_t kBins = std::size_t(1) << kDigit;
        const std::size_t n = n_;
        std::uint64_t* entries = scratch_[0].get();  // the leading half of the key, then the place
        std::uint64_t* moved = scratch_[1].get();
        std::vector<std::uint32_t> counts(kBins * kPasses, 0);
        for (std::size_t p = 0; p < n; ++p) {
            const std::uint32_t head = std::uint32_t(mix(keys_[p] ^ salt) >> 32);
            entries[p] = (std::uint64_t(head) << 32) | p;
            for (int pass = 0; pass < kPasses; ++pass) ++counts[pass * kBins + ((head >> (pass * kDigit)) & (kBins - 1))];
        }
        for (int pass = 0; pass < kPasses; ++pass) {
            std::uint32_t* start = counts.data() + pass * kBins;
            std::exclusive_scan(start, start + kBins, start, 0u);
            const int shift = 32 + pass * kDigit;
            for (std::size_t p = 0; p < n; ++p) moved[start[(entries[p] >> shift) & (kBins - 1)]++] = entries[p];
            std::swap(entries, moved);
        }
        auto whole = [&](std::uint64_t entry) { return mix(keys_[std::uint32_t(entry)] ^ salt); };
        for (std::size_t from = 0, to; from < n; from = to) {
            to = from + 1;
            while (to < n && entries[to] >> 32 == entries[from] >> 32) ++to;
            if (to - from == 1) continue;
            std::stable_sort(entries + from, entries + to,
                             [&](std::uint64_t a, std::uint64_t b) { return whole(a) < whole(b); });
        }
        std::vector<std::uint32_t> places(n);
        for (std::size_t p = 0; p < n; ++p) places[p] = std::uint32_t(entries[p]);
        return places;
    }

    // Give rows that differ, but not in their first columns, keys of all their columns; true when there were any.
    bool tell_apart(const Matrix& m) {
        bool changed = false;
        std::vector<std::uint64_t> whole;
        for (std::size_t from = 0, to; from < drawn_.size(); from = to) {
            to = from + 1;
            while (to < drawn_.size() && keys_[drawn_[to]] == keys_[drawn_[from]]) ++to;
            if (to - from == 1) continue;
            for (std::int64_t j = column_keys_.size(); j < m.cols; ++j) column_keys_.push_back(column_key(j));
            whole.clear();
            for (std::size_t p = from; p < to; ++p) whole.push_back(row_key(m, row(drawn_[p]), m.cols));
            if (std::all_of(whole.begin(), whole.end(), [&](std::uint64_t k) { return k == whole[0]; })) continue;
            for (std::size_t p = from; p < to; ++p) keys_[drawn_[p]] ^= mix(whole[p - from]);
            changed = true;
        }
        return changed;
    }

    std::uint64_t row_key(const Matrix& m, std::int64_t row, std::int64_t columns) const {
        return m.value == Value::f32 ? values_key<float>(m, row, columns) : values_key<double>(m, row, columns);
    }

    template <class T>
    std::uint64_t values_key(const Matrix& m, std::int64_t row, std::int64_t columns) const {
        const T* data = static_cast<const T*>(m.data);
        std::uint64_t key = 0;
        if (m.layout == Layout::dense) {
            const T* x = data + row * m.stride;
            for (std::int64_t j = 0; j < columns; ++j) key += entry_key(column_keys_[j], double(x[j]));
            return key;
        }
        auto sum = [&](auto* indices, auto* indptr) {
            for (std::int64_t p = indptr[row]; p < std::int64_t(indptr[row + 1]) && indices[p] < columns; ++p) {
                key += entry_key(column_keys_[indices[p]], double(data[p]));
            }
        };
        if (m.index == Index::i32) {
            sum(static_cast<const std::int32_t*>(m.indices), static_cast<const std::int32_t*>(m.indptr));
        } else {
            sum(static_cast<const std::int64_t*>(m.indices), static_cast<const std::int64_t*>(m.indptr));
        }
        return key;
    }

    std::vector<std::uint64_t> column_keys_;
    std::size_t n_;
    std::vector<std::uint32_t> rows_;  // those of positive weight; empty when that is all
    Keys keys_;
    Keys scratch_[2];  // kept, since fresh memory costs as much as the sorting
    std::uint64_t drawn_salt_;
    std::vector<std::uint32_t> drawn_;  // the places of the rows in the order of epoch `first`
};

}  // namespace sx
