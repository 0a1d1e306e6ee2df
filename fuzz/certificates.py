"""Fuzz certificates: what is read is refused in one sentence or verified, and no false claim is ever accepted."""

from __future__ import annotations

import json
import math
import random
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mutation import as_text, changed_bytes, changed_tree, has_doubled_key
from outcomes import CaseError, check_sentence

PLANE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0], [4.0, 3.0], [3.0, 5.0]]
DATA: dict[str, tuple[Any, list[Any]]] = {
    "strict": (PLANE, [0, 0, 0, 1, 1, 1]),
    "weak": ([[0.0], [1.0], [1.0], [2.0]], ["a", "a", "b", "b"]),
    "none": (PLANE, [0, 1, 0, 1, 0, 1]),
    "contradiction": ([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], [True, False, True]),
    "large": ([[1.7e9, 1.0], [1.7e9 + 1, 2.0], [3.0, 4.0]], [1, 1, 2]),
    "three": (PLANE, ["a", "a", "b", "b", "c", "c"]),
    "apart": (PLANE, [0, 0, 0, 1, 1, 2]),
}


@cache
def _known() -> dict[str, tuple[Any, Any, str, dict[Any, Any]]]:
    """Return rows, labels, the text of the certificate and the true verdicts, by name."""
    from separatrix.certificates.certifying import certify

    known = {}
    for name, (X, y) in DATA.items():
        made = certify(np.array(X), np.array(y))
        parts = made.all if hasattr(made, "all") else (made,)
        truth = {(each.positive, each.negative): (each.separable, each.margin) for each in parts}
        known[name] = np.array(X), np.array(y), made.to_json(), truth
    return known


class Certificates:
    """Certificates with changed text or a changed tree. A case is the name of its data, a line feed and the text."""

    name = "certificate"

    def seeds(self, chance: random.Random) -> list[bytes]:
        """Return true certificates."""
        return [f"{name}\n{text}".encode() for name, (_, _, text, _) in _known().items()]

    def case(self, chance: random.Random, pool: Sequence[bytes]) -> bytes:
        """Return a certificate that nobody made."""
        raw = chance.choice(pool)
        head, _, text = raw.partition(b"\n")
        if chance.random() < 0.1:
            return (
                head + b"\n" + changed_bytes(text, chance, pool, (b"NaN", b"1e400", b"null", b'"0x1"', b"-0", b"[[[["))
            )
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            tree = json.loads(next(iter(_known().values()))[2])
        if chance.random() < 0.9:
            tree = changed_tree(tree, chance)
        if chance.random() < 0.2:
            tree = _swapped(tree, chance)
        return head + b"\n" + as_text(tree, chance, doubled=0.15).encode("utf-8", "replace")

    def check(self, raw: bytes, folder: Path) -> str:
        """Read and verify it; whatever is accepted must be true."""
        from separatrix.certificates.multiclass import Certificates as Several
        from separatrix.certificates.multiclass import from_json

        head, _, body = raw.partition(b"\n")
        text = body.decode("utf-8", "replace")
        X, y, _, truth = _known().get(head.decode("latin-1"), _known()["strict"])
        made = from_json(text)
        if has_doubled_key(text):
            raise CaseError("false claim", "a key that is there twice was read")
        str(made), made.explain()
        if zlib.crc32(raw) % 8 == 0 and not has_surrogate(made.to_json()):
            again = from_json(made.to_json())
            if again.to_json() != made.to_json():
                raise CaseError("property", "written and read again, it is different")
        check = made.verify(X, y)
        if not check:
            return check_sentence(check.problems[0])
        tree = json.loads(text)
        several = isinstance(made, Several)
        given = (tree["rest"] + tree["pairs"]) if several else [tree]  # one pair of several classes is a claim too
        if several and len(given) != len(truth):
            raise CaseError("false claim", "it was verified with claims too many or too few")
        for each in given:
            _must_be_true(each, truth)
        return "verified"


def has_surrogate(text: str) -> bool:
    """Return whether it is no text."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _must_be_true(claim: dict[str, Any], truth: dict[Any, Any]) -> None:
    key = claim["positive"], claim["negative"]
    if key not in truth:
        raise CaseError("false claim", f"the classes {key} were verified")
    separable, margin = truth[key]
    if claim["separable"] not in (separable, None):
        raise CaseError("false claim", f"{key} is {separable}, and {claim['separable']} was verified")
    low, high = claim["margin"]["lower"], claim["margin"]["upper"]
    if (low or 0.0) > margin.upper or (math.inf if high is None else high) < margin.lower:
        raise CaseError("false claim", f"the margin {low} to {high} was verified, and it is {tuple(margin)}")


def _swapped(tree: Any, chance: random.Random) -> Any:
    """Return the tree with a claim of another certificate in it, and for several classes an entry doubled or forged."""
    other = json.loads(chance.choice(list(_known().values()))[2])
    if not isinstance(tree, dict):
        return other
    for name in ("rest", "pairs"):
        entries = tree.get(name)
        if isinstance(entries, list) and entries and chance.random() < 0.6:
            copy = json.loads(json.dumps(chance.choice(entries)))
            if isinstance(copy, dict):
                copy["separable"] = chance.choice(("strict", "weak", "none", None))
            entries.insert(chance.randrange(len(entries) + 1), copy)
    both = sorted(set(tree) & set(other))
    if both:
        key = chance.choice(both)
        tree[key] = other[key]
    return tree
