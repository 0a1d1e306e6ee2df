"""The mixin of the estimators trained by gradient descent: their rule, the loss curve, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.estimators.fitting import check_batch, number
from separatrix.geometry.rows import Floats
from separatrix.loop.state import Status
from separatrix.observers import History
from separatrix.rules import LogisticNeuron, SigmoidNeuron, Smooth
from separatrix.rules.losses import sigmoid

RULES: dict[str, type[Smooth]] = {"squared": SigmoidNeuron, "log": LogisticNeuron}


class Descending:
    """Gradient descent on the loss of sigmoid neurons."""

    loss: str
    batch_size: int | str
    reduction: str
    eta0: float
    learning_rate: str
    alpha: float
    classes_: Any
    history_: History
    status_: Status

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch of the last call."""
        return self.history_.mean_loss

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, of shape (n, n_classes).

        For two classes that is the output neuron's; of more, each neuron's output divided by their sum.
        """
        return probabilities(self.decision_function(X), len(self.classes_))  # type: ignore[attr-defined]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _rule(self) -> Smooth:
        """Return the rule that the parameters stand for, or refuse them by name."""
        if not isinstance(self.loss, str) or self.loss not in RULES:
            raise ValueError(f"loss must be one of {', '.join(RULES)}; found {self.loss!r}")
        check_batch(self.batch_size, self.reduction)
        return RULES[self.loss](number("eta0", self.eta0), number("alpha", self.alpha), self.learning_rate)

    def _advice(self) -> str | None:
        if self.status_.diverged:
            return None  # the status has a better one
        if "because the classes have the same mean" in str(self.status_):
            return ""
        return "Scale the features, increase max_iter, or try another eta0 or learning_rate='adaptive'."


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
