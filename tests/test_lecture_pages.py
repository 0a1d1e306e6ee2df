"""The lecture pages and the page on teaching: everything on them runs, in order, and gives what they show.

With SEPARATRIX_TEST_PICTURES=keep the pictures that they show are drawn anew.
"""

from __future__ import annotations

import os
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
            with Image.open(tmp_path / kept.name) as new:
                new.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE).save(kept, optimize=True)
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


WRONG = """
Run `separatrix trace and --rule none` on `points.csv`:

```text
x,y
1,1
-1,-1
```

```console
$ separatrix certify points.csv --target y
-1 vs 1: weakly separable
$ separatrix certify points.csv --target z
...
```

```python
>>> 1 + 1
3
>>> open("empty.png", "w").close()
```
"""


def test_what_a_page_shows_wrongly_is_found(run, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(WRONG, encoding="utf-8")
    text, verdict, column, total, picture = run_page(page, tmp_path, run)
    assert "trace and --rule none" in text
    assert "strictly separable" in verdict
    assert "exit status 2" in column
    assert "Got:\n    2" in total
    assert "empty.png is no image" in picture
