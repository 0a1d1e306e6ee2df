// Print `name hash` for every kernel over fixed data and settings: what scripts/kernel_bits prints through Python, for
// platforms that have a C++ compiler and no Python. The names, data, settings and hashes are those of that script, line
// by line; tests/kernel_bits.txt holds them. scripts/platforms builds this file together with the kernels.
//
// No C++ library is needed, as the kernels need none: nothing here but malloc and printf.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.hpp"
#include "dual.hpp"
#include "exact.hpp"
#include "margin.hpp"
#include "multinomial.hpp"

namespace sx {
namespace SX_BUILD {
extern const Kernels kernels;
}
}  // namespace sx

namespace {

using namespace sx;
const Kernels& core = sx::SX_BUILD::kernels;

constexpr int64_t kRows = 150, kCols = 37, kClasses = 4, kEpochs = 3, kChosen = 45, kPadded = 48;

// ------------------------------------------------------------------------------------------------ numbers and hashes

uint64_t mix(uint64_t v) {
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

int64_t draw(int64_t low, int64_t high, int64_t place, uint64_t seed) {
    const uint64_t z = mix(uint64_t(place) * 0x9e3779b97f4a7c15u + seed * 7919u);
    return low + int64_t(z % uint64_t(high - low + 1));
}

template <class T>
T* zeros(int64_t n) {
    return static_cast<T*>(calloc(size_t(n) + 1, sizeof(T)));
}

// Numbers between -1 and 1 of 40 bits: what is done with them rounds.
double* drawn(int64_t n, uint64_t seed) {
    double* out = zeros<double>(n);
    for (int64_t i = 0; i < n; ++i) out[i] = double(draw(-(int64_t(1) << 40), int64_t(1) << 40, i, seed)) * 0x1p-40;
    return out;
}

class Hash {
   public:
    void word(uint64_t w) { sum_ += mix(w ^ mix(place_++)); }
    void number(double v) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        word(bits);
    }
    void numbers(const double* v, int64_t n) {
        for (int64_t i = 0; i < n; ++i) number(v[i]);
    }
    void print(const char* a, const char* b = "", const char* c = "", const char* d = "") {
        printf("%s%s%s%s%s%s%s %016llx\n", a, *b ? "_" : "", b, *c ? "_" : "", c, *d ? "_" : "", d,
               static_cast<unsigned long long>(sum_));
    }

   private:
    uint64_t sum_ = 0, place_ = 0;
};

// ------------------------------------------------------------------------------------------------ data

double* values;  // kRows x kCols
int32_t* codes;
double* weights;
uint32_t* order;
const char* const kLayouts[] = {"dense-float64", "dense-float32", "csr-float64-int32", "csr-float32-int64"};

void make_data() {
    values = zeros<double>(kRows * kCols);
    for (int64_t i = 0; i < kRows * kCols; ++i) {
        const double number = double(draw(-(1 << 23), 1 << 23, i, 1)) / double(int64_t(1) << draw(21, 28, i, 8));
        values[i] = draw(0, 9, i, 2) < 6 ? number : 0.0;  // single precision holds it
    }
    codes = zeros<int32_t>(kRows);
    weights = zeros<double>(kRows);
    order = zeros<uint32_t>(kRows);
    for (int64_t i = 0; i < kRows; ++i) {
        double best = -HUGE_VAL;
        for (int64_t k = 0; k < kClasses; ++k) {
            double score = 0.0;  // exact: few bits
            for (int64_t j = 0; j < kCols; ++j) score += values[i * kCols + j] * double(draw(-9, 9, j * kClasses + k, 3));
            if (score > best) {
                best = score;
                codes[i] = int32_t(k);
            }
        }
        if (draw(0, 99, i, 4) < 10) codes[i] = int32_t(draw(0, kClasses - 1, i, 5));
        weights[i] = double(draw(0, 7, i, 6)) / 2.0;
        order[i] = uint32_t(i);
    }
    for (int64_t k = kRows - 1; k > 0; --k) {
        const int64_t other = draw(0, k, k, 7);
        const uint32_t kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
}

template <class T, class I>
Matrix csr(Value value, Index index) {
    T* data = zeros<T>(kRows * kCols);
    I* indices = zeros<I>(kRows * kCols);
    I* indptr = zeros<I>(kRows + 1);
    int64_t n = 0;
    for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kCols; ++j) {
            if (values[i * kCols + j] == 0.0) continue;
            data[n] = T(values[i * kCols + j]);
            indices[n++] = I(j);
        }
        indptr[i + 1] = I(n);
    }
    return {Layout::csr, value, index, data, indices, indptr, kRows, kCols, 0};
}

Matrix layout(int which) {
    if (which == 2) return csr<double, int32_t>(Value::f64, Index::i32);
    if (which == 3) return csr<float, int64_t>(Value::f32, Index::i64);
    if (which == 0) return {Layout::dense, Value::f64, Index::i32, values, nullptr, nullptr, kRows, kCols, kCols};
    float* narrow = zeros<float>(kRows * kCols);
    for (int64_t i = 0; i < kRows * kCols; ++i) narrow[i] = float(values[i]);
    return {Layout::dense, Value::f32, Index::i32, narrow, nullptr, nullptr, kRows, kCols, kCols};
}

// ------------------------------------------------------------------------------------------------ online rules

struct NamedRule {
    const char* name;
    const char* kind;
    double parameters[kMostParameters];
    bool full = false;  // of a spread
};
// Where 0.5 for every parameter would not do, or is not enough; all other rules of the core come by themselves.
const NamedRule kSettings[] = {
    {"perceptron", "threshold", {0.3, 0.0}},  {"margin", "threshold", {0.7, 1.5}},
    {"squared", "squared", {0.1, 0.05, 1.0}}, {"log", "log", {0.4, 0.05, 0.0}},
    {"hinge", "hinge", {0.2, 0.01, 0.0}},     {"pegasos", "pegasos", {0.05, 4.0, 1.0}},
    {"pa1", "pa1", {0.1}},                    {"pa2", "pa2", {0.1}},
    {"arow", "arow", {0.5}},                  {"arow-full", "arow", {0.5}, true},
    {"scw1", "scw1", {0.5, 1.25}},            {"scw2-full", "scw2", {0.5, 1.25}, true},
    {"romma", "romma", {0.0}},                {"romma-aggressive", "romma", {1.0}},
    {"alma", "alma", {0.75}},                 {"sop", "sop", {0.5}},
    {"sop-full", "sop", {0.5}, true},
};

// Call work(rule, number) for every rule of the core in each of its settings.
template <class Work>
void each_rule(Work work) {
    for (int k = 0; k < core.n_rules; ++k) {
        bool listed = false;
        for (const NamedRule& setting : kSettings) {
            if (strcmp(core.rules[k].name, setting.kind) != 0) continue;
            listed = true;
            work(setting, k);
        }
        if (!listed) work(NamedRule{core.rules[k].name, core.rules[k].name, {0.5, 0.5, 0.5, 0.5}}, k);
    }
}

struct Votes {
    double row[kRows * kEpochs * 4], tau[kRows * kEpochs * 4], time[kRows * kEpochs * 4];
    int64_t n;
    static void push(void* owner, int64_t row, double tau, double time) {
        Votes& v = *static_cast<Votes*>(owner);
        if (v.n == kRows * kEpochs * 4) abort();
        v.row[v.n] = double(row);
        v.tau[v.n] = tau;
        v.time[v.n++] = time;
    }
};

BinaryTask new_task(int64_t positive, bool steps) {
    BinaryTask t{};
    t.w = zeros<double>(kCols);
    t.average_correction = zeros<double>(kCols);
    t.pocket = steps ? zeros<double>(kCols) : nullptr;
    t.real = zeros<double>(real_slots);
    t.real[scale] = t.real[rate] = t.real[epoch_loss_factor] = 1.0;
    if (steps) t.real[pocket_loss] = HUGE_VAL;
    t.count = zeros<int64_t>(count_slots);
    if (steps) t.votes = {zeros<Votes>(1), &Votes::push};
    t.positive = int32_t(positive);
    t.tie_is_mistake[0] = t.tie_is_mistake[1] = true;
    return t;
}

// Three epochs of a rule, one example at a time (size 1) or in folds; `quick` looks in single precision first.
void learn(const char* how, const NamedRule& named, int number, int which, bool weighted, int64_t size, bool quick) {
    const Matrix X = layout(which);
    Rule rule{number, {}};
    memcpy(rule.parameters, named.parameters, sizeof rule.parameters);
    const RuleFacts& facts = core.rules[rule.number];
    const bool steps = strcmp(facts.name, "threshold") == 0;
    const int64_t spread = !facts.spread ? 0 : named.full ? (kCols + 1) * (kCols + 1) : kCols + 1;
    BinaryTask tasks[kClasses];
    for (int64_t k = 0; k < kClasses; ++k) {
        tasks[k] = new_task(k, steps);
        if (quick) tasks[k].shadow = zeros<float>(kCols);
        if (!spread) continue;
        tasks[k].spread = zeros<double>(spread);
        for (int64_t j = 0; j <= kCols; ++j) tasks[k].spread[named.full ? j * (kCols + 2) : j] = 1.0;
        if (named.full) tasks[k].direction = zeros<double>(kCols + 1);
    }
    float* lengths = quick ? zeros<float>(kRows) : nullptr;
    const int64_t width = X.layout == Layout::dense ? kCols : size;
    const Scratch scratch{zeros<double>(kClasses * width), size, zeros<double>(kClasses), zeros<int64_t>(kClasses)};
    Hash hash;
    double clock = 0.0;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        Pass pass{codes, weighted ? weights : nullptr, weighted ? order : nullptr, nullptr, 0, kRows, kRows,
                  weighted ? 0.0 : 1.0, clock, lengths};
        const int64_t bad = size == 1 ? core.visit(X, pass, rule, tasks, kClasses)
                                      : core.fold(X, pass, rule, tasks, kClasses, {size, nullptr}, scratch);
        clock = pass.clock;
        hash.word(uint64_t(bad));
        hash.number(clock);
    }
    for (const BinaryTask& t : tasks) {
        hash.numbers(t.w, kCols);
        hash.numbers(t.average_correction, kCols);
        hash.numbers(t.real, real_slots);
        for (int c = 0; c < count_slots; ++c) hash.word(uint64_t(t.count[c]));
        if (spread) hash.numbers(t.spread, spread);
        if (!steps) continue;
        hash.numbers(t.pocket, kCols);
        const Votes& votes = *static_cast<Votes*>(t.votes.owner);
        hash.numbers(votes.row, votes.n);
        hash.numbers(votes.tau, votes.n);
        hash.numbers(votes.time, votes.n);
    }
    hash.print(how, named.name, kLayouts[which], weighted ? "weights" : "");
}

// ------------------------------------------------------------------------------------------------ what looks at rows

void looks(int which) {
    const Matrix X = layout(which);
    const double* w = drawn(kClasses * kCols, 11);
    const double* bias = drawn(kClasses, 12);
    Hash decisions, norms, losses, proofs, sums, sides, keys;
    double* out = zeros<double>(kRows * kClasses);
    core.decide(X, 0, kRows, w, bias, kClasses, out);
    decisions.numbers(out, kRows * kClasses);
    decisions.print("decide", kLayouts[which]);
    core.square_norms(X, out);
    norms.numbers(out, kRows);
    norms.print("square-norms", kLayouts[which]);

    BinaryTask task = new_task(1, false);
    for (int64_t j = 0; j < kCols; ++j) task.w[j] = w[j];
    task.real[sx::bias] = bias[0];
    for (int smooth = 0; smooth < 2; ++smooth) {
        Tally t{};
        const Pass pass{codes, weights, order, nullptr, 0, kRows, kRows, 0.0, 0.0, nullptr};
        losses.word(uint64_t(core.tally(X, pass, task, smooth == 1, &t)));
        const double six[] = {t.zero_one, t.perceptron, t.squared, t.log, t.hinge, t.squared_hinge};
        losses.numbers(six, 6);
    }
    losses.print("tally", kLayouts[which]);

    double *scores = zeros<double>(kRows), *errors = zeros<double>(kRows), *squares = zeros<double>(kRows);
    core.exact->enclosed_scores(X, 0, kRows, w, bias[0], scores, errors, squares);
    proofs.numbers(scores, kRows);
    proofs.numbers(errors, kRows);
    proofs.numbers(squares, kRows);
    proofs.print("enclosed-scores", kLayouts[which]);
    const double* v = drawn(kRows, 13);
    double *total = zeros<double>(kCols), *doubt = zeros<double>(kCols);
    core.exact->enclosed_sums(X, v, zeros<double>(kCols), total, doubt, zeros<double>(kCols));
    sums.numbers(total, kCols);
    sums.numbers(doubt, kCols);
    sums.print("enclosed-sums", kLayouts[which]);

    // Two words that cancel and a small one: only exact sums tell the sign.
    double* words = drawn(3 * (kCols + 1), 14);
    for (int64_t j = 0; j <= kCols; ++j) {
        words[kCols + 1 + j] = -words[j];
        words[2 * (kCols + 1) + j] *= 0x1p-80;
    }
    int64_t* rows = zeros<int64_t>(kRows);
    for (int64_t i = 0; i < kRows; ++i) rows[i] = i;
    int8_t* side = zeros<int8_t>(kRows);
    if (core.exact->exact_sides(X, rows, kRows, words, 3, side) != all_good) abort();
    for (int64_t i = 0; i < kRows; ++i) sides.word(uint64_t(int64_t(side[i])));
    sides.print("exact-sides", kLayouts[which]);

    const int64_t room = key_width(kCols);
    uint64_t *columns = zeros<uint64_t>(2 * room), *both = zeros<uint64_t>(2 * kRows);
    for (int64_t j = 0; j < kCols; ++j) {
        columns[j] = mix(mix(5) + 2 * uint64_t(j));
        columns[room + j] = mix(mix(5) + 2 * uint64_t(j) + 1);
    }
    core.exact->hash_rows(X, 0, kRows, columns, both);
    for (int64_t i = 0; i < kRows; ++i) keys.word(mix(mix(both[2 * i]) + both[2 * i + 1]));
    keys.print("row-keys", kLayouts[which]);
}

// ------------------------------------------------------------------------------------------------ the linear SVM

void margins(int which) {
    const Matrix X = layout(which);
    double* squares = zeros<double>(kRows);
    core.square_norms(X, squares);
    for (int squared = 0; squared < 2; ++squared) {
        Point* points = zeros<Point>(kRows);
        for (int64_t i = 0; i < kRows; ++i) {
            points[i].square = squares[i];
            points[i].cost = 0.3;
            points[i].slack = 1.0f;
            points[i].sign = codes[i] == 1 ? 1 : -1;
        }
        double *w = zeros<double>(kCols), *real = zeros<double>(ascent_slots);
        real[drift] = HUGE_VAL;
        Hash hash;
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
            hash.word(uint64_t(core.margin->ascend(X, {points, order, 0, kRows, w, real, 1.0, 1.3, squared == 1})));
        }
        hash.numbers(w, kCols);
        hash.numbers(real, ascent_slots);
        for (int64_t i = 0; i < kRows; ++i) hash.number(points[i].alpha);
        const Standing seen = core.margin->standing(points, kRows, squared == 1);
        hash.number(seen.loss);
        hash.number(seen.gain);
        hash.word(uint64_t(seen.at_zero));
        hash.word(uint64_t(seen.at_upper));
        hash.print("ascend", squared ? "squared" : "hinge", kLayouts[which]);
    }
    const double* v = drawn(kRows, 13);
    double* sum = zeros<double>(kCols);
    core.margin->combine(X, v, sum, 0, kCols);
    Hash combined, table, factor;
    combined.numbers(sum, kCols);
    combined.print("combine", kLayouts[which]);
    const int64_t d = kCols + 1;
    double *t = zeros<double>(kRows), *gram = zeros<double>(d * d);
    for (int64_t i = 0; i < kRows; ++i) t[i] = fabs(v[i]);
    core.margin->gram(X, t, 0, kRows, gram, zeros<double>(gram_room(kCols)), 0, kCols + 1);
    table.numbers(gram, d * d);
    table.print("gram", kLayouts[which]);
    core.margin->factor(gram, d, 0, d, 1e-9, 1e64);
    factor.numbers(gram, d * d);
    factor.number(core.margin->dot(gram, gram + d, d));
    factor.print("factor", kLayouts[which]);
}

// ------------------------------------------------------------------------------------------------ several classes

constexpr int64_t kTogether = 11;  // classes

struct ClassTotals {
    double *pulls, *sums;

    // Add them to a hash: the products with the rows, a line for each class, and the sums.
    void put(Hash& hash, bool dense) const {
        const int64_t along = whole_lanes(kCols), across = whole_lanes(kTogether);
        for (int64_t c = 0; c < kTogether; ++c) {
            for (int64_t j = 0; j < kCols; ++j) hash.number(dense ? pulls[c * along + j] : pulls[j * across + c]);
        }
        hash.numbers(sums, kTogether);
    }
};

ClassTotals class_totals(bool dense) {
    const int64_t size = dense ? kTogether * whole_lanes(kCols) : kCols * whole_lanes(kTogether);
    return {zeros<double>(size), zeros<double>(kTogether)};
}

// Scores of these weights times a factor for each class.
ClassScores class_scores(bool dense, const double* weights, const double* factors, const double* shift) {
    double *lines = zeros<double>(kTogether * kCols), *turned = zeros<double>(kCols * whole_lanes(kTogether));
    for (int64_t c = 0; c < kTogether; ++c) {
        for (int64_t j = 0; j < kCols; ++j) {
            const double w = factors[c] * weights[c * kCols + j];
            lines[c * kCols + j] = turned[j * whole_lanes(kTogether) + c] = w;
        }
    }
    return {kTogether, dense ? lines : nullptr, dense ? nullptr : turned, shift};
}

void classes(int which) {
    const Matrix X = layout(which);
    const bool dense = X.layout == Layout::dense;
    const MultinomialKernels& passes = *core.multinomial;
    const double *weights = drawn(kTogether * kCols, 20), *shift = drawn(kTogether, 21), *size = drawn(kRows, 19);
    int64_t* own = zeros<int64_t>(kRows);
    double *costs = zeros<double>(kRows), *room = zeros<double>(class_room(X, kTogether));
    double *ones = zeros<double>(kTogether), *eighths = zeros<double>(kTogether);
    for (int64_t i = 0; i < kRows; ++i) {
        own[i] = i % kTogether;
        costs[i] = fabs(size[i]) + 0.5;
    }
    for (int64_t c = 0; c < kTogether; ++c) {
        ones[c] = 1.0;
        eighths[c] = 0.125;
    }
    const ClassedRows rows{0, kRows, kRows, own, costs};
    double *p = zeros<double>(kTogether * kRows), *wrong = zeros<double>(kRows);
    double *moved = zeros<double>(kTogether * kRows), *less = zeros<double>(kRows);
    Hash losses, bends, shifted;

    ClassTotals totals = class_totals(dense);
    const ClassScores scores = class_scores(dense, weights, ones, shift);
    losses.number(passes.losses(X, scores, rows, p, wrong, {totals.sums, totals.pulls}, room));
    totals.put(losses, dense);
    losses.numbers(p, kTogether * kRows);
    losses.numbers(wrong, kRows);
    losses.print("class-losses", kLayouts[which]);

    totals = class_totals(dense);
    passes.bent(X, class_scores(dense, weights, shift, shift), rows, p, {totals.sums, totals.pulls}, room);
    totals.put(bends, dense);
    bends.print("class-bends", kLayouts[which]);

    for (int64_t k = 0; k < kTogether * kRows; ++k) moved[k] = p[k];
    for (int64_t i = 0; i < kRows; ++i) less[i] = wrong[i];
    passes.shifted(X, class_scores(dense, weights, eighths, shift), rows, moved, less, room);
    totals = class_totals(dense);
    passes.pulled(X, scores, rows, moved, less, {totals.sums, totals.pulls}, room);
    shifted.numbers(moved, kTogether * kRows);
    shifted.numbers(less, kRows);
    totals.put(shifted, dense);
    shifted.number(passes.apart(kTogether, rows, moved, less, p, wrong));
    shifted.print("class-shift", kLayouts[which]);
}

// ------------------------------------------------------------------------------------------------ kernel rows

template <class T>
void kernel_rows(const T* store, const char* name, const RowKernels<T>& kernels) {
    int64_t* slots = zeros<int64_t>(kRows);
    for (int64_t i = 0; i < kRows; ++i) slots[i] = i;
    double* sums = zeros<double>(kRows);
    kernels.add_rows({store, kRows, slots, kRows}, drawn(kRows, 13), 0, kRows, sums);
    Hash added, solved;
    added.numbers(sums, kRows);
    added.print("add-rows", name);
    T* K = zeros<T>(kPadded * kPadded);
    double* part[7];
    for (double*& each : part) each = zeros<double>(kPadded);
    for (int64_t a = 0; a < kChosen; ++a) {
        for (int64_t b = 0; b < kChosen; ++b) K[a * kPadded + b] = store[a * kRows + b];
        part[0][a] = double(store[a * kRows + a]);
        part[1][a] = codes[a] == 1 ? 1.0 : -1.0;
        part[2][a] = 0.7;
        part[4][a] = -part[1][a];
    }
    const int64_t steps =
        kernels.smo({K, kChosen, kPadded, part[0], part[1], part[2], part[3], part[4], part[5], part[6]}, 1e-6, 500);
    solved.word(uint64_t(steps));
    solved.numbers(part[3], kChosen);
    solved.print("smo", name);
}

void duals() {
    double *linear = zeros<double>(kRows * kRows), *wide = zeros<double>(kRows * kRows), *squares = zeros<double>(kRows);
    float *products = zeros<float>(kRows * kRows), *gaussian = zeros<float>(kRows * kRows);
    int64_t* slots = zeros<int64_t>(kRows);
    for (int64_t i = 0; i < kRows; ++i) {
        slots[i] = i;
        for (int64_t k = 0; k < kRows; ++k) {
            int64_t dot = 0;
            for (int64_t j = 0; j < kCols; ++j) dot += draw(-256, 256, i * kCols + j, 9) * draw(-256, 256, k * kCols + j, 9);
            linear[i * kRows + k] = double(dot) / 65536.0;
            products[i * kRows + k] = float(linear[i * kRows + k]);
        }
        squares[i] = linear[i * kRows + i];
    }
    core.dual->exponentials(products, kRows, kRows, squares, squares, 0.03, gaussian, kRows, slots, 0, kRows);
    Hash exponentials;
    for (int64_t i = 0; i < kRows * kRows; ++i) exponentials.number(wide[i] = double(gaussian[i]));
    exponentials.print("exponentials");
    kernel_rows<float>(gaussian, "float32", core.dual->f32);
    kernel_rows<double>(linear, "float64", core.dual->f64);

    const BinaryTask t = new_task(1, true);
    BinaryTask task = t;
    task.w = zeros<double>(kRows);
    task.coef = zeros<double>(kRows);
    task.average_correction = zeros<double>(kRows);
    task.pocket = zeros<double>(kRows);
    double clock = 0.0;
    Hash hash;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        int64_t missing;
        Pass pass{codes, weights, order, nullptr, 0, kRows, kRows, 1.0, clock, nullptr};
        if (core.visit_dual({wide, kRows, kRows, slots, &missing}, pass, {0, {0.3, 0.1}}, task, nullptr) != all_good) abort();
        clock = pass.clock;
    }
    hash.number(clock);
    hash.numbers(task.coef, kRows);
    hash.numbers(task.average_correction, kRows);
    hash.numbers(task.pocket, kRows);
    hash.numbers(task.w, kRows);
    hash.numbers(task.real, real_slots);
    for (int c = 0; c < count_slots; ++c) hash.word(uint64_t(task.count[c]));
    hash.print("dual-visit");
}

}  // namespace

int main() {
    make_data();
    for (int which = 0; which < 4; ++which) {
        each_rule([&](const NamedRule& rule, int number) {
            for (int weighted = 0; weighted < 2; ++weighted) {
                learn("visit", rule, number, which, weighted == 1, 1, false);
                if (core.rules[number].folds) {
                    learn("fold", rule, number, which, weighted == 1, 8, false);
                    learn("batch", rule, number, which, weighted == 1, kRows, false);
                }
                if (which == 1 && number == 0) learn("quick", rule, number, which, weighted == 1, 1, true);
            }
        });
        looks(which);
        margins(which);
        classes(which);
    }
    duals();
    return 0;
}
