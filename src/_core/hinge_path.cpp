#include "hinge_path.hpp"

#include <algorithm>
#include <cmath>

#include "builds.hpp"
#include "margin.hpp"

namespace sx {

namespace {

constexpr double kAtBound = 1e-9;     // part of its upper bound by which a dual weight of a first solution is at a bound
constexpr double kDependent = 1e-11;  // part of the square of a row that is left of it beside others
constexpr double kStill = 1e-11;      // part of the rate of a margin that is as good as none
constexpr double kNoise = 1e-13;      // part of what the weights' way is the sum of that may be rounding
constexpr double kStuck = 1e-14;      // part of C that is no step
constexpr double kGolden = 0.6180339887498949;
constexpr std::int64_t kReadAgain = 64;  // events

}  // namespace

HingePath::HingePath(const HingeProblem& problem, double C, const double* start, double bias)
    : problem(problem), n(problem.rows.rows), d(problem.rows.cols), C(C), bias(bias), side(n), alpha(start, start + n),
      margin(n), knot(n, 1.0), drift(n), rate(n), squares(n), unit(n), pull(d), weights(d), way(d) {
    kernels().square_norms(problem.rows, squares.data());
    for (std::int64_t i = 0; i < n; ++i) {
        squares[i] += problem.constant * problem.constant;
        const double upper = C * problem.counts[i];
        side[i] = alpha[i] <= kAtBound * upper ? beyond : alpha[i] >= (1.0 - kAtBound) * upper ? inside : on;
    }
}

bool HingePath::follow(double end, std::int64_t most, HingePieces& pieces) {
    if (!settled && !settle()) return false;
    settled = true;
    emit(pieces);
    std::int64_t still = 0;
    for (std::int64_t piece = 0; piece < most && C < end;) {
        if (since >= kReadAgain) {
            if (!settle()) return false;
            emit(pieces);
        }
        head(true);
        const Event event = next_event(true, end - C);
        const bool moves = event.step > kStuck * C;
        still = moves ? 0 : still + 1;
        if (still > 2 * std::int64_t(held.size()) + 20) return false;
        move(true, event.step);
        if (event.row < 0) C = end;
        if (moves) {
            emit(pieces);
            ++piece;
        }
        const std::size_t before = held.size();
        if (event.row >= 0 && !change(event)) return false;
        if (event.to == on && held.size() <= before) emit(pieces);  // others have left: the dual weights changed at this C
    }
    return true;
}

// Make the solution exact for the C that it is at.
bool HingePath::settle() {
    read_all();
    double left = 1.0;
    std::int64_t still = 0, events = 0;
    while (left > 0.0) {
        head(false);
        const Event event = next_event(false, left);
        still = event.step > kStuck ? 0 : still + 1;
        if (still > 2 * std::int64_t(held.size()) + 20 || ++events > 4 * n + 100) return false;
        move(false, event.step);
        left = event.row < 0 ? 0.0 : left - event.step;
        if (event.row >= 0 && !change(event)) return false;
    }
    std::fill(knot.begin(), knot.end(), 1.0);
    std::fill(drift.begin(), drift.end(), 0.0);
    imbalance = 0.0;
    since = 0;
    return true;
}

// Compute everything anew from the dual weights, and put each row's knot where the solution is exact.
void HingePath::read_all() {
    std::vector<std::int64_t> wanted;
    for (std::int64_t i = 0; i < n; ++i) {
        if (side[i] == on) wanted.push_back(i);
    }
    held.clear();
    rows.clear();
    inverse.clear();
    std::fill(pull.begin(), pull.end(), 0.0);
    pull_balance = 0.0;
    std::vector<double> of_inside(n);
    for (std::int64_t i = 0; i < n; ++i) {
        if (side[i] != inside) continue;
        of_inside[i] = problem.signs[i] * problem.counts[i];
        pull_balance += of_inside[i];
    }
    kernels().margin->combine(problem.rows, of_inside.data(), pull.data(), 0, d);
    for (const std::int64_t i : wanted) {
        if (!add(i)) put(i, alpha[i] > 0.5 * C * problem.counts[i] ? inside : beyond);
    }
    std::vector<double> signed_alpha(n);
    std::fill(weights.begin(), weights.end(), 0.0);
    imbalance = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (side[i] != on) alpha[i] = side[i] == inside ? C * problem.counts[i] : 0.0;
        signed_alpha[i] = problem.signs[i] * alpha[i];
        imbalance += signed_alpha[i];
    }
    kernels().margin->combine(problem.rows, signed_alpha.data(), weights.data(), 0, d);
    if (!problem.free) bias = problem.constant * problem.constant * imbalance;
    kernels().decide(problem.rows, 0, n, weights.data(), &bias, 1, margin.data());
    std::int64_t nearest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        margin[i] *= problem.signs[i];
        if (std::abs(margin[i] - 1.0) < std::abs(margin[nearest] - 1.0)) nearest = i;
    }
    if (problem.free && held.empty()) {  // some row must hold the bias
        if (side[nearest] == inside) lean(nearest, -1.0);
        side[nearest] = on;
        add(nearest);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const double over = margin[i] - 1.0, part = std::fmod(kGolden * double(i), 1.0);  // so that not all meet at once
        const bool wrong = side[i] == inside ? over > 0.0 : over < 0.0;
        knot[i] = side[i] == on ? margin[i] : wrong ? margin[i] + (0.5 + part) * over : 1.0;
        drift[i] = 1.0 - knot[i];
    }
}

// Where weights, bias and dual weights go: with C (`along`), or with the knots on their way to 1.
void HingePath::head(bool along) {
    const std::size_t m = held.size(), first = problem.free ? 1 : 0, size = m + first;
    const double square = problem.constant * problem.constant, start = along ? 1.0 : 0.0;
    const double balance = along ? -pull_balance : -imbalance;
    std::vector<double> right(size);
    solution.assign(size, 0.0);
    if (problem.free) right[0] = balance;
    for (std::size_t j = 0; j < m; ++j) {
        right[first + j] = drift[held[j]];
        if (along) {
            right[first + j] -= problem.signs[held[j]] * (product(&rows[j * d], pull.data()) + square * pull_balance);
        }
    }
    for (int round = 0; round < 2; ++round) {  // once more for what rounding has left
        for (std::size_t j = 0; j < size; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k < size; ++k) sum += inverse[j * size + k] * right[k];
            solution[j] += sum;
        }
        double sum = 0.0;
        for (std::int64_t k = 0; k < d; ++k) way[k] = start * pull[k];
        for (std::size_t j = 0; j < m; ++j) {
            const double step = problem.signs[held[j]] * solution[first + j];
            sum += step;
            for (std::int64_t k = 0; k < d; ++k) way[k] += step * rows[j * d + k];
        }
        bias_way = problem.free ? solution[0] : square * (start * pull_balance + sum);
        if (problem.free) right[0] = balance - sum;
        for (std::size_t j = 0; j < m; ++j) {
            const std::int64_t i = held[j];
            right[first + j] = drift[i] - problem.signs[i] * (product(&rows[j * d], way.data()) + bias_way);
        }
    }
    way_length = std::sqrt(product(way.data(), way.data()));
    noise = start * std::sqrt(product(pull.data(), pull.data()));
    farthest = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
        const double length = std::sqrt(squares[held[j]]);
        noise += std::abs(solution[first + j]) * length;
        farthest = std::max(farthest, length);
    }
    noise *= kNoise;
    kernels().decide(problem.rows, 0, n, way.data(), &bias_way, 1, rate.data());
    for (std::int64_t i = 0; i < n; ++i) rate[i] *= problem.signs[i];
}

HingePath::Event HingePath::next_event(bool along, double left) const {
    Event event{left, -1, beyond};
    const std::size_t m = held.size(), first = problem.free ? 1 : 0;
    const auto meet = [&](double room, double speed, std::int64_t row, Side to) {
        const double step = room > 0.0 ? room / speed : 0.0;
        if (step < event.step) event = {step, row, to};
    };
    for (std::size_t j = 0; j < m && (m > 1 || !problem.free); ++j) {  // a last row holds the bias
        const std::int64_t i = held[j];
        const double way_up = along ? problem.counts[i] : 0.0, slow = 1e-10 * way_up, speed = solution[first + j];
        if (speed < -slow) meet(alpha[i], -speed, i, beyond);
        if (speed - way_up > slow) meet(C * problem.counts[i] - alpha[i], speed - way_up, i, inside);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        if (side[i] == on) continue;
        const double speed = rate[i] - drift[i], length = std::sqrt(squares[i]);
        const double slow = kStill * (way_length * length + std::abs(bias_way)) + noise * (length + farthest);
        if (side[i] == inside ? speed > slow : speed < -slow) {
            meet(side[i] == inside ? knot[i] - margin[i] : margin[i] - knot[i], std::abs(speed), i, on);
        }
    }
    return event;
}

void HingePath::move(bool along, double step) {
    const std::size_t first = problem.free ? 1 : 0;
    for (std::size_t j = 0; j < held.size(); ++j) alpha[held[j]] += step * solution[first + j];
    for (std::int64_t i = 0; i < n; ++i) margin[i] += step * rate[i];
    for (std::int64_t k = 0; k < d; ++k) weights[k] += step * way[k];
    bias += step * bias_way;
    if (along) {
        C += step;
    } else {
        for (std::int64_t i = 0; i < n; ++i) knot[i] += step * drift[i];
    }
    ++since;
}

bool HingePath::change(const Event& event) {
    if (event.to == on) return take_on(event.row);
    const auto place = std::find(held.begin(), held.end(), event.row) - held.begin();
    remove(std::size_t(place));
    put(event.row, event.to);
    return true;
}

// Put a row on one side: it has left the margin, or was never on it.
void HingePath::put(std::int64_t row, Side to) {
    side[row] = to;
    alpha[row] = to == inside ? C * problem.counts[row] : 0.0;
    if (to == inside) lean(row, 1.0);
}

// Add a row to the pull of those inside, or take it away.
void HingePath::lean(std::int64_t row, double sign) {
    const double step = sign * problem.signs[row] * problem.counts[row];
    unit[row] = step;
    kernels().margin->combine(problem.rows, unit.data(), pull.data(), 0, d);
    unit[row] = 0.0;
    pull_balance += step;
}

bool HingePath::take_on(std::int64_t row) {
    const Side from = side[row];
    if (from == inside) {
        lean(row, -1.0);
        alpha[row] = C * problem.counts[row];
    }
    side[row] = on;
    return add(row) || exchange(row, from);
}

// A row that depends on those on the margin: its dual weight moves, theirs make up for it, until one is at a bound. The
// weights stay where they are.
bool HingePath::exchange(std::int64_t row, Side from) {
    const std::size_t first = problem.free ? 1 : 0;
    const double sign = from == beyond ? 1.0 : -1.0;
    double step = C * problem.counts[row], fastest = 0.0;
    std::size_t place = held.size();
    for (const bool choose : {false, true}) {  // of those that meet a bound at about the same time, the one that moves most
        const double reach = step;
        for (std::size_t j = 0; j < held.size(); ++j) {
            const std::int64_t i = held[j];
            const double speed = std::abs(solution[first + j]), upper = C * problem.counts[i];
            if (speed <= kAtBound) continue;
            const double room = std::max(sign * solution[first + j] > 0.0 ? alpha[i] : upper - alpha[i], 0.0);
            if (!choose) {
                step = std::min(step, (room + kAtBound * upper) / speed);
            } else if (room <= reach * speed && speed > fastest) {
                fastest = speed;
                step = room / speed;
                place = j;
            }
        }
    }
    alpha[row] += sign * step;
    for (std::size_t j = 0; j < held.size(); ++j) alpha[held[j]] -= sign * step * solution[first + j];
    if (place == held.size()) {
        put(row, from == beyond ? inside : beyond);
        return true;
    }
    const std::int64_t left = held[place];
    const bool down = sign * solution[first + place] > 0.0;
    remove(place);
    put(left, down ? beyond : inside);
    if (!add(row)) {
        put(row, from);
        since = kReadAgain;
    }
    return true;
}

// Take a row among those on the margin; false if it depends on them. Then, `solution` says how.
bool HingePath::add(std::int64_t row) {
    const std::size_t m = held.size(), first = problem.free ? 1 : 0, size = m + first;
    std::vector<double> values(d);
    read_row(row, values.data());
    const double square = squares[row], y = problem.signs[row];
    if (problem.free && m == 0) {
        inverse = {-square, y, y, 0.0};
    } else {
        std::vector<double> products(size);
        if (problem.free) products[0] = y;
        const double own = problem.constant * problem.constant;
        for (std::size_t j = 0; j < m; ++j) {
            products[first + j] = y * problem.signs[held[j]] * (product(&rows[j * d], values.data()) + own);
        }
        solution.assign(size, 0.0);
        double left = 0.0;
        std::vector<double> rest(d);
        for (int round = 0; round < 2; ++round) {  // once more for what rounding has left
            double balance = y;
            for (std::int64_t k = 0; k < d; ++k) rest[k] = y * values[k];
            for (std::size_t j = 0; j < size; ++j) {
                for (std::size_t k = 0; k < size; ++k) solution[j] += inverse[j * size + k] * products[k];
            }
            for (std::size_t j = 0; j < m; ++j) {
                const double step = problem.signs[held[j]] * solution[first + j];
                balance -= step;
                for (std::int64_t k = 0; k < d; ++k) rest[k] -= step * rows[j * d + k];
            }
            if (problem.free) products[0] = balance;
            for (std::size_t j = 0; j < m; ++j) {
                const double off = own * balance - (problem.free ? solution[0] : 0.0);
                products[first + j] = problem.signs[held[j]] * (product(&rows[j * d], rest.data()) + off);
            }
            left = product(rest.data(), rest.data()) + own * balance * balance;
        }
        const std::size_t most = std::size_t(d) + (problem.free || problem.constant > 0.0 ? 1 : 0);
        if (m >= most || !(left > kDependent * square)) return false;
        std::vector<double> wider((size + 1) * (size + 1));
        for (std::size_t j = 0; j <= size; ++j) {
            const double a = j < size ? solution[j] : -1.0;
            for (std::size_t k = 0; k <= size; ++k) {
                const double b = k < size ? solution[k] : -1.0;
                wider[j * (size + 1) + k] = (j < size && k < size ? inverse[j * size + k] : 0.0) + a * b / left;
            }
        }
        inverse.swap(wider);
    }
    held.push_back(row);
    rows.insert(rows.end(), values.begin(), values.end());
    return true;
}

void HingePath::remove(std::size_t place) {
    const std::size_t first = problem.free ? 1 : 0, size = held.size() + first, out = place + first;
    held.erase(held.begin() + std::ptrdiff_t(place));
    rows.erase(rows.begin() + std::ptrdiff_t(place * d), rows.begin() + std::ptrdiff_t((place + 1) * d));
    std::vector<double> smaller;
    if (!held.empty()) {
        smaller.reserve((size - 1) * (size - 1));
        const double pivot = inverse[out * size + out];
        for (std::size_t j = 0; j < size; ++j) {
            if (j == out) continue;
            const double factor = inverse[j * size + out] / pivot;
            for (std::size_t k = 0; k < size; ++k) {
                if (k != out) smaller.push_back(inverse[j * size + k] - factor * inverse[out * size + k]);
            }
        }
    }
    inverse.swap(smaller);
}

void HingePath::read_row(std::int64_t row, double* out) {
    unit[row] = 1.0;
    kernels().margin->combine(problem.rows, unit.data(), out, 0, d);
    unit[row] = 0.0;
}

double HingePath::product(const double* a, const double* b) const { return kernels().margin->dot(a, b, d); }

void HingePath::emit(HingePieces& pieces) const {
    pieces.C.push_back(C);
    pieces.bias.push_back(bias);
    pieces.weights.insert(pieces.weights.end(), weights.begin(), weights.end());
    for (std::int64_t i = 0; i < n; ++i) {
        const double upper = C * problem.counts[i];
        pieces.alpha.push_back(side[i] == inside ? upper : side[i] == beyond ? 0.0 : std::clamp(alpha[i], 0.0, upper));
    }
}

}  // namespace sx
