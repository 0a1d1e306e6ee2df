"""The protocol of rules: what an algorithm does to the weights when an example arrives.

A rule is a small frozen value. It maps five numbers to an :class:`Update`; the engine owns the weights, the order, the
bias, the boundary and the readout. A rule never sees rows, labels or files.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

# int, Fraction or float: the reference engine is exact when it is given exact numbers.
Number = Any


class Update(NamedTuple):
    """How an example changes the weights: ``w <- shrink * w + tau * y * x``.

    Rules that keep a spread of the weights (:class:`~separatrix.rules.Spreading`) answer ``beta`` too.
    """

    shrink: Number
    tau: Number
    beta: Number = 0


@runtime_checkable
class Rule(Protocol):
    """One example in, one update out.

    Attributes
    ----------
    name : str
        How the rule is called on the command line and in ``sx.trace``.
    threshold : number
        A margin below it is a mistake; whether a margin equal to it is one depends on the boundary. The engine calls
        ``step`` for mistakes only. Where it is infinite every example counts, and a mistake is a margin below 0.
    eta : number
        The learning rate.
    kernel : str
        The form of the rule in the compiled core: "threshold" is ``eta if m <= threshold else 0``; the name of
        a smooth loss is a step down its slope at every example. A rule without one runs in the reference engine only.
    """

    name: ClassVar[str]
    kernel: ClassVar[str]

    @property
    def threshold(self) -> Number:
        """The margin at or below which an example is a mistake."""
        ...

    @property
    def eta(self) -> Number:
        """The learning rate."""
        ...

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Any) -> Update:
        """Return the update of one example.

        Parameters
        ----------
        m : number
            The margin ``y * (w . x + b)``.
        q : number
            ``|x|^2`` with the bias coordinate; for a rule that keeps a spread ``S`` of the weights, ``x . S x``.
        a : number
            The example's dual weight so far.
        n : number
            ``|w|^2`` with the bias coordinate.
        t : int
            The number of the step, from 1. For a rule that counts by weight (see :class:`Downhill`): one plus the
            weight presented so far, in units of the weight of this step; not always a whole number.
        """
        ...


def check_rate(eta: Number) -> None:
    """Refuse a learning rate that could not learn."""
    if not 0 < eta < float("inf"):
        raise ValueError(f"eta0 must be a positive finite number; found {eta!r}")
