"""The voted readout of the perceptron in dual form: the voters of one task, kept as the list of their mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_index, is_real, require
from separatrix.rules import Number


class Voters(NamedTuple):
    """The activation of voter j is that of voter j - 1 plus ``signed[j-1] * (K(x, x_rows[j-1]) + square)``."""

    rows: NDArray[Any]
    signed: Floats
    counts: Floats
    square: float


def vote_counts(times: Floats, age: float) -> Floats:
    """Return the weight of each vote: the time from the voter's making to the next mistake, or to the end."""
    first = times[0] if len(times) else max(age, 1.0)
    return np.concatenate([[first], np.append(times[1:], age) - times])


class Vote(NamedTuple):
    """One weight vector of a run and the number of examples that it survived, ``c(k)`` of Lecture 001.

    In the dual form ``weights`` are the ``alpha_i y_i`` of the support vectors. With sample weights the count is their
    sum.
    """

    weights: Any
    bias: Number
    count: Number


class KernelVotedWeights:
    """The voters of one task, each weighted by the time until the next mistake.

    After update j the activation of x has grown by ``s_j (K(x_j, x) + K^2)``, so all their votes follow from the kernel
    values of x.

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
        """The number of voters, including the initial one."""
        return len(self._signed) + 1

    def settle(self, index: NDArray[np.intp]) -> None:
        """Replace the rows of the mistakes by their indices among the support vectors."""
        self._rows = index[self._rows]

    def voters(self) -> Voters:
        """Return how each voter follows from the one before it, and the weight of its vote."""
        return Voters(self._rows, self._signed, vote_counts(self._times, self._age), self._bias_square)

    def votes(self, n_support: int) -> tuple[Vote, ...]:
        """Return the voters, each with its ``alpha_i y_i`` over the support vectors, its bias and its count."""
        counts = vote_counts(self._times, self._age)
        weights, bias = np.zeros(n_support), 0.0
        votes = [Vote(weights, bias, float(counts[0]))]
        for row, step, count in zip(self._rows.tolist(), self._signed.tolist(), counts[1:].tolist(), strict=True):
            weights = weights.copy()
            weights[row] += step
            bias += step * self._bias_square
            votes.append(Vote(weights, bias, count))
        return tuple(votes)

    def decide(self, kernel: Floats, *, tie_is_positive: bool) -> Floats:
        """Return the share of votes for the class minus the share against, given kernel values with the support."""
        counts = vote_counts(self._times, self._age)
        scores = np.zeros((len(kernel), self.n_voters))
        np.cumsum(self._signed * (kernel[:, self._rows] + self._bias_square), axis=1, out=scores[:, 1:])
        votes = np.where(scores > 0, 1.0, np.where(scores < 0, -1.0, 1.0 if tie_is_positive else -1.0))
        total = float(counts.sum())
        return np.asarray(votes @ counts / total if total > 0 else votes @ counts)

    def validate(self) -> None:
        """Refuse voters that no run leaves."""
        rows = self._rows
        require(is_index(rows), "the voted weights are damaged")
        fits = is_array(self._signed, "f8", (len(rows),)) and is_array(self._times, "f8", (len(rows),))
        require(fits and is_real(self._age) and is_real(self._bias_square), "the voted weights are damaged")
