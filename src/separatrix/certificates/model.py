"""Certificates of one fitted plane on its training data: margin, mistake bound, distance from the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import bounds
from separatrix.certificates.certificate import Certificate, Check
from separatrix.certificates.data import Data, processors
from separatrix.certificates.exact_rows import ExactRows
from separatrix.certificates.fields import MODEL, VERSION, finite, written
from separatrix.certificates.proving import OUTWARD, rounded
from separatrix.certificates.witness import in_integers
from separatrix.certificates.words import shown, whole
from separatrix.geometry.rows import Floats
from separatrix.text import html_table


@dataclass(frozen=True)
class Objective:
    """The two values of a model's objective, proved: it is at most ``primal``, the optimum at least ``dual``."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The model's objective is at most this far from the optimum."""
        return max(self.primal - self.dual, 0.0)

    def details(self) -> list[list[str]]:
        """Return the claims in short."""
        primal, dual = shown(self.primal, up=True), shown(self.dual, up=False)
        return [
            ["objective", f"{primal}, at most {self.gap:.3g} above the optimum"],
            ["optimum", f"between {dual} and {primal}"],
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {name: finite(getattr(self, name)) for name in ("primal", "dual", "gap")}


@dataclass(frozen=True)
class MistakeBound:
    """Mistakes made, and the most that the theorem allows; infinite if no plane is known to separate the data.

    ``why`` says why there is no bound where that is not because of the data; ``what`` are "mistakes", or "updates"
    where the theorem counts those, all mistakes among them.
    """

    made: int
    allowed: float
    why: str = ""
    what: str = "mistakes"

    @property
    def holds(self) -> bool:
        """Whether the run kept to the theorem."""
        return self.made <= self.allowed


@dataclass(frozen=True, eq=False)
class ModelCertificate:
    """What was recomputed from the data about a fitted linear model, one class against the other or the rest.

    Attributes
    ----------
    model : str
        The estimator's name.
    positive, negative : label
        The two classes; ``negative`` is None when it is all others.
    margin : float
        The training margin ``min y (w.x + b) / |w|``, a proved lower bound; -inf if some row is not on its correct side
        (Lecture 001).
    distances : array
        The signed distance of each row that counts (weight above 0) from the plane, ``(w.x + b) / |w|`` (Lecture 003);
        NaN if w is zero.
    wrong : int
        How many rows are not on their correct side: on the plane, or beyond it. Decided without rounding.
    mistakes : MistakeBound or None
        For the perceptron and ALMA: updates made against the bound. For passive-aggressive rules, ROMMA, AROW and the
        second-order perceptron: mistakes made against theirs. Without a bound where no theorem applies: ``why`` says
        so. None for models that do not learn from mistakes.
    objective : Objective or None
        For the support vector machine and logistic regression: primal and dual value and the gap.
    data : Certificate or None
        What the mistake bound rests on; for logistic regression without a penalty, why there is no optimum.
    """

    model: str
    positive: Any
    negative: Any
    margin: float
    distances: Floats
    wrong: int
    mistakes: MistakeBound | None = None
    objective: Objective | None = None
    data: Certificate | None = None

    def headline(self) -> str:
        """Return whose certificate this is."""
        negative = "the rest" if self.negative is None else repr(self.negative)
        return f"{self.model}, {self.positive!r} vs {negative}:"

    def details(self) -> list[list[str]]:
        """Return each claim and what was proved of it, in short."""
        n = len(self.distances)
        margin = "none: the plane does not separate the classes"
        if self.wrong == 0:
            margin = shown(self.margin, up=False) if self.margin >= 0 else "none: the weights are zero"
        rows = [["rows on the correct side", f"{n - self.wrong} of {n}"], ["training margin", margin]]
        if self.mistakes is not None:
            allowed = self.mistakes.allowed
            why = self.mistakes.why or self._unbounded()
            most = f"bound {whole(allowed)}" if math.isfinite(allowed) else f"no bound: {why}"
            rows.append([self.mistakes.what, f"{self.mistakes.made:,}; {most}"])
        if self.objective is not None:
            if math.isinf(self.objective.primal):
                why = "infinite: the plane does not separate the classes" if self.wrong else "too large for a number"
                rows.append(["objective", f"{why}; optimum at least {shown(self.objective.dual, up=False)}"])
            else:
                rows += self.objective.details()
        return rows

    def verify(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Check:
        """Recompute every claim about the model's weights from the data, and compare.

        Parameters
        ----------
        model : estimator
            The fitted model that the certificate is about: its weights and settings count, none of its claims.
        X, y, sample_weight
            What it was fitted to.

        Returns
        -------
        Check
            True if all holds; ``str(check)`` says what does not. How many mistakes a run made cannot be recomputed.
        """
        return Check(tuple(model._refuted(self, X, y, sample_weight)))

    def refuted_by(self, fresh: ModelCertificate) -> list[str]:
        """Return which claims are not those that were recomputed, nor weaker."""
        problems = refuted(self, fresh, ("model", "positive", "negative", "wrong"))
        same = self.distances.shape == fresh.distances.shape
        if not same or not np.allclose(self.distances, fresh.distances, rtol=1e-9, atol=0.0, equal_nan=True):
            problems.append("distances are not those of the rows from the plane")
        return problems

    def _unbounded(self) -> str:
        """Return why there is no bound on the mistakes."""
        if self.data is None or (self.data.separable is None and self.data.margin.upper > 0):
            return "separability is not decided"
        return "too large for a number" if self.data.separable == "strict" else "not strictly separable"

    def explain(self) -> str:
        """Return what was proved, in words."""
        lines = [self.headline()]
        lines += [f"  {name}: {value}" for name, value in self.details()]
        if self.data is not None:
            lines += ["", self.data.explain()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return "; ".join(f"{name}: {value}" for name, value in self.details())

    def _repr_html_(self) -> str:
        return html_table(["claim", "proved"], self.details(), caption=self.model)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: all but the distances."""
        return {
            "format": MODEL,
            "version": VERSION,
            "model": self.model,
            "positive": self.positive,
            "negative": self.negative,
            "rows": len(self.distances),
            "wrong": self.wrong,
            "margin": finite(self.margin),
            "mistakes": None
            if self.mistakes is None
            else {"made": self.mistakes.made, "allowed": finite(self.mistakes.allowed)},
            "objective": None if self.objective is None else self.objective.to_dict(),
            "data": None if self.data is None else self.data.to_dict(),
        }

    def to_json(self) -> str:
        """Return the claims as JSON text."""
        return written(self.to_dict())


@dataclass(frozen=True)
class BudgetCertificate:
    """What is known of the run of a kernel perceptron with a budget: its mistakes, and why they have no bound."""

    model: str
    mistakes: MistakeBound

    def __str__(self) -> str:
        return f"{self.mistakes.what}: {self.mistakes.made:,}; no bound: {self.mistakes.why}"


@dataclass(frozen=True)
class PlaneMeasures:
    """The margins and distances of the rows from a plane; see :class:`ModelCertificate` for the names.

    ``least`` is a lower bound on the least ``y (w.x + b)``; ``slack`` are upper bounds.
    """

    margin: float
    distances: Floats
    wrong: int
    slack: Floats
    least: float


def measure_plane(data: Data, weights: Floats, bias: float) -> PlaneMeasures:
    """Return how the rows lie about this plane; where rounding leaves a side open, integers decide."""
    seen = bounds.margins(data.rows, data.signs, weights, bias, processors())
    low, high = bounds.length(weights)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distances = data.signs * (0.5 * seen.lower + 0.5 * seen.upper) / (0.5 * low + 0.5 * high)
    wrong, least = int(np.count_nonzero(seen.upper <= 0)), float(seen.lower.min())
    unsure = np.flatnonzero((seen.lower <= 0) & (seen.upper > 0))
    if len(unsure):
        beyond, exact_least = _undecided(data.part(unsure), weights, bias)
        wrong += beyond
        sure = seen.lower[seen.lower > 0]
        least = min(exact_least, float(sure.min(initial=math.inf))) if wrong == 0 else least
    margin = -math.inf
    if wrong == 0 and high > 0:
        margin = max(math.nextafter(least / high * (1.0 - OUTWARD), -math.inf), 0.0)
    slack = np.where(seen.lower >= 1.0, 0.0, np.nextafter(np.maximum(1.0 - seen.lower, 0.0), np.inf))
    return PlaneMeasures(margin, distances, wrong, slack, least)


def wrong_sides(
    data: Data, weights: Floats, bias: float, ties: tuple[bool, bool], n_jobs: int = 1
) -> NDArray[np.bool_]:
    """Return which rows lie on the wrong side of this plane, decided without rounding.

    ``ties`` says whether a row on the plane does, for a negative and for a positive one.
    """
    if not (np.isfinite(weights).all() and math.isfinite(bias)):
        return np.ones(data.n, dtype=bool)
    seen = bounds.margins(data.rows, data.signs, weights, bias, n_jobs)
    wrong = np.asarray(seen.upper < 0)
    unsure = np.flatnonzero((seen.lower <= 0) & ~wrong)
    if len(unsure):
        part = data.part(unsure)
        exact, plane, _ = _in_integers(part, weights, bias)
        sides = exact.sides(plane)
        wrong[unsure] = (sides < 0) | ((sides == 0) & np.where(part.signs > 0, ties[1], ties[0]))
    return wrong


def _undecided(data: Data, weights: Floats, bias: float) -> tuple[int, float]:
    """Return how many of these rows are not on their correct side, and the least ``y (w.x + b)``, rounded down."""
    if not (np.isfinite(weights).all() and math.isfinite(bias)):
        return data.n, -math.inf
    exact, plane, unit = _in_integers(data, weights, bias)
    beyond = int(np.count_nonzero(exact.sides(plane) <= 0))
    return beyond, rounded(exact.least(plane) * unit, up=False) if beyond == 0 else -math.inf


def _in_integers(data: Data, weights: Floats, bias: float) -> tuple[ExactRows, tuple[int, ...], Fraction]:
    """Return the rows and the plane in whole numbers, and the unit of their products."""
    exact = ExactRows(data.rows, data.signs, bias=True)
    integers, factor = in_integers((*weights.tolist(), bias))
    plane, unit = exact.scaled(integers)
    return exact, plane, unit / factor


@dataclass(frozen=True)
class SoftMargin:
    """The soft-margin problem of a support vector machine: the cost of each row's slack and the kind of bias.

    ``constant`` is the bias coordinate's size, 0 for none; a ``free`` bias costs nothing.
    """

    costs: Floats
    squared: bool
    free: bool
    constant: float


def objective(
    data: Data, task: SoftMargin, weights: Floats, bias: float, measured: PlaneMeasures, alpha: Floats
) -> Objective:
    """Return the two values that weights and alpha give, in arithmetic that proves them.

    Without slack (infinite costs) the weights count as scaled until the least margin is 1.

    The dual is ``sum alpha - |sum alpha y x|^2 / 2``, less ``sum alpha^2 / (4 C)`` for the squared hinge. The length of
    the sum is bounded by what bounds the distance of two hulls. With a free bias both classes must weigh the same, so
    the heavier is scaled down, in exact numbers: the class means stay where they are.
    """
    squared, costs, signs = task.squared, task.costs, data.signs
    length, offset = bounds.length(weights)[1], abs(bias) / task.constant if task.constant else 0.0
    square = length * length + offset * offset
    if not np.isinf(costs).any():
        paid = sum_up(costs * (measured.slack * measured.slack if squared else measured.slack))
    elif measured.least > 0:
        paid, square = 0.0, square / measured.least / measured.least
    else:
        paid = math.inf
    primal = (0.5 * square + paid) * (1.0 + OUTWARD)
    alpha = np.clip(alpha, 0.0, np.inf if squared else costs)
    sums = [sum_down(alpha[signs > 0]), sum_down(alpha[signs < 0])]
    total = 2.0 * min(sums) if task.free else sum(sums) * (1.0 - OUTWARD)
    if total <= 0:
        return Objective(primal, 0.0)
    whole = total if task.free else sum(sums) * (1.0 + OUTWARD)
    length = whole * bounds.hull_gap(data.rows, signs, alpha, free=task.free) * (1.0 + OUTWARD)
    lost = 0.5 * length**2
    if task.constant:
        lost += 0.5 * (task.constant * (abs(sums[0] - sums[1]) + OUTWARD * sum(sums))) ** 2
    if squared:
        lost += 0.25 * sum_up(alpha * alpha / costs)
    return Objective(primal, max(total - lost * (1.0 + OUTWARD), 0.0))


def sum_up(values: Floats) -> float:
    """Return no less than the sum of numbers that are not negative."""
    return math.fsum(values.tolist()) * (1.0 + 2.0**-50)


def sum_down(values: Floats) -> float:
    """Return no more than the sum of numbers that are not negative."""
    return math.fsum(values.tolist()) * (1.0 - 2.0**-50)


def refuted(claimed: Any, fresh: Any, names: tuple[str, ...]) -> list[str]:
    """Return which claims of a certificate are not those that were recomputed, nor weaker.

    The fields of these ``names`` must be equal; the margin and the objective may be a little off by other roundings.
    """
    problems = [
        f"{name} is given as {getattr(claimed, name)!r:.60}; recomputed, it is {getattr(fresh, name)!r:.60}"
        for name in names
        if getattr(claimed, name) != getattr(fresh, name)
    ]
    bounds_of = [("margin", claimed.margin, fresh.margin, -1.0)]
    if claimed.objective is not None:
        proved = fresh.objective or Objective(math.inf, 0.0)
        bounds_of += [
            ("objective.primal", claimed.objective.primal, proved.primal, 1.0),
            ("objective.dual", claimed.objective.dual, proved.dual, -1.0),
        ]
    for name, value, known, outward in bounds_of:
        loosest = known if math.isinf(known) else known - outward * 32.0 * OUTWARD * abs(known)
        if not (value >= loosest if outward > 0 else value <= loosest):
            problems.append(f"{name} is given as {value:.17g}; the data prove {known:.17g}")
    return problems


def all_to_json(certificates: dict[Any, ModelCertificate]) -> str:
    """Return the claims about all classes of a model as JSON text."""
    return written([certificate.to_dict() for certificate in certificates.values()])
