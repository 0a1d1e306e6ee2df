"""The rows of a fit without themselves: what the fit proves about each, and refits without one.

A refit without a row is judged by bounds of its own, so that its verdict does not depend on how near it came to the
optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.estimators.linear_svm import MarginState
from separatrix.estimators.logistic_regression import LogisticState
from separatrix.estimators.warm_fits import WarmFits, copy_of, scored
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Labels
from separatrix.svm.bias_range import bias_range
from separatrix.svm.centring import bias_without
from separatrix.svm.curved_removal import CurvedRemoval
from separatrix.svm.optimum_ball import Evidence, Lens, Problem
from separatrix.svm.removed_row import log_intercepts, removal, surely_wrong, unmoved, without_row

WRONG, RIGHT, OPEN = 1, 0, -1
REFIT_TOL = 1e-9
OTHER = (
    "leave_one_out needs the rows, labels and weights that the model was fitted to, and a fit that converged; found a "
    "model that is far from the optimum of those given"
)
_BELOW = -float(np.finfo(np.float64).tiny)
_MOST_READ = 2e9  # numbers, in bounding row by row
_FOREIGN = 0.1  # part of the objective: a gap that no model has on its own data
ALIKE = 1e-6  # part of the objective by which its value on the model's own data may differ


class LeftOutRows:
    """The verdicts so far, and what the fit proves about each plane without each row."""

    def __init__(self, model: Any, X: Any, labels: Labels, sample_weight: Any) -> None:
        self.fits = WarmFits(model, X, labels, sample_weight)
        self.fits.take(model)
        self.problem = self.fits.problem
        n = self.problem.n
        self.counted = np.ones(n, dtype=bool) if self.problem.weights is None else self.problem.weights > 0
        self.kept = np.flatnonzero(self.counted)
        self.codes = self.problem.codes[self.kept].astype(np.intp)
        self.verdicts = np.full(n, OPEN, dtype=np.int8)
        self.decided_by = np.full(n, "", dtype="<U14")
        self.decided_by[~self.counted] = "weight"
        alphas = [getattr(state, "alpha", None) for state in model._states]
        if self.problem.d != model.n_features_in_ or any(alpha is not None and len(alpha) != n for alpha in alphas):
            raise ValueError(OTHER)
        self._begin(model)

    def _begin(self, model: Any) -> None:
        """Take what the fit proves."""
        self.planes = self.fits.planes()
        self.proofs = self.fits.evidence(self.planes)
        reached = zip(np.atleast_1d(model.objective_), np.atleast_1d(model.duality_gap_), strict=True)
        for proof, (value, gap) in zip(self.proofs, reached, strict=True):
            apart, far = proof.weights - proof.combined, max(_FOREIGN, 10.0 * model.tol)
            near = proof.slack(1.0) + 0.5 * _core.dot(apart, apart) <= far * proof.primal
            if not near and not (abs(proof.primal - value) <= ALIKE * value and gap <= far * value):
                raise ValueError(OTHER)
        self.low = np.full((len(self.planes), len(self.kept)), -math.inf)
        self.high = -self.low

    def alone(self) -> None:
        """A class of one row is unknown without it."""
        counts = np.bincount(self.codes, minlength=len(self.problem.classes))
        rows = self.kept[counts[self.codes] == 1]
        self.verdicts[rows], self.decided_by[rows] = WRONG, "alone"

    def bound(self) -> None:
        """Bound every row's scores without itself, from the one fit."""
        self._found = []
        for place, (plane, proof) in enumerate(zip(self.planes, self.proofs, strict=True)):
            found = removal(plane, proof)
            self._found.append(found)
            if not plane.free:
                low, high = found.low, found.high
            elif plane.loss == "log":
                down, up = log_intercepts(plane, proof, found)
                low, high = found.low + down, found.high + up
            else:
                low, high = unmoved(plane, proof, found)
            if CurvedRemoval.suits(plane):
                bias = proof.bias + float(proof.weights[-1]) * plane.constant
                nearer = CurvedRemoval(plane, proof.C, proof.weights[:-1].copy(), bias).without_rows()
                low, high = np.fmax(low, nearer[0]), np.fmin(high, nearer[1])
            low, high = np.where(np.isnan(low), -math.inf, low), np.where(np.isnan(high), math.inf, high)
            self.low[place], self.high[place] = low, high
        self._judge("bound")
        for place, (plane, proof) in enumerate(zip(self.planes, self.proofs, strict=True)):
            wrong = surely_wrong(plane, proof, scored(plane, proof))
            self.high[place] = np.where(
                wrong & (plane.signs > 0), np.minimum(self.high[place], _BELOW), self.high[place]
            )
            self.low[place] = np.where(wrong & (plane.signs < 0), np.maximum(self.low[place], -_BELOW), self.low[place])
        self._judge("training error")

    def row_by_row(self, halted: Callable[[], bool]) -> list[int]:
        """Bound the free intercept of the rows that are left one by one, and return those that are left then."""
        price = 4.0 * sum(plane.rows.shape[0] * 20.0 + _stored(plane.rows) for plane in self.planes)
        for place, row in enumerate(self.kept):
            if self.verdicts[row] != OPEN or not self.planes[0].free:
                continue
            price_all = price * float((self.verdicts[self.kept[place:]] == OPEN).sum())
            if halted() or price_all > _MOST_READ:
                break
            for index, (plane, found) in enumerate(zip(self.planes, self._found, strict=True)):
                if math.isfinite(found.radius[place]):
                    low, high = without_row(plane, found, place)
                    self.low[index, place] = max(self.low[index, place], low)
                    self.high[index, place] = min(self.high[index, place], high)
            self._judge("bound", place)
        # Those nearest to a verdict of "wrong" first: they are the likeliest errors.
        margins = self._margins()
        left = [place for place, row in enumerate(self.kept) if self.verdicts[row] == OPEN]
        return sorted(left, key=lambda place: (margins[place], place))

    def _margins(self) -> Floats:
        scores = np.stack([scored(plane, proof) for plane, proof in zip(self.planes, self.proofs, strict=True)])
        if len(scores) == 1:
            return np.asarray(self.planes[0].signs * scores[0])
        rows = np.arange(len(self.codes))
        own = scores[self.codes, rows]
        scores[self.codes, rows] = -math.inf
        return np.asarray(own - scores.max(axis=0))

    def _judge(self, by: str, place: int | None = None) -> None:
        """Decide the rows whose scores' bounds do so."""
        some = slice(None) if place is None else slice(place, place + 1)
        low, high, codes, rows = self.low[:, some].copy(), self.high[:, some].copy(), self.codes[some], self.kept[some]
        if len(low) == 1:
            right = np.where(codes == 1, low[0] > 0.0, high[0] < 0.0)
            wrong = np.where(codes == 1, high[0] < 0.0, low[0] > 0.0)
        else:
            each = np.arange(len(codes))
            own_low, own_high = low[codes, each], high[codes, each]
            low[codes, each] = high[codes, each] = -math.inf
            right, wrong = own_low > high.max(axis=0), own_high < low.max(axis=0)
        for sure, verdict in ((right, RIGHT), (wrong, WRONG)):
            new = rows[sure & (self.verdicts[rows] == OPEN)]
            self.verdicts[new], self.decided_by[new] = verdict, by

    def refit(self, place: int) -> None:
        """Fit without a row, and decide it if the fit proves the sign of its scores."""
        others = np.arange(len(self.kept)) != place
        alone = Rows(self.planes[0].rows.values[[place]])
        tol = min(float(self.fits.model.tol), REFIT_TOL)
        for index, (plane, proof) in enumerate(zip(self.planes, self.proofs, strict=True)):
            low, high = self._without(plane, proof, others, tol, alone)
            self.low[index, place] = max(self.low[index, place], low)
            self.high[index, place] = min(self.high[index, place], high)
        self._judge("refit", place)

    def _without(
        self, plane: Problem, proof: Evidence, others: NDArray[np.bool_], tol: float, alone: Rows
    ) -> tuple[float, float]:
        """Fit one plane without a row, and return bounds on that row's score."""
        weights = plane.counts[others]
        codes = (plane.signs[others] > 0).astype(np.int32)
        model = copy_of(self.fits.model, class_weight=None, verbose=0)
        rows = Rows(plane.rows.values[others])
        fits = WarmFits(model, rows, Labels(np.array([0, 1]), codes), None if (weights == 1.0).all() else weights)
        bias = proof.bias + float(proof.weights[-1]) * plane.constant
        bias = bias_without(plane.rows, proof.weights[:-1], bias)
        state: Any = LogisticState(1, proof.weights[:-1].copy(), bias)
        if plane.loss != "log":
            state = MarginState(1, proof.alpha[others], weights=state.weights, bias=bias)
        fits.fit(proof.C, tol, [(proof.C, [state])])
        (problem,) = fits.planes()
        (own,) = fits.evidence([problem])
        centre = problem.rows.centre
        return own_bounds(problem, own, alone if centre is None else alone.less(centre))


def _stored(rows: Rows) -> float:
    values = rows.values
    return float(getattr(values, "nnz", values.size))


def own_bounds(plane: Problem, proof: Evidence, alone: Rows) -> tuple[float, float]:
    """Return bounds on the score of one more row by the optimum of a problem, from an approximate solution."""
    ball = Lens(proof, proof).ball(proof.C, proof.C)
    length = np.sqrt(_core.square_norms(alone.matrix) + plane.constant**2)
    d = plane.rows.shape[1]
    off = ball.off * (2.0 + 2.0 * float(max(plane.lengths.max(), length.max())) + plane.constant)
    training = _columns(plane, proof, plane.rows)
    down, up = 0.0, 0.0
    if plane.free:
        down, up = bias_range(plane, *ball.scores(training, plane.lengths, off))
    low, high = ball.scores(_columns(plane, proof, alone), length * (1.0 + 4.0 * d * 1e-16), off)
    return float(low[0] + down - 1e-15 * abs(down)), float(high[0] + up + 1e-15 * abs(up))


def _columns(plane: Problem, proof: Evidence, rows: Rows) -> Floats:
    columns = []
    for vector in (proof.weights, proof.combined):
        bias = np.array([vector[-1] * plane.constant])
        columns.append(_core.decide(rows.matrix, vector[None, :-1], bias, 1)[:, 0])
    return np.stack([*columns, *columns])
