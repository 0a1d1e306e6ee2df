"""Writing: a value becomes a JSON tree and named arrays; codec.py says which."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.models.codec import (
    DTYPE_TEXT,
    DTYPES,
    MOST_DEPTH,
    MOST_NODES,
    TYPE_NAMES,
    Arrays,
    RefusedError,
    most_blanks,
)
from separatrix.models.registry import Registry

_LONG = 32  # entries, from which on a list is kept as an array


def encode(value: Any, registry: Registry) -> tuple[Any, Arrays]:
    """Return the tree of a value and the arrays that it names."""
    encoder = _Encoder(registry)
    return encoder.tree(value, "", 0), encoder.arrays


class _Encoder:
    def __init__(self, registry: Registry) -> None:
        self.arrays: Arrays = {}
        self._registry = registry
        self._open: set[int] = set()
        self._nodes = 0
        self._blank = self._characters = 0  # of all tables of text

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
        if isinstance(value, type) and value in TYPE_NAMES:
            return {"type": TYPE_NAMES[value]}
        if isinstance(value, np.dtype):
            text = value.str.replace(">", "<")
            if not DTYPE_TEXT.fullmatch(text):
                raise RefusedError(f"{_at(where)} is the type {value}, which a model file cannot keep")
            return {"dtype": text}
        if _is_csr(value):
            return self._csr(value, where, depth)
        name = self._registry.name_of(kind)
        if name is None:
            raise RefusedError(f"{_at(where)} is {described(value)}, which a model file cannot keep")
        parts = self._registry.take_apart(name, value, where)
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
        name = self._registry.name_of(next(iter(kinds))) if len(kinds) == 1 else None
        if name is not None:
            parts = [self._registry.take_apart(name, each, where) for each in values]
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
            characters = sum(map(len, values))
            self._characters += characters
            most = most_blanks(self._characters) - self._blank
            if width * value.size - characters > most:
                width = longest
            self._blank += width * value.size - characters
            if width * value.size - characters > most:
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
