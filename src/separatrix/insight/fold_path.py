"""A range of C in which the optima of a fold are known piece by piece: how many validation rows they get wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.svm.hinge_pieces import Pieces

_INSIDE = 1e-9  # part of a piece that is left out at the ends of where a row is decided


class Followed:
    """The errors on validation rows along pieces of the path, from ``low`` to ``high``.

    ``edges`` cut the range, at the ends of pieces and where the sign of a score changes; in each part, at least
    ``sure`` and at most ``most`` rows are wrong, or what they count.
    """

    def __init__(
        self, validation: Rows, positive: NDArray[np.bool_], counts: Floats, lengths: Floats, off: float
    ) -> None:
        self._validation, self._signs, self._counts = validation, np.where(positive, 1.0, -1.0), counts
        self._lengths, self._off = lengths, off
        self._total = float(counts.sum())
        self._parts: list[tuple[Floats, Floats, Floats]] = []
        self._ends: list[tuple[Floats, Floats, Floats]] = []
        self.edges, self.sure, self.most = np.empty(0), np.empty(0), np.empty(0)

    def add(self, pieces: Pieces) -> None:
        """Add the next pieces."""
        scores = _core.decide(self._validation.matrix, pieces.weights, pieces.bias, 1)
        margins = scores * self._signs[:, None]
        real = np.flatnonzero(pieces.C[1:] > pieces.C[:-1])
        if not len(real):
            return
        norms = np.sqrt((pieces.weights**2).sum(axis=1)) + np.abs(pieces.bias)
        slip = self._off * (1.0 + float(norms.max()))
        reach = self._lengths[:, None] * pieces.radius[real] + (pieces.shift[real] + slip)
        first, last = margins[:, real], margins[:, real + 1]
        low, high = pieces.C[real], pieces.C[real + 1]
        wrong = self._along(first, last, reach, low, high)
        right = self._along(-first, -last, reach, low, high)
        edges = np.unique(np.concatenate([low, high[-1:], *wrong[1:3], *right[1:3]]))
        sure, well = (_summed(edges, low, *each) for each in (wrong, right))
        self._parts.append((edges, sure, self._total - well))
        self._ends.append((pieces.C, pieces.weights, pieces.bias))
        self.edges = np.concatenate([part[0][: -1 if part is not self._parts[-1] else None] for part in self._parts])
        self.sure, self.most = (np.concatenate([part[k] for part in self._parts]) for k in (1, 2))

    def _along(
        self, first: Floats, last: Floats, reach: Floats, low: Floats, high: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return what rows certainly below 0 count on each piece; and where others begin and end to be, and count."""
        begins, ends = first < -reach, last < -reach
        whole = begins & ends
        rows, places = np.nonzero(begins ^ ends)
        from_first = begins[rows, places]
        with np.errstate(invalid="ignore", over="ignore"):
            turn = (-reach - first)[rows, places] / (last - first)[rows, places]
        turn = np.where(from_first, turn - _INSIDE, turn + _INSIDE)
        turn = np.where(np.isfinite(turn), np.clip(turn, 0.0, 1.0), np.where(from_first, 0.0, 1.0))
        at = low[places] + turn * (high - low)[places]
        start = np.where(from_first, low[places], at)
        stop = np.where(from_first, at, high[places])
        return self._counts @ whole, start, stop, self._counts[rows]

    @property
    def low(self) -> float:
        """Where the range begins."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """Where the range ends."""
        return float(self.edges[-1])

    def within(self, low: float, high: float) -> tuple[float, float]:
        """Return the least and the largest number of wrong rows there can be from low to high."""
        first = min(max(int(np.searchsorted(self.edges, low, side="right")) - 1, 0), len(self.sure) - 1)
        last = max(int(np.searchsorted(self.edges, high, side="left")), first + 1)
        return float(self.sure[first:last].min()), float(self.most[first:last].max())

    def at(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest number of wrong rows between each two edges, all of its own among them."""
        places = np.searchsorted(self.edges, edges[:-1], side="right") - 1
        return self.sure[places], self.most[places]

    def missed(self, C: float) -> NDArray[np.bool_]:
        """Return which validation rows the solution for this C gets wrong."""
        Cs, weights, bias = next((each for each in self._ends if each[0][-1] >= C), self._ends[-1])
        at = min(max(int(np.searchsorted(Cs, C)), 1), len(Cs) - 1)
        span = Cs[at] - Cs[at - 1]
        t = (C - Cs[at - 1]) / span if span > 0.0 else 0.0
        plane = (1.0 - t) * weights[at - 1] + t * weights[at]
        own = np.array([(1.0 - t) * bias[at - 1] + t * bias[at]])
        scores = _core.decide(self._validation.matrix, plane[None, :], own, 1)[:, 0]
        return np.asarray(np.where(scores > 0.0, 1.0, -1.0) != self._signs)


def _summed(edges: Floats, low: Floats, whole: Floats, start: Floats, stop: Floats, counts: Floats) -> Floats:
    """Return the sums between edges: of what counts on a whole piece, and of what counts from a start to a stop."""
    change = np.zeros(len(edges))
    np.add.at(change, np.searchsorted(edges, start), counts)
    np.add.at(change, np.searchsorted(edges, stop), -counts)
    pieces = np.searchsorted(low, edges[:-1], side="right") - 1
    return np.asarray(whole[pieces] + np.maximum(np.cumsum(change[:-1]), 0.0))


def merged_edges(followed: Sequence[Followed], low: float, high: float) -> Floats:
    """Return the edges of all from low to high."""
    edges = np.unique(np.concatenate([each.edges for each in followed]))
    return np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])
