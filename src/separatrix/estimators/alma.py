"""ALMA as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from separatrix.certificates.data import Data
from separatrix.certificates.margin_updates import update_bound
from separatrix.certificates.model import MistakeBound, PlaneMeasures
from separatrix.estimators.certified import FitRecord, no_bound
from separatrix.estimators.fitting import number
from separatrix.estimators.own_step import OwnStepClassifier
from separatrix.geometry.rows import Floats
from separatrix.rules import alma as rules
from separatrix.stops import NoProgress, Stop


class ALMA(OwnStepClassifier):
    """The approximate large margin algorithm: a plane whose margin is at least 1 - alpha of the largest.

    Every example counts as if its length were 1. The k-th update is made where the margin is at most
    ``(1 - alpha) sqrt(8 / k) / alpha``: it adds ``sqrt(2 / k) y x / |x|`` to the weights and brings them back to the
    ball of radius 1 (the bias coordinate included). On data that a plane separates there is a last update, and after it
    all margins are wide enough.

    Parameters
    ----------
    alpha : float, default=0.9
        Above 0 and at most 1: the part of the largest margin that may be missing. The smaller, the more updates; 1
        learns from mistakes only.
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
        When to stop, besides ``max_iter``; by default ``NoProgress()`` of the share of mistakes; for the margin
        that alpha asks for give it epochs, as in ``stop="epochs:200"``. See
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
        updates of the run, among which are all its mistakes, and the most that the theorem allows.

    Notes
    -----
    An example of weight c is presented ceil(c) times, the last time with what is left of c, which scales the step. So a
    weight of 2 is the same as giving the row twice, 0 the same as leaving it out.

    If some plane through the origin of (x, K) has a margin of at least g on all examples, scaled to length 1, a run
    from zero weights makes at most ``(2 / g^2) (2 / alpha - 1)^2`` updates: a bound in the manner of Gentile 2001,
    proved in ``separatrix/certificates/margin_updates.py``. The margin is that of examples of length 1: scale the
    features, or rows far from the origin will be much alike.

    Examples
    --------
    >>> from separatrix import ALMA
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = ALMA(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(
        self,
        *,
        alpha: float = 0.9,
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
        self.alpha = alpha
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
        return NoProgress()

    def _rule(self) -> Any:
        alpha = number("alpha", self.alpha)
        if not 1e-150 <= alpha <= 1:
            raise ValueError(f"alpha must be a number from 1e-150 to 1; found {self.alpha!r}")
        return rules.ALMA(part=alpha)

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        """The theorem is about runs from zero over examples as they are."""
        if why := record.not_plain():
            return no_bound(self._states[which].all_mistakes, why)
        bound = update_bound(data, weights, bias, self._bias_constant, float(record.settings["alpha"]))
        made = self._states[which].updates
        return {"mistakes": MistakeBound(made, bound.allowed, what="updates"), "data": bound.data}
