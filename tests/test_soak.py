"""The soak notices what must not happen. A run of half a minute is part of the checks before a change is taken."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from soak_actions import Actions  # noqa: E402
from soak_workplace import SoakError, digest, write_table  # noqa: E402

sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture
def soak(tmp_path):
    made = Actions(tmp_path, 0, None)
    path = made.data / "rows.csv"
    write_table(path, random.Random(0), 30, 2)
    made.inputs[path] = digest(path)
    return made


def change_input(soak):
    (soak.data / "rows.csv").write_text("x0,label\n1,yes\n")


def damage_model(soak):
    (soak.work / "m0.sx").write_bytes(b"half")
    soak.expected.add("m0.sx")


CHANGES = {
    "the input rows.csv was changed": change_input,
    "rows.csv-wal was left beside the inputs": lambda soak: (soak.data / "rows.csv-wal").touch(),
    "m0.sx is not whole": damage_model,
    "left behind: work/.m0.sx.1.part": lambda soak: (soak.work / ".m0.sx.1.part").touch(),
    "left behind: work/stray.txt": lambda soak: (soak.work / "stray.txt").touch(),
    "left behind: tmp/separatrix-x": lambda soak: (soak.temporary / "separatrix-x").mkdir(),
}


@pytest.mark.parametrize("problem", CHANGES)
def test_a_change_that_must_not_be_is_a_failure(problem, soak):
    soak.check(every_byte=True)
    CHANGES[problem](soak)
    with pytest.raises(SoakError, match=problem):
        soak.check(every_byte=True)


def test_a_process_that_grows_is_a_failure(soak):
    soak.resident = [100 << 10] * 30
    assert soak.grown() is None
    soak.resident = [(100 + 10 * k) << 10 for k in range(30)]
    assert "grew from" in soak.grown()


def test_the_library_keeps_its_answers_inside_one_process(soak):
    soak.library(random.Random(1))
    soak.check(every_byte=True)


def test_its_help_names_what_is_checked():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "soak", "--help"], capture_output=True, text=True, check=True
    )
    assert "an update is never lost" in " ".join(done.stdout.split())
