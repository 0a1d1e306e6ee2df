// What the compiled core takes and gives: plain structs of pointers, shared by every build of the kernels.
//
// Nothing here owns memory and nothing here is specific to an instruction set. The kernels (kernels.cpp) are
// compiled once for each instruction set into a namespace of their own and reach the binding through a `Kernels`
// table; they use no standard-library templates, so that no code compiled for a newer processor can be merged by
// the linker into a build for an older one.
#pragma once
#include <cstdint>

namespace sx {

// Ask for a cache line that will soon be read. The empty asm keeps it: a function or loop of nothing but prefetches is
// otherwise taken for one that does nothing, and removed.
#if defined(__GNUC__)
__attribute__((always_inline)) static inline void prefetch(const void* address) {
    __builtin_prefetch(address, 0, 2);
    __asm__ volatile("");
}
#else
static inline void prefetch(const void*) {}
#endif

enum class Layout : int { dense, csr };
enum class Value : int { f32, f64 };
enum class Index : int { i32, i64 };

// A checked matrix: dense rows (row i starts at data + i * stride elements) or CSR with sorted, unique columns.
struct Matrix {
    Layout layout;
    Value value;
    Index index;
    const void* data;
    const void* indices;
    const void* indptr;
    std::int64_t rows, cols, stride;
};

// Receives one record for each update, for the voted readout: the row, tau * y, and the time of the update.
struct VoteSink {
    void* owner;
    void (*push)(void* owner, std::int64_t row, double signed_tau, double time);
};

// One binary task ("class `positive` or not?") and everything that learning it changes.
// Null pointers switch a readout's bookkeeping off. The names of the slots are in loop/state.py.
// Time is counted in examples (their weights): `birth` is the clock when learning began, `run_start` when the current
// weights did.
// The weights are scale * w (the scale is 1 between epochs), the step is rate times the rule's, and `epoch_loss` +
// log(`epoch_loss_factor`) is the loss of the epoch's examples, each as it was met (see note_loss; the factor is 1
// between epochs). `scale_deficit` and `square` belong to weights that shrink (hinge.hpp): how far the sum of the
// scales is behind the age, and |w|^2 without the scale.
enum Real : int {
    bias, birth, average_correction_bias, run_start, pocket_bias, pocket_run, pocket_loss, scale, rate, epoch_loss,
    epoch_loss_factor, scale_deficit, square, real_slots
};
enum Count : int { updates, mistakes, pocket_checked, count_slots };
struct BinaryTask {
    double* w;
    double* average_correction;  // averaged: sum over updates of (time of the update - scale_deficit) * (change of w)
    double* pocket;              // pocket: the best weights so far
    double* real;
    std::int64_t* count;
    VoteSink votes;
    std::int32_t positive;
    bool tie_is_mistake[2];  // for a negative, for a positive example
    float* shadow;           // w in single precision, for quick predictions; or null
    double doubt;            // times |x|: how far a quick prediction can be from the exact one
};

// threshold: step by `eta` when the margin is at most `threshold`. squared, log: step down the slope of that loss at
// every example, by eta or, when it falls, by eta / sqrt(number of the step), and shrink the weights by
// 1 - step * alpha. hinge: shrink by 1 - decay and step by `eta` when the margin is below 1. pegasos: the same with
// 1 - 1/t and 1/(alpha t), then bring the weights back to a ball of this radius. The bias shrinks with the weights of
// these two if it is told to. pa, pa1, pa2: the passive-aggressive steps when the margin is below 1, with `cost` as C.
enum class Kind : int { threshold, squared, log, hinge, pegasos, pa, pa1, pa2 };
struct Rule {
    Kind kind;
    double eta, threshold, alpha;
    bool falling;
    double decay, radius;
    bool bias_shrinks;
    double cost = 1.0;
};

// Whether a rule reads |x|^2, and so learns from one example at a time.
inline bool reads_square(Kind kind) { return kind == Kind::pa || kind == Kind::pa1 || kind == Kind::pa2; }

// The examples of a pass: rows order[begin..end) (or begin..end themselves when order is null).
struct Pass {
    const std::int32_t* codes;
    const double* weights;       // of the rows; null: every example weighs 1
    const std::uint32_t* order;  // null: in the order of the rows
    const double* shares;        // the weight of each place in the order, where it is not the row's; or null
    std::int64_t begin, end;
    std::int64_t pool;           // length of the whole epoch, for the pocket's check
    double bias_square;          // K^2, the bias coordinate squared; 0 without a bias
    double clock;                // the weight of all examples presented before this pass
    float* lengths;              // upper bounds on |x| of each row, 0 where not yet known; null: no quick predictions
};

// Losses over some examples, each the sum of weight * loss; see losses.py.
struct Tally {
    double zero_one, perceptron, squared, log, hinge, squared_hinge;
};

// What a fold needs: for each task `cols` zeros (dense rows) or `parts` numbers (CSR rows), and two numbers.
struct Scratch {
    double* sums;
    std::int64_t parts;
    double* bias_sum;
    std::int64_t* moving;  // how many examples add to the weights
};

// Where folds begin and end: every `size` examples, or, if there are `edges`, between one of these and the next, up to
// the end of the pass.
struct Folds {
    std::int64_t size;
    const std::int64_t* edges;
};

// What a look at all column numbers of a CSR matrix says: the largest (a negative one counts as larger than any), and
// how often a column is not greater than the one stored before it, ends of rows included.
struct IndexSurvey {
    std::uint64_t largest;
    std::int64_t descents;
};

constexpr std::int64_t all_good = -1;

struct DualKernels;    // dual.hpp
struct MarginKernels;  // margin.hpp
struct ExactKernels;   // exact.hpp

struct Kernels {
    const char* name;
    // Each returns the first row whose activation is not finite, or all_good; `visit` and `fold` move the clock.
    std::int64_t (*visit)(const Matrix&, Pass&, const Rule&, BinaryTask*, int n_tasks);
    std::int64_t (*fold)(const Matrix&, Pass&, const Rule&, BinaryTask*, int n_tasks, const Folds&, const Scratch&);
    std::int64_t (*tally)(const Matrix&, const Pass&, const BinaryTask&, bool smooth, Tally*);
    void (*decide)(const Matrix&, std::int64_t begin, std::int64_t end, const double* w, const double* bias,
                   int n_tasks, double* out);
    void (*square_norms)(const Matrix&, double* out);
    IndexSurvey (*survey)(Index, const void* indices, std::int64_t n);
    std::int64_t (*first_bad_row)(const Matrix&, std::int64_t begin, std::int64_t end);
    const DualKernels* dual;
    const MarginKernels* margin;
    const ExactKernels* exact;
};

}  // namespace sx
