"""The conditions of an optimum with a smooth loss: logistic regression, and linear SVMs with an L1 penalty.

A row pulls with ``alpha = -C loss'(m)``, which its margin ``m = y (w.x + b)`` settles, so that no row can be wrong: the
conditions are about the coefficients. With the penalty ``(1 - r) |w|^2 / 2 + r |w|_1`` and ``z = sum alpha y x``, the
slope ``z - (1 - r) w`` of a weight that is not 0 is r with the weight's sign, that of a weight of 0 lies between -r and
r. Without an L1 part that is ``w = z``; without any penalty ``z = 0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.svm.smooth import LOG, SQUARED_HINGE
from separatrix.text import listed, markdown

ROW_HEAD = ("row", "place", "alpha", "margin")
COEFFICIENT_HEAD = ("coefficient", "place", "weight", "pull", "slope", "residual")
_BY_TASK = ("place", "alpha", "cost", "margin", "weight", "pull", "slope", "coefficient_place", "residual")


class Penalty(NamedTuple):
    """``ridge |w|^2 / 2 + lasso |w|_1``."""

    ridge: float
    lasso: float


@dataclass(frozen=True, eq=False)
class Stationarity:
    """What :func:`separatrix.kkt` returns for a smooth loss: an entry for each row, and one for each coefficient.

    Of more than two classes (one-vs-rest) the arrays have a column for each; see :meth:`of_class`.

    Attributes
    ----------
    place : array
        Where a row lies: of logistic regression, on the "correct" or the "wrong" side of the plane, or "on" it; of an
        SVM, "outside" its margin, "on" it or "inside".
    alpha : array
        How much the row pulls: minus the slope of its loss, times C and the row's weight. For the log loss that is
        ``C s(-m)``, C times the probability of the other class.
    cost : array
        C times the row's weight.
    margin : array
        ``y (w.x + b)``.
    weight, pull : arrays
        The coefficients, and for each ``sum alpha y x``.
    slope : array
        The pull, less what the L2 part of the penalty holds against it.
    coefficient_place : array of "positive", "negative" and "zero"
        Where the coefficient lies.
    residual : array
        How far each coefficient's slope is from where it must be.
    balance : float or array
        The same for the intercept, ``sum alpha y`` if it is free; 0 without one.
    penalty : Penalty
        The factors of ``|w|^2 / 2`` (``ridge``) and of ``|w|_1`` (``lasso``).
    classes : tuple
        The classes that are positive in each task.
    """

    place: NDArray[Any]
    alpha: Floats
    cost: Floats
    margin: Floats
    weight: Floats
    pull: Floats
    slope: Floats
    coefficient_place: NDArray[Any]
    residual: Floats
    balance: Any
    penalty: Penalty
    classes: tuple[Any, ...]

    @property
    def stationarity(self) -> float:
        """The length of all residuals, those of the intercepts included."""
        return float(np.hypot(np.linalg.norm(self.residual), np.linalg.norm(self.balance)))

    @property
    def worst(self) -> float:
        """The largest residual."""
        return float(max(self.residual.max(), np.max(self.balance)))

    @property
    def counts(self) -> dict[str, int]:
        """How many rows lie where."""
        places, counts = np.unique(self.place, return_counts=True)
        return dict(zip(places.tolist(), counts.tolist(), strict=True))

    def of_class(self, label: Any) -> Stationarity:
        """Return the conditions of one of several classes against the others."""
        if label not in self.classes:
            raise ValueError(
                f"there is no task for the class {label!r}; there is one for {listed(map(str, self.classes))}"
            )
        if self.alpha.ndim == 1:
            return self
        task = self.classes.index(label)
        columns = {name: getattr(self, name)[:, task] for name in _BY_TASK}
        return replace(self, **columns, balance=float(self.balance[task]), classes=(label,))

    def to_markdown(self, most: int = 20) -> str:
        """Return the coefficients with the largest residuals as a table; for two classes."""
        self._expect_one()
        order = np.argsort(-self.residual, kind="stable")[:most].tolist()
        numbers = (self.weight, self.pull, self.slope, self.residual)
        cells = [[str(j), str(self.coefficient_place[j]), *(f"{each[j]:.6g}" for each in numbers)] for j in order]
        return markdown(COEFFICIENT_HEAD, cells)

    def rows_to_markdown(self, most: int = 20) -> str:
        """Return the rows that pull most as a table; for two classes."""
        self._expect_one()
        return markdown(ROW_HEAD, self.cells(np.argsort(-self.alpha, kind="stable")[:most].tolist()))

    def cells(self, rows: Sequence[int], digits: int = 6) -> list[list[str]]:
        """Return the cells of a table of these rows as text, under the names in ``ROW_HEAD``."""
        numbers = (self.alpha, self.margin)
        return [[str(row), str(self.place[row]), *(f"{each[row]:.{digits}g}" for each in numbers)] for row in rows]

    def _expect_one(self) -> None:
        if self.alpha.ndim > 1:
            raise ValueError("a table shows two classes: for more, see of_class")

    def __str__(self) -> str:
        rows = ", ".join(f"{count} {place}" for place, count in self.counts.items())
        zero = int(np.count_nonzero(self.weight == 0.0))
        return (
            f"rows: {rows}; {zero} of {self.weight.size} coefficients are zero; the largest residual is "
            f"{self.worst:.3g}"
        )


def stationarity(
    model: Any, rows: Rows, signs: Floats, costs: Floats, margin: Floats, classes: tuple[Any, ...], tol: float
) -> Stationarity:
    """Return the conditions of a model whose tasks have these signs and margins, a column each."""
    log = not hasattr(model, "loss")
    loss, ratio = LOG if log else SQUARED_HINGE, float(model._ratio)
    constant, free = model._bias_kind()
    held = 0.0 if np.isinf(model.C) else 1.0
    penalty = Penalty(held * (1.0 - ratio), held * ratio)
    alpha = np.stack([costs * loss.pull(np.ascontiguousarray(each)) for each in margin.T], axis=1)
    weight = np.asarray(model.coef_, dtype=np.float64).T
    pull = np.stack([_core.combine(rows.matrix, np.ascontiguousarray(each)) for each in (signs * alpha).T], axis=1)
    slope = pull - penalty.ridge * weight
    residual = np.where(
        weight == 0.0, np.maximum(np.abs(slope) - penalty.lasso, 0.0), np.abs(slope - penalty.lasso * np.sign(weight))
    )
    balance = np.zeros(len(classes))
    if free or constant:
        totals, bias = (signs * alpha).sum(axis=0), np.asarray(model.intercept_, dtype=np.float64)
        balance = np.abs(totals) if free else _bias_residual(totals, bias, constant, penalty)
    if log:
        place = np.where(margin > tol, "correct", np.where(margin < -tol, "wrong", "on"))
    else:
        place = np.where(margin > 1.0 + tol, "outside", np.where(margin < 1.0 - tol, "inside", "on"))
    where = np.where(weight > 0.0, "positive", np.where(weight < 0.0, "negative", "zero"))
    cost = np.broadcast_to(costs[:, None], signs.shape)
    parts = (place, alpha, cost, margin + 0.0, weight, pull, slope, where, residual)  # no -0
    alone = len(classes) == 1
    columns = {name: part[:, 0] if alone else part for name, part in zip(_BY_TASK, parts, strict=True)}
    return Stationarity(**columns, balance=float(balance[0]) if alone else balance, penalty=penalty, classes=classes)


def _bias_residual(totals: Floats, bias: Floats, constant: float, penalty: Penalty) -> Floats:
    """Return the residual of a penalised bias: that of the weight of one more feature, of constant value."""
    weight = bias / constant
    slope = constant * totals - penalty.ridge * weight
    at_zero = np.maximum(np.abs(slope) - penalty.lasso, 0.0)
    return np.where(weight == 0.0, at_zero, np.abs(slope - penalty.lasso * np.sign(weight)))
