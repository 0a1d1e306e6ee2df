"""Text files whose cells are parted by single spaces, as UCI and LIBSVM sites publish them without an ending."""

from __future__ import annotations

from separatrix.tables.sources.cells import MISSING_CELLS, is_number
from separatrix.tables.sources.peeking import Peek

_LINES = 50
_OTHERS = ',;\t|"'


def is_split_by_spaces(peek: Peek) -> bool:
    """Return whether every line has as many cells between single spaces, most columns are numbers, and no other mark.

    Sentences in the only column of a file have as many words in each line only by chance, and are no numbers.

    Parameters
    ----------
    peek : Peek
        The beginning of the file.
    """
    text = peek.head.decode("utf-8-sig", errors="replace")
    every = text.splitlines() if peek.whole else text.splitlines()[:-1]  # the last may be cut
    lines = [line for line in every if line.strip()][: _LINES + 1]
    if len(lines) < 3 or any(mark in line for line in lines for mark in _OTHERS):
        return False
    rows = [line.split(" ") for line in lines]
    width = len(rows[0])
    if width < 2 or any(len(row) != width or "" in row for row in rows):
        return False
    numbers = sum(
        all(is_number(cell) or cell in MISSING_CELLS for cell in column) for column in zip(*rows[1:], strict=True)
    )
    return 2 * numbers > width
