"""What every estimator, rule and kernel computes is what it was, bit for bit, on every build, processor and system.

``scripts/bits > tests/bits.txt`` writes the lines anew, after a change that is meant to change them, and
``scripts/kernel_bits > tests/kernel_bits.txt`` those of the kernels.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from loaded_scripts import script
from separatrix import _core

ROOT = Path(__file__).resolve().parent.parent


def expected(name):
    return dict(line.split(" ") for line in (ROOT / "tests" / name).read_text().splitlines())


EXPECTED = expected("bits.txt")
LINES = {name.replace(" ", "_"): run for name, run in script("bits").lines().items()}
KINDS = sorted({name.split("_")[0] for name in LINES})


def test_the_lines_are_those_of_the_file():
    assert sorted(LINES) == sorted(EXPECTED)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_are_those_of_the_file(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # runs that are cut short on purpose
        found = {name: run() for name, run in LINES.items() if name.split("_")[0] == kind}
    assert found == {name: hash_ for name, hash_ in EXPECTED.items() if name in found}


@pytest.mark.parametrize("build", _core.builds())
def test_every_build_of_the_kernels_gives_the_bits_of_the_file(build):
    before = _core.build()
    try:
        _core.use_build(build)
        assert script("kernel_bits").lines() == expected("kernel_bits.txt")
    finally:
        _core.use_build(before)


def test_both_scripts_of_the_kernels_have_every_rule_of_the_core_in_the_same_settings():
    ours = script("kernel_bits")
    text = (ROOT / "scripts" / "kernel_bits.cpp").read_text()
    listed = text[text.index("kSettings[] = {") : text.index("// Call work(rule, number)")]
    theirs = {
        name: (kernel, [float(number) for number in numbers.split(",")], bool(full))
        for name, kernel, numbers, full in re.findall(r'\{"([\w-]+)", "(\w+)", \{([^}]+)\}(, true)?\}', listed)
    }
    assert theirs == {name: (*setting, name.endswith("-full")) for name, setting in ours.SETTINGS.items()}
    assert list(dict.fromkeys(kernel for kernel, _ in ours.RULES.values())) == list(_core.RULES)


def test_the_lines_of_the_kernels_would_show_another_order_of_a_sum():
    lines = expected("kernel_bits.txt")  # dense and sparse rows are added up in other orders
    for kernel in ("decide", "square-norms", "gram", "enclosed-sums", "visit_log"):
        assert lines[f"{kernel}_dense-float64"] != lines[f"{kernel}_csr-float64-int32"]
        assert lines[f"{kernel}_dense-float64"] == lines[f"{kernel}_dense-float32"]
