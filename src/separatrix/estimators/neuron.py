"""The sigmoid neuron as a scikit-learn estimator: gradient descent, stochastic, in folds or in one batch."""

from __future__ import annotations

from typing import Any

from separatrix.estimators.descending import Descending
from separatrix.estimators.linear import RuleClassifier
from separatrix.stops import NoProgress, Stop


class Neuron(Descending, RuleClassifier):
    """The sigmoid neuron: ``a = sigmoid(w . x + b)``, trained by gradient descent (Lecture 002).

    It minimises the mean loss of the examples plus ``alpha / 2 * |w|^2``; the bias is not penalised. With
    ``loss="log"`` and ``alpha=1 / (C * n_samples)`` that is logistic regression.

    Parameters
    ----------
    loss : {"squared", "log"}, default="squared"
        ``(a - t)^2 / 2``, which has local minima, or ``-log`` of the probability of the true class, which has none.
    batch_size : int or "all", default=1
        How many examples one step averages: 1 is stochastic descent, k descent by folds, "all" batch descent.
    reduction : {"mean", "sum"}, default="mean"
        How the updates of a batch are joined. With "sum" a step goes down the sum over its examples, as the lectures
        write it, so it is that of "mean" times their number (a last, smaller batch counts with its own).
    eta0 : float, default=0.01
        The learning rate. Features of similar size, such as a scaler gives, allow larger steps.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        The rate stays ``eta0``; is ``eta0 / sqrt(t)`` at step t; or is divided by 5 when the mean loss has not fallen
        for 5 epochs, until it is less than a ten-thousandth of ``eta0``.
    alpha : float, default=0.0
        The strength of the L2 penalty.
    max_iter : int, default=1000
        Maximum number of epochs.
    fit_intercept : bool, default=True
        Learn a bias.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``. By default ``NoProgress()``: when the mean loss of 5 epochs is lower by less
        than one part in 10,000 than that of the 5 before; an adaptive rate decides by itself. See ``separatrix.stops``;
        a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong (Lecture 004's L), or "perceptron" (Lecture 000's E_P). For more than two
        classes it is added over the one-vs-rest problems.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch, or with "random" draw them with replacement; with
        ``batch_size="all"`` it changes nothing.
    init : {"zeros", "uniform"} or (coef, intercept), default="zeros"
        Where to start; "uniform" draws from [-1, 1].
    class_weight : dict or "balanced", optional
        Weight of each class.
    warm_start : bool, default=False
        Go on from where the last ``fit`` stopped; after Ctrl-C or a time limit and on the same data, in the middle of
        the epoch, to the bits that an uninterrupted run gives.
    random_state : int, RandomState or None
        Where the orders and the uniform start come from.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights; one neuron for two classes, one for each of more.
    intercept_ : array of shape (1,) or (n_classes,)
        The bias.
    classes_ : array
        The labels, sorted.
    n_iter_ : int
        Epochs run in the last call.
    n_updates_ : int
        Steps made in the last call, over all classes.
    loss_curve_ : list of float
        The mean loss of each epoch's examples, each as it was met, and the penalty, added over the classes. With
        ``batch_size="all"`` that is the objective before each step.
    history_ : History
        The same with mistakes, length of the weights and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence. If the loss diverges it suggests a smaller step.
    certificate_ : ModelCertificate, or a dict of them by class
        Certificate of the model on its training data, computed on first access.

    Notes
    -----
    The default is the plain gradient step of the lectures, at a small, constant rate, which stops some way above the
    optimum. ``separatrix fit --model neuron`` scales the features and takes ``loss="log"``, ``eta0=0.1`` and
    ``learning_rate="adaptive"`` unless a loss or a rate is given: these come near the loss of logistic regression. For
    the optimum itself there is :class:`LogisticRegression`.

    A sample weight of 2 is the same as giving the row twice, 0 the same as leaving it out, in every mode: folds are cut
    by weight. No example is presented more than 1000 times in a row, and no weight makes a step larger.

    Examples
    --------
    >>> from separatrix import Neuron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = Neuron(loss="log", eta0=1.0, alpha=0.01).fit(X, y)
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['low', 'high']
    >>> model.predict_proba([[1.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        *,
        loss: str = "squared",
        batch_size: int | str = 1,
        reduction: str = "mean",
        eta0: float = 0.01,
        learning_rate: str = "constant",
        alpha: float = 0.0,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        shuffle: bool | str = True,
        init: Any = "zeros",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.batch_size = batch_size
        self.reduction = reduction
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.stop = stop
        self.record = record
        self.every = every
        self.shuffle = shuffle
        self.init = init
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default_stop(self) -> Stop | None:
        return None if self.learning_rate == "adaptive" else NoProgress()
