"""What the estimators with a kernel share: parameters, checked data, and kernel values of new examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from separatrix.estimators.fitting import check_codes, number, weigh_classes
from separatrix.geometry.kernel_cache import capacity
from separatrix.geometry.kernels import KERNELS, Kernel, check_kernel
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Labels, Problem

_BLOCK = 1 << 22  # kernel values of new examples computed at once


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier with a kernel; see the subclasses."""

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
        kernel = KERNELS.get(self.kernel) if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = kernel is not None and kernel.precomputed
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_kernel(self) -> Kernel:
        """Return the kernel, its gamma perhaps still a string; refuse a bad ``cache_size``."""
        size = number("cache_size", self.cache_size)
        capacity(1, size, np.float64)
        return check_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _checked(self, X: Any, labels: Labels, sample_weight: Any) -> tuple[Problem, Kernel]:
        """Return the problem, weighted by example and by class, and the kernel for its rows."""
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
            name, label = type(self).__name__, present.tolist()[0]
            raise ValueError(f"{name} needs examples of at least two classes; found one class: {label!r}")
        problem.rows = kernel.check_examples(rows)
        return problem, kernel.for_rows(problem.rows, original)

    def _keep_support(self, problem: Problem, kernel: Kernel, index: NDArray[np.intp]) -> None:
        """Keep the examples that predictions need."""
        self.support_ = index
        self.support_vectors_ = kernel.support_vectors(problem.rows, index)
        self._kernel = kernel

    def _checked_new(self, X: Any) -> Rows:
        rows = Rows(X)
        rows.check_finite()
        self._kernel.check_new(rows, self.n_features_in_, type(self).__name__)
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
        """Yield the first row of each block of new examples, and their kernel with the support vectors."""
        single = (
            self._precision == "float32" and self.support_vectors_.dtype == np.float32
        )  # float64 rows need float64 values
        dtype = np.float32 if single else np.float64
        values = self._kernel.with_support(self.support_vectors_, self.support_, dtype, self._center, n_jobs)
        for begin in range(0, rows.shape[0], step):
            yield begin, values(rows.values[begin : begin + step], begin)
