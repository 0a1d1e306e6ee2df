"""Soft confidence-weighted learning as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from separatrix.estimators.fitting import number
from separatrix.estimators.spreading import SpreadingClassifier, positive
from separatrix.rules import SCW1, SCW2
from separatrix.rules.scw import confidence_quantile
from separatrix.stops import Stop

VARIANTS = {"scw1": SCW1, "scw2": SCW2}


class SCW(SpreadingClassifier):
    """Soft confidence-weighted learning: each example is to be on its correct side with a given probability.

    The weights are a Gaussian with mean w and covariance S, the identity at the start. With ``v = x . S x`` (the bias
    coordinate included), an example with a margin below ``phi sqrt(v)``, phi the quantile of the normal distribution at
    eta, moves the Gaussian as little as it can for that margin, or a part of the way; see
    :class:`~separatrix.rules.SCW1` and :class:`~separatrix.rules.SCW2` for the formulas.

    Parameters
    ----------
    variant : {"scw1", "scw2"}, default="scw1"
        SCW-I, whose steps are at most C, or SCW-II, whose steps are damped.
    C : float, default=1.0
        Aggressiveness; infinity is confidence-weighted learning without slack (CW), for data without noise.
    eta : float, default=0.9
        The probability, above 0.5; 1 stands for the largest number below it.
    covariance : {"diagonal", "full"}, default="diagonal"
        One spread for each weight, or one for each pair of weights: ``n_features^2`` numbers and operations for each
        class, for at most 4,096 features.
    average : bool, default=False
        Return the average of the weights of all steps. On noisy data it predicts better.
    fit_intercept : bool, default=True
        Learn a bias. Without it the plane goes through the origin.
    intercept_scaling : float or "ball", default=1.0
        The constant K that stands for the bias as one more feature, which has a spread of its own; "ball" is the radius
        of the smallest ball that holds the data.
    max_iter : int, default=1000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default ``NoProgress()`` of the share of mistakes. See
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
        Start from the weights and spread of the last ``fit``; a run that was cut short goes on where it was.
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
        Certificate of the model on its training data, computed on first access. No theorem that could be
        checked bounds the mistakes of the run.

    Notes
    -----
    An example of weight c is presented ceil(c) times, the last time with what is left of c, which scales the step and
    how the spread narrows. So a weight of 2 is the same as giving the row twice, 0 the same as leaving it out.

    Examples
    --------
    >>> from separatrix import SCW
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = SCW(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(
        self,
        *,
        variant: str = "scw1",
        C: float = 1.0,
        eta: float = 0.9,
        covariance: str = "diagonal",
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
        self.variant = variant
        self.C = C
        self.eta = eta
        self.covariance = covariance
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

    def _rule(self) -> Any:
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}; found {self.variant!r}")
        cost, phi = positive("C", self.C, infinite=True), confidence_quantile(number("eta", self.eta))
        return VARIANTS[self.variant](C=cost, phi=phi, covariance=self.covariance)
