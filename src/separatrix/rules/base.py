"""The rule protocol: what every algorithm of the package answers when an example arrives.

A rule is a small frozen value. It sees five numbers and answers two; the engine owns the weights, the order, the bias,
the boundary and the readout. A rule never looks at rows, labels or files.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

# int, Fraction or float: the reference engine is exact when it is given exact numbers.
Number = Any


class Answer(NamedTuple):
    """What a rule answers: ``w <- shrink * w + tau * y * x``."""

    shrink: Number
    tau: Number


@runtime_checkable
class Rule(Protocol):
    """One example in, one answer out.

    Attributes
    ----------
    name : str
        How the rule is called on the command line and in ``sx.trace``.
    threshold : number
        A margin below it is a mistake; whether a margin equal to it is one is the boundary's choice, and the
        engine then does not ask. Where it is infinite every example teaches, and a mistake is a margin below 0.
    eta : number
        The learning rate.
    kernel : str
        The form in which the compiled core knows the rule: "threshold" is ``eta if m <= threshold else 0``; the name of
        a smooth loss is a step down its slope at every example. A rule without one runs in the reference engine only.
    """

    name: ClassVar[str]
    kernel: ClassVar[str]

    @property
    def threshold(self) -> Number:
        """The margin at or below which an example teaches."""
        ...

    @property
    def eta(self) -> Number:
        """The learning rate."""
        ...

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Any) -> Answer:
        """Answer one example.

        Parameters
        ----------
        m : number
            The margin ``y * (w . x + b)``.
        q : number
            ``|x|^2`` with the bias coordinate.
        a : number
            The example's dual weight so far.
        n : number
            ``|w|^2`` with the bias coordinate.
        t : int
            The number of the step, from 1; for a rule that counts by weight (see :class:`Downhill`) of the steps
            of this weight that the weight met so far would make, and so not always a whole number.
        """
        ...


def check_rate(eta: Number) -> None:
    """Refuse a learning rate that could not learn."""
    if not 0 < eta < float("inf"):
        raise ValueError(f"eta0 must be a positive finite number; found {eta!r}")
