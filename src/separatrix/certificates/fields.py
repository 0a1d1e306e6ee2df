"""Reading certificates from JSON: every field is checked, nothing in it is run, and each refusal names the field."""

from __future__ import annotations

import json
import math
import re
from typing import Any

Number = int | float

VERSION = 1
DATA, CLASSES, MODEL = (
    "separatrix certificate",
    "separatrix certificates of several classes",
    "separatrix certificate of a model",
)

_LONGEST_DECIMAL = 4096  # bits
_WHOLE = re.compile(r"-?(0x[0-9a-f]{1,10000000}|[0-9]{1,1300})", re.ASCII)


def written(found: Any) -> str:
    """Return what was found as JSON text."""
    try:
        return json.dumps(found, indent=1, allow_nan=False)
    except TypeError as problem:
        raise TypeError(f"labels must be text or numbers to be written as JSON: {problem}") from None


def parse(text: str) -> Any:
    """Return what the JSON text holds, or say where it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the certificate is nested too deeply") from None
    except json.JSONDecodeError as problem:
        raise ValueError(f"the certificate is not JSON: {problem.msg} in line {problem.lineno}") from None
    except UnicodeDecodeError:
        raise ValueError("the certificate is not text in UTF-8") from None
    except _NoNumberError:
        raise ValueError("the certificate is not JSON: it holds a NaN or an infinity") from None
    except ValueError:
        raise ValueError("the certificate holds a number with too many digits") from None


class _NoNumberError(Exception):
    pass


def _refuse_constant(name: str) -> None:
    raise _NoNumberError(name)


def expect_format(found: Any, name: str) -> None:
    """Refuse what does not say that it is a certificate of this kind and of a version that is known."""
    kind = found.get("format") if isinstance(found, dict) else None
    if kind == MODEL != name:
        raise ValueError("this is the certificate of a model, which says nothing without it; certify the data instead")
    if kind != name:
        raise ValueError(f"this is no {name}: its field 'format' does not say so")
    if found.get("version") != VERSION:
        raise ValueError(f"this {name} is of version {found.get('version')!r:.60}; version {VERSION} can be read")


def expect_fields(found: Any, what: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the dictionary, or say which of its fields is missing or not known."""
    if not isinstance(found, dict):
        raise ValueError(f"{what} must be an object with the fields {', '.join(names)}; found {found!r:.60}")
    for name in names:
        if name not in found:
            raise ValueError(f"{what} has no field {name!r}")
    for name in found:
        if name not in names:
            raise ValueError(f"{what} has a field {str(name)!r:.60} that is not known; known are {', '.join(names)}")
    return found


def listed(found: Any, what: str) -> list[Any]:
    """Return the list, or refuse what is none."""
    if not isinstance(found, list):
        raise ValueError(f"{what} must be a list; found {found!r:.60}")
    return found


def real(found: Any, what: str, *, infinite: bool = False) -> float:
    """Return a number that is not negative; None for infinity, where that is allowed."""
    if found is None and infinite:
        return math.inf
    if isinstance(found, bool) or not isinstance(found, int | float) or not found >= 0:
        also = ", or null for infinity" if infinite else ""
        raise ValueError(f"{what} must be a number that is not negative{also}; found {found!r:.60}")
    try:
        return float(found)
    except OverflowError:
        raise ValueError(f"{what} is too large for a number") from None


def count(found: Any, what: str) -> int:
    """Return a whole number that is not negative."""
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**62:
        raise ValueError(f"{what} must be a whole number that is not negative; found {found!r:.60}")
    return found


def label(found: Any, what: str) -> Any:
    """Return a label."""
    if found is None or not isinstance(found, str | int | float | bool):
        raise ValueError(f"{what} must be a label: text, a number, true or false; found {found!r:.60}")
    return found


def finite(value: float) -> float | None:
    """Return the number as JSON can hold it: None for infinity."""
    return value if math.isfinite(value) else None


def number(found: Any, what: str) -> Number:
    """Return an exact number: a whole number written as text, or a float."""
    if isinstance(found, str):
        if not _WHOLE.fullmatch(found):
            raise ValueError(f"{what} must hold whole numbers as text, or floats; found {found!r:.60}")
        return int(found, 16 if "x" in found else 10)
    value = real(abs(found), what) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{what} must hold finite numbers; found {found!r:.60}")
    return math.copysign(value, found)


def numbers(found: Any, what: str) -> tuple[Number, ...]:
    """Return exact numbers, all whole or all floats."""
    values = tuple(number(value, what) for value in listed(found, what))
    if len({type(value) for value in values}) > 1:
        raise ValueError(f"{what} must hold whole numbers as text, or floats, but not both")
    return values


def exactly(value: Number) -> Any:
    """Return an exact number as JSON can hold it.

    Whole numbers become text, since many readers round large ones: decimal, or hexadecimal where Python limits how many
    decimals it reads.
    """
    return value if isinstance(value, float) else digits(value)


def digits(value: int) -> str:
    """Return a whole number as text of any length."""
    return str(value) if value.bit_length() <= _LONGEST_DECIMAL else hex(value)
