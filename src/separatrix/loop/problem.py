"""Problem: checked rows, labels and weights that every engine can trust.

Labels of any kind become codes 0..k-1 in sorted order; in a two-class problem code 1 is the class +1. X is checked in
``geometry/rows.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.ball import smallest_ball
from separatrix.geometry.rows import Floats, Rows

_LARGEST_BIAS = 1e150  # its square must be finite too


class Labels(NamedTuple):
    """Labels as codes: the classes, sorted, and each example's place among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]


def encode_labels(y: Any, n: int | None = None) -> Labels:
    """Return the sorted distinct labels and each example's place among them; labels that are codes stay as they are.

    Examples
    --------
    >>> encode_labels(["spam", "ham", "spam"])
    Labels(classes=array(['ham', 'spam'], dtype='<U4'), codes=array([1, 0, 1], dtype=int32))
    """
    labels = y.codes if isinstance(y, Labels) else np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label for each row (1 dimension); found shape {labels.shape}")
    if n is not None and len(labels) != n:
        raise ValueError(f"X and y differ in length: X has {n} rows, y has {len(labels)} labels")
    if isinstance(y, Labels):
        return y
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers; use whole numbers or text")
    two = _two_labels(labels) if labels.dtype.kind != "O" else None
    if labels.dtype.kind == "f" and (two is None or not _are_whole(two[0])):
        if not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise ValueError(f"y contains NaN or infinity in row {row}: Input y contains NaN; every row needs a label")
        if (labels != np.trunc(labels)).any():
            row = int(np.flatnonzero(labels != np.trunc(labels))[0])
            raise ValueError(
                f"Unknown label type: continuous (y holds {labels[row]} in row {row}); "
                "a classifier needs class labels, such as whole numbers or text"
            )
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels):
            if label is None or _is_missing(label):
                raise ValueError(f"y contains a missing label ({label!r}) in row {row}; every row needs a label")
        two = _two_labels(labels)
    return Labels(*(two or _many_labels(labels)))


def _are_whole(classes: NDArray[Any]) -> bool:
    return bool((np.isfinite(classes) & (classes == np.trunc(classes))).all())


def _is_missing(label: Any) -> bool:
    """Return whether a label is NaN (not equal to itself) or pandas.NA (which does not say)."""
    try:
        return bool(label != label)
    except TypeError:
        return True


def _two_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Encode one or two distinct labels in three passes, without sorting; None when there are more."""
    if len(labels) == 0:
        return None
    first = labels == labels[0]
    if not isinstance(first, np.ndarray):
        return None
    if first.all():
        return labels[:1].copy(), np.zeros(len(labels), dtype=np.int32)
    other = labels[int(np.argmin(first))]
    if not ((labels == other) | first).all():
        return None
    try:
        ascending = bool(labels[0] < other)
    except TypeError:
        return None
    classes = np.array([labels[0], other] if ascending else [other, labels[0]], dtype=labels.dtype)
    return classes, (first ^ ascending).astype(np.int32)


def _many_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * len(labels) and high < 2**62 and low > -(2**62):  # count instead of sorting
            places = labels.astype(np.int64) - low
            seen = np.bincount(places, minlength=high - low + 1) > 0
            code = np.cumsum(seen, dtype=np.int32) - np.int32(1)
            classes = (np.flatnonzero(seen) + low).astype(labels.dtype)
            return classes, code[places]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"y mixes labels that cannot be sorted ({kinds}); use one kind of label") from None
    return classes, codes.astype(np.int32)


def check_weights(sample_weight: Any, n: int, *, what: str = "sample_weight") -> Floats | None:
    """Return the weights as float64, None when there are none; one number is the weight of every row."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers, one for each row") from None
    weights = np.full(n, float(weights)) if weights.ndim == 0 else np.ascontiguousarray(weights)
    if weights.shape != (n,):
        raise ValueError(f"{what}.shape == {weights.shape}, expected {(n,)}: one weight for each row")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{what} gives {weights[row]} to row {row}: weights must be finite and not negative")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"{what} is so large that its sum overflows: divide all weights by the same number")
    if not weights.any():
        raise ValueError(f"{what} is zero everywhere: at least one example must count")
    return weights


class Problem:
    """Rows, labels, weights and the bias coordinate, checked and ready for an engine.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row for each example.
    y : sequence or Labels
        One label for each example, of any kind that can be sorted.
    sample_weight : sequence of float, optional
        The weight of each example; 0 leaves it out.
    bias : float, "ball" or None, default=1.0
        The constant K, an additional coordinate of every example; "ball" is the radius of the smallest enclosing ball
        of the examples, None or 0 a hyperplane through the origin.
    check_finite : bool, default=True
        Check every value now. With False, whoever reads the rows must check.

    Examples
    --------
    >>> problem = Problem([[1.0, 1.0], [0.0, -1.0]], ["yes", "no"])
    >>> problem.signs()
    array([ 1, -1], dtype=int32)
    >>> problem.square_norms()
    array([3., 2.])
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        bias: float | str | None = 1.0,
        check_finite: bool = True,
    ) -> None:
        self.rows = X if isinstance(X, Rows) else Rows(X)
        self.n, self.d = self.rows.shape
        self.classes, self.codes = encode_labels(y, self.n)
        self.weights = check_weights(sample_weight, self.n)
        self.exact = False
        self.finite = check_finite or bias == "ball"
        if self.finite:
            self.rows.check_finite()
        self.bias = self._radius() if bias == "ball" else check_bias(bias)

    @classmethod
    def from_exact(cls, X: Sequence[Sequence[Any]], y: Any, *, bias: Any = 1) -> Problem:
        """Return a problem whose numbers are ints and Fractions, for the reference engine only.

        A float stands for the decimal number that it prints as: 0.1 is one tenth.
        """
        problem = cls.__new__(cls)
        if len({len(row) for row in X}) > 1:
            raise ValueError("X cannot be read as a table of numbers: its rows differ in length")
        table = np.empty((len(X), len(X[0]) if len(X) else 0), dtype=object)
        for place in np.ndindex(table.shape):
            table[place] = as_exact(X[place[0]][place[1]])
        problem.rows = Rows(np.array([[_nearest(value) for value in row] for row in table]).reshape(table.shape))
        problem.n, problem.d = problem.rows.shape
        problem.rows.values = table
        problem.classes, problem.codes = encode_labels(y, problem.n)
        problem.weights = None
        problem.bias = as_exact(check_bias(bias))
        problem.exact = True
        problem.finite = True
        return problem

    @property
    def names(self) -> list[str] | None:
        """The columns' names, None where X had none."""
        return self.rows.names

    def _radius(self) -> float:
        ball = smallest_ball(self.rows, self.weights)
        if not ball.upper < _LARGEST_BIAS:
            raise ValueError(
                f"the smallest ball that holds the examples has the radius {ball.upper:.3g}, too large for the bias "
                "constant, which must be below 1e150: scale the features first"
            )
        return ball.constant if ball.lower > 0 else 1.0  # examples that are all equal have no radius

    def signs(self, positive: int = 1) -> NDArray[np.int32]:
        """Return +1 for the class of this code and -1 for all others."""
        return np.where(self.codes == positive, 1, -1).astype(np.int32)

    def square_norms(self) -> Floats:
        """Return ``|x|^2`` of every row, the bias coordinate included."""
        return np.asarray(_core.square_norms(self.rows.matrix) + float(self.bias) ** 2)


def check_bias(bias: Any) -> Any:
    """Return the bias constant K, 0 for none."""
    if bias is None:
        return 0.0
    if isinstance(bias, str) or not (0 <= bias < _LARGEST_BIAS):
        raise ValueError(f"the bias constant must be 'ball', zero or a positive number below 1e150; found {bias!r}")
    return bias


def _nearest(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # exact numbers have no largest; the order of a run needs no more than this
        return np.inf if value > 0 else -np.inf


_LARGEST_EXPONENT = 1000  # floats end at 308; 10**999999999 takes hours


def as_exact(value: Any) -> Any:
    """Return an int or a Fraction equal to the number, reading a float as the decimal that it prints as.

    Examples
    --------
    >>> as_exact(0.1)
    Fraction(1, 10)
    >>> as_exact(2.0)
    2
    """
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        raise ValueError(f"NaN and infinity have no exact value; found {value!r}")
    if not isinstance(value, Fraction) and _is_endless(str(value)):
        raise ValueError(f"{value!r} is too large or too small to compute with exactly")
    try:
        exact = value if isinstance(value, Fraction) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{value!r} is not a number") from None
    return int(exact) if exact.denominator == 1 else exact


def _is_endless(text: str) -> bool:
    """Return whether the exponent of a number as text would make an integer of more than a thousand digits."""
    exponent = text.lower().partition("e")[2].strip().lstrip("+-").replace("_", "").lstrip("0")
    return exponent.isdigit() and (len(exponent) > 4 or int(exponent) > _LARGEST_EXPONENT)
