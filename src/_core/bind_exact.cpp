// The binding of the arithmetic that proves: enclosed sums, exact signs and keys of the data.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bind.hpp"
#include "exact.hpp"
#include "order.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

// The bounds hold for rounding to the nearest with subnormal numbers. Both are switches of the processor, which other
// libraries in the same process have been seen to leave in another place.
void expect_plain_rounding() {
    volatile double one = 1.0, half = 0x1p-53, more = 0x1.8p-53, least = 0x1p-1022;
    volatile double tie = one + half, up = one + more, under = least * 0.5;
    if (tie == 1.0 && up > 1.0 && under * 2.0 == 0x1p-1022) return;
    throw std::runtime_error(
        "nothing can be proved: a library has changed how this process rounds (a build with -ffast-math does that)");
}

void expect_provable(const HeldMatrix& X) {
    expect(X.canonical, "the columns of a CSR matrix must ascend within each row");
    expect(X.m.rows < kMostProved && X.m.cols < kMostProved, "X has 2^40 or more rows or columns");
    expect_plain_rounding();
}

auto enclosed_scores(const HeldMatrix& X, Vector<const double> w, double bias, int n_jobs) {
    expect(std::int64_t(w.shape(0)) == X.m.cols, "weights and columns of X differ in number");
    expect_aligned(w);
    expect_provable(X);
    std::vector<double> scores(X.m.rows), errors(X.m.rows), squares(X.m.rows);
    {
        nb::gil_scoped_release free;
        in_parallel(X.m.rows, n_jobs, [&](std::int64_t first, std::int64_t last) {
            kernels().exact->enclosed_scores(X.m, first, last, w.data(), bias, scores.data(), errors.data(),
                                             squares.data());
        });
    }
    return std::make_tuple(to_numpy(std::move(scores)), to_numpy(std::move(errors)), to_numpy(std::move(squares)));
}

auto enclosed_sums(const HeldMatrix& X, Vector<const double> v, std::optional<Vector<const double>> origin) {
    expect(std::int64_t(v.shape(0)) == X.m.rows, "factors and rows differ in number");
    expect_aligned(v);
    if (origin) {
        expect(X.m.layout == Layout::dense, "only dense rows have an origin");
        expect(std::int64_t(origin->shape(0)) == X.m.cols, "origin and columns of X differ in number");
        expect_aligned(origin);
    }
    expect_provable(X);
    std::vector<double> sums(X.m.cols), errors(X.m.cols);
    {
        nb::gil_scoped_release free;
        std::vector<double> room(X.m.cols), zeros(origin ? 0 : X.m.cols);
        kernels().exact->enclosed_sums(X.m, v.data(), origin ? origin->data() : zeros.data(), sums.data(),
                                       errors.data(), room.data());
    }
    return std::make_tuple(to_numpy(std::move(sums)), to_numpy(std::move(errors)));
}

auto exact_sides(const HeldMatrix& X, Vector<const std::int64_t> rows, Table<const double> words) {
    expect(std::int64_t(words.shape(1)) == X.m.cols + 1, "words need one column more than X, for the bias");
    expect_aligned(rows, words);
    expect_provable(X);
    for (std::size_t k = 0; k < words.size(); ++k) {
        expect(words.data()[k] - words.data()[k] == 0.0, "words hold a NaN or an infinity");
    }
    for (std::size_t k = 0; k < rows.shape(0); ++k) {
        expect(0 <= rows.data()[k] && rows.data()[k] < X.m.rows, "rows name a row that is not there");
    }
    std::vector<std::int8_t> sides(rows.shape(0));
    std::int64_t bad;
    {
        nb::gil_scoped_release free;
        bad = kernels().exact->exact_sides(X.m, rows.data(), rows.shape(0), words.data(), words.shape(0), sides.data());
    }
    expect(bad == all_good, "row " + std::to_string(bad) + " holds a NaN or an infinity");
    return to_numpy(std::move(sides));
}

// A key of each row's values, that of equal rows equal whatever their layout: two sums, mixed into one. Whoever knows
// the seed can find rows with equal keys.
auto row_keys(const HeldMatrix& X, std::uint64_t seed, int n_jobs) {
    expect(X.canonical, "the columns of a CSR matrix must ascend within each row");
    constexpr std::int64_t together = 512;
    const std::int64_t width = key_width(X.m.cols);
    std::vector<std::uint64_t> keys(2 * width), out(X.m.rows);
    for (std::int64_t j = 0; j < X.m.cols; ++j) {
        keys[j] = mix(mix(seed) + 2 * std::uint64_t(j));
        keys[width + j] = mix(mix(seed) + 2 * std::uint64_t(j) + 1);
    }
    {
        nb::gil_scoped_release free;
        in_parallel(X.m.rows, n_jobs, [&](std::int64_t begin, std::int64_t end) {
            std::uint64_t sums[2 * together];
            for (std::int64_t from = begin; from < end; from += together) {
                const std::int64_t to = std::min(from + together, end);
                kernels().exact->hash_rows(X.m, from, to, keys.data(), sums);
                for (std::int64_t i = from; i < to; ++i) {
                    const std::uint64_t* both = sums + 2 * (i - from);
                    out[i] = mix(mix(both[0]) + both[1]);
                }
            }
        });
    }
    return to_numpy(std::move(out));
}

// A sum of all bytes that a matrix is made of, each word in its place (the rounds of xxHash, Collet 2012): it tells data
// that were changed from what they were, as fast as they can be read, and is no key of their values.
class Checksum {
public:
    void add(const void* from, std::size_t bytes) {
        const char* p = static_cast<const char*>(from);
        std::size_t left = bytes;
        for (; left >= sizeof lanes_; left -= sizeof lanes_, p += sizeof lanes_) take(p);
        char rest[sizeof lanes_] = {};
        std::memcpy(rest, p, left);
        take(rest);
        length_ += bytes;
    }
    std::uint64_t sum() const {
        std::uint64_t all = mix(length_);
        for (const std::uint64_t lane : lanes_) all = mix(all ^ lane);
        return all;
    }

private:
    void take(const char* p) {
        for (std::uint64_t& lane : lanes_) {
            std::uint64_t word;
            std::memcpy(&word, p, sizeof word);
            p += sizeof word;
            lane = std::rotl(lane + word * 0xc2b2ae3d27d4eb4fu, 31) * 0x9e3779b185ebca87u;
        }
    }
    std::uint64_t lanes_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    std::uint64_t length_ = 0;
};

std::uint64_t checksum(const HeldMatrix& X) {
    const Matrix& m = X.m;
    const std::size_t size = m.value == Value::f32 ? 4 : 8, stored = std::size_t(stored_numbers(m));
    Checksum all;
    nb::gil_scoped_release free;
    if (m.layout == Layout::csr) {
        const std::size_t place = m.index == Index::i32 ? 4 : 8;
        all.add(m.data, size * stored);
        all.add(m.indices, place * stored);
        all.add(m.indptr, place * std::size_t(m.rows + 1));
    } else if (m.stride == m.cols) {
        all.add(m.data, size * stored);
    } else {
        const char* data = static_cast<const char*>(m.data);
        for (std::int64_t i = 0; i < m.rows; ++i) all.add(data + i * m.stride * std::int64_t(size), size * m.cols);
    }
    return all.sum();
}

// The rows whose keys may be those of rows on the other side: all that are, and few that are not. Each side leaves a bit
// for every key in a table that is small enough for the caches, and is then looked up by the other.
auto on_both_sides(Vector<const std::uint64_t> keys, Vector<const bool> positive) {
    expect(keys.shape(0) == positive.shape(0), "keys and sides differ in number");
    expect_aligned(keys);
    const std::int64_t n = keys.shape(0);
    std::vector<std::int64_t> found;
    {
        nb::gil_scoped_release free;
        const int bits = std::clamp(int(std::bit_width(std::uint64_t(16 * n))), 6, 32);
        std::vector<std::uint64_t> left[2];
        for (auto& table : left) table.assign(std::size_t(1) << (bits - 6), 0);
        const auto bit = [&](std::int64_t i) { return keys.data()[i] >> (64 - bits); };
        for (std::int64_t i = 0; i < n; ++i) left[positive.data()[i]][bit(i) >> 6] |= std::uint64_t(1) << (bit(i) & 63);
        for (std::int64_t i = 0; i < n; ++i) {
            if (left[!positive.data()[i]][bit(i) >> 6] >> (bit(i) & 63) & 1) found.push_back(i);
        }
    }
    return to_numpy(std::move(found));
}

}  // namespace

void sx::bind_exact(nb::module_& module) {
    module.def("enclosed_scores", &enclosed_scores, "X"_a, "w"_a.noconvert(), "bias"_a, "n_jobs"_a,
               "For each row w.x + bias, a bound on its rounding error, and an upper bound on |x|^2.");
    module.def("enclosed_sums", &enclosed_sums, "X"_a, "v"_a.noconvert(), "origin"_a.noconvert().none(),
               "The sum of v (x - origin) over the rows, and bounds on its rounding errors.");
    module.def("exact_sides", &exact_sides, "X"_a, "rows"_a.noconvert(), "words"_a.noconvert(),
               "The exact signs of words.sum(axis=0).(x, 1) for these rows.");
    module.def("on_both_sides", &on_both_sides, "keys"_a.noconvert(), "positive"_a.noconvert(),
               "The rows that may have the key of a row on the other side: all that do, and few others.");
    module.def("checksum", &checksum, "X"_a, "A number that another value anywhere in the matrix would change.");
    module.def("row_keys", &row_keys, "X"_a, "seed"_a, "n_jobs"_a, "A key of the values of each row.");
}
