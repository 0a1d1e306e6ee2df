"""Model files that nobody saved: taken apart, changed, and put together again with the right checksum."""

from __future__ import annotations

import json
import random
import struct

import numpy as np

from separatrix.models.codec import DTYPES
from separatrix.models.model_file import _bytes, _checksum, _header, _metadata, _open, _ordered


def apart(raw):
    """Return the metadata, the tree and the arrays of a model file."""
    metadata, arrays = _open(raw, "file")
    return metadata, json.loads(metadata["tree"]), arrays


def together(metadata, tree, arrays):
    """Return the bytes of a model file that has these, its checksum right."""
    metadata = {**metadata, "tree": tree if isinstance(tree, str) else json.dumps(tree)}
    metadata["checksum"] = _checksum(metadata, arrays)
    header = _header(metadata, arrays)
    data = b"".join(_bytes(arrays[name]).tobytes() for name in _ordered(arrays))
    return struct.pack("<Q", len(header)) + header + data


def reheaded(raw, change):
    """Return the file with other metadata and a right checksum."""
    metadata, _, _ = _metadata(raw, "file")
    _, tree, arrays = apart(raw)
    return together({**metadata, **change}, tree, arrays)


def nodes(tree, path=()):
    """Yield the place of every node of the tree."""
    yield path
    if isinstance(tree, dict | list):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from nodes(part, (*path, key))


def at(tree, path):
    """Return what is at this place."""
    for key in path:
        tree = tree[key]
    return tree


def put(tree, path, value):
    """Return the tree with another value at this place."""
    if not path:
        return value
    at(tree, path[:-1])[path[-1]] = value
    return tree


def attribute(tree, *names):
    """Return the place of an attribute of the object at the root, or of one inside it."""
    path = ()
    for name in names:
        path = (*path, name) if isinstance(name, int) or name == "tuple" else (*path, "object", 1, name)
    at(tree, path)
    return path


ODD = json.loads("""[
    null, true, false, 0, -1, 1, 2, 3, 7, 255, 2147483648, 4611686018427387904, -9223372036854775808, 0.0, -0.0, 0.5,
    -1.5, 1e308, 5e-324, "", "a", "inf", "last", "voted", "passthrough", "drop", "precomputed", "linear", "poly", "all",
    "online", "dual", [], [0], [[]], {}, {"tuple": []}, {"tuple": [1, 2]}, {"dict": [[], []]}, {"dict": [["a"], [1]]},
    {"set": [1]}, {"int": "0x1000000000000000000000000"}, {"float": "7ff8000000000000"}, {"float": "7ff0000000000000"},
    {"float": "fff0000000000000"}, {"slice": [null, 1, null]}, {"scalar": ["float64", 1.0]}, {"scalar": ["int32", 5]},
    {"scalar": ["str", "b"]}, {"type": "float64"}, {"dtype": "<f8"}, {"dtype": "|O"}, {"fraction": ["0x1", "0x3"]},
    {"text": [[1], 1, ["a"]]}, {"cells": [[1], ["a"]]}, {"cells": [[2], [null, 1]]}, {"object": ["NoMistakes", {}]},
    {"object": ["MaxEpochs", {"epochs": 2}]}, {"object": ["os.system", {}]}, {"unknown": 1}
]""")


def mutated(raw, seed):
    """Return the file with one to four changes to its tree and arrays, its checksum right."""
    chance = random.Random(seed)
    metadata, tree, arrays = apart(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if arrays and chance.random() < 0.35:
            name = chance.choice(sorted(arrays))
            arrays[name] = _changed(arrays[name], chance)
        else:
            tree = _other_tree(tree, chance)
    return together(metadata, tree, arrays)


def _other_tree(tree, chance):
    path = chance.choice(list(nodes(tree)))
    node = at(tree, path)
    what = chance.randrange(8)
    if what == 0 and path:
        holder = at(tree, path[:-1])
        del holder[path[-1]]
    elif what == 1 and isinstance(node, list) and node:
        node.append(node[chance.randrange(len(node))])
    elif what == 2 and isinstance(node, dict) and node:
        key = chance.choice(sorted(node))
        node[chance.choice(["x", "predict", "__class__", "coef_", "n_jobs", "object", "tuple", key + "_"])] = node.pop(
            key
        )
    elif what == 3:
        return put(tree, path, json.loads(json.dumps(at(tree, chance.choice(list(nodes(tree)))))))
    elif what == 4 and type(node) is int:
        return put(tree, path, max(min(node + chance.choice((-1, 1, 2**31, -node * 2)), 2**63 - 1), -(2**63)))
    else:
        return put(tree, path, json.loads(json.dumps(chance.choice(ODD))))
    return tree


def _changed(array, chance):
    what = chance.randrange(7)
    if what == 0:
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(DTYPES))
    if what == 1:
        return array.ravel()[: chance.randrange(array.size + 1)].copy()
    if what == 2:
        return np.concatenate([array.ravel(), array.ravel()])
    if what == 3:
        return array[None]
    if what == 4:
        return array.T.copy()
    array = array.copy()
    if array.size:
        place = chance.randrange(array.size)
        odd = [0, 1, -1, 2, 100, 2**31 - 1, -(2**31), float("nan"), float("inf"), 1e300, -1e300, 1e-320]
        value = chance.choice(odd if array.dtype.kind == "f" else odd[:7])
        with np.errstate(all="ignore"):
            array.reshape(-1)[place] = np.array(value).astype(array.dtype)
    return array
