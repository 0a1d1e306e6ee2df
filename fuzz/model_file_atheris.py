"""Fuzz the reading of model files with atheris.

    python fuzz/model_file_atheris.py bytes build/fuzz/model_file fuzz/corpus/model_file -max_total_time=600
    python fuzz/model_file_atheris.py tree build/fuzz/model_file fuzz/corpus/model_file -max_total_time=600

``bytes`` changes the bytes of files; ``tree`` changes what is in them and repairs the checksum, so that everything
behind it is reached. What must hold: a file is refused with a ValueError of one line that begins with its name, or the
model predicts a row of zeros, and learning on never ends the process. What is new goes to the first folder; options
are those of libFuzzer. An editable installation is not seen by atheris: install the package plainly.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["separatrix.models"]):
    from separatrix.models import decoding, encoding, model_file, probing, registry, sklearn_steps, steps, validity  # noqa: F401

from model_files import ModelFiles
from outcomes import check_sentence

from forged_models import mutated

FOLDER = Path(tempfile.gettempdir())


def check(data: bytes) -> None:
    """Hold the property for one file."""
    try:
        ModelFiles().check(data, FOLDER)
    except ValueError as problem:
        check_sentence(str(problem))


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
