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
    const double* centre = nullptr;  // of each column, which some kernels take off its values; see with_centred_rows
};

// Call work(indices, indptr) with those of a CSR matrix in their own type, whose numbers are known not to be negative.
template <class Work>
auto with_csr(const Matrix& m, Work work) {
    if (m.index == Index::i32) {
        return work(static_cast<const std::uint32_t*>(m.indices), static_cast<const std::uint32_t*>(m.indptr));
    }
    return work(static_cast<const std::int64_t*>(m.indices), static_cast<const std::int64_t*>(m.indptr));
}

// Receives one record for each update, for the voted readout: the row, tau * y, and the time of the update.
struct VoteSink {
    void* owner;
    void (*push)(void* owner, std::int64_t row, double signed_tau, double time);
};

// One binary task ("class `positive` or not?") and everything that learning it changes.
// Null pointers switch a readout's bookkeeping off. The names of the slots are those of kRealNames and kCountNames.
// Time is counted in examples (their weights): `birth` is the clock when learning began, `run_start` when the current
// weights did.
// The weights are scale * w (the scale is 1 between epochs), the step is rate times the rule's, and `epoch_loss` +
// log(`epoch_loss_factor`) is the loss of the epoch's examples, each as it was met (see note_loss; the factor is 1
// between epochs). `scale_deficit` and `square` belong to weights that shrink (readouts.hpp): how far the sum of the
// scales is behind the age, and |w|^2 without the scale.
#define SX_REAL_SLOTS(slot)                                                                              \
    slot(bias) slot(birth) slot(average_correction_bias) slot(run_start) slot(pocket_bias) slot(pocket_run) \
    slot(pocket_loss) slot(scale) slot(rate) slot(epoch_loss) slot(epoch_loss_factor) slot(scale_deficit)   \
    slot(square)
#define SX_COUNT_SLOTS(slot) slot(updates) slot(mistakes) slot(pocket_checked)
#define SX_NUMBER(slot) slot,
#define SX_SLOT_NAME(slot) #slot,
enum Real : int { SX_REAL_SLOTS(SX_NUMBER) real_slots };
enum Count : int { SX_COUNT_SLOTS(SX_NUMBER) count_slots };
constexpr const char* kRealNames[] = {SX_REAL_SLOTS(SX_SLOT_NAME)};
constexpr const char* kCountNames[] = {SX_COUNT_SLOTS(SX_SLOT_NAME)};

struct BinaryTask {
    double* w;
    double* coef;                // dual form: alpha_i y_i of every example, w being their activations; else null
    double* spread;              // of rules that keep one (spread.hpp), else null
    double* direction;           // scratch for a full spread: cols + 1 numbers; null: the spread is diagonal
    double* pairs;               // the weights and a diagonal spread, side by side (spread.hpp), and two more; or null
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

// Classes that are learned together (joint.hpp): a weight vector and a bias each, and in `shared` what they have in
// common: the counts, the times and the losses (its weights and its bias are not used). There tie_is_mistake is for a
// rival that comes before the correct class, and for one that comes after it.
struct JointTask {
    BinaryTask shared;
    int n_classes;                    // 2 or more
    double* const* w;                 // of each class
    double* bias;                     // of each class; so are the other biases
    double* average_correction;       // averaged: one row for each class, else null
    double* average_correction_bias;
    double* pocket;                   // pocket: one row for each class, else null
    double* pocket_bias;
    double* scores;                   // scratch: one number for each class
};

// A rule of rules.hpp: its number in the list there, and its parameters in the order that it names them.
constexpr int kMostParameters = 4;
struct Rule {
    int number;
    double parameters[kMostParameters];
};

// The presentations of one heavy example in succession, the last of which takes all the weight that is left.
constexpr int kCopies = 1000;

// What the binding needs to know of a rule.
struct RuleFacts {
    const char* name;
    const char* const* parameters;  // their names
    int n_parameters;
    bool folds;   // it can learn from several examples at once
    bool spread;  // it keeps a spread of each weight
    bool joint;   // it can learn several classes together
    const char* (*refuse)(const double* parameters);  // why they cannot be, or null
};

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

// Kernel rows of n examples, those that have been computed: example i's at rows + slot_of[i] * stride, -1 where it is not
// there. A visit that needs such a row stops and names the example.
struct KernelStore {
    const double* rows;
    std::int64_t stride, n;
    const std::int64_t* slot_of;
    std::int64_t* missing;
};

// A dual perceptron that stores at most `capacity` examples (budget.hpp). The kept ones are stored[0..kept), and place[i]
// says where example i is among them, -1: nowhere. Of forget == projected the first `independent` are linearly independent,
// and `factor` holds the rows of the Cholesky factor of their kernel matrix (bias included); it is 0 until the first
// projection. The names of the slots are those of kBudgetCountNames and kBudgetRealNames.
#define SX_BUDGET_COUNT_SLOTS(slot) slot(kept) slot(independent) slot(steps)
#define SX_BUDGET_REAL_SLOTS(slot) slot(step_sum) slot(deviation) slot(shrinkage)
enum BudgetCount : int { SX_BUDGET_COUNT_SLOTS(SX_NUMBER) budget_count_slots };
enum BudgetReal : int { SX_BUDGET_REAL_SLOTS(SX_NUMBER) budget_real_slots };
constexpr const char* kBudgetCountNames[] = {SX_BUDGET_COUNT_SLOTS(SX_SLOT_NAME)};
constexpr const char* kBudgetRealNames[] = {SX_BUDGET_REAL_SLOTS(SX_SLOT_NAME)};
enum class Forget : int { oldest, random, projected, forgets };
constexpr const char* kForgetNames[] = {"oldest", "random", "projected"};

struct Budget {
    Forget forget;
    std::int64_t capacity;
    std::int64_t* stored;
    std::int64_t* place;
    std::int64_t* stamp;     // the step at which each kept example was last moved
    std::int64_t* count;     // budget_count_slots
    double* real;            // budget_real_slots
    double* factor;          // projected: capacity * (capacity + 1) / 2 numbers
    double* scratch;         // projected: 2 * capacity numbers
    const double* diagonal;  // K(x_i, x_i) of every example
    double radius_square;    // the largest of these, bias included
    std::uint64_t seed;
};

struct DualKernels;    // dual.hpp
struct MarginKernels;  // margin.hpp
struct ExactKernels;   // exact.hpp
struct DescentKernels;  // descent.hpp
struct NewtonKernels;  // newton.hpp
struct MultinomialKernels;  // multinomial.hpp

struct Kernels {
    const char* name;
    const RuleFacts* rules;
    int n_rules;
    // Each returns the first row whose activation is not finite, or all_good; `visit` and `fold` move the clock. A visit
    // in dual form is for the first rule; it returns also where a kernel row is missing, with pass.begin at its example,
    // and forgets examples where there is a budget.
    std::int64_t (*visit)(const Matrix&, Pass&, const Rule&, BinaryTask*, int n_tasks);
    std::int64_t (*visit_dual)(const KernelStore&, Pass&, const Rule&, BinaryTask&, const Budget*);
    std::int64_t (*fold)(const Matrix&, Pass&, const Rule&, BinaryTask*, int n_tasks, const Folds&, const Scratch&);
    std::int64_t (*visit_joint)(const Matrix&, Pass&, const Rule&, JointTask&);
    std::int64_t (*tally)(const Matrix&, const Pass&, const BinaryTask&, bool smooth, Tally*);
    std::int64_t (*tally_joint)(const Matrix&, const Pass&, const JointTask&, bool smooth, Tally*);
    void (*decide)(const Matrix&, std::int64_t begin, std::int64_t end, const double* w, const double* bias,
                   int n_tasks, double* out);
    void (*square_norms)(const Matrix&, double* out);
    IndexSurvey (*survey)(Index, const void* indices, std::int64_t n);
    std::int64_t (*first_bad_row)(const Matrix&, std::int64_t begin, std::int64_t end);
    const DualKernels* dual;
    const MarginKernels* margin;
    const ExactKernels* exact;
    const DescentKernels* descent;
    const NewtonKernels* newton;
    const MultinomialKernels* multinomial;
};

}  // namespace sx
