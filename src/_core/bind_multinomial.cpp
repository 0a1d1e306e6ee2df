// The binding of multinomial logistic regression: passes over the rows for all classes at once.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "bind.hpp"
#include "multinomial.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

using Look = std::optional<nb::callable>;
using Codes = Vector<const std::int64_t>;

constexpr double kLookAfter = 1e8;  // products, after which a caller is asked whether to go on

// One pass: the weights as the rows read them, the sums, the scratch; `each` is called for some rows at a time.
class Passage {
public:
    Passage(const HeldMatrix& X, std::size_t classes, const Codes& codes, const Vector<const double>& costs)
        : X_(X), k_(std::int64_t(classes)), dense_(X.m.layout == Layout::dense) {
        expect(X.m.centre == nullptr, "rows less a centre are not for several classes");
        expect(k_ >= 2 && k_ < (std::int64_t(1) << 30), "there must be two classes or more");
        expect(std::int64_t(codes.shape(0)) == X.m.rows && std::int64_t(costs.shape(0)) == X.m.rows,
               "codes, costs and rows differ in number");
        expect_aligned(codes);
        expect_aligned(costs);
        for (std::size_t i = 0; i < codes.shape(0); ++i) {
            expect(0 <= codes.data()[i] && codes.data()[i] < k_, "a code names a class that is not there");
        }
        rows_ = {0, X.m.rows, X.m.rows, codes.data(), costs.data()};
        shift_.assign(std::size_t(k_), 0.0);
        scores_ = {k_, nullptr, nullptr, shift_.data()};
    }

    template <class T>
    void expect_probabilities(const Table<T>& p, const Vector<T>& wrong) const {
        expect_lines(p.data(), p.shape(0), p.shape(1));
        expect(std::int64_t(wrong.shape(0)) == X_.m.rows, "probabilities and their sums differ in number");
        expect_aligned(wrong);
    }
    void expect_lines(const double* p, std::size_t k, std::size_t n) const {
        expect(std::int64_t(n) == X_.m.rows && std::int64_t(k) == k_, "there must be a probability for each class and row");
        expect(reinterpret_cast<std::uintptr_t>(p) % alignof(double) == 0, "probabilities are not aligned in memory");
    }

    // The scores: of weights, a line for each class, and of the shift.
    void score(const Table<const double>& weights, const Vector<const double>& shift) {
        const std::int64_t d = X_.m.cols, width = whole_lanes(k_);
        expect(std::int64_t(weights.shape(0)) == k_ && std::int64_t(weights.shape(1)) == d, "weights differ in shape");
        expect_aligned(weights);
        only(shift);
        if (dense_) {
            scores_.weights = weights.data();
            return;
        }
        turned_.assign(std::size_t(d * width), 0.0);
        for (std::int64_t c = 0; c < k_; ++c) {
            for (std::int64_t j = 0; j < d; ++j) turned_[j * width + c] = weights.data()[c * d + j];
        }
        scores_.turned = turned_.data();
    }
    void only(const Vector<const double>& shift) {
        expect(std::int64_t(shift.shape(0)) == k_, "the shift needs a number for each class");
        expect_aligned(shift);
        std::copy(shift.data(), shift.data() + k_, shift_.begin());
    }

    ClassSums wanted() {
        pulls_.assign(std::size_t(dense_ ? k_ * whole_lanes(X_.m.cols) : X_.m.cols * whole_lanes(k_)), 0.0);
        sums_.assign(std::size_t(k_), 0.0);
        return {sums_.data(), pulls_.data()};
    }

    template <class Each>
    void run(const Look& look, Each each) {
        std::vector<double> room(std::size_t(class_room(X_.m, k_)));
        const double numbers = double(stored_numbers(X_.m)) / double(std::max<std::int64_t>(X_.m.rows, 1));
        const std::int64_t together = class_rows(k_, X_.m.cols, dense_);
        const auto groups = std::int64_t(kLookAfter / (2.0 * double(k_) * (numbers + 4.0) * double(together))) + 1;
        const std::int64_t step = look ? groups * together : std::max<std::int64_t>(X_.m.rows, 1);
        nb::gil_scoped_release free;
        for (std::int64_t begin = 0; begin < X_.m.rows; begin += step) {
            ClassedRows some = rows_;
            some.begin = begin;
            some.end = std::min(begin + step, X_.m.rows);
            each(some, room.data());
            if (look && some.end < X_.m.rows) {
                nb::gil_scoped_acquire held;
                (*look)();
            }
        }
    }

    auto summed() {
        const std::int64_t d = X_.m.cols, along = whole_lanes(d), across = whole_lanes(k_);
        std::vector<double> pulls(std::size_t(k_ * d));
        for (std::int64_t c = 0; c < k_; ++c) {
            for (std::int64_t j = 0; j < d; ++j) pulls[c * d + j] = dense_ ? pulls_[c * along + j] : pulls_[j * across + c];
        }
        return std::make_tuple(to_numpy(std::move(pulls), {std::size_t(k_), std::size_t(d)}), to_numpy(std::move(sums_)));
    }

    const ClassScores& scores() const { return scores_; }

private:
    const HeldMatrix& X_;
    std::int64_t k_;
    bool dense_;
    std::vector<double> shift_, turned_, pulls_, sums_;
    ClassedRows rows_;
    ClassScores scores_;
};

auto class_losses(const HeldMatrix& X, Table<const double> weights, Vector<const double> shift, Codes codes,
                  Vector<const double> costs, Table<double> p, Vector<double> wrong, const Look& look) {
    Passage pass(X, weights.shape(0), codes, costs);
    pass.score(weights, shift);
    pass.expect_probabilities(p, wrong);
    const ClassSums wanted = pass.wanted();
    double loss = 0.0;
    pass.run(look, [&](const ClassedRows& rows, double* room) {
        loss += kernels().multinomial->losses(X.m, pass.scores(), rows, p.data(), wrong.data(), wanted, room);
    });
    return std::tuple_cat(std::make_tuple(loss), pass.summed());
}

double class_loss(const HeldMatrix& X, Table<const double> weights, Vector<const double> shift, Codes codes,
                  Vector<const double> costs, const Look& look) {
    Passage pass(X, weights.shape(0), codes, costs);
    pass.score(weights, shift);
    double loss = 0.0;
    pass.run(look, [&](const ClassedRows& rows, double* room) {
        loss += kernels().multinomial->losses(X.m, pass.scores(), rows, nullptr, nullptr, {nullptr, nullptr}, room);
    });
    return loss;
}

auto class_bends(const HeldMatrix& X, Table<const double> weights, Vector<const double> shift, Codes codes,
                 Vector<const double> costs, Table<const double> p, const Look& look) {
    Passage pass(X, weights.shape(0), codes, costs);
    pass.score(weights, shift);
    pass.expect_lines(p.data(), p.shape(0), p.shape(1));
    const ClassSums wanted = pass.wanted();
    pass.run(look, [&](const ClassedRows& rows, double* room) {
        kernels().multinomial->bent(X.m, pass.scores(), rows, p.data(), wanted, room);
    });
    return pass.summed();
}

void class_shift(const HeldMatrix& X, std::optional<Table<const double>> weights, Vector<const double> shift, Codes codes,
                 Vector<const double> costs, Table<double> p, Vector<double> wrong, const Look& look) {
    Passage pass(X, shift.shape(0), codes, costs);
    if (weights) {
        pass.score(*weights, shift);
    } else {
        pass.only(shift);
    }
    pass.expect_probabilities(p, wrong);
    pass.run(look, [&](const ClassedRows& rows, double* room) {
        kernels().multinomial->shifted(X.m, pass.scores(), rows, p.data(), wrong.data(), room);
    });
}

auto class_pulls(const HeldMatrix& X, Codes codes, Vector<const double> costs, Table<const double> p,
                 Vector<const double> wrong, const Look& look) {
    Passage pass(X, p.shape(0), codes, costs);
    pass.expect_probabilities(p, wrong);
    const ClassSums wanted = pass.wanted();
    pass.run(look, [&](const ClassedRows& rows, double* room) {
        kernels().multinomial->pulled(X.m, pass.scores(), rows, p.data(), wrong.data(), wanted, room);
    });
    return pass.summed();
}

double class_divergence(const HeldMatrix& X, Codes codes, Vector<const double> costs, Table<const double> p,
                        Vector<const double> p_wrong, Table<const double> q, Vector<const double> q_wrong,
                        const Look& look) {
    Passage pass(X, p.shape(0), codes, costs);
    pass.expect_probabilities(p, p_wrong);
    pass.expect_probabilities(q, q_wrong);
    double sum = 0.0;
    pass.run(look, [&](const ClassedRows& rows, double*) {
        sum += kernels().multinomial->apart(p.shape(0), rows, p.data(), p_wrong.data(), q.data(), q_wrong.data());
    });
    return sum;
}

}  // namespace

void sx::bind_multinomial(nb::module_& module) {
    module.def("class_losses", &class_losses, "X"_a, "weights"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert(),
               "costs"_a.noconvert(), "p"_a.noconvert(), "wrong"_a.noconvert(), "look"_a.none() = nb::none(),
               "The losses at scores weights x + shift, the probabilities (into p and wrong), and the sums over the rows "
               "of cost (p - 1[own class]) x and of cost (p - 1[own class]).");
    module.def("class_loss", &class_loss, "X"_a, "weights"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert(),
               "costs"_a.noconvert(), "look"_a.none() = nb::none(), "The losses alone.");
    module.def("class_bends", &class_bends, "X"_a, "weights"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert(),
               "costs"_a.noconvert(), "p"_a.noconvert(), "look"_a.none() = nb::none(),
               "The sums of cost (diag(p) - p p') s x and of the same without x, with s = weights x + shift.");
    module.def("class_shift", &class_shift, "X"_a, "weights"_a.noconvert().none(), "shift"_a.noconvert(),
               "codes"_a.noconvert(), "costs"_a.noconvert(), "p"_a.noconvert(), "wrong"_a.noconvert(),
               "look"_a.none() = nb::none(),
               "Move probabilities by a step of the scores, as if linear in them; without weights it is the same for all rows.");
    module.def("class_pulls", &class_pulls, "X"_a, "codes"_a.noconvert(), "costs"_a.noconvert(), "p"_a.noconvert(),
               "wrong"_a.noconvert(), "look"_a.none() = nb::none(),
               "The sums of cost (p - 1[own class]) x and of cost (p - 1[own class]).");
    module.def("class_divergence", &class_divergence, "X"_a, "codes"_a.noconvert(), "costs"_a.noconvert(),
               "p"_a.noconvert(), "p_wrong"_a.noconvert(), "q"_a.noconvert(), "q_wrong"_a.noconvert(),
               "look"_a.none() = nb::none(), "An upper bound on the costs times how far p is from q; infinity at worst.");
}
