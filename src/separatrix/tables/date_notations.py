"""How cells of text stand for dates and times: notations that a whole column has in common, and their parts.

A notation is found from the different values of a column (``date_notation``), is kept in the model, and reads the same
column of other files (``read_moments``). Dates become numbers of their parts (``date_parts``): year, month, day,
weekday, hour, and the sine and cosine of those that are cyclic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.arrow_columns import is_text, known, missing_text, number_column, text_column, values_of
from separatrix.tables.notations import ABSENT
from separatrix.tables.sources.cells import SPACES, is_number

_FEW = 20  # cells
_FIRST = 50  # values that show a notation of dates
_MOSTLY, _SURE = 0.8, 0.95  # of the first values, and of all cells, in a column of dates in which some cells are wrong
ISO = "iso"
_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%m/%d/%y",
    "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y", "%d %B %Y", "%B %d, %Y",
    "%Y%m%d", "%a %d %b %Y", "%a, %d %b %Y", "%a %b %d %Y",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
TIMES = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
MONTHS = "%Y-%m"  # as 2024-01: the first day of the month
DATES = (ISO, *(day + clock for day in _DAYS for clock in _CLOCKS), *TIMES, MONTHS)
_YEAR_AND_MONTH = "^(?:1[5-9]|2[0-4])[0-9]{2}-(?:0[1-9]|1[0-2])$"
_ISO_TEXT = re.compile(
    r"(?=.*[-:])(?:([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:$|[T ]+(?=[0-9])))?"
    r"(?:([0-9]{1,2}):([0-9]{2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?(?: ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
_ZONE = "(:[0-9.]+) ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"  # behind a time
_SHORT_MINUTE = ":[0-9](?:[^0-9]|$)"
_SHORT_YEAR = "[-/.][0-9]{2}(?: |$)"
_LOOKS_DATED = re.compile(r"[0-9]{1,4}[-/. :][0-9A-Za-z]|[A-Za-z]{3,9}\.? [0-9]{1,2},? [0-9]{4}|[0-9]{1,2} [A-Za-z]{3}")
_CYCLES = {"month": 12.0, "day": 31.0, "weekday": 7.0, "hour": 24.0}
PARTS = (
    "year", "month", "day", "weekday", "hour", "seconds",
    *(f"{part} {wave}" for part in _CYCLES for wave in ("sine", "cosine")),
)  # fmt: skip
_CLOCK_PARTS = ("hour", "seconds", "hour sine", "hour cosine")
_SECOND = 1_000_000  # microseconds


def date_notation(values: Iterable[str], *, sure: bool = False) -> str | None:
    """Return the notation in which all texts are dates or times, but for those that say that one is missing.

    Where the day and the month could change places, the month is first; None if there is no notation. Numbers are
    dates only where it is ``sure`` that these are dates.

    Examples
    --------
    >>> date_notation(["2024-01-05", "2023-12-31"]), date_notation(["5.1.2024", "31.12.2023"])
    ('iso', '%d.%m.%Y')
    >>> date_notation(["01/02/2024", "31/12/2023"]), date_notation(["01/02/2024"]), date_notation(["9:30", "17:05"])
    ('%d/%m/%Y', '%m/%d/%Y', '%H:%M')
    >>> date_notation(["2024-01", "2023-12"]), date_notation(["Fri 05 Jan 2024"]), date_notation(["2024-13", "2024-01"])
    ('%Y-%m', '%a %d %b %Y', None)
    >>> date_notation(["1.5", "2.25"]), date_notation(["red", "blue"])
    (None, None)
    """
    texts = [text for value in values if (text := value.strip(SPACES)).lower() not in ABSENT]
    if not texts:
        return None
    if not sure and (not all(map(_LOOKS_DATED.search, texts[:50])) or all(map(is_number, texts[:50]))):
        return None
    sample, every = text_column(texts[:50]), None
    for notation in DATES:
        if notation == ISO and not all("-" in text for text in texts[:50]):  # times of a day
            continue
        if _moments(sample, notation) is None:
            continue
        every = text_column(texts) if every is None else every
        if _moments(every, notation) is not None:
            return notation
    return None


def looks_dated(text: str) -> bool:
    """Return whether a text has the look of a date."""
    return _LOOKS_DATED.search(text) is not None


def mostly_dates(counts: Mapping[str, int]) -> tuple[str, list[str]] | None:
    """Return the notation in which almost all cells are dates, and the texts that are not; None if there is none.

    Examples
    --------
    >>> cells = {f"2024-01-{day:02}": 1 for day in range(1, 31)}
    >>> mostly_dates({**cells, "soon": 1}), mostly_dates({**cells, **{word: 9 for word in ("a", "b", "c")}})
    (('iso', ['soon']), None)
    """
    texts = {text: n for value, n in counts.items() if (text := value.strip(SPACES)).lower() not in ABSENT}
    first, cells = list(texts)[:_FIRST], sum(texts.values())
    if sum(map(looks_dated, first)) < _MOSTLY * len(first) or cells < _FEW or all(map(is_number, first)):
        return None
    columns = [text_column([text]) for text in first]
    for notation in DATES:
        if sum(_moments(column, notation) is not None for column in columns) >= _MOSTLY * len(first):
            wrong = _not_dates(list(texts), notation, int((1 - _SURE) * cells))
            if wrong and sum(texts[text] for text in wrong) <= (1 - _SURE) * cells:
                return notation, wrong
    return None


def misfit(values: Iterable[str]) -> tuple[str, str] | None:
    """Return the notation of dates in which most of the first texts are, and the first text that is not; None if none.

    Examples
    --------
    >>> misfit(["2024-03-01", "2024-03-02", "soon", "2024-03-03"]), misfit(["red", "blue"])
    (('iso', 'soon'), None)
    """
    texts = [text for value in values if (text := value.strip(SPACES)).lower() not in ABSENT]
    columns = [text_column([text]) for text in texts[:_FIRST]]
    fits = {notation: sum(_moments(each, notation) is not None for each in columns) for notation in DATES}
    best = max(fits, key=fits.__getitem__)
    wrong = _not_dates(texts, best, len(texts)) if fits[best] else []
    return (best, wrong[0]) if wrong and 2 * fits[best] > len(columns) else None


def _not_dates(texts: list[str], notation: str, most: int) -> list[str]:
    """Return the texts that are not in a notation, found by halves; a few more than ``most`` if there are more."""
    if not texts or _moments(text_column(texts), notation) is not None:
        return []
    if len(texts) == 1:
        return texts
    half = len(texts) // 2
    wrong = _not_dates(texts[:half], notation, most)
    return wrong if len(wrong) > most else wrong + _not_dates(texts[half:], notation, most - len(wrong))


def _moments(texts: Any, notation: str) -> Any:
    """Return texts as moments of Arrow without a zone; None if one of them is none in this notation."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if notation == ISO:
        for zone in (None, "UTC"):
            try:
                return texts.cast(pa.timestamp("us", zone)).cast(pa.int64())
            except pa.ArrowInvalid:
                continue
        return _iso_moments(texts)
    if notation == MONTHS and not pc.all(pc.match_substring_regex(texts, _YEAR_AND_MONTH)).as_py():
        return None
    made = pc.strptime(texts, format=notation, unit="us", error_is_null=True)
    if made.null_count > texts.null_count:
        return None
    if "%y" in notation and not pc.all(pc.match_substring_regex(texts, _SHORT_YEAR)).as_py():  # 1.2.3 is a version
        return None
    if "%M" in notation and pc.any(pc.match_substring_regex(texts, _SHORT_MINUTE)).as_py():  # 3:2 is a result
        return None
    if "%Y" in notation and (pc.min(pc.year(made)).as_py() or 1000) < 1000:  # 24 is not a year of four digits
        return None
    return made.cast(pa.int64())


def _iso_moments(texts: Any) -> Any:
    """Return dates and times that Arrow does not cast: 2024-1-5, times of a day, some with a zone and some without."""
    encoded = texts.dictionary_encode()
    moments = [_iso_moment(text) for text in encoded.dictionary.to_pylist()]
    if None in moments:
        return None
    return number_column(np.array(moments, dtype=np.int64)).take(encoded.indices)


def _iso_moment(text: str) -> int | None:
    """Return the microseconds since 1970, or of a time alone since midnight; None for another text."""
    match = _ISO_TEXT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hours, minutes, seconds, fraction, zone = match.groups()
    microseconds = 0
    if year is not None:
        try:
            days = date(int(year), int(month), int(day)).toordinal() - date(1970, 1, 1).toordinal()
        except ValueError:  # there is no 30 February
            return None
        microseconds = days * 86400 * _SECOND
    if hours is not None:
        second = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)
        if int(minutes) > 59 or int(seconds or 0) > 59 or second > 86400:
            return None
        microseconds += second * _SECOND + int(((fraction or "") + "000000")[:6])
    if zone not in (None, "Z"):
        east = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
        microseconds -= (-east if zone[0] == "-" else east) * 60 * _SECOND
    return microseconds


def is_clock(notation: str) -> bool:
    """Return whether a notation is of times of a day."""
    return notation in TIMES


class Moments(NamedTuple):
    """Moments in microseconds since 1970 (of a time: since midnight), and which of them are not missing.

    ``local`` are those of the clock that a cell shows, ``moments`` those in UTC; they differ where cells have a zone.
    """

    moments: NDArray[np.int64]
    local: NDArray[np.int64]
    there: NDArray[np.bool_]


def read_moments(column: Any, notation: str) -> Moments:
    """Return the moment of each cell.

    A column of text is read in its notation, one of dates or times as it is. A cell that is none is a ValueError whose
    only argument is its place.

    Examples
    --------
    >>> import pyarrow as pa
    >>> moments, _, there = read_moments(pa.array(["1/2/1970", None, "?"]), "%m/%d/%Y")
    >>> moments.tolist(), there.tolist()
    ([86400000000, 0, 0], [True, False, False])
    >>> moments, local, _ = read_moments(pa.array(["1970-01-01T09:30:00-05:00"]), "iso")
    >>> (moments // 60_000_000).tolist(), (local // 60_000_000).tolist()
    ([870], [570])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):  # as 20240131
        column = column.cast(pa.int64(), safe=False).cast(pa.string())
    if is_text(column):
        trimmed = pc.utf8_trim(column.cast(pa.string()), SPACES)
        absent = pc.is_in(pc.utf8_lower(trimmed), text_column(sorted(ABSENT)))
        texts = pc.if_else(absent, missing_text(), trimmed)
        values = _moments(texts, notation)
        if values is None:
            values = _one_by_one(texts, notation)
        local = _local(texts, values) if notation == ISO else values
        if is_clock(notation):
            values = local = pc.subtract(values, _since_midnight())
    elif pa.types.is_time(kind):
        values = local = column.cast(pa.time64("us")).cast(pa.int64())
    else:
        zone = getattr(kind, "tz", None)
        stamps = column.cast(pa.timestamp("us", zone), safe=False)
        values = stamps.cast(pa.int64())
        local = values if zone is None else pc.local_timestamp(stamps).cast(pa.int64())
    there = known(values)
    moments = np.where(there, values_of(values, np.int64), 0)
    own = moments if local is values else np.where(there, values_of(local, np.int64), 0)
    return Moments(moments, own, there)


def _local(texts: Any, moments: Any) -> Any:
    """Return the moments of ISO texts by the clock that each shows, without its zone."""
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(texts, f"{_ZONE}$")).as_py():
        return moments
    local = _moments(pc.replace_substring_regex(texts, f"{_ZONE}$", r"\1"), ISO)
    return moments if local is None else local


def _since_midnight() -> Any:
    """Return 1 January 1900, on which times of a day are read, in microseconds."""
    return number_column(np.array(["1900-01-01"], dtype="M8[us]").astype(np.int64))[0]


def _one_by_one(texts: Any, notation: str) -> Any:
    """Find the first text that is not in the notation."""
    for place, cell in enumerate(texts.to_pylist()):
        if cell is not None and _moments(text_column([cell]), notation) is None:
            raise ValueError(place)
    raise AssertionError("each text has the notation, but not all together")


def parts_of(method: str, clock: bool) -> tuple[str, ...]:
    """Return the parts that a column of dates, or of times of a day, becomes by ``--dates``."""
    if method == "seconds":
        return ("seconds",)
    return _CLOCK_PARTS if clock else PARTS


def date_parts(
    moments: NDArray[np.int64],
    there: NDArray[np.bool_],
    parts: tuple[str, ...],
    local: NDArray[np.int64] | None = None,
) -> Floats:
    """Return parts of moments in microseconds, a column each; NaN where one is missing.

    All but the seconds are parts of the ``local`` moments, where these are other than those in UTC. Weekdays count
    from Monday, 0. A cyclic part turns once in its cycle, so that December is near January.

    Examples
    --------
    >>> moment = np.array(["2024-03-01T12:00"], dtype="M8[us]").astype(np.int64)
    >>> date_parts(moment, np.array([True]), ("year", "month", "day", "weekday", "hour", "hour cosine")).tolist()
    [[2024.0, 3.0, 1.0, 4.0, 12.0, -1.0]]
    """
    local = moments if local is None else local
    stamps = local.astype("M8[us]")
    days, months = stamps.astype("M8[D]"), stamps.astype("M8[M]")
    day = days.astype(np.int64)
    number: dict[str, Any] = {
        "year": lambda: stamps.astype("M8[Y]").astype(np.int64) + 1970.0,
        "month": lambda: months.astype(np.int64) % 12 + 1.0,
        "day": lambda: day - months.astype("M8[D]").astype(np.int64) + 1.0,
        "weekday": lambda: (day + 3) % 7 + 0.0,
        "hour": lambda: (local % (86400 * _SECOND)) // (3600 * _SECOND) + 0.0,
        "seconds": lambda: moments / _SECOND,
    }
    out = np.empty((len(moments), len(parts)))
    for place, part in enumerate(parts):
        name, _, wave = part.partition(" ")
        values = number[name]()
        if wave:
            turn = 2 * np.pi * (values - (name in ("month", "day"))) / _CYCLES[name]
            values = np.round(np.sin(turn) if wave == "sine" else np.cos(turn), 12)  # alike on every machine
        out[:, place] = np.where(there, values, np.nan)
    return out
