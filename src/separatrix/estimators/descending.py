"""The mixin of the estimators trained by gradient descent: their rule, the loss curve."""

from __future__ import annotations

from separatrix.estimators.fitting import check_batch, number
from separatrix.estimators.probabilistic import Probabilistic
from separatrix.loop.state import Status
from separatrix.observers import History
from separatrix.rules import LogisticNeuron, SigmoidNeuron, Smooth

RULES: dict[str, type[Smooth]] = {"squared": SigmoidNeuron, "log": LogisticNeuron}


class Descending(Probabilistic):
    """Gradient descent on the loss of sigmoid neurons."""

    loss: str
    batch_size: int | str
    reduction: str
    eta0: float
    learning_rate: str
    alpha: float
    history_: History
    status_: Status

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch of the last call."""
        return self.history_.mean_loss

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
