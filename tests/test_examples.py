"""Every example runs, without a warning, in seconds, and draws the picture that the documentation shows."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot

mpl.use("agg")

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_draws(example, tmp_path, monkeypatch, capsys):
    """Run it here: a process of its own would import scikit-learn and matplotlib for each. Warnings are errors."""
    monkeypatch.setattr(sys, "argv", [str(example), str(tmp_path)])
    monkeypatch.syspath_prepend(example.parent)
    with mpl.rc_context():
        try:
            runpy.run_path(str(example), run_name="__main__")
        finally:
            pyplot.close("all")
    assert capsys.readouterr().out.strip()
    drawn = tmp_path / f"{example.stem}.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "docs" / "pictures" / drawn.name).exists()
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 60


def test_every_picture_of_the_documentation_has_its_example_and_is_shown():
    pictures = {path.stem for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert pictures == {path.stem for path in EXAMPLES}
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in pictures:
        assert f"pictures/{name}.png" in page
        assert f"examples/{name}.py" in page
