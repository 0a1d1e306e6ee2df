"""Feature importance (Lecture 001): what a weight means, and what ranks the features.

A weight is the slope of the activation along its feature. Features with similar standard deviations can be
ranked by the size of their weights. Others cannot: measuring a feature in other units changes its weight only. The
effect, weight times standard deviation, ranks both, as in the summaries and reports of table models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.moments import SAMPLE, Moments
from separatrix.geometry.rows import Rows

_ALIKE = 10.0  # largest over smallest standard deviation that still counts as similar


class FeatureWeight(NamedTuple):
    """One feature: its weight, its standard deviation in the data, and their product, which has no units."""

    name: str
    weight: float
    std: float
    effect: float


class Importance:
    """Features ranked by ``|effect|``, largest first, with a message about whether the weights alone rank them.

    Attributes
    ----------
    comparable : bool
        True when the features have similar standard deviations, so that weights can be compared.
    message : str
        Whether weights can be compared, and why.
    """

    def __init__(self, features: list[FeatureWeight]) -> None:
        self._features = sorted(features, key=lambda feature: -abs(feature.effect))
        moving = [feature for feature in features if feature.std > 0]
        if not moving:
            self.comparable = True
            self.message = "All features are constant in the data, so no weight has an effect."
            return
        widest = max(moving, key=lambda feature: feature.std)
        narrowest = min(moving, key=lambda feature: feature.std)
        ratio = widest.std / narrowest.std
        self.comparable = ratio <= _ALIKE
        if self.comparable:
            self.message = (
                f"The features have similar standard deviations (within a factor of {ratio:.2g}), so a larger weight "
                "means a more important feature."
            )
        else:
            self.message = (
                "Ranked by effect (weight times standard deviation). The weights cannot be compared: the standard "
                f"deviation of {widest.name!r} is {ratio:.3g} times that of {narrowest.name!r}."
            )

    def __iter__(self) -> Iterator[FeatureWeight]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __getitem__(self, index: int) -> FeatureWeight:
        return self._features[index]

    def __str__(self) -> str:
        shown = self._features[:20]
        width = max(len("feature"), *(len(feature.name) for feature in shown))
        lines = [f"{'feature':<{width}}  {'weight':>12}  {'std':>12}  {'effect':>12}"]
        lines += [f"{f.name:<{width}}  {f.weight:>12.6g}  {f.std:>12.6g}  {f.effect:>12.6g}" for f in shown]
        if len(self) > len(shown):
            lines.append(f"... and {len(self) - len(shown)} more")
        return "\n".join([*lines, self.message])

    __repr__ = __str__


def importance(model: Any, X: Any = None, *, label: Any = None) -> Importance:
    """Rank the features of a fitted linear model by their effect: weight times standard deviation.

    Parameters
    ----------
    model : estimator
        Fitted, with ``coef_``.
    X : array, sparse matrix or frame, optional
        Data for the standard deviations, all rows of it; by default an evenly spaced sample of at most 256 rows of
        each ``fit`` or ``partial_fit``.
    label : optional
        The class whose weights are meant; needed with more than two classes.

    Returns
    -------
    Importance
        Ranked features; its message says whether the weights alone can be compared.

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
        deviations = whole.deviation
    elif hasattr(model, "_spread"):
        deviations = model._spread.deviation
    else:
        raise ValueError("this model has no standard deviations of its features: pass the data, importance(model, X)")
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
    return Importance(
        [
            FeatureWeight(str(name), float(weight), float(std), float(weight * std))
            for name, weight, std in zip(names, weights, deviations, strict=True)
        ]
    )


def _weights(model: Any, label: Any) -> Any:
    coef = np.atleast_2d(model.coef_)
    classes = np.asarray(getattr(model, "classes_", []))
    if label is None:
        if len(coef) > 1:
            raise ValueError(f"the model has weights for {len(coef)} classes: choose one with label=")
        return coef[0]
    places = np.flatnonzero(classes == label)
    if not places.size:
        raise ValueError(f"the model has no class {label!r}; its classes are {classes.tolist()}")
    if len(coef) > 1:
        return coef[places[0]]
    return coef[0] if places[0] == len(classes) - 1 else -coef[0]
