"""What the studio's page begins with and sends: points of the plane with two classes, and estimators that it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ESTIMATORS = ("Perceptron", "Neuron", "PassiveAggressive", "AROW", "LinearSVM", "KernelPerceptron", "KernelSVM")
MOST_POINTS = 20_000
LARGEST = 1e9  # of a coordinate


class Points(NamedTuple):
    """Rows of two numbers, and labels of -1 and 1."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]


def points_of(asked: Any) -> Points:
    """Return the points of a request: ``x`` holds two numbers for each, ``codes`` 0 or 1.

    Examples
    --------
    >>> points_of({"x": [0, 0, 1, 1], "codes": [0, 1]}).y.tolist()
    [-1, 1]
    """
    try:
        x = np.asarray(asked["x"], dtype=np.float64)
        codes = np.asarray(asked["codes"])
    except (TypeError, KeyError, ValueError):
        raise ValueError("the points must be given as x, two numbers for each, and codes, 0 or 1") from None
    if x.ndim != 1 or codes.ndim != 1 or len(x) != 2 * len(codes) or not 1 <= len(codes) <= MOST_POINTS:
        raise ValueError(f"there must be 1 to {MOST_POINTS:,} points, with two numbers and a code each")
    if not (np.abs(x) <= LARGEST).all() or codes.dtype.kind not in "iu" or not np.isin(codes, (0, 1)).all():
        raise ValueError(f"coordinates must be at most {LARGEST:g} in size, and codes 0 or 1")
    return Points(x.reshape(-1, 2), np.where(codes == 1, 1, -1))


def state_of(X: Any, labels: Sequence[Any], names: Sequence[str], positive: Any = None) -> dict[str, Any]:
    """Return what the page begins with, of rows with two columns and labels of two classes or more.

    Class 1 is ``positive``, by default the last label; class 0 is the other label, or all others.

    Examples
    --------
    >>> state_of([[0, 1], [2, 3]], ["no", "yes"], ["a", "b"])
    {'x': [0.0, 1.0, 2.0, 3.0], 'codes': [0, 1], 'names': ['a', 'b'], 'labels': ['no', 'yes']}
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"the studio shows two columns of numbers; found shape {rows.shape}")
    if not 1 <= len(rows) <= MOST_POINTS:
        raise ValueError(f"the studio shows 1 to {MOST_POINTS:,} points; found {len(rows):,}")
    if not (np.abs(rows) <= LARGEST).all():
        raise ValueError(f"the studio shows numbers of at most {LARGEST:g}: scale the columns first")
    known = sorted({str(label) for label in labels}, key=_in_order)
    if len(known) < 2:
        raise ValueError(f"labels of two classes are needed; found {', '.join(known)} alone")
    one = known[-1] if positive is None else str(positive)
    if one not in known:
        raise ValueError(f"there is no label {one}; the labels are {', '.join(known[:10])}")
    others = [label for label in known if label != one]
    return {
        "x": rows.ravel().tolist(),
        "codes": [int(str(label) == one) for label in labels],
        "names": [str(name) for name in names],
        "labels": [others[0] if len(others) == 1 else f"not {one}", one],
    }


def _in_order(label: str) -> tuple[int, float, str]:
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label
