"""What the followed paths of all folds say together about a range of C."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.insight.fold_bounds import FoldBounds
from separatrix.insight.fold_path import Followed, merged_edges
from separatrix.insight.range_cells import Part, mean_error

_RANGES = 8  # in a decade, whose bounds are told one by one


class PathReading(NamedTuple):
    """Parts of a range, one between each two edges, and in each the least errors of every fold, and of all together."""

    edges: Floats
    sure: Floats  # a row for each fold
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, followed: Sequence[Followed], folds: Sequence[FoldBounds], low: float, high: float) -> PathReading:
        """Read the paths of all folds from low to high."""
        edges = merged_edges(followed, low, high)
        sure, most = (np.array(each) for each in zip(*(path.at(edges) for path in followed), strict=True))
        return cls(edges, sure, np.asarray(mean_error(list(sure), folds)), np.asarray(mean_error(list(most), folds)))

    @property
    def best(self) -> tuple[float, float]:
        """The middle of the widest part with the least error there can be at most, and that error."""
        at = int(np.lexsort((self.edges[:-1] / self.edges[1:], self.upper))[0])
        return math.sqrt(self.edges[at]) * math.sqrt(self.edges[at + 1]), float(self.upper[at])

    def parts(self, target: float) -> list[Part]:
        """Return the ranges of which all or nothing is proved, and in which the bound is the least of its parts'."""
        kind = 2 * np.floor(_RANGES * np.log10(self.edges[:-1])) + (self.lower >= target)
        turns = [0, *(np.flatnonzero(np.diff(kind)) + 1), len(kind)]
        found = []
        for first, last in itertools.pairwise(turns):
            least = first + int(np.argmin(self.lower[first:last]))
            low, high, sure = float(self.edges[first]), float(self.edges[last]), self.sure[:, least].tolist()
            found.append(Part(low, high, sure, [0.0] * len(sure), closed=True))
        return found
