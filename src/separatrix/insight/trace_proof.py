"""The convergence theorem of Lecture 000, number by number: a separating w*, alpha, beta, and (A) and (B).

In the space of the augmented patterns ``(K, x)``, in which the weights are ``(b / K, w)``: after k updates of the
perceptron from w(1) with the learning rate eta,

    w . w* >= w(1) . w* + k eta alpha          so  |w|^2 >= (w(1) . w* + k eta alpha)^2 / |w*|^2   (A)
    |w|^2  <= |w(1)|^2 + k eta^2 beta                                                              (B)

with ``alpha = min y (w* . x)`` and ``beta = max |x|^2``. The lecture has w(1) = 0 and eta = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.geometry.rows import is_sparse
from separatrix.insight.trace_view import divide, number, plain
from separatrix.loop.problem import Problem, as_exact
from separatrix.rules import Number

Vector = tuple[Number, ...]
_TRIES = 40  # powers of two that a rounded separator may have as its largest weight


@dataclass(frozen=True)
class Proof:
    """What the theorem says of a run.

    Attributes
    ----------
    weights, bias
        The separating plane w*.
    alpha, beta, square : number
        ``min y (w* . x)``, ``max |x|^2`` and ``|w*|^2``, each with the bias as a coordinate.
    constant : number
        K, the coordinate of the bias; 0 for none.
    eta : number
        The learning rate.
    start_product, start_square : number
        ``w(1) . w*`` and ``|w(1)|^2``.
    """

    weights: Vector
    bias: Number
    alpha: Number
    beta: Number
    square: Number
    constant: Number
    eta: Number
    start_product: Number
    start_square: Number

    @classmethod
    def of(
        cls, problem: Problem, weights: Sequence[Number], bias: Number, eta: Number, start: tuple[Vector, Number]
    ) -> Proof:
        """Return the numbers of the theorem for these examples, or refuse a plane that does not separate them."""
        table, signs = examples(problem), problem.signs().tolist()
        alpha = min(sign * (_dot(weights, x) + bias) for x, sign in zip(table, signs, strict=True))
        if not alpha > 0:
            raise ValueError(
                "the proof needs a w* that separates the examples; its smallest y (w* x) is "
                f"{number(plain(alpha), decimals=True)}"
            )
        constant = problem.bias
        beta = max(_dot(x, x) for x in table) + constant * constant
        vector = (tuple(weights), bias)
        return cls(
            tuple(weights), bias, plain(alpha), plain(beta), _product(vector, vector, constant), constant, eta,
            _product(start, vector, constant), _product(start, start, constant),
        )  # fmt: skip

    def values(self, weights: Vector, bias: Number, k: int) -> tuple[Number, Number, Number, Number, Number]:
        """Return w . w*, its lower bound, |w|^2, and its bounds (A) and (B), after k updates."""
        vector = (weights, bias)
        least = self.start_product + k * self.eta * self.alpha
        lower = divide(least * least, self.square) if least > 0 else 0
        upper = self.start_square + k * self.eta * self.eta * self.beta
        product = _product(vector, (self.weights, self.bias), self.constant)
        return product, plain(least), _product(vector, vector, self.constant), lower, plain(upper)

    @property
    def from_zero(self) -> bool:
        """Whether the run starts at zero, as the theorem has it."""
        return not self.start_square

    @property
    def most(self) -> Number:
        """The most updates that (A) and (B) allow: ``beta |w*|^2 / alpha^2`` from zero, else a whole number."""
        if self.from_zero:
            return divide(self.beta * self.square, self.alpha * self.alpha)
        low, high = 0, 1  # the allowed k are those from 0 to the largest root of a quadratic
        while self._allows(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._allows(middle) else (low, middle)
        return low

    def _allows(self, k: int) -> bool:
        least = self.start_product + k * self.eta * self.alpha
        upper = self.start_square + k * self.eta * self.eta * self.beta
        return bool(least <= 0 or least * least <= self.square * upper)


def separator(problem: Problem) -> tuple[list[Number], Number]:
    """Return a separating plane with small whole weights from a certificate, or refuse data that have none.

    The certificate's plane is rounded to the smallest whole numbers whose mistake bound is at most 1% larger.
    """
    from separatrix.certificates.certifying import certify

    table, signs = examples(problem), problem.signs().tolist()
    certificate: Any = certify(as_floats(table), signs, fit_intercept=bool(problem.bias))
    plane = certificate.witness.plane
    if certificate.separable != "strict" or plane is None:
        raise ValueError("the proof needs a plane that separates the examples strictly, and there is none")
    exact = [as_exact(value) for value in plane.weights]
    bias = as_exact(plane.bias)

    def bound(weights: Sequence[Number], shift: Number) -> float:
        alpha = min(sign * (_dot(weights, x) + shift) for x, sign in zip(table, signs, strict=True))
        vector = (tuple(weights), shift)
        return float(divide(_product(vector, vector, problem.bias), alpha * alpha)) if alpha > 0 else math.inf

    wanted = 1.01 * bound(exact, bias)
    largest = max(abs(Fraction(value)) for value in (*exact, bias))
    for power in range(_TRIES):
        scale = 2**power / largest
        weights = [round(value * scale) for value in exact]
        shift = round(bias * scale)
        if bound(weights, shift) <= wanted:
            common = math.gcd(*weights, shift)
            return [value // common for value in weights], shift // common
    return exact, bias


def examples(problem: Problem) -> list[list[Number]]:
    """Return the rows of a problem as lists of numbers."""
    values = problem.rows.values
    table: list[list[Number]] = (values.toarray() if is_sparse(values) else values).tolist()
    return table


def as_floats(table: Sequence[Sequence[Number]]) -> list[list[float]]:
    """Return rows as floats, or refuse exact numbers that no float can hold."""
    try:
        return [[float(value) for value in row] for row in table]
    except OverflowError:
        raise ValueError(
            "the examples hold numbers above 1.8e308, too large for the search of a separating plane or of the "
            "smallest ball: give the plane or the constant"
        ) from None


def _dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _product(one: tuple[Vector, Number], other: tuple[Vector, Number], constant: Number) -> Number:
    """Return the inner product of two weight vectors, each with its bias over K as a coordinate."""
    product = _dot(one[0], other[0])
    return plain(product + divide(one[1] * other[1], constant * constant) if constant else product)
