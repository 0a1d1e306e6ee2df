"""How a trace is written: its view, numbers as text, and numbers that a person gives in the order of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.loop.problem import as_exact
from separatrix.rules import Number

LABELS = ("+-", "01", "own")
COLUMNS = ("output", "margin", "loss", "delta", "margin-after", "proof")
_MOST_DIGITS = 100


@dataclass(frozen=True)
class TraceView:
    """How a trace is written.

    Attributes
    ----------
    augmented : bool
        Write the bias as the first coordinate of the weights, and 1 as the first of the pattern (Lecture 000).
    flipped : bool
        Write negative patterns with their sign turned, so that every product must be positive (Lectures 000, 003).
    labels : {"+-", "01", "own"}
        Write labels as -1 and +1, as 0 and 1 (Lectures 002, 004), or as they were given.
    threshold : bool
        Write the threshold theta = -b instead of the bias (Lecture 004).
    decimals : bool
        Write 1/2 as 0.5 where that is exact.
    digits : int, optional
        Round every number to this many decimals. By default fractions are written in full.
    dual : bool
        Write the counts alpha of the dual form instead of the weights ``sum(alpha_i y_i x_i)``, and the bias by itself,
        so never augmented (Lecture 003).
    columns : tuple of str
        More columns: "output", the class that the weights predict (Lecture 004: whether the neuron fires); "margin",
        ``y a``; "loss", that of the rule (of the sigmoid neuron C_m = (a - y)^2 / 2, Lecture 002); "delta", the step;
        "margin-after", ``y a`` with the new weights (Lecture 001); "proof", both sides of the convergence theorem
        (Lecture 000).
    """

    augmented: bool = False
    flipped: bool = False
    labels: str = "+-"
    threshold: bool = False
    decimals: bool = False
    digits: int | None = None
    dual: bool = False
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.labels not in LABELS:
            raise ValueError(f"labels must be one of {', '.join(LABELS)}; found {self.labels!r}")
        digits: Any = self.digits
        whole = isinstance(digits, int | np.integer) and not isinstance(digits, bool)
        if digits is not None and not (whole and 0 <= digits <= _MOST_DIGITS):
            raise ValueError(f"digits must be a whole number from 0 to {_MOST_DIGITS}; found {digits!r}")
        if self.dual:
            object.__setattr__(self, "augmented", False)
        given: Any = self.columns
        names = given.split(",") if isinstance(given, str) else list(given)
        names = [str(name).strip().replace("_", "-") for name in names]
        for name in names:
            if name not in COLUMNS:
                raise ValueError(f"columns must be among {', '.join(COLUMNS)}; found {name!r}")
        object.__setattr__(self, "columns", tuple(name for name in COLUMNS if name in names))

    def order(self, bias: bool) -> str:
        """Return the order of the numbers of a weight vector in this view, in words."""
        if not bias:
            return "the weights"
        if self.augmented:
            return "the bias, then the weights"
        return "the weights, then theta" if self.threshold else "the weights, then the bias"

    def plane(self, values: Sequence[Any], d: int, constant: Number, what: str) -> tuple[list[Number], Number]:
        """Return the weights and the bias that these numbers are in this view; ``constant`` is K, 0 for no bias.

        Examples
        --------
        >>> TraceView(augmented=True).plane([1, 0, 0], 2, 1, "the start")
        ([0, 0], 1)
        >>> TraceView(threshold=True).plane([1, 0, 2], 2, 1, "the start")
        ([1, 0], -2)
        """
        needed = d + 1 if constant else d
        if len(values) != needed:
            raise ValueError(
                f"{what} needs {needed} numbers in this view ({self.order(bool(constant))}); found {len(values)}"
            )
        numbers = [as_exact(value) for value in values]
        if not constant:
            return numbers, 0
        if self.augmented:
            return numbers[1:], numbers[0] * constant
        return numbers[:-1], -numbers[-1] if self.threshold else numbers[-1]


def plain(value: Number) -> Number:
    """Return a whole Fraction as an int and a NumPy float as a float."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else value
    return float(value) if isinstance(value, np.floating) else value


def divide(value: Number, by: Number) -> Number:
    """Return the quotient, exact for exact numbers."""
    exact = isinstance(value, int | Fraction) and isinstance(by, int | Fraction)
    return plain(Fraction(value) / by) if exact else value / by


def number(value: Number, *, decimals: bool, digits: int | None = None) -> str:
    """Return a number as text: a fraction as 1/2, or as 0.5 where decimals are wanted and end, or rounded to digits.

    Examples
    --------
    >>> number(Fraction(-1, 2), decimals=False), number(Fraction(-1, 2), decimals=True)
    ('-1/2', '-0.5')
    >>> number(Fraction(1, 3), decimals=True), number(Fraction(1, 3), decimals=False, digits=3)
    ('1/3', '0.333')
    >>> number(-0.00004, decimals=False, digits=3), number(2.5, decimals=False, digits=3)
    ('0', '2.5')
    """
    if digits is not None and isinstance(value, Fraction | float | np.floating):
        if isinstance(value, Fraction):
            return number(round(value, digits), decimals=True)
        return _fixed(round(float(value), digits), digits)
    if isinstance(value, Fraction):
        if not decimals:
            return str(value)
        rest = value.denominator
        twos = fives = 0
        while rest % 2 == 0:
            rest, twos = rest // 2, twos + 1
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        if rest != 1:
            return str(value)
        places = max(twos, fives)
        whole = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
        text = f"{whole[:-places]}.{whole[-places:]}" if places else whole
        return f"-{text}" if value < 0 else text
    if isinstance(value, float | np.floating):
        return f"{float(value) + 0.0:.10g}"  # not -0
    return str(value)


def _fixed(value: float, digits: int) -> str:
    if abs(value) >= 1e16:
        return f"{value:.10g}"
    text = f"{value + 0.0:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
