"""The studio in a notebook: its cell shows the page, and what the page shows comes back to Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import separatrix as sx
from browser_pages import chromium
from separatrix.studio.page import CORE

pytest.importorskip("anywidget")


def test_a_cell_begins_with_the_chosen_columns_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [5.0, 6.0], "c</script>": [3.0, 4.0]})
    page = sx.Studio(frame, ["no", "yes"], columns=(2, 0)).page
    assert '"x": [3.0, 1.0, 4.0, 2.0]' in page
    assert '"names": ["c\\u003c/script>", "a"]' in page
    with pytest.raises(ValueError, match="two classes"):
        sx.Studio([[0, 1]], ["no"])


def test_before_it_is_shown_there_is_no_model() -> None:
    with pytest.raises(ValueError, match="make it the last line of a cell"):
        sx.Studio().points  # noqa: B018


def test_only_estimators_of_the_studio_are_fitted() -> None:
    studio = sx.Studio()
    studio.run = {"x": [0, 0, 1, 1], "codes": [0, 1], "estimator": "load", "parameters": {}}
    with pytest.raises(ValueError, match="the estimator must be one of"):
        studio.model  # noqa: B018


def test_the_model_of_the_page_comes_back(browser: Any, tmp_path: Path) -> None:
    X, y = sx.datasets.load("and")
    studio = sx.Studio(X, y)
    (tmp_path / "page.html").write_text(studio.page, encoding="utf-8")
    script = str(Path(__file__).with_name("widget.mjs"))
    done = subprocess.run(
        ["node", script, str(chromium()), str(tmp_path / "page.html"), str(CORE.parent / "web" / "widget.js")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    studio.run = json.loads(done.stdout)
    assert studio.points.X.tolist() == X.tolist()
    own = sx.Perceptron(shuffle=False).fit(X, y)
    assert studio.model.coef_.tolist() == own.coef_.tolist()
    assert str(studio.model.status_) == str(own.status_)
