// The perceptron in dual form (Lecture 003, 2.5) as a kind of row: the loop is that of loop.hpp.
//
// The weights of a task are its activations, sum_j alpha_j y_j K_ij for every example i: the product of example i with
// them is one of them, and adding the example is adding its kernel row. What the readouts keep (`coef` = alpha_i y_i, the
// average, the pocket) has one number for each example. A row that is not in the store stops the loop, which says so in
// `missing`; it goes on from the same place once the row has been computed.
//
// Included by kernels.cpp only, inside the namespace of one build.

struct DualRows {
    static constexpr bool kSparse = false, kBudget = false;
    static constexpr int kMost = 1;
    const KernelStore& stored;
    std::int64_t cols;  // as many as examples

    template <int N>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t = -1) const {
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = w[k][i];
    }
    bool at_hand(std::int64_t i) const {
        if (stored.slot_of[i] >= 0) return true;
        *stored.missing = i;
        return false;
    }
    void add(std::int64_t i, double scale, double* w) const {
        const double* row = stored.rows + stored.slot_of[i] * stored.stride;
        for (std::int64_t j = 0; j < cols; ++j) w[j] += scale * row[j];
    }
    void note(std::int64_t i, double scale, double* kept) const { kept[i] += scale; }
    double square_norm(std::int64_t) const { return 0.0; }  // which no rule of this form reads
};
