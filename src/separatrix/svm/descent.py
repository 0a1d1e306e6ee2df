"""The quadratic model of a smooth loss plus an L1 or elastic-net penalty, minimised over some features.

The model around weights w is ``sum_j G_j s_j + sum_i D_i (x_i.s + t)^2 / 2 + ridge |w + s|^2 / 2 + lasso |w + s|_1``,
s being the step of the weights and t that of a free bias, which is eliminated. Coordinate descent over the features'
columns finds the weights that are not zero; where it is slow, these are finished by the table of their products. What
costs how much is counted in numbers read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm import choice

Features = NDArray[np.int64]

_CHUNK = 1 << 27  # numbers read between two questions whether to stop
_EPOCHS = 1000
_PASSES = 30  # of descent over the columns in one iteration
_ROUNDS = 50  # of descent and elimination over a table
_FACTORS = 4e9  # operations that all factors of one table may take, but for the first few
_FEW_FACTORS = 4
_FIRST_EPOCHS = 10
_MOST_EPOCHS = 100
_FLAT = 1e-5  # part of the gain so far below which a round is the last
_WORTH = 0.1  # part of the slope of a step that the model must fall by, where signs change on the way
_SHORTEST = 1e-3  # part of a step below which it ends where the first sign changes
_SINGULAR = 1e-11  # part of the largest pivot that stands for one that is no larger
_LEAST = 1e-10  # part of a feature's curvature that centring leaves at least


class Columns:
    """Chosen features of some rows, column by column; the constant of a penalised bias comes last."""

    def __init__(self, rows: Rows, features: Features, constant: float) -> None:
        self.features = np.append(features, rows.shape[1]) if constant else features
        self.sparse = is_sparse(rows.values)
        self.matrix = _core.columns(rows.matrix, features, constant)
        self.stored = _core.stored(self.matrix)

    def has(self, features: Features) -> bool:
        """Return whether all these features are among the chosen ones."""
        places = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
        return bool((self.features[places] == features).all()) if len(self.features) else not len(features)

    def places(self, features: Features) -> Features:
        """Return where features are among the chosen ones."""
        return np.searchsorted(self.features, features)

    def combine(self, places: Features, steps: Floats) -> Floats:
        """Return the sum of these columns, each times its step."""
        every = np.zeros(len(self.features))
        every[places] = steps
        return np.asarray(_core.combine(self.matrix, every))

    def numbers(self, places: Features) -> float:
        """Return how many numbers these columns hold."""
        return float(self.stored[places].sum())

    def price(self, places: Features) -> float:
        """Return what the table of these columns costs, in numbers that descent could read instead."""
        return choice.table_price(self.matrix.shape[1], self.numbers(places), len(places), sparse=self.sparse)


@dataclass(frozen=True, eq=False)
class Model:
    """The loss around a point: slope and curvature of every row, and their sums; ``free`` says whether a bias is."""

    slopes: Floats
    curvatures: Floats
    slope: float
    curvature: float
    ridge: float
    lasso: float
    free: bool

    @property
    def total(self) -> float:
        """The curvature in the bias, 0 where there is no free one."""
        return max(self.curvature, 1e-300) if self.free else 0.0

    @property
    def shift(self) -> float:
        """Minus the bias's step while the weights stay."""
        return self.slope / self.total if self.free else 0.0

    def violation(self, weights: Floats, slopes: Floats) -> float:
        """Return the sum over the features of how far their slopes are from where the penalty wants them."""
        here = slopes + self.ridge * weights
        at_zero = np.maximum(np.abs(here) - self.lasso, 0.0)
        off = np.where(weights == 0.0, at_zero, np.abs(here + self.lasso * np.sign(weights)))
        return _core.dot(off, np.ones(len(off)))


@dataclass(frozen=True, eq=False)
class Step:
    """What minimising the model gives: steps of the chosen weights, of the bias and of the scores with it.

    ``raw`` is the loss's slope in each weight; ``residual`` the model's slope at every row.
    """

    chosen: Features
    raw: Floats
    weights: Floats
    bias: float
    along: Floats
    residual: Floats


def by_columns(
    columns: Columns, model: Model, chosen: Features, weights: Floats, enough: float, look: Callable[[], None]
) -> Step:
    """Minimise the model over the chosen features, until the violation is ``enough`` of what it was."""
    places = columns.places(chosen)
    squares, sums, raw = _core.curve(columns.matrix, places, model.curvatures, model.slopes)
    total, shift = model.total, model.shift
    bends = np.maximum(squares - (sums * sums / total if model.free else 0.0), _LEAST * squares) + 1e-300
    enough *= model.violation(weights, raw - shift * sums if model.free else raw)
    w, residual = weights.copy(), model.slopes.copy()

    def descended(allowed: float) -> tuple[float, float, int]:
        shifted, violation, _, read = _core.descend(
            columns.matrix, places, w, residual, model.curvatures, bends, sums, total, shift, model.ridge, model.lasso,
            enough, _EPOCHS, int(min(allowed, _CHUNK)),
        )  # fmt: skip
        return shifted, violation, read

    spent = 0.0
    for _ in range(_PASSES):
        price = columns.price(places[w != 0.0])
        if math.isinf(price):
            price = choice.ALONE * columns.numbers(places)
        shift, violation, read = descended(max(price, 4.0 * columns.numbers(places)))
        if violation <= enough:
            break
        look()
        spent += read
        inside = np.flatnonzero(w)
        if len(inside) > choice.TABLE_EQUATIONS and spent >= choice.ALONE * columns.numbers(places):
            break
        if not len(inside) or columns.price(places[inside]) > spent:
            continue
        spent = 0.0
        part = np.ascontiguousarray(places[inside])
        table = _symmetric(_core.gram(_core.turned(columns.matrix, part), model.curvatures, look))[:-1, :-1].copy()
        here = _core.curve(columns.matrix, part, model.curvatures, residual)[2]
        if model.free:
            table -= np.outer(sums[inside], sums[inside] / total)
            here = here - shift * sums[inside]
        diagonal = np.einsum("ii->i", table)
        diagonal[:] = np.maximum(diagonal, bends[inside])
        w[inside] = by_table(table, w[inside].copy(), here, model.ridge, model.lasso, 0.1 * enough, look)
        residual = model.slopes + model.curvatures * columns.combine(places, w - weights)
        if model.free:
            shift = model.shift + _core.dot(sums, w - weights) / total
    step = w - weights
    along = columns.combine(places, step)
    bias = -shift if model.free else 0.0
    return Step(chosen, raw, step, bias, along, residual - shift * model.curvatures)


def by_all_products(
    rows: Rows,
    constant: float,
    model: Model,
    weights: Floats,
    enough: float,
    scores: Callable[[Floats], Floats],
    look: Callable[[], None],
) -> Step:
    """Minimise the model over all features by the table of their products; ``constant`` is that of a penalised bias."""
    table = _symmetric(_core.gram(rows.matrix, model.curvatures, look))
    raw = _core.combine(rows.matrix, model.slopes)
    sums = table[-1, :-1].copy()
    if constant:
        table[-1] *= constant
        table[:, -1] *= constant
        raw = np.append(raw, constant * model.slope)
    else:
        table = table[:-1, :-1].copy()
    here, squares = raw.copy(), np.diagonal(table).copy()
    if model.free:
        table -= np.outer(sums, sums / model.total)
        here -= model.shift * sums
    diagonal = np.einsum("ii->i", table)
    diagonal[:] = np.maximum(diagonal, _LEAST * squares) + 1e-300
    enough *= model.violation(weights, here)
    step = by_table(table, weights.copy(), here, model.ridge, model.lasso, enough, look) - weights
    bias = -(model.shift + _core.dot(sums, step) / model.total) if model.free else 0.0
    along = scores(step)
    residual = model.slopes + model.curvatures * (along + bias)
    return Step(np.arange(len(weights)), raw, step, bias, along, residual)


def _symmetric(lower: Floats) -> Floats:
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def by_table(
    table: Floats, w: Floats, slopes: Floats, ridge: float, lasso: float, enough: float, look: Callable[[], None]
) -> Floats:
    """Minimise the model with this table of products from w, where it has these slopes, until the violation is enough.

    Coordinate descent says which weights are not zero. These are solved for at once, by a Cholesky factor. Those whose
    signs would change are zero from there on, if the model falls by enough with that; else the step ends where the
    first of them changes.
    """
    allowed, total, matrix = _FIRST_EPOCHS, 0.0, _core.dense(table)
    factors = max(_FEW_FACTORS, int(_FACTORS / max(len(w), 1) ** 3))
    violation: Any

    def gain_of(to: Floats, old: Floats, slope: Floats) -> float:
        gain = _core.dot(slope, to - old) + 0.5 * ridge * _core.dot(to + old, to - old)
        return gain + lasso * _core.dot(np.abs(to) - np.abs(old), np.ones(len(w)))

    for _ in range(_ROUNDS):
        before, slopes_before = w.copy(), slopes.copy()
        left, violation = allowed, math.inf
        while left > 0 and violation > enough:
            epochs = max(1, min(left, _CHUNK // len(w) ** 2))
            violation = _core.descend_gram(table, w, slopes, ridge, lasso, enough, epochs)[0]
            left -= epochs
            look()
        allowed = min(allowed + 2, _MOST_EPOCHS)
        if violation <= enough:
            break
        now = gain_of(w, before, 0.5 * (slopes_before + slopes))
        while factors > 0:
            look()
            factors -= 1
            step, some = _newton(table, w, slopes, ridge, lasso, look)
            length, gain, last = 1.0, 0.0, False
            to, change = w, np.zeros(len(w))
            while len(some) and not last:
                last = length <= _SHORTEST
                to, length = _along(w, some, step, length, crossing=not last)
                change = _core.combine(matrix, to - w)
                gain = gain_of(to, w, slopes + 0.5 * change)
                if gain <= _WORTH * gain_of(to, w, slopes):
                    break
                length *= 0.5
            if not gain < 0.0:
                break
            crossed = bool((to[some] == 0.0).any())
            w, slopes, now = to, slopes + change, now + gain
            if length == 1.0 and not crossed:
                break
        total += now
        if not now < _FLAT * total or factors <= 0:
            break
    return w


def _newton(
    table: Floats, w: Floats, slopes: Floats, ridge: float, lasso: float, look: Callable[[], None]
) -> tuple[Floats, Features]:
    """Return the step to the best weights with the signs of these, and which weights it is of."""
    some = np.flatnonzero(w)
    if not len(some):
        return w[:0], some
    part = table[np.ix_(some, some)]
    diagonal = np.einsum("ii->i", part)
    diagonal += ridge
    tiny = _SINGULAR * float(diagonal.max())
    _core.factor(part, tiny, tiny, look)
    step = -(slopes[some] + ridge * w[some] + lasso * np.sign(w[some]))
    _core.substitute(part, step)
    return step, some if np.isfinite(step).all() else some[:0]


def _along(w: Floats, some: Features, step: Floats, length: float, *, crossing: bool) -> tuple[Floats, float]:
    """Return the weights after so much of a step, where signs change zero; if none may, as far as the signs last."""
    old = w[some]
    if not crossing:
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step * old < 0.0, -old / step, np.inf)
        length = min(1.0, float(room.min()))
        after = np.where(room <= length, 0.0, old + length * step)
    else:
        after = old + length * step
        after[after * old < 0.0] = 0.0
    to = w.copy()
    to[some] = after
    return to, length
