"""The voted readout of the perceptron in dual form: the voters of one question, kept as the list of their mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats


class Voters(NamedTuple):
    """Voter j answers what voter j - 1 does plus ``signed[j-1] * (K(x, x_rows[j-1]) + square)``."""

    rows: NDArray[Any]
    signed: Floats
    counts: Floats
    square: float


def vote_counts(times: Floats, age: float) -> Floats:
    """Return how much each voter counts: the time from its making to the next mistake, or to the end."""
    first = times[0] if len(times) else max(age, 1.0)
    return np.concatenate([[first], np.append(times[1:], age) - times])


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

    def voters(self) -> Voters:
        """Return how each voter follows from the one before it, and how much it counts."""
        return Voters(self._rows, self._signed, vote_counts(self._times, self._age), self._bias_square)

    def decide(self, kernel: Floats, *, tie_is_positive: bool) -> Floats:
        """Return the share of votes for the class minus the share against, given kernel values with the support."""
        counts = vote_counts(self._times, self._age)
        answers = np.zeros((len(kernel), self.n_voters))
        np.cumsum(self._signed * (kernel[:, self._rows] + self._bias_square), axis=1, out=answers[:, 1:])
        votes = np.where(answers > 0, 1.0, np.where(answers < 0, -1.0, 1.0 if tie_is_positive else -1.0))
        total = float(counts.sum())
        return np.asarray(votes @ counts / total if total > 0 else votes @ counts)
