"""Problem: checked data that every engine can trust.

Here: what an acceptable X, y and sample_weight are, and one clear sentence for each that is not. Not here: what is
learned from them. A problem holds X without a copy when it is C-ordered or CSR, float32 or float64; other numeric types
are converted once (integers, booleans and wider floats to float64, float16 to float32). Labels of any kind become codes
0..k-1 in sorted order; in a two-class problem code 1 is the class +1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core

Floats = NDArray[np.float64]


class Rows:
    """Checked rows: ``values`` (dense or CSR), the same as a core ``matrix``, and the columns' ``names``."""

    def __init__(self, X: Any, *, what: str = "X") -> None:
        self.names = column_names(X)
        values = _from_frame(X, what) if self.names is not None else X
        self.values: Any
        self.values, self.matrix = _sparse(values, what) if _is_sparse(values) else _dense(values, what)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    def check_finite(self, rows: Iterable[int] | None = None) -> None:
        """Raise ValueError naming the first NaN or infinity among these rows (all, if None)."""
        if rows is None:
            bad = _core.first_bad_row(self.matrix, 0, self.shape[0])
            if bad >= 0:
                self.refuse_row(bad)
            return
        for row in rows:
            if _core.first_bad_row(self.matrix, int(row), int(row) + 1) >= 0:
                self.refuse_row(int(row))

    def refuse_row(self, row: int) -> None:
        """Raise ValueError naming the NaN or infinity in this row, if there is one."""
        values = self.values[[row]].toarray()[0] if _is_sparse(self.values) else self.values[row]
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            column = int(bad[0])
            name = f" ({self.names[column]!r})" if self.names else ""
            found = "NaN" if np.isnan(values[column]) else "infinity"
            raise ValueError(
                f"X contains {found} in row {row}, column {column}{name}: every value must be a finite number "
                "(fill or drop missing values first; inputs with NaN or inf are not accepted)"
            )


def column_names(X: Any) -> list[str] | None:
    """Return the names of a pandas or polars frame's columns, None for anything else."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return [str(name) for name in X.columns]
    return None


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def _from_frame(X: Any, what: str) -> Any:
    values = X.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    columns = []
    for name in X.columns:
        column = np.asarray(X[name].to_numpy())
        if column.dtype.kind not in "biuf":
            column = _numbers(column, f"column {str(name)!r} of {what}")
        columns.append(column)
    return np.stack(columns, axis=1).astype(np.float64, copy=False) if columns else np.empty((len(X), 0))


def _numbers(values: NDArray[Any], where: str) -> Floats:
    """Turn an array of Python objects into floats, or name the first value that is not a number."""
    try:
        if values.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {where} holds complex numbers; real numbers are accepted")
        if values.dtype.kind != "O":
            raise ValueError(f"{where} holds text")
        if any(isinstance(v, complex) for v in values.flat):
            raise ValueError(f"Complex data not supported: {where} holds complex numbers; real numbers are accepted")
        return values.astype(np.float64)
    except (TypeError, ValueError) as problem:
        if "Complex" in str(problem):
            raise
        for place, found in np.ndenumerate(values):
            value = found.item() if isinstance(found, np.generic) else found
            try:
                if isinstance(value, str | bytes) or values.dtype.kind in "mM":
                    raise ValueError("text")
                float(value)
            except (TypeError, ValueError) as reason:
                at = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
                kind = TypeError if isinstance(reason, TypeError) else ValueError
                detail = f" ({reason})" if kind is TypeError else ""
                raise kind(
                    f"{where} holds {value!r} in {at}, where a number belongs{detail}; encode text columns as "
                    "numbers first"
                ) from None
        raise


def _dense(X: Any, what: str) -> tuple[NDArray[Any], _core.Matrix]:
    try:
        values = np.asarray(X)
    except ValueError as problem:
        raise ValueError(f"{what} cannot be read as a table of numbers: its rows differ in length") from problem
    if values.ndim != 2:
        advice = ": Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one example"
        raise ValueError(
            f"{what} must have 2 dimensions (rows and columns); found an array with dim {values.ndim} "
            f"and shape {values.shape}{advice if values.ndim == 1 else ''}"
        )
    _check_size(values.shape, what)
    if values.dtype.kind not in "biuf":
        values = _numbers(values, what)
    elif values.dtype.type not in (np.float32, np.float64):
        values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    itemsize = values.itemsize
    plain = values.strides[1] == itemsize or values.shape[1] == 1
    plain = plain and (values.shape[0] == 1 or values.strides[0] >= values.shape[1] * itemsize)
    if not (plain and values.strides[0] % itemsize == 0 and values.flags.aligned and values.dtype.isnative):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    return values, _core.dense(values)


def _sparse(X: Any, what: str) -> tuple[Any, _core.Matrix]:
    if X.ndim != 2:
        raise ValueError(f"{what} must have 2 dimensions; found a sparse array with {X.ndim}. Reshape your data")
    _check_size(X.shape, what)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} holds complex numbers; real numbers are accepted")
    if X.format != "csr":
        X = X.tocsr()
    if X.dtype.type not in (np.float32, np.float64):
        X = X.astype(np.float64)
    matrix = _core_csr(X)
    if not matrix.canonical:  # entries out of order or twice: one checked copy puts them right
        X = X.copy()
        X.sum_duplicates()
        matrix = _core_csr(X)
    return X, matrix


def _core_csr(X: Any) -> _core.Matrix:
    wide = X.indices.dtype == np.int64 or X.indptr.dtype == np.int64
    index = np.int64 if wide else np.int32
    indices, indptr = (np.ascontiguousarray(array, dtype=index) for array in (X.indices, X.indptr))
    return _core.csr(np.ascontiguousarray(X.data), indices, indptr, X.shape[1])


def _check_size(shape: Sequence[int], what: str) -> None:
    for count, noun in ((shape[0], "sample"), (shape[1], "feature")):
        if count == 0:
            raise ValueError(f"{what} has 0 {noun}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def encode_labels(y: Any, n: int | None = None) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct labels and each example's place among them.

    Examples
    --------
    >>> encode_labels(["spam", "ham", "spam"])
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1], dtype=int32))
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label for each row (1 dimension); found shape {labels.shape}")
    if n is not None and len(labels) != n:
        raise ValueError(f"X and y differ in length: X has {n} rows, y has {len(labels)} labels")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers; use whole numbers or text")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise ValueError(f"y contains NaN or infinity in row {row}: Input y contains NaN; every row needs a label")
        if (labels != np.trunc(labels)).any():
            row = int(np.flatnonzero(labels != np.trunc(labels))[0])
            raise ValueError(
                f"Unknown label type: continuous (y holds {labels[row]} in row {row}); "
                "a classifier needs class labels, such as whole numbers or text"
            )
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels):
            if label is None or label != label:
                raise ValueError(f"y contains a missing label ({label!r}) in row {row}; every row needs a label")
    return _two_labels(labels) or _many_labels(labels)


def _two_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Encode one or two distinct labels in three passes, without sorting; None when there are more."""
    if len(labels) == 0:
        return None
    first = labels == labels[0]
    if not isinstance(first, np.ndarray):
        return None
    if first.all():
        return labels[:1].copy(), np.zeros(len(labels), dtype=np.int32)
    other = labels[int(np.argmin(first))]
    if not ((labels == other) | first).all():
        return None
    try:
        ascending = bool(labels[0] < other)
    except TypeError:
        return None
    classes = np.array([labels[0], other] if ascending else [other, labels[0]], dtype=labels.dtype)
    return classes, (first ^ ascending).astype(np.int32)


def _many_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * len(labels) and high < 2**62 and low > -(2**62):  # count instead of sorting
            seen = np.bincount((labels - labels.dtype.type(low)).astype(np.intp), minlength=high - low + 1) > 0
            code = np.cumsum(seen, dtype=np.int32) - np.int32(1)
            classes = (np.flatnonzero(seen) + low).astype(labels.dtype)
            return classes, code[(labels - labels.dtype.type(low)).astype(np.intp)]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"y mixes labels that cannot be sorted ({kinds}); use one kind of label") from None
    return classes, codes.astype(np.int32)


def check_weights(sample_weight: Any, n: int) -> Floats | None:
    """Return the weights as float64, None when there are none."""
    if sample_weight is None:
        return None
    try:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers, one for each row") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight for each row")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"sample_weight holds {weights[row]} in row {row}: weights must be finite and not negative")
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere: at least one example must count")
    return weights


class Problem:
    """Rows, labels, weights and the bias coordinate, checked and ready for an engine.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row for each example.
    y : sequence
        One label for each example, of any kind that can be sorted.
    sample_weight : sequence of float, optional
        How often each example counts; 0 leaves it out.
    bias : float or None, default=1.0
        The constant K that stands as one more coordinate of every example; None or 0 for a plane through the origin.
    classes : array, optional
        All labels there are, sorted, when y may not show them all.
    check_finite : bool, default=True
        Look at every value now. With False, whoever reads the rows must look.

    Examples
    --------
    >>> problem = Problem([[1.0, 1.0], [0.0, -1.0]], ["yes", "no"])
    >>> problem.signs()
    array([ 1, -1], dtype=int32)
    >>> problem.square_norms()
    array([3., 2.])
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        bias: float | None = 1.0,
        classes: NDArray[Any] | None = None,
        check_finite: bool = True,
    ) -> None:
        self.rows = X if isinstance(X, Rows) else Rows(X)
        self.n, self.d = self.rows.shape
        self.classes, self.codes = encode_labels(y, self.n)
        if classes is not None:
            self.codes = np.searchsorted(classes, self.classes).astype(np.int32)[self.codes]
            self.classes = classes
        self.weights = check_weights(sample_weight, self.n)
        self.bias = check_bias(bias)
        self.exact = False
        self.finite = check_finite
        if check_finite:
            self.rows.check_finite()

    @classmethod
    def from_exact(cls, X: Sequence[Sequence[Any]], y: Any, *, bias: Any = 1) -> Problem:
        """Return a problem whose numbers are ints and Fractions, for the reference engine only.

        A float stands for the decimal number that it prints as: 0.1 is one tenth.
        """
        problem = cls.__new__(cls)
        table = np.array([[as_exact(value) for value in row] for row in X], dtype=object)
        if table.ndim != 2 or 0 in table.shape:
            raise ValueError(f"X must be a table with at least one row and one column; found shape {table.shape}")
        problem.rows = Rows(table)
        problem.n, problem.d = problem.rows.shape
        problem.rows.values = table
        problem.rows.names = column_names(X)
        problem.classes, problem.codes = encode_labels(y, problem.n)
        problem.weights = None
        problem.bias = as_exact(check_bias(bias))
        problem.exact = True
        problem.finite = True
        return problem

    def signs(self, positive: int = 1) -> NDArray[np.int32]:
        """Return +1 for the class of this code and -1 for all others."""
        return np.where(self.codes == positive, 1, -1).astype(np.int32)

    def square_norms(self) -> Floats:
        """Return ``|x|^2`` of every row, the bias coordinate included."""
        return np.asarray(_core.square_norms(self.rows.matrix) + float(self.bias) ** 2)


def check_bias(bias: Any) -> Any:
    """Return the bias constant K, 0 for none."""
    if bias is None:
        return 0.0
    if isinstance(bias, str) or not (0 <= bias < float("inf")):
        raise ValueError(f"the bias constant must be zero or a positive finite number; found {bias!r}")
    return bias


def as_exact(value: Any) -> Any:
    """Return an int or a Fraction equal to the number, reading a float as the decimal that it prints as.

    Examples
    --------
    >>> as_exact(0.1)
    Fraction(1, 10)
    >>> as_exact(2.0)
    2
    """
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        raise ValueError(f"NaN and infinity have no exact value; found {value!r}")
    try:
        exact = value if isinstance(value, Fraction) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{value!r} is not a number") from None
    return int(exact) if exact.denominator == 1 else exact
