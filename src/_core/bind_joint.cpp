// Binding of the loop that learns several classes together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bind_examples.hpp"

namespace sx {

namespace {

using namespace nb::literals;

// The rows of `biases`, which has a column for each class.
enum Bias : int { own_bias, correction_bias, pocket_bias_row, bias_rows };

struct HeldJointTask {
    JointTask t;
    std::int64_t cols;
    std::vector<double*> w;
    std::vector<double> scores;
    nb::object arrays;
};

void make_task(HeldJointTask* held, Table<double> w, Table<double> biases, Vector<double> real,
               Vector<std::int64_t> count, std::optional<Table<double>> average_correction,
               std::optional<Table<double>> pocket, std::pair<bool, bool> tie_is_mistake) {
    const std::size_t k = w.shape(0), d = w.shape(1);
    expect(k >= 2 && k < (std::size_t(1) << 30), "a joint task has two classes or more");
    expect(biases.shape(0) == std::size_t(bias_rows) && biases.shape(1) == k,
           "biases need " + std::to_string(int(bias_rows)) + " rows and a column for each class");
    expect_slots(real, count);
    expect_aligned(w, biases, average_correction, pocket);
    for (const auto* part : {&average_correction, &pocket}) {
        expect(!*part || ((*part)->shape(0) == k && (*part)->shape(1) == d),
               "average_correction, pocket and w differ in shape");
    }
    JointTask t{};
    t.shared.real = real.data();
    t.shared.count = count.data();
    t.shared.tie_is_mistake[0] = tie_is_mistake.first;
    t.shared.tie_is_mistake[1] = tie_is_mistake.second;
    t.n_classes = int(k);
    t.bias = biases.data() + own_bias * k;
    t.average_correction = data_of(average_correction);
    t.average_correction_bias = biases.data() + correction_bias * k;
    t.pocket = data_of(pocket);
    t.pocket_bias = biases.data() + pocket_bias_row * k;
    std::vector<double*> rows;
    for (std::size_t c = 0; c < k; ++c) rows.push_back(w.data() + c * d);
    new (held) HeldJointTask{t, std::int64_t(d), std::move(rows), std::vector<double>(k),
                             nb::make_tuple(w, biases, real, count, average_correction, pocket)};
    held->t.w = held->w.data();
    held->t.scores = held->scores.data();
}

std::pair<std::int64_t, double> visit(const HeldMatrix& X, const Examples& examples, std::int64_t begin,
                                      std::int64_t end, HeldJointTask& task, const Rule& rule, double bias_square,
                                      double clock) {
    const RuleFacts& facts = kernels().rules[rule.number];
    expect(facts.joint, "rule " + std::string(facts.name) + " does not learn several classes together");
    expect(task.cols == X.m.cols, "the weights and the columns of X differ in number");
    const bool whole = task.t.pocket != nullptr;
    Pass pass = examples.pass(X.m.rows, begin, end, whole, bias_square, clock);
    examples.expect_codes(pass, whole, task.t.n_classes);
    nb::gil_scoped_release free;
    AlignedWeights aligned(X.m, task.w.size());
    std::vector<double*> w;
    for (double* each : task.w) w.push_back(aligned.take(each));
    JointTask t = task.t;
    t.w = w.data();
    const std::int64_t bad = kernels().visit_joint(X.m, pass, rule, t);
    aligned.give_back();
    return {bad, pass.clock};
}

auto tally(const HeldMatrix& X, const Examples& examples, std::int64_t begin, std::int64_t end,
           const HeldJointTask& task, bool smooth) {
    expect(task.cols == X.m.cols, "the weights and the columns of X differ in number");
    const Pass pass = examples.pass(X.m.rows, begin, end, false, 0.0, 0.0);
    examples.expect_codes(pass, false, task.t.n_classes);
    Tally seen{};
    nb::gil_scoped_release free;
    const std::int64_t bad = kernels().tally_joint(X.m, pass, task.t, smooth, &seen);
    return as_tuple(bad, seen);
}

}  // namespace

void bind_joint(nb::module_& module) {
    nb::class_<HeldJointTask>(module, "JointTask", "Classes that are learned together, and the arrays that it changes.")
        .def("__init__", &make_task, "w"_a.noconvert(), "biases"_a.noconvert(), "real"_a.noconvert(),
             "count"_a.noconvert(), "average_correction"_a.noconvert().none(), "pocket"_a.noconvert().none(),
             "tie_is_mistake"_a);
    module.attr("JOINT_BIAS_ROWS") = int(bias_rows);
    module.def("visit_joint", &visit, "X"_a, "examples"_a, "begin"_a, "end"_a, "task"_a, "rule"_a, "bias_square"_a,
               "clock"_a, "Learn from examples begin..end; the row that was not finite (or -1) and the clock after.");
    module.def("tally_joint", &tally, "X"_a, "examples"_a, "begin"_a, "end"_a, "task"_a, "smooth"_a,
               "As tally, the losses being those at the margin over the worst rival.");
}

}  // namespace sx
