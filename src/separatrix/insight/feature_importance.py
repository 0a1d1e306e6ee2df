"""What a weight means (Lecture 001): how much the activation changes with the feature, and when that ranks features.

A weight is the slope of the activation along its feature. Features of similar size can be ranked by the size of their
weights; of unlike size they cannot, since measuring a feature in other units changes its weight and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.moments import SAMPLE, Moments
from separatrix.geometry.rows import Rows

_ALIKE = 10.0  # largest over smallest spread that still counts as similar size


class Feature(NamedTuple):
    """One feature of a model: its weight, its spread in the data, and their product, which has no units."""

    name: str
    weight: float
    spread: float
    effect: float


class Importance:
    """Features ranked by ``|weight|``, largest first, with a sentence about whether that ranking means anything.

    Attributes
    ----------
    comparable : bool
        True when the features are of similar size.
    message : str
        The sentence.
    """

    def __init__(self, features: list[Feature]) -> None:
        self._features = sorted(features, key=lambda feature: -abs(feature.weight))
        moving = [feature for feature in features if feature.spread > 0]
        if not moving:
            self.comparable = True
            self.message = "No feature varies in the data, so no weight matters."
            return
        widest = max(moving, key=lambda feature: feature.spread)
        narrowest = min(moving, key=lambda feature: feature.spread)
        ratio = widest.spread / narrowest.spread
        self.comparable = ratio <= _ALIKE
        if self.comparable:
            self.message = (
                f"The features are of similar size (spreads within a factor of {ratio:.2g}), so a larger weight means "
                "a more important feature."
            )
        else:
            self.message = (
                f"This ranking is meaningless: the features are of unlike size ({widest.name!r} spreads "
                f"{ratio:.3g} times as wide as {narrowest.name!r}). Scale them before fitting, or compare the effects "
                "(weight times spread) instead."
            )

    def __iter__(self) -> Iterator[Feature]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __getitem__(self, index: int) -> Feature:
        return self._features[index]

    def __str__(self) -> str:
        shown = self._features[:20]
        width = max(len("feature"), *(len(feature.name) for feature in shown))
        lines = [f"{'feature':<{width}}  {'weight':>12}  {'spread':>12}  {'effect':>12}"]
        lines += [f"{f.name:<{width}}  {f.weight:>12.6g}  {f.spread:>12.6g}  {f.effect:>12.6g}" for f in shown]
        if len(self) > len(shown):
            lines.append(f"... and {len(self) - len(shown)} more")
        return "\n".join([*lines, self.message])

    __repr__ = __str__


def importance(model: Any, X: Any = None, *, label: Any = None) -> Importance:
    """Rank the features of a fitted linear model by the size of their weights.

    Parameters
    ----------
    model : estimator
        Fitted, with ``coef_``.
    X : array, sparse matrix or frame, optional
        Data to take the features' spreads from, all rows of it; by default a sample of at most 256 rows of each
        ``fit`` or ``partial_fit``, evenly spread.
    label : optional
        The class whose weights are meant; needed with more than two classes.

    Returns
    -------
    Importance
        Ranked features; its message says when unlike scales make the ranking meaningless.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0.0, 1000.0], [1.0, 3000.0], [0.1, 2500.0]], [0, 1, 0])
    >>> importance(model).comparable
    False
    """
    if not hasattr(model, "coef_"):
        raise TypeError(f"importance needs a fitted linear model with coef_; found {type(model).__name__}")
    weights = _weights(model, label)
    if X is not None:
        rows = Rows(X)
        rows.check_finite()
        if rows.shape[1] != len(weights):
            raise ValueError(f"X has {rows.shape[1]} columns, but the model has {len(weights)} weights")
        whole = Moments(len(weights))
        for begin in range(0, rows.shape[0], SAMPLE):
            whole.add(rows.values[begin : begin + SAMPLE])
        spread = whole.deviation
    elif hasattr(model, "_spread"):
        spread = model._spread.deviation
    else:
        raise ValueError("this model does not know its features' spreads: give the data as importance(model, X)")
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
    return Importance(
        [
            Feature(str(name), float(weight), float(s), float(weight * s))
            for name, weight, s in zip(names, weights, spread, strict=True)
        ]
    )


def _weights(model: Any, label: Any) -> Any:
    coef = np.atleast_2d(model.coef_)
    classes = np.asarray(getattr(model, "classes_", []))
    if label is None:
        if len(coef) > 1:
            raise ValueError(f"the model has weights for {len(coef)} classes: name one with label=")
        return coef[0]
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise ValueError(f"the model knows no class {label!r}; it knows {classes.tolist()}")
    if len(coef) > 1:
        return coef[found[0]]
    return coef[0] if found[0] == len(classes) - 1 else -coef[0]
