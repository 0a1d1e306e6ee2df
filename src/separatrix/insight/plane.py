"""``sx.Plane``: a plane that a person gives, and everything the lectures compute from one.

Answers are exact (ints and Fractions) for exact numbers and short decimals, floats otherwise; exact_numbers.py says
which is which. Tables are in plane_table.py, the mistake bound is in mistake_bound.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.insight.exact_numbers import (
    is_exact,
    over_root,
    plain,
    read_numbers,
    read_rows,
    root,
    shown,
    vector,
)
from separatrix.insight.mistake_bound import PlaneBound, bound_of
from separatrix.insight.plane_table import PlaneTable
from separatrix.insight.signs import label_signs, one_sign
from separatrix.insight.total_loss import Total, total_loss
from separatrix.rules import Number
from separatrix.rules.losses import LOSSES

BOUNDARIES = ("mistake", "correct", "positive", "negative")


class Component(NamedTuple):
    """The projection of rows on the weights (Lecture 004): ``scalar`` is ``x.w / |w|^2``, ``vector`` that times w.

    A row is on the positive side if its scalar is above ``threshold``, which is ``theta / |w|^2``.
    """

    scalar: Any
    vector: Any
    threshold: Number


@dataclass(frozen=True, init=False, repr=False)
class Plane:
    """The plane ``w . x + b = 0``, given by its weights and its bias or threshold.

    Every method takes one row (and gives a number, or a tuple of numbers) or a table of rows (and gives an array: of
    objects where the numbers are exact).
    Ints, Fractions, text such as "1/2" and floats of at most 15 significant digits are exact, and so are the answers: a
    float stands for the decimal that it prints as. Square roots are floats unless they are fractions. Longer floats and
    tables of more than 10,000 numbers are computed in floats.

    Labels are two distinct ones, of which the larger is the positive class; labels that are all alike must be +1, -1 or
    0.

    Parameters
    ----------
    weights : sequence of numbers
        w, one for each feature.
    bias : number, default=0
        b.
    threshold : number, optional
        theta, in place of the bias, which is then ``-theta`` (Lecture 004).

    Examples
    --------
    Lecture 000's boundary:

    >>> from separatrix import Plane, datasets
    >>> plane = Plane((2, -1))
    >>> print(plane)
    2 x1 - x2 = 0
    >>> data = datasets.example("lecture-000")
    >>> plane.activation(data.X).tolist(), plane.margin(data.X, data.y)
    ([1, 3, 1, -1, -3, -1], 1)
    >>> plane.projection((3, 1))
    (1, 2)

    Lecture 004's neuron:

    >>> neuron = Plane((2.5, -1, 1.5), threshold=2)
    >>> neuron.h((1, 3, 2)), neuron.fires((1, 3, 2)), neuron.fires((1.5, 1, -1))
    (Fraction(5, 2), 1, 0)
    """

    weights: tuple[Number, ...]
    bias: Number

    def __init__(self, weights: Sequence[Any], bias: Any = 0, *, threshold: Any = None) -> None:
        if threshold is not None and not (isinstance(bias, int) and bias == 0):
            raise ValueError("give the bias or the threshold, not both: the threshold is minus the bias")
        if isinstance(weights, str | bytes) or not np.iterable(weights):
            raise ValueError(f"weights must be a sequence of numbers, one for each feature; found {weights!r}")
        *read, last = _given([*weights, bias if threshold is None else threshold])
        if not read:
            raise ValueError("weights is empty; give one weight for each feature")
        object.__setattr__(self, "weights", tuple(read))
        object.__setattr__(self, "bias", last if threshold is None else 0 - last)

    @classmethod
    def from_model(cls, model: Any) -> Plane:
        """Return the plane of a fitted linear classifier of two classes.

        Parameters
        ----------
        model : estimator or Pipeline
            With ``coef_`` and ``intercept_``; of scalers and then such an estimator, the plane is the one in the units
            of the raw features.

        Examples
        --------
        >>> from separatrix import Perceptron, datasets
        >>> print(Plane.from_model(Perceptron(shuffle=False).fit(*datasets.load("lecture-000"))))
        3 x1 - 2 x2 = 0
        """
        from separatrix.insight.original_units import dense, original_units

        if hasattr(model, "steps"):
            model = original_units(model)
        if not hasattr(model, "coef_"):
            hint = "give its estimator, whose plane is in its scaled features" if hasattr(model, "estimator") else ""
            raise ValueError(f"{type(model).__name__} has no coef_: {hint or 'give a fitted linear classifier'}")
        coef = np.atleast_2d(dense(model.coef_))
        if len(coef) != 1:
            raise ValueError(f"the model has {len(coef)} planes, one for each class; a Plane is one of two classes")
        return cls(coef[0].tolist(), float(np.ravel(model.intercept_)[0]))

    # ------------------------------------------------------------------------------------------ the plane itself

    @property
    def threshold(self) -> Number:
        """theta, which is minus the bias."""
        return 0 - self.bias

    @property
    def square(self) -> Number:
        """``|w|^2``."""
        return plain(sum(weight * weight for weight in self.weights))

    @property
    def norm(self) -> Number:
        """``|w|``."""
        return root(self.square) if self.exact else math.hypot(*self.weights)

    @property
    def exact(self) -> bool:
        """Whether its numbers are ints and Fractions."""
        return is_exact(self.bias) and all(map(is_exact, self.weights))

    def equation(self, names: Sequence[str] | None = None, *, decimals: bool = True) -> str:
        """Return the equation as text: ``2 x1 - x2 = 0``.

        Examples
        --------
        >>> Plane((0, -1, 2), "1/3").equation(), Plane((1,), threshold=2).equation(["height"])
        ('-x2 + 2 x3 + 1/3 = 0', 'height - 2 = 0')
        """
        names = [f"x{place + 1}" for place in range(len(self.weights))] if names is None else list(names)
        if len(names) != len(self.weights):
            raise ValueError(f"names must hold one name for each of the {len(self.weights)} weights; got {len(names)}")
        terms = [(weight, name) for weight, name in zip(self.weights, names, strict=True) if weight != 0]
        text = ""
        for value, name in [*terms, (self.bias, "")] if self.bias != 0 or not terms else terms:
            size = shown(abs(value), decimals=decimals)
            body = name if name and size == "1" else f"{size} {name}".rstrip()
            sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
            text += sign + body
        return f"{text} = 0"

    def __str__(self) -> str:
        return self.equation()

    def __repr__(self) -> str:
        return f"Plane(weights={vector(self.weights)}, bias={shown(self.bias)})"

    def scaled(self, factor: Any) -> Plane:
        """Return the plane with weights and bias times a factor: the same plane, for a negative factor turned round."""
        (factor,) = _given([factor])
        if factor == 0:
            raise ValueError("factor is 0, and would leave no plane; give any other number")
        return self._of([factor * weight for weight in self.weights], factor * self.bias)

    def unit(self) -> Plane:
        """Return the same plane with weights of length 1, so that its activations are distances."""
        norm = self._norm()
        return self._of(
            [Fraction(w) / norm if self.exact and is_exact(norm) else float(w) / float(norm) for w in self.weights],
            Fraction(self.bias) / norm if self.exact and is_exact(norm) else float(self.bias) / float(norm),
        )

    # ------------------------------------------------------------------------------------------ rows

    def h(self, X: Any) -> Any:
        """Return ``w . x``, which Lecture 004's neuron compares with the threshold."""
        return self._each(X, lambda x: _dot(self.weights, x), lambda rows: rows @ self._float_weights())

    def activation(self, X: Any) -> Any:
        """Return ``w . x + b``."""
        return self._each(
            X,
            lambda x: _dot(self.weights, x) + self.bias,
            lambda rows: rows @ self._float_weights() + float(self.bias),
        )

    def side(self, X: Any, *, tie: int = 1) -> Any:
        """Return +1 or -1; ``tie`` (+1, -1 or 0) for a row on the plane, +1 in Lectures 000, 001 and 002."""
        if tie not in (1, -1, 0):
            raise ValueError(f"tie must be 1, -1 or 0; found {tie!r}")
        return _signs_of(self.activation(X), tie)

    def fires(self, X: Any) -> Any:
        """Return 1 where ``h > theta``, else 0: the output of Lecture 004's neuron."""
        sides = self.side(X, tie=-1)
        return int(sides > 0) if isinstance(sides, int) else (sides > 0).astype(np.int64)

    def distance(self, X: Any) -> Any:
        """Return the signed distance ``(w . x + b) / |w|`` (Lecture 003)."""
        norm, square = self._norm(), self.square
        return self._each(
            X,
            lambda x: over_root(_dot(self.weights, x) + self.bias, square),
            lambda rows: (rows @ self._float_weights() + float(self.bias)) / float(norm),
        )

    def projection(self, X: Any) -> Any:
        """Return the foot of the perpendicular from each row on the plane, ``x - (w.x + b) w / |w|^2`` (Lecture 003).

        Examples
        --------
        >>> Plane((1, 1), threshold=2).projection([(0, 0), (3, 1)]).tolist()
        [[1, 1], [2, 0]]
        """
        self._norm()

        def foot(x: Sequence[Number]) -> list[Number]:
            share = Fraction(_dot(self.weights, x) + self.bias) / self.square
            return [plain(value - share * weight) for value, weight in zip(x, self.weights, strict=True)]

        def feet(rows: Floats) -> Floats:
            unit = self._float_weights() / float(self.norm)
            dense = _dense(rows)
            along = (dense @ self._float_weights() + float(self.bias)) / float(self.norm)
            return np.asarray(dense - along[:, None] * unit)

        return self._each(X, foot, feet)

    def component(self, X: Any) -> Component:
        """Return the projection of each row on w, and ``theta / |w|^2`` to compare it with (Lecture 004).

        Examples
        --------
        >>> Plane((3, 4), threshold=5).component((2, 1))
        Component(scalar=Fraction(2, 5), vector=(Fraction(6, 5), Fraction(8, 5)), threshold=Fraction(1, 5))
        """
        self._norm()
        square = self.square
        if not (self.exact or 0 < float(square) < math.inf):
            raise ValueError("the weights are so large or small that |w|^2 is no floating-point number: scale them")
        limit = plain(Fraction(self.threshold) / square) if self.exact else float(self.threshold) / float(square)
        scalar = self._each(
            X,
            lambda x: plain(Fraction(_dot(self.weights, x)) / square),
            lambda rows: (rows @ self._float_weights()) / float(square),
        )
        if not isinstance(scalar, np.ndarray):
            return Component(scalar, tuple(plain(scalar * weight) for weight in self.weights), limit)
        weights = self._float_weights() if scalar.dtype != object else np.array(self.weights, dtype=object)
        return Component(scalar, scalar[:, None] * weights, limit)

    # ------------------------------------------------------------------------------------------ rows and labels

    def margins(self, X: Any, y: Any) -> Any:
        """Return ``y (w . x + b)`` of each row: positive where the row is on the side of its class."""
        activations = self.activation(X)
        if not isinstance(activations, np.ndarray):
            return plain(one_sign(y) * activations)
        signs = label_signs(y, len(activations))
        return activations * (signs.astype(object) if activations.dtype == object else signs)

    def margin(self, X: Any, y: Any) -> Number:
        """Return the least ``y (w . x + b)``, ``-inf`` if the plane does not separate the classes (Lecture 001).

        A row on the plane is on no side, so that the plane does not separate.
        """
        least = plain(np.min(self.margins(X, y)))
        return least if least > 0 else -math.inf

    def geometric_margin(self, X: Any, y: Any) -> Number:
        """Return the margin divided by ``|w|``: the distance of the nearest row, ``-inf`` if not separated."""
        self._norm()
        least = self.margin(X, y)
        if least == -math.inf:
            return least
        return over_root(least, self.square) if is_exact(least) else float(least) / float(self.norm)

    def mistakes(self, X: Any, y: Any, *, boundary: str = "mistake") -> int:
        """Return how many rows are on the wrong side.

        A row on the plane is a mistake (the default), correct, or belongs to the positive class (as Lecture 000
        predicts) or the negative one (Lecture 004): ``boundary`` is "mistake", "correct", "positive" or "negative".
        """
        if boundary not in BOUNDARIES:
            raise ValueError(f"boundary must be one of {', '.join(BOUNDARIES)}; found {boundary!r}")
        margins = np.atleast_1d(np.asarray(self.margins(X, y)))
        signs = np.atleast_1d(one_sign(y) if np.ndim(y) == 0 else label_signs(y, len(margins)))
        tied = {"mistake": signs != 0, "correct": signs == 0, "positive": signs < 0, "negative": signs > 0}[boundary]
        return int(np.count_nonzero((margins < 0) | ((margins == 0) & tied)))

    def criterion(self, X: Any, y: Any) -> Number:
        """Return the perceptron criterion E_P: the sum of ``-y (w . x + b)`` over the mistakes (Lecture 000)."""
        return self.losses(X, y)["perceptron"].sum

    def losses(self, X: Any, y: Any) -> dict[str, Total]:
        """Return the sum and the mean of each loss of ``separatrix.rules.losses``, by name.

        "zero_one" counts rows on the plane as mistakes; "squared" and "log" have exponentials and are floats.

        Examples
        --------
        >>> Plane((1, -1)).losses([[1, 0], [0, "1/2"], [1, 2]], [1, -1, 1])["hinge"]
        Total(sum=Fraction(5, 2), mean=Fraction(5, 6))
        """
        margins = np.atleast_1d(np.asarray(self.margins(X, y)))
        return {name: total_loss(name, margins) for name in LOSSES}

    def mistake_bound(self, X: Any, y: Any, *, augmented: bool = True) -> PlaneBound:
        """Return the bound on a perceptron's mistakes that this plane, as w*, proves.

        Parameters
        ----------
        X, y
            The rows and their labels.
        augmented : bool, default=True
            With the bias as a weight and 1 as a coordinate of every row, as a perceptron with a bias computes; without,
            for a perceptron without a bias, the plane must go through the origin.
        """
        return bound_of(self, X, y, augmented=augmented)

    def table(
        self,
        X: Any,
        y: Any = None,
        *,
        threshold: bool = False,
        decimals: bool = True,
        names: Sequence[str] | None = None,
    ) -> PlaneTable:
        """Return what the plane says of each row, as a table.

        Parameters
        ----------
        X : table of rows
            Or one row.
        y : labels, optional
            Adds the label and the margin ``y (w . x + b)``.
        threshold : bool, default=False
            Show Lecture 004's neuron: h, and the output 1 where it is above theta, else 0.
        decimals : bool, default=True
            Write 0.5 instead of 1/2.
        names : sequence of str, optional
            The features' names, for CSV; by default x1, x2, ...
        """
        return PlaneTable.of(self, X, y, threshold=threshold, decimals=decimals, names=names)

    # ------------------------------------------------------------------------------------------ steps

    def update(self, x: Any, y: Any, eta: Any = 1, *, boundary: str = "mistake") -> Plane:
        """Return the plane after one step of the perceptron: ``w + eta y x, b + eta y`` if the row is a mistake.

        Parameters
        ----------
        x : row
            The example.
        y : +1 or -1
            Its label.
        eta : number, default=1
            The learning rate.
        boundary : {"mistake", "correct", "positive", "negative"}
            What a row on the plane is.

        Examples
        --------
        Lecture 001's one update:

        >>> Plane((1, 0)).update((0.5, -1), -1)
        Plane(weights=(0.5, 1), bias=-1)
        """
        if y not in (1, -1):
            raise ValueError(f"y must be 1 or -1; found {y!r}")
        return self._step(x, int(y), eta) if self.mistakes([x], [y], boundary=boundary) else self

    def delta(self, x: Any, t: Any, eta: Any = 1) -> Plane:
        """Return the plane after one step of Lecture 004: ``w + eta (t - y) x``, ``theta - eta (t - y)``, y its output.

        Examples
        --------
        >>> neuron = Plane((2.5, -3, 1.5), threshold=2).delta((1, 1, 2), 0, eta=0.1)
        >>> neuron, neuron.threshold
        (Plane(weights=(2.4, -3.1, 1.3), bias=-2.1), Fraction(21, 10))
        """
        if t not in (0, 1):
            raise ValueError(f"t must be 0 or 1; found {t!r}")
        return self._step(x, int(t) - int(self.fires([x])[0]), eta)

    def _step(self, x: Any, sign: int, eta: Any) -> Plane:
        (rate,) = _given([eta])
        if rate <= 0:
            raise ValueError(f"eta must be positive; found {eta!r}")
        rows, _ = read_rows([x], len(self.weights))
        step = sign * rate
        moved = [weight + step * value for weight, value in zip(self.weights, rows[0], strict=True)]
        return self._of(moved, self.bias + step) if sign else self

    # ------------------------------------------------------------------------------------------ arithmetic

    @staticmethod
    def _of(weights: Sequence[Number], bias: Number) -> Plane:
        """Return a plane of computed numbers, floats if one of them is."""
        values = [plain(value) for value in (*weights, bias)]
        if not all(map(is_exact, values)):
            values = [float(value) for value in values]
        twin = object.__new__(Plane)
        object.__setattr__(twin, "weights", tuple(values[:-1]))
        object.__setattr__(twin, "bias", values[-1])
        return twin

    def _norm(self) -> Number:
        if not any(self.weights):
            raise ValueError("all weights are 0, so that there is no plane and no distance from it")
        return self.norm

    def _float_weights(self) -> Floats:
        return np.array([float(weight) for weight in self.weights])

    def _each(self, X: Any, exactly: Any, in_floats: Any) -> Any:
        """Return the answer of one row, or those of all: exact as an array of objects, else of floats."""
        rows, single = read_rows(X, len(self.weights))
        if isinstance(rows, tuple) and self.exact:
            answers = [exactly(row) for row in rows]
            if single:
                return tuple(answers[0]) if isinstance(answers[0], list) else plain(answers[0])
            return _objects(answers)
        values = rows if not isinstance(rows, tuple) else np.array([[float(cell) for cell in row] for row in rows])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            answer = np.asarray(in_floats(values))
        if not np.isfinite(answer).all():
            raise ValueError("the numbers are so large that sums overflow: scale the features or the weights first")
        if single:
            return float(answer[0]) if answer.ndim == 1 else tuple(answer[0].tolist())
        return answer


def _given(values: Sequence[Any]) -> tuple[Number, ...]:
    try:
        return read_numbers(values)
    except ValueError as problem:
        raise ValueError(f"{problem}; give finite numbers such as 2, 0.5, 1/2 or Fraction(1, 2)") from None


def _dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    return plain(sum(a * b for a, b in zip(one, other, strict=True)))


def _signs_of(values: Any, tie: int) -> Any:
    if not isinstance(values, np.ndarray):
        return tie if values == 0 else 1 if values > 0 else -1
    return np.where(values == 0, tie, np.where(values > 0, 1, -1)).astype(np.int64)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return exact numbers, or rows of them, as an array of objects; numbers among which are roots as floats."""
    if any(isinstance(value, float) for value in values):
        return np.array([float(value) for value in values])
    wide = isinstance(values[0], list)
    array = np.empty((len(values), len(values[0])) if wide else len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value if wide else plain(value)
    return array


def _dense(rows: Any) -> Any:
    return rows.toarray() if is_sparse(rows) else rows
