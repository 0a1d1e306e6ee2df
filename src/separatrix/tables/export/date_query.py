"""The query that makes numbers of dates, so that a model of them can be exported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.tables.date_notations import ISO
from separatrix.tables.sources.duck import identifier

_FUNCTIONS = {
    "year": "year", "month": "month", "day": "day", "weekday": "isodow", "hour": "hour", "seconds": "epoch",
}  # fmt: skip


def date_query(features: Sequence[Any]) -> str:
    """Return a SELECT for DuckDB with the parts of dates, as numbers, in the place of these columns.

    Examples
    --------
    >>> from separatrix.tables.preparation import Feature
    >>> print(date_query([Feature("sold", "date", "date", parts=("year", "month sine"))]))
    select * exclude ("sold"), year(try_cast("sold" as timestamp)) as "sold year" from data
    """
    columns = []
    for feature in features:
        name = identifier(feature.name)
        moment = f"try_cast({name} as timestamp)"
        if feature.notation not in ("", ISO):
            moment = f"coalesce({moment}, try_strptime(cast({name} as varchar), '{feature.notation}'))"
        columns += [
            f"{function}({moment}) as {identifier(f'{feature.name} {part}')}"
            for part, function in _FUNCTIONS.items()
            if part in feature.parts
        ]
    left_out = ", ".join(identifier(feature.name) for feature in features)
    return f"select * exclude ({left_out}), {', '.join(columns)} from data"
