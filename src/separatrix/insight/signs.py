"""Labels as the signs +1 and -1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.loop.problem import encode_labels


def label_signs(y: Any, n: int) -> NDArray[np.int64]:
    """Return +1 for the larger of two labels and -1 for the other; labels that are all alike must be +1, -1 or 0.

    Examples
    --------
    >>> label_signs(["no", "yes"], 2).tolist(), label_signs([0, 0], 2).tolist()
    ([-1, 1], [-1, -1])
    """
    classes, codes = encode_labels(y if isinstance(y, np.ndarray) else list(y), n)
    if len(classes) == 1:
        return np.full(n, one_sign(classes[0]), dtype=np.int64)
    if len(classes) > 2:
        raise ValueError(f"a plane separates two classes; y has {len(classes)} ({', '.join(map(str, classes[:6]))})")
    return np.where(codes == 1, 1, -1).astype(np.int64)


def one_sign(label: Any) -> int:
    """Return the sign of a label that is 1, -1 or 0 (the negative class of Lecture 004)."""
    if isinstance(label, str | bytes) or np.ndim(label) or label not in (1, -1, 0):
        raise ValueError(f"y has only the label {label!r}: a single label must be 1, -1 or 0 to say which class it is")
    return 1 if label == 1 else -1
