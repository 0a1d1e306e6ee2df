// The binding of coordinate descent with an L1 penalty: the columns of chosen features, and the steps of the descent.
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

#include "bind.hpp"
#include "descent.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

using Indices = Vector<const std::int64_t>;

template <class T>
nb::object hold(std::vector<T>&& values, const void** data) {
    auto* kept = new std::vector<T>(std::move(values));
    *data = kept->data();
    return nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}

void expect_chosen(const Indices& chosen, std::int64_t n) {
    expect_aligned(chosen);
    std::int64_t last = -1;
    for (std::size_t k = 0; k < chosen.shape(0); ++k) {
        const std::int64_t j = chosen.data()[k];
        expect(last < j && j < n, "chosen must hold ascending numbers of rows or columns that are there");
        last = j;
    }
}

template <class T>
constexpr Value value_of = sizeof(T) == 4 ? Value::f32 : Value::f64;

constexpr std::int64_t kTogether = 16;  // rows that are read together while a table is turned

template <class T, class Out>
HeldMatrix dense_columns(const Matrix& m, const Indices& chosen, double constant) {
    const std::int64_t count = chosen.shape(0), k = count + (constant != 0.0);
    HeldMatrix held;
    {
        nb::gil_scoped_release free;
        std::vector<Out> turned(k * m.rows);
        const T* data = static_cast<const T*>(m.data);
        for (std::int64_t first = 0; first < m.rows; first += kTogether) {
            const std::int64_t last = std::min(first + kTogether, m.rows);
            for (std::int64_t a = 0; a < count; ++a) {
                const T* from = data + chosen.data()[a];
                const Out off = m.centre ? Out(m.centre[chosen.data()[a]]) : Out(0);
                for (std::int64_t i = first; i < last; ++i) turned[a * m.rows + i] = Out(from[i * m.stride]) - off;
            }
        }
        std::fill(turned.begin() + count * m.rows, turned.end(), Out(constant));
        nb::gil_scoped_acquire hold_again;
        const void* kept = nullptr;
        held.data = hold(std::move(turned), &kept);
        held.m = {Layout::dense, value_of<Out>, Index::i32, kept, nullptr, nullptr, k, m.rows, m.rows};
    }
    return held;
}

template <class T, class Out, class I, class J>
HeldMatrix sparse_columns(const Matrix& m, const Indices& chosen, double constant) {
    const std::int64_t count = chosen.shape(0), k = count + (constant != 0.0);
    const T* data = static_cast<const T*>(m.data);
    const I* indices = static_cast<const I*>(m.indices);
    const I* indptr = static_cast<const I*>(m.indptr);
    std::vector<Out> values;
    std::vector<J> rows, starts(k + 1);
    {
        nb::gil_scoped_release free;
        std::vector<std::int32_t> place(m.cols, -1);
        for (std::int64_t a = 0; a < count; ++a) place[chosen.data()[a]] = std::int32_t(a);
        const std::int64_t stored = indptr[m.rows];
        std::vector<std::int64_t> next(k + 1);
        for (std::int64_t p = 0; p < stored; ++p) {
            const std::int32_t a = place[indices[p]];
            if (a >= 0) ++next[a + 1];
        }
        if (constant != 0.0) next[k] = m.rows;
        for (std::int64_t a = 0; a < k; ++a) next[a + 1] += next[a];
        for (std::int64_t a = 0; a <= k; ++a) starts[a] = J(next[a]);
        values.resize(next[k]);
        rows.resize(next[k]);
        for (std::int64_t i = 0; i < m.rows; ++i) {
            for (std::int64_t p = indptr[i]; p < std::int64_t(indptr[i + 1]); ++p) {
                const std::int32_t a = place[indices[p]];
                if (a < 0) continue;
                values[next[a]] = Out(data[p]) - (m.centre ? Out(m.centre[indices[p]]) : Out(0));
                rows[next[a]++] = J(i);
            }
        }
        for (std::int64_t i = 0; constant != 0.0 && i < m.rows; ++i) {
            values[next[count]] = Out(constant);
            rows[next[count]++] = J(i);
        }
    }
    HeldMatrix held;
    held.m = {Layout::csr, value_of<Out>, sizeof(J) == 4 ? Index::i32 : Index::i64, nullptr, nullptr, nullptr, k, m.rows, 0};
    held.data = hold(std::move(values), &held.m.data);
    held.indices = hold(std::move(rows), &held.m.indices);
    held.indptr = hold(std::move(starts), &held.m.indptr);
    return held;
}

template <class T, class Out, class I>
HeldMatrix sparse_columns(const Matrix& m, const Indices& chosen, double constant) {
    const std::int64_t most = std::int64_t(static_cast<const I*>(m.indptr)[m.rows]) + m.rows;
    return most < (std::int64_t(1) << 31) ? sparse_columns<T, Out, I, std::uint32_t>(m, chosen, constant)
                                          : sparse_columns<T, Out, I, std::int64_t>(m, chosen, constant);
}

template <class T, class Out>
HeldMatrix columns_of(const Matrix& m, const Indices& chosen, double constant) {
    if (m.layout == Layout::dense) return dense_columns<T, Out>(m, chosen, constant);
    return with_csr(m, [&]<class I>(const I*, const I*) { return sparse_columns<T, Out, I>(m, chosen, constant); });
}

HeldMatrix columns(const HeldMatrix& X, Indices chosen, double constant) {
    expect_chosen(chosen, X.m.cols);
    expect(std::int64_t(chosen.shape(0)) < (std::int64_t(1) << 31) - 1, "too many columns at once");
    if (X.m.value == Value::f64) return columns_of<double, double>(X.m, chosen, constant);
    return X.m.centre ? columns_of<float, double>(X.m, chosen, constant) : columns_of<float, float>(X.m, chosen, constant);
}

template <class T, class I>
HeldMatrix sparse_turned(const Matrix& m, const Indices& chosen) {
    const std::int64_t k = chosen.shape(0), n = m.cols;
    const T* data = static_cast<const T*>(m.data);
    const I* indices = static_cast<const I*>(m.indices);
    const I* indptr = static_cast<const I*>(m.indptr);
    std::vector<I> starts(n + 1), columns;
    std::vector<T> values;
    {
        nb::gil_scoped_release free;
        for (std::int64_t a = 0; a < k; ++a) {
            const std::int64_t j = chosen.data()[a];
            for (std::int64_t p = indptr[j]; p < std::int64_t(indptr[j + 1]); ++p) ++starts[indices[p] + 1];
        }
        for (std::int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
        values.resize(starts[n]);
        columns.resize(starts[n]);
        std::vector<I> next(starts.begin(), starts.end() - 1);
        for (std::int64_t a = 0; a < k; ++a) {
            const std::int64_t j = chosen.data()[a];
            for (std::int64_t p = indptr[j]; p < std::int64_t(indptr[j + 1]); ++p) {
                columns[next[indices[p]]] = I(a);
                values[next[indices[p]]++] = data[p];
            }
        }
    }
    HeldMatrix held;
    held.m = {Layout::csr, m.value, m.index, nullptr, nullptr, nullptr, n, k, 0};
    held.data = hold(std::move(values), &held.m.data);
    held.indices = hold(std::move(columns), &held.m.indices);
    held.indptr = hold(std::move(starts), &held.m.indptr);
    return held;
}

template <class T>
HeldMatrix turned_as(const Matrix& m, const Indices& chosen) {
    if (m.layout == Layout::csr) {
        return with_csr(m, [&]<class I>(const I*, const I*) { return sparse_turned<T, I>(m, chosen); });
    }
    const std::int64_t k = chosen.shape(0), n = m.cols;
    std::vector<T> values(n * k);
    {
        nb::gil_scoped_release free;
        const T* data = static_cast<const T*>(m.data);
        for (std::int64_t first = 0; first < n; first += kTogether) {
            const std::int64_t last = std::min(first + kTogether, n);
            for (std::int64_t a = 0; a < k; ++a) {
                const T* from = data + chosen.data()[a] * m.stride;
                for (std::int64_t i = first; i < last; ++i) values[i * k + a] = from[i];
            }
        }
    }
    HeldMatrix held;
    held.m = {Layout::dense, m.value, Index::i32, nullptr, nullptr, nullptr, n, k, k};
    held.data = hold(std::move(values), &held.m.data);
    return held;
}

auto stored(const HeldMatrix& columns) {
    const Matrix& m = columns.m;
    std::vector<double> out(m.rows, double(m.cols));
    if (m.layout == Layout::csr) {
        with_csr(m, [&](const auto*, const auto* indptr) {
            for (std::int64_t j = 0; j < m.rows; ++j) out[j] = double(indptr[j + 1] - indptr[j]);
        });
    }
    return to_numpy(std::move(out));
}

HeldMatrix turned(const HeldMatrix& columns, Indices chosen) {
    expect_chosen(chosen, columns.m.rows);
    return columns.m.value == Value::f32 ? turned_as<float>(columns.m, chosen) : turned_as<double>(columns.m, chosen);
}

Losses losses_of(bool squared, const Vector<const double>& scores, double bias, const Vector<const double>& signs,
                 const Vector<const double>& costs) {
    const std::size_t n = scores.shape(0);
    expect(signs.shape(0) == n && costs.shape(0) == n, "scores, signs and costs differ in number");
    expect_aligned(scores, signs, costs);
    return {squared ? Smooth::squared_hinge : Smooth::log, std::int64_t(n), scores.data(), nullptr, 0.0, bias,
            signs.data(), costs.data()};
}

auto slopes(bool squared, Vector<const double> scores, double bias, Vector<const double> signs,
            Vector<const double> costs) {
    const Losses job = losses_of(squared, scores, bias, signs, costs);
    std::vector<double> slope(job.n), curvature(job.n);
    Slopes sums;
    {
        nb::gil_scoped_release free;
        sums = kernels().descent->slopes(job, slope.data(), curvature.data());
    }
    return std::make_tuple(sums.loss, sums.slope, sums.curvature, to_numpy(std::move(slope)),
                           to_numpy(std::move(curvature)));
}

double loss_along(bool squared, Vector<const double> scores, Vector<const double> along, double length, double bias,
                  Vector<const double> signs, Vector<const double> costs) {
    Losses job = losses_of(squared, scores, bias, signs, costs);
    expect(along.shape(0) == scores.shape(0), "scores and steps differ in number");
    expect_aligned(along);
    job.along = along.data();
    job.length = length;
    nb::gil_scoped_release free;
    return kernels().descent->loss(job);
}

double apart(bool squared, Vector<const double> scores, double bias, Vector<const double> signs,
             Vector<const double> costs, Vector<const double> alpha, double scale) {
    const Losses job = losses_of(squared, scores, bias, signs, costs);
    expect(alpha.shape(0) == scores.shape(0), "scores and alpha differ in number");
    expect_aligned(alpha);
    nb::gil_scoped_release free;
    return kernels().descent->apart(job, alpha.data(), scale);
}

auto penalty_gap(Vector<const double> w, Vector<const double> z, double scale, double ridge, double lasso) {
    expect(w.shape(0) == z.shape(0), "weights and slopes differ in number");
    expect_aligned(w, z);
    PenaltyGap out;
    {
        nb::gil_scoped_release free;
        out = kernels().descent->penalty_gap(w.data(), z.data(), w.shape(0), scale, ridge, lasso);
    }
    return std::make_tuple(out.gap, out.penalty, out.reach);
}

double largest(Vector<const double> z) {
    expect_aligned(z);
    nb::gil_scoped_release free;
    return kernels().descent->largest(z.data(), z.shape(0));
}

auto combine_precisely(const HeldMatrix& X, Vector<const double> v) {
    expect(std::int64_t(v.shape(0)) == X.m.rows, "factors and rows differ in number");
    expect_aligned(v);
    return made(X.m.cols, [&](double* out) {
        std::vector<double> errors(X.m.cols);
        kernels().descent->combine_precisely(X.m, v.data(), out, errors.data());
    });
}

auto log_values(Vector<const double> m) {
    expect_aligned(m);
    return made(m.shape(0), [&](double* out) { kernels().descent->log_losses(m.data(), m.shape(0), out, nullptr); });
}

auto log_pulls(Vector<const double> m) {
    expect_aligned(m);
    return made(m.shape(0), [&](double* out) { kernels().descent->log_losses(m.data(), m.shape(0), nullptr, out); });
}

auto log_divergences(Vector<const double> p, Vector<const double> m) {
    expect(p.shape(0) == m.shape(0), "p and m differ in number");
    expect_aligned(p, m);
    return made(m.shape(0), [&](double* out) {
        kernels().descent->log_divergences(p.data(), m.data(), m.shape(0), out);
    });
}

auto spread(const HeldMatrix& X, Vector<const double> weights) {
    expect(std::int64_t(weights.shape(0)) == X.m.rows, "weights and rows differ in number");
    expect_aligned(weights);
    return made(X.m.cols, [&](double* out) { kernels().descent->spread(X.m, weights.data(), out); });
}

auto curve(const HeldMatrix& columns, Indices chosen, Vector<const double> curvature, Vector<const double> residual) {
    expect_chosen(chosen, columns.m.rows);
    const std::size_t n = columns.m.cols, m = chosen.shape(0);
    expect(curvature.shape(0) == n && residual.shape(0) == n, "columns and rows differ in length");
    expect_aligned(curvature, residual);
    std::vector<double> squares(m), sums(m), slopes(m);
    {
        nb::gil_scoped_release free;
        kernels().descent->curve(columns.m, chosen.data(), m, curvature.data(), residual.data(), squares.data(),
                                 sums.data(), slopes.data());
    }
    return std::make_tuple(to_numpy(std::move(squares)), to_numpy(std::move(sums)), to_numpy(std::move(slopes)));
}

auto descend(const HeldMatrix& columns, Indices chosen, Vector<double> weights, Vector<double> residual,
             Vector<const double> curvature, Vector<const double> bends, Vector<const double> sums, double total,
             double shift, double ridge, double lasso, double enough, std::int64_t epochs, std::int64_t most) {
    expect_chosen(chosen, columns.m.rows);
    const std::size_t n = columns.m.cols, m = chosen.shape(0);
    expect(curvature.shape(0) == n && residual.shape(0) == n, "columns and rows differ in length");
    expect(weights.shape(0) == m && bends.shape(0) == m && sums.shape(0) == m, "weights and features differ in number");
    expect_aligned(curvature, bends, sums, weights, residual);
    const Quadratic model{curvature.data(), bends.data(), total > 0.0 ? sums.data() : nullptr, total, ridge, lasso};
    DescentState state{weights.data(), residual.data(), shift, 0, 0, 0.0};
    {
        nb::gil_scoped_release free;
        std::vector<std::int64_t> order(m);
        std::vector<double> room(std::size_t(descent_room(m, n)));
        kernels().descent->descend(columns.m, chosen.data(), m, model, state, enough, epochs, most, order.data(),
                                   room.data());
    }
    return std::make_tuple(state.shift, state.violation, state.epochs, state.read);
}

auto descend_gram(Table<const double> table, Vector<double> weights, Vector<double> slope, double ridge, double lasso,
                  double enough, std::int64_t epochs) {
    const std::size_t m = table.shape(0);
    expect(table.shape(1) == m && weights.shape(0) == m && slope.shape(0) == m, "table and weights differ in size");
    expect_aligned(table, weights, slope);
    const Quadratic model{nullptr, nullptr, nullptr, 0.0, ridge, lasso};
    DescentState state{weights.data(), nullptr, 0.0, 0, 0, 0.0};
    {
        nb::gil_scoped_release free;
        std::vector<std::int64_t> room(m);
        kernels().descent->descend_gram(table.data(), m, model, slope.data(), state, enough, epochs, room.data());
    }
    return std::make_tuple(state.violation, state.epochs, state.read);
}

}  // namespace

void sx::bind_descent(nb::module_& module) {
    module.def("columns", &columns, "X"_a, "chosen"_a.noconvert(), "constant"_a,
               "The chosen columns of a matrix as the rows of another, and behind them one of a constant that is not 0.");
    module.def("turned", &turned, "columns"_a, "chosen"_a.noconvert(),
               "The rows of the data again, with the chosen features only.");
    module.def("stored", &stored, "columns"_a, "How many numbers each row of a matrix holds.");
    module.def("slopes", &slopes, "squared"_a, "scores"_a.noconvert(), "bias"_a, "signs"_a.noconvert(),
               "costs"_a.noconvert(), "The sums of losses, slopes and curvatures, and the latter two of every row.");
    module.def("loss_along", &loss_along, "squared"_a, "scores"_a.noconvert(), "along"_a.noconvert(), "length"_a,
               "bias"_a, "signs"_a.noconvert(), "costs"_a.noconvert(), "The loss at scores + length * along + bias.");
    module.def("combine_precisely", &combine_precisely, "X"_a, "v"_a.noconvert(),
               "X' v, as if each sum were rounded once; at a price of several times that of combine.");
    module.def("log_values", &log_values, "m"_a.noconvert(), "log(1 + exp(-m)) of every margin.");
    module.def("log_pulls", &log_pulls, "m"_a.noconvert(), "1 / (1 + exp(m)) of every margin.");
    module.def("log_divergences", &log_divergences, "p"_a.noconvert(), "m"_a.noconvert(),
               "How far each p is from the pull of its margin.");
    module.def("apart", &apart, "squared"_a, "scores"_a.noconvert(), "bias"_a, "signs"_a.noconvert(),
               "costs"_a.noconvert(), "alpha"_a.noconvert(), "scale"_a,
               "The rows' part of the duality gap, for scale * alpha.");
    module.def("penalty_gap", &penalty_gap, "w"_a.noconvert(), "z"_a.noconvert(), "scale"_a, "ridge"_a, "lasso"_a,
               "The features' part of the duality gap, the penalty, and the length of the weights that fit scale z.");
    module.def("largest", &largest, "z"_a.noconvert(), "The largest size among numbers.");
    module.def("spread", &spread, "X"_a, "weights"_a.noconvert(), "The sum of weight x^2 of every column.");
    module.def("curve", &curve, "columns"_a, "chosen"_a.noconvert(), "curvature"_a.noconvert(),
               "residual"_a.noconvert(), "Of each chosen row x of the matrix: the sums of D x^2, D x and r x.");
    module.def("descend", &descend, "columns"_a, "chosen"_a.noconvert(), "weights"_a.noconvert(),
               "residual"_a.noconvert(), "curvature"_a.noconvert(), "bends"_a.noconvert(), "sums"_a.noconvert(),
               "total"_a, "shift"_a, "ridge"_a, "lasso"_a, "enough"_a, "epochs"_a, "most"_a,
               "Coordinate descent on a quadratic model: the shift, the violation, epochs, and numbers read.");
    module.def("descend_gram", &descend_gram, "table"_a.noconvert(), "weights"_a.noconvert(), "slope"_a.noconvert(),
               "ridge"_a, "lasso"_a, "enough"_a, "epochs"_a,
               "The same where the products of all features are at hand: the violation, epochs, and numbers read.");
}
