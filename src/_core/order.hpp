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
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "core.hpp"

namespace sx {

#include "mix.hpp"

// A key of one value: a sum of them over the columns does not depend on zeros or on the order of the entries. The
// rotation brings sign, exponent and leading digits to the low end, where the product spreads them over all 64 bits.
inline std::uint64_t entry_key(std::uint64_t column_key, double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes +0, whose bits are 0
    return std::rotl(bits, 16) * column_key;
}

// The keys of one fit, and from them the order of each epoch. Most rows differ in their first values that are not 0, so
// only rows that agree there, and are not mere copies of each other, pay for a key of all their values.
class Shuffler {
   public:
    // The order of epoch `first` is drawn at once: the same sorting finds the rows whose keys are equal.
    Shuffler(const Matrix& m, const std::int32_t* codes, const double* weights, std::uint64_t seed, std::uint64_t first)
        : rows_(counted(m.rows, weights)),
          n_(weights ? rows_.size() : std::size_t(m.rows)),
          keys_(new std::uint64_t[n_]),
          scratch_(new std::uint64_t[n_]),
          drawn_salt_(salt(seed, first)) {
        for (std::int64_t j = 0; j < m.cols; ++j) column_keys_.push_back(mix(std::uint64_t(j)) | 1u);
        for (std::size_t p = 0; p < n_; ++p) {
            if (p + kAhead < n_) ask_for(m, row(p + kAhead));
            keys_[p] = mix(row_key(m, row(p), kFirst) ^ (std::uint64_t(codes[row(p)]) * 0xd6e8feb86659fd93u));
        }
        bool equal_keys = false;
        drawn_ = sorted(drawn_salt_, &equal_keys);
        if (equal_keys && tell_apart(m)) drawn_ = sorted(drawn_salt_, &equal_keys);
        column_keys_ = {};
    }

    // The rows by ascending mixed key, equal keys by row.
    std::vector<std::uint32_t> epoch(std::uint64_t seed, std::uint64_t number) {
        const std::lock_guard<std::mutex> alone(mutex_);
        const std::uint64_t wanted = salt(seed, number);
        bool equal_keys;
        std::vector<std::uint32_t> places;
        if (wanted == drawn_salt_ && !drawn_.empty()) {
            places.swap(drawn_);
        } else {
            places = sorted(wanted, &equal_keys);
        }
        if (!rows_.empty()) {
            for (std::uint32_t& place : places) place = rows_[place];
        }
        return places;
    }

   private:
    static constexpr std::int64_t kFirst = 4;
    static constexpr std::size_t kAhead = 16;

    static std::vector<std::uint32_t> counted(std::int64_t n, const double* weights) {
        std::vector<std::uint32_t> rows;
        for (std::int64_t i = 0; weights && i < n; ++i) {
            if (weights[i] > 0.0) rows.push_back(std::uint32_t(i));
        }
        // Copies keep the order of these places: the heavier first, wherever they stand.
        std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
        return rows;
    }

    std::int64_t row(std::size_t place) const { return rows_.empty() ? std::int64_t(place) : rows_[place]; }

    // Ask for the first values of a row that will soon be needed.
    static void ask_for(const Matrix& m, std::int64_t row) {
        const std::int64_t size = m.value == Value::f32 ? 4 : 8;
        const char* data = static_cast<const char*>(m.data);
        if (m.layout == Layout::dense) {
            data += row * m.stride * size;
        } else {
            with_csr(m, [&](const auto* indices, const auto* indptr) {
                prefetch(indices + indptr[row]);
                data += std::int64_t(indptr[row]) * size;
            });
        }
        prefetch(data);
        prefetch(data + kFirst * size - 1);
    }

    static std::uint64_t salt(std::uint64_t seed, std::uint64_t number) { return mix(mix(seed) ^ (number + 1)); }

    // The places 0.. of the keys, sorted by mix(key ^ salt): two counting passes over as many leading bits as tell most
    // keys apart, then a comparison of whole keys where those bits agree.
    std::vector<std::uint32_t> sorted(std::uint64_t salt, bool* equal_keys) {
        const int digit = std::clamp((int(std::bit_width(n_)) + 6) / 2, 4, 16);
        const std::size_t bins = std::size_t(1) << digit;
        auto head = [&](std::uint64_t mixed) { return mixed >> (64 - 2 * digit); };
        auto mixed = [&](std::uint32_t place) { return mix(keys_[place] ^ salt); };
        std::vector<std::uint32_t> low(bins, 0), high(bins, 0);
        for (std::size_t p = 0; p < n_; ++p) {
            const std::uint64_t h = head(mixed(std::uint32_t(p)));
            ++low[h & (bins - 1)];
            ++high[h >> digit];
        }
        std::exclusive_scan(low.begin(), low.end(), low.begin(), 0u);
        std::exclusive_scan(high.begin(), high.end(), high.begin(), 0u);
        for (std::size_t p = 0; p < n_; ++p) {  // an entry: the leading half of the mixed key, then the place
            const std::uint64_t m = mixed(std::uint32_t(p));
            scratch_[low[head(m) & (bins - 1)]++] = (m >> 32 << 32) | p;
        }
        std::vector<std::uint32_t> places(n_), ties;
        std::vector<std::uint64_t> last(bins, ~std::uint64_t(0));
        for (std::size_t e = 0; e < n_; ++e) {
            const std::uint64_t h = head(scratch_[e]), bin = h >> digit;
            const std::uint32_t at = high[bin]++;
            places[at] = std::uint32_t(scratch_[e]);
            if (last[bin] == h) ties.push_back(at);  // agrees with the entry before it
            last[bin] = h;
        }
        std::sort(ties.begin(), ties.end());
        auto before = [&](std::uint32_t a, std::uint32_t b) {
            const std::uint64_t key_a = mixed(a), key_b = mixed(b);
            return key_a != key_b ? key_a < key_b : a < b;
        };
        *equal_keys = false;
        for (std::size_t t = 0; t < ties.size();) {
            const std::uint32_t from = ties[t] - 1;
            std::uint32_t to = ties[t] + 1;
            while (++t < ties.size() && ties[t] == to) ++to;
            std::sort(places.begin() + from, places.begin() + to, before);
            for (std::uint32_t p = from + 1; p < to; ++p) *equal_keys |= keys_[places[p]] == keys_[places[p - 1]];
        }
        return places;
    }

    // Give rows that differ, but not in their first values, keys of all their values; true when there were any.
    bool tell_apart(const Matrix& m) {
        bool changed = false;
        std::vector<std::uint64_t> whole;
        for (std::size_t from = 0, to; from < n_; from = to) {
            to = from + 1;
            while (to < n_ && keys_[drawn_[to]] == keys_[drawn_[from]]) ++to;
            if (to - from == 1) continue;
            whole.clear();
            for (std::size_t p = from; p < to; ++p) whole.push_back(row_key(m, row(drawn_[p]), m.cols));
            if (std::all_of(whole.begin(), whole.end(), [&](std::uint64_t k) { return k == whole[0]; })) continue;
            for (std::size_t p = from; p < to; ++p) keys_[drawn_[p]] = mix(keys_[drawn_[p]] + mix(whole[p - from]));
            changed = true;
        }
        return changed;
    }

    // The key of a row's first `most` values that are not 0.
    std::uint64_t row_key(const Matrix& m, std::int64_t row, std::int64_t most) const {
        return m.value == Value::f32 ? values_key<float>(m, row, most) : values_key<double>(m, row, most);
    }

    template <class T>
    std::uint64_t values_key(const Matrix& m, std::int64_t row, std::int64_t most) const {
        const T* data = static_cast<const T*>(m.data);
        std::uint64_t key = 0;
        std::int64_t found = 0;
        auto add = [&](std::int64_t column, T value) {
            key += entry_key(column_keys_[column], double(value));
            found += value != T(0);
        };
        if (m.layout == Layout::dense) {
            const T* x = data + row * m.stride;
            for (std::int64_t j = 0; j < m.cols && found < most; ++j) add(j, x[j]);
            return key;
        }
        with_csr(m, [&](const auto* indices, const auto* indptr) {
            for (std::int64_t p = indptr[row]; p < std::int64_t(indptr[row + 1]) && found < most; ++p) {
                add(indices[p], data[p]);
            }
        });
        return key;
    }

    std::vector<std::uint32_t> rows_;  // those of positive weight; empty when that is all
    std::size_t n_;
    std::unique_ptr<std::uint64_t[]> keys_, scratch_;
    std::uint64_t drawn_salt_;
    std::vector<std::uint32_t> drawn_;  // the places of the rows in the order of epoch `first`, until it is asked for
    std::vector<std::uint64_t> column_keys_;
    std::mutex mutex_;
};

}  // namespace sx
