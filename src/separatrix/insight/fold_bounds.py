"""One fold of a cross-validation: its fits along C, and which validation rows every optimum of a range gets wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.estimators.solved import SolvedClassifier
from separatrix.estimators.warm_fits import WarmFits
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Labels
from separatrix.svm.curved_bounds import CurvedBounds
from separatrix.svm.optimum_ball import Evidence, Lens, Problem, bias_range

_UNIT = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class PlanePoint:
    """One plane of a fit: what it proves, and the scores of its two vectors on training and validation rows."""

    evidence: Evidence
    training: Floats  # shape (2, n), or (2, 0) where no intercept needs them
    validation: Floats  # shape (2, n_validation)
    curved: CurvedBounds | None


@dataclass(eq=False)
class FoldPoint:
    """One fit of a fold: its errors on the validation rows, and its planes."""

    C: float
    wrong: int
    converged: bool
    planes: list[PlanePoint]
    states: list[Any]  # where a fit nearby begins

    def forget(self) -> None:
        """Let go of the scores, which only ranges that are still open need."""
        for plane in self.planes:
            plane.training = plane.validation = np.empty((2, 0))
            plane.curved = None
        self.states = []


class _Frame:
    """The rows of one plane as its bounds see them: about a centre, where the intercept is free."""

    def __init__(self, problem: Problem, validation: Rows, evidence: Evidence) -> None:
        self.problem, self.rows = problem, validation
        self.centre = np.zeros(problem.rows.shape[1])
        total = _core.dot(evidence.alpha, np.ones(len(evidence.alpha)))
        if problem.free and total > 0.0:
            self.centre = _core.combine(problem.rows.matrix, evidence.alpha) / total
        outside = np.sqrt(_core.square_norms(validation.matrix))
        self.lengths = self._lengths(validation, outside)
        self.training_lengths = self._lengths(problem.rows, problem.lengths) if problem.free else np.empty(0)
        self.reach = 2.0 + 2.0 * float(max(problem.lengths.max(), outside.max())) + problem.constant

    def _lengths(self, rows: Rows, lengths: Floats) -> Floats:
        """Return the length of every row from the centre, with the coordinate of a penalised intercept, rounded up."""
        d = rows.shape[1]
        shift = _core.dot(self.centre, self.centre)
        products = _core.decide(rows.matrix, self.centre[None, :], np.zeros(1), 1)[:, 0] if shift > 0.0 else 0.0
        squares = lengths * lengths + self.problem.constant**2
        whole = squares + shift - 2.0 * products
        return np.asarray(np.sqrt(np.maximum(whole, 0.0) + 8.0 * (d + 8) * _UNIT * (squares + shift)))

    def scores(self, rows: Rows, evidence: Evidence) -> Floats:
        """Return the scores of weights and of combined, about the centre."""
        columns = []
        for vector in (evidence.weights, evidence.combined):
            bias = vector[-1] * self.problem.constant - _core.dot(vector[:-1], self.centre)
            columns.append(_core.decide(rows.matrix, vector[None, :-1], np.array([bias]), 1)[:, 0])
        return np.stack(columns)


class FoldBounds:
    """A fold: training rows, validation rows, and the fits that have been made."""

    def __init__(
        self,
        estimator: SolvedClassifier,
        X: Any,
        labels: Labels,
        validation: Any,
        codes: NDArray[np.intp],
        sample_weight: Any = None,
    ) -> None:
        self.fits = WarmFits(estimator, X, labels, sample_weight)
        self.validation, self.codes = Rows(validation), codes
        self.validation.check_finite()
        self.certified = not self.fits.joint
        self._problems = self.fits.planes() if self.certified else []
        self._frames: list[_Frame] = []

    @property
    def n(self) -> int:
        """How many validation rows there are."""
        return len(self.codes)

    def fit(self, C: float, tol: float, near: Sequence[FoldPoint] = ()) -> FoldPoint:
        """Fit with this C, starting between the fits that are near."""
        model = self.fits.fit(C, tol, [(point.C, point.states) for point in near if point.states])
        wrong = int(np.count_nonzero(model._predict_codes(self.validation.values) != self.codes))
        planes = []
        if self.certified:
            proofs = self.fits.evidence(self._problems)
            if not self._frames:
                pairs = zip(self._problems, proofs, strict=True)
                self._frames = [_Frame(problem, self.validation, proof) for problem, proof in pairs]
            for frame, proof, weights, bias in zip(self._frames, proofs, model.coef_, model.intercept_, strict=True):
                free = frame.problem.free
                training = frame.scores(frame.problem.rows, proof) if free else np.empty((2, 0))
                curved = None
                if CurvedBounds.suits(frame.problem):
                    curved = CurvedBounds(frame.problem, C, weights, float(bias), self.validation)
                planes.append(PlanePoint(proof, training, frame.scores(self.validation, proof), curved))
        return FoldPoint(C, wrong, self.fits.converged, planes, model._states)

    def surely_wrong(self, first: FoldPoint, second: FoldPoint, low: float, high: float) -> int:
        """Return how many validation rows the optimum gets wrong for every C from low to high, as far as is proved."""
        bounds = [
            _scores(frame, first.planes[place], second.planes[place], low, high)
            for place, frame in enumerate(self._frames)
        ]
        return int(np.count_nonzero(self._wrong(bounds)))

    def _wrong(self, bounds: list[tuple[Floats, Floats]]) -> NDArray[np.bool_]:
        if len(bounds) == 1:
            lowest, highest = bounds[0]
            return np.asarray(np.where(self.codes == 1, highest < 0.0, lowest > 0.0))
        lows, highs = (np.stack([bound[side] for bound in bounds]) for side in (0, 1))
        rows = np.arange(self.n)
        own = highs[self.codes, rows]
        lows[self.codes, rows] = -math.inf
        return np.asarray(lows.max(axis=0) > own)


def _scores(frame: _Frame, one: PlanePoint, two: PlanePoint, low: float, high: float) -> tuple[Floats, Floats]:
    """Return bounds on the validation scores of the optima for all C from low to high."""
    nearer = [curved.scores(low, high) for curved in (one.curved, two.curved) if curved is not None]
    known = [pair for pair in nearer if pair is not None]
    free = frame.problem.free
    if not (
        known and free and frame.problem.loss == "log"
    ):  # where curvature says something, the lens with its range of intercepts adds little
        ball = Lens(one.evidence, two.evidence).ball(low, high)
        off = ball.off * frame.reach
        down, up = 0.0, 0.0
        if free:
            columns = np.concatenate([one.training, two.training])
            down, up = bias_range(frame.problem, *ball.scores(columns, frame.training_lengths, off))
        lowest, highest = ball.scores(np.concatenate([one.validation, two.validation]), frame.lengths, off)
        known.append((lowest + down - _slip(down), highest + up + _slip(up)))
    lows, highs = zip(*known, strict=True)
    return np.max(lows, axis=0), np.min(highs, axis=0)


def _slip(value: float) -> float:
    """Return what adding this number to a score can lose to rounding, relative to the number."""
    return 4.0 * _UNIT * abs(value) if math.isfinite(value) else 0.0
