"""One fold of a cross-validation: its fits along C, and which validation rows every optimum of a range gets wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.estimators.one_vs_rest import predicted_codes
from separatrix.estimators.solved import SolvedClassifier
from separatrix.estimators.warm_fits import WarmFits
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.insight.fold_path import Followed
from separatrix.insight.plane_fits import PlaneFit, fit_plane
from separatrix.loop.problem import Labels
from separatrix.svm.bias_range import bias_range
from separatrix.svm.centring import has_all
from separatrix.svm.curved_bounds import CurvedBounds
from separatrix.svm.hinge_pieces import HingePieces
from separatrix.svm.optimum_ball import Ball, Evidence, Lens, Problem, evidence
from separatrix.svm.optimum_segment import between

_UNIT = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class PlanePoint:
    """One plane of a fit: what it proves, and the scores of its two vectors on training and validation rows."""

    fit: PlaneFit
    evidence: Evidence
    training: Floats  # shape (2, n), or (2, 0) where no intercept needs them
    validation: Floats  # shape (2, n_validation)
    bias: float  # about the centre, if it is free
    curved: CurvedBounds | None


@dataclass(eq=False)
class FoldPoint:
    """One fit of a fold: the validation rows that it gets wrong, and its planes."""

    C: float
    tol: float
    missed: NDArray[np.bool_]
    wrong: float
    converged: bool
    planes: list[PlanePoint]
    left: float | None = None  # the rows that its own precision leaves open, as soon as that is known

    def forget(self) -> None:
        """Let go of all but the errors: only ranges that are still open need the rest."""
        self.planes = []


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
    """A fold: training rows, validation rows, and the fits that have been made.

    ``counts`` say what each validation row counts in the error; by default all alike.
    """

    def __init__(
        self,
        estimator: SolvedClassifier,
        X: Any,
        labels: Labels,
        validation: Any,
        codes: NDArray[np.intp],
        sample_weight: Any = None,
        counts: Floats | None = None,
    ) -> None:
        self.fits = WarmFits(estimator, X, labels, sample_weight)
        self.validation, self.codes, self.counts = Rows(validation), codes, counts
        self.validation.check_finite()
        self.certified = not self.fits.joint
        self._problems = self._planes() if self.certified else []
        self._frames: list[_Frame] = []
        self._followed: list[Followed] = []

    def _planes(self) -> list[Problem]:
        """Return the problems, and read the validation rows as theirs."""
        planes = self.fits.planes()
        centre = planes[0].rows.centre
        if centre is None:
            return planes
        if is_sparse(self.validation.values) and not has_all(self.validation, np.flatnonzero(centre)):
            return self.fits.planes(about_centre=False)
        self.validation = self.validation.less(centre)
        return planes

    @property
    def n_planes(self) -> int:
        """How many binary problems a fit solves, at least 1."""
        return max(len(self._problems), 1)

    @property
    def n(self) -> float:
        """How many validation rows there are, or what they count in all."""
        return len(self.codes) if self.counts is None else float(self.counts.sum())

    def _count(self, rows: NDArray[np.intp]) -> float:
        """Return how many validation rows these are, or what they count."""
        return len(rows) if self.counts is None else float(self.counts[rows].sum())

    def fit(self, C: float, tol: float, near: Sequence[FoldPoint] = ()) -> FoldPoint:
        """Fit with this C, starting between the fits that are near."""
        if not self.certified:
            model = self.fits.fit(C, tol)
            missed = model._predict_codes(self.validation.values) != self.codes
            return FoldPoint(C, tol, missed, self._count(np.flatnonzero(missed)), self.fits.converged, [])
        starts = [[point.planes[place].fit for point in near] for place in range(len(self._problems))]
        fits = [
            fit_plane(problem, C, tol, self.fits.model.max_iter, start)
            for problem, start in zip(self._problems, starts, strict=True)
        ]
        proofs = [
            evidence(problem, C, fit.weights, fit.bias, fit.alpha)
            for problem, fit in zip(self._problems, fits, strict=True)
        ]
        if not self._frames:
            pairs = zip(self._problems, proofs, strict=True)
            self._frames = [_Frame(problem, self.validation, proof) for problem, proof in pairs]
        planes = [self._point(*each) for each in zip(self._frames, fits, proofs, strict=True)]
        weights, biases = np.stack([fit.weights for fit in fits]), np.array([fit.bias for fit in fits])
        scores = _core.decide(self.validation.matrix, weights, biases, 1)
        scores = scores[:, 0] if len(fits) == 1 else scores
        positive, n_classes = self.fits.model.boundary != "negative", len(self.fits.problem.classes)
        codes = predicted_codes(scores, n_classes, tie_is_positive=positive)
        missed = codes != self.codes
        wrong = self._count(np.flatnonzero(missed))
        return FoldPoint(C, tol, missed, wrong, all(fit.converged for fit in fits), planes)

    def _point(self, frame: _Frame, fit: PlaneFit, proof: Evidence) -> PlanePoint:
        training = frame.scores(frame.problem.rows, proof) if frame.problem.free else np.empty((2, 0))
        curved = None
        if CurvedBounds.suits(frame.problem):
            curved = CurvedBounds(frame.problem, fit.C, fit.weights, fit.bias, self.validation)
        bias = proof.bias + _core.dot(fit.weights, frame.centre)
        return PlanePoint(fit, proof, training, frame.scores(self.validation, proof), bias, curved)

    def follow(self, point: FoldPoint, end: float, halted: Callable[[], bool]) -> float:
        """Follow the path of the optima from a fit towards a higher C; return the C that it is known up to."""
        fits = [plane.fit for plane in point.planes]
        if len(fits) != 1 or fits[0].alpha is None or not HingePieces.suits(self._problems[0]):
            return point.C
        frame = self._frames[0]
        pieces = HingePieces(frame.problem, frame.centre, frame.training_lengths, point.C, fits[0].alpha, fits[0].bias)
        counts = np.ones(len(self.codes)) if self.counts is None else self.counts
        off = (frame.problem.rows.shape[1] + 8) * _UNIT * frame.reach
        followed = Followed(self.validation, self.codes == 1, counts, frame.lengths, off)
        while not pieces.ended and not halted():
            found = pieces.further(end)
            if found is not None:
                followed.add(found)
        if not len(followed.sure):
            return point.C
        self._followed.append(followed)
        return followed.high

    @property
    def ends(self) -> list[float]:
        """Where the ranges begin and end that were followed."""
        return [end for each in self._followed for end in (each.low, each.high)]

    def known(self, low: float, high: float) -> Followed | None:
        """Return what was found along the path in a range that was followed."""
        return next((each for each in self._followed if each.low <= low and high <= each.high), None)

    def seen(self, C: float) -> FoldPoint | None:
        """Return the solution for a C of a range that was followed, without what it proves."""
        known = self.known(C, C)
        if known is None:
            return None
        missed = known.missed(C)
        return FoldPoint(C, 0.0, missed, self._count(np.flatnonzero(missed)), True, [])

    def decide(self, first: FoldPoint, second: FoldPoint, low: float, high: float) -> tuple[float, float]:
        """Return how many validation rows every optimum from low to high gets wrong, or what they count, as proved.

        The rows are those that one of the two fits gets wrong; the second number says how many of them are open.
        """
        known = self.known(low, high)
        if known is not None:
            least, most = known.within(low, high)
            return least, most - least
        rows = np.flatnonzero(first.missed | second.missed)
        if not len(rows):
            return 0, 0
        lows, highs = (np.full((len(self._frames), len(rows)), value) for value in (-math.inf, math.inf))
        wrong = right = np.zeros(len(rows), dtype=bool)
        each = [
            _bounds(frame, one, two, low, high, rows)
            for frame, one, two in zip(self._frames, first.planes, second.planes, strict=True)
        ]
        for bounds in zip_longest(*each):
            for place, pair in enumerate(bounds):
                if pair is not None:
                    lows[place], highs[place] = np.maximum(lows[place], pair[0]), np.minimum(highs[place], pair[1])
            wrong, right = _decided(lows, highs, self.codes[rows])
            if (wrong | right).all():
                break
        return self._count(rows[wrong]), self._count(rows[~(wrong | right)])


def _decided(lows: Floats, highs: Floats, codes: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows are surely wrong and which are surely right, given bounds on the score of each class."""
    if len(lows) == 1:
        negative, positive = highs[0] < 0.0, lows[0] > 0.0
        return np.where(codes == 1, negative, positive), np.where(codes == 1, positive, negative)
    rows = np.arange(len(codes))
    least, most = lows[codes, rows], highs[codes, rows]
    lows, highs = lows.copy(), highs.copy()
    lows[codes, rows] = highs[codes, rows] = -math.inf
    return np.asarray(lows.max(axis=0) > most), np.asarray(highs.max(axis=0) < least)


def _bounds(
    frame: _Frame, one: PlanePoint, two: PlanePoint, low: float, high: float, rows: NDArray[np.intp]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield bounds on the scores of some validation rows by the optima for all C from low to high, the best first.

    Where curvature says something, balls with their ranges of intercepts add little; where it can say something, the
    lens adds little to the segment of two fits.
    """
    known = False
    middle = math.sqrt(low) * math.sqrt(high)
    nearest = (one, two) if middle * middle <= one.evidence.C * two.evidence.C else (two, one)
    curved = [point.curved for point in (nearest if one is not two else (one,)) if point.curved is not None]
    for bounds in curved:
        pair = bounds.scores(low, high, rows)
        if pair is not None:
            known = True
            yield pair
    if known and frame.problem.free:
        return
    ball = between(frame.problem, one.evidence, two.evidence, low, high)
    if ball is not None:
        yield _ball_scores(frame, one, two, ball, rows)
    if ball is None or not curved:
        yield _ball_scores(frame, one, two, Lens(one.evidence, two.evidence).ball(low, high), rows)


def _ball_scores(
    frame: _Frame, one: PlanePoint, two: PlanePoint, ball: Ball, rows: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the bounds that a ball with the optimal weights gives."""
    off = ball.off * frame.reach
    vectors = np.concatenate([one.validation[:, rows], two.validation[:, rows]])
    lowest, highest = ball.scores(vectors, frame.lengths[rows], off)
    if not frame.problem.free:
        return lowest, highest
    guess = 0.5 * (one.bias + two.bias)
    if not ((lowest + guess > 0.0) | (highest + guess < 0.0)).any():  # so that its range would help no row
        return lowest - math.inf, highest + math.inf
    columns = np.concatenate([one.training, two.training])
    down, up = bias_range(frame.problem, *ball.scores(columns, frame.training_lengths, off), guess)
    return lowest + down - _slip(down), highest + up + _slip(up)


def _slip(value: float) -> float:
    """Return what adding this number to a score can lose to rounding, relative to the number."""
    return 4.0 * _UNIT * abs(value) if math.isfinite(value) else 0.0
