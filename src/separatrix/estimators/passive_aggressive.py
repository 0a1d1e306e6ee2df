"""The passive-aggressive classifier as a scikit-learn estimator."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from separatrix.certificates.aggressive import aggressive_bound
from separatrix.certificates.data import Data
from separatrix.certificates.model import PlaneMeasures
from separatrix.estimators.certified import FitRecord
from separatrix.estimators.fitting import number
from separatrix.estimators.joint import JointClassifier, Theorem
from separatrix.estimators.own_step import OwnStepClassifier, updates_of
from separatrix.geometry.rows import Floats
from separatrix.loop.state import State
from separatrix.rules import PA, PA1, PA2
from separatrix.stops import Stop

VARIANTS = ("pa", "pa1", "pa2")


class PassiveAggressive(OwnStepClassifier, JointClassifier):
    """The passive-aggressive classifier: each example with a margin below 1 moves the weights just so far as it needs.

    ``w += tau * y * x``, with ``loss = 1 - y (w.x + b)`` and ``q = |x|^2 + K^2`` (the bias coordinate included):
    ``tau = loss / q`` makes the margin 1, ``min(C, loss / q)`` and ``loss / (q + 1 / (2 C))`` are more careful with
    noisy labels. There is no learning rate to choose.

    Parameters
    ----------
    variant : {"pa", "pa1", "pa2"}, default="pa1"
        PA, PA-I or PA-II. PA-I is scikit-learn's PassiveAggressiveClassifier with ``loss="hinge"``, PA-II the one with
        ``loss="squared_hinge"``; there the bias is no part of ``q``.
    C : float, default=1.0
        Aggressiveness: the longest step of PA-I, and 1 / (2 C) is what PA-II adds to ``q``. PA has none.
    average : bool, default=False
        Return the average of the weights of all steps. On noisy data it predicts better.
    fit_intercept : bool, default=True
        Learn a bias. Without it the plane goes through the origin.
    intercept_scaling : float or "ball", default=1.0
        The constant K that stands for the bias as one more feature, so the bias moves by ``tau * y * K**2``; "ball" is
        the radius of the smallest ball that holds the data.
    max_iter : int, default=1000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default ``NoProgress()``. See ``separatrix.stops``;
        a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong, or "hinge". For more than two classes it is added over the one-vs-rest
        problems, or with ``multi_class="joint"`` taken at the margin over the worst rival.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch, or with "random" draw them with replacement.
    multi_class : {"ovr", "joint"}, default="ovr"
        How more than two classes are learned: each against the rest, or together ("joint"). The margin is then that of
        the correct class over the wrong class with the highest score, the first of those that tie; ``tau * x`` is added
        to the weights of the one and taken from those of the other, with ``2 q`` in the place of q. Two classes have
        one plane either way, and the same model.
    class_weight : dict or "balanced", optional
        Weight of each class.
    warm_start : bool, default=False
        Start from the weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Where the order of visits comes from.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result. Learning classes together takes
        one.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Weights of shape (1, n_features) or (n_classes, n_features), and biases.
    classes_ : array
        The labels, sorted.
    n_iter_, n_updates_ : int
        Epochs and updates of the last call.
    history_ : History
        Mistakes, loss, length of the weights and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, or a dict of them by class; JointCertificate
        Certificate of the model on its training data, computed on first access. ``certificate_.mistakes`` has the
        mistakes of the run and the most that the theorem of the variant allows. Classes that were learned together have
        one certificate (:class:`~separatrix.certificates.joint.JointCertificate`).

    Notes
    -----
    A sample weight of 2 is the same as giving the row twice, 0 the same as leaving it out; a fraction makes the step
    that much smaller. So a weight of 2 doubles the C of PA-I, and changes nothing for PA, whose second step is 0.

    If the plane u has a margin of at least 1 on every example, and R is the length of the longest, a run from zero
    weights makes at most ``R^2 |u|^2`` mistakes with PA, ``max(R^2, 1 / C) |u|^2`` with PA-I and
    ``(R^2 + 1 / (2 C)) |u|^2`` with PA-II (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006). Where no plane is
    known to separate the data, the bounds of PA-I and PA-II count the losses of u too, which is then the model's plane.
    Where classes are learned together, u is the table of all weights and ``2 R^2`` takes the place of ``R^2``.

    Examples
    --------
    >>> from separatrix import PassiveAggressive
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = PassiveAggressive(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    >>> joint = PassiveAggressive(multi_class="joint", random_state=0).fit([[-2.0], [0.0], [2.0]], ["a", "b", "c"])
    >>> joint.predict([[-1.5], [0.1], [2.5]]).tolist()
    ['a', 'b', 'c']
    """

    def __init__(
        self,
        *,
        variant: str = "pa1",
        C: float = 1.0,
        average: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        max_iter: int = 1000,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        shuffle: bool | str = True,
        multi_class: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.variant = variant
        self.C = C
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.stop = stop
        self.record = record
        self.every = every
        self.shuffle = shuffle
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _rule(self) -> Any:
        cost = number("C", self.C)
        if not 1e-150 <= cost <= 1e150:
            raise ValueError(f"C must be a positive number from 1e-150 to 1e150; found {self.C!r}")
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}; found {self.variant!r}")
        if self.variant == "pa":
            return PA()
        return PA1(C=cost) if self.variant == "pa1" else PA2(C=cost)

    def _theorem(self, record: FitRecord, state: State) -> Theorem | str:
        """The theorems are about runs from zero over examples as they are.

        With ``tau`` as above and a plane u that has a margin of at least 1 everywhere, the sum of
        ``tau (2 loss - tau q)`` is at most ``|u|^2`` (lemma 1). A mistake has a loss of at least 1, so its term is at
        least 1 / R^2 (PA), min(C, 1 / R^2) (PA-I) or 1 / (R^2 + 1 / (2 C)) (PA-II, where the lemma holds for
        ``q + 1 / (2 C)``).
        """
        if why := record.not_plain():
            return why
        cost, variant = float(record.settings["C"]), record.settings["variant"]
        factors = {
            "pa": lambda square: square,
            "pa1": lambda square: max(square, 1.0 / cost),
            "pa2": lambda square: square + 0.5 / cost,
        }
        return Theorem(state.all_mistakes, factors[variant])

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        """Where no plane is known to separate the data, PA-I and PA-II have a bound by the losses of the model's."""
        claims = super()._claims(record, data, which, weights, bias, measured)
        bound, settings = claims.get("mistakes"), record.settings
        if bound is None or bound.why or math.isfinite(bound.allowed) or settings["variant"] == "pa":
            return claims
        updates, squared = updates_of(self._states[which], record), settings["variant"] == "pa2"
        allowed = aggressive_bound(
            data, weights, bias, self._bias_constant, float(settings["C"]), updates, squared=squared
        )
        return {**claims, "mistakes": replace(bound, allowed=allowed)}
