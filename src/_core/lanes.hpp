// Vector registers: how numbers are loaded and stored, summed in lanes, and taken in single precision.
//
// Included by rows.hpp only, inside the namespace of one build.

constexpr int kLanes = 16;
constexpr int kSparseLanes = 4;

// kWidth doubles in one register, and kTogether: how many weight vectors one reading of a row serves at once.
#if defined(__GNUC__) && defined(__AVX512F__)
#define SX_AVX512 1
#endif
#if defined(__GNUC__) && defined(__AVX2__)
#define SX_AVX2 1
#endif
#if defined(SX_AVX512)
constexpr int kWidth = 8, kTogether = 5;
#elif defined(SX_AVX2)
constexpr int kWidth = 4, kTogether = 2;
#elif defined(__GNUC__)
constexpr int kWidth = 2, kTogether = 1;
#else
constexpr int kWidth = 1, kTogether = 1;
#endif
constexpr int kRegisters = kLanes / kWidth;

// A dot product must live inside its loop, an update outside it: left to itself the compiler does the opposite.
#if defined(__GNUC__)
#define SX_HOT __attribute__((always_inline)) inline
#define SX_COLD __attribute__((noinline))
#define SX_UNROLL _Pragma("GCC unroll 16")
#else
#define SX_HOT inline
#define SX_COLD
#define SX_UNROLL
#endif

#if defined(__GNUC__)
typedef double Vec __attribute__((vector_size(kWidth * sizeof(double))));
typedef double Vec4 __attribute__((vector_size(4 * sizeof(double))));
template <class T>
struct Pack {
    typedef T type __attribute__((vector_size(kWidth * sizeof(T))));
};
template <class T>
SX_HOT Vec load(const T* p) {
    typename Pack<T>::type v;
    __builtin_memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Vec);
}
// The compilers' own widening of a float vector goes through halves; the one instruction is worth naming.
#if defined(SX_AVX512)
SX_HOT Vec load(const float* p) { return (Vec)_mm512_cvtps_pd(_mm256_loadu_ps(p)); }
#elif defined(SX_AVX2)
SX_HOT Vec load(const float* p) { return (Vec)_mm256_cvtps_pd(_mm_loadu_ps(p)); }
#elif defined(__SSE2__)
SX_HOT Vec load(const float* p) { return (Vec)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i_u*)p))); }
#endif
inline void store(double* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
template <class V>
SX_HOT V at_least(V v, double low) {
    const V all = V{} + low;
#if defined(SX_AVX512)
    if constexpr (sizeof v == 64) return (V)_mm512_max_pd((__m512d)v, (__m512d)all);
#endif
#if defined(SX_AVX2)
    if constexpr (sizeof v == 32) return (V)_mm256_max_pd((__m256d)v, (__m256d)all);
#endif
    return v > all ? v : all;
}
// The first n values, then zeros; nothing behind them is read.
#if defined(SX_AVX512)
SX_HOT Vec load_first(const double* p, int n) { return (Vec)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1u), p); }
SX_HOT Vec load_first(const float* p, int n) {
    return (Vec)_mm512_cvtps_pd(_mm256_maskz_loadu_ps((__mmask8)((1u << n) - 1u), p));
}
#elif defined(SX_AVX2)
SX_HOT __m256i first_four(int n) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)); }
SX_HOT Vec load_first(const double* p, int n) { return (Vec)_mm256_maskload_pd(p, first_four(n)); }
SX_HOT Vec load_first(const float* p, int n) {
    const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3));
    return (Vec)_mm256_cvtps_pd(_mm_maskload_ps(p, lanes));
}
#else
template <class T>
SX_HOT Vec load_first(const T* p, int n) {
    Vec v = Vec{};
    SX_UNROLL for (int l = 0; l < kWidth; ++l) {
        if (l < n) v[l] = double(p[l]);
    }
    return v;
}
#endif
#else
typedef double Vec;
template <class T>
inline Vec load_first(const T* p, int n) {
    return n > 0 ? double(*p) : 0.0;
}
template <class T>
SX_HOT Vec load(const T* p) {
    return double(*p);
}
inline void store(double* p, Vec v) { *p = v; }
inline Vec at_least(Vec v, double low) { return v > low ? v : low; }
#endif

inline bool is_finite(double v) { return v - v == 0.0; }

template <int N>
struct Block {
    static constexpr int size = N;
};

// Call work(Block<N>, first) for blocks of weight vectors that cover 0..n, as large as the registers and `most` allow; stop
// at the first that returns false.
template <int most, class Work>
SX_HOT bool in_blocks(int n, Work work) {
    constexpr int large = most < kTogether ? most : kTogether;
    int k = 0;
    for (; k + large <= n; k += large) {
        if (!work(Block<large>{}, k)) return false;
    }
    for (; large > 2 && k + 2 <= n; k += 2) {
        if (!work(Block<2>{}, k)) return false;
    }
    for (; k < n; ++k) {
        if (!work(Block<1>{}, k)) return false;
    }
    return true;
}

// Single precision, for quick predictions only: their sums may be taken in any order and fused, since a bound on the
// error decides whether the result counts.
#if defined(__GNUC__)
constexpr int kFloats = 2 * kWidth;
typedef float FVec __attribute__((vector_size(kFloats * sizeof(float))));
SX_HOT FVec load_floats(const float* p) {
    FVec v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
SX_HOT float sum_of_floats(FVec v) {
#if defined(SX_AVX512)
    return _mm512_reduce_add_ps((__m512)v);
#else
    float lane[kFloats];
    __builtin_memcpy(lane, &v, sizeof v);
    SX_UNROLL for (int half = kFloats / 2; half > 0; half /= 2) {
        SX_UNROLL for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    return lane[0];
#endif
}
#else
constexpr int kFloats = 1;
typedef float FVec;
SX_HOT FVec load_floats(const float* p) { return *p; }
SX_HOT float sum_of_floats(FVec v) { return v; }
#endif
#if defined(SX_AVX512)
SX_HOT void store_floats(float* p, Vec v) { _mm256_storeu_ps(p, _mm512_cvtpd_ps((__m512d)v)); }
#elif defined(SX_AVX2)
SX_HOT void store_floats(float* p, Vec v) { _mm_storeu_ps(p, _mm256_cvtpd_ps((__m256d)v)); }
#else
SX_HOT void store_floats(float* p, Vec v) {
    double lane[kWidth];
    store(lane, v);
    for (int l = 0; l < kWidth; ++l) p[l] = float(lane[l]);
}
#endif
#if defined(SX_AVX512)
SX_HOT FVec multiply_add(FVec a, FVec b, FVec c) { return (FVec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(SX_AVX2)
SX_HOT FVec multiply_add(FVec a, FVec b, FVec c) { return (FVec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#else
SX_HOT FVec multiply_add(FVec a, FVec b, FVec c) { return a * b + c; }
#endif

SX_HOT double sum_of_four(const double* sum) { return (sum[0] + sum[2]) + (sum[1] + sum[3]); }

// 8 + 8, 4 + 4, 2 + 2, 1 + 1.
SX_HOT double sum_of_lanes(Vec* sum) {
    SX_UNROLL for (int half = kRegisters / 2; half > 0; half /= 2) {
        SX_UNROLL for (int r = 0; r < half; ++r) sum[r] += sum[r + half];
    }
#if defined(SX_AVX512)
    const __m512d whole = (__m512d)sum[0];
    const __m256d four = _mm512_castpd512_pd256(whole) + _mm512_extractf64x4_pd(whole, 1);
    const __m128d two = _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    return two[0] + two[1];
#elif defined(SX_AVX2)
    const __m256d four = (__m256d)sum[0];
    const __m128d two = _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    return two[0] + two[1];
#else
    double lane[kWidth];
    store(lane, sum[0]);
    return kWidth == 1 ? lane[0] : lane[0] + lane[kWidth - 1];
#endif
}

// Every cache line that the bytes touch, of the first few kilobytes.
SX_HOT void prefetch_lines(const void* from, std::int64_t bytes) {
    const char* p = static_cast<const char*>(from);
    const char* end = p + (bytes < 4096 ? bytes : 4096);
    for (p -= reinterpret_cast<std::uintptr_t>(p) % 64; p < end; p += 64) prefetch(p);
}
