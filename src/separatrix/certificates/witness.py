"""Witnesses: a plane, and rows with weights. What they prove does not depend on who found them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from separatrix.certificates.fields import Number, count, digits, exactly, expect_fields, listed, number, numbers


@dataclass(frozen=True, repr=False)
class Plane:
    """The plane ``weights . x + bias = 0``; all its numbers are exact, whole numbers or floats."""

    weights: tuple[Number, ...]
    bias: Number

    @cached_property
    def kinds(self) -> set[type]:
        """Of which types its numbers are."""
        return {type(self.bias), *map(type, self.weights)}

    @property
    def whole(self) -> bool:
        """Whether all its numbers are whole numbers, so that it is checked without any rounding."""
        return self.kinds == {int}

    @property
    def in_integers(self) -> Plane:
        """The same plane in whole numbers. Finite floats are such times a power of two, which is left out here."""
        whole, _ = in_integers((*self.weights, self.bias))
        return Plane(tuple(whole[:-1]), whole[-1])

    def __repr__(self) -> str:
        return f"Plane(weights={_tuple(self.weights)}, bias={_short(self.bias)})"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"weights": [exactly(value) for value in self.weights], "bias": exactly(self.bias)}


@dataclass(frozen=True, repr=False)
class WeightedRows:
    """Rows and a positive weight for each, up to a common factor.

    Whole weights say that the rows' signed sum is exactly zero; floats bound how far apart the classes can be.
    """

    rows: tuple[int, ...]
    weights: tuple[Number, ...]

    @cached_property
    def kinds(self) -> set[type]:
        """Of which types the weights are."""
        return set(map(type, self.weights))

    @property
    def whole(self) -> bool:
        """Whether the weights are whole numbers."""
        return self.kinds == {int}

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights as parts of their sum."""
        total = sum(self.weights) if self.whole else math.fsum(self.weights)
        return tuple(float(weight / total) for weight in self.weights)

    def __repr__(self) -> str:
        return f"WeightedRows(rows={self.rows}, weights={_tuple(self.weights)})"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"rows": list(self.rows), "weights": [exactly(value) for value in self.weights]}


@dataclass(frozen=True)
class Witness:
    """What a certificate rests on.

    Attributes
    ----------
    plane : Plane or None
        Proves that the classes can be separated, strictly or weakly.
    points : WeightedRows or None
        Prove how far the classes are apart at most.
    """

    plane: Plane | None = None
    points: WeightedRows | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "plane": None if self.plane is None else self.plane.to_dict(),
            "points": None if self.points is None else self.points.to_dict(),
        }

    @classmethod
    def from_dict(cls, tree: Any) -> Witness:
        """Return the witness that :meth:`to_dict` wrote, or refuse what is none."""
        fields = expect_fields(tree, "witness", ("plane", "points"))
        plane = points = None
        if fields["plane"] is not None:
            parts = expect_fields(fields["plane"], "witness.plane", ("weights", "bias"))
            weights = numbers(parts["weights"], "witness.plane.weights")
            plane = Plane(weights, number(parts["bias"], "witness.plane.bias"))
        if fields["points"] is not None:
            parts = expect_fields(fields["points"], "witness.points", ("rows", "weights"))
            rows = [count(row, "witness.points.rows") for row in listed(parts["rows"], "witness.points.rows")]
            points = WeightedRows(tuple(rows), numbers(parts["weights"], "witness.points.weights"))
            if len(points.rows) != len(points.weights):
                raise ValueError("witness.points must have one weight for each row")
        return cls(plane, points)


def in_integers(values: Sequence[Number]) -> tuple[list[int], int]:
    """Return finite numbers times the power of two that makes all of them whole, and that power.

    Examples
    --------
    >>> in_integers([0.5, -3.0, 0.75])
    ([2, -12, 3], 4)
    """
    ratios = [value.as_integer_ratio() for value in values]
    common = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (common // denominator) for numerator, denominator in ratios], common


def _short(value: Number) -> str:
    return repr(value) if isinstance(value, float) else digits(value)


def _tuple(values: tuple[Number, ...]) -> str:
    return f"({', '.join(_short(value) for value in values)}{',' if len(values) == 1 else ''})"
