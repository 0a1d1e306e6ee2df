// The core for WebAssembly: runs that present one example at a time, on dense rows. The studio is made of it.
//
// A run keeps everything that a step changes in one block of doubles: a copy of that block is a snapshot, and a run put
// back to a snapshot goes on with the same bits. Nothing is computed here that the kernels do not compute; what is here
// is what bind*.cpp and loop/ do around them. scripts/wasm builds this file; no other build has it.
//
// Arguments are checked by the caller (studio/web/core.mjs), which is the only one.
#include "bind_wasm.hpp"

#include <math.h>
#include <mutex>
#include <new>
#include <stdlib.h>
#include <string.h>

#if defined(_LIBCPP_HAS_NO_THREADS)  // order.hpp locks what several threads may draw from; here there is one
namespace std {
struct mutex {};
template <class M>
struct lock_guard {
    explicit lock_guard(M&) {}
};
}  // namespace std
#endif

#include "ascent_order.hpp"
#include "dual.hpp"
#include "margin.hpp"
#include "order.hpp"

// No C++ library is linked: this is all that its headers ask of one.
void* operator new(size_t size) {
    void* room = malloc(size ? size : 1);
    if (!room) __builtin_trap();
    return room;
}
const std::nothrow_t std::nothrow{};
void* operator new(size_t size, const std::nothrow_t&) noexcept { return malloc(size ? size : 1); }
void operator delete(void* room) noexcept { free(room); }
void operator delete(void* room, size_t) noexcept { free(room); }
void* operator new[](size_t size) { return operator new(size); }
void operator delete[](void* room) noexcept { free(room); }

namespace sx {
namespace wasm {

#include "rows.hpp"
#include "losses.hpp"
#include "rules.hpp"

double* doubles(int64_t n) {
    void* room = calloc(size_t(n) + 1, sizeof(double));
    if (!room) __builtin_trap();
    return static_cast<double*>(room);
}

// ------------------------------------------------------------------------------------------------ settings

// kind: 0 a rule of rules.hpp, 1 the linear SVM by dual coordinate ascent, 2 the perceptron in dual form, 3 the kernel
// SVM by SMO. batch 0 is all examples. readout: 0 last, 1 averaged, 2 pocket. spread: 1 diagonal, 2 full. kernel: 0
// linear, 1 rbf, 2 poly. C of an SVM is infinity for the hard margin. A bias of 0 is none.
#define SX_SETTINGS(slot)                                                                                      \
    slot(kind) slot(rule) slot(p0) slot(p1) slot(p2) slot(p3) slot(bias) slot(tie_negative) slot(tie_positive) \
    slot(shuffled) slot(seed) slot(batch) slot(readout) slot(spread) slot(C) slot(squared) slot(kernel)        \
    slot(gamma) slot(degree) slot(coef0) slot(start_bias) slot(start_first) slot(start_second)
#define SX_SETTING_NUMBER(name) set_##name,
#define SX_SETTING_NAME(name) #name " "
enum Setting : int { SX_SETTINGS(SX_SETTING_NUMBER) setting_slots };
enum Kind : int { online, linear_svm, kernel_perceptron, kernel_svm };

constexpr int kEpoch = 0, kClock = 1, kPastMistakes = 2, kHead = 3;  // the state begins with these
constexpr double kRelax = 1.3;                                        // as svm/ascent.py
constexpr double kRelaxFrom = 4.0;
constexpr double kSmoTolerance = 1e-9;

struct Run {
    double set[setting_slots];
    int64_t n, d;
    double* x;
    int32_t* codes;
    uint32_t* order;  // of the epoch at hand
    int64_t entries;
    double* state;
    int64_t state_size;
    BinaryTask task;
    Rule rule;
    double unit, bias_square;
    Shuffler* shuffler;
    double *sums, *bias_sum;  // scratch of a fold
    int64_t* moving;
    Point* points;            // linear SVM
    double* ascent;
    double *K, *diagonal, *signs, *costs, *up, *low, *alpha, *F;  // kernels; all padded as SMO asks
    int64_t padded, missing;
    int64_t* slots;

    int kind() const { return int(set[set_kind]); }
    bool kernelled() const { return kind() == kernel_perceptron || kind() == kernel_svm; }
    Matrix rows() const { return dense(x, n, d); }
};

double kernel_value(const Run& r, const double* a, const double* b) {
    double product = 0.0, left = 0.0, right = 0.0;
    for (int64_t j = 0; j < r.d; ++j) {
        product += a[j] * b[j];
        left += a[j] * a[j];
        right += b[j] * b[j];
    }
    if (r.set[set_kernel] == 0.0) return product;
    if (r.set[set_kernel] == 1.0) {
        const double apart = left + right - 2.0 * product;
        return exp_of_negative(-r.set[set_gamma] * (apart > 0.0 ? apart : 0.0));
    }
    const double base = r.set[set_gamma] * product + r.set[set_coef0];
    double power = 1.0;
    for (int k = 0; k < int(r.set[set_degree]); ++k) power *= base;
    return power;
}

// ------------------------------------------------------------------------------------------------ the parts of a state

int64_t up_to_eight(int64_t n) { return (n + kSmoWidth - 1) / kSmoWidth * kSmoWidth; }

// Point the parts into the state, or, with no state yet, only measure it.
void lay_out(Run& r) {
    int64_t at = 0;
    auto take = [&](int64_t size) {
        double* part = r.state ? r.state + at : nullptr;
        at += size;
        return part;
    };
    take(kHead);
    BinaryTask& t = r.task;
    t.real = take(real_slots);
    t.count = reinterpret_cast<int64_t*>(take(count_slots));
    const int64_t width = r.kind() == kernel_perceptron ? r.n : r.d;
    if (r.kind() <= kernel_perceptron) t.w = take(width);
    if (r.kind() == online || r.kind() == kernel_perceptron) {
        if (r.kind() == kernel_perceptron) t.coef = take(r.n);
        if (r.set[set_readout] == 1.0) t.average_correction = take(width);
        if (r.set[set_readout] == 2.0) t.pocket = take(width);
        if (r.set[set_spread] == 1.0) t.spread = take(r.d + 1);
        if (r.set[set_spread] == 2.0) t.spread = take((r.d + 1) * (r.d + 1));
    } else if (r.kind() == linear_svm) {
        r.ascent = take(ascent_slots);
        r.points = reinterpret_cast<Point*>(take(r.n * int64_t(sizeof(Point) / sizeof(double))));
    } else {
        r.alpha = take(r.padded);
        r.F = take(r.padded);
    }
    r.state_size = at;
}

int compare(const void* a, const void* b) {
    const double x = *static_cast<const double*>(a), y = *static_cast<const double*>(b);
    return x < y ? -1 : x > y ? 1 : 0;
}

double median(const double* values, int64_t n) {
    double* sorted = doubles(n);
    memcpy(sorted, values, sizeof(double) * size_t(n));
    qsort(sorted, size_t(n), sizeof(double), compare);
    const double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
    free(sorted);
    return middle;
}

void begin_svm(Run& r) {
    double* squares = doubles(r.n);
    core().square_norms(r.rows(), squares);
    for (int64_t i = 0; i < r.n; ++i) {
        Point& p = r.points[i];
        p.square = squares[i];
        p.cost = r.set[set_C];
        p.sign = int8_t(r.codes[i] ? 1 : -1);
        p.slack = 1.0f;
    }
    const double middle = median(squares, r.n);
    r.bias_square = middle > 0.0 ? middle : 1.0;  // of the bias coordinate that finds the free bias
    r.ascent[drift] = HUGE_VAL;
    free(squares);
}

void begin_kernel(Run& r) {
    r.K = doubles(r.padded * r.padded);
    r.diagonal = doubles(r.padded);
    for (int64_t i = 0; i < r.n; ++i) {
        for (int64_t j = 0; j < r.n; ++j) r.K[i * r.padded + j] = kernel_value(r, r.x + i * r.d, r.x + j * r.d);
        r.diagonal[i] = r.K[i * r.padded + i];
    }
    r.slots = reinterpret_cast<int64_t*>(doubles(r.n));
    for (int64_t i = 0; i < r.n; ++i) r.slots[i] = i;
    if (r.kind() != kernel_svm) return;
    for (double** part : {&r.signs, &r.costs, &r.up, &r.low}) *part = doubles(r.padded);
    for (int64_t i = 0; i < r.n; ++i) {
        r.signs[i] = r.codes[i] ? 1.0 : -1.0;
        r.costs[i] = r.set[set_C];
        r.F[i] = -r.signs[i];
    }
}

void begin_online(Run& r) {
    BinaryTask& t = r.task;
    t.positive = 1;
    t.tie_is_mistake[0] = r.set[set_tie_negative] != 0.0;
    t.tie_is_mistake[1] = r.set[set_tie_positive] != 0.0;
    t.real[scale] = t.real[rate] = t.real[epoch_loss_factor] = 1.0;
    bool moved = false;
    if (r.kind() == online) {
        const double start[2] = {r.set[set_start_first], r.set[set_start_second]};
        for (int64_t j = 0; j < r.d && j < 2; ++j) moved |= (t.w[j] = start[j]) != 0.0;
        t.real[bias] = r.set[set_start_bias];
        moved |= t.real[bias] != 0.0;
    }
    if (t.pocket) {
        memcpy(t.pocket, r.kind() == online ? t.w : t.coef, sizeof(double) * size_t(r.kind() == online ? r.d : r.n));
        t.real[pocket_bias] = t.real[bias];
        t.real[pocket_loss] = HUGE_VAL;
    }
    if (t.spread) {
        const int64_t step = r.set[set_spread] == 2.0 ? r.d + 2 : 1;
        for (int64_t j = 0; j <= r.d; ++j) t.spread[j * step] = 1.0;
        if (step > 1) t.direction = doubles(r.d + 1);
    }
    // A learning rate that only scales the weights comes in where they are read (loop/learning_rate.py).
    const bool threshold = strcmp(core().rules[r.rule.number].name, "threshold") == 0;
    if (threshold && r.rule.parameters[1] == 0.0 && !moved) {
        r.unit = r.rule.parameters[0];
        r.rule.parameters[0] = 1.0;
    }
    r.sums = doubles(r.d + r.n);
    r.bias_sum = doubles(1);
    r.moving = reinterpret_cast<int64_t*>(doubles(1));
}

// ------------------------------------------------------------------------------------------------ making a run

SX_EXPORT(const char*, setting_names)() { return SX_SETTINGS(SX_SETTING_NAME); }
SX_EXPORT(void*, allocate)(int32_t bytes) { return doubles(bytes / 8 + 1); }
SX_EXPORT(void, release)(void* room) { free(room); }
SX_EXPORT(int32_t, rule_number)(const char* name) {
    for (int k = 0; k < core().n_rules; ++k) {
        if (strcmp(core().rules[k].name, name) == 0) return k;
    }
    return -1;
}
// The names of a rule's parameters one by one; null after the last.
SX_EXPORT(const char*, rule_parameter)(int32_t rule, int32_t which) {
    return which < core().rules[rule].n_parameters ? core().rules[rule].parameters[which] : nullptr;
}
SX_EXPORT(const char*, rule_refusal)(int32_t rule, const double* parameters) {
    return core().rules[rule].refuse(parameters);
}

// A run of n examples; fill rows_of and codes_of (0 or 1), then call begin_run.
SX_EXPORT(Run*, new_run)(int32_t n, int32_t d, const double* settings) {
    Run* r = reinterpret_cast<Run*>(doubles(sizeof(Run) / 8 + 1));
    memcpy(r->set, settings, sizeof r->set);
    r->n = n;
    r->d = d;
    r->unit = 1.0;
    r->padded = up_to_eight(n);
    r->x = doubles(int64_t(n) * d);
    r->codes = reinterpret_cast<int32_t*>(doubles(n / 2 + 1));
    r->order = reinterpret_cast<uint32_t*>(doubles(n / 2 + 1));
    return r;
}
SX_EXPORT(double*, rows_of)(Run* r) { return r->x; }
SX_EXPORT(int32_t*, codes_of)(Run* r) { return r->codes; }
SX_EXPORT(double*, state_of)(Run* r) { return r->state; }
SX_EXPORT(int32_t, state_size)(const Run* r) { return int32_t(r->state_size); }

SX_EXPORT(void, begin_run)(Run* r) {
    lay_out(*r);
    r->state = doubles(r->state_size);
    lay_out(*r);
    r->bias_square = r->set[set_bias] * r->set[set_bias];
    r->rule.number = int(r->set[set_rule]);
    memcpy(r->rule.parameters, r->set + set_p0, sizeof r->rule.parameters);
    if (r->kind() == linear_svm) {
        begin_svm(*r);
        return;
    }
    if (r->kernelled()) begin_kernel(*r);
    if (r->kind() != kernel_svm) begin_online(*r);
    if (r->set[set_shuffled] != 0.0 && r->kind() != kernel_svm) {
        r->shuffler = new Shuffler(r->rows(), r->codes, nullptr, uint64_t(r->set[set_seed]), 0);
    }
}

SX_EXPORT(void, end_run)(Run* r) {
    delete r->shuffler;
    for (void* part : {static_cast<void*>(r->x), static_cast<void*>(r->codes), static_cast<void*>(r->order),
                       static_cast<void*>(r->state), static_cast<void*>(r->sums), static_cast<void*>(r->bias_sum),
                       static_cast<void*>(r->moving), static_cast<void*>(r->K), static_cast<void*>(r->diagonal),
                       static_cast<void*>(r->signs), static_cast<void*>(r->costs), static_cast<void*>(r->up),
                       static_cast<void*>(r->low), static_cast<void*>(r->slots),
                       static_cast<void*>(r->task.direction)}) {
        free(part);
    }
    free(r);
}

// ------------------------------------------------------------------------------------------------ time

// The number of places of the epoch that begins: one for each example, or for each step of SMO.
SX_EXPORT(int32_t, begin_epoch)(Run* r) {
    const auto epoch = uint64_t(r->state[kEpoch]), seed = uint64_t(r->set[set_seed]);
    r->entries = r->n;
    if (r->kind() == linear_svm) {
        const auto order = ascent_order(r->points, r->n, 1, seed, epoch);
        r->entries = int64_t(order.size());
        for (size_t k = 0; k < order.size(); ++k) r->order[k] = order[k];
    } else if (r->shuffler) {
        const auto order = r->shuffler->epoch(seed, epoch);
        for (size_t k = 0; k < order.size(); ++k) r->order[k] = order[k];
    } else {
        for (int64_t k = 0; k < r->n; ++k) r->order[k] = uint32_t(k);
    }
    return int32_t(r->entries);
}

SX_EXPORT(int32_t, fold_size)(const Run* r) {
    const double batch = r->kind() == online ? r->set[set_batch] : 1.0;
    return int32_t(batch == 0.0 || batch > double(r->n) ? double(r->n) : batch);
}

int64_t visit_online(Run& r, int64_t from, int64_t to) {
    Pass pass{r.codes, nullptr, r.shuffler ? r.order : nullptr, nullptr, from, to, r.n, r.bias_square,
              r.state[kClock], nullptr};
    int64_t bad;
    if (r.kind() == kernel_perceptron) {
        bad = core().visit_dual({r.K, r.padded, r.n, r.slots, &r.missing}, pass, r.rule, r.task, nullptr);
    } else if (r.set[set_batch] == 1.0) {
        bad = core().visit(r.rows(), pass, r.rule, &r.task, 1);
    } else {
        memset(r.sums, 0, sizeof(double) * size_t(r.d + r.n));
        *r.bias_sum = 0.0;
        *r.moving = 0;
        bad = core().fold(r.rows(), pass, r.rule, &r.task, 1, {fold_size(&r), nullptr},
                          {r.sums, r.n, r.bias_sum, r.moving});
    }
    r.state[kClock] = pass.clock;
    return bad;
}

int64_t ascend(Run& r, int64_t from, int64_t to) {
    double before = 0.0, after = 0.0;
    for (int64_t p = from; p < to; ++p) {  // one by one, so that updates can be counted
        before = r.points[r.order[p]].alpha;
        const double relax = r.state[kEpoch] >= kRelaxFrom ? kRelax : 1.0;
        const int64_t bad = core().margin->ascend(r.rows(), {r.points, r.order, p, p + 1, r.task.w, r.ascent,
                                                            r.bias_square, relax, r.set[set_squared] != 0.0});
        if (bad != all_good) return bad;
        after = r.points[r.order[p]].alpha;
        if (before != after) ++r.task.count[updates];
    }
    return all_good;
}

// Go on from place `from` of the epoch to place `to`; the row whose activation was not finite, or -1.
SX_EXPORT(int32_t, visit)(Run* r, int32_t from, int32_t to) {
    if (r->kind() == linear_svm) return int32_t(ascend(*r, from, to));
    if (r->kind() == kernel_svm) {
        const WorkingSet<double> set{r->K, r->n, r->padded, r->diagonal, r->signs, r->costs, r->alpha, r->F, r->up,
                                     r->low};
        r->task.count[updates] += core().dual->f64.smo(set, kSmoTolerance, to - from);
        return -1;
    }
    return int32_t(visit_online(*r, from, to));
}

SX_EXPORT(void, end_epoch)(Run* r) {
    r->state[kEpoch] += 1.0;
    r->state[kPastMistakes] += double(r->task.count[mistakes]);
    r->task.count[mistakes] = 0;
    r->task.real[epoch_loss] = 0.0;
    r->task.real[epoch_loss_factor] = 1.0;
    if (r->kind() != linear_svm) return;
    double* a = r->ascent;
    if (a[drifters] > 0.0) a[drift] = ::sqrt(a[drifted] / a[drifters]);
    if (a[drift] < 1e-300) a[drift] = 1e-300;
    a[drifted] = a[drifters] = 0.0;
    a[shift] += r->bias_square * a[balance];
}

// ------------------------------------------------------------------------------------------------ what is there to see

double smo_bias(const Run& r) {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int64_t i = 0; i < r.n; ++i) {
        const bool below = r.alpha[i] < r.costs[i], above = r.alpha[i] > 0.0, positive = r.signs[i] > 0.0;
        if ((positive ? below : above) && r.F[i] < least) least = r.F[i];
        if ((positive ? above : below) && r.F[i] > most) most = r.F[i];
    }
    if (least == HUGE_VAL || most == -HUGE_VAL) return 0.0;
    return -(least + most) / 2.0;
}

// The weights of the readout (of a kernel: alpha_i y_i) and, last, the bias; as loop/readouts.py.
SX_EXPORT(void, weights)(const Run* r, double* out) {
    const BinaryTask& t = r->task;
    const int64_t width = r->kernelled() ? r->n : r->d;
    if (r->kind() == linear_svm) {
        for (int64_t j = 0; j < width; ++j) out[j] = t.w[j];
        out[width] = r->ascent[shift] + r->bias_square * r->ascent[balance];
        return;
    }
    if (r->kind() == kernel_svm) {
        for (int64_t j = 0; j < width; ++j) out[j] = r->alpha[j] * r->signs[j];
        out[width] = smo_bias(*r);
        return;
    }
    const double* w = r->kernelled() ? t.coef : t.w;
    const double age = r->state[kClock] - t.real[birth];
    if (t.pocket && t.real[pocket_loss] < HUGE_VAL) {
        for (int64_t j = 0; j < width; ++j) out[j] = t.pocket[j];
        out[width] = t.real[pocket_bias];
    } else if (t.average_correction && age > 0.0) {
        const double part = t.real[scale_deficit] != 0.0 ? 1.0 - t.real[scale_deficit] / age : 1.0;
        for (int64_t j = 0; j < width; ++j) out[j] = w[j] * part - t.average_correction[j] / age;
        out[width] = t.real[bias] - t.real[average_correction_bias] / age;
    } else {
        for (int64_t j = 0; j < width; ++j) out[j] = t.real[scale] * w[j];
        out[width] = t.real[bias];
    }
    if (r->unit == 1.0) return;
    for (int64_t j = 0; j <= width; ++j) out[j] *= r->unit;
}

// The weights that the next example meets, and the bias; not of kernels.
SX_EXPORT(void, last_weights)(const Run* r, double* out) {
    if (r->kind() == linear_svm) {
        weights(r, out);
        return;
    }
    for (int64_t j = 0; j < r->d; ++j) out[j] = r->unit * (r->task.real[scale] * r->task.w[j]);
    out[r->d] = r->unit * r->task.real[bias];
}

// The dual weight of every example, where a run has them.
SX_EXPORT(void, dual_weights)(const Run* r, double* out) {
    for (int64_t i = 0; i < r->n; ++i) {
        const double kept = r->kind() == linear_svm ? r->points[i].alpha
                            : r->kind() == kernel_svm ? r->alpha[i]
                                                      : ::fabs(r->unit * r->task.coef[i]);
        out[i] = kept;
    }
}

// epoch, clock, mistakes before this epoch, mistakes in it, updates.
SX_EXPORT(void, counts)(const Run* r, double* out) {
    memcpy(out, r->state, sizeof(double) * kHead);
    out[kHead] = double(r->task.count[mistakes]);
    out[kHead + 1] = double(r->task.count[updates]);
}

// The activations of m points for weights that `weights` gave.
SX_EXPORT(void, decide)(const Run* r, const double* w, const double* points, int32_t m, double* out) {
    if (!r->kernelled()) {
        core().decide(dense(points, m, r->d), 0, m, w, w + r->d, 1, out);
        return;
    }
    for (int32_t k = 0; k < m; ++k) out[k] = w[r->n];
    for (int64_t i = 0; i < r->n; ++i) {
        if (w[i] == 0.0) continue;
        for (int32_t k = 0; k < m; ++k) out[k] += w[i] * kernel_value(*r, r->x + i * r->d, points + k * r->d);
    }
}

// The losses of weights over all examples: zero_one, perceptron, squared, log, hinge, squared hinge. A tie is predicted as
// the positive class, or, where it is no mistake for a negative example only, as the negative one.
SX_EXPORT(void, losses)(const Run* r, const double* w, double* out) {
    const bool negative = r->set[set_tie_negative] == 0.0 && r->set[set_tie_positive] != 0.0;
    const bool ties[2] = {!negative, negative};
    double* a = doubles(r->n);
    decide(r, w, r->x, int32_t(r->n), a);
    for (int k = 0; k < 6; ++k) out[k] = 0.0;
    for (int64_t i = 0; i < r->n; ++i) {
        const double m = r->codes[i] ? a[i] : -a[i], short_of = m < 1.0 ? 1.0 - m : 0.0;
        const bool wrong = m < 0.0 || (m == 0.0 && ties[r->codes[i]]);
        out[0] += wrong;
        out[1] -= wrong ? m : 0.0;
        out[2] += SquaredLoss(m).loss();
        out[3] += LogLoss(m).loss();
        out[4] += short_of;
        out[5] += short_of * short_of;
    }
    free(a);
}

// Primal and dual value of a linear SVM: the dual's is of alpha made to sum up to 0 over the classes, so that it is a
// lower bound on the primal optimum (svm/task.py).
SX_EXPORT(void, svm_values)(const Run* r, double* out) {
    double w[64], sums[6], side[2] = {0.0, 0.0};
    weights(r, w);
    losses(r, w, sums);
    const bool squared = r->set[set_squared] != 0.0;
    double square = 0.0;
    for (int64_t j = 0; j < r->d; ++j) square += w[j] * w[j];
    const double loss = squared ? sums[5] : sums[4];
    out[0] = 0.5 * square + (loss > 0.0 ? r->set[set_C] * loss : 0.0);
    for (int64_t i = 0; i < r->n; ++i) side[r->codes[i]] += r->points[i].alpha;
    double* v = doubles(r->n);
    double gain = 0.0, damping = 0.0;
    for (int64_t i = 0; i < r->n; ++i) {
        const int own = r->codes[i];
        const double part = side[own] > side[1 - own] ? side[1 - own] / side[own] : 1.0;
        const double alpha = r->points[i].alpha * part;
        gain += alpha;
        damping += alpha * alpha;
        v[i] = own ? alpha : -alpha;
    }
    for (int64_t j = 0; j < r->d; ++j) w[j] = 0.0;
    core().margin->combine(r->rows(), v, w, 0, r->d);
    square = 0.0;
    for (int64_t j = 0; j < r->d; ++j) square += w[j] * w[j];
    out[1] = gain - 0.5 * square - (squared ? 0.25 * damping / r->set[set_C] : 0.0);
    free(v);
}

// What the rule sees of the example at place p, and what it will answer: row, sign, activation, margin, q, whether it
// moves the weights, shrink, tau (y left out), the old alpha, the bias coordinate squared. Of an SVM tau is the change of
// alpha, and of SMO nothing is known before the step.
SX_EXPORT(void, look)(const Run* r, int32_t p, double* out) {
    const int64_t i = r->order[p];
    const double* x = r->x + i * r->d;
    const double y = r->codes[i] ? 1.0 : -1.0;
    for (int k = 0; k < 10; ++k) out[k] = 0.0;
    out[0] = double(i);
    out[1] = y;
    out[6] = 1.0;
    out[9] = r->bias_square;
    if (r->kind() == kernel_svm) return;
    const BinaryTask& t = r->task;
    double a = 0.0, q = r->bias_square;
    if (r->kind() == kernel_perceptron) {
        a = t.w[i] + t.real[bias];
    } else {
        double b = r->kind() == linear_svm ? r->ascent[shift] + r->bias_square * r->ascent[balance] : t.real[bias];
        const double none = 0.0;
        core().decide(dense(x, 1, r->d), 0, 1, t.w, &none, 1, &a);
        a = (r->kind() == linear_svm ? 1.0 : t.real[scale]) * a + b;
        double square;
        core().square_norms(dense(x, 1, r->d), &square);
        q += square;
    }
    const double margin = y * a;
    out[2] = r->unit * a;
    out[3] = r->unit * margin;
    out[4] = q;
    if (r->kind() == linear_svm) {
        const Point& point = r->points[i];
        const bool squared = r->set[set_squared] != 0.0;
        const double damp = squared ? 0.5 / point.cost : 0.0, relax = r->state[kEpoch] >= kRelaxFrom ? kRelax : 1.0;
        double alpha = point.alpha + relax * ((1.0 - margin - damp * point.alpha) / (q + damp));
        alpha = alpha > 0.0 ? alpha : 0.0;
        alpha = squared || alpha < point.cost ? alpha : point.cost;
        out[5] = alpha != point.alpha;
        out[7] = alpha - point.alpha;
        out[8] = point.alpha;
        return;
    }
    if (t.spread) {
        q = 0.0;
        const int64_t width = r->d + 1, line = r->set[set_spread] == 2.0 ? width : 0;
        const double K = r->set[set_bias];
        for (int64_t j = 0; j < width; ++j) {
            const double left = j < r->d ? x[j] : K;
            if (!line) q += left * left * t.spread[j];
            for (int64_t k = 0; line && k < width; ++k) q += left * t.spread[j * line + k] * (k < r->d ? x[k] : K);
        }
        out[4] = q;
    }
    with_rule(r->rule, [&]<class R>(const R& rule) {
        const bool wrong = margin < rule.threshold || (t.tie_is_mistake[r->codes[i]] && margin == rule.threshold);
        const typename R::Loss at(margin);
        if ((!R::kAlways && !wrong) || !rule.moves(at)) {
            if (!R::kDecays) return;
        } else {
            out[5] = 1.0;
        }
        double n = 0.0;
        for (int64_t j = 0; R::kNorm && j < r->d; ++j) n += t.w[j] * t.w[j] * t.real[scale] * t.real[scale];
        if (R::kNorm && r->bias_square > 0.0) n += t.real[bias] * t.real[bias] / r->bias_square;
        const Time now{r->state[kClock] - t.real[birth], 1.0, t.count[updates], t.real[rate]};
        const Update update = rule.step(at, q, n, now);
        out[6] = update.shrink;
        out[7] = out[5] != 0.0 ? r->unit * update.tau : 0.0;
        if (R::kDeclines && update.tau == 0.0) out[5] = 0.0;
        out[8] = update.beta;
    });
    if (r->kind() == kernel_perceptron) out[8] = ::fabs(t.coef[i]);
}

}  // namespace wasm
}  // namespace sx
