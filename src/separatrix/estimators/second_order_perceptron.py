"""The second-order perceptron as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from separatrix.estimators.certified import FitRecord
from separatrix.estimators.spreading import SpreadingClassifier, positive
from separatrix.rules import second_order_perceptron as rule
from separatrix.stops import NoMistakes, NoProgress, Stop


class SecondOrderPerceptron(SpreadingClassifier):
    """The second-order perceptron: a perceptron on features that the mistakes so far have decorrelated.

    Its weights are ``(a I + X)^-1 V``, with X the sum of ``x x^T`` and V that of ``y x`` over the mistakes so far (the
    bias coordinate included). With ``S = a (a I + X)^-1`` and ``v = x . S x``, a mistake with the margin m does

    ``w += (1 - m) / (v + a) * y * S x`` and ``S -= (S x)(S x)^T / (v + a)``.

    Parameters
    ----------
    a : float, default=1.0
        The larger, the more it is like the perceptron.
    covariance : {"diagonal", "full"}, default="diagonal"
        One spread for each weight; or, as in the paper, one for each pair of weights: ``n_features^2`` numbers and
        operations for each class, for at most 4,096 features.
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
        When to stop, besides ``max_iter``; by default ``NoMistakes() | NoProgress()``, of the share of
        mistakes. See
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
        Certificate of the model on its training data, computed on first access. With a full covariance
        ``certificate_.mistakes`` has the mistakes of the run and the most that the theorem allows.

    Notes
    -----
    An example of weight c is presented ceil(c) times, the last time with what is left of c, which scales the step and
    how the spread narrows. So a weight of 2 is the same as giving the row twice, 0 the same as leaving it out.

    Scale the features for a full covariance: where they are some 10^6 times as large as the root of a, rounding takes
    over.

    A run with a full covariance, from zero weights, has for every plane u at most

    ``losses + sqrt((a |u|^2 + u . X u) log det(I + X / a))``

    mistakes, with X the sum of ``x x^T`` over them and losses the sum of the hinge losses of u (Cesa-Bianchi, Conconi
    and Gentile 2005). The certificate has this for u the plane of the model. A diagonal covariance has no such
    theorem.

    Examples
    --------
    >>> from separatrix import SecondOrderPerceptron
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = SecondOrderPerceptron(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(
        self,
        *,
        a: float = 1.0,
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
        self.a = a
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

    _theorem_about = "a"

    def _default_stop(self) -> Stop | None:
        return NoMistakes() | NoProgress()

    def _rule(self) -> Any:
        return rule.SecondOrderPerceptron(a=positive("a", self.a), covariance=self.covariance)

    def _unproved(self, record: FitRecord) -> str:
        return "the theorem of the second-order perceptron is about a full covariance"
