// Rows: how a dot product reads a row and how an update writes it back. One template for each layout.
//
// Same bits everywhere. A dense dot product keeps 16 running sums, element j going to sum j mod 16, and adds them
// 8 + 8, 4 + 4, 2 + 2, 1 + 1; a sparse one keeps 4, by position in the row. Products and sums are double and
// never contracted, so the width of the vector registers changes the speed and not the result.
//
// Included by kernels.cpp, margin.cpp, descent.cpp and exact.cpp, inside the namespace of one build.

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
    template <int N>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t ahead = -1) const {
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
    SX_HOT double add_and_dot(std::int64_t i, double scale, double* w, std::int64_t next, std::int64_t ahead) const {
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

// Four weights by their columns. The gather instruction reads 32-bit columns as signed, which is what they came as.
#if defined(SX_AVX2)
SX_HOT Vec4 gather(const double* w, const std::uint32_t* column) {
    return (Vec4)_mm256_i32gather_pd(w, _mm_loadu_si128((const __m128i*)column), 8);
}
SX_HOT Vec4 gather(const double* w, const std::int64_t* column) {
    return (Vec4)_mm256_i64gather_pd(w, _mm256_loadu_si256((const __m256i*)column), 8);
}
SX_HOT Vec4 load4(const float* p) { return (Vec4)_mm256_cvtps_pd(_mm_loadu_ps(p)); }
SX_HOT Vec4 load4(const double* p) { return (Vec4)_mm256_loadu_pd(p); }
#endif

template <class T, class I, bool kCentred = false>
struct Csr {
    static constexpr bool kSparse = true, kBudget = false;
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

    // Weights that have just been written are read one by one (Fresh): a gather would wait for all the writes.
    template <int N, bool Fresh = false>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t ahead = -1) const {
        if (ahead >= 0) {
            const std::int64_t from = indptr[ahead], n = std::int64_t(indptr[ahead + 1]) - from;
            prefetch_lines(data + from, n * std::int64_t(sizeof(T)));
            prefetch_lines(indices + from, n * std::int64_t(sizeof(I)));
        }
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
        double sum[N][kSparseLanes];
        SX_UNROLL for (int k = 0; k < N; ++k) {
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) sum[k][l] = 0.0;
        }
#if defined(SX_AVX2)
        if constexpr (!Fresh) {
            Vec4 four[N];
            SX_UNROLL for (int k = 0; k < N; ++k) four[k] = Vec4{};
            for (; p + kSparseLanes <= to; p += kSparseLanes) {
                Vec4 v = load4(data + p);
                if constexpr (kCentred) v -= gather(centre, indices + p);
                SX_UNROLL for (int k = 0; k < N; ++k) four[k] += v * gather(w[k], indices + p);
            }
            SX_UNROLL for (int k = 0; k < N; ++k) {
                SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) sum[k][l] = four[k][l];
            }
        }
#endif
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            SX_UNROLL for (int k = 0; k < N; ++k) {
                SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
                    sum[k][l] += value(p + l) * w[k][indices[p + l]];
                }
            }
        }
        SX_UNROLL for (int l = 0; l < kSparseLanes - 1; ++l) {
            if (p + l >= to) break;
            SX_UNROLL for (int k = 0; k < N; ++k) sum[k][l] += value(p + l) * w[k][indices[p + l]];
        }
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = (sum[k][0] + sum[k][2]) + (sum[k][1] + sum[k][3]);
    }

    SX_HOT double add_and_dot(std::int64_t i, double scale, double* w, std::int64_t next, std::int64_t ahead) const {
        add(i, scale, w);
        const double* some[1] = {w};
        double dot;
        dots<1, true>(next, some, &dot, ahead);
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
        double sum[kSparseLanes] = {};
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) sum[l] += value(p + l) * value(p + l);
        }
        for (int l = 0; p + l < to; ++l) sum[l] += value(p + l) * value(p + l);
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }

    SX_HOT double spread_square(std::int64_t i, const double* s) const {
        double sum[kSparseLanes] = {};
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
#if defined(SX_AVX2)
        Vec4 four = Vec4{};
        for (; p + kSparseLanes <= to; p += kSparseLanes) {
            const Vec4 v = load4(data + p);
            four += v * v * gather(s, indices + p);
        }
        SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) sum[l] = four[l];
#endif
        for (; p < to; p += kSparseLanes) {
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
                if (p + l >= to) break;
                const double v = double(data[p + l]);
                sum[l] += v * v * s[indices[p + l]];
            }
        }
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }

    SX_HOT void spread_add(std::int64_t i, double tau, double beta, double aged, double* w, double* s,
                           double* sums) const {
        const std::int64_t to = indptr[i + 1];
        std::int64_t p = indptr[i];
        for (; p + kSparseLanes <= to && !sums; p += kSparseLanes) {  // no column comes twice: read four, then write them
            double moved[kSparseLanes], left[kSparseLanes];
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
                const I j = indices[p + l];
                moved[l] = w[j], left[l] = s[j];
                spread_add_one(double(data[p + l]), tau, beta, aged, moved + l, left + l, nullptr);
            }
            SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) w[indices[p + l]] = moved[l], s[indices[p + l]] = left[l];
        }
        for (; p < to; ++p) {
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
    if (m.index == Index::i32) {
        using I = std::uint32_t;
        return work(Csr<T, I>{static_cast<const T*>(m.data), static_cast<const I*>(m.indices),
                              static_cast<const I*>(m.indptr), m.cols});
    }
    using I = std::int64_t;
    return work(Csr<T, I>{static_cast<const T*>(m.data), static_cast<const I*>(m.indices),
                          static_cast<const I*>(m.indptr), m.cols});
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
        const auto sparse = [&]<class I>(const I* indices) {
            return work(Csr<T, I, true>{data, indices, static_cast<const I*>(m.indptr), m.cols, m.centre});
        };
        return m.index == Index::i32 ? sparse(static_cast<const std::uint32_t*>(m.indices))
                                     : sparse(static_cast<const std::int64_t*>(m.indices));
    };
    return m.value == Value::f32 ? as(static_cast<const float*>(m.data)) : as(static_cast<const double*>(m.data));
}
