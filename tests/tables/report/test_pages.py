"""HTML pages in a real browser: valid, accessible, readable at every width, and they load nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import browser_pages
from separatrix.cli.options import open_named
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.report.page import write_report
from separatrix.tables.report.rows import inspect_rows
from separatrix.tables.settings import Settings
from table_files import as_csv, table, write_nasty


def _report(path: Path, source: str, asked: ColumnOptions, model: str, *, rows: bool = True) -> Path:
    with open_named(source) as opened:
        fitted = fit(opened, asked, Settings(model))
        write_report(fitted.model, path, inspect_rows(fitted.model, opened) if rows else None, fitted.certificate)
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory, browser):
    """Return the pages to look at."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "table.csv").write_bytes(as_csv(table(400, 3)))
    head = write_nasty(folder / "nasty.csv")
    return [
        _report(folder / "penguins.html", "penguins", ColumnOptions("species"), "averaged"),
        _report(folder / "bare.html", "penguins", ColumnOptions("species"), "network", rows=False),
        _report(folder / "table.html", str(folder / "table.csv"), ColumnOptions("label"), "svm"),
        _report(folder / "nasty.html", str(folder / "nasty.csv"), ColumnOptions(head[4], text=(head[3],)), "neuron"),
        _report(
            folder / "twelve.html", str(_twelve(folder / "twelve.csv")), ColumnOptions("y"), "averaged", rows=False
        ),
        _report(folder / "long.html", str(_long(folder / "long.csv")), ColumnOptions("y"), "svm"),
    ]


def _twelve(path: Path) -> Path:
    """Write a table of twelve classes, as many as a matrix shows, with long names."""
    lines = [f"{k % 12 + k // 12 % 3},{k % 7},a rather long name {k % 12}" for k in range(240)]
    path.write_text("\n".join(["a,b,y", *lines]), encoding="utf-8")
    return path


def _long(path: Path) -> Path:
    """Write a table with names of 300 letters, labels from right to left among them."""
    labels = ["l" * 300, "\u05e9\u05dc\u05d5\u05dd", "no"]
    lines = [f"{k % 30},{k % 7},{labels[k % 30 // 10]}" for k in range(60)]
    path.write_text("\n".join([f"{'c' * 300},b,y", *lines]), encoding="utf-8")
    return path


def test_pages_are_valid_html(pages):
    assert browser_pages.invalid(pages) == []


def test_pages_are_sound_in_a_browser(pages):
    """axe finds nothing, nothing is wider than the window, nothing is loaded, logged or lost in print."""
    assert browser_pages.seen(pages) == {str(page): [] for page in pages}


def test_the_checks_see_what_is_wrong(tmp_path, browser):
    """A page with every fault that is looked for."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><html><head><title>bad</title></head><body><div style='width:100px;overflow:auto'>"
        "<table class='matrix dense'><tr><td style='min-width:300px'>1</td></tr></table></div>"
        "<p style='width:2000px;color:#ddd'>pale and wide</p>"
        "<img src='picture.png'><script>console.error('oh'); missing()</script></body></html>"
    )
    (faults,) = browser_pages.seen([bad]).values()
    every = "\n".join(faults)
    for fault in (
        "360 light: console: oh", "1280 dark: error: missing is not defined", "picture.png",
        "pixels wide in a window of 768", "axe html-has-lang", "1280 dark: 1 confusion matrices are cut off",
        "axe image-alt", "axe color-contrast",
    ):  # fmt: skip
        assert fault in every, fault
    assert any("alt" in each for each in browser_pages.invalid([bad]))
