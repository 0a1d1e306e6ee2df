"""Target encoding: a category as the share of each class among the training rows that have it.

The numbers are those of scikit-learn's TargetEncoder, which draws the shares of rare levels towards those of all rows.
Training rows are encoded by cross-fitting, each by the shares in the other folds, so that no row's own label is in its
features; new rows by the shares in all training rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.raw_rows import MISSING

_FOLDS = 5


def encoded_classes(classes: int) -> range:
    """Return the codes of the classes whose shares are features: the second of two, each of more."""
    return range(1, 2) if classes == 2 else range(classes)


def target_encoding(
    codes: NDArray[np.int32], levels: int, labels: NDArray[np.int32], classes: int, own_level: bool
) -> Floats:
    """Return the shares of the classes for each level, for an unknown one and for a missing one, a row each.

    Parameters
    ----------
    codes : array
        The level of each training row.
    levels : int
        How many levels there are.
    labels : array
        The class of each training row.
    classes : int
        How many classes there are.
    own_level : bool
        Whether missing values are a level of their own; otherwise they are encoded as unknown ones.

    Examples
    --------
    >>> codes, labels = np.array([0, 0, 1, 1, -1], dtype=np.int32), np.array([0, 0, 1, 1, 0], dtype=np.int32)
    >>> target_encoding(codes, 2, labels, 2, own_level=True).ravel().tolist()
    [0.0, 1.0, 0.4, 0.0]
    """
    from sklearn.preprocessing import TargetEncoder

    known = np.where(codes == MISSING, levels, codes).reshape(-1, 1)
    out = np.empty((levels + 2, len(encoded_classes(classes))))
    for place, label in enumerate(encoded_classes(classes)):
        y = (labels == label).astype(np.float64)
        shares = TargetEncoder(categories=[np.arange(levels + 1)], target_type="continuous").fit(known, y).encodings_[0]
        mean = y.mean()
        out[:, place] = [*shares[:-1], mean, shares[-1] if own_level else mean]
    return out


def cross_fitted(
    codes: NDArray[np.int32], levels: int, labels: NDArray[np.int32], classes: int, own_level: bool, seed: int
) -> Floats:
    """Return the features of training rows, each from the rows of the other folds; see :func:`target_encoding`."""
    from sklearn.model_selection import StratifiedKFold

    out = np.empty((len(codes), len(encoded_classes(classes))))
    folds: Any = StratifiedKFold(min(_FOLDS, max(2, int(np.bincount(labels).max()))), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a class with fewer rows than folds
        for others, own in folds.split(codes, labels):
            out[own] = target_encoding(codes[others], levels, labels[others], classes, own_level)[codes[own]]
    return out
