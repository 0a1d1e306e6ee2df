"""Weights of classes, as ``--class-weight`` names them; the estimators multiply sample weights by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from separatrix.text import listed

BALANCED = "balanced"
_FORMS = "--class-weight must be balanced, or weights by label, as in yes=5,no=1"


def parse_class_weight(text: str) -> dict[str, float]:
    """Return the weight of each class that the text names, by label; empty for ``balanced``.

    Examples
    --------
    >>> parse_class_weight("yes=5,no=1"), parse_class_weight("balanced")
    ({'yes': 5.0, 'no': 1.0}, {})
    >>> parse_class_weight("a, b=2,c=1")  # a label may hold commas
    {'a, b': 2.0, 'c': 1.0}
    """
    if text == BALANCED:
        return {}
    weights: dict[str, float] = {}
    waiting: list[str] = []
    for part in text.split(","):
        label, sign, number = ",".join([*waiting, part]).rpartition("=")
        try:
            weight = float(number) if sign else None
        except ValueError:
            weight = None
        if weight is None:
            waiting.append(part)
            continue
        label, waiting = label.strip(), []
        if not (weight > 0 and math.isfinite(weight)):
            raise ValueError(f"--class-weight: the weight of {label!r} must be a positive number; found {weight:g}")
        if label in weights:
            raise ValueError(f"--class-weight names {label!r} twice")
        weights[label] = weight
    if waiting or not weights:
        raise ValueError(f"{_FORMS}; found {text!r}")
    return weights


def class_weight_of(text: str, classes: Sequence[Any], counts: NDArray[Any] | None = None) -> Any:
    """Return the parameter ``class_weight`` of an estimator, or say which label is no class.

    Parameters
    ----------
    text : str
        As ``--class-weight`` has it.
    classes : sequence
        The labels.
    counts : array, optional
        How many training rows each class has, for an estimator that never sees all of them: "balanced" becomes the
        weights that scikit-learn's ``compute_class_weight`` gives.

    Examples
    --------
    >>> import numpy as np
    >>> class_weight_of("1=5", [0, 1])
    {0: 1.0, 1: 5.0}
    >>> class_weight_of("balanced", ["no", "yes"], np.array([30, 10]))
    {'no': 0.6666666666666666, 'yes': 2.0}
    """
    given = parse_class_weight(text)
    if not given:
        if counts is None:
            return BALANCED
        weights = counts.sum() / (len(classes) * counts)
        return dict(zip(classes, weights.tolist(), strict=True))
    labels = {str(label): label for label in classes}
    for name in given:
        if name not in labels:
            raise ValueError(f"--class-weight names {name!r}, which is no class; the classes are {listed(labels)}")
    return {label: given.get(name, 1.0) for name, label in labels.items()}
