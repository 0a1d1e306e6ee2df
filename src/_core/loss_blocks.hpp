// The smooth losses of many rows at once: their values, slopes and curvatures, block by block.
//
// Included by descent.cpp and newton.cpp, inside the namespace of one build.

constexpr int kSums = 4;  // running sums of a loop over rows, row i going to sum i mod 4

SX_HOT double joined(const double* sum) { return (sum[0] + sum[2]) + (sum[1] + sum[3]); }

// The loops over rows work on blocks, step by step, so that each step is one that the compiler can do on many rows at
// once; what a row gets does not depend on that.
constexpr int kBlock = 256;

// e^-|m| of some margins, to the bits of exp_of_negative.
SX_HOT void exponentials(const double* m, int n, double* out) {
    constexpr double kNearest = 0x1.8p52;
    std::int64_t nearest;
    memcpy(&nearest, &kNearest, sizeof nearest);
    for (int i = 0; i < n; ++i) {
        const double size = fabs(m[i]), x = size < 708.0 ? -size : -708.0;
        const double sum = x * 0x1.71547652b82fep+6 + kNearest, whole = sum - kNearest;
        const double r = (x - whole * 0x1.62e42fef80000p-7) - whole * 0x1.1cf79abc9e3b4p-42, r2 = r * r;
        const double q = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
        std::int64_t place, bits;
        memcpy(&place, &sum, sizeof place);
        place -= nearest;
        memcpy(&bits, kRootsOfTwo + (place & 63), sizeof bits);
        bits += std::int64_t(std::uint64_t(place & ~std::int64_t(63)) << 46);
        double power;
        memcpy(&power, &bits, sizeof power);
        const double value = (power + power * r) + (power * r2) * q;
        out[i] = size < 708.0 ? value : 0.0;
    }
}

SX_HOT void logarithms(const double* small, int n, double* out) {
    for (int i = 0; i < n; ++i) out[i] = log_of_one_and(small[i]);
}

// Of each loss: its value, slope and curvature at some margins, and its value alone.
struct LogLosses {
    SX_HOT static void all(const double* m, int n, double* value, double* slope, double* bend) {
        double small[kBlock];
        exponentials(m, n, small);
        logarithms(small, n, value);
        for (int i = 0; i < n; ++i) {
            const double whole = 1.0 + small[i];
            value[i] = (m[i] < 0.0 ? -m[i] : 0.0) + value[i];
            slope[i] = -(m[i] < 0.0 ? 1.0 : small[i]) / whole;
            bend[i] = small[i] / (whole * whole);
        }
    }
    SX_HOT static void values(const double* m, int n, double* value) {
        double small[kBlock];
        exponentials(m, n, small);
        logarithms(small, n, value);
        for (int i = 0; i < n; ++i) value[i] = (m[i] < 0.0 ? -m[i] : 0.0) + value[i];
    }
};

struct SquaredHingeLosses {
    SX_HOT static void all(const double* m, int n, double* value, double* slope, double* bend) {
        for (int i = 0; i < n; ++i) {
            const double slack = m[i] < 1.0 ? 1.0 - m[i] : 0.0;
            value[i] = slack * slack;
            slope[i] = -2.0 * slack;
            bend[i] = m[i] < 1.0 ? 2.0 : 0.0;
        }
    }
    SX_HOT static void values(const double* m, int n, double* value) {
        for (int i = 0; i < n; ++i) {
            const double slack = m[i] < 1.0 ? 1.0 - m[i] : 0.0;
            value[i] = slack * slack;
        }
    }
};

// Call work(first, n, margins) for blocks of rows.
template <class Work>
SX_HOT void each_block(const Losses& job, Work work) {
    double margins[kBlock];
    for (std::int64_t first = 0; first < job.n; first += kBlock) {
        const int n = int(job.n - first < kBlock ? job.n - first : kBlock);
        const double* scores = job.scores + first;
        const double* signs = job.signs + first;
        if (job.along) {
            const double* along = job.along + first;
            for (int i = 0; i < n; ++i) margins[i] = signs[i] * ((scores[i] + job.length * along[i]) + job.bias);
        } else {
            for (int i = 0; i < n; ++i) margins[i] = signs[i] * (scores[i] + job.bias);
        }
        work(first, n, margins);
    }
}
