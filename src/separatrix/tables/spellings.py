"""Labels and categories that differ only in case or spaces: often slips of whoever wrote them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from separatrix.tables.collect import Collected
from separatrix.tables.sources.duck import identifier
from separatrix.text import listed


def spelled_alike(values: Iterable[Any]) -> list[str]:
    """Return the texts among these values that equal another but for case and spaces, equal ones side by side.

    Examples
    --------
    >>> spelled_alike(["YES", "no", " yes", "Yes", 3])
    ['YES', ' yes', 'Yes']
    """
    groups: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            groups.setdefault(" ".join(value.split()).casefold(), []).append(value)
    return [value for group in groups.values() if len(group) > 1 for value in group]


def spelling_warnings(data: Collected) -> Iterator[str]:
    """Yield a warning for columns with such values, and the query that makes them one."""
    target = data.chosen.target
    if data.anonymous or target is None:
        return
    columns = {target.name: data.classes}
    columns |= {column.name: levels for column, levels in zip(data.chosen.categories, data.levels, strict=True)}
    groups = {name: alike for name, values in columns.items() if (alike := spelled_alike(values))}
    if groups:
        shown = "; ".join(f"{name!r} has {listed(map(repr, alike), 6)}" for name, alike in groups.items())
        changed = ", ".join(f"lower(trim({identifier(name)})) as {identifier(name)}" for name in groups)
        query = shlex.quote(f"select * replace ({changed}) from data")
        yield (
            "Warning: values that differ only in case or spaces are taken for different ones: "
            f"{shown}. If they are the same, use --sql {query}."
        )
