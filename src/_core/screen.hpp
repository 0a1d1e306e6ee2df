// Quick predictions in single precision, for rules that learn from mistakes only.
//
// Most predictions are correct by far, and then only the sign of the activation matters. Over float32 rows, for several
// tasks at once, it is first taken in single precision with single-precision weights: the result differs from the double
// one by less than doubt * |x|, doubt = (d + 8) 2^-24 |w| (Higham 2002, section 3.1, with Cauchy's inequality for the sum
// of |w_j x_j|). Only a margin that clears the threshold by more than that is believed; all others are computed in double.
// So every decision, and with it every bit of the weights, is that of the double computation.
//
// Included by kernels.cpp only, inside the namespace of one build.

// Threads that ask about the same rows may note the same length at the same time.
#if defined(__GNUC__)
SX_HOT float load_relaxed(const float* p) {
    float value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
SX_HOT void store_relaxed(float* p, float value) { __atomic_store(p, &value, __ATOMIC_RELAXED); }
#else
inline float load_relaxed(const float* p) { return *p; }
inline void store_relaxed(float* p, float value) { *p = value; }
#endif

// Make the single-precision copy of the weights, and the doubt that it brings.
template <class Rows>
void cast_shadow(const Rows& X, BinaryTask& t) {
    const double* w = t.w;
    float* shadow = t.shadow;
    Vec sum[2] = {Vec{}, Vec{}};
    std::int64_t j = 0;
    for (; j + 2 * kWidth <= X.cols; j += 2 * kWidth) {
        SX_UNROLL for (int r = 0; r < 2; ++r) {
            const Vec v = load(w + j + r * kWidth);
            store_floats(shadow + j + r * kWidth, v);
            sum[r] += v * v;
        }
    }
    double lane[kWidth], square = 0.0;
    store(lane, sum[0] + sum[1]);
    for (double part : lane) square += part;
    for (; j < X.cols; ++j) {
        shadow[j] = float(w[j]);
        square += w[j] * w[j];
    }
    t.doubt = 1.01 * double(X.cols + 8) * 0x1p-24 * ::sqrt(square);
}

// An upper bound on |x| from the single-precision sum of squares, allowing for rounding and underflow.
inline float length_bound(float square, std::int64_t cols) {
    return ::sqrtf(square) * (1.0f + float(cols + 8) * 0x1p-23f) + ::sqrtf(float(cols)) * 0x1p-62f;
}
