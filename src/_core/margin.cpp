// One build of the largest-margin kernels. CMake compiles this file once for each instruction set, as kernels.cpp.
#include "margin.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"

constexpr double kLongestLeave = 31.0;  // epochs
constexpr double kCaution = 0.6;        // a point's slack is taken to move no faster than this times the typical pace
constexpr std::int64_t kRowsAhead = 4, kPointsAhead = 12;

// Dual coordinate ascent (Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008, algorithm 1): at each example the dual is
// a parabola in its alpha, and alpha goes to the top of it within its bounds, or a little beyond (Mangasarian and
// Musicant, IEEE Trans. Neural Networks 10, 1999). A point that is found at a bound and pushed against it is left out for
// as many epochs as it would take, at the pace at which such points move, to come back from there: the farther from its
// margin, the longer. It comes back by itself, so nothing has to be unshrunk at the end.
template <bool Squared, class Rows>
std::int64_t ascend_rows(const Rows& X, const Ascent& job) {
    const std::int64_t end = job.end;
    double balance = job.real[sx::balance], drifted = job.real[sx::drifted], drifters = job.real[sx::drifters];
    const double leaves = 1.0 / (kCaution * job.real[sx::drift]);
    const double shift = job.real[sx::shift], bias_square = job.bias_square;
    double* const w = job.w;
    const double* const some[1] = {w};
    double dot = 0.0;
    if (job.begin < end) X.template dots<1>(job.order[job.begin], some, &dot);
    for (std::int64_t k = job.begin; k < end; ++k) {
        const std::int64_t i = job.order[k];
        const std::int64_t next = k + 1 < end ? std::int64_t(job.order[k + 1]) : -1;
        const std::int64_t ahead = k + kRowsAhead < end ? std::int64_t(job.order[k + kRowsAhead]) : -1;
        if (k + kPointsAhead < end) prefetch(job.points + job.order[k + kPointsAhead]);
        Point& p = job.points[i];
        const double y = p.sign, old = p.alpha;
        const double slack = 1.0 - y * (dot + (shift + bias_square * balance));
        if (!is_finite(slack)) return i;
        if (p.rest > 0 && p.square + bias_square > 0.0) {
            const double moved = (slack - double(p.slack)) / double(p.leave + 1);
            drifted += moved * moved / (p.square + bias_square);
            drifters += 1.0;
        }
        p.slack = float(slack);
        const double damp = Squared ? 0.5 / p.cost : 0.0;
        const double curvature = p.square + bias_square + damp;
        const double stride = job.relax / curvature;  // at hand before the product is
        const double slope = slack - damp * old;
        const double upper = Squared ? HUGE_VAL : p.cost;
        double alpha;
        if (curvature > 0.0) {
            alpha = old + stride * slope;
            alpha = alpha > 0.0 ? alpha : 0.0;
            alpha = alpha < upper ? alpha : upper;
        } else {  // a row of zeros: the dual is a line
            alpha = slope > 0.0 && upper < HUGE_VAL ? upper : old;
        }
        const double step = (alpha - old) * y;
        if (alpha != old) {
            p.alpha = alpha;
            p.rest = p.wait = p.leave = 0;
            balance += step;
            if (next >= 0) {
                dot = X.add_and_dot(i, step, w, next, ahead);
            } else {
                X.add(i, step, w);
            }
        } else {
            if (p.rest < 255) ++p.rest;
            const double length = sqrt(p.square + bias_square);
            const double leave = length > 0.0 ? (slack < 0.0 ? -slack : slack) * leaves / length : kLongestLeave;
            p.wait = p.leave = std::uint8_t(leave < kLongestLeave ? leave : kLongestLeave);
            if (next >= 0) X.template dots<1>(next, some, &dot, ahead);
        }
    }
    job.real[sx::balance] = balance;
    job.real[sx::drifted] = drifted;
    job.real[sx::drifters] = drifters;
    return all_good;
}

std::int64_t ascend(const Matrix& m, const Ascent& job) {
    return with_centred_rows(m, [&](const auto& X) { return job.squared ? ascend_rows<true>(X, job) : ascend_rows<false>(X, job); });
}

Standing standing(const Point* points, std::int64_t n, bool squared) {
    Standing seen{};
    double loss[4] = {}, gain[4] = {};
    for (std::int64_t i = 0; i < n; ++i) {
        const Point& p = points[i];
        const double s = p.slack > 0.0f ? double(p.slack) : 0.0;
        loss[i % 4] += p.cost * (squared ? s * s : s);
        gain[i % 4] += squared ? p.alpha - 0.25 * p.alpha * p.alpha / p.cost : p.alpha;
        seen.at_zero += p.alpha <= 0.0;
        seen.at_upper += !squared && p.alpha >= p.cost;
    }
    seen.loss = sum_of_four(loss);
    seen.gain = sum_of_four(gain);
    return seen;
}

template <class T, bool kCentred>
void combine_of(const Dense<T, kCentred>& X, std::int64_t n, const double* v, double* out, std::int64_t from,
                std::int64_t to) {
    const Dense<T, kCentred> some{X.data + from, to - from, X.stride, kCentred ? X.centre + from : nullptr};
    for (std::int64_t i = 0; i < n; ++i) {
        if (v[i] != 0.0) some.add(i, v[i], out + from);
    }
}

// The place of the first stored number of row i whose column is at least j.
template <class T, class I, bool kCentred>
std::int64_t place_of(const Csr<T, I, kCentred>& X, std::int64_t i, std::int64_t j) {
    std::int64_t low = X.indptr[i], high = X.indptr[i + 1];
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (std::int64_t(X.indices[middle]) < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

template <class T, class I, bool kCentred>
void combine_of(const Csr<T, I, kCentred>& X, std::int64_t n, const double* v, double* out, std::int64_t from,
                std::int64_t to) {
    const bool whole = from == 0 && to == X.cols;
    for (std::int64_t i = 0; i < n; ++i) {
        if (v[i] == 0.0) continue;
        if (whole) {
            X.add(i, v[i], out);
            continue;
        }
        for (std::int64_t p = place_of(X, i, from), end = X.indptr[i + 1]; p < end; ++p) {
            const std::int64_t j = X.indices[p];
            if (j >= to) break;
            out[j] += v[i] * X.value(p);
        }
    }
}

void combine(const Matrix& m, const double* v, double* out, std::int64_t from, std::int64_t to) {
    with_centred_rows(m, [&](const auto& X) { combine_of(X, m.rows, v, out, from, to); });
}

template <class T>
void work_of(const Dense<T>& X, std::int64_t, bool pairs, double* out) {
    for (std::int64_t j = 0; j < X.cols; ++j) out[j] = pairs ? double(j + 1) : 1.0;
}

template <class T, class I>
void work_of(const Csr<T, I>& X, std::int64_t n, bool pairs, double* out) {
    const std::int64_t apart = n / 1024 + 1;
    for (std::int64_t i = 0; i < n; i += apart) {
        const std::int64_t from = X.indptr[i], to = X.indptr[i + 1];
        for (std::int64_t p = from; p < to; ++p) out[X.indices[p]] += pairs ? double(p - from + 1) : 1.0;
    }
}

void work_of_columns(const Matrix& m, bool pairs, double* out) {
    with_rows(m, [&](const auto& X) { work_of(X, m.rows, pairs, out); });
}

// Rows are taken kGramRows at a time, widened to double and, in a second copy, multiplied by t; then tiles of 4 x 16
// sums stay in registers while they run over these rows. Each sum runs over the rows in their order, whatever the tile.
constexpr int kTile = 4;
constexpr int kTileRegisters = int(kGramColumns) / kWidth;

template <class T, bool kCentred>
void gram_of(const Dense<T, kCentred>& X, std::int64_t begin, std::int64_t n, const double* t, double* out,
             double* room, std::int64_t from, std::int64_t to) {
    const std::int64_t d = X.cols + 1, width = gram_width(X.cols);
    double* const plain = room;
    double* const scaled = room + kGramRows * width;
    memset(room, 0, sizeof(double) * std::size_t(2 * kGramRows * width));
    for (std::int64_t next = begin; next < n;) {
        std::int64_t rows = 0;
        for (; next < n && rows < kGramRows; ++next) {
            if (t[next] == 0.0) continue;
            const std::int64_t r = rows++;
            const auto x = X.row(next);
            const double weight = t[next];
            double* p = plain + r * width;
            double* s = scaled + r * width;
            for (std::int64_t j = 0; j < X.cols; ++j) {
                p[j] = double(x[j]);
                s[j] = weight * p[j];
            }
            p[d - 1] = 1.0;
            s[d - 1] = weight;
        }
        for (std::int64_t j = from; j < to; j += kTile) {
            const std::int64_t last = j + kTile < to ? j + kTile : to;  // rows j..last of the table, columns 0..last
            for (std::int64_t c = 0; c < last; c += kGramColumns) {
                Vec sum[kTile][kTileRegisters];
                SX_UNROLL for (int a = 0; a < kTile; ++a) {
                    SX_UNROLL for (int b = 0; b < kTileRegisters; ++b) sum[a][b] = Vec{};
                }
                for (std::int64_t r = 0; r < rows; ++r) {
                    const double* p = plain + r * width + j;
                    const double* s = scaled + r * width + c;
                    Vec v[kTileRegisters];
                    SX_UNROLL for (int b = 0; b < kTileRegisters; ++b) v[b] = load(s + b * kWidth);
                    SX_UNROLL for (int a = 0; a < kTile; ++a) {
                        SX_UNROLL for (int b = 0; b < kTileRegisters; ++b) sum[a][b] += p[a] * v[b];
                    }
                }
                for (std::int64_t a = j; a < last; ++a) {
                    double lane[kGramColumns];
                    SX_UNROLL for (int b = 0; b < kTileRegisters; ++b) store(lane + b * kWidth, sum[a - j][b]);
                    for (std::int64_t b = c; b < c + kGramColumns && b <= a; ++b) out[a * d + b] += lane[b - c];
                }
            }
        }
    }
}

template <class T, class I, bool kCentred>
void gram_of(const Csr<T, I, kCentred>& X, std::int64_t begin, std::int64_t n, const double* t, double* out, double*,
             std::int64_t from, std::int64_t to) {
    const std::int64_t d = X.cols + 1;
    const bool whole = from == 0 && to == d;
    double* const last = out + (d - 1) * d;
    for (std::int64_t i = begin; i < n; ++i) {
        if (t[i] == 0.0) continue;
        const std::int64_t first = X.indptr[i], end = X.indptr[i + 1];
        for (std::int64_t p = whole ? first : place_of(X, i, from); p < end; ++p) {
            const std::int64_t j = X.indices[p];
            if (j >= to) break;
            const double scaled = t[i] * X.value(p);
            double* const line = out + j * d;
            for (std::int64_t q = first; q <= p; ++q) line[X.indices[q]] += scaled * X.value(q);
            last[j] += scaled;
        }
        if (to == d) last[d - 1] += t[i];
    }
}

void gram(const Matrix& m, const double* t, std::int64_t begin, std::int64_t end, double* out, double* room,
          std::int64_t from, std::int64_t to) {
    with_centred_rows(m, [&](const auto& X) { gram_of(X, begin, end, t, out, room, from, to); });
}

// Each entry is a product of two rows of the factor so far. A few columns are done together, so that the rows that they
// are products of stay in the cache, and several rows below them share one reading of these.
constexpr std::int64_t kPanel = 32;

void factor(double* a, std::int64_t n, std::int64_t begin, std::int64_t end, double least, double replaced) {
    for (std::int64_t first = begin; first < end; first += kPanel) {
        const std::int64_t last = first + kPanel < end ? first + kPanel : end;
        const auto enter = [&](auto block, std::int64_t i, std::int64_t j) {
            constexpr int N = decltype(block)::size;
            const double* some[N];
            double dots[N];
            SX_UNROLL for (int k = 0; k < N; ++k) some[k] = a + (i + k) * n;
            Dense<double>{a, j, n}.template dots<N>(j, some, dots);
            SX_UNROLL for (int k = 0; k < N; ++k) {
                double& entry = a[(i + k) * n + j];
                entry = entry - dots[k];
                if (i + k > j) entry = entry / a[j * n + j];
            }
        };
        for (std::int64_t i = first; i < last; ++i) {
            for (std::int64_t j = first; j <= i; ++j) enter(Block<1>{}, i, j);
            double& pivot = a[i * n + i];
            pivot = sqrt(pivot > least ? pivot : replaced);
        }
        in_blocks<kTogether>(int(n - last), [&](auto block, int below) {
            for (std::int64_t j = first; j < last; ++j) enter(block, last + below, j);
            return true;
        });
    }
}

double dot(const double* a, const double* b, std::int64_t n) {
    const Dense<double> rows{a, n, n};
    const double* const some[1] = {b};
    double out;
    rows.template dots<1>(0, some, &out);
    return out;
}

double reach(const double* value, const double* way, double sign, std::int64_t n) {
    constexpr int kStrands = 8;
    double least[kStrands];
    SX_UNROLL for (int l = 0; l < kStrands; ++l) least[l] = HUGE_VAL;
    std::int64_t i = 0;
    for (; i + kStrands <= n; i += kStrands) {
        SX_UNROLL for (int l = 0; l < kStrands; ++l) {
            const double fall = sign * way[i + l];
            const double at = value[i + l] / -fall;
            const double limit = fall < 0.0 ? at : HUGE_VAL;
            least[l] = limit < least[l] ? limit : least[l];
        }
    }
    double out = HUGE_VAL;
    for (; i < n; ++i) {
        const double fall = sign * way[i];
        const double limit = fall < 0.0 ? value[i] / -fall : HUGE_VAL;
        out = limit < out ? limit : out;
    }
    SX_UNROLL for (int l = 0; l < kStrands; ++l) out = least[l] < out ? least[l] : out;
    return out;
}

extern const MarginKernels margin_kernels;
const MarginKernels margin_kernels = {ascend, standing, combine,         gram,
                                     work_of_columns, factor, dot, reach};

}  // namespace SX_BUILD
}  // namespace sx
