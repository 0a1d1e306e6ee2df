"""The voted readout of the perceptron in dual form: the voters of one question, kept as the list of their mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.rows import Floats


class KernelBallot:
    """The voters, each of which counts with the time until the next mistake.

    After update j the activation of x has grown by ``s_j (K(x_j, x) + K^2)``, so all their answers follow from x's
    kernel values.

    Parameters
    ----------
    votes : sequence of (rows, signed steps, times)
        The mistakes, in order.
    age : float
        The weight of the examples presented.
    bias : float
        The constant K that stands for the bias.
    """

    def __init__(self, votes: Sequence[tuple[Any, Any, Any]], age: float, bias: float) -> None:
        empty = (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
        self._rows, self._signed, self._times = (np.concatenate(parts) for parts in zip(empty, *votes, strict=True))
        self._age = age
        self._bias_square = bias * bias

    @property
    def n_voters(self) -> int:
        """How many vote, the empty start among them."""
        return len(self._signed) + 1

    def settle(self, place: NDArray[np.intp]) -> None:
        """Name the mistaken rows by their place among the support vectors from now on."""
        self._rows = place[self._rows]

    def decide(self, kernel: Floats, *, tie_is_positive: bool) -> Floats:
        """Return the share of votes for the class minus the share against, given kernel values with the support."""
        seconds = np.append(self._times[1:], self._age)
        counts = np.concatenate([[self._times[0] if len(self._times) else max(self._age, 1.0)], seconds - self._times])
        answers = np.zeros((len(kernel), self.n_voters))
        np.cumsum(self._signed * (kernel[:, self._rows] + self._bias_square), axis=1, out=answers[:, 1:])
        votes = np.where(answers > 0, 1.0, np.where(answers < 0, -1.0, 1.0 if tie_is_positive else -1.0))
        total = float(counts.sum())
        return np.asarray(votes @ counts / total if total > 0 else votes @ counts)
