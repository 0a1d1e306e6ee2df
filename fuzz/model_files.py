"""Fuzz model files: any bytes are refused in one line with the name, or give a model that predicts and learns."""

from __future__ import annotations

import contextlib
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mutation import as_text, changed_bytes, has_doubled_key
from outcomes import CaseError

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

NAME = "fuzzed.sx"
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0], [1.0, 3.0], [0.5, 2.5]])
CORPUS = Path(__file__).parent / "corpus" / "model_file"


class ModelFiles:
    """Model files with other bytes, or with other content and a right checksum, so that all behind it is reached."""

    name = "model_file"

    def seeds(self, chance: random.Random) -> list[bytes]:
        """Return none: the corpus holds a model of each kind."""
        return []

    def case(self, chance: random.Random, pool: Sequence[bytes]) -> bytes:
        """Return a model file that nobody saved."""
        from forged_models import apart, mutated, together

        raw = chance.choice(pool)
        if chance.random() < 0.15:
            return changed_bytes(
                raw, chance, pool, (b'"tree":', b"F64", b"data_offsets", b'"shape":[', b"__metadata__")
            )
        try:
            raw = mutated(raw, chance.getrandbits(32))
            if chance.random() < 0.05:
                metadata, tree, arrays = apart(raw)
                raw = together(metadata, as_text(tree, chance, doubled=1.0), arrays)
        except Exception:  # no model file any more
            return changed_bytes(raw, chance, pool)
        return raw

    def check(self, raw: bytes, folder: Path) -> str:
        """Build the model, predict, learn on."""
        from separatrix.models import model_file, probing

        try:
            model = model_file.build(raw, NAME)
        except ValueError as problem:
            if not str(problem).startswith(NAME):
                raise CaseError("message", f"does not begin with the file's name: {problem}") from None
            raise
        if _doubled(raw):
            raise CaseError("false claim", "a key that is there twice was read")
        row = probing.example(model)
        if row is not None:
            with contextlib.suppress(ValueError):  # the row is made up
                model.predict(row)
        learn(model)
        return f"built {type(model).__name__}"


def _doubled(raw: bytes) -> bool:
    header = raw[8 : 8 + int.from_bytes(raw[:8], "little")].decode("utf-8", "replace")
    return has_doubled_key(header) or has_doubled_key(json.loads(header)["__metadata__"]["tree"])


def learn(model: Any) -> None:
    """Go on learning, with parameters as they should be; the runs of the corpus that were cut short had these rows."""
    model = getattr(model, "estimator", model)  # of a table
    kind = type(model)
    if not hasattr(kind, "_check_parameters"):
        return
    width = model.n_features_in_
    if width > 100:
        return
    harmless = {name: value for name, value in kind().get_params().items() if name != "readout"}
    model.set_params(**harmless | {"max_iter": 2, "warm_start": True})
    if hasattr(model, "hidden"):
        model.hidden = tuple(weights.shape[1] for weights in model.coefs_[:-1])
    if hasattr(model, "average"):
        model.set_params(average=model._readout == "averaged")
    rows = np.resize(X, (6, width))
    labels = np.resize(model.classes_, 6)
    for method in ("fit", "partial_fit"):
        with contextlib.suppress(ValueError, TypeError, OverflowError):  # refused in words
            getattr(model, method, lambda *given: None)(rows, labels)
