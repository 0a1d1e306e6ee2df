// Separable or not, for points of the plane: the widest street between the classes, or a point that is in both hulls.
//
// Two sets of points can be separated by a line exactly if their convex hulls do not meet. The hulls, and whether they
// meet, are decided by the signs of areas of triangles, which exact.cpp computes exactly: the verdict has no rounding in
// it. The street lies between the two nearest points of the hulls; its numbers are rounded. A line that came out of it is
// then held against every point with the same exact signs.
#include "bind_wasm.hpp"

#include <math.h>
#include <stdlib.h>

#include "exact.hpp"
#include "margin.hpp"

namespace sx {
namespace wasm {
namespace {

struct Spot {
    double x, y;
    int32_t row;
};

// The sign of the area of the triangle a, b, c: 1 if it is passed counter-clockwise.
int turn(const Spot& a, const Spot& b, const Spot& c) {
    const double left = (b.x - a.x) * (c.y - a.y), right = (b.y - a.y) * (c.x - a.x), area = left - right;
    const double doubt = 4e-16 * (fabs(left) + fabs(right));  // Shewchuk 1997: 3.33e-16
    if (area > doubt) return 1;
    if (-area > doubt) return -1;
    const double row[6] = {b.x, b.x, a.x, b.y, b.y, a.y};
    const double words[7] = {c.y, -a.y, -c.y, -c.x, a.x, c.x, 0.0};
    const int64_t first = 0;
    int8_t side = 0;
    core().exact->exact_sides(dense(row, 1, 6), &first, 1, words, 1, &side);
    return side;
}

int by_place(const void* a, const void* b) {
    const Spot &p = *static_cast<const Spot*>(a), &q = *static_cast<const Spot*>(b);
    if (p.x != q.x) return p.x < q.x ? -1 : 1;
    if (p.y != q.y) return p.y < q.y ? -1 : 1;
    return p.row < q.row ? -1 : 1;
}

// The corners of the hull of some points, counter-clockwise (Andrew 1979); `corners` has room for one more than n.
int64_t hull(Spot* points, int64_t n, Spot* corners) {
    qsort(points, size_t(n), sizeof(Spot), by_place);
    int64_t different = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (different && points[i].x == points[different - 1].x && points[i].y == points[different - 1].y) continue;
        points[different++] = points[i];
    }
    n = different;
    if (n < 3) {
        for (int64_t i = 0; i < n; ++i) corners[i] = points[i];
        return n;
    }
    int64_t k = 0;
    for (int64_t i = 0; i < n; ++i) {
        while (k >= 2 && turn(corners[k - 2], corners[k - 1], points[i]) <= 0) --k;
        corners[k++] = points[i];
    }
    const int64_t lower = k + 1;
    for (int64_t i = n - 2; i >= 0; --i) {
        while (k >= lower && turn(corners[k - 2], corners[k - 1], points[i]) <= 0) --k;
        corners[k++] = points[i];
    }
    return k - 1;
}

bool within(const Spot& a, const Spot& b, const Spot& p) {
    return fmin(a.x, b.x) <= p.x && p.x <= fmax(a.x, b.x) && fmin(a.y, b.y) <= p.y && p.y <= fmax(a.y, b.y);
}

// Whether two closed segments, or points, meet.
bool meet(const Spot& a, const Spot& b, const Spot& c, const Spot& d) {
    if (fmax(a.x, b.x) < fmin(c.x, d.x) || fmax(c.x, d.x) < fmin(a.x, b.x) || fmax(a.y, b.y) < fmin(c.y, d.y) ||
        fmax(c.y, d.y) < fmin(a.y, b.y)) {
        return false;
    }
    const int c_side = turn(a, b, c), d_side = turn(a, b, d), a_side = turn(c, d, a), b_side = turn(c, d, b);
    if (c_side * d_side < 0 && a_side * b_side < 0) return true;
    return (c_side == 0 && within(a, b, c)) || (d_side == 0 && within(a, b, d)) || (a_side == 0 && within(c, d, a)) ||
           (b_side == 0 && within(c, d, b));
}

// A corner of the fan that holds p, or -1: p lies in the triangle corners[0], corners[k], corners[k + 1].
int64_t holds(const Spot* corners, int64_t n, const Spot& p) {
    for (int64_t k = 1; k + 1 < n; ++k) {
        if (turn(corners[0], corners[k], p) >= 0 && turn(corners[k], corners[k + 1], p) >= 0 &&
            turn(corners[k + 1], corners[0], p) >= 0) {
            return k;
        }
    }
    return -1;
}

// The point of the segment a, b that is nearest to p, as the share of b in it; and how far it is.
double nearest(const Spot& a, const Spot& b, const Spot& p, double* square) {
    const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
    double share = length > 0.0 ? ((p.x - a.x) * x + (p.y - a.y) * y) / length : 0.0;
    share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    const double dx = a.x + share * x - p.x, dy = a.y + share * y - p.y;
    *square = dx * dx + dy * dy;
    return share;
}

struct Hull {
    Spot* corners;
    int64_t n;
    int64_t edges() const { return n > 2 ? n : n > 1 ? 1 : n; }  // of one point: a segment of no length
    const Spot& at(int64_t k) const { return corners[k % n]; }
};

using Long = long double;  // 113 bits: shares of triangles so narrow that doubles see no area in them

// Twice the area of a triangle.
Long area(const Spot& a, const Spot& b, const Spot& c) {
    return (Long(b.x) - a.x) * (Long(c.y) - a.y) - (Long(b.y) - a.y) * (Long(c.x) - a.x);
}

double share_of(Long part, Long whole) {
    const double share = whole != 0.0L ? double(part / whole) : 0.0;
    return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}

// Convex weights of a point in a triangle.
void shares_in(const Spot& a, const Spot& b, const Spot& c, const Spot& p, double* out) {
    const Long whole = area(a, b, c);
    out[1] = share_of(area(a, p, c), whole);
    out[2] = share_of(area(a, b, p), whole);
    out[0] = 1.0 - out[1] - out[2];
}

// Rows and weights of a point that both hulls have; the weights of each class sum up to 1. False if there is none.
bool common_point(const Hull* hulls, double* out) {
    auto put = [&](const Spot& spot, double share) {
        const int64_t at = int64_t(out[0]++);
        out[1 + 2 * at] = double(spot.row);
        out[2 + 2 * at] = share;
    };
    out[0] = 0.0;
    for (int own = 0; own < 2; ++own) {
        const Hull &from = hulls[own], &other = hulls[1 - own];
        for (int64_t i = 0; i < from.n; ++i) {
            const int64_t k = other.n > 2 ? holds(other.corners, other.n, from.corners[i]) : -1;
            if (k < 0) continue;
            double share[3];
            shares_in(other.corners[0], other.corners[k], other.corners[k + 1], from.corners[i], share);
            put(from.corners[i], 1.0);
            put(other.corners[0], share[0]);
            put(other.corners[k], share[1]);
            put(other.corners[k + 1], share[2]);
            return true;
        }
    }
    for (int64_t i = 0; i < hulls[0].edges(); ++i) {
        for (int64_t j = 0; j < hulls[1].edges(); ++j) {
            const Spot &a = hulls[0].at(i), &b = hulls[0].at(i + 1), &c = hulls[1].at(j), &d = hulls[1].at(j + 1);
            if (!meet(a, b, c, d)) continue;
            const Long at_a = area(c, d, a), at_b = area(c, d, b), at_c = area(a, b, c), at_d = area(a, b, d);
            double along = 0.0, other = 0.0, square;
            if (at_a != at_b) {
                along = share_of(at_a, at_a - at_b);
                other = share_of(at_c, at_c - at_d);
            } else {  // on one line: one end of them lies on the other segment
                const Spot* ends[4] = {&c, &d, &a, &b};
                for (int k = 0; k < 4; ++k) {
                    const Spot &from = k < 2 ? a : c, &to = k < 2 ? b : d;
                    const double share = nearest(from, to, *ends[k], &square);
                    if (!within(from, to, *ends[k])) continue;
                    along = k < 2 ? share : k == 2 ? 0.0 : 1.0;
                    other = k < 2 ? (k == 0 ? 0.0 : 1.0) : share;
                    break;
                }
            }
            put(a, 1.0 - along);
            put(b, along);
            put(c, 1.0 - other);
            put(d, other);
            return true;
        }
    }
    return false;
}

// The nearest two points of hulls that do not meet: rows and shares, those of class 0 first.
void closest(const Hull* hulls, double* out) {
    double best = HUGE_VAL;
    for (int own = 0; own < 2; ++own) {
        const Hull &from = hulls[own], &other = hulls[1 - own];
        for (int64_t i = 0; i < from.n; ++i) {
            for (int64_t j = 0; j < other.edges(); ++j) {
                const Spot &a = other.at(j), &b = other.at(j + 1), &p = from.corners[i];
                double square;
                const double share = nearest(a, b, p, &square);
                if (!(square < best)) continue;
                best = square;
                double* single = out + (own == 0 ? 0 : 4);
                double* segment = out + (own == 0 ? 4 : 0);
                single[0] = single[2] = double(p.row);
                single[1] = 1.0;
                single[3] = 0.0;
                segment[0] = double(a.row);
                segment[1] = 1.0 - share;
                segment[2] = double(b.row);
                segment[3] = share;
            }
        }
    }
}

}  // namespace

// out[0] is the verdict: 1 separable, -1 not, 0 one class only.
// Separable: w (2), b, half the width of the street by this line's least margin, that by the nearest points, whether the
// line was found to separate exactly, then two pairs of (row, share) for each class, class 0 first.
// Not: how many pairs of (row, share) there are, then these; the point that they make up is in both hulls.
SX_EXPORT(void, prove_plane)(const double* x, const int32_t* codes, int32_t n, double* out) {
    Hull hulls[2];
    Spot* room[2];
    for (int own = 0; own < 2; ++own) {
        room[own] = reinterpret_cast<Spot*>(doubles(3 * int64_t(n) + 3));
        Spot* corners = reinterpret_cast<Spot*>(doubles(6 * int64_t(n) + 6));
        int64_t m = 0;
        for (int32_t i = 0; i < n; ++i) {
            if (codes[i] == own) room[own][m++] = {x[2 * i], x[2 * i + 1], i};
        }
        hulls[own] = {corners, hull(room[own], m, corners)};
    }
    out[0] = 0.0;
    if (hulls[0].n && hulls[1].n) {
        if (common_point(hulls, out + 1)) {
            out[0] = -1.0;
        } else {
            double* ends = out + 7;
            out[0] = 1.0;
            closest(hulls, ends);
            double p[2][2];
            for (int own = 0; own < 2; ++own) {
                for (int j = 0; j < 2; ++j) {
                    const double* pair = ends + 4 * own;
                    p[own][j] = pair[1] * x[2 * int(pair[0]) + j] + pair[3] * x[2 * int(pair[2]) + j];
                }
            }
            double w[2] = {p[1][0] - p[0][0], p[1][1] - p[0][1]};
            const double length = sqrt(w[0] * w[0] + w[1] * w[1]), scale = 2.0 / (length * length);
            for (double& each : w) each *= scale;  // margins of 1 at the edges of the street
            const double b = -0.5 * (w[0] * (p[0][0] + p[1][0]) + w[1] * (p[0][1] + p[1][1]));
            const double words[3] = {w[0], w[1], b};
            bool exact = true;
            double least = HUGE_VAL;
            for (int64_t i = 0; i < n; ++i) {
                int8_t side = 0;
                core().exact->exact_sides(dense(x, n, 2), &i, 1, words, 1, &side);
                exact = exact && side == (codes[i] ? 1 : -1);
                const double a = w[0] * x[2 * i] + w[1] * x[2 * i + 1] + b;
                least = fmin(least, codes[i] ? a : -a);
            }
            out[1] = w[0];
            out[2] = w[1];
            out[3] = b;
            out[4] = least / sqrt(w[0] * w[0] + w[1] * w[1]);
            out[5] = 0.5 * length;
            out[6] = exact;
        }
    }
    for (int own = 0; own < 2; ++own) {
        free(room[own]);
        free(hulls[own].corners);
    }
}

// Novikoff's bound on the mistakes of a perceptron from zero weights, (R / gamma)^2, with the bias coordinate K: R^2, and
// gamma from below (by weights that were found) and from above (by convex weights of the examples). Dual coordinate
// ascent without slack (margin.cpp) until the two are within one part in a thousand, or for so many epochs.
SX_EXPORT(void, mistake_bound)(const double* x, const int32_t* codes, int32_t n, int32_t d, double K, int32_t epochs,
                             double* out) {
    const Matrix X = dense(x, n, d);
    double* squares = doubles(n);
    core().square_norms(X, squares);
    Point* points = reinterpret_cast<Point*>(doubles(4 * int64_t(n)));
    uint32_t* order = reinterpret_cast<uint32_t*>(doubles(n / 2 + 1));
    double radius = 0.0;
    for (int32_t i = 0; i < n; ++i) {
        points[i].square = squares[i];
        points[i].cost = HUGE_VAL;
        points[i].sign = int8_t(codes[i] ? 1 : -1);
        points[i].slack = 1.0f;
        order[i] = uint32_t(i);
        radius = fmax(radius, squares[i] + K * K);
    }
    double real[ascent_slots] = {};
    real[drift] = HUGE_VAL;
    double* w = doubles(d);
    double* a = doubles(n);
    double lower = 0.0, upper = HUGE_VAL;
    for (int32_t epoch = 0; epoch < epochs && !(lower >= 0.999 * upper); ++epoch) {
        if (core().margin->ascend(X, {points, order, 0, n, w, real, K * K, 1.0, false}) != all_good) break;
        const double b = K * K * real[balance];
        double square = K > 0.0 ? b * b / (K * K) : 0.0, total = 0.0, least = HUGE_VAL;
        for (int32_t j = 0; j < d; ++j) square += w[j] * w[j];
        for (int32_t i = 0; i < n; ++i) total += points[i].alpha;
        core().decide(X, 0, n, w, &b, 1, a);
        for (int32_t i = 0; i < n; ++i) least = fmin(least, codes[i] ? a[i] : -a[i]);
        const double length = sqrt(square);
        if (!(length > 0.0)) break;
        lower = fmax(lower, least / length);
        upper = fmin(upper, length / total);
    }
    out[0] = radius;
    out[1] = lower;
    out[2] = upper;
    free(squares);
    free(points);
    free(order);
    free(w);
    free(a);
}

}  // namespace wasm
}  // namespace sx
