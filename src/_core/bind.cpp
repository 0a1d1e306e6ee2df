// The Python face of the core: every argument is checked here, so that no call can read or write out of bounds (as long
// as nobody changes a CSR matrix's arrays behind its back), and the GIL is released around every loop.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bind_examples.hpp"
#include "bind_matrix.hpp"
#include "order.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sx {

static std::atomic<const Kernels*> chosen{nullptr};

const Kernels& kernels() { return *chosen.load(std::memory_order_relaxed); }

}  // namespace sx

namespace {

using namespace sx;

// ---------------------------------------------------------------------------------------------- the tasks

struct HeldTask {
    BinaryTask t;
    std::int64_t cols;
    std::unique_ptr<Votes> votes;
    std::vector<double> direction, pairs;  // scratch for a full spread, and for a diagonal one of sparse rows
    nb::object arrays;
};

void make_task(HeldTask* held, Vector<double> w, Vector<double> real, Vector<std::int64_t> count,
               std::optional<Vector<double>> average_correction, std::optional<Vector<double>> pocket,
               std::int32_t positive, std::pair<bool, bool> tie_is_mistake, bool vote,
               std::optional<Numbers> spread) {
    const std::size_t n = w.shape(0);
    expect_slots(real, count);
    expect(!average_correction || average_correction->shape(0) == n, "average_correction and w differ in length");
    expect(!pocket || pocket->shape(0) == n, "pocket and w differ in length");
    expect_aligned(w, average_correction, pocket, spread);
    const bool full = spread && spread->ndim() == 2;
    expect(!spread || ((spread->ndim() == 1 || full) && spread->shape(0) == n + 1 && (!full || spread->shape(1) == n + 1)),
           "a spread has one number more than w, or that many squared");
    BinaryTask t{};
    t.w = w.data();
    t.spread = data_of(spread);
    t.average_correction = data_of(average_correction);
    t.pocket = data_of(pocket);
    t.real = real.data();
    t.count = count.data();
    t.positive = positive;
    t.tie_is_mistake[0] = tie_is_mistake.first;
    t.tie_is_mistake[1] = tie_is_mistake.second;
    auto votes = vote ? std::make_unique<Votes>() : nullptr;
    if (vote) t.votes = {votes.get(), &Votes::push};
    std::vector<double> direction(full ? n + 1 : 0);
    new (held) HeldTask{t, std::int64_t(n), std::move(votes), std::move(direction), {},
                        nb::make_tuple(w, real, count, average_correction, pocket, spread)};
    if (full) held->t.direction = held->direction.data();
}

nb::tuple take_votes(HeldTask& held) {
    Votes taken;
    if (held.votes) std::swap(taken, *held.votes);
    return taken.taken();
}

// ---------------------------------------------------------------------------------------------- the loops

// The number of the rule of this name, and what is known of it.
int rule_number(const std::string& name) {
    std::string known;
    for (int k = 0; k < kernels().n_rules; ++k) {
        if (name == kernels().rules[k].name) return k;
        known += (known.empty() ? "" : ", ") + std::string(kernels().rules[k].name);
    }
    refuse("a rule of the core is one of " + known + ": found '" + name + "'");
}

void make_rule(Rule* rule, const std::string& name, const std::vector<double>& parameters) {
    const int number = rule_number(name);
    const RuleFacts& facts = kernels().rules[number];
    expect(int(parameters.size()) == facts.n_parameters,
           "rule " + name + " has " + std::to_string(facts.n_parameters) + " parameters");
    Rule made{number, {}};
    std::copy(parameters.begin(), parameters.end(), made.parameters);
    const char* why = facts.refuse(made.parameters);
    if (why) refuse(why);
    new (rule) Rule(made);
}

// What the rules need: the names of their parameters and whether each can learn from folds, keeps a spread, and can learn
// several classes together.
nb::dict rules() {
    nb::dict all;
    for (int k = 0; k < kernels().n_rules; ++k) {
        const RuleFacts& facts = kernels().rules[k];
        nb::list parameters;
        for (int p = 0; p < facts.n_parameters; ++p) parameters.append(facts.parameters[p]);
        nb::dict about;
        about["parameters"] = nb::tuple(parameters);
        about["folds"] = facts.folds;
        about["spread"] = facts.spread;
        about["joint"] = facts.joint;
        all[facts.name] = about;
    }
    return all;
}

// Check that edges lead from begin to end, and return the length of the longest step.
std::int64_t longest_fold(const Vector<const std::int64_t>& edges, std::int64_t begin, std::int64_t end) {
    expect_aligned(edges);
    const std::size_t n = edges.shape(0);
    expect(n >= 1 && edges.data()[0] == begin && edges.data()[n - 1] == end, "edges must lead from begin to end");
    std::int64_t longest = 0;
    for (std::size_t k = 1; k < n; ++k) {
        expect(edges.data()[k] > edges.data()[k - 1], "edges must rise");
        longest = std::max(longest, edges.data()[k] - edges.data()[k - 1]);
    }
    return longest;
}

std::pair<std::int64_t, double> visit(const HeldMatrix& X, const Examples& examples, std::int64_t begin,
                                      std::int64_t end, std::vector<HeldTask*> tasks, const Rule& rule,
                                      double bias_square, double clock, std::int64_t fold_size,
                                      std::optional<Vector<const std::int64_t>> edges,
                                      std::optional<Vector<float>> lengths, int n_jobs) {
    expect(fold_size >= 1, "fold_size must be at least 1");
    const bool one_by_one = fold_size == 1 && !edges;
    const RuleFacts& facts = kernels().rules[rule.number];
    expect(one_by_one || facts.folds, "rule " + std::string(facts.name) + " learns from one example at a time");
    fold_size = std::min(fold_size, std::max<std::int64_t>(end - begin, 1));
    const std::int64_t longest = edges ? longest_fold(*edges, begin, end) : std::min(fold_size, end - begin);
    bool whole = false;
    std::vector<BinaryTask> plain;
    for (const HeldTask* task : tasks) {
        expect(task != nullptr && task->cols == X.m.cols, "a task's weights and the columns of X differ in number");
        expect(std::count(tasks.begin(), tasks.end(), task) == 1, "a task is given twice");
        expect(!facts.spread || task->t.spread, "rule " + std::string(facts.name) + " needs tasks with a spread");
        whole |= task->t.pocket != nullptr;
        plain.push_back(task->t);
    }
    Pass pass = examples.pass(X.m.rows, begin, end, whole, bias_square, clock);
    std::vector<float> shadows;
    if (lengths) {
        expect(std::int64_t(lengths->shape(0)) == X.m.rows, "lengths and rows differ in number");
        expect(X.m.layout == Layout::dense && X.m.value == Value::f32, "lengths are for dense float32 rows");
        expect_aligned(lengths);
    }
    // For one or two tasks the reading of the row takes all the time there is: quick predictions would not be quicker.
    if (lengths && one_by_one && plain.size() >= 3 && rule.number == 0) {
        pass.lengths = lengths->data();
        constexpr std::size_t line = 2 * kLine;  // floats
        const std::size_t room = (std::size_t(X.m.cols) + line - 1) / line * line;
        shadows.resize(plain.size() * room + line);
        for (std::size_t k = 0; k < plain.size(); ++k) plain[k].shadow = line_from(shadows.data()) + k * room;
    }
    std::mutex together;
    std::int64_t bad = all_good;
    double after = clock;
    nb::gil_scoped_release free;
    AlignedWeights aligned(X.m, plain.size());
    for (BinaryTask& t : plain) t.w = aligned.take(t.w);
    const bool pairs = facts.spread && worth_pairing(X.m, pass);
    for (std::size_t k = 0; pairs && k < plain.size(); ++k) {
        if (!plain[k].direction) pair_spread(plain[k], X.m.cols, tasks[k]->pairs);
    }
    in_parallel(std::int64_t(plain.size()), n_jobs, [&](std::int64_t first, std::int64_t last) {
        Pass mine = pass;
        const int n = int(last - first);
        std::int64_t row;
        if (one_by_one) {
            row = kernels().visit(X.m, mine, rule, plain.data() + first, n);
        } else {
            const std::int64_t width = X.m.layout == Layout::dense ? X.m.cols : longest;
            std::vector<double> sums(std::size_t(n) * width, 0.0), bias_sum(n);
            std::vector<std::int64_t> moving(n);
            const Folds folds{fold_size, edges ? edges->data() : nullptr};
            const Scratch scratch{sums.data(), longest, bias_sum.data(), moving.data()};
            row = kernels().fold(X.m, mine, rule, plain.data() + first, n, folds, scratch);
        }
        const std::lock_guard<std::mutex> alone(together);
        if (row != all_good && (bad == all_good || row < bad)) bad = row;
        if (row == all_good) after = mine.clock;
    });
    for (const BinaryTask& t : plain) {
        if (t.pairs) unpair_spread(t, X.m.cols);
    }
    aligned.give_back();
    return {bad, after};
}

auto tally(const HeldMatrix& X, const Examples& examples, std::int64_t begin, std::int64_t end,
           const HeldTask& task, bool smooth) {
    expect(task.cols == X.m.cols, "a task's weights and the columns of X differ in number");
    const Pass pass = examples.pass(X.m.rows, begin, end, false, 0.0, 0.0);
    Tally seen{};
    nb::gil_scoped_release free;
    const std::int64_t bad = kernels().tally(X.m, pass, task.t, smooth, &seen);
    return as_tuple(bad, seen);
}

auto decide(const HeldMatrix& X, Table<const double> w, Vector<const double> bias, int n_jobs) {
    const std::int64_t n_tasks = w.shape(0);
    expect(std::int64_t(w.shape(1)) == X.m.cols, "weights and columns of X differ in number");
    expect(std::int64_t(bias.shape(0)) == n_tasks, "weights and biases differ in number");
    expect_aligned(w, bias);
    expect(X.m.rows == 0 || n_tasks <= PTRDIFF_MAX / 8 / X.m.rows, "the activations do not fit in memory");
    std::vector<double> out(std::size_t(X.m.rows) * n_tasks);
    {
        nb::gil_scoped_release free;
        const bool aligned = X.m.layout == Layout::dense && X.m.rows > kLine;  // see AlignedWeights
        std::vector<double> store(aligned ? w.size() + kLine : 0);
        const double* weights = w.data();
        if (aligned) weights = std::copy_n(weights, w.size(), line_from(store.data())) - w.size();
        const int jobs = std::max(n_jobs, threads_for(double(stored_numbers(X.m)) * double(n_tasks)));
        in_parallel(X.m.rows, jobs, [&](std::int64_t first, std::int64_t last) {
            kernels().decide(X.m, first, last, weights, bias.data(), int(n_tasks), out.data());
        });
    }
    return to_numpy(std::move(out), {std::size_t(X.m.rows), std::size_t(n_tasks)});
}

auto square_norms(const HeldMatrix& X) {
    return made(X.m.rows, [&](double* out) { kernels().square_norms(X.m, out); });
}

std::int64_t first_bad_row(const HeldMatrix& X, std::int64_t begin, std::int64_t end) {
    expect(0 <= begin && begin <= end && end <= X.m.rows, "begin and end must lie within the rows");
    nb::gil_scoped_release free;
    return kernels().first_bad_row(X.m, begin, end);
}

void make_shuffler(Shuffler* held, const HeldMatrix& X, const Examples& examples, std::uint64_t seed,
                   std::uint64_t first) {
    expect(X.m.rows < (std::int64_t(1) << 32), "an order can hold at most 2^32 - 1 rows");
    const Pass pass = examples.pass(X.m.rows, 0, 0, false, 0.0, 0.0);
    nb::gil_scoped_release free;
    new (held) Shuffler(X.m, pass.codes, pass.weights, seed, first);
}

auto shuffled(Shuffler& shuffler, std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::uint32_t> order;
    {
        nb::gil_scoped_release free;
        order = shuffler.epoch(seed, epoch);
    }
    return to_numpy(std::move(order));
}

template <std::size_t N>
nb::tuple names_of(const char* const (&names)[N]) {
    nb::list all;
    for (const char* name : names) all.append(name);
    return nb::tuple(all);
}

std::vector<std::string> build_names() {
    std::vector<std::string> names;
    for (const Kernels* build : usable_builds()) names.push_back(build->name);
    return names;
}

void use_build(const std::string& name) {
    const Kernels* build = find_build(name.c_str());
    if (build == nullptr) {
        std::string known;
        for (const std::string& each : build_names()) known += (known.empty() ? "" : ", ") + each;
        refuse("no build '" + name + "' runs on this machine: choose one of " + known);
    }
    chosen = build;
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "The compiled loops of separatrix.";
    const auto usable = usable_builds();
    if (usable.empty()) throw std::runtime_error("separatrix needs a processor with SSE4.2 (x86-64-v2)");
    chosen = usable.back();

    module.def("builds", &build_names, "The builds of the kernels that run on this machine, oldest first.");
    module.def("build", [] { return std::string(kernels().name); }, "The build in use.");
    module.def("use_build", &use_build, "name"_a, "Use this build from now on.");
    module.def("leak_warnings", &nb::set_leak_warnings, "on"_a,
               "Say at exit, or not, which objects of this module are still alive.");

    nb::class_<HeldMatrix>(module, "Matrix", "Checked rows that the loops can read.")
        .def_ro("canonical", &HeldMatrix::canonical)
        .def_prop_ro("shape", [](const HeldMatrix& X) { return std::make_pair(X.m.rows, X.m.cols); });
    module.def("dense", &dense<float>, "X"_a.noconvert());
    module.def("dense", &dense<double>, "X"_a.noconvert());
    const auto def_csr = [&module](auto function) {
        module.def("csr", function, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "cols"_a);
    };
    def_csr(&csr<float, std::int32_t>);
    def_csr(&csr<float, std::int64_t>);
    def_csr(&csr<double, std::int32_t>);
    def_csr(&csr<double, std::int64_t>);

    module.def("centred", &centred, "X"_a, "centre"_a.noconvert(),
               "The same rows less a centre, for the kernels of optimum problems; X itself is not changed.");

    nb::class_<HeldTask>(module, "BinaryTask", "One binary task and the arrays that learning it changes.")
        .def("__init__", &make_task, "w"_a.noconvert(), "real"_a.noconvert(), "count"_a.noconvert(),
             "average_correction"_a.noconvert().none(), "pocket"_a.noconvert().none(), "positive"_a,
             "tie_is_mistake"_a, "vote"_a, "spread"_a.noconvert().none() = nb::none())
        .def("take_votes", &take_votes, "The updates recorded since the last call: rows, tau * y, times.");

    nb::class_<Examples>(module, "Examples", "Labels, weights and order of the rows.")
        .def(nb::init<Vector<const std::int32_t>, std::optional<Vector<const double>>,
                      std::optional<Vector<const std::uint32_t>>, std::optional<Vector<const double>>>(),
             "codes"_a.noconvert(), "weights"_a.noconvert().none(), "order"_a.noconvert().none(),
             "shares"_a.noconvert().none() = nb::none());

    nb::class_<Rule>(module, "Rule", "A rule of the core: its name, and its parameters in the order of RULES.")
        .def("__init__", &make_rule, "name"_a, "parameters"_a);
    module.attr("RULES") = rules();
    module.attr("COPIES") = kCopies;
    module.attr("REAL_SLOTS") = names_of(kRealNames);
    module.attr("BUDGET_REAL_SLOTS") = names_of(kBudgetRealNames);
    module.attr("BUDGET_COUNT_SLOTS") = names_of(kBudgetCountNames);
    module.attr("FORGETS") = names_of(kForgetNames);
    module.attr("COUNT_SLOTS") = names_of(kCountNames);

    module.def("visit", &visit, "X"_a, "examples"_a, "begin"_a, "end"_a, "tasks"_a, "rule"_a, "bias_square"_a,
               "clock"_a, "fold_size"_a, "edges"_a.noconvert().none(), "lengths"_a.noconvert().none(), "n_jobs"_a,
               "Learn from examples begin..end; the row that was not finite (or -1) and the clock after.");
    module.def("tally", &tally, "X"_a, "examples"_a, "begin"_a, "end"_a, "task"_a, "smooth"_a,
               "The row that was not finite (or -1), and the sums of the losses; those that are not 0 on the right "
               "side either are computed only with `smooth`.");
    module.def("decide", &decide, "X"_a, "w"_a.noconvert(), "bias"_a.noconvert(), "n_jobs"_a,
               "Activations of every row for every weight vector.");
    module.def("square_norms", &square_norms, "X"_a);
    module.def("first_bad_row", &first_bad_row, "X"_a, "begin"_a, "end"_a,
               "The first row that holds a NaN or an infinity, or -1.");

    nb::class_<Shuffler>(module, "Shuffler", "Draws the order of each epoch from what the examples hold.")
        .def("__init__", &make_shuffler, "X"_a, "examples"_a, "seed"_a, "first"_a)
        .def("epoch", &shuffled, "seed"_a, "epoch"_a);

    bind_margin(module);
    bind_path(module);
    bind_multinomial(module);
    bind_descent(module);
    bind_newton(module);
    bind_dual(module);
    bind_joint(module);
    bind_csv(module);
    bind_exact(module);
    bind_libsvm(module);
    bind_sums(module);
}
