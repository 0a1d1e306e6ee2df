"""The lectures' examples by name, the Boolean functions, and separable data with a chosen margin.

``load(name)`` gives X and y as numbers; ``example(name)`` also gives the start, learning rate and boundary with which
the lecture runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats


@dataclass(frozen=True)
class Example:
    """A data set as a lecture uses it. ``options`` are those of ``sx.trace``; ``view`` those of its tables."""

    name: str
    about: str
    X: tuple[tuple[Any, ...], ...]
    y: tuple[int, ...]
    options: dict[str, Any]
    view: dict[str, Any]


def _half(twice: int) -> Fraction | int:
    return twice // 2 if twice % 2 == 0 else Fraction(twice, 2)


_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))

_EXAMPLES = {
    example.name: example
    for example in (
        Example(
            "lecture-000",
            "Lecture 000: six points, start (1, 0, 0), bias first, negative patterns sign-flipped",
            ((1, 1), (1, -1), (0, -1), (-1, -1), (-1, 1), (0, 1)),
            (1, 1, 1, -1, -1, -1),
            {"start": ((0, 0), 1)},
            {"augmented": True, "flipped": True},
        ),
        Example(
            "lecture-001",
            "Lecture 001: four points, start w = (1, 0), b = 0",
            ((1, 1), (_half(1), -1), (-1, -1), (-1, 1)),
            (1, -1, -1, -1),
            {"start": ((1, 0), 0)},
            {},
        ),
        Example(
            "lecture-004",
            "Lecture 004: five points with labels 0 and 1, eta = 1/10, a tie does not fire",
            ((3, 1), (2, _half(5)), (2, _half(3)), (4, 3), (3, 3)),
            (1, 0, 1, 1, 0),
            {"eta0": Fraction(1, 10), "boundary": "negative"},
            {"labels": "01", "threshold": True, "decimals": True},
        ),
        Example("and", "Boolean AND: separable", _CORNERS, (0, 0, 0, 1), {}, {}),
        Example("or", "Boolean OR: separable", _CORNERS, (0, 1, 1, 1), {}, {}),
        Example("xor", "Boolean XOR: no line separates it", _CORNERS, (0, 1, 1, 0), {}, {}),
    )
}


def names() -> list[str]:
    """Return the names that :func:`load` and :func:`example` accept.

    Examples
    --------
    >>> names()
    ['lecture-000', 'lecture-001', 'lecture-004', 'and', 'or', 'xor']
    """
    return list(_EXAMPLES)


def example(name: str) -> Example:
    """Return the example of this name, with exact numbers."""
    if name.lower() not in _EXAMPLES:
        raise ValueError(f"unknown data set {name!r}; available: {', '.join(_EXAMPLES)}")
    return _EXAMPLES[name.lower()]


def load(name: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return X and y of the example of this name.

    Examples
    --------
    >>> X, y = load("and")
    >>> X.tolist(), y.tolist()
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 0, 0, 1])
    """
    data = example(name)
    return np.array(data.X, dtype=np.float64), np.array(data.y)


# Palmer penguins: Gorman, Williams and Fraser (2014), PLoS ONE 9(3) e90081; Horst, Hill and Gorman (2020); CC0.
_FILES = {
    "penguins": "Palmer penguins: 344 birds of three species, four measures, island, sex, year; some values missing"
}


def files() -> list[str]:
    """Return the names of the built-in tables.

    Examples
    --------
    >>> files(), path("penguins").name
    (['penguins'], 'penguins.csv')
    """
    return list(_FILES)


def path(name: str) -> Path:
    """Return the path of the CSV file of a built-in table."""
    if name.lower() not in _FILES:
        raise ValueError(f"unknown built-in table {name!r}; available: {', '.join(_FILES)}")
    return Path(__file__).with_name(f"{name.lower()}.csv")


def about() -> dict[str, str]:
    """Return a description of each built-in data set, by name."""
    return {**_FILES, **{name: each.about for name, each in _EXAMPLES.items()}}


def as_csv(name: str) -> str:
    """Return a built-in data set as the text of a CSV file.

    Examples
    --------
    >>> print(as_csv("or"), end="")
    x1,x2,label
    0,0,0
    0,1,1
    1,0,1
    1,1,1
    """
    if name.lower() in _FILES:
        return path(name).read_text(encoding="utf-8")
    if name.lower() not in _EXAMPLES:
        raise ValueError(f"unknown data set {name!r}; available: {', '.join(about())}")
    data = example(name)
    head = [f"x{place + 1}" for place in range(len(data.X[0]))]
    rows = [[*(f"{float(value):g}" for value in row), str(label)] for row, label in zip(data.X, data.y, strict=True)]
    return "\n".join(",".join(cells) for cells in [[*head, "label"], *rows]) + "\n"


class Separable(NamedTuple):
    """Separable data and the proof of it.

    ``weights`` and ``bias`` are of length 1 together (bias coordinate 1 included) and every example has margin at
    least ``margin`` from them; ``radius`` is the length of the longest example, bias coordinate included.
    """

    X: Floats
    y: NDArray[np.int64]
    weights: Floats
    bias: float
    margin: float
    radius: float

    @property
    def bound(self) -> float:
        """The most updates that a perceptron from zero can make, ``(R / gamma)^2``."""
        return (self.radius / self.margin) ** 2


def separable(n: int = 100, dimension: int = 2, *, margin: float = 0.1, random_state: int | None = None) -> Separable:
    """Return ``n`` random examples in the cube [-1, 1]^dimension that a plane separates with at least this margin.

    Examples
    --------
    >>> data = separable(50, 3, margin=0.2, random_state=0)
    >>> bool((data.y * (data.X @ data.weights + data.bias) >= 0.2).all())
    True
    """
    if n < 2 or dimension < 1:
        raise ValueError(f"separable data need at least 2 examples and 1 dimension; found {n} and {dimension}")
    if not 0 < margin < 0.5:
        raise ValueError(f"margin must be between 0 and 0.5; found {margin!r}")
    rng = np.random.default_rng(random_state)
    plane = np.append(rng.standard_normal(dimension), 0.0)
    plane /= np.linalg.norm(plane)
    plane[-1] = rng.uniform(-0.3, 0.3) * np.abs(plane[:-1]).max()
    plane /= np.linalg.norm(plane)
    weights, bias = plane[:-1], float(plane[-1])
    wanted = {1: (n + 1) // 2, -1: n // 2}
    drawn_by_sign: dict[int, list[Floats]] = {1: [], -1: []}
    for _ in range(10_000):
        drawn = rng.uniform(-1.0, 1.0, (4 * n, dimension))
        activations = drawn @ weights + bias
        for sign, parts in drawn_by_sign.items():
            missing = wanted[sign] - sum(len(part) for part in parts)
            parts.append(drawn[sign * activations >= margin][: max(missing, 0)])
        if all(sum(len(part) for part in parts) == wanted[sign] for sign, parts in drawn_by_sign.items()):
            break
    else:
        raise ValueError(f"no examples with margin {margin} found in {dimension} dimensions: try a smaller margin")
    X = np.empty((n, dimension))
    X[0::2], X[1::2] = np.concatenate(drawn_by_sign[1]), np.concatenate(drawn_by_sign[-1])
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    radius = float(np.sqrt((X * X).sum(axis=1).max() + 1.0))
    return Separable(X, y.astype(np.int64), weights, bias, margin, radius)
