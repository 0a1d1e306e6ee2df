"""What the estimators with a kernel share: parameters, checked data, and kernel values of new examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from separatrix.estimators.fitting import check_codes, number, weigh_classes
from separatrix.geometry.kernel_cache import capacity
from separatrix.geometry.kernels import Kernel, Points, block, check_kernel, check_precomputed
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.loop.problem import Labels, Problem

_BLOCK = 1 << 22  # kernel values of new examples held at once


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The contract with scikit-learn; see the subclasses."""

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    cache_size: float
    class_weight: Any
    verbose: int

    classes_: NDArray[Any]
    support_: NDArray[np.intp]
    support_vectors_: Any
    n_features_in_: int
    _kernel: Kernel
    _center: Floats | None
    _precision: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_kernel(self) -> Kernel:
        """Return the kernel, its gamma perhaps still a word; refuse a cache that cannot be meant."""
        size = number("cache_size", self.cache_size)
        capacity(1, size, np.float64)
        return check_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _checked(self, X: Any, labels: Labels, sample_weight: Any) -> tuple[Problem, Kernel]:
        """Return the problem, its weights those of the examples and of their classes, and the kernel for its rows."""
        kernel = self._check_kernel()
        rows = Rows(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        problem = Problem(rows, labels, sample_weight=sample_weight, bias=None)
        check_codes(problem)
        original = problem.weights  # of the examples alone
        weigh_classes(problem, self.class_weight)
        counted = problem.codes if problem.weights is None else problem.codes[problem.weights > 0]
        present = problem.classes[np.unique(counted)]
        if len(present) < 2:
            name, found = type(self).__name__, present.tolist()[0]
            raise ValueError(f"{name} needs examples of at least two classes; found one class: {found!r}")
        if kernel.name == "precomputed":
            check_precomputed(rows)
            if not np.array_equal(rows.values, rows.values.T):  # what little it lacks must not be taken for a gap
                problem.rows = rows = Rows(0.5 * (rows.values + rows.values.T))
        return problem, kernel.for_rows(rows, original)

    def _keep_support(self, problem: Problem, kernel: Kernel, index: NDArray[np.intp]) -> None:
        """Keep the examples that predictions need; of a precomputed kernel, which are columns, only their places."""
        self.support_ = index
        values = problem.rows.values
        self.support_vectors_ = np.empty((0, 0)) if kernel.name == "precomputed" else values[index]
        self._kernel = kernel

    def _checked_new(self, X: Any) -> Rows:
        rows = Rows(X)
        rows.check_finite()
        if self._kernel.name == "precomputed" and is_sparse(rows.values):
            raise ValueError("a precomputed kernel must be a dense table; found a sparse matrix: use X.toarray()")
        if self._kernel.name == "precomputed" and rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"a precomputed kernel needs one column for each of the {self.n_features_in_} examples of fit; X has "
                f"{rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                "input"
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        return rows

    def _activations(self, rows: Rows, coef: Floats, n_jobs: int = 1) -> Floats:
        """Return ``sum_i coef_ik K(x, support vector i)`` for each row x and each column k of the coefficients."""
        n = rows.shape[0]
        out = np.empty((n, coef.shape[1]))
        step = max(1, _BLOCK // max(1, len(self.support_)))
        for begin, values in self._kernel_blocks(rows, step, n_jobs):
            out[begin : begin + len(values)] = values.astype(np.float64, copy=False) @ coef
        return out

    def _kernel_blocks(self, rows: Rows, step: int, n_jobs: int = 1) -> Any:
        """Yield where each block of new examples begins and its kernel values with the support vectors."""
        kernel = self._kernel
        support = None
        single = self._precision == "float32" and self.support_vectors_.dtype == np.float32  # doubles get doubles
        precision = np.float32 if single else np.float64
        if kernel.name != "precomputed":
            support = Points(kernel, self.support_vectors_, precision, self._center, self.support_)
        for begin in range(0, rows.shape[0], step):
            values = rows.values[begin : begin + step]
            if support is None:
                yield begin, np.asarray(values[:, self.support_], dtype=np.float64)
            else:
                names = np.arange(begin, begin + values.shape[0])
                new = Points(kernel, values, precision, self._center, names)
                yield begin, block(kernel, new, support, n_jobs)
