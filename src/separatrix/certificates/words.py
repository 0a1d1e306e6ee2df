"""A certificate as text: verdict, table and proof, with bounds rounded so that the printed numbers are true too."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from separatrix.certificates.fields import Number, digits
from separatrix.certificates.witness import WeightedRows
from separatrix.text import times

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


def margin(certificate: Certificate) -> str:
    """Return the bracket of the largest margin in short."""
    if certificate.margin.upper == 0:
        return "none"
    return f"{shown(certificate.margin.lower, up=False)} to {shown(certificate.margin.upper, up=True)}"


def headline(certificate: Certificate) -> str:
    """Return the verdict in a sentence, without its full stop."""
    names, (low, high) = certificate.names, certificate.margin
    if certificate.separable == "strict":
        return (
            f"{names}: strictly separable; the largest margin is between {shown(low, up=False)} and "
            f"{shown(high, up=True)}"
        )
    if certificate.separable == "weak":
        return f"{names}: weakly separable; some plane has no row on its wrong side, but no plane has a positive margin"
    if certificate.separable == "none":
        return f"{names}: not separable, not even weakly"
    if high == 0:
        return f"{names}: not strictly separable; weak separability is not decided"
    part = f" ({high / certificate.radius:.2g} of the radius)" if certificate.radius > 0 else ""
    return f"{names}: not decided; no plane has a margin above {shown(high, up=True)}{part}"


def explanation(certificate: Certificate) -> str:
    """Return the proof in words, with its numbers."""
    parts = [f"{headline(certificate)}.", *_plane(certificate), *_points(certificate)]
    if certificate.n_contradictions:
        parts.append(f"Identical rows with different labels: {contradictions(certificate)}.")
    if certificate.mistake_forms:
        bias = ", with a coordinate 1 for the bias" if certificate.fit_intercept else ""
        noun = "mistake" if math.floor(certificate.mistake_bound) == 1 else "mistakes"
        forms = "\n".join(f"  {form.lecture}: {form.formula} = {form.numbers}" for form in certificate.mistake_forms)
        parts.append(
            f"The perceptron, started at zero, makes at most {whole(certificate.mistake_bound)} {noun}. "
            f"R = {shown(certificate.radius, up=True)} is the length of the longest row{bias}.\n{forms}"
        )
    parts.append(f"{certificate.capacity}.")
    return "\n\n".join(parts)


def details(certificate: Certificate) -> list[list[str]]:
    """Return each claim and what was proved of it, in short."""
    rows = [
        ["verdict", VERDICTS[certificate.separable]],
        ["largest margin", margin(certificate)],
        ["radius R", shown(certificate.radius, up=True)],
        ["mistake bound", mistakes(certificate)],
        *([f"  {form.lecture}", f"{form.formula} = {form.numbers}"] for form in certificate.mistake_forms),
        ["capacity", str(certificate.capacity)],
    ]
    if certificate.witness.points is not None:
        rows.append(["witness", _rows(certificate.witness.points.rows)])
    if certificate.n_contradictions:
        rows.append(["identical rows, different labels", f"rows {contradictions(certificate)}"])
    return rows


def mistakes(certificate: Certificate) -> str:
    """Return the mistake bound in short."""
    if math.isfinite(certificate.mistake_bound):
        return whole(certificate.mistake_bound)
    return "too large for a number" if certificate.separable == "strict" else "none"


def contradictions(certificate: Certificate) -> str:
    """Return the rows that contradict each other, or the first of them."""
    pairs = "; ".join(f"{a} and {b}" for a, b in certificate.contradictions[:_PAIRS])
    more = certificate.n_contradictions - _PAIRS
    return f"{pairs}; and {times(more, 'pair')} more" if more > 0 else pairs


def _plane(certificate: Certificate) -> list[str]:
    plane = certificate.witness.plane
    if plane is None or certificate.separable not in ("strict", "weak"):
        return []
    how = "in integer arithmetic" if plane.whole else "in floating point with bounds on all rounding errors"
    which = "The plane in witness.plane"
    if len(plane.weights) <= _FEW and all(_printable(value) for value in (*plane.weights, plane.bias)):
        weights = ", ".join(_number(value) for value in plane.weights)
        which = f"The plane w.x + b = 0 with w = ({weights}), b = {_number(plane.bias)}"
    checked = f"all {times(certificate.capacity.n, 'row')} were checked, {how}"
    if certificate.separable == "weak":
        return [f"{which} has no row on its wrong side and at least one off it: {checked}."]
    low = certificate.margin.lower
    by = f", at a distance of at least {shown(low, up=False)}" if low > 0 else ", by less than the smallest float"
    return [f"{which} has every row on its correct side{by}: {checked}."]


def _points(certificate: Certificate) -> list[str]:
    points = certificate.witness.points
    if points is None:
        return []
    if points.whole:
        return [_zero_sum(certificate, points)]
    if math.isinf(certificate.margin.upper):
        return []
    some, high = _rows(points.rows), shown(certificate.margin.upper, up=True)
    if certificate.separable != "strict":
        return [f"The {some}, with their weights, show that no plane has a margin above {high}."]
    if certificate.fit_intercept:
        what = f"half the distance between the two classes' weighted means of the {some}"
    else:
        what = f"the length of {some}" if len(points.rows) == 1 else f"the length of the weighted mean of the {some}"
    text = f"No plane has a margin above {high}: {what}."
    if certificate.margin.upper > _WIDE * certificate.margin.lower:
        text += " The bounds could not be brought closer: the time limit or rounding ended the search."
    return [text]


def _zero_sum(certificate: Certificate, points: WeightedRows) -> str:
    weights = "its positive integer weight"
    if len(points.rows) <= _FEW and all(_printable(value) for value in points.weights):
        weights = f"its weight ({', '.join(_number(value) for value in points.weights)})"
    bias = ", and so do their labels" if certificate.fit_intercept else ""
    if len(points.rows) == 1:
        text = f"The {_rows(points.rows)} is zero, so it lies on every plane through the origin."
    else:
        text = (
            f"The {_rows(points.rows)}, each times its label (+1, -1) and {weights}, add up to exactly zero{bias}. "
            "On a plane that separates strictly the same sum would be positive, so there is none."
        )
    if certificate.separable == "none":
        text += (
            " A plane with no row on its wrong side would have to contain all of these rows; they span all others, so "
            "it would contain every row."
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
