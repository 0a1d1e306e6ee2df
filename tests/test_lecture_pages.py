"""The lecture pages and the page on teaching: everything on them runs, in order, and gives what they show.

With SEPARATRIX_TEST_PICTURES=keep the pictures that they show are drawn anew.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot
from PIL import Image

from page_runs import blocks, run_page, shown_pictures

mpl.use("agg")

DOCS = Path(__file__).parent.parent / "docs"
LECTURES = sorted((DOCS / "lectures").glob("[0-9]*.md"))
PAGES = [*LECTURES, DOCS / "teaching.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_everything_on_the_page_gives_what_it_shows(page, run, tmp_path):
    with mpl.rc_context():
        try:
            faults = run_page(page, tmp_path, run)
        finally:
            pyplot.close("all")
    assert not faults, "\n\n".join(faults)
    for shown in shown_pictures(page.read_text(encoding="utf-8")):
        kept = (page.parent / shown).resolve()
        assert kept.parent == DOCS / "pictures" / "lectures" / page.stem
        if os.environ.get("SEPARATRIX_TEST_PICTURES") == "keep":
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tmp_path / kept.name, kept)
        with Image.open(kept) as old, Image.open(tmp_path / kept.name) as new:
            assert old.size == new.size, f"{kept} differs: draw it anew (see above), and look at it"


def test_there_is_a_page_for_each_lecture_and_every_kept_picture_is_shown():
    assert [page.stem for page in LECTURES] == ["000", "001", "002", "003", "004"]
    contents = (DOCS / "lectures" / "index.md").read_text(encoding="utf-8")
    for page in LECTURES:
        assert f"{page.stem}.md" in contents
        kinds = {block.kind for block in blocks(page.read_text(encoding="utf-8"))}
        assert {"console", "python"} <= kinds
    shown = {(page.parent / each).resolve() for page in PAGES for each in shown_pictures(page.read_text("utf-8"))}
    assert shown == set((DOCS / "pictures" / "lectures").rglob("*.png"))
