"""The arithmetic of one block of rows whose classes are learned together: multinomial logistic regression.

Tables of numbers by row have a row for each example and a column for each class; they are worked through in parts.
Probabilities are kept as those of the other classes and their sum: that of the own class is 1 less that sum, and rows
that are nearly certain lose nothing. The functions are those of the array API standard.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.svm.rowblocks.array_rows import ArrayRows, quick_products

_TINY = 1e-290


class ClassSums(NamedTuple):
    """``sum C x`` and ``sum C`` of the examples of each class, and an upper bound on ``|x|`` of every row."""

    across: Any
    totals: Any
    longest: float


class JointCurve(NamedTuple):
    """Loss, ``sum C (1 - p)`` of the own classes, ``sum C (p - 1[y = k])`` times x and alone, how offsets couple."""

    loss: float
    wrong: float
    across: Any
    sums: Any
    coupling: Any  # sum C (diag(p) - p p')


class Bent(NamedTuple):
    """The Hessian of the loss times a step."""

    across: Any
    sums: Any


class JointBlock:
    """Rows, the codes of their classes, what the loss of each row counts, and the scores."""

    def __init__(self, rows: ArrayRows, codes: Any, costs: Any, n_classes: int) -> None:
        self.rows, self.codes, self.costs, self.n_classes = rows, codes, costs, n_classes
        together = max(1, rows.chunk // (rows.d + 8 * n_classes))
        self._parts = [slice(first, min(first + together, rows.n)) for first in range(0, rows.n, together)]
        self._names = rows.xp.arange(n_classes, device=rows.device, dtype=codes.dtype)[None, :]
        self._scores: list[Any] = []
        self._moved: list[Any] = []
        self._own: list[Any] = []

    def class_sums(self) -> ClassSums:
        """Return what the solver asks once."""
        across, totals = 0.0, 0.0
        for part in self._parts:
            costs = self.costs[part][:, None]
            own = self.rows.xp.where(self._is_own(part), costs, 0.0 * costs)
            across = own.T @ self.rows.double(part) + across
            totals = self.rows.xp.sum(own, axis=0) + totals
        return ClassSums(across, totals, self.rows.longest())

    def begin(self, weights: Any, shift: Any) -> None:
        """Compute the scores ``W x + shift``."""
        self._scores = self._products(weights, shift)

    def curve(self, *, offsets_alone: bool = False) -> JointCurve:
        """Return what Newton's method needs; of the offsets alone, without products with the rows."""
        xp = self.rows.xp
        loss, wrong, across, sums, coupling = 0.0, 0.0, 0.0, 0.0, 0.0
        self._own = []
        for part, scores in zip(self._parts, self._scores, strict=True):
            costs, is_own = self.costs[part], self._is_own(part)
            others, tail, mine, losses = self._softmax(scores, is_own)
            whole = tail + mine
            others = others / whole[:, None]
            own = xp.where(is_own, (mine / whole)[:, None], others)
            loss += self.rows.total(costs * losses)
            wrong += self.rows.total(costs * tail / whole)
            residual = xp.where(is_own, -(tail / whole)[:, None], others) * costs[:, None]
            sums = xp.sum(residual, axis=0) + sums
            coupling = -((own * costs[:, None]).T @ own) + coupling
            if not offsets_alone:
                across = residual.T @ self.rows.double(part) + across
                self._own.append(xp.astype(own, xp.float32))
        coupling = xp.where(self._diagonal(), 0.0 * coupling, coupling)
        coupling = xp.where(self._diagonal(), -xp.sum(coupling, axis=1)[:, None], coupling)
        return JointCurve(loss, wrong, across, sums, coupling)

    def bent(self, step: Any, shift: Any, *, exact: bool) -> Bent:
        """Return the Hessian of the loss times a step of the scores; in single precision, where that does.

        No step is one of the offsets alone.
        """
        xp, rows = self.rows.xp, self.rows
        across, sums = 0.0, 0.0
        kind = xp.float64 if exact else xp.float32
        shift = xp.astype(shift, kind)
        step = None if step is None else xp.astype(step.T, kind)
        with quick_products(xp, not exact):
            for place, part in enumerate(self._parts):
                some = rows.double(part) if exact else rows.single(part)
                own = self._probabilities(place) if exact else self._own[place]
                moved = shift[None, :] if step is None else some @ step + shift
                moved = moved - xp.sum(own * moved, axis=1)[:, None]
                moved = moved * own * xp.astype(self.costs[part], kind)[:, None]
                across = xp.astype(moved.T @ some, xp.float64) + across
                sums = xp.sum(moved, axis=0, dtype=xp.float64) + sums
        return Bent(across, sums)

    def move(self, shift: Any) -> None:
        """Add this to the scores of each class."""
        self._scores = [scores + shift for scores in self._scores]

    def aim(self, step: Any, shift: Any) -> None:
        """Compute how the scores move with this step."""
        self._moved = self._products(step, shift)

    def along(self, length: float) -> float:
        """Return the loss at this length of the step."""
        loss = 0.0
        for place, part in enumerate(self._parts):
            scores = self._scores[place] + length * self._moved[place]
            loss += self.rows.total(self.costs[part] * self._softmax(scores, self._is_own(part))[3])
        return loss

    def slide(self, length: float) -> None:
        """Make a step of this length."""
        self._scores = [scores + length * moved for scores, moved in zip(self._scores, self._moved, strict=True)]
        self._moved = []

    def tilted(self, shift: Any) -> float:
        """Return the divergence of the probabilities after a step of the offsets, as if they were linear in them."""
        xp, apart = self.rows.xp, 0.0
        for place, part in enumerate(self._parts):
            own = self._probabilities(place)
            change = shift[None, :] - xp.sum(own * shift, axis=1)[:, None]
            each = xp.sum(own * ((1.0 + change) * xp.log1p(change) - change), axis=1)
            apart += self.rows.total(self.costs[part] * each)
        return max(apart, 0.0)

    def mixed(self, part_of: float, common: Any) -> float:
        """Return the divergence of the probabilities, mixed with this part of one distribution for all rows."""
        xp, apart = self.rows.xp, 0.0
        for place, part in enumerate(self._parts):
            scores, is_own = self._scores[place], self._is_own(part)
            losses = self._softmax(scores, is_own)[3]
            logs = self._from_own(scores, is_own) - losses[:, None]
            mix = (1.0 - part_of) * xp.exp(logs) + part_of * common[None, :]
            each = xp.sum(mix * (xp.log(xp.where(mix > _TINY, mix, _TINY + 0.0 * mix)) - logs), axis=1)
            apart += self.rows.total(self.costs[part] * each)
        return max(apart, 0.0)

    def _products(self, weights: Any, shift: Any) -> list[Any]:
        across = weights.T
        return [self.rows.double(part) @ across + shift for part in self._parts]

    def _is_own(self, part: slice) -> Any:
        return self.codes[part][:, None] == self._names

    def _diagonal(self) -> Any:
        return self._names == self._names.T

    def _from_own(self, scores: Any, is_own: Any) -> Any:
        own = self.rows.xp.sum(self.rows.xp.where(is_own, scores, 0.0 * scores), axis=1)
        return scores - own[:, None]

    def _softmax(self, scores: Any, is_own: Any) -> tuple[Any, Any, Any, Any]:
        """Return multiples of the other classes' probabilities, their sum, the own class's, and the losses."""
        xp = self.rows.xp
        scores = self._from_own(scores, is_own)
        top = xp.max(scores, axis=1)
        others = xp.exp(scores - top[:, None])
        others = xp.where(is_own, 0.0 * others, others)
        tail = xp.sum(others, axis=1)
        return others, tail, xp.exp(-top), top + xp.log1p(tail + xp.expm1(-top))

    def _probabilities(self, place: int) -> Any:
        is_own = self._is_own(self._parts[place])
        others, tail, mine, _ = self._softmax(self._scores[place], is_own)
        return self.rows.xp.where(is_own, mine[:, None], others) / (tail + mine)[:, None]
