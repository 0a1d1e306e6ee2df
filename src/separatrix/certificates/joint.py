"""The certificate of a linear model whose classes were learned together, and the most mistakes that its run can make.

The model predicts the class with the highest score ``w_c.x + b_c``. Of a row of class y the joint margin is the
difference of the score of y and the highest of the others, divided by the length of all weights as one vector. If some
weights W give every row a joint margin of at least gamma, biases over K included in the length, and no ``(x, K)`` is
longer than R, then the following hold, however long the rows are visited (Crammer and Singer 2003 for the perceptron;
Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006 for passive-aggressive rules).

Let z be the table with x in the row of y and -x in that of the rival r; then ``|z|^2 = 2 |x|^2 <= 2 R^2``, the margin
of the run is ``m = V.z`` for its weights V, an update is ``V + tau z``, and ``W.z >= gamma`` where ``|W| = 1``.

- Perceptron: each of M updates, made at ``m <= 0``, adds at least ``eta gamma`` to ``V.W``, and at most
  ``2 eta m + eta^2 |z|^2 <= 2 eta^2 R^2`` to ``|V|^2``. So ``M eta gamma <= V.W <= |V| <= eta R sqrt(2 M)``, and
  ``M <= 2 R^2 / gamma^2``.
- Passive-aggressive: with ``u = W / gamma`` and ``l = 1 - m``, ``|V - u|^2`` falls by
  ``2 tau (u.z - m) - tau^2 |z|^2 >= tau (2 l - tau |z|^2)`` in each update, by ``|u|^2 = 1 / gamma^2`` in all. At a
  mistake l is at least 1, and what falls is at least ``1 / (2 R^2)`` (PA, ``tau = l / |z|^2``),
  ``min(C, 1 / (2 R^2))`` (PA-I) or ``1 / (2 R^2 + 1 / (2 C))`` (PA-II). So the bounds are those of two classes with
  ``2 R^2`` for ``R^2``.

W is a witness: whoever found it, gamma is proved for it here, with a bound on every rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import bounds
from separatrix.certificates.certificate import Check
from separatrix.certificates.data import processors
from separatrix.certificates.exact_rows import ExactRows
from separatrix.certificates.fields import JOINT, VERSION, finite, written
from separatrix.certificates.model import MistakeBound, Objective, refuted
from separatrix.certificates.proving import OUTWARD, hypotenuse, rounded
from separatrix.certificates.witness import in_integers
from separatrix.certificates.words import shown, whole
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.joint import JointState
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.solve import solve_tasks
from separatrix.rules import PA
from separatrix.stops import MaxEpochs, NoProgress
from separatrix.text import html_table

_VANISHING = 1e-280  # squares below it are lost in rounding
_WORK = 1 << 30  # products of the search for a witness
_MOST_EPOCHS = 300


class JointPlanes(NamedTuple):
    """Weights of shape (n_classes, n_features) and a bias for each class, and where they come from."""

    source: str
    coef: Floats
    intercept: Floats


class JointMeasures(NamedTuple):
    """Which rows are not predicted right, and a lower bound on the least margin; -inf if some row is not."""

    wrong: NDArray[np.bool_]
    least: float


@dataclass(frozen=True, eq=False)
class JointCertificate:
    """What was recomputed from the data about a linear model whose classes were learned together.

    Attributes
    ----------
    model : str
        The estimator's name.
    classes : tuple of labels
        The classes, in the order of the model's weights.
    rows : int
        How many rows count (weight above 0).
    margin : float
        The least joint margin of a row, ``min (w_y.x + b_y - max (w_r.x + b_r)) / |w|`` with ``|w|`` the length of all
        weights as one vector: a proved lower bound; -inf if some row is not predicted right.
    wrong : int
        How many rows do not have their class's score strictly above all others. Decided without rounding.
    mistakes : MistakeBound or None
        The mistakes of the run against its bound, or why there is none.
    witness : JointPlanes or None
        The weights that the bound rests on, and their ``source``. None if there is no bound.
    gamma : float
        The joint margin of the witness, biases over K included in the length; a proved lower bound, 0 without one.
    radius : float
        R, at least the length of the longest row with the bias coordinate.
    objective : Objective or None
        For multinomial logistic regression: primal and dual value and the gap.
    """

    model: str
    classes: tuple[Any, ...]
    rows: int
    margin: float
    wrong: int
    mistakes: MistakeBound | None = None
    witness: JointPlanes | None = None
    gamma: float = 0.0
    radius: float = math.inf
    objective: Objective | None = None

    def headline(self) -> str:
        """Return whose certificate this is."""
        return f"{self.model}, {len(self.classes)} classes learned together:"

    def details(self) -> list[list[str]]:
        """Return each claim and what was proved of it, in short."""
        margin = "none: the weights do not separate the classes"
        if self.wrong == 0:
            margin = shown(self.margin, up=False) if self.margin > 0 else "too small for a number"
        rows = [
            ["rows predicted right", f"{self.rows - self.wrong} of {self.rows}"],
            ["joint training margin", margin],
            *([] if self.objective is None else self.objective.details()),
        ]
        if self.mistakes is None:
            return rows
        if self.witness is None or not math.isfinite(self.mistakes.allowed):
            return [*rows, ["mistakes", f"{self.mistakes.made:,}; no bound: {self.mistakes.why}"]]
        return [
            *rows,
            ["mistakes", f"{self.mistakes.made:,}; bound {whole(self.mistakes.allowed)}"],
            ["witness of the bound", f"{self.witness.source}: joint margin {shown(self.gamma, up=False)}"],
            ["longest row", shown(self.radius, up=True)],
        ]

    def verify(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Check:
        """Do what :meth:`separatrix.certificates.model.ModelCertificate.verify` does."""
        return Check(tuple(model._refuted(self, X, y, sample_weight)))

    def refuted_by(self, fresh: JointCertificate) -> list[str]:
        """Return which claims are not those that were recomputed, nor weaker."""
        names = ("model", "classes", "rows", "wrong")
        return refuted(self, fresh, names)

    def explain(self) -> str:
        """Return what was proved, in words."""
        return "\n".join([self.headline(), *(f"  {name}: {value}" for name, value in self.details())])

    def __str__(self) -> str:
        return "; ".join(f"{name}: {value}" for name, value in self.details())

    def _repr_html_(self) -> str:
        return html_table(["claim", "proved"], self.details(), caption=self.model)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        made, witness = self.mistakes, self.witness
        return {
            "format": JOINT,
            "version": VERSION,
            "model": self.model,
            "classes": list(self.classes),
            "rows": self.rows,
            "wrong": self.wrong,
            "margin": finite(self.margin),
            "mistakes": None if made is None else {"made": made.made, "allowed": finite(made.allowed)},
            "objective": None if self.objective is None else self.objective.to_dict(),
            "witness": None
            if witness is None
            else {
                "source": witness.source,
                "weights": witness.coef.tolist(),
                "biases": witness.intercept.tolist(),
                "gamma": self.gamma,
                "radius": finite(self.radius),
            },
        }

    def to_json(self) -> str:
        """Return the claims as JSON text."""
        return written(self.to_dict())


def joint_certificate(
    model: str,
    rows: Rows,
    labels: Labels,
    planes: JointPlanes,
    *,
    constant: float,
    mistakes: int | None,
    factor: Callable[[float], float] | str,
    others: Sequence[JointPlanes] = (),
) -> JointCertificate:
    """Return the certificate of a model on its training data.

    Parameters
    ----------
    model : str
        The estimator's name.
    rows, labels : Rows and Labels
        The training rows that count.
    planes : JointPlanes
        Those of the model.
    constant : float
        The bias coordinate K, 0 for none.
    mistakes : int or None
        Those of the run; None for a model that did not learn online, which has no mistake bound.
    factor : callable or str
        The bound times ``gamma^2``, of ``2 R^2``; or why no theorem applies.
    others : sequence of JointPlanes
        More weights that may be the witness; besides, a passive-aggressive run looks for one.
    """
    measured = measure_joint(rows, labels.codes, planes)
    wrong, margin = int(np.count_nonzero(measured.wrong)), _margin(measured, planes.coef)
    classes = tuple(labels.classes.tolist())
    plain = JointCertificate(model, classes, len(labels.codes), margin, wrong)
    if mistakes is None:
        return plain
    radius = hypotenuse(bounds.radius(rows)[1], constant)
    if isinstance(factor, str):
        return replace(plain, mistakes=MistakeBound(mistakes, math.inf, factor))
    if not radius * radius > _VANISHING:
        return replace(plain, mistakes=MistakeBound(mistakes, math.inf, "the values are too small"))
    candidates = [planes, *others, _search(rows, labels, constant)]
    gammas = [joint_gamma(rows, labels.codes, each, constant) for each in candidates]
    best = int(np.argmax(gammas))
    gamma = gammas[best]
    if not gamma > 0:
        tried = "neither the weights of the model nor a passive-aggressive run separate them"
        why = f"the classes are not known to be jointly separable ({tried}), and this bound needs that"
        bound = MistakeBound(mistakes, math.inf, why)
        return JointCertificate(model, classes, plain.rows, margin, wrong, bound, None, 0.0, radius)
    allowed = _most(factor(2.0 * (radius * radius) * (1.0 + OUTWARD)), gamma)
    bound = MistakeBound(mistakes, allowed, "" if math.isfinite(allowed) else "too large for a number")
    return JointCertificate(model, classes, plain.rows, margin, wrong, bound, candidates[best], gamma, radius)


def joint_training_margin(rows: Rows, codes: NDArray[np.int32], coef: Floats, intercept: Floats) -> float:
    """Return a proved lower bound on the least joint margin of the rows; -inf if one is not predicted right."""
    planes = JointPlanes("the model", coef, intercept)
    return _margin(measure_joint(rows, codes, planes), coef)


def _margin(measured: JointMeasures, coef: Floats) -> float:
    length = bounds.length(coef.ravel())[1]
    if measured.wrong.any() or not length > 0:
        return -math.inf
    return max(math.nextafter(measured.least / length * (1.0 - OUTWARD), -math.inf), 0.0)


def _most(numerator: float, gamma: float) -> float:
    """Return no less than ``numerator / gamma^2``."""
    root = math.sqrt(numerator) / gamma if math.isfinite(numerator) else math.inf
    return root * root * (1.0 + OUTWARD) if root < 1e150 else math.inf


def joint_gamma(rows: Rows, codes: NDArray[np.int32], planes: JointPlanes, constant: float) -> float:
    """Return the joint margin that these weights prove in the coordinates ``(x, constant)``; 0 if they prove none.

    Examples
    --------
    >>> planes = JointPlanes("given", np.array([[1.0], [0.0], [-1.0]]), np.array([-1.0, 0.0, -1.0]))
    >>> rows, codes = Rows([[3.0], [0.0], [-3.0]]), np.array([0, 1, 2], dtype=np.int32)
    >>> round(joint_gamma(rows, codes, planes, 1.0), 6)  # the least margin is 1, the square of the length 4
    0.5
    """
    if not (np.isfinite(planes.coef).all() and np.isfinite(planes.intercept).all()):
        return 0.0
    if constant == 0.0 and planes.intercept.any():
        return 0.0
    least = measure_joint(rows, codes, planes).least
    biases = bounds.length(planes.intercept)[1]
    across = math.nextafter(biases / constant, math.inf) if biases else 0.0
    length = hypotenuse(bounds.length(planes.coef.ravel())[1], across)
    if not (0.0 < least < math.inf and 0.0 < length < math.inf):
        return 0.0
    return least / length * (1.0 - OUTWARD)


def measure_joint(
    rows: Rows, codes: NDArray[np.int32], planes: JointPlanes, ties: tuple[bool, bool] = (True, True), n_jobs: int = 0
) -> JointMeasures:
    """Return which rows are not predicted right, decided without rounding, and a lower bound on the least margin.

    ``ties`` says whether a tie with a rival is wrong, for one that comes before the row's class and for one after it.
    """
    n, k = len(codes), len(planes.intercept)
    if not (np.isfinite(planes.coef).all() and np.isfinite(planes.intercept).all()):
        return JointMeasures(np.ones(n, dtype=bool), -math.inf)
    own = [np.full(n, -np.inf), np.full(n, -np.inf)]
    rival = [np.full(n, -np.inf), np.full(n, -np.inf)]
    ones = np.ones(n)
    for code in range(k):
        weights = np.ascontiguousarray(planes.coef[code], dtype=np.float64)
        seen = bounds.margins(rows, ones, weights, float(planes.intercept[code]), n_jobs or processors())
        mine = codes == code
        for side, bound in enumerate(seen):
            own[side] = np.where(mine, bound, own[side])
            rival[side] = np.where(mine, rival[side], np.maximum(rival[side], bound))
    lower, upper = _difference(own[0], rival[1], down=True), _difference(own[1], rival[0], down=False)
    wrong = np.asarray(upper <= 0 if all(ties) else upper < 0)
    unsure = np.flatnonzero((lower <= 0) & ~wrong)
    sure = lower[lower > 0]
    least = float(sure.min(initial=math.inf))
    for code in np.unique(codes[unsure]).tolist():
        places = unsure[codes[unsure] == code]
        for other in range(k):
            if other != code:
                sides, exact_least = _exact_sides(Rows(rows.values[places]), planes, code, other)
                wrong[places] |= (sides < 0) | ((sides == 0) & ties[other > code])
                least = min(least, exact_least)
    return JointMeasures(wrong, -math.inf if wrong.any() else least)


def _difference(a: Floats, b: Floats, *, down: bool) -> Floats:
    """Return bounds on a - b, which is 0 only where they are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        rough = a - b
    return np.where(rough == 0.0, 0.0, np.nextafter(rough, -np.inf if down else np.inf))


def _exact_sides(rows: Rows, planes: JointPlanes, code: int, other: int) -> tuple[NDArray[np.int8], float]:
    """Return the sign of each row's margin of one class over another, and a lower bound on the least of them."""
    both = [*planes.coef[code].tolist(), float(planes.intercept[code])]
    both += [*planes.coef[other].tolist(), float(planes.intercept[other])]
    integers, factor = in_integers(both)
    half = len(both) // 2
    plane = [a - b for a, b in zip(integers[:half], integers[half:], strict=True)]
    if not any(plane):
        return np.zeros(rows.shape[0], dtype=np.int8), 0.0
    exact = ExactRows(rows, np.ones(rows.shape[0]), bias=True)
    scaled, unit = exact.scaled(plane)
    least = exact.least(scaled) * unit / Fraction(factor)
    return exact.sides(scaled), rounded(least, up=False) if least > 0 else 0.0


def _search(rows: Rows, labels: Labels, constant: float) -> JointPlanes:
    """Return the weights of a passive-aggressive run from zero, whose margins all grow towards 1."""
    problem = Problem(rows, labels, bias=constant, check_finite=False)
    k, values = len(labels.classes), rows.values
    products = max(1, int(getattr(values, "nnz", 0)) or problem.n * problem.d) * k
    epochs = max(1, min(_MOST_EPOCHS, _WORK // products))
    state = JointState.new(0, np.zeros((k, problem.d)), np.zeros(k), readout="last")
    name = "the weights of a passive-aggressive run from zero"
    try:
        (found,) = solve_tasks(problem, PA(), [state], order="shuffled", stop=NoProgress(tol=1e-3) | MaxEpochs(epochs))
    except ValueError:  # sums overflow
        return JointPlanes(name, np.zeros((k, problem.d)), np.zeros(k))
    if found.status.interrupted:
        raise KeyboardInterrupt
    return JointPlanes(name, found.weights, np.asarray(found.bias))
