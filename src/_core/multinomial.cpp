// One build of the passes of multinomial logistic regression over the rows. CMake compiles this file once for each
// instruction set, as kernels.cpp.
//
// A pass takes some rows at a time. Their scores are a product with the weights of all classes, with the rows side by side
// in the registers; so are the numbers that follow from the scores; and the product of these with the rows is added up
// before they leave the cache. Every sum runs over the columns, the classes or the rows in their order, whatever the width
// of the registers.
#include "multinomial.hpp"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sx {
namespace SX_BUILD {

#include "rows.hpp"
#include "losses.hpp"

constexpr int kMostRows = 64;
constexpr int kTileClasses = kWidth >= 8 ? 8 : kWidth >= 4 ? 4 : 2;  // of sums that stay in the registers
constexpr int kTile = kWidth >= 4 ? 2 * kWidth : 8;                  // rows or columns of these
constexpr int kTileRegisters = kTile / kWidth;

// Call work(Block<N>, c) for blocks of classes that cover 0..k.
template <class Work>
SX_HOT void in_classes(std::int64_t k, Work work) {
    std::int64_t c = 0;
    for (; c + kTileClasses <= k; c += kTileClasses) work(Block<kTileClasses>{}, c);
    if (kTileClasses > 4 && c + 4 <= k) work(Block<4>{}, c), c += 4;
    if (kTileClasses > 2 && c + 2 <= k) work(Block<2>{}, c), c += 2;
    if (c < k) work(Block<1>{}, c);
}

// Some rows, `together` at most: their scores, a line of `together` for each class, and the rows as the products read them.
struct Some {
    std::int64_t first, n, together;
    double* scores;
    double* across;  // dense: a line of `together` for each column
    double* along;   // dense: a line of whole_lanes(cols) for each row
    double* line;    // sparse: whole_lanes(classes)
};

template <class T>
SX_HOT void fetch(const Dense<T>& X, const Some& some) {
    const std::int64_t stride = whole_lanes(X.cols), m = some.together;
    for (std::int64_t r = 0; r < some.n; ++r) {
        const T* from = X.row(some.first + r);
        double* to = some.along + r * stride;
        for (std::int64_t j = 0; j < X.cols; ++j) to[j] = double(from[j]);
        for (std::int64_t j = X.cols; j < stride; ++j) to[j] = 0.0;
    }
    if (some.n < m) memset(some.along + some.n * stride, 0, sizeof(double) * std::size_t((m - some.n) * stride));
}
template <class T, class I>
SX_HOT void fetch(const Csr<T, I>&, const Some&) {}

// scores[c][r] = shift[c] + sum_j weights[c][j] x[r][j].
template <class T>
SX_HOT void score(const Dense<T>& X, const ClassScores& f, const Some& some) {
    const std::int64_t stride = whole_lanes(X.cols), m = some.together, d = X.cols;
    for (std::int64_t r = 0; r < m; r += 8) {  // turned, eight rows at a time
        for (std::int64_t j = 0; j < d; ++j) {
            double* to = some.across + j * m + r;
            const double* from = some.along + r * stride + j;
            SX_UNROLL for (int l = 0; l < 8; ++l) to[l] = from[l * stride];
        }
    }
    for (std::int64_t r = 0; r < m; r += kTile) {
        in_classes(f.classes, [&](auto block, std::int64_t c) {
            constexpr int N = decltype(block)::size;
            const double* w = f.weights + c * d;
            Vec sum[N][kTileRegisters];
            SX_UNROLL for (int a = 0; a < N; ++a) {
                SX_UNROLL for (int v = 0; v < kTileRegisters; ++v) sum[a][v] = Vec{} + f.shift[c + a];
            }
            for (std::int64_t j = 0; j < d; ++j) {
                Vec x[kTileRegisters];
                SX_UNROLL for (int v = 0; v < kTileRegisters; ++v) x[v] = load(some.across + j * m + r + v * kWidth);
                SX_UNROLL for (int a = 0; a < N; ++a) {
                    SX_UNROLL for (int v = 0; v < kTileRegisters; ++v) sum[a][v] += w[a * d + j] * x[v];
                }
            }
            SX_UNROLL for (int a = 0; a < N; ++a) {
                SX_UNROLL for (int v = 0; v < kTileRegisters; ++v) {
                    store(some.scores + (c + a) * m + r + v * kWidth, sum[a][v]);
                }
            }
        });
    }
}
template <class T, class I>
SX_HOT void score(const Csr<T, I>& X, const ClassScores& f, const Some& some) {
    const std::int64_t width = whole_lanes(f.classes), m = some.together;
    double* const line = some.line;
    for (std::int64_t r = 0; r < m; ++r) {
        memcpy(line, f.shift, sizeof(double) * std::size_t(f.classes));
        const std::int64_t i = some.first + r;
        for (std::int64_t p = r < some.n ? std::int64_t(X.indptr[i]) : 0, to = r < some.n ? std::int64_t(X.indptr[i + 1]) : 0;
             p < to; ++p) {
            const double* w = f.turned + std::int64_t(X.indices[p]) * width;
            const double x = X.value(p);
            for (std::int64_t c = 0; c < width; c += kWidth) store(line + c, load(line + c) + x * load(w + c));
        }
        for (std::int64_t c = 0; c < f.classes; ++c) some.scores[c * m + r] = line[c];
    }
}

// pulls[c][j] += sum_r g[c][r] x[r][j].
template <class T>
SX_HOT void pull(const Dense<T>& X, std::int64_t k, const Some& some, double* pulls) {
    const std::int64_t stride = whole_lanes(X.cols), m = some.together;
    const auto columns = [&](auto registers, std::int64_t j) {
        constexpr int V = decltype(registers)::size;
        in_classes(k, [&](auto block, std::int64_t c) {
            constexpr int N = decltype(block)::size;
            const double* g = some.scores + c * m;
            Vec sum[N][V];
            SX_UNROLL for (int a = 0; a < N; ++a) {
                SX_UNROLL for (int v = 0; v < V; ++v) sum[a][v] = Vec{};
            }
            for (std::int64_t r = 0; r < some.n; ++r) {
                Vec x[V];
                SX_UNROLL for (int v = 0; v < V; ++v) x[v] = load(some.along + r * stride + j + v * kWidth);
                SX_UNROLL for (int a = 0; a < N; ++a) {
                    SX_UNROLL for (int v = 0; v < V; ++v) sum[a][v] += g[a * m + r] * x[v];
                }
            }
            SX_UNROLL for (int a = 0; a < N; ++a) {
                SX_UNROLL for (int v = 0; v < V; ++v) {
                    double* to = pulls + (c + a) * stride + j + v * kWidth;
                    store(to, load(to) + sum[a][v]);
                }
            }
        });
    };
    std::int64_t j = 0;
    for (; j + kTile <= stride; j += kTile) columns(Block<kTileRegisters>{}, j);
    if (kTile > kClassLanes && j < stride) columns(Block<(kTileRegisters > 1 ? kTileRegisters / 2 : 1)>{}, j);
}
template <class T, class I>
SX_HOT void pull(const Csr<T, I>& X, std::int64_t k, const Some& some, double* pulls) {
    const std::int64_t width = whole_lanes(k), m = some.together;
    double* const line = some.line;
    for (std::int64_t c = k; c < width; ++c) line[c] = 0.0;
    for (std::int64_t r = 0; r < some.n; ++r) {
        for (std::int64_t c = 0; c < k; ++c) line[c] = some.scores[c * m + r];
        const std::int64_t i = some.first + r;
        for (std::int64_t p = X.indptr[i]; p < std::int64_t(X.indptr[i + 1]); ++p) {
            double* to = pulls + std::int64_t(X.indices[p]) * width;
            const double x = X.value(p);
            for (std::int64_t c = 0; c < width; c += kWidth) store(to + c, load(to + c) + x * load(line + c));
        }
    }
}

// A block of a table of probabilities: line c begins at `at + c * stride`.
struct Lines {
    double* at;
    std::int64_t stride;
};

// Call work(m, codes, costs, scores, lines of p, wrong) for blocks of m rows; what it leaves in place of the scores is
// summed up. Behind the last row there are rows of zeros that cost nothing.
template <bool Writes, class Rows, class Work>
SX_HOT void pass_over(const Rows& X, const ClassScores& f, const ClassedRows& rows, double* p, double* wrong,
                      const ClassSums& wanted, double* room, Work work) {
    const std::int64_t k = f.classes, m = class_rows(k, X.cols, !Rows::kSparse);
    Some some{0, 0, m, room, nullptr, nullptr, nullptr};
    double* const spare = room + k * m;
    some.line = spare + k * m;
    some.across = some.line + whole_lanes(k);
    some.along = some.across + (Rows::kSparse ? 0 : X.cols * m);
    const bool scored = f.weights || f.turned;
    for (some.first = rows.begin; some.first < rows.end; some.first += m) {
        some.n = rows.end - some.first < m ? rows.end - some.first : m;
        const std::int64_t* codes = rows.codes + some.first;
        const double* costs = rows.costs + some.first;
        Lines lines{p ? p + some.first : nullptr, rows.rows};
        double* sure = wrong ? wrong + some.first : nullptr;
        std::int64_t few_codes[kMostRows] = {};
        double few_costs[kMostRows] = {}, few_wrong[kMostRows] = {};
        const std::size_t bytes = sizeof(double) * std::size_t(some.n);
        if (some.n < m) {
            memcpy(few_codes, codes, sizeof(std::int64_t) * std::size_t(some.n));
            memcpy(few_costs, costs, bytes);
            codes = few_codes, costs = few_costs;
            if (p) {
                memset(spare, 0, sizeof(double) * std::size_t(k * m));
                for (std::int64_t c = 0; c < k; ++c) memcpy(spare + c * m, lines.at + c * lines.stride, bytes);
                lines = {spare, m};
            }
            if (wrong) memcpy(few_wrong, sure, bytes);
            if (wrong) sure = few_wrong;
        }
        if (scored || wanted.pulls) fetch(X, some);
        if (scored) {
            score(X, f, some);
        } else {
            for (std::int64_t c = 0; c < k; ++c) {
                for (std::int64_t r = 0; r < m; ++r) some.scores[c * m + r] = f.shift[c];
            }
        }
        work(m, codes, costs, some.scores, lines, sure);
        if (Writes && p && some.n < m) {
            for (std::int64_t c = 0; c < k; ++c) memcpy(p + c * rows.rows + some.first, spare + c * m, bytes);
            memcpy(wrong + some.first, sure, bytes);
        }
        if (!wanted.pulls) continue;
        for (std::int64_t c = 0; c < k; ++c) {
            double sum[kClassLanes] = {};
            const double* g = some.scores + c * m;
            for (std::int64_t r = 0; r < m; r += kClassLanes) {
                SX_UNROLL for (int l = 0; l < kClassLanes; ++l) sum[l] += g[r + l];
            }
            wanted.sums[c] += ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
        }
        pull(X, k, some, wanted.pulls);
    }
}

// e^x for numbers up to 0; below -708 it is 0. By the series of e^r, |r| <= ln2 / 2, alone: a table is slow to read for
// many numbers at once.
SX_HOT double exponential(double v) {
    constexpr double kNearest = 0x1.8p52;
    const double x = v > -708.0 ? v : -708.0;
    const double sum = x * 0x1.71547652b82fep+0 + kNearest, whole = sum - kNearest;
    const double r = (x - whole * 0x1.62e42fee00000p-1) - whole * 0x1.a39ef35793c76p-33, r2 = r * r, r4 = r2 * r2;
    const double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    const double middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    const double high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600);
    const double power = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    std::int64_t bits, exponent;
    memcpy(&bits, &power, sizeof bits);
    memcpy(&exponent, &sum, sizeof exponent);
    bits += std::int64_t(std::uint64_t(exponent) << 52);
    double value;
    memcpy(&value, &bits, sizeof value);
    return v > -708.0 ? value : 0.0;
}

// log(1 + u) for u >= 0.
SX_HOT double logarithm(double u) {
    constexpr std::int64_t kOne = 0x3ff0000000000000, kFraction = 0x000fffffffffffff, kNearest = 0x4338000000000000;
    const double sum = 1.0 + u;
    std::int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const std::int64_t fraction = (bits & kFraction) | kOne, whole = kNearest + std::int64_t(std::uint64_t(bits) >> 52);
    double part, exponent;
    memcpy(&part, &fraction, sizeof part);
    memcpy(&exponent, &whole, sizeof exponent);
    exponent = (exponent - 0x1.8p52) - 1023.0;
    const bool small = u <= 1.0;
    return log_of_one_and(small ? u : part - 1.0) + (small ? 0.0 : exponent * 0x1.62e42fefa39efp-1);
}

double losses(const Matrix& m, const ClassScores& f, const ClassedRows& rows, double* p, double* wrong,
              const ClassSums& wanted, double* room) {
    double total = 0.0;
    const std::int64_t k = f.classes;
    const auto work = [&](std::int64_t n, const std::int64_t* codes, const double* costs, double* s, Lines lines, double* sure) {
        double own[kMostRows], top[kMostRows] = {}, rest[kMostRows] = {}, others[kMostRows] = {}, part[kMostRows];
        for (std::int64_t r = 0; r < n; ++r) own[r] = s[codes[r] * n + r];
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            for (std::int64_t r = 0; r < n; ++r) {
                const double off = line[r] - own[r];
                line[r] = off;
                top[r] = off > top[r] ? off : top[r];
                rest[r] += off - off;  // which is not a number where a score is none
            }
        }
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            for (std::int64_t r = 0; r < n; ++r) line[r] = exponential(line[r] - top[r]);
        }
        for (std::int64_t r = 0; r < n; ++r) {
            double& at = s[codes[r] * n + r];
            own[r] = at;
            at = 0.0;
        }
        for (std::int64_t c = 0; c < k; ++c) {
            const double* line = s + c * n;
            for (std::int64_t r = 0; r < n; ++r) others[r] += line[r];
        }
        double loss[kMostRows];
        for (std::int64_t r = 0; r < n; ++r) {
            part[r] = 1.0 / (others[r] + own[r]);
            loss[r] = costs[r] * ((top[r] + rest[r]) + logarithm(top[r] > 0.0 ? (others[r] - 1.0) + own[r] : others[r]));
        }
        for (std::int64_t r = 0; r < n; ++r) total += loss[r];
        if (p) {
            for (std::int64_t c = 0; c < k; ++c) {
                const double* line = s + c * n;
                double* to = lines.at + c * lines.stride;
                for (std::int64_t r = 0; r < n; ++r) to[r] = line[r] * part[r];
            }
            for (std::int64_t r = 0; r < n; ++r) {
                lines.at[codes[r] * lines.stride + r] = own[r] * part[r];
                sure[r] = others[r] * part[r];
            }
        }
        if (!wanted.pulls) return;
        for (std::int64_t r = 0; r < n; ++r) part[r] *= costs[r];
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            for (std::int64_t r = 0; r < n; ++r) line[r] *= part[r];
        }
        for (std::int64_t r = 0; r < n; ++r) s[codes[r] * n + r] = -(others[r] * part[r]);
    };
    with_rows(m, [&](const auto& X) { pass_over<true>(X, f, rows, p, wrong, wanted, room, work); });
    return total;
}

void bent(const Matrix& m, const ClassScores& f, const ClassedRows& rows, const double* p, const ClassSums& wanted,
          double* room) {
    const std::int64_t k = f.classes;
    const auto work = [&](std::int64_t n, const std::int64_t* codes, const double* costs, double* s, Lines lines, double*) {
        double own[kMostRows], mean[kMostRows] = {};
        for (std::int64_t r = 0; r < n; ++r) own[r] = s[codes[r] * n + r];
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            const double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) {
                line[r] -= own[r];
                mean[r] += q[r] * line[r];
            }
        }
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            const double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) line[r] = (costs[r] * q[r]) * (line[r] - mean[r]);
        }
    };
    with_rows(m, [&](const auto& X) {
        pass_over<false>(X, f, rows, const_cast<double*>(p), nullptr, wanted, room, work);
    });
}

void shifted(const Matrix& m, const ClassScores& f, const ClassedRows& rows, double* p, double* wrong, double* room) {
    const std::int64_t k = f.classes;
    const auto work = [&](std::int64_t n, const std::int64_t* codes, const double*, double* s, Lines lines, double* sure) {
        double own[kMostRows], mean[kMostRows] = {}, total[kMostRows] = {};
        for (std::int64_t r = 0; r < n; ++r) own[r] = s[codes[r] * n + r], lines.at[codes[r] * lines.stride + r] = 0.0;
        for (std::int64_t c = 0; c < k; ++c) {
            double* line = s + c * n;
            const double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) {
                line[r] -= own[r];
                mean[r] += q[r] * line[r];
            }
        }
        for (std::int64_t c = 0; c < k; ++c) {
            const double* line = s + c * n;
            double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) {
                const double factor = line[r] + (1.0 - mean[r]);
                q[r] *= factor > 1e-12 ? factor : 1e-12;
                total[r] += q[r];
            }
        }
        for (std::int64_t r = 0; r < n; ++r) mean[r] = total[r] > 1.0 ? total[r] : 1.0;
        for (std::int64_t c = 0; c < k; ++c) {
            double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) q[r] /= mean[r];
        }
        for (std::int64_t r = 0; r < n; ++r) {
            sure[r] = total[r] > 1.0 ? 1.0 : total[r];
            lines.at[codes[r] * lines.stride + r] = 1.0 - sure[r];
        }
    };
    with_rows(m, [&](const auto& X) {
        pass_over<true>(X, f, rows, p, wrong, ClassSums{nullptr, nullptr}, room, work);
    });
}

void pulled(const Matrix& m, const ClassScores& f, const ClassedRows& rows, const double* p, const double* wrong,
            const ClassSums& wanted, double* room) {
    const std::int64_t k = f.classes;
    const auto work = [&](std::int64_t n, const std::int64_t* codes, const double* costs, double* s, Lines lines, double* sure) {
        for (std::int64_t c = 0; c < k; ++c) {
            const double* q = lines.at + c * lines.stride;
            for (std::int64_t r = 0; r < n; ++r) s[c * n + r] = costs[r] * q[r];
        }
        for (std::int64_t r = 0; r < n; ++r) s[codes[r] * n + r] = -(costs[r] * sure[r]);
    };
    with_rows(m, [&](const auto& X) {
        pass_over<false>(X, f, rows, const_cast<double*>(p), const_cast<double*>(wrong), wanted, room, work);
    });
}

// Terms q f((p - q) / q) with f(t) = (1 + t) log(1 + t) - t, which is at most t^2 / 2 for t >= 0, t^2 (1 + |t|) / 2 for t
// from -1/2 to 0, and t^2 below: bounds that cancel nothing, and that need no logarithm but for large t.
constexpr double kTiny = 1e-290, kLarge = 0.5;
SX_HOT double near_term(double t) {
    const double square = t * t;
    return t >= 0.0 ? 0.5 * square : t > -0.5 ? 0.5 * square * (1.0 - t) : square;
}
SX_HOT double far_term(double t) { return (1.0 + t) * logarithm(t) - t; }

double apart(std::int64_t k, const ClassedRows& rows, const double* p, const double* p_wrong, const double* q,
             const double* q_wrong) {
    double total = 0.0;
    for (std::int64_t first = rows.begin; first < rows.end; first += kMostRows) {
        const int n = int(rows.end - first < kMostRows ? rows.end - first : kMostRows);
        const std::int64_t* codes = rows.codes + first;
        double sum[kMostRows] = {}, t[kMostRows], term[kMostRows];
        for (std::int64_t c = 0; c < k; ++c) {
            const double* now = p + c * rows.rows + first;
            const double* before = q + c * rows.rows + first;
            double most = 0.0, lost = 0.0;
            for (int r = 0; r < n; ++r) {
                const bool counts = codes[r] != c && now[r] > 1e10 * kTiny;
                const double old = before[r] > kTiny ? before[r] : kTiny, change = now[r] / old - 1.0;
                t[r] = counts || change < 0.0 ? change : 0.0;
                term[r] = codes[r] != c ? near_term(t[r]) : 0.0;
                most = t[r] > most ? t[r] : most;
                lost = counts && before[r] < kTiny ? 1.0 : lost;
            }
            if (lost > 0.0) return HUGE_VAL;
            if (most > kLarge) {
                for (int r = 0; r < n; ++r) {
                    const double size = t[r] > 0.0 ? t[r] : 0.0, far = far_term(size);
                    term[r] = size > kLarge ? far : term[r];
                }
            }
            for (int r = 0; r < n; ++r) sum[r] += before[r] * term[r];
        }
        for (int r = 0; r < n; ++r) {
            const double before = q[codes[r] * rows.rows + first + r];
            if (before < kTiny) return HUGE_VAL;
            const double off = (q_wrong[first + r] - p_wrong[first + r]) / before;
            total += rows.costs[first + r] * (sum[r] + before * (off > kLarge ? far_term(off) : near_term(off)));
        }
    }
    return total;
}

extern const MultinomialKernels multinomial_kernels;
const MultinomialKernels multinomial_kernels = {losses, bent, shifted, pulled, apart};

}  // namespace SX_BUILD
}  // namespace sx
