"""The rows of a small source for commands that teach: numbers as they are written, labels, and the features' names."""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.cli.options import open_named, target_of
from separatrix.cli.writing import say
from separatrix.loop.problem import as_exact

MOST_CELLS = 1_000_000  # that become Python's numbers


class LabelledRows(NamedTuple):
    """Rows, their labels and the names of the features."""

    X: Any
    y: list[Any]
    names: list[str]


def read_labelled(
    data: str | None, target: str | None, sql: str | None, db: str | None, delimiter: str | None,
    features: list[str] | None, exclude: list[str] | None,
) -> LabelledRows:  # fmt: skip
    """Return the complete rows of a source; cells such as 1/3 are exact, categories one-hot encoded."""
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.whole import read_whole

    asked = ColumnOptions(
        target_of(data, target), tuple(features or ()), tuple(exclude or ()), missing="drop", detect=False
    )
    with open_named(data, sql, db, delimiter) as source:
        if (exact := rows_as_written(source, asked, fractions_only=True)) is not None:
            return exact
        whole = read_whole(source, asked)
    if whole.dropped:
        say(f"{whole.dropped:,} rows dropped (missing values)", err=True)
    return LabelledRows(whole.X, whole.y.tolist(), list(whole.names))


def rows_as_written(source: Any, asked: Any, *, fractions_only: bool = False) -> LabelledRows | None:
    """Return the numbers of a CSV file exactly as they are written; None where some column is not of numbers.

    With ``fractions_only`` also where no column has cells such as 1/3, which no float can hold.
    """
    from separatrix.tables.columns import choose
    from separatrix.tables.sources.base import TableSource
    from separatrix.tables.sources.exact import has_exact_numbers, read_exact

    if not isinstance(source, TableSource) or source.typed:
        return None
    chosen = choose(source.name, source.columns, asked)
    if fractions_only and not any(column.kind == "text" for column in chosen.categories):
        return None
    if chosen.target is None or not has_exact_numbers(source, (*chosen.numbers, *chosen.categories)):
        return None
    exact = read_exact(source, chosen.order, chosen.target.name, MOST_CELLS)
    return LabelledRows(exact.X, exact.y, list(chosen.order))


def signs_of(y: list[Any], positive: str | None) -> list[int]:
    """Return +1 for the positive class and -1 for others: the label given, or else the larger of two.

    Examples
    --------
    >>> signs_of(["a", "b", "c"], "b"), signs_of([0, 1], "0"), signs_of(["no", "yes"], None)
    ([-1, 1, -1], [1, -1], [-1, 1])
    """
    from separatrix.insight.signs import label_signs

    if positive is None:
        kinds = sorted({str(label) for label in y})
        if len(kinds) > 2:
            raise ValueError(
                f"a plane separates two classes; the data have {len(kinds)} ({', '.join(kinds[:6])}): name one with "
                "--positive to compare it with the others"
            )
        return [int(sign) for sign in label_signs(y, len(y))]
    known = {str(label) for label in y}
    wanted = positive.strip()
    if wanted not in known:
        by_value = {str(as_exact(label)): label for label in known if _is_number(label)}
        wanted = str(by_value.get(str(as_exact(wanted)), "")) if _is_number(wanted) else ""
        if not wanted:
            raise ValueError(f"--positive {positive}: there is no such label; the labels are {_some(known)}")
    return [1 if str(label) == wanted else -1 for label in y]


def exact_numbers(option: str, text: str) -> list[Any]:
    """Return the numbers of an option such as ``1,-2,1/2``."""
    try:
        return [as_exact(cell.strip()) for cell in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between them, such as 1,-2,1/2; got {text!r}") from None


def exact_number(option: str, text: str) -> Any:
    """Return the number of an option such as ``1/2``."""
    try:
        return as_exact(text.strip())
    except ValueError:
        raise ValueError(f"{option} must be a number such as 1, 0.5 or 1/2; got {text!r}") from None


def _is_number(text: str) -> bool:
    try:
        as_exact(text)
    except ValueError:
        return False
    return True


def _some(labels: set[str]) -> str:
    from separatrix.text import listed

    return listed(sorted(labels))
