// The dual perceptron on a budget: at most `capacity` examples are stored, and a mistake at another one, once they are, makes
// an example be forgotten. An example includes its bias coordinate: its kernel values are those of its row plus K^2.
//
// oldest     The self-tuned Forgetron (Dekel, Shalev-Shwartz and Singer 2008): of the stored examples the one whose last
//            mistake is the longest ago is removed, after all have been shrunk by a factor phi. Removing an example of
//            coefficient s whose activation times its label is m, both already shrunk and in units where K(x, x) + K^2 <= 1,
//            costs s^2 + 2 s - 2 s m of what the mistakes have gained; phi is the largest factor of at most 1 with which
//            the sum of all such costs, `deviation`, stays within 15/32 of the number of mistakes, `step_sum`.
// random     The randomised budget perceptron (Cavallanti, Cesa-Bianchi and Gentile 2007): any stored example is removed.
// projected  The Projectron (Orabona, Keshet and Caputo 2009) with the whole budget as its basis: the example is replaced by
//            its projection onto the span of those stored. An example that the span holds already, up to kDependent of its
//            square, gives its place away first. Stored examples that are linearly independent stay so: a Cholesky factor
//            that only grows is enough to solve for projections, and needs no inverse to be kept up to date.
//
// Until the budget is full this is the perceptron without one, bit for bit. A projection would touch the activations of all
// examples by as many kernel rows as are stored: from the first one on an activation is summed up when it is asked for.
//
// Included by kernels.cpp only, inside the namespace of one build.

struct BudgetRows : DualRows {
    static constexpr bool kBudget = true;
    static constexpr double kDependent = 1e-9;
    const Budget& b;
    BinaryTask& t;
    double bias_square;

    bool projecting() const { return b.count[independent] > 0; }
    bool full() const { return b.count[kept] == b.capacity; }

    template <int N>
    SX_HOT void dots(std::int64_t i, const double* const* w, double* out, std::int64_t = -1) const {
        if (!projecting()) return DualRows::dots<N>(i, w, out);
        double sum = 0.0;
        for (std::int64_t p = 0; p < b.count[kept]; ++p) sum += t.coef[b.stored[p]] * row(b.stored[p])[i];
        SX_UNROLL for (int k = 0; k < N; ++k) out[k] = sum;
    }

    // Whether the kernel rows are there that a mistake at example i needs.
    bool at_hand(std::int64_t i) const {
        if (projecting() && (b.place[i] >= 0 || b.count[independent] == b.count[kept])) return true;
        if (!DualRows::at_hand(i)) return false;
        if (b.place[i] >= 0 || !full()) return true;
        if (b.forget != Forget::projected) return DualRows::at_hand(b.stored[victim()]);
        for (std::int64_t p = 0; p < b.count[kept]; ++p) {
            if (!DualRows::at_hand(b.stored[p])) return false;
        }
        return true;
    }

    // Add example i times the step, which the bias and the average have in them already.
    SX_COLD void learn(std::int64_t i, double step) const {
        b.real[step_sum] += step < 0.0 ? -step : step;
        if (b.place[i] < 0 && full()) {
            if (b.forget == Forget::projected) {
                project(i, step);
            } else {
                replace(victim(), i, step);
            }
        } else {
            if (!projecting()) add(i, step, t.w);
            t.coef[i] += step;
            if (b.place[i] < 0) put(i, b.count[kept]++);
            b.stamp[b.place[i]] = b.count[steps];
        }
        ++b.count[steps];
    }

   private:
    const double* row(std::int64_t i) const { return stored.rows + stored.slot_of[i] * stored.stride; }

    void put(std::int64_t i, std::int64_t p) const {
        b.stored[p] = i;
        b.place[i] = p;
        b.stamp[p] = b.count[steps];
    }

    // ---------------------------------------------------------------------------------------------- oldest and random

    // The place of the example to remove.
    std::int64_t victim() const {
        if (b.forget == Forget::random) {
            return std::int64_t((mix(b.seed + std::uint64_t(b.count[steps])) >> 32) * std::uint64_t(b.count[kept]) >> 32);
        }
        std::int64_t oldest = 0;
        for (std::int64_t p = 1; p < b.count[kept]; ++p) {
            if (b.stamp[p] < b.stamp[oldest]) oldest = p;
        }
        return oldest;
    }

    // Remove the example at place p after a step at example i, which takes its place.
    void replace(std::int64_t p, std::int64_t i, double step) const {
        const std::int64_t gone = b.stored[p];
        const double coef = t.coef[gone];
        const double *in = row(i), *out = row(gone);
        const double phi = b.forget == Forget::oldest ? shrinking(coef, t.w[gone] + step * in[gone] + t.real[bias]) : 1.0;
        for (std::int64_t j = 0; j < cols; ++j) t.w[j] = phi * (t.w[j] + step * in[j] - coef * out[j]);
        for (std::int64_t q = 0; q < b.count[kept]; ++q) t.coef[b.stored[q]] *= phi;
        t.real[bias] = phi * (t.real[bias] - coef * bias_square);
        t.coef[gone] = 0.0;
        t.coef[i] = phi * step;
        b.place[gone] = -1;
        put(i, p);
    }

    // The factor phi with which all examples shrink before one of this coefficient and activation is removed: the largest
    // of at most 1 for which a phi^2 + 2 s phi, the cost, is within what is left.
    double shrinking(double coef, double activation) const {
        const double s = coef < 0.0 ? -coef : coef, m = (coef < 0.0 ? -activation : activation) / b.radius_square;
        const double a = s * (s - 2.0 * m), left = 15.0 / 32.0 * b.real[step_sum] - b.real[deviation];
        const double square = s * s + a * left;
        const double phi = a + 2.0 * s <= left ? 1.0 : left / (s + ::sqrt(square > 0.0 ? square : 0.0));
        b.real[deviation] += phi * (a * phi + 2.0 * s);
        b.real[shrinkage] += (1.0 - phi) / (1.0 + phi);
        return phi;
    }

    // ---------------------------------------------------------------------------------------------- projected

    double* factor_row(std::int64_t m) const { return b.factor + m * (m + 1) / 2; }
    double square(std::int64_t i) const { return b.diagonal[i] + bias_square; }

    void project(std::int64_t i, double step) const {
        t.coef[i] += step;
        if (!projecting()) build();
        const std::int64_t m = b.count[independent];
        double *z = b.scratch, *other = b.scratch + b.capacity;
        const double rest = forward(i, z);
        if (m < b.count[kept] && rest > kDependent * square(i)) {
            const std::int64_t gone = b.stored[m];
            forward(gone, other);
            resolve(gone, other);
            put(i, m);
            append(z, rest);
        } else {
            resolve(i, z);
        }
    }

    // Bring linearly independent examples to the front.
    void build() const {
        for (std::int64_t p = 0; p < b.count[kept]; ++p) {
            const std::int64_t i = b.stored[p], m = b.count[independent];
            const double rest = forward(i, b.scratch);
            if (!(rest > kDependent * square(i))) continue;
            put(b.stored[m], p);
            put(i, m);
            append(b.scratch, rest);
        }
    }

    // Solve L z = k for the kernel k of example i with the independent ones; what is left of its square.
    double forward(std::int64_t i, double* z) const {
        double rest = square(i);
        for (std::int64_t j = 0; j < b.count[independent]; ++j) {
            const double* line = factor_row(j);
            z[j] = (row(b.stored[j])[i] + bias_square - product(line, z, j)) / line[j];
            rest -= z[j] * z[j];
        }
        return rest;
    }

    static double product(const double* a, const double* c, std::int64_t n) {
        double out;
        Dense<double>{a, n, n}.template dots<1>(0, &c, &out);
        return out;
    }

    // The independent examples have grown by one, at place `independent`.
    void append(const double* z, double rest) const {
        const std::int64_t m = b.count[independent]++;
        copy(factor_row(m), z, m);
        factor_row(m)[m] = ::sqrt(rest);
    }

    // Replace example i by its projection, of which z is the first half of the solution.
    void resolve(std::int64_t i, double* z) const {
        const double coef = t.coef[i], average = t.average_correction ? t.average_correction[i] : 0.0;
        double sum = -1.0;
        for (std::int64_t j = b.count[independent] - 1; j >= 0; --j) {
            const double* line = factor_row(j);
            z[j] /= line[j];
            for (std::int64_t k = 0; k < j; ++k) z[k] -= z[j] * line[k];
            t.coef[b.stored[j]] += coef * z[j];
            if (t.average_correction) t.average_correction[b.stored[j]] += average * z[j];
            sum += z[j];
        }
        t.real[bias] += coef * bias_square * sum;
        t.coef[i] = 0.0;
        if (t.average_correction) {
            t.real[average_correction_bias] += average * bias_square * sum;
            t.average_correction[i] = 0.0;
        }
        b.place[i] = -1;
    }
};
