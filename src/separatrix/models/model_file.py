"""Saving models and loading them again: a safetensors file with a JSON tree in its metadata.

The arrays of a model are the tensors of the file; everything else is the tree (codec.py), which names them. A file is
written by hand, because its bytes should depend on the model alone, and safetensors does not promise an order for
metadata; safetensors reads it. Reading runs nothing from the file: classes are found by name in a list (registry.py),
and each object is checked by its method ``validate`` before anyone can use it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import stat
import struct
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from separatrix.files import write_whole
from separatrix.models.codec import DTYPES, Arrays, RefusedError
from separatrix.models.decoding import decode
from separatrix.models.encoding import encode
from separatrix.models.registry import Registry
from separatrix.text import read_json

FORMAT = "separatrix model"
SCHEMA = 1
MOST_HEADER = 1 << 25  # bytes
_FIELDS = ("checksum", "format", "kind", "numpy", "schema", "scikit-learn", "separatrix", "tree")
_CODES = {"bool": "BOOL"} | {name: f"{name[0].upper()}{np.dtype(name).itemsize * 8}" for name in DTYPES[:-1]}
_NAMES = {code: name for name, code in _CODES.items()}
_CHUNK = 1 << 24  # bytes written at once


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, from which :func:`load` gives it back.

    The file appears whole or not at all: if anything goes wrong, what was at ``path`` is still there. The same model
    gives the same bytes. The data of ``fit`` are not in it, so that ``certificate_`` is for the model in memory only;
    nor are callbacks of scikit-learn, a pipeline's ``memory`` and a ColumnTransformer's ``n_jobs``. A generator given
    as ``random_state`` is replaced by the seed that was drawn from it.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a scikit-learn Pipeline of scalers, encoders, imputers and vectorisers
        of text that ends in one. Steps that open files, call functions, or search for words by a pattern that is not a
        plain one are refused.
    path : str or path
        Where to; by custom the name ends in ``.sx``.

    Examples
    --------
    >>> import os, tempfile
    >>> import separatrix as sx
    >>> X, y = sx.datasets.load("lecture-000")
    >>> model = sx.Perceptron(shuffle=False).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.sx")
    ...     sx.save(model, path)
    ...     again = sx.load(path)
    >>> again.coef_.tolist() == model.coef_.tolist(), str(again.status_)
    (True, 'converged: no mistakes (epoch 3)')
    """
    from separatrix.models.steps import check_model

    kind = check_model(model)
    try:
        tree, arrays = encode(model, Registry())
    except RefusedError as problem:
        raise ValueError(str(problem)) from None
    except Exception as problem:
        raise ValueError(f"this {kind} cannot be saved: {_line(problem)}") from problem
    metadata = {
        "format": FORMAT,
        "kind": kind,
        "numpy": np.__version__,
        "schema": str(SCHEMA),
        "scikit-learn": _sklearn_version(),
        "separatrix": _own_version(),
        "tree": _dumps(tree),
    }
    metadata["checksum"] = _checksum(metadata, arrays)
    header = _header(metadata, arrays)
    if len(header) > MOST_HEADER:
        raise ValueError(f"this {kind} cannot be saved: it holds more than a model file has room for besides arrays")

    def write(file: BinaryIO) -> None:
        file.write(struct.pack("<Q", len(header)))
        file.write(header)
        for name in _ordered(arrays):
            data = _bytes(arrays[name]).data
            for begin in range(0, len(data), _CHUNK):
                file.write(data[begin : begin + _CHUNK])

    write_whole(path, write)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model in a file that :func:`save` wrote.

    It predicts the same, bit for bit, and can go on learning where the one that was saved stood. Nothing in the file is
    run. A file that is damaged, that was made up, or that holds something else is refused with a ValueError of one
    sentence, which begins with its name.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        The model.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.load("no-such-file.sx")
    Traceback (most recent call last):
    ...
    ValueError: no-such-file.sx: there is no such file
    """
    shown = _shown(path)
    return build(_read(path, shown, None), shown)


def build(raw: bytes, shown: str) -> Any:
    """Return the model in the bytes of a file; refusals call it by the name ``shown``."""
    from separatrix.models.steps import check_model

    metadata, arrays = _open(raw, shown)
    del raw
    registry, written = Registry(), metadata["scikit-learn"]
    foreign = written != _sklearn_version()
    try:
        tree = read_json(metadata["tree"], "its tree")
        model = decode(tree, arrays, registry)
        check_model(model)
        if tree["object"][0] != metadata["kind"]:
            raise RefusedError("it is not of the kind that it says")
    except Exception as problem:
        also = f" (it was written with scikit-learn {written:.20}, this is {_sklearn_version()})" if foreign else ""
        raise ValueError(f"{shown} is damaged: {_line(problem)}{also if registry.foreign else ''}") from None
    if foreign and registry.foreign:
        warnings.warn(
            f"{shown} holds steps of scikit-learn {written:.20}, and this is {_sklearn_version()}: they may behave "
            "differently",
            stacklevel=3,
        )
    return model


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says about itself, without building the model.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        ``kind``, the class of the model; ``schema``; and the versions of ``separatrix``, ``numpy`` and ``scikit-learn``
        that wrote it. The arrays are not read, so that damage to them is not noticed here.
    """
    shown = _shown(path)
    metadata = _metadata(_read(path, shown, MOST_HEADER + 8), shown)[0]
    return {**{name: metadata[name] for name in ("kind", "separatrix", "numpy", "scikit-learn")}, "schema": SCHEMA}


# ---------------------------------------------------------------------------------------------- the file


def _header(metadata: dict[str, str], arrays: Arrays) -> bytes:
    """Return the header: names in order, offsets without gaps, filled up with blanks to a multiple of 8."""
    entries: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    end = 0
    for name in _ordered(arrays):
        array, begin = arrays[name], end
        end += array.nbytes
        entries[name] = {"dtype": _CODES[array.dtype.name], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = _dumps(entries).encode("ascii")
    return text + b" " * (-len(text) % 8)


def _ordered(arrays: Arrays) -> list[str]:
    """Return the names in the order of the file: wide types first, so that every number is aligned."""
    return sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(metadata: dict[str, str], arrays: Arrays) -> str:
    """Return the SHA-256 of everything that the file says."""
    digest = hashlib.sha256()
    for name, text in sorted(metadata.items()):
        if name != "checksum":
            for part in (name, text):
                data = part.encode("utf-8", "surrogatepass")
                digest.update(struct.pack("<Q", len(data)) + data)
    for name in sorted(arrays):
        array = arrays[name]
        about = _dumps([name, array.dtype.name, list(array.shape)]).encode("ascii")
        digest.update(struct.pack("<Q", len(about)) + about)
        digest.update(_bytes(array).data)
    return digest.hexdigest()


def _read(path: Any, shown: str, most: int | None) -> bytes:
    """Return what is in a file, or say why it cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError(f"{shown}: this is {'a folder' if Path(path).is_dir() else 'no file'}, not a model file")
        with open(path, "rb") as file:
            return file.read() if most is None else file.read(most)
    except FileNotFoundError:
        raise ValueError(f"{shown}: there is no such file") from None
    except OSError as problem:
        raise ValueError(f"{shown}: it cannot be read: {problem.strerror or problem}") from None
    except MemoryError:
        raise ValueError(f"{shown}: it is too large for the memory of this machine") from None
    except ValueError as problem:
        if str(problem).startswith(shown):
            raise
        raise ValueError(f"{shown}: it cannot be read: {_line(problem)}") from None


def _metadata(raw: bytes, shown: str) -> tuple[dict[str, str], dict[str, Any], bytes]:
    """Return the metadata, what the header says about tensors, and the header itself."""
    stranger = ValueError(f"{shown} is not a model file of separatrix, or its beginning is damaged")
    length = struct.unpack("<Q", raw[:8])[0] if len(raw) >= 8 else 0
    if not 2 <= length <= MOST_HEADER:
        raise stranger
    header = raw[8 : 8 + length]
    try:
        entries = read_json(header.decode("ascii"), "its header")
        metadata = entries.pop("__metadata__")
        known = metadata["format"] == FORMAT
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        if len(header) < length and FORMAT.encode() in header:
            raise ValueError(f"{shown} is damaged: it ends too early") from None
        raise stranger from None
    if not known:
        raise stranger
    schema = metadata.get("schema")
    if isinstance(schema, str) and schema.isascii() and schema.isdigit() and len(schema) < 10 and int(schema) > SCHEMA:
        raise ValueError(
            f"{shown} was written by a newer separatrix (model schema {int(schema)}; this one reads {SCHEMA}): update "
            "the package"
        )
    fields = sorted(set(metadata) - {"facts"})  # which files of version 0.1 have
    plain = tuple(fields) == _FIELDS and all(isinstance(text, str) for text in metadata.values())
    if schema != str(SCHEMA) or not plain:
        raise ValueError(f"{shown} is damaged: its metadata are not what they should be")
    return metadata, entries, header


def _open(raw: bytes, shown: str) -> tuple[dict[str, str], Arrays]:
    """Return the metadata and the arrays of a file, once its checksum is right."""
    import safetensors

    metadata, entries, header = _metadata(raw, shown)
    try:
        for entry in entries.values():
            if entry["dtype"] not in _NAMES:
                raise RefusedError("an array is of an unknown type")
        arrays = {name: _array(part) for name, part in safetensors.deserialize(raw)}  # type: ignore[no-untyped-call, unused-ignore]
        if _header(metadata, arrays) != header:
            raise RefusedError("its beginning is not as it was written")
        if _checksum(metadata, arrays) != metadata["checksum"]:
            raise RefusedError("its checksum is wrong")
    except safetensors.SafetensorError as problem:
        raise ValueError(f"{shown} is damaged: its arrays cannot be read ({_line(problem)})") from None
    except Exception as problem:
        raise ValueError(f"{shown} is damaged: {_line(problem)}") from None
    return metadata, arrays


def _array(part: dict[str, Any]) -> NDArray[Any]:
    kind = np.dtype(_NAMES[part["dtype"]]).newbyteorder("<")
    if kind == np.bool_ and not set(part["data"]) <= {0, 1}:
        raise RefusedError("an array of truth values holds something else")
    return np.frombuffer(part["data"], dtype=kind).reshape(part["shape"]).astype(kind.newbyteorder("="))


# ---------------------------------------------------------------------------------------------- words


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


# Messages of Python's own TypeErrors; those that say something of the file are kept.
_ADDRESS = re.compile("<[^<>]* at 0x[0-9a-fA-F]+>")
_OF_PYTHON = re.compile(
    "not supported between|unsupported operand|object of type|argument of type|object (?:is not|cannot|does not)|"
    "has no len|non-iterable|positional argument|keyword argument|indices must be|can only concatenate|only integer"
)


def _line(problem: Exception) -> str:
    """Return an error's message as one line."""
    text = " ".join(str(problem).split()) or type(problem).__name__
    if _ADDRESS.search(text):
        return "its parts do not fit together"
    if isinstance(problem, TypeError) and _OF_PYTHON.search(text):
        return "its parts do not fit together"
    if isinstance(problem, AttributeError) and hasattr(problem.obj, "get_params"):
        return f"{problem.name} is missing"
    if not isinstance(problem, ValueError | TypeError | MemoryError) and type(problem).__name__ != "SafetensorError":
        return "its parts do not fit together"
    return text if len(text) <= 300 else f"{text[:297]}..."


def _shown(path: Any) -> str:
    return " ".join(os.fsdecode(os.fspath(path)).splitlines())


def _own_version() -> str:
    import separatrix

    return separatrix.__version__


def _sklearn_version() -> str:
    """Return the version of scikit-learn, which need not be imported: from its source, which is read the fastest."""
    spec = importlib.util.find_spec("sklearn")
    if spec is not None and os.path.isfile(file := spec.origin or ""):
        written = re.search(r'^__version__ = "([^"]+)"$', Path(file).read_text(encoding="utf-8"), re.MULTILINE)
        if written is not None:
            return written[1]
    from importlib.metadata import version

    return version("scikit-learn")
