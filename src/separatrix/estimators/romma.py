"""ROMMA as a scikit-learn estimator."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from separatrix.certificates.data import Data
from separatrix.certificates.model import PlaneMeasures
from separatrix.estimators.certified import FitRecord, no_bound, within_bound
from separatrix.estimators.own_step import OwnStepClassifier
from separatrix.geometry.rows import Floats
from separatrix.rules import romma as rules
from separatrix.stops import NoMistakes, NoProgress, Stop


class ROMMA(OwnStepClassifier):
    """The relaxed online maximum margin algorithm: the shortest weights that keep what was learned.

    A mistake on (x, y) makes the weights w the shortest of all vectors v with ``v . w >= |w|^2``, which stands for the
    mistakes before, and ``y v . x >= 1`` (the bias coordinate included). There is no learning rate to choose, and no
    length of the data: features on another scale give the same run.

    Parameters
    ----------
    aggressive : bool, default=False
        Learn from every example with a margin below 1, not from mistakes only. On data that a plane separates the
        weights then approach those of the largest margin.
    average : bool, default=False
        Return the average of the weights of all steps. On noisy data it predicts better.
    fit_intercept : bool, default=True
        Learn a bias. Without it the plane goes through the origin.
    intercept_scaling : float or "ball", default=1.0
        The constant K that stands for the bias as one more feature; "ball" is the radius of the smallest ball
        that holds the data.
    max_iter : int, default=1000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default ``NoMistakes() | NoProgress()``,
        if aggressive ``NoProgress()``, of the share of mistakes. See
        ``separatrix.stops``; a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong, or "hinge". For more than two classes it is added over the one-vs-rest
        problems.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch, or with "random" draw them with replacement.
    class_weight : dict or "balanced", optional
        Weight of each class.
    warm_start : bool, default=False
        Start from the weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Where the order of visits comes from.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result.
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
    certificate_ : ModelCertificate, or a dict of them by class
        Certificate of the model on its training data, computed on first access. ``certificate_.mistakes`` has the
        mistakes of the run and the most that the theorem allows.

    Notes
    -----
    An example of weight c is presented ceil(c) times, the last time with what is left of c, which is the part of the
    way that the weights go. Where it has a margin of 1 after the first time, the others do nothing: a weight of 2 is
    the same as giving the row twice, and seldom differs from 1.

    If the plane u has a margin of at least 1 on every example, and R is the length of the longest, a run from zero
    weights makes at most ``R^2 |u|^2`` mistakes (Li and Long 2002). For u always has ``u . w >= |w|^2``, so that w is
    no longer than u; and a mistake moves w by at least 1 / R, at a right angle or less to w, so that ``|w|^2`` grows by
    at least ``1 / R^2``.

    On data that no plane separates the weights grow; see :class:`~separatrix.rules.ROMMA` for what is done then. The
    average of the weights predicts far better there.

    Examples
    --------
    >>> from separatrix import ROMMA
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = ROMMA(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(
        self,
        *,
        aggressive: bool = False,
        average: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        max_iter: int = 1000,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        shuffle: bool | str = True,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.aggressive = aggressive
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.stop = stop
        self.record = record
        self.every = every
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default_stop(self) -> Stop | None:
        return NoProgress() if self.aggressive else NoMistakes() | NoProgress()

    def _rule(self) -> Any:
        if not isinstance(self.aggressive, bool):
            raise TypeError(f"aggressive must be True or False; found {self.aggressive!r}")
        return rules.AggressiveROMMA() if self.aggressive else rules.ROMMA()

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        """The theorem is about runs from zero over examples as they are, as long as nothing learned is dropped."""
        if why := record.not_plain():
            return no_bound(self._states[which].all_mistakes, why)
        claims = within_bound(data, self._states[which].all_mistakes, self._bias_constant)
        bound = claims.get("mistakes")
        if bound is not None and rules.MOST < bound.allowed < math.inf:
            why = "the margin is so small that the rule need not keep what it has learned"
            claims["mistakes"] = replace(bound, allowed=math.inf, why=why)
        return claims
