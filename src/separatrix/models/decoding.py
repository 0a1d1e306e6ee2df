"""Reading: a JSON tree and named arrays become a value again, or are refused; codec.py says which there are."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.models.codec import (
    DTYPE_TEXT,
    DTYPES,
    MOST_DEPTH,
    MOST_NODES,
    TYPES,
    Arrays,
    RefusedError,
    most_blanks,
)
from separatrix.models.registry import Registry

_HEX = re.compile(r"-?0x[0-9a-f]{1,65536}", re.ASCII)
_BITS = re.compile(r"[0-9a-f]{16}", re.ASCII)


def decode(tree: Any, arrays: Arrays, registry: Registry) -> Any:
    """Return the value; the arrays are taken out of the dictionary."""
    decoder = _Decoder(registry, arrays)
    value = decoder.value(tree, 0)
    if arrays:
        raise RefusedError(f"nothing in it uses the array {next(iter(arrays))!r:.60}")
    return value


class _Decoder:
    def __init__(self, registry: Registry, arrays: Arrays) -> None:
        self._registry = registry
        self._arrays = arrays
        self._nodes = 0
        self._blank = self._characters = 0  # of all tables of text

    def value(self, tree: Any, depth: int) -> Any:
        self._count(1)
        if depth > MOST_DEPTH:
            raise RefusedError("it is nested too deeply")
        kind = type(tree)
        if tree is None or kind in (bool, str):
            return tree
        if kind is int:
            return tree if -(2**63) <= tree < 2**63 else _refuse("a whole number is too large")
        if kind is float:
            return tree if math.isfinite(tree) else _refuse("a number is not finite")
        if kind is list:
            return [self.value(each, depth + 1) for each in tree]
        if kind is not dict or len(tree) != 1:
            raise RefusedError(f"it holds {tree!r:.60} where a value belongs")
        ((tag, content),) = tree.items()
        decoder = _DECODERS.get(tag)
        if decoder is None:
            raise RefusedError(f"it holds a value of the unknown kind {tag!r:.60}")
        return decoder(self, content, depth + 1)

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise RefusedError("it holds too many values")

    def _take(self, name: Any, kinds: Iterable[str] = DTYPES, dims: int | None = None) -> NDArray[Any]:
        array = self._arrays.pop(name, None) if isinstance(name, str) else None
        if array is None:
            raise RefusedError(f"the array {name!r:.60} is missing, or used twice")
        if array.dtype.name not in kinds or (dims is not None and array.ndim != dims):
            raise RefusedError(f"the array {name!r:.60} is of the wrong kind")
        return array

    def _listed(self, content: Any, length: int | None = None) -> list[Any]:
        if not isinstance(content, list) or (length is not None and len(content) != length):
            raise RefusedError(f"it holds {content!r:.60} where a list belongs")
        return content

    def _values(self, content: Any, depth: int) -> list[Any]:
        values = self.value(content, depth)
        return values if isinstance(values, list) else _refuse("a list is missing")

    def _int(self, content: Any, depth: int) -> int:
        if not isinstance(content, str) or not _HEX.fullmatch(content):
            raise RefusedError(f"it holds {content!r:.60} where a whole number belongs")
        return int(content, 16)

    def _float(self, content: Any, depth: int) -> float:
        if not isinstance(content, str) or not _BITS.fullmatch(content):
            raise RefusedError(f"it holds {content!r:.60} where a number belongs")
        return float(struct.unpack(">d", bytes.fromhex(content))[0])

    def _tuple(self, content: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.value(each, depth) for each in self._listed(content))

    def _dict(self, content: Any, depth: int) -> dict[Any, Any]:
        keys, values = (self._values(part, depth) for part in self._listed(content, 2))
        if len(keys) != len(values) or not all(_is_key(key) for key in keys):
            raise RefusedError("the keys of a dictionary are not what they should be")
        entries = dict(zip(keys, values, strict=True))
        return entries if len(entries) == len(keys) else _refuse("a dictionary has a key twice")

    def _set(self, content: Any, depth: int) -> set[Any]:
        members = self._values(content, depth)
        if not all(_is_key(each) for each in members):
            raise RefusedError("the members of a set are not what they should be")
        return set(members) if len(set(members)) == len(members) else _refuse("a set has a member twice")

    def _frozenset(self, content: Any, depth: int) -> frozenset[Any]:
        return frozenset(self._set(content, depth))

    def _fraction(self, content: Any, depth: int) -> Fraction:
        top, bottom = (self._int(part, depth) for part in self._listed(content, 2))
        return Fraction(top, bottom) if bottom > 0 else _refuse("a fraction is without denominator")

    def _slice(self, content: Any, depth: int) -> slice:
        parts = [self.value(part, depth) for part in self._listed(content, 3)]
        if not all(part is None or type(part) in (int, str) for part in parts):
            raise RefusedError("the ends of a slice are not what they should be")
        return slice(*parts)

    def _array(self, content: Any, depth: int) -> NDArray[Any]:
        return self._take(content)

    def _transposed(self, content: Any, depth: int) -> NDArray[Any]:
        return self._take(content).T

    def _floats(self, content: Any, depth: int) -> Any:
        return self._take(content, ("float64",), 1).tolist()

    def _ints(self, content: Any, depth: int) -> Any:
        return self._take(content, ("int64",), 1).tolist()

    def _bools(self, content: Any, depth: int) -> Any:
        return self._take(content, ("bool",), 1).tolist()

    def _texts(self, content: Any, depth: int) -> list[str]:
        names = self._listed(content, 2)
        together, lengths = self._take(names[0], ("uint8",), 1), self._take(names[1], ("int64",), 1)
        if (lengths < 0).any() or (lengths > len(together)).any() or int(lengths.sum()) != len(together):
            raise RefusedError("the lengths of its texts are wrong")
        data, ends = together.tobytes(), np.cumsum(lengths).tolist()
        try:
            return [data[begin:end].decode("utf-8", "surrogatepass")
                    for begin, end in zip([0, *ends], ends, strict=False)]  # fmt: skip
        except UnicodeDecodeError:
            raise RefusedError("its texts are not in UTF-8") from None

    def _text(self, content: Any, depth: int) -> NDArray[Any]:
        shape, width, tree = self._listed(content, 3)
        values = self._values(tree, depth)
        count = _size(shape)
        if type(width) is not int or width < 0 or len(values) != count or not all(type(v) is str for v in values):
            raise RefusedError("a table of text is not what it should be")
        longest = max((len(each) for each in values), default=0)
        characters = sum(map(len, values))
        self._characters += characters
        self._blank += width * count - characters
        if longest > width or self._blank > most_blanks(self._characters):
            raise RefusedError("a table of text has the wrong width")
        return np.array(values, dtype=f"<U{width}").reshape(shape)

    def _bytes(self, content: Any, depth: int) -> NDArray[Any]:
        shape, width, name = self._listed(content, 3)
        raw = self._take(name, ("uint8",), 1)
        if type(width) is not int or width < 1 or _size(shape) * width != len(raw):
            raise RefusedError("a table of bytes is not what it should be")
        return np.frombuffer(raw.tobytes(), dtype=f"S{width}").reshape(shape).copy()

    def _cells(self, content: Any, depth: int) -> NDArray[Any]:
        shape, tree = self._listed(content, 2)
        values = self._values(tree, depth)
        if len(values) != _size(shape) or not all(
            each is None or type(each) in (bool, int, float, str) or isinstance(each, np.generic) for each in values
        ):
            raise RefusedError("a table of values is not what it should be")
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(shape)

    def _scalar(self, content: Any, depth: int) -> Any:
        name, tree = self._listed(content, 2)
        value = self.value(tree, depth)
        if name == "str" and type(value) is str:
            return np.str_(value)
        wanted = {"f": float, "i": int, "u": int, "b": bool}[np.dtype(name).kind] if name in DTYPES else None
        if wanted is None or type(value) is not wanted:
            raise RefusedError("a number of NumPy is not what it should be")
        try:
            with np.errstate(over="ignore"):
                return np.dtype(name).type(value)
        except OverflowError:
            raise RefusedError("a number of NumPy is too large for its type") from None

    def _type(self, content: Any, depth: int) -> Any:
        return TYPES[content] if isinstance(content, str) and content in TYPES else _refuse("a type is unknown")

    def _dtype(self, content: Any, depth: int) -> Any:
        if not isinstance(content, str) or not DTYPE_TEXT.fullmatch(content):
            raise RefusedError("a type is unknown")
        try:
            return np.dtype(content)
        except TypeError:
            raise RefusedError("a type is unknown") from None

    def _csr(self, content: Any, depth: int) -> Any:
        from scipy import sparse

        kind, shape, *trees = self._listed(content, 5)
        data, indices, indptr = (self.value(tree, depth) for tree in trees)
        _size(shape)
        if kind not in ("csr_array", "csr_matrix") or len(shape) != 2:
            raise RefusedError("a sparse matrix is not what it should be")
        arrays = (data, indices, indptr)
        if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays):
            raise RefusedError("a sparse matrix is not what it should be")
        rows, columns = shape
        if (
            data.dtype.name not in DTYPES
            or {indices.dtype.name, indptr.dtype.name} - {"int32", "int64"}
            or len(indptr) != rows + 1
            or len(data) != len(indices)
            or indptr[0] != 0
            or indptr[-1] != len(indices)
            or (indptr[1:] < indptr[:-1]).any()
            or (len(indices) and not (indices.min() >= 0 and indices.max() < columns))
        ):
            raise RefusedError("the arrays of a sparse matrix do not fit together")
        return getattr(sparse, kind)((data, indices, indptr), shape=(rows, columns))

    def _object(self, content: Any, depth: int) -> Any:
        name, trees = self._listed(content, 2)
        if not isinstance(name, str) or not isinstance(trees, dict):
            raise RefusedError("an object is not what it should be")
        return self._registry.put_together(name, {key: self.value(tree, depth) for key, tree in trees.items()})

    def _objects(self, content: Any, depth: int) -> list[Any]:
        name, keys, trees = self._listed(content, 3)
        columns = [self._values(tree, depth) for tree in self._listed(trees)]
        lengths = {len(column) for column in columns}
        if not isinstance(name, str) or len(lengths) != 1 or not all(type(key) is str for key in self._listed(keys)):
            raise RefusedError("a list of objects is not what it should be")
        if len(set(keys)) != len(columns) or len(keys) != len(columns):
            raise RefusedError("a list of objects is not what it should be")
        self._count(lengths.pop() * len(columns))
        return [
            self._registry.put_together(name, dict(zip(keys, parts, strict=True)))
            for parts in zip(*columns, strict=True)
        ]  # fmt: skip


def _refuse(text: str) -> Any:
    raise RefusedError(text)


def _is_key(value: Any) -> bool:
    if type(value) is tuple:
        return all(_is_key(each) for each in value)
    return value is None or type(value) in (bool, int, float, str, Fraction) or isinstance(value, np.generic)


def _size(shape: Any) -> int:
    """Return how many entries a table of this shape has, or refuse it."""
    if not isinstance(shape, list) or len(shape) > 8:
        raise RefusedError("the shape of a table is not what it should be")
    if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
        raise RefusedError("the shape of a table is not what it should be")
    return math.prod(shape)


_DECODERS: dict[str, Callable[[_Decoder, Any, int], Any]] = {
    "int": _Decoder._int,
    "float": _Decoder._float,
    "tuple": _Decoder._tuple,
    "dict": _Decoder._dict,
    "set": _Decoder._set,
    "frozenset": _Decoder._frozenset,
    "fraction": _Decoder._fraction,
    "slice": _Decoder._slice,
    "array": _Decoder._array,
    "transposed": _Decoder._transposed,
    "floats": _Decoder._floats,
    "ints": _Decoder._ints,
    "bools": _Decoder._bools,
    "texts": _Decoder._texts,
    "text": _Decoder._text,
    "bytes": _Decoder._bytes,
    "cells": _Decoder._cells,
    "scalar": _Decoder._scalar,
    "type": _Decoder._type,
    "dtype": _Decoder._dtype,
    "csr": _Decoder._csr,
    "object": _Decoder._object,
    "objects": _Decoder._objects,
}
