"""Sources that read temporary copies, and standard input, copied so that it can be read more than once."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from separatrix.files import ScratchFolder
from separatrix.tables.sources.base import ROWS, MatrixSource, TableSource
from separatrix.tables.sources.messages import path_text

if TYPE_CHECKING:
    import pyarrow as pa

STDIN = "standard input"


class Copied(Protocol):
    """Temporary copies of what a source reads."""

    def close(self) -> None:
        """Remove them."""

    def others(self, source: TableSource | MatrixSource) -> list[str]:
        """Return the files of the source without the copies."""

    def fingerprint_of(self, source: TableSource | MatrixSource) -> str | None:
        """Return the fingerprint of the source."""


class Spool:
    """A temporary copy of a stream.

    Parameters
    ----------
    stream : binary file or None
        The stream; standard input by default.
    name : str
        What messages call it.
    """

    def __init__(self, stream: BinaryIO | None = None, name: str = STDIN) -> None:
        if stream is None:
            if sys.stdin is None or sys.stdin.isatty():
                raise ValueError(
                    "standard input is a terminal; pipe a file into it, as in: cat data.csv | separatrix fit - ..."
                )
            stream = sys.stdin.buffer
        self._folder = ScratchFolder()
        self.path = str(self._folder.path / "input")
        digest = hashlib.sha256()
        try:
            with open(self.path, "wb") as file:
                while part := stream.read(1 << 20):
                    digest.update(part)
                    file.write(part)
        except BaseException as problem:
            self.close()
            if isinstance(problem, OSError):
                raise ValueError(
                    f"{path_text(name)} cannot be copied to {tempfile.gettempdir()}: {problem.strerror}"
                ) from None
            raise
        self.digest = digest.hexdigest()

    def close(self) -> None:
        """Remove the copy."""
        self._folder.close()

    def others(self, source: TableSource | MatrixSource) -> list[str]:
        """Return the files of a source without the copy: what a query over it reads besides."""
        return [path for path in source.files if path != self.path]

    def fingerprint_of(self, source: TableSource | MatrixSource) -> str | None:
        """Return the fingerprint of a source that reads the copy: its content counts, not where it is."""
        return None if source.fingerprint() is None else f"{self.digest} {source.mark or ''}".strip()


class SpooledTable(TableSource):
    """A table read from copies, which are removed when the source is closed."""

    def __init__(self, source: TableSource, spool: Copied) -> None:
        self._source, self._spool, self.files = source, spool, spool.others(source)
        self.mark, self.notes = source.mark, source.notes
        self.name, self.n_rows, self.typed, self.plain = source.name, source.n_rows, source.typed, source.plain
        self.columns = source.columns

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text."""
        self._source.read_as(numbers, texts)
        self.columns = self._source.columns

    def first_text(self, name: str) -> tuple[int, str] | None:
        """Return the first row in which a column has no number, and its text."""
        return self._source.first_text(name)

    def settle(self) -> None:
        """Decide on the columns by more rows."""
        self._source.settle()
        self.columns = self._source.columns

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        self.settle()
        return self._source.batches(names, rows=rows)

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._source.fraction()

    def fingerprint(self) -> str | None:
        """Return the digest of the input and how it is read."""
        return self._spool.fingerprint_of(self._source)

    def close(self) -> None:
        """Close the source and remove the copy."""
        self._source.close()
        self._spool.close()


class SpooledMatrix(MatrixSource):
    """A matrix read from copies, which are removed when the source is closed."""

    def __init__(self, source: MatrixSource, spool: Copied) -> None:
        self._source, self._spool, self.files = source, spool, spool.others(source)
        self.mark, self.notes = source.mark, source.notes
        self.name, self.n_rows = source.name, source.n_rows
        self.sparse, self.labelled, self.width = source.sparse, source.labelled, source.width

    def blocks(self, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of rows with their labels."""
        return self._source.blocks(rows)

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._source.fraction()

    def fingerprint(self) -> str | None:
        """Return the digest of the input and how it is read."""
        return self._spool.fingerprint_of(self._source)

    def close(self) -> None:
        """Close the source and remove the copy."""
        self._source.close()
        self._spool.close()


def with_copies(source: TableSource | MatrixSource, copies: Copied) -> TableSource | MatrixSource:
    """Return a source that reads copies as one that removes them with itself."""
    return SpooledTable(source, copies) if isinstance(source, TableSource) else SpooledMatrix(source, copies)
