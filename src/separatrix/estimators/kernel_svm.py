"""The support vector machine with a kernel as a scikit-learn estimator."""

from __future__ import annotations

import math
import time
import warnings
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.contract import ConvergenceWarning, check_is_fitted
from separatrix.estimators.fitting import check_costs, checked_labels, count, encoded, number, threads, undone_on_error
from separatrix.estimators.kernelled import KernelClassifier
from separatrix.estimators.one_vs_rest import predicted_codes
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Floats
from separatrix.loop.interrupts import interrupts
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.state import Status
from separatrix.models.validity import is_array, is_index, require
from separatrix.observers import RoundProgress
from separatrix.svm.blocks import KernelRun, KernelSolution, Round, Rounds

Self = TypeVar("Self", bound="KernelSVM")


class _Pair(NamedTuple):
    """One machine between two classes, ``first`` against ``second`` by code, and the examples it was trained on."""

    first: int
    second: int
    rows: NDArray[np.intp]
    signs: Floats
    machine: KernelSolution


class KernelSVM(KernelClassifier):
    """The soft-margin support vector machine with a kernel, trained to a proven duality gap.

    It minimises ``1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w . phi(x_i) + b))`` in the space of the kernel, where
    ``K(x, z) = phi(x) . phi(z)``, through its dual ``max sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij`` with
    ``0 <= a_i <= C_i`` and ``sum_i a_i y_i = 0``: the objective of scikit-learn's SVC. The value of any dual point is a
    lower bound on the optimum, the value of its w an upper bound; training stops when the two are within ``tol``.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of slack. Sample and class weights multiply it.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        ``exp(-gamma |x - z|^2)``, ``x . z`` or ``(gamma x . z + coef0)^degree``. A callable takes two arrays and
        returns the kernel of each row of the first with each row of the second. With "precomputed", X is the kernel
        matrix: square at fit, and at predict with one column for each example of fit.
    gamma : {"scale", "auto"} or float, default="scale"
        ``1 / (n_features * X.var())``, ``1 / n_features`` or a positive number, for "rbf" and "poly". In the variance a
        row of weight 2 counts as two rows.
    degree : int, default=3
        For "poly".
    coef0 : float, default=0.0
        For "poly".
    tol : float, default=1e-3
        Duality gap at which to stop, relative to the primal objective. Small data can reach 1e-8.
    cache_size : float, default=500
        Size of the cache of kernel rows in megabytes. Rows that do not fit are recomputed when needed.
    max_iter : int, default=100000
        Maximum number of rounds for each pair of classes; a round solves one working set.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    n_jobs : int, optional
        Threads for everything but matrix products (-1: all processors), which use NumPy's own threads.
    verbose : int, default=0
        With 1, show the gap during long runs.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
        The rows of the support vectors, class by class.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : array of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : array of shape (n_classes - 1, n_SV)
        ``a_i y_i``; the rows are laid out as SVC's are. Of two classes the second is the positive one.
    intercept_ : array of shape (1,) or (n_classes * (n_classes - 1) / 2,)
        The bias of each pair of classes, in the order 0-1, 0-2, ..., 1-2, ...
    classes_ : array
        The labels, sorted.
    objective_ : float
        The primal objective reached, summed over the pairs of classes.
    duality_gap_ : float
        An upper bound on ``objective_`` minus the optimum, summed in the same way.
    n_iter_ : int
        Rounds, over all pairs.
    history_ : Rounds
        Primal, dual, gap and seconds, round by round; ``machine`` counts the pairs.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.

    Notes
    -----
    More than two classes are trained one-vs-one, one machine for each pair. ``decision_function`` gives one score a
    class: its votes, plus a fraction below 1/2 from the machines' activations that breaks ties; so does SVC by default.
    ``predict`` returns the class with the highest score, as ``SVC(break_ties=True)`` does.

    Kernel rows are kept in float32 while that is precise enough: for more than 1,000 examples, a ``tol`` of at least
    1e-5 and values that float32 can hold. At the end some of its sums are compared with float64 ones, and the
    difference is added to the gap; if that exceeds ``tol``, training continues in float64.

    Ctrl-C ends the run after the current round; the estimator is then fitted with the best model so far and its gap,
    and KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import KernelSVM
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelSVM(C=10).fit(X, y)
    >>> model.predict(X).tolist(), model.n_support_.tolist()
    ([0, 1, 1, 0], [2, 2])
    >>> model.duality_gap_ <= model.tol * model.objective_
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 500,
        max_iter: int = 100_000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one machine for each pair of classes, until its duality gap is at most ``tol``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The examples; for a precomputed kernel the kernel matrix, of shape (n_samples, n_samples).
        y : sequence of n_samples labels
            Their classes, two or more.
        sample_weight : sequence of n_samples floats, optional
            Factor of C for each example; 0 leaves it out.

        Returns
        -------
        self
            This estimator.
        """
        return self._fit_labels(X, encoded(self, y), sample_weight)

    def _fit_codes(self: Self, X: Any, codes: Any, classes: NDArray[Any], sample_weight: Any = None) -> Self:
        """Do what ``fit`` does for labels that are places in the sorted ``classes``; each must have an example."""
        return self._fit_labels(X, checked_labels(codes, classes), sample_weight)

    def _fit_labels(self: Self, X: Any, labels: Labels, sample_weight: Any) -> Self:
        C, tol, max_iter = self._check_numbers()
        with undone_on_error(self):
            problem, kernel = self._checked(X, labels, sample_weight)
            weights = np.ones(problem.n) if problem.weights is None else problem.weights
            check_costs(C * weights[weights > 0])
            codes = [code for code in range(len(problem.classes)) if (weights[problem.codes == code] > 0).any()]
            pairs: list[_Pair] = []
            rounds = Rounds()
            with interrupts() as pressed, RoundProgress.shown_if(bool(self.verbose)) as watch:
                began = time.perf_counter()
                for first, second in combinations(codes, 2):
                    here = np.flatnonzero(np.isin(problem.codes, (first, second)) & (weights > 0))
                    positive = second if len(problem.classes) == 2 else first
                    signs = np.where(problem.codes[here] == positive, 1.0, -1.0)
                    rows = problem.rows if len(here) == problem.n else kernel.subset(problem.rows, here)
                    waited = time.perf_counter() - began
                    machine = KernelRun(
                        kernel, rows, signs, C * weights[here], tol=tol,
                        max_iter=max_iter, megabytes=self.cache_size, n_jobs=threads(self.n_jobs), pressed=pressed,
                        watch=watch,
                    ).run()  # fmt: skip
                    rounds.rounds += [
                        Round(*each[:3], each.seconds + waited, machine=len(pairs)) for each in machine.rounds
                    ]
                    pairs.append(_Pair(first, second, here, signs, machine))
            self._keep(problem, kernel, pairs)
            self.history_ = rounds
            self.status_ = _joint_status(pairs, problem.classes)
        if not self.status_.converged and not self.status_.interrupted:
            advice = "Scale the features, or raise max_iter or tol."
            warnings.warn(f"{self.status_}. {advice}", ConvergenceWarning, stacklevel=3)
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _check_numbers(self) -> tuple[float, float, int]:
        C, tol = number("C", self.C), number("tol", self.tol)
        if not 0 < C < math.inf:
            raise ValueError(f"C must be a positive number; found {self.C!r}")
        if not 0 < tol < math.inf:
            raise ValueError(f"tol must be a positive number; found {self.tol!r}")
        threads(self.n_jobs)
        return C, tol, count("max_iter", self.max_iter)

    def _validate_machines(self, n_classes: int, n_support: int) -> None:
        pairs, counts = n_classes * (n_classes - 1) // 2, self.n_support_
        fits = is_array(self.dual_coef_, "f8", (n_classes - 1, n_support), finite=True)
        require(fits, "its dual_coef_ are not of their shape")
        require(is_array(self.intercept_, "f8", (pairs,), finite=True), "its intercept_ is not of its shape")
        require(is_index(counts) and len(counts) == n_classes, "its n_support_ is damaged")
        fits = bool((counts >= 0).all()) and int(counts.sum(dtype=np.int64)) == n_support
        require(fits, "its n_support_ does not count its support_")

    def _keep(self, problem: Problem, kernel: Kernel, pairs: list[_Pair]) -> None:
        """Set the fitted attributes."""
        classes = problem.classes
        supports = np.zeros(problem.n, dtype=bool)
        for pair in pairs:
            supports[pair.rows[pair.machine.alpha > 0]] = True
        index = np.flatnonzero(supports)
        index = index[np.argsort(problem.codes[index], kind="stable")]
        place = np.zeros(problem.n, dtype=np.intp)
        place[index] = np.arange(len(index))
        every = list(combinations(range(len(classes)), 2))
        self.dual_coef_ = np.zeros((len(classes) - 1, len(index)))
        self.intercept_ = np.zeros(len(every))
        for first, second, rows, signs, machine in pairs:
            for code, other in ((first, second), (second, first)):
                mine = (problem.codes[rows] == code) & (machine.alpha > 0)
                # As in SVC, row k of the coefficients is about the k-th of the *other* classes.
                row = other if other < code else other - 1
                self.dual_coef_[row, place[rows[mine]]] = machine.alpha[mine] * signs[mine]
            self.intercept_[every.index((first, second))] = machine.bias
        trained = {code for pair in pairs for code in (pair.first, pair.second)}
        for k, (first, second) in enumerate(every):
            if (first in trained) != (second in trained):  # a class without weight loses against all others
                self.intercept_[k] = 1.0 if first in trained else -1.0
        self.classes_ = classes
        self._precision = "float32" if any(pair.machine.precision == "float32" for pair in pairs) else "float64"
        self._center = kernel.center(problem.rows.values)
        self._keep_support(problem, kernel, index)
        self.n_support_ = np.bincount(problem.codes[index], minlength=len(classes)).astype(np.int32)
        self.n_iter_ = sum(len(pair.machine.rounds) for pair in pairs)
        self.objective_ = sum(pair.machine.primal for pair in pairs)
        self.duality_gap_ = sum(pair.machine.gap for pair in pairs)

    # ------------------------------------------------------------------------------------------ predicting

    def pair_coefficients(self) -> tuple[Floats, Floats]:
        """Return the coefficient of each support vector in the machine of each pair of classes, and their biases."""
        every = list(combinations(range(len(self.classes_)), 2))
        coef = np.zeros((len(self.support_), len(every)))
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        for k, (first, second) in enumerate(every):
            one, other = (slice(ends[code], ends[code + 1]) for code in (first, second))
            coef[one, k], coef[other, k] = self.dual_coef_[second - 1, one], self.dual_coef_[first, other]
        return coef, self.intercept_

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row for two classes, (n,), or a score for each of more, (n, n_classes)."""
        check_is_fitted(self, "dual_coef_")
        rows = self._checked_new(X)
        coef, bias = self.pair_coefficients()
        with np.errstate(over="ignore", invalid="ignore"):
            activations = rows.checked_activations(self._activations(rows, coef, threads(self.n_jobs)) + bias)
        if len(self.classes_) == 2:
            return np.asarray(activations[:, 0])
        return _scores(activations, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; an activation of exactly 0 is positive."""
        codes = self._predict_codes(X)
        return np.asarray(self.classes_[codes])

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Return the place in ``classes_`` of each row's class."""
        activations = self.decision_function(X)
        return predicted_codes(activations, len(self.classes_), tie_is_positive=True)


def _scores(activations: Floats, n_classes: int) -> Floats:
    """Return one score a class from one activation a pair: votes, plus between -1/3 and 1/3 from the activations.

    Examples
    --------
    >>> _scores(np.array([[1.0, 1.0, -1.0]]), 3)  # 0 beats 1, 0 beats 2, 2 beats 1
    array([[ 2.22222222, -0.22222222,  1.        ]])
    """
    votes, sums = np.zeros((2, len(activations), n_classes))
    for k, (first, second) in enumerate(combinations(range(n_classes), 2)):
        sums[:, first] += activations[:, k]
        sums[:, second] -= activations[:, k]
        won = activations[:, k] >= 0
        votes[won, first] += 1
        votes[~won, second] += 1
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))


def _joint_status(pairs: list[_Pair], classes: NDArray[Any]) -> Status:
    """Return one status for all pairs."""
    statuses = [pair.machine.status for pair in pairs]
    if len(pairs) == 1:
        return statuses[0]
    interrupted = any(status.interrupted for status in statuses)
    worst = max(pairs, key=lambda pair: (not pair.machine.status.converged, pair.machine.gap / pair.machine.primal))
    names = " and ".join(repr(classes[code : code + 1].tolist()[0]) for code in (worst.first, worst.second))
    failed = sum(not status.converged for status in statuses)
    if failed:
        text = f"{failed} of {len(pairs)} pairs of classes did not converge; {names}: {worst.machine.status}"
        return Status(text, False, interrupted)
    text = f"all {len(pairs)} pairs of classes converged; worst pair {names}: {worst.machine.status}"
    return Status(text, True, interrupted)
