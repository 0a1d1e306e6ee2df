"""The value of the soft-margin problem at a model, in the normalisations of Lecture 003, and that of its dual."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.geometry.rows import Floats


@dataclass(frozen=True)
class SoftMarginValue:
    """The objective of a support vector machine at its weights, and at its alphas.

    Lecture 003 writes gamma for the price of slack, which is usually called C. Its dual prints ``alpha <= tau``; the
    bound is ``alpha <= gamma``, since ``alpha = gamma - tau``.

    Attributes
    ----------
    regulariser : float
        ``1/2 |w|^2`` (with a penalised bias, of its weight too).
    penalty : float
        ``gamma sum z``, z the slack; for the squared hinge ``gamma sum z^2``. 0 for the hard margin, which has none.
    primal : float
        Their sum, Lecture 003's L_p (2.2).
    mean_loss : float or None
        ``L_p / (gamma N)``: the mean loss and the regulariser divided by ``gamma N`` (2.6); with weights, by the sum of
        gamma times them. None for the hard margin.
    dual : float
        ``sum alpha - 1/2 sum alpha alpha' y y' x.x'`` (2.4); for the squared hinge less ``sum alpha^2 / (4 gamma)``.
        A bound on every primal value if the alphas are balanced.
    gap : float
        The primal value less the dual one; 0 at the optimum.
    """

    regulariser: float
    penalty: float
    primal: float
    mean_loss: float | None
    dual: float

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.primal - self.dual

    @classmethod
    def at(
        cls, square: float, dual_square: float, slack: Floats, alpha: Floats, cost: Floats, *, squared: bool
    ) -> SoftMarginValue:
        """Return the values for ``|w|^2``, ``|sum alpha y x|^2``, and the slack, alpha and price of each point."""
        hard = bool(np.isinf(cost).all())
        regulariser = 0.5 * square
        loss = slack * slack if squared else slack
        penalty = 0.0 if hard else float(cost @ loss)
        quadratic = float((alpha[cost > 0] ** 2 / (4.0 * cost[cost > 0])).sum()) if squared else 0.0
        total = math.inf if hard else float(cost.sum())
        primal = regulariser + penalty
        return cls(
            regulariser, penalty, primal, None if hard else primal / total,
            float(alpha.sum()) - 0.5 * dual_square - quadratic,
        )  # fmt: skip
