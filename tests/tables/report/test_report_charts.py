"""The charts of a report, read back through the marks of their axes: what is drawn is what was computed."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.decomposition import PCA

from page_tree import Node, read_page
from separatrix import datasets, load
from table_files import as_csv, table

_PLACE = re.compile(r"[ML](-?[\d.]+),(-?[\d.]+)")
_BAR = re.compile(r"M(-?[\d.]+),(-?[\d.]+)V(-?[\d.]+)H(-?[\d.]+)V(-?[\d.]+)z")
_ROUNDING = 0.16  # places are written to a tenth, marks too


def done(result: tuple[int, str, str]) -> None:
    assert result[0] == 0, result[2]


def as_number(text: str) -> float:
    return float(text.replace("\u2212", "-").replace(",", ""))


@dataclass
class Chart:
    """A figure of a page, and where the numbers of its axes are."""

    figure: Node
    log: bool = False

    @classmethod
    def of(cls, page: Node, title: str, *, log: bool = False) -> Chart:
        (figure,) = [f for f in page.all("figure") if f.all("h3") and f.all("h3")[0].text() == title]
        return cls(figure, log)

    def across(self, values) -> np.ndarray:
        """Return where numbers of the x axis are; they grow to the right."""
        slope, start = self._axis("middle", "x", 0.0)
        assert slope > 0
        return slope * np.asarray(values, float) + start

    def up(self, values) -> np.ndarray:
        """Return where numbers of the y axis are; they grow upwards."""
        slope, start = self._axis("end", "y", -4.0)
        assert slope < 0
        values = np.log(values) if self.log else np.asarray(values, float)
        return slope * values + start

    def _axis(self, anchor: str, name: str, moved: float) -> tuple[float, float]:
        marks = [
            node for node in self._texts() if node.attributes.get("text-anchor") == anchor and node.tag == "text"
            and node.attributes["class"] == "tick"
        ]  # fmt: skip
        values = np.array([as_number(node.text()) for node in marks])
        places = np.array([float(node.attributes[name] or "") + moved for node in marks])
        if self.log and name == "y":
            values = np.log(values)
        assert len(values) >= 2
        slope, start = np.polyfit(values, places, 1)
        np.testing.assert_allclose(slope * values + start, places, atol=_ROUNDING)
        lines = [float(each) for each in re.findall(r"M([\d.]+),[\d.]+V" if name == "x" else r"M[\d.]+,([\d.]+)H",
                                                    self._path("grid")[0])]  # fmt: skip
        np.testing.assert_allclose(sorted(lines), sorted(places), atol=0.01)
        return float(slope), float(start)

    def _texts(self) -> list[Node]:
        return self.svg.all("text")

    @property
    def svg(self) -> Node:
        (svg,) = [node for node in self.figure.all("svg") if node.attributes["class"] == "chart"]
        return svg

    def _path(self, kind: str) -> list[str]:
        return [n.attributes["d"] or "" for n in self.svg.all("path") if (n.attributes["class"] or "") == kind]

    def places(self, kind: str) -> np.ndarray:
        """Return the points of the one path of this kind."""
        (path,) = self._path(kind)
        return np.array([[float(a), float(b)] for a, b in _PLACE.findall(path)]).reshape(-1, 2)

    def frame(self) -> tuple[float, float, float, float]:
        """Return left, right, top and bottom of the room inside the axes, from the lines of the grid."""
        (grid,) = self._path("grid")
        upright = re.findall(r"M[\d.]+,([\d.]+)V([\d.]+)", grid)
        level = re.findall(r"M([\d.]+),[\d.]+H([\d.]+)", grid)
        return (*map(float, level[0]), *map(float, upright[0]))  # type: ignore[return-value]

    def bars(self, kind: str) -> np.ndarray:
        """Return left, right and height of each bar of a path."""
        (path,) = self._path(kind)
        corners = np.array([[float(each) for each in bar] for bar in _BAR.findall(path)])
        return np.column_stack([corners[:, 0], corners[:, 3], corners[:, 1] - corners[:, 2]])

    def says(self) -> str:
        return " ".join(self.figure.all("figcaption")[0].text().split())


def page_of(name: str) -> Node:
    return read_page(Path(name).read_text(encoding="utf-8"))


def all_penguins() -> pa.Table:
    rows = csv.DictReader(io.StringIO(datasets.as_csv("penguins")))
    numbers = ("mm", "_g", "year")
    return pa.Table.from_pylist([
        {k: None if v in ("", "NA") else float(v) if k.endswith(numbers) else v for k, v in row.items()} for row in rows
    ])  # fmt: skip


def assert_same_places(drawn: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Every point is drawn, and nothing else."""
    assert len(drawn) == len(x)
    apart = np.abs(drawn[:, None, :] - np.column_stack([x, y])[None]).max(axis=2)
    assert apart.min(axis=0).max(initial=0.0) < _ROUNDING
    assert apart.min(axis=1).max(initial=0.0) < _ROUNDING


def test_loss_and_mistakes_are_drawn_as_the_run_had_them(run):
    done(run("fit", "penguins", "--target", "species", "--model", "neuron", "--epochs", 30, "--report", "n.html"))
    history = load("penguins.sx").estimator.history_
    epochs = [epoch.number for epoch in history]
    assert len(epochs) == 30
    for title, values, colour in (
        ("Mean loss per epoch", history.mean_loss, "c1"), ("Mistakes per epoch", history.mistakes, "c0"),
    ):  # fmt: skip
        chart = Chart.of(page_of("n.html"), title)
        expected = np.column_stack([chart.across(epochs), chart.up(values)])
        np.testing.assert_allclose(chart.places(f"line {colour}"), expected, atol=_ROUNDING)
        np.testing.assert_allclose(chart.places(f"points {colour}"), expected, atol=_ROUNDING)


def test_mistakes_so_far_are_drawn_below_their_bound(run):
    done(run("fit", "penguins", "--target", "species", "--model", "averaged", "--report", "p.html"))
    model = load("penguins.sx")
    so_far = np.cumsum(model.estimator.history_.mistakes)
    bound = sum(int(each["mistake_bound"]) for each in model.facts.certificate["rest"])
    page = page_of("p.html")
    log = "Logarithmic scale" in Chart.of(page, "Mistakes and their bound").says()
    chart = Chart.of(page, "Mistakes and their bound", log=log)
    expected = np.column_stack([chart.across(np.arange(1, len(so_far) + 1)), chart.up(so_far)])
    np.testing.assert_allclose(chart.places("line c0")[-len(so_far) :], expected, atol=_ROUNDING)
    np.testing.assert_allclose(chart.places("line c1 dashed")[:, 1], chart.up([bound, bound]), atol=_ROUNDING)


def test_the_boundary_shows_each_row_at_its_distance_and_along_what_the_weights_leave(run):
    done(run("fit", "penguins", "--target", "species", "--model", "averaged", "--report", "p.html"))
    model, rows = load("penguins.sx"), all_penguins()
    X, labels, answers = model._matrix(rows), np.array(rows["species"].to_pylist()), model.predict(rows)
    W, b = model.estimator.coef_, model.estimator.intercept_
    for k, name in enumerate(model.classes_):
        unit = W[k] / np.linalg.norm(W[k])
        across = (X @ W[k] + b[k]) / np.linalg.norm(W[k])
        pca = PCA(1, svd_solver="full").fit(X - np.outer(X @ unit, unit))
        way = pca.components_[0]
        along = (X - X.mean(axis=0)) @ way * np.sign(way[np.abs(way).argmax()])
        chart = Chart.of(page_of("p.html"), f"Decision boundary of {name}")
        left, right, top, bottom = chart.frame()
        x, y = np.clip(chart.across(across), left, right), np.clip(chart.up(along), top, bottom)
        for code, own in enumerate(model.classes_):
            for wrong in (False, True):
                part = (labels == own) & ((answers != labels) == wrong)
                if part.any():
                    assert_same_places(chart.places(f"points c{code}" + " marked" * wrong), x[part], y[part])
        (edge,) = chart._path("edge")
        assert float(edge[1:].split(",")[0]) == pytest.approx(float(chart.across(0.0)), abs=_ROUNDING)


@pytest.fixture
def far_out(run, tmp_path):
    """Return the page of two classes with a few rows far out, and the distances of the rows on their own side."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=400), rng.normal(size=400)
    x[:2] = 300.0, 290.0
    label = np.where(x + 0.4 * rng.normal(size=400) > 0, "yes", "no")
    rows = pa.table({"x": x, "y": y, "label": label})
    (tmp_path / "t.csv").write_bytes(as_csv(rows))
    done(run("fit", "t.csv", "--target", "label", "--scale", "none", "--test", 0, "--report", "t.html"))
    model = load("t.sx")
    far = model.decision_function(rows) / np.linalg.norm(model.estimator.coef_)
    return page_of("t.html"), far, label


def test_bars_of_margins_are_the_rows_between_their_ends(far_out):
    page, far, label = far_out
    chart = Chart.of(page, "Margins by class")
    own = np.where(label == "yes", far, -far)
    slope, start = chart._axis("middle", "x", 0.0)
    for code, name in enumerate(("no", "yes")):
        bars = chart.bars(f"bars c{code}")
        assert f"{name}: {(label == name).sum()} rows" in [node.text() for node in chart.svg.all("text")]
        ends = (bars[:, :2] - start) / slope
        span = ends[:, 1].max() - ends[:, 0].min()
        wide = span / round(span / np.median(ends[:, 1] - ends[:, 0]))
        edges = np.round(ends / wide) * wide  # 0 is an edge
        mine, near = own[label == name], _ROUNDING / slope
        fewest, counts, most = (
            np.array([((mine >= a - more) & (mine < b + more)).sum() for a, b in edges]) for more in (-near, 0.0, near)
        )
        inside = [k for k, (a, b) in enumerate(bars[:, :2]) if a > 8.1 and b < 387.9]
        drawn = np.round(bars[:, 2] / bars[:, 2].max() * counts.max())
        assert len(inside) > 10
        assert (fewest <= drawn)[inside].all()
        assert (drawn <= most)[inside].all()
        assert (drawn == counts)[inside].mean() > 0.7


def test_rows_outside_of_a_picture_are_counted(far_out):
    page, far, label = far_out
    margins = Chart.of(page, "Margins by class")
    own = np.where(label == "yes", far, -far)
    x = margins.across(own)
    outside = int(((x < 8.0 - _ROUNDING) | (x > 388.0 + _ROUNDING)).sum())
    assert outside >= 2
    assert f"{outside} rows beyond the ends are counted in the end bins" in margins.says()
    boundary = Chart.of(page, "Decision boundary")
    left, right, _, _ = boundary.frame()
    x = boundary.across(far)
    beyond = (x < left - _ROUNDING) | (x > right + _ROUNDING)
    (told,) = re.findall(r"(\d+) outliers at the edge", boundary.says())
    assert int(told) >= beyond.sum() >= 2
    drawn = np.concatenate([boundary.places(f"points c{code}") for code in (0, 1)])
    assert drawn[:, 0].max() == pytest.approx(right, abs=_ROUNDING)
    assert (drawn[:, 0] >= left - _ROUNDING).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_bars_of_strength_point_to_the_class_that_the_weight_speaks_for(classes, run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table(300, 4)))
    name, target = ("t.csv", "label") if classes == 2 else ("penguins", "species")
    done(run("fit", name, "--target", target, "-o", "m.sx", "--report", "m.html"))
    model = load("m.sx")
    W = np.atleast_2d(model.estimator.coef_)
    tables = page_of("m.html").with_id("weights").all("table")
    assert len(tables) == len(W)
    for weights, weight_table in zip(W, tables, strict=True):
        sizes, lengths = [], []
        for row in weight_table.all("tr")[1:-1]:
            cells = row.all("th") + row.all("td")
            (rect,) = cells[1].all("rect")
            left, width = (float(rect.attributes[each] or "") for each in ("x", "width"))
            own = weights[model.preparation.names.index(cells[0].text())]
            if own > 0:
                assert left == 50.0
                assert rect.attributes["class"] == "c0"
            else:
                assert left + width == pytest.approx(50.0, abs=0.11)
                assert rect.attributes["class"] == "c1"
            if classes == 2:
                assert cells[2].text() == ("yes" if own > 0 else "no")
            sizes.append(abs(as_number(cells[-1].text())))
            lengths.append(width)
        np.testing.assert_allclose(np.array(lengths) / 50.0, np.array(sizes) / max(sizes), atol=0.003)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gap_of_a_support_vector_machine_is_told_with_what_it_is(classes, run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table(300, 4)))
    name, target = ("t.csv", "label") if classes == 2 else ("penguins", "species")
    done(run("fit", name, "--target", target, "--model", "svm", "-o", "m.sx", "--report", "m.html"))
    estimator, page = load("m.sx").estimator, page_of("m.html")
    rows = page.table("Objective and duality gap")[1:]
    gaps, values = np.atleast_1d(estimator.duality_gap_), np.atleast_1d(estimator.objective_)
    assert [row[0] for row in rows] == (["the model"] if classes == 2 else estimator.classes_.tolist())
    np.testing.assert_allclose([as_number(row[1]) for row in rows], values, rtol=1e-5)
    np.testing.assert_allclose([float(row[2]) for row in rows], gaps, rtol=0.05)
    np.testing.assert_allclose([float(row[3]) for row in rows], gaps / values, rtol=0.05)
    assert "includes all rounding errors" in page.with_id("certificate").text()
    assert "the gaps that the solver reported during the run" in page.with_id("training").text()
