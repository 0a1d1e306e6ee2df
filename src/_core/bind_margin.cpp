// The largest-margin solvers' part of the binding: coordinate ascent and the products that the finishing methods need.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "ascent_order.hpp"
#include "bind.hpp"
#include "margin.hpp"
#include "order.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

// Points travel as an array of bytes: nanobind knows no structured types. svm/ascent.py has the fields.
Point* points_of(const Vector<std::uint8_t>& bytes, std::int64_t n) {
    expect(std::int64_t(bytes.shape(0)) == n * std::int64_t(sizeof(Point)), "points and rows differ in number");
    expect(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Point) == 0, "points are not aligned in memory");
    return reinterpret_cast<Point*>(bytes.data());
}

auto ascent_order_of(Vector<std::uint8_t> bytes, std::int64_t block, std::uint64_t seed, std::uint64_t epoch) {
    const std::int64_t n = bytes.shape(0) / sizeof(Point);
    Point* points = points_of(bytes, n);
    expect(n < (std::int64_t(1) << 32), "an order can hold at most 2^32 - 1 rows");
    expect(1 <= block && block <= (1 << 20), "a block holds 1 to 2^20 rows");
    std::vector<std::uint32_t> order;
    {
        nb::gil_scoped_release free;
        order = ascent_order(points, n, block, seed, epoch);
    }
    return to_numpy(std::move(order));
}

std::int64_t ascend(const HeldMatrix& X, Vector<std::uint8_t> bytes, Vector<const std::uint32_t> order,
                    std::int64_t begin, std::int64_t end, Vector<double> w, Vector<double> real, double bias_square,
                    double relax, bool squared) {
    Point* points = points_of(bytes, X.m.rows);
    expect(std::int64_t(w.shape(0)) == X.m.cols, "weights and columns of X differ in number");
    expect(real.shape(0) == std::size_t(ascent_slots), "real needs " + std::to_string(int(ascent_slots)) + " slots");
    expect(0 <= begin && begin <= end && end <= std::int64_t(order.shape(0)), "begin and end must lie within the order");
    expect(0.0 < relax && relax < 2.0, "relax must lie between 0 and 2");
    expect(real.data()[drift] > 0.0, "drift must be positive");
    expect_aligned(w, real, order);
    for (std::int64_t k = begin; k < end; ++k) {
        expect(std::int64_t(order.data()[k]) < X.m.rows, "order names a row that is not there");
    }
    const Ascent job{points, order.data(), begin, end, w.data(), real.data(), bias_square, relax, squared};
    nb::gil_scoped_release free;
    return kernels().margin->ascend(X.m, job);
}

auto standing(Vector<std::uint8_t> bytes, bool squared) {
    const std::int64_t n = bytes.shape(0) / sizeof(Point);
    const Point* points = points_of(bytes, n);
    Standing seen;
    {
        nb::gil_scoped_release free;
        seen = kernels().margin->standing(points, n, squared);
    }
    return std::make_tuple(seen.loss, seen.gain, seen.at_zero, seen.at_upper);
}

constexpr std::int64_t kSideBySide = 128;
constexpr double kLookAfter = 1e9;  // multiplications, after which a caller is asked whether to go on

int set_product_threads(int most) {
    expect(most >= 1, "a product needs at least one thread");
    const int before = product_threads;
    product_threads = int(std::min<std::int64_t>(most, kMostThreads));
    return before;
}

// Columns 0, ..., d (with the one of the bias, for pairs) in so many parts of about the same work: where each begins, and
// the end. Every sum is one thread's, over the rows in their order.
std::vector<std::int64_t> shares(const HeldMatrix& X, int parts, bool pairs) {
    const std::int64_t d = X.m.cols;
    std::vector<std::int64_t> ends(std::size_t(parts) + 1, 0);
    ends.back() = pairs ? d + 1 : d;
    if (parts == 1) return ends;
    std::vector<double> work(std::size_t(d), 0.0);
    kernels().margin->work_of_columns(X.m, pairs, work.data());
    double total = 0.0, so_far = 0.0;
    for (const double each : work) total += each;
    for (std::int64_t j = 0, part = 1; j < d && part < parts; ++j) {
        so_far += work[j];
        while (part < parts && so_far >= total * double(part) / parts) ends[part++] = (j + 1) / 8 * 8;
    }
    for (int part = 1; part < parts; ++part) ends[part] = std::max(ends[part], ends[part - 1]);
    return ends;
}

// A thread reads its columns of every row: fewer numbers than these side by side and it would wait for memory as long as
// one that reads all.
int threads_for_sums(const HeldMatrix& X) {
    const double numbers = double(stored_numbers(X.m));
    const auto width = std::int64_t(numbers / double(std::max<std::int64_t>(X.m.rows, 1)));
    return X.canonical ? int(std::clamp<std::int64_t>(width / kSideBySide, 1, threads_for(numbers))) : 1;
}

auto combine(const HeldMatrix& X, Vector<const double> v) {
    expect(std::int64_t(v.shape(0)) == X.m.rows, "factors and rows differ in number");
    expect_aligned(v);
    std::vector<double> out(X.m.cols);
    {
        nb::gil_scoped_release free;
        add_combined(X, v.data(), out.data());
    }
    return to_numpy(std::move(out));
}

// The end of the rows that are worth a look at what the caller wants: after so much work, and a whole number of groups of
// rows that count, so that the sums are the same as without.
std::int64_t next_look(const double* t, std::int64_t begin, std::int64_t rows, double each) {
    const auto groups = std::int64_t(kLookAfter / (each * double(kGramRows))) + 1;
    std::int64_t left = groups * kGramRows, i = begin;
    for (; i < rows && left > 0; ++i) left -= t[i] != 0.0;
    return i;
}

auto gram(const HeldMatrix& X, Vector<const double> t, const std::optional<nb::callable>& look) {
    expect(std::int64_t(t.shape(0)) == X.m.rows, "factors and rows differ in number");
    expect(X.m.cols < (std::int64_t(1) << 16), "the products of all pairs of this many columns do not fit in memory");
    expect_aligned(t);
    const std::size_t d = X.m.cols + 1;
    std::vector<double> out(d * d);
    {
        nb::gil_scoped_release free;
        const double numbers = double(stored_numbers(X.m)), width = numbers / double(std::max<std::int64_t>(X.m.rows, 1));
        const int jobs = X.canonical ? threads_for(0.5 * numbers * width) : 1;
        const std::vector<std::int64_t> ends = shares(X, jobs, true);
        const std::int64_t room = X.m.layout == Layout::dense ? gram_room(X.m.cols) : 0;
        std::vector<double> rooms(std::size_t(room * jobs));
        for (std::int64_t begin = 0, end; begin < X.m.rows; begin = end) {
            end = look ? next_look(t.data(), begin, X.m.rows, 0.5 * (width + 1.0) * (width + 1.0)) : X.m.rows;
            in_parallel(jobs, jobs, [&](std::int64_t first, std::int64_t last) {
                kernels().margin->gram(X.m, t.data(), begin, end, out.data(), rooms.data() + room * first, ends[first],
                                       ends[last]);
            });
            if (look && end < X.m.rows) {
                nb::gil_scoped_acquire held;
                (*look)();
            }
        }
    }
    return to_numpy(std::move(out), {d, d});
}

void factor(Table<double> a, double least, double replaced, const std::optional<nb::callable>& look) {
    expect(a.shape(0) == a.shape(1), "a matrix to factor must be square");
    expect_aligned(a);
    const auto n = std::int64_t(a.shape(0));
    nb::gil_scoped_release free;
    for (std::int64_t begin = 0, end; begin < n; begin = end) {
        double work = 0.0;
        for (end = begin; end < n && (!look || work < kLookAfter); ++end) work += double(end) * double(n - end);
        kernels().margin->factor(a.data(), n, begin, end, least, replaced);
        if (look && end < n) {
            nb::gil_scoped_acquire held;
            (*look)();
        }
    }
}

// Solve L L' x = b in place.
void substitute(Table<const double> factor, Vector<double> b) {
    const std::int64_t n = factor.shape(0);
    expect(n == std::int64_t(factor.shape(1)) && n == std::int64_t(b.shape(0)), "factor and right side differ in size");
    expect_aligned(factor, b);
    const double* l = factor.data();
    double* x = b.data();
    nb::gil_scoped_release free;
    for (std::int64_t i = 0; i < n; ++i) x[i] = (x[i] - kernels().margin->dot(l + i * n, x, i)) / l[i * n + i];
    for (std::int64_t i = n - 1; i >= 0; --i) {
        x[i] /= l[i * n + i];
        for (std::int64_t j = 0; j < i; ++j) x[j] -= l[i * n + j] * x[i];
    }
}

double dot(Vector<const double> a, Vector<const double> b) {
    expect(a.shape(0) == b.shape(0), "vectors differ in length");
    expect_aligned(a, b);
    nb::gil_scoped_release free;
    return kernels().margin->dot(a.data(), b.data(), a.shape(0));
}

double reach(Vector<const double> value, Vector<const double> way, double sign) {
    expect(value.shape(0) == way.shape(0), "vectors differ in length");
    expect_aligned(value, way);
    nb::gil_scoped_release free;
    return kernels().margin->reach(value.data(), way.data(), sign, value.shape(0));
}

}  // namespace

void sx::add_combined(const HeldMatrix& X, const double* v, double* out) {
    const int jobs = threads_for_sums(X);
    const std::vector<std::int64_t> ends = shares(X, jobs, false);
    in_parallel(jobs, jobs, [&](std::int64_t first, std::int64_t last) {
        kernels().margin->combine(X.m, v, out, ends[first], ends[last]);
    });
}

void sx::bind_margin(nb::module_& module) {
    module.def("ascent_order", &ascent_order_of, "points"_a.noconvert(), "block"_a, "seed"_a, "epoch"_a,
               "The rows that an epoch of coordinate ascent visits, in order; the others wait one epoch less.");
    module.def("ascend", &ascend, "X"_a, "points"_a.noconvert(), "order"_a.noconvert(), "begin"_a, "end"_a,
               "w"_a.noconvert(), "real"_a.noconvert(), "bias_square"_a, "relax"_a,
               "squared"_a, "Coordinate ascent over order[begin:end]; the row that was not finite, or -1.");
    module.def("standing", &standing, "points"_a.noconvert(), "squared"_a,
               "The loss as last met, the dual's terms in alpha, and how many are at zero and at the upper bound.");
    module.def("product_threads", &set_product_threads, "most"_a,
               "Let products that this thread asks for use so many threads, with the same bits; what it was before.");
    module.def("combine", &combine, "X"_a, "v"_a.noconvert(), "X' v, the rows' sum in their order.");
    module.def("gram", &gram, "X"_a, "t"_a.noconvert(), "look"_a.none() = nb::none(),
               "The lower triangle of the sum of t (x, 1)(x, 1)'; `look` is called now and then, and may raise.");
    module.def("factor", &factor, "a"_a.noconvert(), "least"_a, "replaced"_a, "look"_a.none() = nb::none(),
               "Turn a lower triangle into its Cholesky factor; pivots that are not above `least` become `replaced`. "
               "`look` is called now and then, and may raise.");
    module.def("substitute", &substitute, "factor"_a.noconvert(), "b"_a.noconvert(), "Solve L L' x = b in place.");
    module.def("reach", &reach, "value"_a.noconvert(), "way"_a.noconvert(), "sign"_a,
               "How far along sign * way all values stay above 0; infinity if none falls.");
    module.def("dot", &dot, "a"_a.noconvert(), "b"_a.noconvert(), "A product whose bits depend on no machine.");
}
