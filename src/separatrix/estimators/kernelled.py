"""What the estimators with a kernel share: parameters, checked data, and kernel values of new examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.contract import BaseEstimator, ClassifierMixin, validate_data
from separatrix.estimators.fitting import check_fitted, number, weigh_classes
from separatrix.geometry.kernel_cache import capacity
from separatrix.geometry.kernels import KERNELS, Kernel, check_kernel
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.loop.problem import Labels, Problem
from separatrix.models.probing import probe
from separatrix.models.validity import is_array, is_index, require

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
        if not len(self.support_):  # a model without an update: every activation is the bias
            yield 0, np.empty((rows.shape[0], 0), dtype=dtype)
            return
        values = self._kernel.with_support(self.support_vectors_, self.support_, dtype, self._center, n_jobs)
        for begin in range(0, rows.shape[0], step):
            yield begin, values(rows.values[begin : begin + step], begin)

    # ------------------------------------------------------------------------------------------ checks

    def validate(self) -> None:
        """Refuse a model whose parts do not fit together, which only a forged or damaged file could hold."""
        if callable(self.kernel):
            raise ValueError(
                f"its kernel is a function, which a model file cannot keep: use one of {', '.join(KERNELS)} instead"
            )
        width, n_classes = check_fitted(self)
        require(n_classes >= 2, "it knows one class only")
        self._check_numbers()
        self._check_kernel()
        self._validate_support(width)
        self._validate_machines(n_classes, len(self.support_))
        probe(self)

    def _check_numbers(self) -> Any:
        """Refuse parameters that cannot be meant."""

    def _validate_machines(self, n_classes: int, n_support: int) -> None:
        """Refuse coefficients that are not of these classes and support vectors."""

    def _validate_support(self, width: int) -> None:
        require(isinstance(self._kernel, Kernel), "it has no kernel")
        support, vectors, center = self.support_, self.support_vectors_, self._center
        require(is_index(support), "its support_ is damaged")
        n = len(support)
        require(n == 0 or support.min() >= 0, "its support_ names rows that cannot be")
        if self._kernel.precomputed:
            require(is_array(vectors, "f8", (0, 0)), "its support vectors are damaged")
            require(n == 0 or support.max() < width, "its support_ names rows that cannot be")
        else:
            rows = is_sparse(vectors) or isinstance(vectors, np.ndarray)
            fits = rows and vectors.dtype.name in ("float32", "float64") and vectors.shape == (n, width)
            require(fits, "its support vectors are not of their shape")
            data = vectors.data if is_sparse(vectors) else vectors
            require(np.isfinite(data).all(), "its support vectors are not finite")
        require(center is None or is_array(center, "f8", (width,), finite=True), "its center is damaged")
        require(self._precision in ("float32", "float64"), "its precision is unknown")
