"""Reading certificates from JSON: every field is checked, nothing in it is run, and each refusal names the field."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from separatrix.text import read_json

Number = int | float

VERSION = 1
DATA, CLASSES, MODEL, JOINT = (
    "separatrix certificate",
    "separatrix certificates of several classes",
    "separatrix certificate of a model",
    "separatrix certificate of a joint model",
)

_LONGEST_DECIMAL = 4096  # bits
_WHOLE = re.compile(r"-?(0x[0-9a-f]{1,10000000}|[0-9]{1,1300})", re.ASCII)


def written(value: Any) -> str:
    """Return the value as JSON text."""
    try:
        return json.dumps(value, indent=1, allow_nan=False)
    except TypeError as problem:
        raise TypeError(f"labels must be text or numbers to be saved as JSON: {problem}") from None


def parse(text: str) -> Any:
    """Return what the JSON text holds, or say why it is none that can be read."""
    return read_json(text, "the certificate")


def expect_format(value: Any, name: str) -> None:
    """Refuse what does not say that it is a certificate of this kind and of a version that is known."""
    kind = value.get("format") if isinstance(value, dict) else None
    if kind == MODEL != name:
        raise ValueError(
            "this is a certificate of a model, which cannot be verified without it; certify the data instead"
        )
    if kind != name:
        raise ValueError(f"not a {name}: its field 'format' is missing or different")
    if type(value.get("version")) is not int or value["version"] != VERSION:
        raise ValueError(f"this {name} has version {value.get('version')!r:.60}; only version {VERSION} can be read")


def expect_fields(value: Any, what: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the dictionary, or say which of its fields is missing or not known."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object with the fields {', '.join(names)}; found {value!r:.60}")
    for name in names:
        if name not in value:
            raise ValueError(f"{what} has no field {name!r}")
    for name in value:
        if name not in names:
            raise ValueError(f"{what} has an unknown field {str(name)!r:.60}; its fields are {', '.join(names)}")
    return value


def listed(value: Any, what: str) -> list[Any]:
    """Return the list, or refuse what is none."""
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list; found {value!r:.60}")
    return value


def real(value: Any, what: str, *, infinite: bool = False) -> float:
    """Return a number that is not negative; None for infinity, where that is allowed."""
    if value is None and infinite:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        also = ", or null for infinity" if infinite else ""
        raise ValueError(f"{what} must be a nonnegative number{also}; found {value!r:.60}")
    try:
        size = float(value) + 0.0  # no minus zero
    except OverflowError:
        raise ValueError(f"{what} is too large for a number") from None
    if size != value:
        raise ValueError(f"{what} must be a number that a 64-bit float holds; found {value!r:.60}")
    return size


def count(value: Any, what: str) -> int:
    """Return a whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        raise ValueError(f"{what} must be a nonnegative integer; found {value!r:.60}")
    return value


def label(value: Any, what: str) -> Any:
    """Return a label."""
    if value is None or not isinstance(value, str | int | float | bool):
        raise ValueError(f"{what} must be a label: text, a number, true or false; found {value!r:.60}")
    return value


def finite(value: float) -> float | None:
    """Return the number as JSON can hold it: None for infinity."""
    return value if math.isfinite(value) else None


def number(value: Any, what: str) -> Number:
    """Return an exact number: a whole number written as text, or a float."""
    if isinstance(value, str):
        if not _WHOLE.fullmatch(value):
            raise ValueError(f"{what} must hold integers as text, or floats; found {value!r:.60}")
        return int(value, 16 if "x" in value else 10)
    size = real(abs(value), what) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not math.isfinite(size):
        raise ValueError(f"{what} must hold finite numbers; found {value!r:.60}")
    return math.copysign(size, value)


def numbers(values: Any, what: str) -> tuple[Number, ...]:
    """Return exact numbers, all whole or all floats."""
    exact = tuple(number(value, what) for value in listed(values, what))
    if len({type(value) for value in exact}) > 1:
        raise ValueError(f"{what} must hold integers as text, or floats, but not both")
    return exact


def exactly(value: Number) -> Any:
    """Return an exact number as JSON can hold it.

    Whole numbers become text, since many readers round large ones: decimal, or hexadecimal where Python limits how many
    decimals it reads.
    """
    return value if isinstance(value, float) else digits(value)


def digits(value: int) -> str:
    """Return a whole number as text of any length."""
    return str(value) if value.bit_length() <= _LONGEST_DECIMAL else hex(value)
