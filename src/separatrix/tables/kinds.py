"""The models that can be fitted to a table, by name."""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

from separatrix.stops import EpochsInAll, MaxEpochs, NoProgress, Stop, TimeLimit, lasting, parse


class ModelKind(NamedTuple):
    """A model by name.

    Attributes
    ----------
    title : str
        Its name in sentences.
    estimator : str
        The class of this package.
    parameters : dict
        What its parameters are by default.
    epochs : int, optional
        How many epochs there are by default, where the estimator's own default is not meant.
    on_disk : bool
        Whether it can be trained on rows on disk.
    rate : dict, optional
        Parameters that hold as long as neither the loss nor the learning rate is chosen, and the rows are in memory:
        on disk a group of rows at a time is learned from, whose losses say nothing of progress.
    words : dict, optional
        Parameters that hold where there are words among the features, as long as they are not chosen: rows of tf-idf
        have length 1, so that a penalty fit for scaled numbers leaves their weights too small.
    """

    title: str
    estimator: str
    parameters: dict[str, Any]
    epochs: int | None = None
    on_disk: bool = False
    rate: dict[str, Any] | None = None
    words: dict[str, Any] | None = None


MODELS = {
    "averaged": ModelKind("averaged perceptron", "Perceptron", {"readout": "averaged"}, 50, on_disk=True),
    "perceptron": ModelKind("perceptron", "Perceptron", {"readout": "last"}, 50, on_disk=True),
    "voted": ModelKind("voted perceptron", "Perceptron", {"readout": "voted"}, 50),
    "pocket": ModelKind("pocket perceptron", "Perceptron", {"readout": "pocket"}, 50),
    "neuron": ModelKind(
        "sigmoid neuron",
        "Neuron",
        {"loss": "log"},
        200,
        on_disk=True,
        rate={"eta0": 0.1, "learning_rate": "adaptive"},
    ),
    "logistic": ModelKind("logistic regression", "LogisticRegression", {}, words={"C": 10.0}),
    "svm": ModelKind("linear SVM", "LinearSVM", {}),
    "online-svm": ModelKind("online linear SVM", "OnlineSVM", {}, on_disk=True),
    "pa": ModelKind("passive-aggressive classifier", "PassiveAggressive", {"average": True}, on_disk=True),
    "arow": ModelKind("AROW classifier", "AROW", {}, on_disk=True),
    "scw": ModelKind("soft confidence-weighted classifier", "SCW", {}, on_disk=True),
    "nherd": ModelKind("NHERD classifier", "NHERD", {}, on_disk=True),
    "romma": ModelKind("ROMMA classifier", "ROMMA", {"average": True}, 50, on_disk=True),
    "alma": ModelKind("ALMA classifier", "ALMA", {}, on_disk=True),
    "sop": ModelKind("second-order perceptron", "SecondOrderPerceptron", {"average": True}, 50, on_disk=True),
    "kernel-svm": ModelKind("kernel SVM", "KernelSVM", {}),
    "network": ModelKind("neural network", "Network", {"hidden": (8,)}, 500),
    "kernel-perceptron": ModelKind("kernel perceptron", "KernelPerceptron", {}, 50),
}
_SOLVED = ("LinearSVM", "LogisticRegression")  # to a duality gap, with a time limit at most
SOLVED = tuple(name for name, kind in MODELS.items() if kind.estimator in _SOLVED)
DEFAULT = "logistic"
ONLINE = "averaged"  # where training goes epoch by epoch, in memory or on disk
ON_DISK = tuple(name for name, kind in MODELS.items() if kind.on_disk)  # epoch by epoch
UPDATED = (*ON_DISK, "voted", "pocket", "network")  # whose training can go on with other rows
WITH_PATH = (*ON_DISK, "pocket")  # one weight vector after each epoch
_RATE = frozenset({"loss", "eta0", "learning_rate"})
_OWN = {
    "max_iter": "use --epochs",
    "random_state": "use --seed",
    "stop": "use --stop",
    "verbose": "it is not for the command line",
    "warm_start": "use --resume",
    "readout": "use --model averaged, perceptron, voted or pocket",
}


def stop_rule(model: str, text: str) -> Stop:
    """Return the stop rule that ``--stop`` names, or say why a model cannot have it; its epochs can be resumed."""
    try:
        parts = parse(text).parts
    except ValueError as problem:
        raise ValueError(f"--stop: {problem}") from None
    estimator = MODELS[model].estimator
    if estimator == "KernelSVM":
        raise ValueError(f"--stop cannot end a {model}, which is solved to a duality gap: use --param tol=...")
    for part in parts:
        if estimator in _SOLVED and not isinstance(part, TimeLimit | MaxEpochs):
            raise ValueError(
                f"--stop: --model {model} stops at a duality gap (--param tol=...), and accepts only epochs:N and "
                "time:SECONDS besides"
            )
        if estimator in ("Perceptron", "KernelPerceptron") and isinstance(part, NoProgress):
            losses = ", ".join(name for name in UPDATED if MODELS[name].estimator != "Perceptron")
            raise ValueError(f"--stop: no-progress is about the mean loss of {losses}; for --model {model} use flat")
    resumable = [EpochsInAll(part.epochs) if type(part) is MaxEpochs else part for part in parts]
    return functools.reduce(operator.or_, resumable)


def make(
    model: str,
    *,
    epochs: int | None,
    time_limit: float | None,
    seed: int,
    parameters: dict[str, Any],
    stop: str | None = None,
    on_disk: bool = False,
    verbose: int = 0,
) -> Any:
    """Return the estimator of this name, ready to be fitted."""
    import separatrix

    kind = MODELS[model]
    rate = {} if on_disk or not _RATE.isdisjoint(parameters) else kind.rate or {}
    given = {**kind.parameters, **rate, **parameters, "verbose": verbose}
    if epochs is not None or kind.epochs is not None:
        given["max_iter"] = epochs if epochs is not None else kind.epochs
    estimator = getattr(separatrix, kind.estimator)()
    known = estimator.get_params()
    for name, value in parameters.items():
        if name in _OWN and (name, kind.estimator) != ("readout", "KernelPerceptron"):
            raise ValueError(f"--param {name}: {_OWN[name]}")
        if name not in known and name in ("record", "every"):
            raise ValueError(f"--{name} is for models that are trained epoch by epoch, not for {model}")
        if name not in known:
            raise ValueError(f"{kind.estimator} has no parameter {name!r}; it has {', '.join(sorted(known))}")
        if isinstance(known[name], bool) and not (isinstance(value, bool) or (name, value) == ("shuffle", "random")):
            accepted = "true, false or random" if name == "shuffle" else "true or false"
            raise ValueError(f"--param {name} must be {accepted}; found {value!r}")
    if "random_state" in known:
        given.setdefault("random_state", seed)
    if "warm_start" in known:
        given["warm_start"] = True  # so that a run that was cut short can go on
    estimator.set_params(**given)
    if on_disk:
        return estimator
    limit = None if time_limit is None else TimeLimit(time_limit)
    given_stop = None if stop is None else stop_rule(model, stop)
    if "stop" not in known:
        if limit is not None:
            raise ValueError(f"--time-limit cannot end a {model}; press Ctrl-C instead, which keeps the model so far")
        return estimator
    stops: list[Stop | None] = [given_stop, limit]
    if kind.estimator not in _SOLVED:
        keeps = given_stop is None or not lasting(given_stop)  # a limit alone says nothing of the goal
        stops = [estimator._default_stop() if keeps else None, given_stop, EpochsInAll(estimator.max_iter), limit]
    wanted = [stop for stop in stops if stop is not None]
    return estimator.set_params(stop=functools.reduce(operator.or_, wanted) if wanted else None)
