"""All rows of one array in one block, on whatever device they are."""

from __future__ import annotations

from typing import Any

from separatrix.svm.rowblocks.array_rows import ArrayEquations, ArrayRows
from separatrix.svm.rowblocks.block import Block


class ArrayStore:
    """The rows of an array of the array API standard."""

    def __init__(self, values: Any, signs: Any, costs: Any, xp: Any, **how: Any) -> None:
        self.rows = ArrayRows(values, xp, **how)
        self.n, self.d = self.rows.n, self.rows.d
        self.block = Block(self.rows, self.rows.to_device(signs), self.rows.to_device(costs))

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of the block."""
        return getattr(self.block, method)(*given)

    def each(self, method: str, *given: Any) -> None:
        """Call a method of the block."""
        getattr(self.block, method)(*given)

    def equations(self, table: Any, lean: float | None) -> ArrayEquations:
        """Return Newton's equations for the table."""
        return ArrayEquations(table, lean, self.rows)
