// Rows: how a dot product reads a row and how an update writes it back. One template for each layout.
//
// Same bits everywhere. A dense dot product keeps 16 running sums, element j going to sum j mod 16, and adds them
// 8 + 8, 4 + 4, 2 + 2, 1 + 1; a sparse one keeps 4, by position in the row. Products and sums are double and
// never contracted, so the width of the vector registers changes the speed and not the result.
//
// Included by kernels.cpp, margin.cpp, descent.cpp, multinomial.cpp, newton.cpp and exact.cpp, inside the namespace of one build.

#include "lanes.hpp"

// One weight of a diagonal spread (spread.hpp), which rounding leaves above 0.
constexpr double kNarrowest = 0x1p-1022;
SX_HOT void spread_add_one(double x, double tau, double beta, double aged, double* w, double* s, double* sum) {
    const double g = *s * x;
    *w += tau * g;
    const double left = *s - beta * (g * g);
    *s = left > kNarrowest ? left : kNarrowest;
    if (sum) *sum += aged * g;
}

// A dense row that is read less the centre of each column (svm/centring.py).
template <class T>
struct CentredRow {
    const T* x;
    const double* centre;

    SX_HOT CentredRow operator+(std::int64_t j) const { return {x + j, centre + j}; }
    SX_HOT double operator[](std::int64_t j) const { return double(x[j]) - centre[j]; }
};
template <class T>
SX_HOT Vec load(CentredRow<T> row) {
    return load(row.x) - load(row.centre);
}
template <class T>
SX_HOT Vec load_first(CentredRow<T> row, int n) {
    return load_first(row.x, n) - load_first(row.centre, n);
}
using sx::prefetch;
template <class T>
SX_HOT void prefetch(CentredRow<T> row) {
    sx::prefetch(row.x);
}

template <class T, bool kCentred = false>
struct Dense {
    static constexpr bool kSparse = false, kBudget = false;
    static constexpr int kMost = kTogether;  // weight vectors that a reading serves
    const T* data;
    std::int64_t cols, stride;
    const double* centre = nullptr;

    SX_HOT auto row(std::int64_t i) const {
        if constexpr (kCentred) {
            return CentredRow<T>{data + i * stride, centre};
        } else {
            return data + i * stride;
        }
    }

    // Row i with N weight vectors. While it is read, the row that will be needed a little later (`ahead`, or -1) is
    // asked for, one line at a time: a burst would hold up the reading.
    template <int N, bool = false>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t ahead = -1,
                     double* = nullptr) const {
        if (ahead < 0) {
            products<N, false>(row(i), row(i), w, out);
        } else {
            products<N, true>(row(i), row(ahead), w, out);
        }
    }

    template <int N, bool Ahead, class Row>
    SX_HOT void products(Row x, Row later, const double* const* w, double* out) const {
        Vec sum[N][kRegisters];
        SX_UNROLL for (int k = 0; k < N; ++k) {
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) sum[k][r] = Vec{};
        }
        std::int64_t j = 0;
        for (; j + kLanes <= cols; j += kLanes) {
            if (Ahead) prefetch(later + j);
            if (Ahead && sizeof(T) * kLanes > 64) prefetch(later + j + kLanes / 2);
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
                const Vec v = load(x + j + r * kWidth);
                SX_UNROLL for (int k = 0; k < N; ++k) sum[k][r] += v * load(w[k] + j + r * kWidth);
            }
        }
        if (Ahead) prefetch(later + (cols - 1));
        if (j < cols) {
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
                const std::int64_t at = j + r * kWidth;
                if (at >= cols) break;
                const int n = int(cols - at < kWidth ? cols - at : kWidth);
                const Vec v = load_first(x + at, n);
                SX_UNROLL for (int k = 0; k < N; ++k) sum[k][r] += v * load_first(w[k] + at, n);
            }
        }
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = sum_of_lanes(sum[k]);
    }

    // The same in single precision, for float32 rows, and with Measure the square of |x| too.
    template <int N, bool Measure, bool Ahead>
    SX_HOT void quick_products(const float* x, const float* later, const float* const* w, float* out,
                               float* square) const {
        constexpr int kChains = N == 1 ? 4 : 2;  // sums that do not wait for each other
        FVec sum[N][kChains], length[kChains];
        SX_UNROLL for (int c = 0; c < kChains; ++c) {
            length[c] = FVec{};
            SX_UNROLL for (int k = 0; k < N; ++k) sum[k][c] = FVec{};
        }
        std::int64_t j = 0;
        for (; j + kChains * kFloats <= cols; j += kChains * kFloats) {
            SX_UNROLL for (int c = 0; c < kChains; ++c) {
                const std::int64_t at = j + c * kFloats;
                if (Ahead && at % 16 == 0) prefetch(later + at);
                const FVec v = load_floats(x + at);
                if (Measure) length[c] = multiply_add(v, v, length[c]);
                SX_UNROLL for (int k = 0; k < N; ++k) sum[k][c] = multiply_add(v, load_floats(w[k] + at), sum[k][c]);
            }
        }
        if (Ahead) prefetch(later + (cols - 1));
        float rest[N] = {}, rest_length = 0.0f;
        for (; j < cols; ++j) {
            rest_length += x[j] * x[j];
            SX_UNROLL for (int k = 0; k < N; ++k) rest[k] += x[j] * w[k][j];
        }
        SX_UNROLL for (int c = 1; c < kChains; ++c) {
            length[0] += length[c];
            SX_UNROLL for (int k = 0; k < N; ++k) sum[k][0] += sum[k][c];
        }
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = sum_of_floats(sum[k][0]) + rest[k];
        if (Measure) *square = sum_of_floats(length[0]) + rest_length;
    }

    template <int N>
    SX_HOT void quick_dots(std::int64_t i, const float* const* w, float* out, float* square, bool measure,
                           std::int64_t ahead) const {
        const float* x = reinterpret_cast<const float*>(row(i));
        const float* later = reinterpret_cast<const float*>(row(ahead < 0 ? i : ahead));
        if (measure) {
            if (ahead < 0) {
                quick_products<N, true, false>(x, later, w, out, square);
            } else {
                quick_products<N, true, true>(x, later, w, out, square);
            }
        } else if (ahead < 0) {
            quick_products<N, false, false>(x, later, w, out, square);
        } else {
            quick_products<N, false, true>(x, later, w, out, square);
        }
    }

    static bool at_hand(std::int64_t) { return true; }  // see dual_rows.hpp
    void note(std::int64_t i, double scale, double* kept) const { add(i, scale, kept); }

    template <class Work>
    void each(std::int64_t i, Work work) const {
        for (std::int64_t j = 0; j < cols; ++j) work(j, double(row(i)[j]));
    }

    void add(std::int64_t i, double scale, double* w) const {
        const auto x = row(i);
        const std::int64_t n = cols;
        std::int64_t j = 0;
        for (; j + kWidth <= n; j += kWidth) store(w + j, load(w + j) + scale * load(x + j));
        for (; j < n; ++j) w[j] += scale * double(x[j]);
    }

    // Add row i to w, and return the product of the new w with row `next`: one pass instead of two.
    template <bool = false>
    SX_HOT double add_and_dot(std::int64_t i, double scale, double* w, std::int64_t next, std::int64_t ahead,
                              double* = nullptr) const {
        return ahead < 0 ? add_and_product<false>(row(i), scale, w, row(next), row(i))
                         : add_and_product<true>(row(i), scale, w, row(next), row(ahead));
    }

    template <bool Ahead, class Row>
    SX_HOT double add_and_product(Row x, double scale, double* w, Row next, Row later) const {
        const std::int64_t n = cols;
        Vec sum[kRegisters];
        SX_UNROLL for (int r = 0; r < kRegisters; ++r) sum[r] = Vec{};
        std::int64_t j = 0;
        for (; j + kLanes <= n; j += kLanes) {
            if (Ahead) prefetch(later + j);
            if (Ahead && sizeof(T) * kLanes > 64) prefetch(later + j + kLanes / 2);
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
                const std::int64_t at = j + r * kWidth;
                const Vec moved = load(w + at) + scale * load(x + at);
                store(w + at, moved);
                sum[r] += load(next + at) * moved;
            }
        }
        if (Ahead) prefetch(later + (n - 1));
        for (std::int64_t k = j; k < n; ++k) w[k] += scale * double(x[k]);
        SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
            const std::int64_t at = j + r * kWidth;
            if (at >= n) break;
            const int left = int(n - at < kWidth ? n - at : kWidth);
            sum[r] += load_first(next + at, left) * load_first(w + at, left);
        }
        return sum_of_lanes(sum);
    }

    double square_norm(std::int64_t i) const {
        const auto x = row(i);
        Vec sum[kRegisters];
        for (int r = 0; r < kRegisters; ++r) sum[r] = Vec{};
        std::int64_t j = 0;
        for (; j + kLanes <= cols; j += kLanes) {
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
                const Vec v = load(x + j + r * kWidth);
                sum[r] += v * v;
            }
        }
        for (; j < cols; j += kWidth) {
            const Vec v = load_first(x + j, int(cols - j < kWidth ? cols - j : kWidth));
            sum[j / kWidth % kRegisters] += v * v;
        }
        return sum_of_lanes(sum);
    }

    // x.Sx for a diagonal S.
    double spread_square(std::int64_t i, const double* s) const {
        const T* x = row(i);
        Vec sum[kRegisters];
        SX_UNROLL for (int r = 0; r < kRegisters; ++r) sum[r] = Vec{};
        std::int64_t j = 0;
        for (; j + kLanes <= cols; j += kLanes) {
            SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
                const Vec v = load(x + j + r * kWidth);
                sum[r] += v * v * load(s + j + r * kWidth);
            }
        }
        for (; j < cols; j += kWidth) {
            const int n = int(cols - j < kWidth ? cols - j : kWidth);
            const Vec v = load_first(x + j, n);
            sum[j / kWidth % kRegisters] += v * v * load_first(s + j, n);
        }
        return sum_of_lanes(sum);
    }

    // w += tau S x, sums += aged S x if there are any, S -= beta (Sx)^2.
    void spread_add(std::int64_t i, double tau, double beta, double aged, double* w, double* s, double* sums) const {
        const T* x = row(i);
        std::int64_t j = 0;
        for (; j + kWidth <= cols; j += kWidth) {
            const Vec before = load(s + j), g = before * load(x + j);
            store(w + j, load(w + j) + tau * g);
            store(s + j, at_least(before - beta * (g * g), kNarrowest));
            if (sums) store(sums + j, load(sums + j) + aged * g);
        }
        for (; j < cols; ++j) spread_add_one(double(x[j]), tau, beta, aged, w + j, s + j, sums ? sums + j : nullptr);
    }

    bool finite(std::int64_t i) const {
        const T* x = row(i);
        Vec sum = Vec{};  // v - v is 0, or not a number
        std::int64_t j = 0;
        for (; j + kWidth <= cols; j += kWidth) {
            const Vec v = load(x + j);
            sum += v - v;
        }
        double lane[kWidth], rest = 0.0;
        store(lane, sum);
        for (int l = 0; l < kWidth; ++l) rest += lane[l];
        for (; j < cols; ++j) rest += double(x[j]) - double(x[j]);
        return rest == 0.0;
    }
};

#if defined(SX_AVX2)
// Four weights by their columns, each loaded by itself: the gather instruction is no quicker, and waits for all writes.
template <class I>
SX_HOT Vec4 gather(const double* w, const I* column) {
    return Vec4{w[column[0]], w[column[1]], w[column[2]], w[column[3]]};
}
SX_HOT Vec4 gather(const double* w, const std::uint32_t* column) {
    std::uint64_t two[2];
    __builtin_memcpy(two, column, sizeof two);
    const __m128d low = _mm_loadh_pd(_mm_load_sd(w + std::uint32_t(two[0])), w + (two[0] >> 32));
    const __m128d high = _mm_loadh_pd(_mm_load_sd(w + std::uint32_t(two[1])), w + (two[1] >> 32));
    return (Vec4)_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}
SX_HOT Vec4 load4(const float* p) { return (Vec4)_mm256_cvtps_pd(_mm_loadu_ps(p)); }
SX_HOT Vec4 load4(const double* p) { return (Vec4)_mm256_loadu_pd(p); }
// The first n of four values, then zeros; nothing behind them is read.
#if defined(SX_AVX512)
SX_HOT Vec4 load4_first(const double* p, int n) { return (Vec4)_mm256_maskz_loadu_pd((__mmask8)((1u << n) - 1u), p); }
SX_HOT Vec4 load4_first(const float* p, int n) {
    return (Vec4)_mm256_cvtps_pd(_mm_maskz_loadu_ps((__mmask8)((1u << n) - 1u), p));
}
#else
template <class T>
SX_HOT Vec4 load4_first(const T* p, int n) {
    return load_first(p, n);
}
#endif
// Two neighbours each at a and b: a[0], a[1], b[0], b[1].
SX_HOT Vec4 load_pairs(const double* a, const double* b) {
    return (Vec4)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b), 1);
}
SX_HOT void store_pairs(double* a, double* b, Vec4 v) {
    _mm_storeu_pd(a, _mm256_castpd256_pd128((__m256d)v));
    _mm_storeu_pd(b, _mm256_extractf128_pd((__m256d)v, 1));
}
// Of a0 a1 a2 a3 and b0 b1 b2 b3: a0 b0 a2 b2, and a1 b1 a3 b3. Twice is none.
SX_HOT void interleave(Vec4& a, Vec4& b) {
    const __m256d low = _mm256_unpacklo_pd((__m256d)a, (__m256d)b);
    b = (Vec4)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
    a = (Vec4)low;
}
#endif

template <class T, class I, bool kCentred = false>
struct Csr {
    static constexpr bool kSparse = true, kBudget = false;
    static constexpr int kMost = sizeof(I) == 8 ? 1 : kTogether < 2 ? kTogether : 2;  // more takes long to build
    static constexpr std::int64_t kLong = 1024;  // values of a row that is not asked for as a whole
    const T* data;
    const I* indices;
    const I* indptr;
    std::int64_t cols;
    const double* centre = nullptr;  // not 0 only in columns of which every row has a value

    SX_HOT double value(std::int64_t p) const {
        if constexpr (kCentred) {
            return double(data[p]) - centre[indices[p]];
        } else {
            return double(data[p]);
        }
    }

    // How far in front of its own values row i asks for those of row `ahead`, while it is read; 0: not at all.
    SX_HOT std::int64_t distance(std::int64_t i, std::int64_t ahead) const {
        if (ahead < 0) return 0;
        const std::int64_t from = indptr[ahead], n = std::int64_t(indptr[ahead + 1]) - from;
        if (std::int64_t(indptr[i + 1]) - std::int64_t(indptr[i]) <= kLong && n <= kLong) return from - indptr[i];
        prefetch_lines(data + from, n * std::int64_t(sizeof(T)));
        prefetch_lines(indices + from, n * std::int64_t(sizeof(I)));
        return 0;
    }
    SX_HOT void ask(std::int64_t p) const {
        prefetch(data + p);
        prefetch(indices + p);
    }
    // What is left of row `ahead` from place p on: a little, unless it is much longer than the row just read.
    SX_HOT void ask_for_rest(std::int64_t p, std::int64_t ahead) const {
        constexpr std::int64_t line = 64 / sizeof(T);
        ask(p);
        prefetch(data + p + line);
        const std::int64_t left = std::int64_t(indptr[ahead + 1]) - p;
        if (left <= 2 * line) return;
        prefetch_lines(data + p + 2 * line, (left - 2 * line) * std::int64_t(sizeof(T)));
        prefetch_lines(indices + p + line, (left - line) * std::int64_t(sizeof(I)));
    }

    // Row i with N weight vectors, and with Square with itself.
    template <int N, bool Square = false>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t ahead = -1,
                     double* square = nullptr) const {
        constexpr int n = N + Square;
        const std::int64_t to = indptr[i + 1], later = distance(i, ahead);
        std::int64_t p = indptr[i];
        double sum[n * kSparseLanes];
#if defined(SX_AVX2)
        Vec4 four[n];
        SX_UNROLL for (int k = 0; k < n; ++k) four[k] = Vec4{};
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            ask(p + later);
            Vec4 v = load4(data + p);
            if constexpr (kCentred) v -= gather(centre, indices + p);
            SX_UNROLL for (int k = 0; k < N; ++k) four[k] += v * gather(w[k], indices + p);
            if constexpr (Square) four[N] += v * v;
        }
        SX_UNROLL for (int k = 0; k < n; ++k) {
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) sum[k * kSparseLanes + l] = four[k][l];
        }
#else
        for (double& lane : sum) lane = 0.0;
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            ask(p + later);
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) add_products<N, Square>(p + l, w, sum + l);
        }
#endif
        if (later != 0) ask_for_rest(p + later, ahead);
        SX_UNROLL for (int l = 0; l < kSparseLanes - 1; ++l) {
            if (p + l >= to) break;
            add_products<N, Square>(p + l, w, sum + l);
        }
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = sum_of_four(sum + k * kSparseLanes);
        if constexpr (Square) *square = sum_of_four(sum + N * kSparseLanes);
    }

#if defined(SX_AVX2)
    // What row i, not empty, has from place p on, less than four values, and zeros; these meet its first column again, where
    // they add nothing. How many there are is hard to foresee: a branch on it would cost more than the zeros.
    SX_HOT Vec4 rest_of(std::int64_t i, std::int64_t p, I* column) const {
        const std::int64_t to = indptr[i + 1];
        SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) column[l] = indices[p + l < to ? p + l : std::int64_t(indptr[i])];
        return load4_first(data + p, int(to - p));
    }
#endif

    template <int N, bool Square>
    SX_HOT void add_products(std::int64_t p, const double* const* w, double* sum) const {
        const double v = value(p);
        SX_UNROLL for (int k = 0; k < N; ++k) sum[k * kSparseLanes] += v * w[k][indices[p]];
        if constexpr (Square) sum[N * kSparseLanes] += v * v;
    }
    template <bool Square = false>
    SX_HOT double add_and_dot(std::int64_t i, double scale, double* w, std::int64_t next, std::int64_t ahead,
                              double* square = nullptr) const {
        add(i, scale, w);
        const double* some[1] = {w};
        double dot;
        dots<1, Square>(next, some, &dot, ahead, square);
        return dot;
    }

    static bool at_hand(std::int64_t) { return true; }
    void note(std::int64_t i, double scale, double* kept) const { add(i, scale, kept); }

    template <class Work>
    void each(std::int64_t i, Work work) const {
        for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) {
            work(std::int64_t(indices[p]), value(p));
        }
    }

    SX_HOT void add(std::int64_t i, double scale, double* w) const {
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
        for (; p + kSparseLanes <= to; p += kSparseLanes) {  // no column comes twice: read four, then write them
            double moved[kSparseLanes];
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) moved[l] = w[indices[p + l]] + scale * value(p + l);
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) w[indices[p + l]] = moved[l];
        }
        for (; p < to; ++p) w[indices[p]] += scale * value(p);
    }

    double square_norm(std::int64_t i) const {
        double square;
        dots<0, true>(i, nullptr, nullptr, -1, &square);
        return square;
    }

    // Row i with w, and x.Sx, where w and a diagonal S stand side by side: pairs[2j] is w_j and pairs[2j + 1] S_jj. Behind
    // the last column is room for one more.
    SX_HOT void pair_dots(std::int64_t i, const double* pairs, double* dot, double* square, std::int64_t ahead) const {
        const std::int64_t to = indptr[i + 1], later = distance(i, ahead);
        std::int64_t p = indptr[i];
        double with_w[kSparseLanes] = {}, with_s[kSparseLanes] = {};
#if defined(SX_AVX2)
        Vec4 even = Vec4{}, odd = Vec4{};
        const auto add_four = [&](Vec4 v, const I* column) {
            Vec4 square = v * v;
            interleave(v, square);
            even += v * load_pairs(at(pairs, column[0]), at(pairs, column[2]));
            odd += square * load_pairs(at(pairs, column[1]), at(pairs, column[3]));
        };
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            ask(p + later);
            add_four(load4(data + p), indices + p);
        }
        if (indptr[i] < to) {
            I column[kSparseLanes];
            const Vec4 v = rest_of(i, p, column);
            add_four(v, column);
        }
        interleave(even, odd);
        SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) with_w[l] = even[l], with_s[l] = odd[l];
#else
        for (; p < to; p += kSparseLanes) {
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
                if (p + l >= to) break;
                const double v = double(data[p + l]), *pair = at(pairs, indices[p + l]);
                with_w[l] += v * pair[0];
                with_s[l] += v * v * pair[1];
            }
        }
#endif
        if (later != 0) ask_for_rest(p + later, ahead);
        *dot = sum_of_four(with_w);
        *square = sum_of_four(with_s);
    }
    template <class P>
    SX_HOT static P* at(P* pairs, I column) {
        return pairs + 2 * std::uint64_t(column);
    }

    // w += tau S x, sums += aged S x if there are any, S -= beta (Sx)^2.
    SX_HOT void pair_add(std::int64_t i, double tau, double beta, double aged, double* pairs, double* sums) const {
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
#if defined(SX_AVX2)
        if (!sums) {
            const T* const values = data;
            const I* const columns = indices;
            const auto add_four = [&](Vec4 v, const I* column) {  // no column comes twice: read four, then write them
                double *a = at(pairs, column[0]), *b = at(pairs, column[1]), *c = at(pairs, column[2]),
                       *d = at(pairs, column[3]);
                Vec4 w = load_pairs(a, c), s = load_pairs(b, d);
                interleave(w, s);
                const Vec4 g = s * v;
                w += tau * g;
                s = at_least(s - beta * (g * g), kNarrowest);
                interleave(w, s);
                store_pairs(a, c, w);
                store_pairs(b, d, s);
            };
            for (; p + kSparseLanes <= to; p += kSparseLanes) add_four(load4(values + p), columns + p);
            if (indptr[i] == indptr[i + 1]) return;
            I column[kSparseLanes];
            const Vec4 v = rest_of(i, p, column);
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) column[l] = p + l < to ? column[l] : I(cols);
            add_four(v, column);
            return;
        }
#endif
        for (; p < to; ++p) {
            const I j = indices[p];
            double* pair = at(pairs, j);
            spread_add_one(double(data[p]), tau, beta, aged, pair, pair + 1, sums ? sums + j : nullptr);
        }
    }

    // The same where they stand apart.
    double spread_square(std::int64_t i, const double* s) const {
        double sum[kSparseLanes] = {};
        const std::int64_t to = indptr[i + 1], from = indptr[i];
        for (std::int64_t p = from; p < to; ++p) {
            const double v = double(data[p]);
            sum[(p - from) % kSparseLanes] += v * v * s[indices[p]];
        }
        return sum_of_four(sum);
    }
    void spread_add(std::int64_t i, double tau, double beta, double aged, double* w, double* s, double* sums) const {
        for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) {
            const I j = indices[p];
            spread_add_one(double(data[p]), tau, beta, aged, w + j, s + j, sums ? sums + j : nullptr);
        }
    }

    bool finite(std::int64_t i) const {
        for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) {
            if (!is_finite(double(data[p]))) return false;
        }
        return true;
    }
};

template <class T, class Work>
auto with_index(const Matrix& m, Work work) {
    if (m.layout == Layout::dense) {
        return work(Dense<T>{static_cast<const T*>(m.data), m.cols, m.stride});
    }
    return with_csr(m, [&]<class I>(const I* indices, const I* indptr) {
        return work(Csr<T, I>{static_cast<const T*>(m.data), indices, indptr, m.cols});
    });
}

// The loops never name the row type: another one is a value of `Value`, a line here, and its reading in order.hpp and
// bind.cpp.
template <class Work>
auto with_rows(const Matrix& m, Work work) {
    return m.value == Value::f32 ? with_index<float>(m, work) : with_index<double>(m, work);
}

// The same for kernels that can read rows less the centres of their columns.
template <class Work>
auto with_centred_rows(const Matrix& m, Work work) {
    if (!m.centre) return with_rows(m, work);
    const auto as = [&]<class T>(const T* data) {
        if (m.layout == Layout::dense) return work(Dense<T, true>{data, m.cols, m.stride, m.centre});
        return with_csr(m, [&]<class I>(const I* indices, const I* indptr) {
            return work(Csr<T, I, true>{data, indices, indptr, m.cols, m.centre});
        });
    };
    return m.value == Value::f32 ? as(static_cast<const float*>(m.data)) : as(static_cast<const double*>(m.data));
}
