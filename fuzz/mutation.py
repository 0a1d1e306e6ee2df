"""Changes to bytes, to text and to trees of JSON, from a random generator that is passed in."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Sequence
from typing import Any

LONGEST = 1 << 16  # bytes of a case, so that cases stay quick
WHOLE = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    256,
    32767,
    65535,
    65536,
    2**30,
    2**31 - 1,
    -(2**31),
    2**32 - 1,
    2**62,
    -(2**63),
)
ODD = (
    None,
    True,
    False,
    *WHOLE,
    0.0,
    -0.0,
    0.5,
    -1.5,
    1e308,
    5e-324,
    1e-320,
    10**400,
    "",
    "a",
    "A",
    "é",
    "\x00",
    "\x1b[31m",
    "\n",
    "\u2028",
    "\ud800",
    "inf",
    "NaN",
    "0x1",
    "-0x0",
    "1" * 5000,
    "strict",
    "weak",
    "none",
    [],
    [[]],
    [0],
    {},
    {"a": 1},
)


def changed_bytes(raw: bytes, chance: random.Random, others: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """Return the bytes with one to eight changes."""
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4, 8))):
        _change(data, chance, others, tokens)
    return bytes(data[:LONGEST]) if len(data) > max(LONGEST, len(raw)) else bytes(data)


def _change(data: bytearray, chance: random.Random, others: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    size = len(data)
    at = chance.randrange(size + 1)
    length = min(size - at, chance.choice((1, 1, 2, 4, 8, 64, 512)))
    what = chance.randrange(11)
    if what == 0 and size:
        data[min(at, size - 1)] ^= 1 << chance.randrange(8)
    elif what == 1 and size:
        data[min(at, size - 1)] = chance.choice(
            (0, 1, 9, 10, 13, 32, 34, 44, 92, 127, 128, 192, 255, chance.randrange(256))
        )
    elif what in (2, 3) and size >= 8:  # a number of some width
        kind = chance.choice("bhiq")
        width = struct.calcsize(kind)
        at = chance.randrange(size - width + 1)
        if chance.random() < 0.6:
            at -= at % width
        value = chance.choice((*WHOLE, size, size - at, chance.randrange(1 << 16)))
        data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    elif what == 4:
        del data[at : at + length]
    elif what == 5:
        data[at:at] = data[at : at + length]
    elif what == 6 and tokens:
        data[at : at + chance.choice((0, length))] = chance.choice(tokens)
    elif what == 7 and others:
        other = chance.choice(others)
        begin = chance.randrange(len(other) + 1)
        data[at : at + chance.choice((0, length))] = other[begin : begin + chance.choice((4, 32, 256))]
    elif what == 8 and chance.random() < 0.3:
        del data[at:]
    elif what == 9:
        data[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice((1, 2, 4, 8))))
    elif size:
        to = chance.randrange(size)
        data[to : to + length] = data[at : at + length]


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every part of a tree of JSON."""
    found = [path]
    if isinstance(tree, dict):
        for key in tree:
            found += places(tree[key], (*path, key))
    elif isinstance(tree, list):
        for key, part in enumerate(tree):
            found += places(part, (*path, key))
    return found


def at(tree: Any, path: Sequence[Any]) -> Any:
    """Return the part at this place."""
    for key in path:
        tree = tree[key]
    return tree


def changed_tree(tree: Any, chance: random.Random, odd: Sequence[Any] = ODD) -> Any:
    """Return a copy of a tree of JSON with one to four changes."""
    tree = copy.deepcopy(tree)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        path = chance.choice(places(tree))
        node = at(tree, path)
        what = chance.randrange(8)
        if what == 0 and path:
            del at(tree, path[:-1])[path[-1]]
        elif what == 1 and isinstance(node, list) and node:
            node.insert(chance.randrange(len(node) + 1), copy.deepcopy(chance.choice(node)))
        elif what == 2 and isinstance(node, list) and len(node) > 1:
            chance.shuffle(node)
        elif what == 3 and isinstance(node, dict) and node:
            node[chance.choice(("x", "__class__", "A", *node))] = node.pop(chance.choice(sorted(node, key=str)))
        elif what == 4 and type(node) in (int, float) and abs(node) < 2**900:
            tree = _put(tree, path, node + chance.choice((1, -1, -2 * node, 0.5, 2**40)))
        elif what == 5:
            tree = _put(tree, path, copy.deepcopy(at(tree, chance.choice(places(tree)))))
        elif what == 6 and isinstance(node, str) and node:
            place = chance.randrange(len(node))
            tree = _put(tree, path, node[:place] + chance.choice("-019afx.e \n") + node[place + chance.randrange(2) :])
        else:
            tree = _put(tree, path, copy.deepcopy(chance.choice(odd)))
    return tree


def _put(tree: Any, path: Sequence[Any], value: Any) -> Any:
    if not path:
        return value
    at(tree, path[:-1])[path[-1]] = value
    return tree


def as_text(tree: Any, chance: random.Random, doubled: float = 0.0) -> str:
    """Return JSON text; with this chance one object in it has a key twice, with another value the first time."""
    text = json.dumps(tree)
    objects = [path for path in places(tree) if isinstance(at(tree, path), dict) and at(tree, path)]
    if not objects or chance.random() >= doubled:
        return text
    path = chance.choice(objects)
    node = at(tree, path)
    key = chance.choice(sorted(node, key=str))
    first = json.dumps(chance.choice(ODD) if chance.random() < 0.5 else node[key])
    mark = "doubled key here"
    tree = _put(copy.deepcopy(tree), path, mark)
    return json.dumps(tree).replace(f'"{mark}"', f"{{{json.dumps(key)}: {first}, {json.dumps(node)[1:]}", 1)


def has_doubled_key(text: str) -> bool:
    """Return whether an object of the JSON text has a key twice."""
    doubled = []

    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        doubled.append(len(dict(given)) < len(given))
        return dict(given)

    try:
        json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return False
    return any(doubled)
