"""Words for ``validate``: what the parts of an object that a model file holds must be like.

A class that can be stored has a method ``validate``, which raises ValueError with half a sentence about what is wrong;
whoever reads the file names it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST_THREADS = 4096


def require(condition: Any, text: str) -> None:
    """Raise ValueError with this text unless the condition holds."""
    if not condition:
        raise ValueError(text)


def is_count(value: Any, least: int = 0, most: int = 2**62) -> bool:
    """Whether this is a whole number within these bounds."""
    return type(value) is int and least <= value <= most


def is_real(value: Any) -> bool:
    """Whether this is a number, NaN and infinity among them."""
    return type(value) in (int, float) or isinstance(value, np.floating | np.integer)


def is_array(value: Any, kind: str, shape: tuple[int | None, ...], *, finite: bool = False) -> bool:
    """Whether this is an array of that type and shape, where None stands for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(kind) or value.ndim != len(shape):
        return False
    if any(wanted is not None and length != wanted for length, wanted in zip(value.shape, shape, strict=True)):
        return False
    return not finite or bool(np.isfinite(value).all())


def is_list_of(value: Any, kind: type) -> bool:
    """Whether this is a list of objects of exactly this class."""
    return type(value) is list and all(type(each) is kind for each in value)


def is_index(value: Any, kinds: str = "i") -> bool:
    """Whether this is one dimension of whole numbers."""
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds


def check_width(step: Any) -> int:
    """Return the number of features of an estimator or step, or refuse it."""
    width = getattr(step, "n_features_in_", None)
    if not isinstance(width, int) or not is_count(width, 1):
        raise ValueError("its n_features_in_ is not a number of features")
    names = getattr(step, "feature_names_in_", None)
    if names is not None:
        named = is_array(names, "O", (width,)) and all(isinstance(each, str) for each in names)
        require(named, "its feature_names_in_ are not the names of its features")
    return width


def check_jobs(step: Any) -> None:
    """Refuse more threads than any machine has."""
    jobs = getattr(step, "n_jobs", None)
    fits = jobs is None or (isinstance(jobs, int) and abs(jobs) <= _MOST_THREADS)
    require(fits, "its n_jobs is not a number of threads")
