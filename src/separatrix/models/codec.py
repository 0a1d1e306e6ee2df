"""Values as a JSON tree and named arrays, and back: a closed set of kinds, nothing else.

None, true, false, text, whole numbers of up to 63 bits, finite floats and lists are themselves in the tree. Everything
else is an object with one key, which names the kind: see ``_DECODERS`` in decoding.py. Arrays, long lists of numbers
and long lists of text are not in the tree: it names them. Objects are written by the name of their class, which must be
in the registry (registry.py); no name of a module is ever read. Every array belongs to one place of the tree.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

MOST_NODES = 5_000_000
MOST_DEPTH = 64
DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8",
          "uint64", "uint32", "uint16", "uint8", "bool")  # fmt: skip
TYPES: dict[str, Any] = {name: np.dtype(name).type for name in DTYPES} | {
    "number": np.number, "integer": np.integer, "floating": np.floating, "object_": np.object_, "str_": np.str_,
    "python int": int, "python float": float, "python bool": bool, "python str": str, "python object": object,
}  # fmt: skip
TYPE_NAMES = {kind: name for name, kind in TYPES.items()}
DTYPE_TEXT = re.compile(r"[<|][biuf][1248]|\|O|<U[0-9]{1,4}", re.ASCII)
_PADDING, _MOST_PADDING, _BY_CHARACTER = 1 << 22, 1 << 26, 64


def most_blanks(characters: int) -> int:
    """Return how many characters all tables of text together may leave blank, which have so many that are not.

    A blank takes memory, and no room in the file.
    """
    return min(_PADDING + _BY_CHARACTER * characters, _MOST_PADDING)


class RefusedError(ValueError):
    """A value that no model file can keep, or a tree that none has."""
