// Keys of rows: 128 bits each, the same for equal rows, however they are stored.
//
// Included by exact.cpp only, inside the namespace of one build.

// A key of a row in two sums over its numbers. The two halves of a number's 64 bits, as a double, each plus half of a
// key of the column, are multiplied (the function NH of Black, Halevi, Krawczyk, Krovetz and Rogaway, UMAC, CRYPTO
// 1999: for random keys, two different rows agree in one sum with a probability of 2^-32, whatever their values). What
// a 0 would add is taken off, so that it adds nothing, stored or not.
SX_HOT std::uint64_t half_product(std::uint64_t bits, std::uint64_t key) {
    return std::uint64_t(std::uint32_t(bits) + std::uint32_t(key)) *
           std::uint64_t(std::uint32_t(bits >> 32) + std::uint32_t(key >> 32));
}

SX_HOT std::uint64_t number_bits(double v) {
    v += 0.0;  // -0 becomes +0
    std::uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#if defined(__SSE2__) && defined(__GNUC__)
typedef std::uint64_t Keys __attribute__((vector_size(kWidth * sizeof(std::uint64_t))));
typedef std::uint32_t Halves __attribute__((vector_size(kWidth * sizeof(std::uint64_t))));
SX_HOT Keys half_products(Vec v, const std::uint64_t* keys) {
    Halves key;
    memcpy(&key, keys, sizeof key);
    const Keys sum = (Keys)((Halves)v + key), high = sum >> 32;
#if defined(SX_AVX512)
    return (Keys)_mm512_mul_epu32((__m512i)sum, (__m512i)high);
#elif defined(SX_AVX2)
    return (Keys)_mm256_mul_epu32((__m256i)sum, (__m256i)high);
#else
    return (Keys)_mm_mul_epu32((__m128i)sum, (__m128i)high);
#endif
}
#else
#define SX_SCALAR_KEYS 1
#endif

template <class T>
void hash_all(const Dense<T>& X, std::int64_t begin, std::int64_t end, const std::uint64_t* keys, std::uint64_t* out) {
    const std::uint64_t* const other = keys + key_width(X.cols);
    std::uint64_t empty[2] = {};
    for (std::int64_t j = 0; j < X.cols; ++j) {
        empty[0] += half_product(0, keys[j]);
        empty[1] += half_product(0, other[j]);
    }
    for (std::int64_t i = begin; i < end; ++i, out += 2) {
        const T* x = X.row(i);
        out[0] = -empty[0];
        out[1] = -empty[1];
#if defined(SX_SCALAR_KEYS)
        for (std::int64_t j = 0; j < X.cols; ++j) {
            const std::uint64_t bits = number_bits(double(x[j]));
            out[0] += half_product(bits, keys[j]);
            out[1] += half_product(bits, other[j]);
        }
#else
        Keys first = Keys{}, second = Keys{};
        std::int64_t j = 0;
        for (; j + kWidth <= X.cols; j += kWidth) {
            const Vec v = load(x + j) + 0.0;
            first += half_products(v, keys + j);
            second += half_products(v, other + j);
        }
        if (j < X.cols) {  // behind the last column, zeros meet keys of 0
            const Vec v = load_first(x + j, int(X.cols - j)) + 0.0;
            first += half_products(v, keys + j);
            second += half_products(v, other + j);
        }
        std::uint64_t lane[2][kWidth];
        memcpy(lane[0], &first, sizeof first);
        memcpy(lane[1], &second, sizeof second);
        SX_UNROLL for (int l = 0; l < kWidth; ++l) {
            out[0] += lane[0][l];
            out[1] += lane[1][l];
        }
#endif
    }
}

template <class T, class I>
void hash_all(const Csr<T, I>& X, std::int64_t begin, std::int64_t end, const std::uint64_t* keys, std::uint64_t* out) {
    const std::uint64_t* const other = keys + key_width(X.cols);
    for (std::int64_t i = begin; i < end; ++i, out += 2) {
        std::uint64_t first = 0, second = 0;
        for (std::int64_t p = X.indptr[i]; p < std::int64_t(X.indptr[i + 1]); ++p) {
            const std::int64_t j = X.indices[p];
            const std::uint64_t bits = number_bits(double(X.data[p]));
            first += half_product(bits, keys[j]) - half_product(0, keys[j]);
            second += half_product(bits, other[j]) - half_product(0, other[j]);
        }
        out[0] = first;
        out[1] = second;
    }
}

void hash_rows(const Matrix& m, std::int64_t begin, std::int64_t end, const std::uint64_t* keys, std::uint64_t* out) {
    with_rows(m, [&](const auto& X) { hash_all(X, begin, end, keys, out); });
}
