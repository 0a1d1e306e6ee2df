"""Values as a JSON tree and named arrays, and back: a closed set of kinds, nothing else.

None, true, false, text, whole numbers of up to 63 bits, finite floats and lists are themselves in the tree. Everything
else is an object with one key, which names the kind: see ``_DECODERS``. Arrays, long lists of numbers and long lists of
text are not in the tree: it names them. Objects are written by the name of their class, which must be known to the
``Known`` that is given; no name of a module is ever read. Every array belongs to one place of the tree.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

MOST_NODES = 5_000_000
MOST_DEPTH = 64
DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8",
          "uint64", "uint32", "uint16", "uint8", "bool")  # fmt: skip
_TYPES: dict[str, Any] = {name: np.dtype(name).type for name in DTYPES} | {
    "number": np.number, "integer": np.integer, "floating": np.floating, "object_": np.object_, "str_": np.str_,
    "python int": int, "python float": float, "python bool": bool, "python str": str, "python object": object,
}  # fmt: skip
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
_DTYPE_TEXT = re.compile(r"[<|][biuf][1248]|\|O|<U[0-9]{1,6}", re.ASCII)
_HEX = re.compile(r"-?0x[0-9a-f]{1,65536}", re.ASCII)
_BITS = re.compile(r"[0-9a-f]{16}", re.ASCII)
_LONG = 32  # entries, from which on a list is kept as an array
_PADDING = 1 << 26  # characters that all tables of text together may leave blank


class RefusedError(ValueError):
    """A value that no model file can keep, or a tree that none has."""


class Known(Protocol):
    """Which classes may be written and read."""

    def name_of(self, kind: type) -> str | None:
        """Return the name under which this class is written, None if it is not."""
        ...

    def take_apart(self, name: str, value: Any, where: str) -> dict[str, Any]:
        """Return the parts of an object."""
        ...

    def put_together(self, name: str, parts: dict[str, Any]) -> Any:
        """Return the object with these parts, or refuse them."""
        ...


def encode(value: Any, known: Known) -> tuple[Any, Arrays]:
    """Return the tree of a value and the arrays that it names."""
    encoder = _Encoder(known)
    return encoder.tree(value, "", 0), encoder.arrays


def decode(tree: Any, arrays: Arrays, known: Known) -> Any:
    """Return the value; the arrays are taken out of the dictionary."""
    decoder = _Decoder(known, arrays)
    value = decoder.value(tree, 0)
    if arrays:
        raise RefusedError(f"nothing in it uses the array {next(iter(arrays))!r:.60}")
    return value


# ---------------------------------------------------------------------------------------------- writing


class _Encoder:
    def __init__(self, known: Known) -> None:
        self.arrays: Arrays = {}
        self._known = known
        self._open: set[int] = set()
        self._nodes = 0
        self._blank = 0

    def tree(self, value: Any, where: str, depth: int) -> Any:
        self._nodes += 1
        if depth > MOST_DEPTH or self._nodes > MOST_NODES:
            raise RefusedError(f"{_at(where)} is nested too deeply, or the whole is too large, for a model file")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**63 else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}
        if id(value) in self._open:
            raise RefusedError(f"{_at(where)} holds itself, which a model file cannot keep")
        self._open.add(id(value))
        try:
            return self._inner(value, kind, where, depth + 1)
        finally:
            self._open.discard(id(value))

    def _inner(self, value: Any, kind: type, where: str, depth: int) -> Any:
        if kind is list:
            return self._list(value, where, depth)
        if kind is tuple:
            return {"tuple": [self.tree(each, f"{where}.{k}", depth) for k, each in enumerate(value)]}
        if kind is dict:
            keys = self._list(list(value), f"{where}.keys", depth)
            return {"dict": [keys, self._list(list(value.values()), f"{where}.values", depth)]}
        if kind in (set, frozenset):
            members = sorted(
                value, key=lambda each: (type(each).__name__, each if isinstance(each, str) else hash(each))
            )
            return {kind.__name__: self._list(members, where, depth)}
        if kind is Fraction:
            return {"fraction": [hex(value.numerator), hex(value.denominator)]}
        if kind is slice:
            return {"slice": [self.tree(each, where, depth) for each in (value.start, value.stop, value.step)]}
        if kind is np.ndarray:
            return self._array(value, where, depth)
        if isinstance(value, np.generic):
            return {"scalar": self._scalar(value, where, depth)}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        if isinstance(value, np.dtype):
            text = value.str.replace(">", "<")
            if not _DTYPE_TEXT.fullmatch(text):
                raise RefusedError(f"{_at(where)} is the type {value}, which a model file cannot keep")
            return {"dtype": text}
        if _is_csr(value):
            return self._csr(value, where, depth)
        name = self._known.name_of(kind)
        if name is None:
            raise RefusedError(f"{_at(where)} is {described(value)}, which a model file cannot keep")
        parts = self._known.take_apart(name, value, where)
        return {"object": [name, {key: self.tree(part, _join(where, key), depth) for key, part in parts.items()}]}

    def _keep(self, array: NDArray[Any], where: str) -> str:
        name = where.removeprefix(".") or "value"
        assert name not in self.arrays
        self.arrays[name] = array
        return name

    def _list(self, values: list[Any], where: str, depth: int) -> Any:
        kinds = {type(each) for each in values} if len(values) >= _LONG else set()
        if kinds == {float}:
            return {"floats": self._keep(np.array(values), where)}
        if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
            return {"ints": self._keep(np.array(values, dtype=np.int64), where)}
        if kinds == {bool}:
            return {"bools": self._keep(np.array(values), where)}
        if kinds == {str}:
            return {"texts": self._texts(values, where)}
        name = self._known.name_of(next(iter(kinds))) if len(kinds) == 1 else None
        if name is not None:
            parts = [self._known.take_apart(name, each, where) for each in values]
            keys = list(parts[0])
            if keys and all(list(part) == keys for part in parts):
                columns = [self.tree([part[key] for part in parts], f"{where}.{key}", depth) for key in keys]
                return {"objects": [name, keys, columns]}
        return [self.tree(each, f"{where}.{k}", depth) for k, each in enumerate(values)]

    def _texts(self, values: list[str], where: str) -> list[str]:
        parts = [each.encode("utf-8", "surrogatepass") for each in values]
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        together = np.frombuffer(b"".join(parts), dtype=np.uint8)
        return [self._keep(together, f"{where}.text"), self._keep(lengths, f"{where}.lengths")]

    def _array(self, value: NDArray[Any], where: str, depth: int) -> Any:
        if value.dtype.name in DTYPES:
            native = value.astype(value.dtype.newbyteorder("<"), copy=False)
            if native.flags.f_contiguous and not native.flags.c_contiguous:  # sums may depend on it
                return {"transposed": self._keep(native.T, where)}
            return {"array": self._keep(np.ascontiguousarray(native).reshape(native.shape), where)}
        shape = list(value.shape)
        if value.dtype.kind == "U":
            values = value.ravel().tolist()
            width, longest = value.dtype.itemsize // 4, max((len(each) for each in values), default=0)
            blank = width * value.size - sum(map(len, values))
            if self._blank + blank > _PADDING:
                width, blank = longest, longest * value.size - sum(map(len, values))
            self._blank += blank
            if self._blank > _PADDING:
                raise RefusedError(
                    f"{_at(where)} holds texts of such different lengths that a model file cannot keep them"
                )
            return {"text": [shape, width, self._list(values, where, depth)]}
        if value.dtype.kind == "S" and value.dtype.itemsize:
            raw = np.frombuffer(value.tobytes(), dtype=np.uint8)
            return {"bytes": [shape, value.dtype.itemsize, self._keep(raw, where)]}
        if value.dtype.kind == "O":
            for each in value.flat:
                if not (each is None or type(each) in (bool, int, float, str) or isinstance(each, np.generic)):
                    raise RefusedError(f"{_at(where)} holds {described(each)}, which a model file cannot keep")
            return {"cells": [shape, self._list(value.ravel().tolist(), where, depth)]}
        raise RefusedError(f"{_at(where)} is an array of {value.dtype}, which a model file cannot keep")

    def _scalar(self, value: Any, where: str, depth: int) -> list[Any]:
        if type(value) is np.str_:
            return ["str", str(value)]
        if value.dtype.name not in DTYPES:
            raise RefusedError(f"{_at(where)} is a number of the type {value.dtype}, which a model file cannot keep")
        return [value.dtype.name, self.tree(value.item(), where, depth)]

    def _csr(self, value: Any, where: str, depth: int) -> Any:
        named = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        parts = [self._array(part, f"{where}.{name}", depth) for name, part in named.items()]
        return {"csr": [type(value).__name__, list(value.shape), *parts]}


def _is_csr(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse") and type(value).__name__ in ("csr_array", "csr_matrix")


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _at(where: str) -> str:
    return where.removeprefix(".") or "the model"


def described(value: Any) -> str:
    """Return what this is, for a sentence."""
    if callable(value) and hasattr(value, "__qualname__") and not isinstance(value, type):
        return f"a function ({value.__qualname__})"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


# ---------------------------------------------------------------------------------------------- reading


class _Decoder:
    def __init__(self, known: Known, arrays: Arrays) -> None:
        self._known = known
        self._arrays = arrays
        self._nodes = 0
        self._blank = 0

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
        found = self.value(content, depth)
        return found if isinstance(found, list) else _refuse("a list is missing")

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
        found = dict(zip(keys, values, strict=True))
        return found if len(found) == len(keys) else _refuse("a dictionary has a key twice")

    def _set(self, content: Any, depth: int) -> set[Any]:
        members = self._values(content, depth)
        if not all(_is_key(each) for each in members):
            raise RefusedError("the members of a set are not what they should be")
        return set(members)

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
        self._blank += width * count - sum(map(len, values))
        if longest > width or self._blank > _PADDING:
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
        return _TYPES[content] if isinstance(content, str) and content in _TYPES else _refuse("a type is unknown")

    def _dtype(self, content: Any, depth: int) -> Any:
        if not isinstance(content, str) or not _DTYPE_TEXT.fullmatch(content):
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
        return self._known.put_together(name, {key: self.value(tree, depth) for key, tree in trees.items()})

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
            self._known.put_together(name, dict(zip(keys, parts, strict=True)))
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
