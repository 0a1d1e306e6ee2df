"""What every estimator's fit needs: checked parameters, joined classes, a fingerprint of the data, undo on errors."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.device_rows import namespace, on_device, to_numpy
from separatrix.geometry.rows import is_sparse
from separatrix.loop.engines import check_reduction
from separatrix.loop.problem import Labels, Problem, check_weights, encode_labels
from separatrix.loop.state import Status
from separatrix.models.probing import is_fitted
from separatrix.models.validity import check_jobs, check_width, require
from separatrix.stops import is_count


def number(name: str, value: Any) -> float:
    """Return a parameter as a float, or refuse it by name."""
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number; found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number") from None


def check_batch(size: Any, reduction: Any) -> None:
    """Refuse a batch size or a way to join the updates of a batch that cannot be meant."""
    if not (is_count(size) or (isinstance(size, str) and size == "all")):
        raise ValueError(f"batch_size must be a whole number of at least 1, or 'all'; found {size!r}")
    check_reduction(reduction)


def check_free_bias(scaling: Any) -> None:
    """Refuse an ``intercept_scaling`` that is neither None, for a bias that costs nothing, nor a constant."""
    if scaling is not None and not 0 < number("intercept_scaling", scaling) < 1e150:
        raise ValueError(
            "intercept_scaling must be None, for a bias that costs nothing, or a positive number below 1e150; "
            f"found {scaling!r}"
        )


def check_costs(costs: NDArray[np.float64]) -> None:
    """Refuse costs of slack, C times the weights, whose sums or squares may overflow."""
    if not (costs.min() >= 1e-150 and costs.max() <= 1e150):
        raise ValueError(
            f"C times the weights must lie between 1e-150 and 1e150; found {costs.min():g} to {costs.max():g}"
        )


def count(name: str, value: Any) -> int:
    """Return a parameter that must be a whole number of at least 1, or refuse it by name."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; found {value!r}")
    return int(value)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads that n_jobs stands for."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer)):
        raise TypeError(f"n_jobs must be a whole number or None; found {n_jobs!r}")
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # nobody can have told it otherwise
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def encoded(estimator: Any, y: Any) -> Labels:
    """Return the labels that an estimator was given, as codes."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if on_device(y):
        labels = device_labels(y)
        if labels is not None:
            return labels
        y = to_numpy(y)
    if not (isinstance(y, np.ndarray) and y.ndim == 1):
        from sklearn.utils import column_or_1d

        y = column_or_1d(y, warn=True)
    return encode_labels(y)


def device_labels(y: Any) -> Labels | None:
    """Return labels on a device as codes, if they are two whole numbers; None for others."""
    xp = namespace(y)
    if y.ndim != 1 or not y.shape[0] or not xp.isdtype(y.dtype, "integral"):
        return None
    low, high = xp.min(y), xp.max(y)
    if not bool(xp.all((y == low) | (y == high))):
        return None
    classes = np.unique(np.array([int(low), int(high)], dtype=to_numpy(y[:1]).dtype))
    codes = to_numpy(xp.astype(y == high, xp.int32)) if len(classes) > 1 else np.zeros(y.shape[0], dtype=np.int32)
    return Labels(classes, codes)


def checked_labels(codes: Any, classes: NDArray[Any]) -> Labels:
    """Return labels that are given as codes; refuse codes of no class, and classes without any example."""
    codes = np.asarray(codes, dtype=np.int32)
    if not len(codes):
        raise ValueError("there are no examples")
    counts = np.bincount(codes, minlength=len(classes)) if codes.min() >= 0 else ()
    if len(counts) != len(classes):
        raise ValueError(f"codes must be places in the {len(classes)} classes; found {codes.min()} to {codes.max()}")
    if not np.all(counts):
        label = classes[np.argmin(counts) :].tolist()[0]
        raise ValueError(f"the class {label!r} has no examples: leave it out of the classes")
    return Labels(classes, codes)


def joined(labels: Labels, *others: Any) -> Labels:
    """Return the labels as codes of their own classes and all others; all must be of one kind."""
    given = [part for part in others if part is not None]
    if all(part is labels.classes for part in given):
        return labels
    parts = [labels.classes, *(encode_labels(part).classes for part in given)]
    if all(part.dtype == parts[0].dtype and np.array_equal(parts[0], part) for part in parts[1:]):
        return labels
    if len({part.dtype.kind in "biuf" for part in parts}) > 1:
        shown = " and ".join(repr(part.tolist()[0]) for part in parts)
        raise ValueError(f"labels must be all numbers or all text; found {shown}")
    classes = np.asarray(np.unique(np.concatenate(parts)))
    return Labels(classes, np.searchsorted(classes, labels.classes).astype(np.int32)[labels.codes])


def expected(labels: Labels, classes: Any) -> Labels:
    """Return the labels as codes of all expected classes, where they are given; refuse a label that is none of them."""
    whole = joined(labels, classes)
    if classes is not None:
        known = encode_labels(classes).classes
        unknown = np.setdiff1d(labels.classes, known).tolist()
        if unknown:
            raise ValueError(
                f"y holds the label {unknown[0]!r}, which is not in classes={known.tolist()!r}: add it there, or leave "
                "classes out, and new classes are learned when they are first seen"
            )
    return whole


def weigh_classes(problem: Problem, class_weight: Any) -> None:
    """Multiply the weights of a problem's examples by those of their classes."""
    if class_weight is None:
        return
    from sklearn.utils.class_weight import compute_class_weight

    if isinstance(class_weight, str):
        places = np.arange(len(problem.classes))
        by_class = compute_class_weight(class_weight, classes=places, y=problem.codes)
    else:
        by_class = compute_class_weight(class_weight, classes=problem.classes, y=problem.classes)
    weights = by_class[problem.codes] * (1.0 if problem.weights is None else problem.weights)
    problem.weights = check_weights(weights, problem.n, what="class_weight")


def class_factors(class_weight: Any, classes: NDArray[Any], counts: Any) -> NDArray[np.float64] | None:
    """Return the weight of each class, None where all weigh 1; ``counts`` are the examples of each, for "balanced"."""
    if class_weight is None:
        return None
    from sklearn.utils.class_weight import compute_class_weight

    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(np.sum(counts) / (len(classes) * np.asarray(counts, dtype=np.float64)))
    by_class = compute_class_weight(class_weight, classes=classes, y=classes)
    return check_weights(by_class, len(classes), what="class_weight")


def refuse_weightless(problem: Problem) -> None:
    """Refuse a class of which every example has weight 0: nothing could be learned about it."""
    if problem.weights is None:
        return
    totals = np.bincount(problem.codes, problem.weights, len(problem.classes))
    if np.all(totals):
        return
    label = problem.classes[np.argmin(totals) :].tolist()[0]
    raise ValueError(f"every example of the class {label!r} has weight 0: leave its rows out, or give them weight")


def fingerprint(problem: Problem) -> tuple[Any, ...]:
    """Return a fingerprint of the data: its shape, checksums of all labels and weights, and of some of the rows."""
    values = problem.rows.values
    sample = values[:: max(1, problem.n // 64)]
    arrays = (sample.indices, sample.data) if is_sparse(sample) else (sample,)
    weights = () if problem.weights is None else (problem.weights,)
    return (
        problem.n,
        problem.d,
        *(zlib.crc32(np.ascontiguousarray(a).tobytes()) for a in (problem.codes, *weights, *arrays)),
    )


_TOO_LARGE = "values of X, weights or parameters are so large that sums overflow; scale the features first"
_LEARNED = ("coef_", "intercept_", "coefs_", "intercepts_", "dual_coef_")


@contextmanager
def undone_on_error(estimator: Any) -> Iterator[None]:
    """Restore the estimator on an error: a failed fit leaves the last one as it was.

    Sums may overflow in it without a warning: what was learned must be finite at its end.
    """
    before = dict(vars(estimator))
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
        for name in _LEARNED:
            parts = getattr(estimator, name, ())
            if not all(np.isfinite(part).all() for part in (parts if isinstance(parts, list) else [parts])):
                raise ValueError(f"{name} would not be finite numbers: {_TOO_LARGE}")
    except BaseException as problem:
        callbacks = {name: value for name, value in vars(estimator).items() if "callback" in name}
        vars(estimator).clear()
        vars(estimator).update({**before, **callbacks})
        if isinstance(problem, OverflowError):
            own = len(problem.args) == 1  # Python's own have a number and no advice
            raise ValueError(problem.args[0] if own else f"a number is too large: {_TOO_LARGE}") from None
        raise


def check_fitted(model: Any) -> tuple[int, int]:
    """Return the number of features and of classes of a fitted estimator, or refuse what cannot be one."""
    name = type(model).__name__
    require(is_fitted(model), f"the {name} is not fitted: call fit first")
    for parameter in model.get_params(deep=False):
        require(parameter in vars(model), f"the {name} has no {parameter}")
    check_jobs(model)
    width = check_width(model)
    classes: Any = getattr(model, "classes_", None)
    plain = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 0
    if plain and classes.dtype.kind not in "biufUSO":
        raise ValueError(f"its classes_ are of the type {classes.dtype}, which a model file cannot keep")
    require(plain and np.array_equal(np.unique(classes), classes), "its classes_ are not sorted labels")
    require(type(getattr(model, "status_", None)) is Status, "its status_ is damaged")
    return width, len(classes)
