// One build of the arithmetic that proves. CMake compiles this file once for each instruction set, as kernels.cpp.
//
// Here u = 2^-53 and tiny = 2^-1074, the least positive double. To the nearest, a sum of two doubles is off by at most
// u times its size (and exact where it is subnormal), a product by u times its size and tiny / 2. Each bound below
// is derived to the first order in u and then made larger by a factor 1 + 2^-8 or a few u: that pays for the roundings
// of the bound itself, and for the terms in u^2, as long as there are no more than 2^40 numbers to add.
#include "exact.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "row_keys.hpp"

constexpr double kUnit = 0x1p-53, kTiny = 0x1p-1074, kSpare = 1.0 + 0x1p-8;
constexpr double kSmall = 0x1p-960;  // above it, 2^40 tiny numbers are less than a part u of the whole

SX_HOT double magnitude(double v) { return fabs(v); }
#if defined(__GNUC__)
typedef long long Bits __attribute__((vector_size(kWidth * sizeof(long long))));
SX_HOT Vec magnitude(Vec v) { return (Vec)((Bits)v & 0x7fffffffffffffffLL); }
#endif

// One row: w.x, the sum of |w_j x_j|, the sum of x_j^2, and the length of the longest chain of roundings on the way
// from a number to one of these sums. The first has the bits of `dots`, and all three run over the row in one reading.
struct Sums {
    double dot, size, square;
    std::int64_t depth;
};

template <class T>
SX_HOT Sums sums_of(const Dense<T>& X, std::int64_t i, const double* w) {
    const T* x = X.row(i);
    Vec dot[kRegisters], size[kRegisters], square[kRegisters];
    SX_UNROLL for (int r = 0; r < kRegisters; ++r) dot[r] = size[r] = square[r] = Vec{};
    std::int64_t j = 0;
    for (; j + kLanes <= X.cols; j += kLanes) {
        SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
            const Vec v = load(x + j + r * kWidth), p = v * load(w + j + r * kWidth);
            dot[r] += p;
            size[r] += magnitude(p);
            square[r] += v * v;
        }
    }
    if (j < X.cols) {
        SX_UNROLL for (int r = 0; r < kRegisters; ++r) {
            const std::int64_t at = j + r * kWidth;
            if (at >= X.cols) break;
            const int n = int(X.cols - at < kWidth ? X.cols - at : kWidth);
            const Vec v = load_first(x + at, n), p = v * load_first(w + at, n);
            dot[r] += p;
            size[r] += magnitude(p);
            square[r] += v * v;
        }
    }
    // A product, one sum for each further number of its lane, and the four that bring the lanes together.
    return {sum_of_lanes(dot), sum_of_lanes(size), sum_of_lanes(square), X.cols / kLanes + 6};
}

template <class T, class I>
SX_HOT Sums sums_of(const Csr<T, I>& X, std::int64_t i, const double* w) {
    const std::int64_t from = X.indptr[i], to = X.indptr[i + 1];
    std::int64_t p = from;
    double dot[kSparseLanes] = {}, size[kSparseLanes] = {}, square[kSparseLanes] = {};
#if defined(SX_AVX2)
    Vec4 dots = Vec4{}, sizes = Vec4{}, squares = Vec4{};
    for (; p + kSparseLanes <= to; p += kSparseLanes) {
        const Vec4 v = load4(X.data + p), product = v * gather(w, X.indices + p);
        dots += product;
        sizes += (Vec4)_mm256_andnot_pd(_mm256_set1_pd(-0.0), (__m256d)product);
        squares += v * v;
    }
    SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
        dot[l] = dots[l];
        size[l] = sizes[l];
        square[l] = squares[l];
    }
#endif
    while (p < to) {
        SX_UNROLL for (int l = 0; l < kSparseLanes; ++l) {
            if (p + l >= to) break;
            const double v = double(X.data[p + l]), product = v * w[X.indices[p + l]];
            dot[l] += product;
            size[l] += fabs(product);
            square[l] += v * v;
        }
        p += kSparseLanes;
    }
    return {sum_of_four(dot), sum_of_four(size), sum_of_four(square), (to - from) / kSparseLanes + 4};
}

// Call work(column, value) for the numbers of a row until it returns true; whether it did.
template <class T, class Work>
bool any_entry(const Dense<T>& X, std::int64_t i, Work work) {
    const T* x = X.row(i);
    for (std::int64_t j = 0; j < X.cols; ++j) {
        if (work(j, double(x[j]))) return true;
    }
    return false;
}

template <class T, class I, class Work>
bool any_entry(const Csr<T, I>& X, std::int64_t i, Work work) {
    for (std::int64_t p = X.indptr[i]; p < std::int64_t(X.indptr[i + 1]); ++p) {
        if (work(std::int64_t(X.indices[p]), double(X.data[p]))) return true;
    }
    return false;
}

// A bound on |computed - exact| of dot + bias, which are at most depth + 1 roundings away from their terms.
//
// Let A be the exact sum of |w_j x_j| and |b|, and a the computed one. Each term carries a factor within
// (1 +- u)^(depth + 1), and each product may have lost tiny / 2 to underflow, so the error is at most
// (depth + 1) u A (1 + u)^depth + n tiny; and A <= a / (1 - u)^(depth + 1) + n tiny for the same reason. If a is finite
// then so is every number on the way, since each is in size at most its partner on the way to a; if it is not, nothing
// is known. If all computed products are 0, a second look tells whether they are: then the score is the bias itself.
// Subnormal numbers are slow on many processors, so n tiny is added only where one more u would not pay for it.
template <class Rows>
SX_HOT double error_of(const Rows& X, std::int64_t i, const double* w, double bias, const Sums& sums) {
    const double size = sums.size + fabs(bias);
    if (!(size < HUGE_VAL)) return HUGE_VAL;
    if (sums.size == 0.0) {
        const bool terms = any_entry(X, i, [&](std::int64_t j, double x) { return x != 0.0 && w[j] != 0.0; });
        if (!terms) return 0.0;
    }
    const double error = double(sums.depth + 3) * (kUnit * kSpare) * size;
    return size >= kSmall ? error : error + double(X.cols + 2) * kTiny;
}

// An upper bound on |x|^2, by the same reasoning: it is at most square / (1 - u)^depth + n tiny. The squares of floats
// do not underflow.
template <class T, class Rows>
SX_HOT double square_bound(const Rows& X, std::int64_t i, const Sums& sums) {
    if (!(sums.square < HUGE_VAL)) return HUGE_VAL;
    const double raised = sums.square + double(sums.depth + 5) * (kUnit * kSpare) * sums.square;
    if (sizeof(T) == sizeof(float) || sums.square >= kSmall) return raised;
    if (sums.square == 0.0 && !any_entry(X, i, [](std::int64_t, double x) { return x != 0.0; })) return 0.0;
    return raised + double(X.cols + 4) * kTiny;
}

template <class T>
T value_type(const Dense<T>&);
template <class T, class I>
T value_type(const Csr<T, I>&);

void enclosed_scores(const Matrix& m, std::int64_t begin, std::int64_t end, const double* w, double bias,
                     double* scores, double* errors, double* squares) {
    with_rows(m, [&](const auto& X) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Sums sums = sums_of(X, i, w);
            scores[i] = sums.dot + bias;
            errors[i] = error_of(X, i, w, bias, sums);
            squares[i] = square_bound<decltype(value_type(X))>(X, i, sums);
        }
    });
}

// Add a term to a sum in two doubles: what the sum's rounding loses (Knuth, The Art of Computer Programming, volume 2,
// 4.2.2, theorem B) goes to `low`.
template <class V>
SX_HOT void add_term(V term, V& high, V& low) {
    const V sum = high + term, added = sum - high;
    low += (high - (sum - added)) + (term - added);
    high = sum;
}

struct Running {  // a sum for each column, in two doubles, and the sum of the sizes of its terms
    double *high, *low, *size;
};

// Four rows at a time, in pairs: the sum in two doubles is then a quarter of the work.
constexpr int kFour = 4;

template <class V>
SX_HOT void add_four(const V* x, V origin, const double* v, V& high, V& low, V& size) {
    V term[kFour];
    SX_UNROLL for (int r = 0; r < kFour; ++r) term[r] = v[r] * (x[r] - origin);
    add_term((term[0] + term[1]) + (term[2] + term[3]), high, low);
    size += (magnitude(term[0]) + magnitude(term[1])) + (magnitude(term[2]) + magnitude(term[3]));
}

template <class T>
void add_block(const Dense<T>& X, const std::int64_t* rows, const double* v, const double* origin, const Running& to) {
    std::int64_t j = 0;
    for (; j + kWidth <= X.cols; j += kWidth) {
        Vec x[kFour], high = load(to.high + j), low = load(to.low + j), size = load(to.size + j);
        SX_UNROLL for (int r = 0; r < kFour; ++r) x[r] = load(X.row(rows[r]) + j);
        add_four(x, load(origin + j), v, high, low, size);
        store(to.high + j, high);
        store(to.low + j, low);
        store(to.size + j, size);
    }
    for (; j < X.cols; ++j) {
        double x[kFour];
        SX_UNROLL for (int r = 0; r < kFour; ++r) x[r] = double(X.row(rows[r])[j]);
        add_four(x, origin[j], v, to.high[j], to.low[j], to.size[j]);
    }
}

template <class T>
void add_all(const Dense<T>& X, const double* v, std::int64_t n, const double* origin, const Running& to) {
    std::int64_t rows[kFour] = {};
    double factors[kFour] = {};
    int held = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (v[i] == 0.0) continue;
        rows[held] = i;
        factors[held++] = v[i];
        if (held == kFour) {
            add_block(X, rows, factors, origin, to);
            held = 0;
        }
    }
    for (int r = 0; r < held; ++r) {
        const T* x = X.row(rows[r]);
        for (std::int64_t j = 0; j < X.cols; ++j) {
            const double term = factors[r] * (double(x[j]) - origin[j]);
            add_term(term, to.high[j], to.low[j]);
            to.size[j] += fabs(term);
        }
    }
}

template <class T, class I>
void add_all(const Csr<T, I>& X, const double* v, std::int64_t n, const double*, const Running& to) {
    for (std::int64_t i = 0; i < n; ++i) {
        if (v[i] == 0.0) continue;
        for (std::int64_t p = X.indptr[i]; p < std::int64_t(X.indptr[i + 1]); ++p) {
            const std::int64_t j = X.indices[p];
            const double term = v[i] * double(X.data[p]);
            add_term(term, to.high[j], to.low[j]);
            to.size[j] += fabs(term);
        }
    }
}

// The sum of k rows. A computed term is off by at most 2 u times its size (the difference and the product) and tiny,
// and the sum of four by as much again; let M be the sum of the sizes. The sum in `high` with all that its roundings
// lost is exact. What is lost at one of them is at most u M (1 + u)^k, so `low`, a plain sum of at most k such numbers,
// is off by at most k u times k u M. The last sum of high and low rounds once more. Together: (4 u + (k u)^2) M + u
// |sum| + k tiny. The computed M is at least (1 - u)^k of the exact sum of the computed terms' sizes. No number on the
// way is larger than 4 M, so none overflows while M is below 2^1020.
void enclosed_sums(const Matrix& m, const double* v, const double* origin, double* sums, double* errors, double* room) {
    with_rows(m, [&](const auto& X) { add_all(X, v, m.rows, origin, Running{sums, room, errors}); });
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < m.rows; ++i) count += v[i] != 0.0;
    const double chain = double(count) * kUnit, factor = (5.0 * kUnit + chain * chain) * kSpare;
    for (std::int64_t j = 0; j < m.cols; ++j) {
        const double size = errors[j];
        sums[j] += room[j];
        errors[j] = size < 0x1p1020 ? (factor * size + 2.0 * kUnit * fabs(sums[j])) + double(count) * (4.0 * kTiny)
                                    : HUGE_VAL;
    }
}

// A sum of products of doubles, exact: a number of fixed point in limbs of 32 bits, each in a signed cell of 64 whose
// upper half collects carries until there may be too many. The lowest bit is worth 2^-2148, that of the product of two
// least doubles, and the largest product ends below bit 4196; the cells above hold the carries of 2^64 such products.
class ExactSum {
   public:
    void clear() {
        memset(cell_, 0, sizeof cell_);
        terms_ = 0;
    }

    void add(double a, double b) {
        if (a == 0.0 || b == 0.0) return;
        int place_a, place_b;
        const std::uint64_t p = digits(a, &place_a), q = digits(b, &place_b);
        const std::uint64_t p0 = p & kLimb, p1 = p >> 32, q0 = q & kLimb, q1 = q >> 32;
        const std::uint64_t least = p0 * q0, middle = p0 * q1 + p1 * q0;  // below 2^54: the upper halves have 21 bits
        const std::uint64_t low = least + (middle << 32);
        const std::uint64_t high = p1 * q1 + (middle >> 32) + (low < least);
        const int place = place_a + place_b, shift = place % 32;
        const std::uint64_t word[3] = {low << shift, (high << shift) | ((low >> 1) >> (63 - shift)),
                                       (high >> 1) >> (63 - shift)};
        std::int64_t* const cell = cell_ + place / 32;
        const std::int64_t sign = (a < 0.0) == (b < 0.0) ? 1 : -1;
        for (int k = 0; k < 3; ++k) {
            cell[2 * k] += sign * std::int64_t(word[k] & kLimb);
            cell[2 * k + 1] += sign * std::int64_t(word[k] >> 32);
        }
        if (++terms_ == kMostTerms) carry();
    }

    int sign() {
        carry();
        if (cell_[kCells - 1] < 0) return -1;
        for (int k = 0; k < kCells; ++k) {
            if (cell_[k] != 0) return 1;
        }
        return 0;
    }

   private:
    static constexpr int kCells = 136;
    static constexpr std::int64_t kMostTerms = std::int64_t(1) << 30;
    static constexpr std::uint64_t kLimb = 0xffffffffu;

    // |v| is the result times 2^(place - 1074).
    static std::uint64_t digits(double v, int* place) {
        std::uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        const int exponent = int(bits >> 52 & 0x7ff);
        const std::uint64_t fraction = bits & 0xfffffffffffffu;
        *place = exponent == 0 ? 0 : exponent - 1;
        return exponent == 0 ? fraction : fraction | (std::uint64_t(1) << 52);
    }

    // Leave a limb in each cell; the last keeps the sign of the whole.
    void carry() {
        for (int k = 0; k + 1 < kCells; ++k) {
            cell_[k + 1] += cell_[k] >> 32;
            cell_[k] &= std::int64_t(kLimb);
        }
        terms_ = 0;
    }

    std::int64_t cell_[kCells];
    std::int64_t terms_;
};

// The sign where the enclosed scores of the words tell it, or 2. Their errors add up, and the sum of n scores is off by
// at most n u times the sum of their sizes.
template <class Rows>
int quick_side(const Rows& X, std::int64_t i, const double* words, std::int64_t n_words) {
    double total = 0.0, size = 0.0, error = 0.0;
    for (std::int64_t k = 0; k < n_words; ++k) {
        const double* w = words + k * (X.cols + 1);
        const Sums sums = sums_of(X, i, w);
        const double score = sums.dot + w[X.cols];
        total += score;
        size += fabs(score);
        error += error_of(X, i, w, w[X.cols], sums);
    }
    const double doubt = (error + double(n_words + 4) * kUnit * size) * kSpare;
    return total - doubt > kTiny ? 1 : total + doubt < -kTiny ? -1 : 2;
}

std::int64_t exact_sides(const Matrix& m, const std::int64_t* rows, std::int64_t n, const double* words,
                         std::int64_t n_words, std::int8_t* sides) {
    const std::int64_t width = m.cols + 1;
    ExactSum sum;
    return with_rows(m, [&](const auto& X) -> std::int64_t {
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t i = rows[k];
            if (!X.finite(i)) return i;
            const int side = quick_side(X, i, words, n_words);
            if (side != 2) {
                sides[k] = std::int8_t(side);
                continue;
            }
            sum.clear();
            for (std::int64_t l = 0; l < n_words; ++l) {
                const double* w = words + l * width;
                any_entry(X, i, [&](std::int64_t j, double x) {
                    sum.add(w[j], x);
                    return false;
                });
                sum.add(w[m.cols], 1.0);
            }
            sides[k] = std::int8_t(sum.sign());
        }
        return all_good;
    });
}

extern const ExactKernels exact_kernels;
const ExactKernels exact_kernels = {enclosed_scores, enclosed_sums, exact_sides, hash_rows};

}  // namespace SX_BUILD
}  // namespace sx
