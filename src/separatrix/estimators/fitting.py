"""What every estimator's fit needs: numbers checked, classes joined, data told apart, failures undone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.loop.problem import Problem, encode_labels
from separatrix.stops import Stop

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


def number(name: str, value: Any) -> float:
    """Return a parameter as a float, or refuse it by name."""
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number; found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number") from None


def count(name: str, value: Any) -> int:
    """Return a parameter that must be a whole number of at least 1, or refuse it by name."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; found {value!r}")
    return int(value)


def check_stop(stop: Any) -> None:
    """Refuse what is not a stop rule."""
    if stop is not None and not isinstance(stop, Stop):
        raise TypeError(f"stop must be a stop rule such as NoMistakes() | TimeLimit(10); found {stop!r}")


def threads(n_jobs: int | None) -> int:
    """Return how many threads n_jobs stands for."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer)):
        raise TypeError(f"n_jobs must be a whole number or None; found {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def all_classes(y: Any, known: NDArray[Any] | None, expected: Any) -> NDArray[Any]:
    """Return the classes of these labels together with those known or expected; all must be of one kind."""
    parts = [encode_labels(part)[0] for part in (y, known, expected) if part is not None]
    if len({part.dtype.kind in "biuf" for part in parts}) > 1:
        shown = " and ".join(repr(part.tolist()[0]) for part in parts)
        raise ValueError(f"labels must be all numbers or all text; found {shown}")
    return np.asarray(np.unique(np.concatenate(parts)))


def fingerprint(problem: Problem) -> tuple[Any, ...]:
    """Return what tells this data from other data: the shape, all labels and weights, and some of the rows."""
    values = problem.rows.values
    sample = values[:: max(1, problem.n // 64)]
    arrays = (sample.indices, sample.data) if is_sparse(sample) else (sample,)
    weights = () if problem.weights is None else (problem.weights,)
    return (
        problem.n,
        problem.d,
        *(zlib.crc32(np.ascontiguousarray(a).tobytes()) for a in (problem.codes, *weights, *arrays)),
    )


@contextmanager
def undone_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was when something goes wrong: a failed fit must not spoil a good one."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        callbacks = {name: value for name, value in vars(estimator).items() if "callback" in name}
        vars(estimator).clear()
        vars(estimator).update({**before, **callbacks})
        raise
