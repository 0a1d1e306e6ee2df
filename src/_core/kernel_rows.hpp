// Kernel rows: from products to the Gaussian kernel, and weighted sums of rows.
//
// Included by dual_kernels.cpp only, inside the namespace of one build.

// e^x for x <= 0 in single precision, within 2 units in the last place: x = n ln2 + r with |r| <= ln2 / 2, and the
// polynomial of degree 6 of Cephes' expf. Below -87 the answer is that of -87, about 1e-38.
SX_HOT float exp_of_nonpositive(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float n = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;  // round to the nearest whole number
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    const std::int32_t bits = (std::int32_t(n) + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

void exponentials(const float* products, std::int64_t n, std::int64_t cols, const double* left, const double* right,
                  double gamma, float* store, std::int64_t stride, const std::int64_t* slots, std::int64_t begin,
                  std::int64_t end) {
    constexpr std::int64_t kPiece = 512;
    float offset[kPiece];
    const float twice = float(2.0 * gamma);
    for (std::int64_t first = begin; first < end; first += kPiece) {
        const std::int64_t m = end - first < kPiece ? end - first : kPiece;
        for (std::int64_t k = 0; k < n; ++k) {
            // Columns are taken in pieces so that `right` is read from the nearest cache for all rows.
            const double here = left[k];
            for (std::int64_t j = 0; j < m; ++j) offset[j] = float(gamma * (here + right[first + j]));
            const float* from = products + k * cols + first;
            float* to = store + slots[k] * stride + first;
            for (std::int64_t j = 0; j < m; ++j) {
                const float x = twice * from[j] - offset[j];
                to[j] = exp_of_nonpositive(x < 0.0f ? x : 0.0f);
            }
        }
    }
}

// Four rows at a time, so that the sums are read and written a quarter as often.
template <class T>
void add_rows(const KernelRows<T>& rows, const double* coef, std::int64_t begin, std::int64_t end, double* sums) {
    constexpr std::int64_t kPiece = 1024;
    for (std::int64_t first = begin; first < end; first += kPiece) {
        const std::int64_t m = end - first < kPiece ? end - first : kPiece;
        double* out = sums + first;
        std::int64_t k = 0;
        for (; k + 4 <= rows.n; k += 4) {
            const T* a = rows.store + rows.slots[k] * rows.stride + first;
            const T* b = rows.store + rows.slots[k + 1] * rows.stride + first;
            const T* c = rows.store + rows.slots[k + 2] * rows.stride + first;
            const T* d = rows.store + rows.slots[k + 3] * rows.stride + first;
            const double p = coef[k], q = coef[k + 1], r = coef[k + 2], s = coef[k + 3];
            for (std::int64_t j = 0; j < m; ++j) {
                out[j] += (p * double(a[j]) + q * double(b[j])) + (r * double(c[j]) + s * double(d[j]));
            }
        }
        for (; k < rows.n; ++k) {
            const T* a = rows.store + rows.slots[k] * rows.stride + first;
            for (std::int64_t j = 0; j < m; ++j) out[j] += coef[k] * double(a[j]);
        }
    }
}
