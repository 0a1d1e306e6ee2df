"""Probabilities of the classes from activations: of sigmoid units, or by softmax."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from separatrix.geometry.dask_values import by_partition, on_dask
from separatrix.geometry.device_rows import namespace, on_device, to_numpy
from separatrix.geometry.rows import Floats
from separatrix.rules.losses import sigmoid


class Probabilistic:
    """The mixin of the estimators whose activations are log odds.

    ``_probabilities`` says how probabilities come from them: "sigmoid", each unit's output divided by their sum, or
    "softmax".
    """

    classes_: Any

    @property
    def _probabilities(self) -> str:
        return "sigmoid"

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, of shape (n, n_classes).

        For two classes that is the output neuron's; of more, each neuron's output divided by their sum, or the softmax
        of the activations of a multinomial model.
        """
        if on_dask(X):
            return cast(Floats, by_partition(X, self.predict_proba, len(self.classes_), np.float64))
        activations = self.decision_function(X)  # type: ignore[attr-defined]
        if not on_device(activations):
            return probabilities(activations, len(self.classes_), self._probabilities)
        xp = namespace(activations)
        made = probabilities(to_numpy(activations), len(self.classes_), self._probabilities)
        return cast(Floats, xp.asarray(made, device=activations.device))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of :meth:`predict_proba`."""
        if on_dask(X):
            return cast(Floats, by_partition(X, self.predict_log_proba, len(self.classes_), np.float64))
        made = self.predict_proba(X)
        if on_device(made):
            return cast(Floats, namespace(made).log(made))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(made))


def probabilities(activations: Floats, n_classes: int, kind: str = "sigmoid") -> Floats:
    """Return the probabilities of the classes, given activations; ``kind`` is "sigmoid" or, for several, "softmax".

    Examples
    --------
    >>> probabilities(np.array([[0.0, 0.0, np.log(2.0)]]), 3, "softmax").round(6).tolist()
    [[0.25, 0.25, 0.5]]
    """
    if kind == "softmax" and activations.ndim > 1:
        finite = np.clip(activations, -8e307, 8e307)  # differences of infinities are no numbers
        outputs = np.exp(finite - finite.max(axis=1, keepdims=True))
        return np.asarray(outputs / outputs.sum(axis=1, keepdims=True))
    outputs = np.asarray(sigmoid(activations))
    if n_classes == 1:
        return np.ones((len(outputs), 1))
    if outputs.ndim == 1:
        return np.stack([np.asarray(sigmoid(-activations)), outputs], axis=1)
    rows, best = np.arange(len(outputs)), activations.argmax(axis=1)
    outputs = np.maximum(outputs, np.finfo(float).tiny)  # where every output underflows
    outputs[rows, best] *= 1 + 1e-15  # where several are 1, the predicted class still comes first
    return np.asarray(outputs / outputs.sum(axis=1, keepdims=True))
