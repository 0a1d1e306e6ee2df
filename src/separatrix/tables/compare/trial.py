"""Prepared rows on disk, for the processes of a comparison: training rows and test rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.memory import available
from separatrix.text import byte_size

_SHARE = 0.3  # of the free memory that dense rows may take, of which models make copies


@dataclass
class Trial:
    """Training rows with their labels, and test rows."""

    X: Any
    y: NDArray[Any]
    X_test: Any

    def write(self, folder: Path) -> None:
        """Write them to a new folder."""
        folder.mkdir()
        np.save(folder / "y.npy", self.y, allow_pickle=False)
        for name, values in (("X", self.X), ("X_test", self.X_test)):
            if is_sparse(values):
                from scipy import sparse

                sparse.save_npz(folder / f"{name}.npz", values, compressed=False)
            else:
                np.save(folder / f"{name}.npy", np.ascontiguousarray(values), allow_pickle=False)

    def dense(self) -> Trial:
        """Return them as dense rows, for models that take no others; refuse what would fill the memory."""
        if not is_sparse(self.X):
            return self
        n, width = self.X.shape[0] + self.X_test.shape[0], self.X.shape[1]
        needed, free = 8 * n * width, available()
        if needed > _SHARE * free:
            raise ValueError(
                f"it takes no sparse rows, and {n:,} rows with {width:,} features would take {byte_size(needed)} as "
                f"dense ones ({byte_size(free)} of memory are free): use fewer rows, or fewer columns with --features"
            )
        return Trial(self.X.toarray(), self.y, self.X_test.toarray())

    @classmethod
    def read(cls, folder: Path) -> Trial:
        """Read them again."""
        return cls(_read(folder, "X"), np.load(folder / "y.npy", allow_pickle=False), _read(folder, "X_test"))


def _read(folder: Path, name: str) -> Any:
    if (folder / f"{name}.npz").exists():
        from scipy import sparse

        return sparse.load_npz(folder / f"{name}.npz")
    return np.load(folder / f"{name}.npy", allow_pickle=False)
