"""Fuzz the reading of model files with atheris.

    python fuzz/model_file.py bytes build/fuzz/model_file fuzz/corpus/model_file -max_total_time=600
    python fuzz/model_file.py tree build/fuzz/model_file fuzz/corpus/model_file -max_total_time=600

``bytes`` changes the bytes of files; ``tree`` changes what is in them and repairs the checksum, so that everything
behind it is reached. What must hold: a file is refused with a ValueError of one line that begins with its name, or the
model predicts a row of zeros, and learning on never ends the process. What is new goes to the first folder; options
are those of libFuzzer. An editable installation is not seen by atheris: install the package plainly.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

with atheris.instrument_imports(include=["separatrix.models"]):
    from separatrix.models import decoding, encoding, model_file, probing, registry, sklearn_steps, steps, validity  # noqa: F401

import numpy as np

from forged_models import mutated

NAME = "fuzzed.sx"
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0], [1.0, 3.0], [0.5, 2.5]])


def check(data: bytes) -> None:
    """Hold the property for one file."""
    try:
        model = model_file.build(data, NAME)
    except ValueError as problem:
        text = str(problem)
        assert text.startswith(NAME), text
        assert "\n" not in text, text
        return
    row = probing.example(model)
    if row is not None:
        with contextlib.suppress(ValueError):  # the row is made up
            model.predict(row)
    learn(model)


def learn(model: object) -> None:
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


def change(data: bytes, most: int, seed: int) -> bytes:
    """Return the file with something else in it."""
    try:
        changed = mutated(data, seed)
    except Exception:  # no model file any more
        changed = atheris.Mutate(data, most)
    return changed if len(changed) <= most else data


def main() -> None:
    """Run."""
    warnings.simplefilter("ignore")
    mode, *rest = sys.argv[1:]
    arguments = [sys.argv[0], *rest, "-max_len=65536", "-rss_limit_mb=4096", "-timeout=30"]
    if mode == "tree":
        atheris.Setup(arguments, check, custom_mutator=change)
    else:
        atheris.Setup(arguments, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
