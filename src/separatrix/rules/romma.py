"""The relaxed online maximum margin algorithm: the shortest weights that keep what was learned and add to it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import OwnStep, inverse, ratio
from separatrix.rules.losses import ZeroOne

_MOST_BITS = 10_000  # of an exact number: each update doubles them
MOST = 2**30  # of q |w|^2, and of 1 / sin^2 of the angle between weights and example


class _Relaxed(OwnStep):
    """The shortest of all vectors v with ``v . w >= |w|^2`` and a margin of at least 1 on the example.

    The first condition is all that is kept of the examples before: it holds for every v that has a margin of 1 on them.
    With ``D = q n - m^2`` the weights become ``w (q n - m) / D + y x n (1 - m) / D``; where ``m >= q n``, as with zero
    weights, ``y x / q`` is the shortest.

    On data without a plane the weights grow for ever, and no v may be left. So where ``q n`` is above 2^30 the weights
    count as shorter, by the factor ``2^30 / (q n)``, and where the sine of the angle between them and the example is
    below 2^-15 the first condition is dropped. Both keep every v that they should, and neither happens where some v
    has a margin of 1 on all examples and ``R^2 |v|^2`` is at most 2^30: for then ``n <= |v|^2``, and the new weights,
    whose square is at least ``n / D``, are no longer than v.
    """

    aggressive: ClassVar[bool]
    kernel: ClassVar[str] = "romma"
    loss: ClassVar[type[ZeroOne]] = ZeroOne
    rate_name: ClassVar[str] = "the length of the examples"
    remedy: ClassVar[str] = "scale the features, or take the average of the weights"

    @property
    def bias(self) -> str:
        """The bias is a coordinate of the weights like any other."""
        return "penalised"

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether the example is not right, or not by enough; a row of zeros cannot be put right."""
        return bool(q > 0 and (m < 1 if self.aggressive else m <= 0))

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go to the shortest vector."""
        if not self.moves(m, q, t):
            return Update(1, 0)
        if isinstance(n, Fraction) and n.denominator.bit_length() > _MOST_BITS:
            raise ValueError(
                f"rule {self.name!r} doubles the digits of exact numbers with each update, and now they have more than "
                "3,000: use exact=False (--floats), or fewer epochs"
            )
        whole, apart = q * n, q * n - m * m
        kept = min(whole, MOST)
        if not (m < kept and apart * MOST > whole):
            return Update(0, inverse(q))
        return Update(ratio(kept - m, apart), ratio(n * (1 - m * ratio(kept, whole)), apart))


@dataclass(frozen=True)
class ROMMA(_Relaxed):
    """The update is ``(q n - m) / D, n (1 - m) / D``, ``D = q n - m^2``, when the margin is at most 0, else ``1, 0``.

    Li and Long 2002. Of all vectors v with ``v . w >= |w|^2`` and a margin of at least 1 on the example, the new
    weights are the shortest. So they never become shorter, and no longer than any vector with a margin of 1 on all
    examples; the first mistake gives ``y x / q``.

    Examples
    --------
    >>> ROMMA().step(m=-1, q=4, a=0, n=1, t=1), ROMMA().step(m=0, q=4, a=0, n=0, t=1)
    (Update(shrink=Fraction(5, 3), tau=Fraction(2, 3), beta=0), Update(shrink=0, tau=Fraction(1, 4), beta=0))
    """

    aggressive: ClassVar[bool] = False
    name: ClassVar[str] = "romma"


@dataclass(frozen=True)
class AggressiveROMMA(_Relaxed):
    """The update is that of :class:`ROMMA`, made while the margin is below 1.

    Li and Long 2002. On data that a plane separates its weights approach those of the largest margin.

    Examples
    --------
    >>> AggressiveROMMA().step(m=0.5, q=4, a=0, n=1, t=1).tau > 0, ROMMA().step(m=0.5, q=4, a=0, n=1, t=1).tau
    (True, 0)
    """

    aggressive: ClassVar[bool] = True
    name: ClassVar[str] = "aggressive_romma"
