"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from separatrix.estimators.certified import FitRecord
from separatrix.estimators.contract import check_is_fitted
from separatrix.estimators.fitting import check_batch, number
from separatrix.estimators.joint import JointClassifier, Theorem
from separatrix.estimators.voting import by_class
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.engines import ties
from separatrix.loop.problem import Problem
from separatrix.loop.readouts import check_readout
from separatrix.loop.state import State
from separatrix.rules import MarginPerceptron
from separatrix.rules import Perceptron as PerceptronRule
from separatrix.stops import NoMistakes, Stop

_VOTED_WORK = 1 << 26  # products, up to which the votes on the training rows are worth counting: some 0.1 s


class Perceptron(JointClassifier):
    """The perceptron, in every form of the lectures.

    Each example that is misclassified moves the weights: ``w += eta0 * y * x``. If some plane separates the classes,
    the run ends with one that does, after at most ``(R / gamma)^2`` updates.

    Parameters
    ----------
    eta0 : float, default=1.0
        The learning rate. From a zero start and without a margin it only scales the weights: the run is that of 1, to
        the last bit, and the weights are multiplied by ``eta0`` at its end.
    max_iter : int, default=1000
        Maximum number of epochs.
    readout : {"last", "averaged", "voted", "pocket"}, default="last"
        Which weights become the model. On data that no plane separates, "averaged" and "pocket" do far better than
        "last"; "voted" is the most exact and the slowest to predict.
    boundary : {"mistake", "correct", "positive", "negative"}, default="mistake"
        What an activation of exactly 0 is while learning: a mistake, correct, or a vote for one class. Predictions on
        a tie are positive, except with "negative".
    fit_intercept : bool, default=True
        Learn a bias. Without it the plane goes through the origin.
    intercept_scaling : float or "ball", default=1.0
        The constant K that stands for the bias as one more feature, so the bias moves by ``eta0 * y * K**2``; "ball" is
        the radius of the smallest ball that holds the data.
    batch_size : int or "all", default=1
        How many examples one update joins, all judged with the same weights: 1 is the perceptron of the lectures, "all"
        batch gradient descent on the perceptron criterion (Lecture 000). Bounds on mistakes are for 1.
    reduction : {"mean", "sum"}, default="mean"
        How the updates of a batch are joined. With "sum" a step goes down the sum over its examples, as the lectures
        write it, so it is that of "mean" times their number (a last, smaller batch counts with its own).
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch. The order depends on what the examples hold and on
        ``random_state``, not on how they are sorted; copies of an example stay together, as a weight would have them.
        With "random" each example is drawn with replacement, any of them with the same probability and as many in an
        epoch as there are (Lectures 002 and 003); sample weights stay the weights of the updates. An epoch then leaves
        some examples out: the run has converged once one makes no mistakes, and those it left out are none either. Not
        for ``readout="pocket"``.
    init : {"zeros", "uniform"} or (coef, intercept), default="zeros"
        Where to start; "uniform" draws from [-1, 1].
    margin : float, default=0.0
        Also learn from correct predictions whose margin is at most this (the margin perceptron).
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default when an epoch makes no mistakes. See ``separatrix.stops``;
        a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong (Lecture 004's L), or "perceptron" (Lecture 000's E_P). For more than two
        classes it is added over the one-vs-rest problems, or with ``multi_class="joint"`` taken at the margin over the
        worst rival.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    multi_class : {"ovr", "joint"}, default="ovr"
        How more than two classes are learned: each against the rest, or together ("joint"): a mistake adds ``eta0 * x``
        to the weights of the correct class and takes it from those of the wrong class with the highest score, the first
        of those that tie (Crammer and Singer 2003). A tie with the correct class is a mistake, unless ``boundary`` is
        "correct"; "positive" and "negative", ``readout="voted"`` and batches are for one-vs-rest. A margin is that of
        the two scores. Two classes have one plane either way, and the same model.
    class_weight : dict or "balanced", optional
        Weight of each class.
    warm_start : bool, default=False
        Go on from where the last ``fit`` stopped; after Ctrl-C or a time limit and on the same data, in the middle of
        the epoch, to the bits that an uninterrupted run gives. When the classes, the number of features, the readout
        or the kind of bias have changed, ``fit`` starts anew.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result. Learning classes together takes
        one.
    random_state : int, RandomState or None
        Where the orders and the uniform start come from.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights. For the voted readout, which has no single weight vector, the averaged ones.
    intercept_ : array of shape (1,) or (n_classes,)
        The bias.
    classes_ : array
        The labels, sorted.
    n_iter_ : int
        Epochs run in the last call.
    n_updates_ : int
        Updates made in the last call, over all classes.
    history_ : History
        Mistakes, loss, length of the weights and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, or a dict of them by class; JointCertificate
        Certificate of the model on its training data, computed on first access. Classes that were learned together have
        one certificate (:class:`~separatrix.certificates.joint.JointCertificate`), whose bound on the mistakes is
        ``2 (R / gamma)^2``, gamma being the joint margin of weights that it names.
    votes_ : tuple of Vote, or for more than two classes one such tuple for each class
        With ``readout="voted"``: every weight vector of the run, each with ``weights``, ``bias`` and ``count``, the
        number of examples that it survived. Computed on access.

    Notes
    -----
    The defaults are the perceptron of the lectures: the last weights, up to 1000 epochs. On data that no plane
    separates, the last weights are as good as the last mistake left them; ``readout="averaged"`` predicts better. That
    is what ``separatrix fit --model averaged`` trains, for 50 epochs on scaled features:
    ``make_pipeline(StandardScaler(), Perceptron(readout="averaged", max_iter=50))`` is the same in Python.

    A sample weight of 2 is the same as giving the row twice, 0 the same as leaving it out; a fraction makes the step
    that much smaller. Numeric types other than float32 and float64 are converted once, to float64 (float16: to
    float32).

    Ctrl-C ends the run within a second; the estimator is then fitted with the best state so far and
    KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import Perceptron, datasets
    >>> X, y = datasets.load("lecture-000")
    >>> model = Perceptron(shuffle=False).fit(X, y)
    >>> str(model.status_), model.coef_.tolist(), model.intercept_.tolist()
    ('converged: no mistakes (epoch 3)', [[3.0, -2.0]], [0.0])

    The voted perceptron keeps every weight vector with its count:

    >>> voted = Perceptron(shuffle=False, readout="voted").fit([[1.0], [3.0], [-1.0]], [1, 1, -1])
    >>> [(vote.weights.tolist(), vote.bias, vote.count) for vote in voted.votes_]
    [([0.0], 0.0, 0.0), ([1.0], 1.0, 2.0), ([2.0], 0.0, 4.0)]

    Three classes on a line; no plane parts the middle one from the rest:

    >>> joint = Perceptron(multi_class="joint", shuffle=False).fit([[-2.0], [0.0], [2.0]], ["a", "b", "c"])
    >>> str(joint.status_), joint.predict([[-1.5], [0.1], [2.5]]).tolist()
    ('converged: no mistakes (epoch 4)', ['a', 'b', 'c'])
    """

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        max_iter: int = 1000,
        readout: str = "last",
        boundary: str = "mistake",
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        batch_size: int | str = 1,
        reduction: str = "mean",
        shuffle: bool | str = True,
        init: Any = "zeros",
        margin: float = 0.0,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        multi_class: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eta0 = eta0
        self.max_iter = max_iter
        self.readout = readout
        self.boundary = boundary
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.batch_size = batch_size
        self.reduction = reduction
        self.shuffle = shuffle
        self.init = init
        self.margin = margin
        self.stop = stop
        self.record = record
        self.every = every
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row: of shape (n,) for two classes, (n, n_classes) for more.

        For the voted readout it is the share of votes for the class minus the share against it.
        """
        return super().decision_function(X)

    @property
    def votes_(self) -> tuple[Any, ...]:
        """Every weight vector of a voted run with the number of examples that it survived."""
        check_is_fitted(self, "coef_")
        kept = [state for state in self._states if state.voted_weights is not None]
        return by_class([partial(state.voted_weights.votes, state.unit) for state in kept])

    def _decide(self, rows: Rows) -> Floats:
        activations = super()._decide(rows)
        ballots = [state.voted_weights for state in self._states if state.voted_weights is not None]
        if not ballots:
            return activations
        tie = self.boundary != "negative"
        votes = np.stack([ballot.decide(rows, tie_is_positive=tie) for ballot in ballots], axis=1)
        return np.asarray(votes[:, 0] if votes.shape[1] == 1 else votes)

    def _count_wrong(self, problem: Problem) -> tuple[int, int] | None:
        ballots = [state.voted_weights for state in self._states if state.voted_weights is not None]
        if problem.n * problem.d * sum(ballot.n_voters for ballot in ballots) > _VOTED_WORK:
            return None
        return super()._count_wrong(problem)

    def _rule(self) -> Any:
        check_readout(self.readout)
        ties(self.boundary)
        check_batch(self.batch_size, self.reduction)
        eta, margin = number("eta0", self.eta0), number("margin", self.margin)
        return MarginPerceptron(eta=eta, margin=margin) if margin else PerceptronRule(eta=eta)

    def _theorem(self, record: FitRecord, state: State) -> Theorem | str:
        """The theorem is about runs from zero, one example at a time and as it is, that learn from mistakes only."""
        start, settings = record.settings["init"], record.settings
        if why := record.not_plain():
            return why
        if not (isinstance(start, str) and start == "zeros"):
            return "the theorem is about runs from zero weights"
        if settings["batch_size"] != 1:
            return "the theorem is about updates for one example at a time"
        if settings["margin"]:
            return "the theorem is about updates on mistakes only, without a margin"
        return Theorem(state.updates, lambda square: square)

    def _default_stop(self) -> Stop | None:
        return NoMistakes()

    def _advice(self) -> str | None:
        if self.readout != "last":
            return None
        return (
            "The last weights of such a run are arbitrary: readout='averaged' or 'pocket' fits better, and max_iter "
            "can be much smaller."
        )
