// The Python face of the loops over kernel rows. As in bind.cpp, every argument is checked here, so that no call can read
// or write out of bounds, and the GIL is released around every loop.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "bind.hpp"
#include "bind_examples.hpp"
#include "dual.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

template <class T>
using Strided = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;  // its rows may lie apart

const DualKernels& dual() { return *sx::kernels().dual; }

template <class T>
const RowKernels<T>& row_kernels() {
    if constexpr (sizeof(T) == sizeof(float)) {
        return dual().f32;
    } else {
        return dual().f64;
    }
}

// The distance between the rows of a table whose values lie side by side.
template <class T>
std::int64_t stride_of(const Strided<T>& table) {
    const std::int64_t rows = table.shape(0), cols = table.shape(1);
    expect(cols <= 1 || rows == 0 || table.stride(1) == 1, "kernel rows must be C-ordered");
    const std::int64_t stride = rows > 1 ? table.stride(0) : cols;
    expect(stride >= cols, "kernel rows must not overlap");
    expect_aligned(table);
    return stride;
}

void check_slots(const Vector<const std::int64_t>& slots, std::int64_t rows) {
    expect_aligned(slots);
    for (std::size_t k = 0; k < slots.shape(0); ++k) {
        expect(slots.data()[k] >= 0 && slots.data()[k] < rows, "a slot lies outside the store");
    }
}

// ---------------------------------------------------------------------------------------------- kernel rows

void exponentials(Strided<const float> products, Vector<const double> left, Vector<const double> right, double gamma,
                  Strided<float> store, Vector<const std::int64_t> slots, int n_jobs) {
    const std::int64_t n = products.shape(0), cols = products.shape(1);
    expect(std::int64_t(left.shape(0)) == n && std::int64_t(right.shape(0)) == cols, "norms and products differ in number");
    expect(std::int64_t(slots.shape(0)) == n, "slots and products differ in number");
    expect(std::int64_t(store.shape(1)) == cols, "the store and the products differ in width");
    const std::int64_t apart = stride_of(products), stride = stride_of(store);
    expect_aligned(left, right);
    check_slots(slots, store.shape(0));
    nb::gil_scoped_release free;
    in_parallel(cols, n * cols < 100'000 ? 1 : n_jobs, [&](std::int64_t first, std::int64_t last) {
        dual().exponentials(products.data(), n, apart, left.data(), right.data(), gamma, store.data(), stride,
                               slots.data(), first, last);
    });
}

template <class T>
void add_rows(Strided<const T> store, Vector<const std::int64_t> slots, Vector<const double> coef, Vector<double> sums,
              int n_jobs) {
    const std::int64_t cols = store.shape(1), n = slots.shape(0);
    expect(std::int64_t(coef.shape(0)) == n, "slots and coefficients differ in number");
    expect(std::int64_t(sums.shape(0)) == cols, "sums and kernel rows differ in length");
    const std::int64_t stride = stride_of(store);
    expect_aligned(coef, sums);
    check_slots(slots, store.shape(0));
    const KernelRows<T> rows{store.data(), stride, slots.data(), n};
    nb::gil_scoped_release free;
    in_parallel(cols, n * cols < 200'000 ? 1 : n_jobs, [&](std::int64_t first, std::int64_t last) {
        row_kernels<T>().add_rows(rows, coef.data(), first, last, sums.data());
    });
}

// ---------------------------------------------------------------------------------------------- the support vector machine

// Solve the dual on the points `chosen`, whose kernel rows lie in `slots`; changes alpha at those points only.
template <class T>
std::int64_t smo(Strided<const T> store, Vector<const std::int64_t> slots, Vector<const std::int64_t> chosen,
                 Vector<const double> diagonal, Vector<const double> y, Vector<const double> C, Vector<double> alpha,
                 Vector<const double> F, double tolerance, std::int64_t max_steps) {
    const std::int64_t cols = store.shape(1), n = chosen.shape(0);
    const std::int64_t padded = (n + kSmoWidth - 1) / kSmoWidth * kSmoWidth;
    expect(std::int64_t(slots.shape(0)) == n, "slots and chosen points differ in number");
    for (std::size_t length : {diagonal.shape(0), y.shape(0), C.shape(0), alpha.shape(0), F.shape(0)}) {
        expect(std::int64_t(length) == cols, "kernel rows and the arrays of the points differ in length");
    }
    const std::int64_t stride = stride_of(store);
    expect_aligned(diagonal, y, C, alpha, F);
    check_slots(slots, store.shape(0));
    check_slots(chosen, cols);
    nb::gil_scoped_release free;
    std::vector<T> K(std::size_t(padded) * padded, T(0));
    std::vector<double> local(std::size_t(padded) * 7, 0.0);
    double* part[7];
    for (int k = 0; k < 7; ++k) part[k] = local.data() + k * padded;
    const std::int64_t* at = chosen.data();
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = store.data() + slots.data()[a] * stride;
        for (std::int64_t b = 0; b < n; ++b) K[a * padded + b] = row[at[b]];
        part[0][a] = diagonal.data()[at[a]];
        part[1][a] = y.data()[at[a]];
        part[2][a] = C.data()[at[a]];
        part[3][a] = alpha.data()[at[a]];
        part[4][a] = F.data()[at[a]];
    }
    const WorkingSet<T> set{K.data(), n, padded, part[0], part[1], part[2], part[3], part[4], part[5], part[6]};
    const std::int64_t steps = n > 0 ? row_kernels<T>().smo(set, tolerance, max_steps) : 0;
    for (std::int64_t a = 0; a < n; ++a) alpha.data()[at[a]] = part[3][a];
    return steps;
}

// ---------------------------------------------------------------------------------------------- the perceptron

constexpr std::int64_t kNotFinite = -2;  // kNotFinite - i: the activation of example i is not finite

// A budget and the arrays that it needs, which Python keeps.
struct HeldBudget {
    Budget b{};
    nb::object arrays;
    std::int64_t n = 0;
    std::vector<double> scratch;
};

void make_budget(HeldBudget* self, const std::string& forget, Vector<std::int64_t> stored, Vector<std::int64_t> place,
                 Vector<std::int64_t> stamp, Vector<std::int64_t> count, Vector<double> real, Vector<double> factor,
                 Vector<const double> diagonal, double radius_square, std::uint64_t seed) {
    new (self) HeldBudget();
    Budget& b = self->b;
    int kind = 0;
    while (kind < int(Forget::forgets) && forget != kForgetNames[kind]) ++kind;
    expect(kind < int(Forget::forgets), "forget is unknown");
    b.forget = Forget(kind);
    b.capacity = stored.shape(0);
    self->n = place.shape(0);
    const std::size_t triangle = std::size_t(b.capacity) * (b.capacity + 1) / 2;
    expect(b.capacity >= 1 && b.capacity <= self->n && stamp.shape(0) == stored.shape(0),
           "a budget has room for at least one example, and for no more than there are");
    expect(std::int64_t(diagonal.shape(0)) == self->n, "diagonal and place differ in length");
    expect(count.shape(0) == std::size_t(budget_count_slots) && real.shape(0) == std::size_t(budget_real_slots),
           "the counts of a budget have the wrong number of slots");
    expect(b.forget != Forget::projected || factor.shape(0) == triangle, "factor has the wrong size");
    b.stored = stored.data();
    b.place = place.data();
    b.stamp = stamp.data();
    b.count = count.data();
    b.real = real.data();
    b.factor = factor.data();
    b.diagonal = diagonal.data();
    expect_aligned(stored, place, stamp, count, real, factor, diagonal);
    expect(radius_square >= 0.0 && std::isfinite(radius_square), "radius_square must be a finite number");
    b.radius_square = radius_square > 0.0 ? radius_square : 1.0;
    b.seed = seed;
    if (b.forget == Forget::projected) self->scratch.resize(std::size_t(2 * b.capacity));
    b.scratch = self->scratch.data();
    self->arrays = nb::make_tuple(stored, place, stamp, count, real, factor, diagonal);
}

// Refuse a budget whose arrays would lead out of bounds: Python may have changed them.
void check_budget(const HeldBudget& held, std::int64_t n, const std::int64_t* slot_of) {
    const Budget& b = held.b;
    const std::int64_t now = b.count[kept], projecting = b.count[independent];
    expect(held.n == n, "a budget and the codes differ in number");
    expect(0 <= now && now <= b.capacity, "a budget keeps more than it has room for");
    expect(0 <= projecting && projecting <= (b.forget == Forget::projected ? now : 0),
           "more examples are independent than are kept");
    std::int64_t placed = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        expect(b.place[i] >= -1 && b.place[i] < now, "a place lies outside what is kept");
        placed += b.place[i] >= 0;
    }
    expect(placed == now, "stored and place disagree");
    for (std::int64_t p = 0; p < now; ++p) {
        expect(b.stored[p] >= 0 && b.stored[p] < n && b.place[b.stored[p]] == p, "stored and place disagree");
        expect(!projecting || slot_of[b.stored[p]] >= 0, "a projection needs the kernel rows of all that is stored");
    }
}

nb::object dual_visit(Strided<const double> store, Vector<const std::int64_t> slot_of, Vector<const std::int32_t> codes,
                     std::optional<Vector<const double>> weights, std::optional<Vector<const std::uint32_t>> order,
                     std::int64_t begin, std::int64_t end, Vector<double> coef,
                     std::optional<Vector<double>> average_correction,
                     std::optional<Vector<double>> pocket, Vector<double> activation, Vector<double> real,
                     Vector<std::int64_t> count, std::int32_t positive, std::pair<bool, bool> tie_is_mistake,
                     double eta, double threshold, double bias_square, double clock, bool vote,
                     const HeldBudget* budget) {
    const std::int64_t n = codes.shape(0), stride = stride_of(store);
    expect(std::int64_t(store.shape(1)) == n, "kernel rows and codes differ in number");
    expect(std::int64_t(slot_of.shape(0)) == n, "slots and codes differ in number");
    expect(std::int64_t(coef.shape(0)) == n && std::int64_t(activation.shape(0)) == n &&
               (!average_correction || std::int64_t(average_correction->shape(0)) == n) &&
               (!pocket || std::int64_t(pocket->shape(0)) == n),
           "the arrays of a task and the codes differ in length");
    expect_slots(real, count);
    expect_aligned(slot_of, coef, activation, average_correction, pocket);
    expect(eta > 0.0, "eta must be positive");
    const Examples examples{codes, weights, order, std::nullopt};
    Pass pass = examples.pass(n, begin, end, true, bias_square, clock);
    for (std::int64_t i = 0; i < n; ++i) {
        expect(slot_of.data()[i] >= -1 && slot_of.data()[i] < std::int64_t(store.shape(0)), "a slot lies outside the store");
    }
    if (budget) {
        check_budget(*budget, n, slot_of.data());
        expect(!pocket && !vote, "a budget has neither pocket nor votes");
        expect(!average_correction || budget->b.forget == Forget::projected, "this budget has no average");
    }
    Votes votes;
    std::int64_t missing = all_good, row;
    const KernelStore stored{store.data(), stride, n, slot_of.data(), &missing};
    const Rule rule{0, {eta, threshold}};
    BinaryTask task{};
    task.w = activation.data();
    task.coef = coef.data();
    task.average_correction = data_of(average_correction);
    task.pocket = data_of(pocket);
    task.real = real.data();
    task.count = count.data();
    if (vote) task.votes = {&votes, &Votes::push};
    task.positive = positive;
    task.tie_is_mistake[0] = tie_is_mistake.first;
    task.tie_is_mistake[1] = tie_is_mistake.second;
    {
        nb::gil_scoped_release free;
        row = kernels().visit_dual(stored, pass, rule, task, budget ? &budget->b : nullptr);
    }
    const std::int64_t at = row == all_good ? end : pass.begin;
    if (row != all_good) row = missing == all_good ? kNotFinite - row : missing;
    return nb::make_tuple(row, at, pass.clock) + votes.taken();
}

}  // namespace

void sx::bind_dual(nb::module_& module) {
    module.def("exponentials", &exponentials, "products"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
               "gamma"_a, "store"_a.noconvert(), "slots"_a.noconvert(), "n_jobs"_a,
               "The Gaussian kernel from products and squared lengths, written to these slots of the store.");
    const auto def_add_rows = [&module](auto function, const char* text) {
        module.def("add_rows", function, "store"_a.noconvert(), "slots"_a.noconvert(), "coef"_a.noconvert(),
                   "sums"_a.noconvert(), "n_jobs"_a, text);
    };
    def_add_rows(&add_rows<float>, "Add these rows of the store, each times its coefficient, to the sums.");
    def_add_rows(&add_rows<double>, "The same for float64.");
    const auto def_smo = [&module](auto function, const char* text) {
        module.def("smo", function, "store"_a.noconvert(), "slots"_a.noconvert(), "chosen"_a.noconvert(),
                   "diagonal"_a.noconvert(), "y"_a.noconvert(), "C"_a.noconvert(), "alpha"_a.noconvert(),
                   "F"_a.noconvert(), "tolerance"_a, "max_steps"_a, text);
    };
    def_smo(&smo<float>, "Solve the dual on the chosen points; changes their alpha, returns the steps.");
    def_smo(&smo<double>, "The same for float64.");
    nb::class_<HeldBudget>(module, "Budget", "The examples that a dual perceptron stores at most; changes the arrays.")
        .def("__init__", &make_budget, "forget"_a, "stored"_a.noconvert(), "place"_a.noconvert(), "stamp"_a.noconvert(),
             "count"_a.noconvert(), "real"_a.noconvert(), "factor"_a.noconvert(), "diagonal"_a.noconvert(),
             "radius_square"_a, "seed"_a);
    module.def("dual_visit", &dual_visit, "store"_a.noconvert(), "slot_of"_a.noconvert(), "codes"_a.noconvert(),
               "weights"_a.noconvert().none(), "order"_a.noconvert().none(), "begin"_a, "end"_a, "coef"_a.noconvert(),
               "average_correction"_a.noconvert().none(), "pocket"_a.noconvert().none(), "activation"_a.noconvert(),
               "real"_a.noconvert(), "count"_a.noconvert(), "positive"_a, "tie_is_mistake"_a, "eta"_a, "threshold"_a,
               "bias_square"_a, "clock"_a, "vote"_a, "budget"_a.none() = nb::none(),
               "Learn in dual form; the row that is missing (or -1), where it stands, the clock, and the updates.");
}
