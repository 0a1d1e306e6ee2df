"""What every estimator and rule learns is what it was, bit for bit, on every build, processor and operating system.

``scripts/bits > tests/bits.txt`` writes the lines anew, after a change that is meant to change them.
"""

from __future__ import annotations

import importlib.util
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = dict(line.split(" ") for line in (ROOT / "tests" / "bits.txt").read_text().splitlines())


def _lines():
    loader = SourceFileLoader("bits", str(ROOT / "scripts" / "bits"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bits", loader))
    loader.exec_module(module)
    return {name.replace(" ", "_"): run for name, run in module.lines().items()}


LINES = _lines()
KINDS = sorted({name.split("_")[0] for name in LINES})


def test_the_lines_are_those_of_the_file():
    assert sorted(LINES) == sorted(EXPECTED)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_are_those_of_the_file(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # runs that are cut short on purpose
        found = {name: run() for name, run in LINES.items() if name.split("_")[0] == kind}
    assert found == {name: hash_ for name, hash_ in EXPECTED.items() if name in found}
