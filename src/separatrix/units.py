"""Seconds and bytes as people read them."""

from __future__ import annotations


def seconds(value: float) -> str:
    """Return seconds with two or three digits, in the unit that suits them.

    Examples
    --------
    >>> [seconds(value) for value in (0.0, 3.2e-8, 4.567e-6, 0.0123, 2.5, 123.4)]
    ['0 ns', '32 ns', '4.6 µs', '12 ms', '2.5 s', '123 s']
    """
    return _in_units(value, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")), 1e-9, "ns")


def size(value: float) -> str:
    """Return bytes with two or three digits, in the unit that suits them.

    Examples
    --------
    >>> [size(value) for value in (0, 812, 13_736, 5_000_000, 2_345_000_000)]
    ['0 B', '812 B', '14 kB', '5.0 MB', '2.3 GB']
    """
    return _in_units(value, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")), 1.0, "B")


def _in_units(value: float, units: tuple[tuple[float, str], ...], least: float, name: str) -> str:
    factor, unit = next(((factor, unit) for factor, unit in units if value >= 0.995 * factor), (least, name))
    amount = value / factor
    whole = amount >= 9.95 or amount == round(amount) == 0 or unit == "B"
    return f"{amount:.0f} {unit}" if whole else f"{amount:.1f} {unit}"
