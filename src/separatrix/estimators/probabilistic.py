"""Probabilities of the classes from the activations of sigmoid units."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.rules.losses import sigmoid


class Probabilistic:
    """The mixin of the estimators whose activations are log odds."""

    classes_: Any

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, of shape (n, n_classes).

        For two classes that is the output neuron's; of more, each neuron's output divided by their sum.
        """
        return probabilities(self.decision_function(X), len(self.classes_))  # type: ignore[attr-defined]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


def probabilities(activations: Floats, n_classes: int) -> Floats:
    """Return the probabilities of the classes, given the activations of their sigmoid neurons."""
    outputs = np.asarray(sigmoid(activations))
    if n_classes == 1:
        return np.ones((len(outputs), 1))
    if outputs.ndim == 1:
        return np.stack([np.asarray(sigmoid(-activations)), outputs], axis=1)
    rows, best = np.arange(len(outputs)), activations.argmax(axis=1)
    outputs = np.maximum(outputs, np.finfo(float).tiny)  # where every output underflows
    outputs[rows, best] *= 1 + 1e-15  # where several are 1, the predicted class still comes first
    return np.asarray(outputs / outputs.sum(axis=1, keepdims=True))
