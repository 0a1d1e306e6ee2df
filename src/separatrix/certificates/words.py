"""A certificate in words: the proof for a person to read, with numbers that stay true when they are printed."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from separatrix.certificates.fields import Number, digits
from separatrix.certificates.witness import Points

if TYPE_CHECKING:
    from separatrix.certificates.certificate import Certificate

VERDICTS = {"strict": "strictly separable", "weak": "weakly separable", "none": "not separable", None: "not decided"}

_DIGITS = 6  # of printed bounds
_WIDE = 1.01  # a bracket whose bounds differ by more needs an explanation
_FEW = 8  # rows or numbers that are printed one by one
_PAIRS = 5  # of contradictory rows


def shown(value: float, *, up: bool) -> str:
    """Return six digits of a bound, rounded up or down, so that what is printed is true as well.

    Examples
    --------
    >>> shown(2.0 / 3.0, up=True), shown(2.0 / 3.0, up=False), shown(1234567.0, up=True)
    ('0.666667', '0.666666', '1,234,570')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    rounded = context.create_decimal(Decimal(value))
    return f"{rounded:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{float(rounded):,.{_DIGITS}g}"


def whole(bound: float) -> str:
    """Return the largest whole number that the bound allows.

    Examples
    --------
    >>> whole(195.3), whole(1234567.0)
    ('195', '1,234,567')
    """
    return f"{math.floor(bound):,}" if bound < 1e15 else shown(bound, up=True)


def counted(n: int, noun: str) -> str:
    """Return the number with its noun: 1 row, 2 rows."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def margin(found: Certificate) -> str:
    """Return the bracket of the largest margin in short."""
    if found.margin.upper == 0:
        return "none"
    return f"{shown(found.margin.lower, up=False)} to {shown(found.margin.upper, up=True)}"


def headline(found: Certificate) -> str:
    """Return the verdict in a sentence, without its full stop."""
    names, (low, high) = found.names, found.margin
    if found.separable == "strict":
        return (
            f"{names}: strictly separable; the largest margin is between {shown(low, up=False)} and "
            f"{shown(high, up=True)}"
        )
    if found.separable == "weak":
        return f"{names}: weakly separable; some plane has every row on its own side or on it, but none has a margin"
    if found.separable == "none":
        return f"{names}: not separable, not even weakly"
    if high == 0:
        return f"{names}: not strictly separable; whether weakly is not decided"
    part = f" ({high / found.radius:.2g} of the radius)" if found.radius > 0 else ""
    return f"{names}: not decided; no plane has a margin above {shown(high, up=True)}{part}"


def explanation(found: Certificate) -> str:
    """Return the proof in words, with its numbers."""
    parts = [f"{headline(found)}.", *_plane(found), *_points(found)]
    if found.n_contradictions:
        parts.append(f"The same numbers with both labels: rows {contradictions(found)}.")
    if found.mistake_forms:
        bias = ", with a coordinate 1 for the bias" if found.fit_intercept else ""
        noun = "mistake" if math.floor(found.mistake_bound) == 1 else "mistakes"
        forms = "\n".join(f"  {form.lecture}: {form.formula} = {form.numbers}" for form in found.mistake_forms)
        parts.append(
            f"The perceptron, started at zero, makes at most {whole(found.mistake_bound)} {noun} in all. "
            f"R = {shown(found.radius, up=True)} is the length of the longest row{bias}.\n{forms}"
        )
    parts.append(f"{found.capacity}.")
    return "\n\n".join(parts)


def details(found: Certificate) -> list[list[str]]:
    """Return each claim and what was proved of it, in short."""
    rows = [
        ["verdict", VERDICTS[found.separable]],
        ["largest margin", margin(found)],
        ["radius R", shown(found.radius, up=True)],
        ["mistake bound", mistakes(found)],
        *([f"  {form.lecture}", f"{form.formula} = {form.numbers}"] for form in found.mistake_forms),
        ["capacity", str(found.capacity)],
    ]
    if found.witness.points is not None:
        rows.append(["witness", _rows(found.witness.points.rows)])
    if found.n_contradictions:
        rows.append(["same numbers, both labels", f"rows {contradictions(found)}"])
    return rows


def mistakes(found: Certificate) -> str:
    """Return the mistake bound in short."""
    if math.isfinite(found.mistake_bound):
        return whole(found.mistake_bound)
    return "too large for a number" if found.separable == "strict" else "none"


def contradictions(found: Certificate) -> str:
    """Return the rows that contradict each other, or the first of them."""
    pairs = "; ".join(f"{a} and {b}" for a, b in found.contradictions[:_PAIRS])
    more = found.n_contradictions - _PAIRS
    return f"{pairs}; and {counted(more, 'pair')} more" if more > 0 else pairs


def _plane(found: Certificate) -> list[str]:
    plane = found.witness.plane
    if plane is None or found.separable not in ("strict", "weak"):
        return []
    how = "in whole numbers" if plane.whole else "in floating point with a bound on every rounding"
    which = "The plane in witness.plane"
    if len(plane.weights) <= _FEW and all(_printable(value) for value in (*plane.weights, plane.bias)):
        weights = ", ".join(_number(value) for value in plane.weights)
        which = f"The plane w.x + b = 0 with w = ({weights}), b = {_number(plane.bias)}"
    checked = f"all {counted(found.capacity.n, 'row')} were checked, {how}"
    if found.separable == "weak":
        return [f"{which} has no row on its wrong side and at least one off it: {checked}."]
    low = found.margin.lower
    by = f", at a distance of at least {shown(low, up=False)}" if low > 0 else ", by less than the smallest float"
    return [f"{which} has every row on its own side{by}: {checked}."]


def _points(found: Certificate) -> list[str]:
    points = found.witness.points
    if points is None:
        return []
    if points.whole:
        return [_zero_sum(found, points)]
    if math.isinf(found.margin.upper):
        return []
    some, high = _rows(points.rows), shown(found.margin.upper, up=True)
    if found.separable != "strict":
        return [f"The {some}, with their weights, show that no plane has a margin above {high}."]
    kind = "half the distance between the points" if found.fit_intercept else "the length of the vector"
    made = f"{some} makes" if len(points.rows) == 1 else f"the {some} make with their weights"
    text = f"No plane does better than {high}: {kind} that {made}."
    if found.margin.upper > _WIDE * found.margin.lower:
        text += " The bounds could not be brought closer together: time was up, or rounding stood in the way."
    return [text]


def _zero_sum(found: Certificate, points: Points) -> str:
    weights = "its positive whole weight"
    if len(points.rows) <= _FEW and all(_printable(value) for value in points.weights):
        weights = f"its weight ({', '.join(_number(value) for value in points.weights)})"
    bias = ", and so do their labels" if found.fit_intercept else ""
    if len(points.rows) == 1:
        text = f"The {_rows(points.rows)} is zero, so every plane through the origin holds it."
    else:
        text = (
            f"The {_rows(points.rows)}, each times its label (+1, -1) and {weights}, add up to exactly zero{bias}. "
            "On a plane that separates strictly the same sum would be positive, so there is none."
        )
    if found.separable == "none":
        text += (
            " A plane with no row on its wrong side would have to hold all of these rows; they span all others, so it "
            "would hold every row."
        )
    return text


def _printable(value: Number) -> bool:
    return isinstance(value, float) or value.bit_length() <= 64


def _number(value: Number) -> str:
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else digits(value)


def _rows(rows: tuple[int, ...]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    return f"{len(rows)} rows {', '.join(str(row) for row in rows[:_FEW])}" + (", ..." if len(rows) > _FEW else "")
