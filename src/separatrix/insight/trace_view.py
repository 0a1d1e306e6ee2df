"""How a trace is written: its view, and numbers as text."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from separatrix.rules import Number

LABELS = ("+-", "01", "own")


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
    """

    augmented: bool = False
    flipped: bool = False
    labels: str = "+-"
    threshold: bool = False
    decimals: bool = False

    def __post_init__(self) -> None:
        if self.labels not in LABELS:
            raise ValueError(f"labels must be one of {', '.join(LABELS)}; found {self.labels!r}")


def number(value: Number, *, decimals: bool) -> str:
    """Return a number as text: a fraction as 1/2, or as 0.5 where decimals are wanted and end.

    Examples
    --------
    >>> number(Fraction(-1, 2), decimals=False), number(Fraction(-1, 2), decimals=True)
    ('-1/2', '-0.5')
    >>> number(Fraction(1, 3), decimals=True)
    '1/3'
    """
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
        digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
        text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
        return f"-{text}" if value < 0 else text
    if isinstance(value, float | np.floating):
        return f"{float(value) + 0.0:.10g}"  # not -0
    return str(value)
