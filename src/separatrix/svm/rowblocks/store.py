"""What the solvers ask of a store of blocks; and all rows of one array in one block, on whatever device they are."""

from __future__ import annotations

from typing import Any, Protocol

from separatrix.svm.rowblocks.array_rows import ArrayEquations, ArrayRows
from separatrix.svm.rowblocks.block import Block


class Store(Protocol):
    """Blocks of rows, and what the solvers do with them."""

    n: int
    d: int

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of every block; add up what they return."""

    def each(self, method: str, *given: Any) -> None:
        """Call a method of every block."""

    def equations(self, table: Any, lean: float | None) -> Any:
        """Return Newton's equations for a sum of tables."""


class ArrayStore:
    """The rows of an array of the array API standard."""

    def __init__(self, rows: ArrayRows, signs: Any, costs: Any) -> None:
        self.rows = rows
        self.n, self.d = rows.n, rows.d
        each = rows.full(costs) if isinstance(costs, float) else rows.to_device(costs)
        self.block = Block(rows, rows.to_device(signs), each)

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of the block."""
        return getattr(self.block, method)(*given)

    def each(self, method: str, *given: Any) -> None:
        """Call a method of the block."""
        getattr(self.block, method)(*given)

    def equations(self, table: Any, lean: float | None) -> ArrayEquations:
        """Return Newton's equations for the table."""
        return ArrayEquations(table, lean, self.rows)
