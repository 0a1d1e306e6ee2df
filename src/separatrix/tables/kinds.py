"""The models that a table can be taught to, by name."""

from __future__ import annotations

import functools
import operator
from typing import Any

from separatrix.stops import EpochsInAll, Stop, TimeLimit

# name: estimator, its parameters, the epochs if none are asked for
MODELS: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "averaged": ("Perceptron", {"readout": "averaged"}, 50),
    "perceptron": ("Perceptron", {"readout": "last"}, 50),
    "voted": ("Perceptron", {"readout": "voted"}, 50),
    "pocket": ("Perceptron", {"readout": "pocket"}, 50),
    "neuron": ("Neuron", {"loss": "log"}, 200),
    "svm": ("LinearSVM", {}, None),
    "online-svm": ("OnlineSVM", {}, None),
    "kernel-svm": ("KernelSVM", {}, None),
    "network": ("Network", {"hidden": (8,)}, 500),
}
_OWN = {
    "max_iter": "use --epochs",
    "random_state": "use --seed",
    "stop": "use --epochs or --time-limit",
    "verbose": "it is not for the command line",
    "warm_start": "use --resume",
    "readout": "use --model averaged, perceptron, voted or pocket",
}
TITLES = {
    "averaged": "averaged perceptron",
    "perceptron": "perceptron",
    "voted": "voted perceptron",
    "pocket": "pocket perceptron",
    "neuron": "sigmoid neuron",
    "svm": "support vector machine",
    "online-svm": "support vector machine, trained online",
    "kernel-svm": "support vector machine with a kernel",
    "network": "network of sigmoid neurons",
}
ON_DISK = ("averaged", "perceptron", "neuron", "svm", "online-svm")  # these can be trained on rows on disk


def make(
    model: str,
    *,
    epochs: int | None,
    time_limit: float | None,
    seed: int,
    parameters: dict[str, Any],
    on_disk: bool = False,
    verbose: int = 0,
) -> Any:
    """Return the estimator of this name, ready to be fitted."""
    import separatrix

    kind, own, usual = MODELS[model]
    given = {**own, **parameters, "verbose": verbose}
    if on_disk and model == "svm":
        kind = "OnlineSVM"
    if epochs is not None or usual is not None:
        given["max_iter"] = epochs if epochs is not None else usual
    estimator = getattr(separatrix, kind)()
    known = estimator.get_params()
    for name in parameters:
        if name in _OWN:
            raise ValueError(f"--param {name}: {_OWN[name]}")
        if name not in known:
            raise ValueError(f"{kind} has no parameter {name!r}; it has {', '.join(sorted(known))}")
    if "random_state" in known:
        given.setdefault("random_state", seed)
    if "warm_start" in known:
        given["warm_start"] = True  # so that a run that was cut short can go on
    estimator.set_params(**given)
    if on_disk:
        return estimator
    stops: list[Stop | None] = [None if time_limit is None else TimeLimit(time_limit)]
    if "stop" not in known:
        if time_limit is not None:
            raise ValueError(f"--time-limit cannot end a {model}; press Ctrl-C instead, which keeps the model so far")
        return estimator
    if kind != "LinearSVM":
        stops = [estimator._default_stop(), EpochsInAll(estimator.max_iter), *stops]
    wanted = [stop for stop in stops if stop is not None]
    return estimator.set_params(stop=functools.reduce(operator.or_, wanted) if wanted else None)
