"""A network of sigmoid neurons as a scikit-learn estimator: what one neuron cannot separate, layers can."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.estimators.descending import Descending
from separatrix.estimators.one_vs_rest import carry_over, positives
from separatrix.estimators.online import OnlineClassifier
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.monitor import Recording
from separatrix.loop.network import Layer, NetworkState, Training, activations, random_layers
from separatrix.loop.order import order_of
from separatrix.loop.problem import Problem
from separatrix.models.validity import is_array, require
from separatrix.stops import NoProgress, Stop


class Network(Descending, OnlineClassifier):
    """Layers of sigmoid neurons, trained by back-propagation (Lecture 002).

    Each neuron is the one of :class:`Neuron`, fed with the outputs of the layer before it. It minimises the mean loss
    of the examples plus ``alpha / 2`` times the square of all weights; biases are not penalised.

    Parameters
    ----------
    hidden : sequence of int, default=(4,)
        The sizes of the hidden layers. One output neuron for two classes, or one for each of more, comes after them.
    loss : {"log", "squared"}, default="log"
        Of each output neuron.
    batch_size : int or "all", default=32
        How many examples one step averages. Each step is a few matrix products: 1 is slow on large data.
    eta0 : float, default=1.0
        The learning rate. Scale the features first.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        As for :class:`Neuron`.
    alpha : float, default=0.0
        The strength of the L2 penalty.
    max_iter : int, default=2000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``. By default ``NoProgress(patience=50)``; an adaptive rate decides by itself.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong (Lecture 004's L), or "perceptron" (Lecture 000's E_P). For more than two
        classes it is added over the one-vs-rest problems.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch, or with "random" draw them with replacement.
    class_weight : dict or "balanced", optional
        Weight of each class.
    warm_start : bool, default=False
        Go on from where the last ``fit`` stopped.
    random_state : int, RandomState or None
        Where the start and the orders come from.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    coefs_ : list of arrays of shape (inputs, neurons)
        The weights of each layer.
    intercepts_ : list of arrays of shape (neurons,)
        The biases of each layer.
    classes_ : array
        The labels, sorted.
    n_iter_, n_updates_ : int
        Epochs and steps of the last call.
    loss_curve_ : list of float
        The mean loss of each epoch's examples, each as it was met, added over the outputs.
    history_ : History
        The same with mistakes, length of the weights and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.

    Notes
    -----
    Unlike the rest of the package it computes with NumPy's matrix products, whose last bits depend on the machine.

    Examples
    --------
    >>> from separatrix import Network
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> Network(random_state=0).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    def __init__(
        self,
        hidden: Any = (4,),
        *,
        loss: str = "log",
        batch_size: int | str = 32,
        eta0: float = 1.0,
        learning_rate: str = "constant",
        alpha: float = 0.0,
        max_iter: int = 2000,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        shuffle: bool | str = True,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.loss = loss
        self.batch_size = batch_size
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.max_iter = max_iter
        self.stop = stop
        self.record = record
        self.every = every
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------ learning

    def _sizes(self) -> list[int]:
        try:
            sizes = list(self.hidden)
        except TypeError:
            sizes = [self.hidden]
        if not sizes or any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1 for n in sizes):
            raise ValueError(f"hidden must be the sizes of one or more layers, such as (4,); found {self.hidden!r}")
        return [int(n) for n in sizes]

    def _check_rule(self) -> None:
        self._rule()
        self._sizes()

    def _check_continuation(self) -> None:
        built = [layer.weights.shape[1] for layer in self._states[0].layers[:-1]]
        if built != self._sizes():
            raise ValueError(f"hidden is now {self.hidden!r}, but the network was built with {tuple(built)}")

    def _goes_on(self, problem: Problem) -> bool:
        if not super()._goes_on(problem):
            return False
        return [layer.weights.shape[1] for layer in self._states[0].layers[:-1]] == self._sizes()

    def _default_stop(self) -> Stop | None:
        return None if self.learning_rate == "adaptive" else NoProgress(patience=50)

    def _start(self, problem: Problem, seed: int) -> list[NetworkState]:
        sizes = [problem.d, *self._sizes(), len(positives(len(problem.classes)))]
        return [NetworkState(random_layers(sizes, np.random.default_rng(seed)))]

    def _grown(self, problem: Problem, seed: int) -> list[NetworkState]:
        state = copy.deepcopy(self._states[0])
        *hidden, last = state.layers
        if len(problem.classes) > len(self.classes_):
            outputs = [_Output(w, float(b)) for w, b in zip(last.weights.T, last.bias, strict=True)]
            rng = np.random.default_rng([seed, len(problem.classes)])
            fresh = random_layers([len(last.weights), len(problem.classes)], rng)[0]
            outputs = carry_over(
                outputs,
                self.classes_,
                problem.classes,
                lambda code: _Output(fresh.weights[:, code], float(fresh.bias[code])),
            )
            weights = np.stack([output.weights for output in outputs], axis=1)
            state.layers = [*hidden, Layer(weights, np.array([output.bias for output in outputs]))]
        return [state]

    def _run(self, problem: Problem, states: list[NetworkState], stop: Stop, seed: int) -> None:
        state = states[0]
        before = state.updates
        signs = np.stack([problem.signs(code) for code in positives(len(problem.classes))], axis=1).astype(np.float64)
        with self._observed(states) as (history, observers):
            order = order_of(self.shuffle)
            recording = Recording(self.record, self.every)
            run = Training(problem, signs, self._rule(), stop, order, self.batch_size, seed, observers, recording)
            self.status_, self.n_iter_ = run.run(state)
            self._spread.add_sample(problem.rows)
            for name, value in self._fitted(states).items():
                setattr(self, name, value)
            self._run_seed, self._width = seed, problem.d
            self._cut_short = state.ended is None or state.ended.cut
            self.history_ = history
            self.n_updates_ = state.updates - before

    def _fitted(self, states: list[NetworkState]) -> dict[str, Any]:
        layers = states[0].layers
        return super()._fitted(states) | {
            "coefs_": [layer.weights.copy() for layer in layers],
            "intercepts_": [layer.bias.copy() for layer in layers],
        }

    def _validate_model(self, width: int, n_classes: int) -> None:
        self._validate_states(width, 1, NetworkState)
        coefs, intercepts = self.coefs_, self.intercepts_
        fits = type(coefs) is list and type(intercepts) is list and len(coefs) == len(intercepts) > 0
        require(fits, "it has no layers")
        before = width
        for weights, bias in zip(coefs, intercepts, strict=True):
            require(is_array(weights, "f8", (before, None), finite=True), "the weights of a layer are not of its shape")
            before = weights.shape[1]
            fits = before > 0 and is_array(bias, "f8", (before,), finite=True)
            require(fits, "the biases of a layer are not of its shape")
        require(before == len(positives(n_classes)), "its last layer is not one neuron for each task")
        state, shapes = self._states[0], [each.shape for each in coefs]
        require([layer.weights.shape for layer in state.layers] == shapes, "its state has other layers")
        require([layer.weights.shape for layer in state.start] in ([], shapes), "its state began with other layers")

    # ------------------------------------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> Floats:
        """Return what goes into the output neurons: of shape (n,) for two classes, (n, n_classes) for more."""
        return super().decision_function(X)

    def _decide(self, rows: Rows) -> Floats:
        rows.check_finite()
        layers = [Layer(weights, bias) for weights, bias in zip(self.coefs_, self.intercepts_, strict=True)]
        outputs = activations(layers, rows.values)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs


@dataclass(frozen=True)
class _Output:
    """One output neuron; the opposite task has it mirrored."""

    weights: Floats
    bias: float

    def mirrored(self) -> _Output:
        return _Output(-self.weights, -self.bias)
