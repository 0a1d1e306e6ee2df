"""The report: its numbers against other ways to find them, its text against what data could do to a page."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix

from page_tree import Node, read_page
from separatrix import datasets, load, save
from separatrix.cli.options import open_named
from separatrix.tables import rows as model_rows
from separatrix.tables.report import rows as report_rows
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.boundary_distance import BoundaryDistance
from separatrix.tables.report.elements import StyleSheet, element, escaped
from separatrix.tables.report.histogram import StreamingHistogram
from separatrix.tables.report.page import POLICY, report
from separatrix.tables.report.projection import project
from separatrix.tables.report.rows import inspect_rows
from table_files import EVIL, as_csv, table, write_matrices, write_nasty

KINDS = [
    "averaged",
    "perceptron",
    "voted",
    "pocket",
    "neuron",
    "logistic",
    "svm",
    "kernel-svm",
    "network",
    "kernel-perceptron",
]

KNOWN = {
    "lang", "charset", "http-equiv", "content", "name", "rel", "href", "class", "id", "aria-labelledby", "aria-label",
    "aria-hidden", "role", "tabindex", "scope", "dir", "style", "viewbox", "d", "x", "y", "width", "height",
    "text-anchor", "transform", "preserveaspectratio", "title",
}  # fmt: skip


def done(result: tuple[int, str, str]) -> str:
    status, out, err = result
    assert status == 0, err
    return out


def failed(result: tuple[int, str, str]) -> str:
    status, _, err = result
    assert status == 2, err
    return err


def page_of(path: str | Path) -> Node:
    return read_page(Path(path).read_text(encoding="utf-8"))


def spaced(node: Node) -> str:
    return " ".join(node.text().split())


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    """Return the model of the penguins, what it says of them, and its page."""
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.fit import fit
    from separatrix.tables.settings import Settings

    with open_named("penguins") as source:
        fitted = fit(source, ColumnOptions("species"), Settings())
        seen = inspect_rows(fitted.model, source)
    return fitted.model, seen, read_page(report(fitted.model, seen, fitted.certificate))


def birds() -> tuple[list[dict[str, str | float | None]], list[int]]:
    """Return the penguins as numbers and texts, None where a value is missing, and their numbers in the file."""
    every = list(csv.DictReader(io.StringIO(datasets.as_csv("penguins"))))
    rows = [{name: None if cell in ("", "NA") else cell for name, cell in row.items()} for row in every]
    for row in rows:
        for name, cell in row.items():
            row[name] = float(cell) if cell is not None and name.endswith(("mm", "_g", "year")) else cell
    return rows, [k + 1 for k in range(len(rows))]


# ---------------------------------------------------------------------------------------------- the numbers


def test_the_summary_has_the_test_accuracy_its_interval_and_the_baseline(penguins):
    model, _, page = penguins
    held = model.facts.test.to_dict()
    n, p, z = held["rows"], held["correct"] / held["rows"], 1.959963984540054
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    said = spaced(page.all("header")[0])
    assert f"Test accuracy {p:.1%} ({held['correct']} of {n}; 95% CI {100 * low:.1f}\u2013{high:.1%})" in said
    assert f"majority class {held['baseline']:.1%}" in said
    assert "275 rows of penguins; missing values imputed: sex 11, bill_length_mm 2, bill_depth_mm 2, flip" in said
    assert "linearly separable from all others on the training rows (proved)" in said


def test_the_confusion_matrices_count_what_scikit_learn_counts(penguins):
    model, _, page = penguins
    whole, _ = birds()
    X = pa.Table.from_pylist(whole)
    truth = [row["species"] for row in whole]
    expected = confusion_matrix(truth, model.predict(X))
    all_rows = page.table("All labelled rows of penguins")
    assert [[int(cell) for cell in row[1:-1]] for row in all_rows[1:]] == expected.tolist()
    held = page.table("Test set of penguins")
    assert [[int(cell) for cell in row[1:-1]] for row in held[1:]] == model.facts.test.confusion.tolist()
    assert all_rows[0][1:-1] == ["Adelie", "Chinstrap", "Gentoo"]


def test_correct_predictions_are_shaded_otherwise_than_errors(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table(400, 3)))
    done(run("fit", "t.csv", "--target", "label", "--test", 0, "--report", "t.html"))
    matrix = page_of("t.html").with_id("confusion").all("table")[0]
    cells = [node for node in matrix.all("td") if node.attributes.get("class") != "share"]
    assert [node.attributes["class"] for node in cells] == ["right", "wrong", "wrong", "right"]
    depth = [float((node.attributes["style"] or "").split(": ")[1]) for node in cells]
    assert np.argsort(depth).tolist() == np.argsort([int(node.text()) for node in cells]).tolist()


def test_the_nearest_rows_are_those_that_a_search_of_all_rows_finds(penguins):
    """A row's distance is the least over the boundaries with the other classes, results here one by one."""
    model, seen, page = penguins
    whole, numbers = birds()
    X = model._matrix(pa.Table.from_pylist(whole))
    W, b = model.estimator.coef_, model.estimator.intercept_
    results = []
    for number, x in zip(numbers, X, strict=True):
        scores = W @ x + b
        own = int(scores.argmax())
        away = [(scores[own] - scores[j]) / np.linalg.norm(W[own] - W[j]) for j in range(3) if j != own]
        results.append((min(away), number))
    results.sort()
    assert [row.number for row in seen.nearest] == [number for _, number in results[:10]]
    np.testing.assert_allclose([row.distance for row in seen.nearest], [far for far, _ in results[:10]], rtol=1e-9)
    listed = page.table("Rows nearest to the boundary")
    assert [int(row[0]) for row in listed[1:]] == [number for _, number in results[:10]]
    first = whole[numbers.index(results[0][1])]
    shown = dict(zip(listed[0], listed[1], strict=True))
    assert shown["actual"] == first["species"]
    assert float(shown["bill_length_mm"]) == float(first["bill_length_mm"])
    assert shown["island"] == first["island"]


def test_a_step_of_its_distance_takes_a_row_across_the_boundary(penguins):
    model, seen, _ = penguins
    sample = seen.sample
    near = BoundaryDistance.of(model).to_prediction(sample.scores, sample.predictions)
    W, b = model.estimator.coef_, model.estimator.intercept_
    for k in range(0, len(sample), 29):
        x, own = sample.X[k], int(sample.predictions[k])
        steps = [(W[j] - W[own]) / np.linalg.norm(W[j] - W[own]) for j in range(3) if j != own]
        inside = [int((W @ (x + 0.999 * near[k] * step) + b).argmax()) for step in steps]
        outside = [int((W @ (x + 1.001 * near[k] * step) + b).argmax()) for step in steps]
        assert inside == [own, own]
        assert outside != [own, own]


def test_the_bound_beside_the_mistakes_is_the_sum_over_the_classes(penguins):
    model, _, page = penguins
    allowed = sum(math.floor(each["mistake_bound"]) for each in model.facts.certificate["rest"])
    made = sum(model.estimator.history_.mistakes)
    said = spaced(page.with_id("training"))
    assert f"{made:,} mistakes in total; mistake bound {allowed:,} (both summed over the one-vs-rest tasks)" in said


def test_weights_are_per_unit_and_per_standard_deviation(penguins):
    """Raising a bill by 1 mm changes the score by the weight; the standard deviation is that of the training rows."""
    model, _, page = penguins
    weights = {row[0]: row[1:] for row in page.table("For Adelie")[1:]}
    whole, _ = birds()
    rows = whole[:2]
    higher = [{**row, "bill_length_mm": row["bill_length_mm"] + 1.0} for row in rows]
    change = model.decision_function(pa.Table.from_pylist(higher)) - model.decision_function(pa.Table.from_pylist(rows))
    _, own, deviation, over = weights["bill_length_mm"]
    assert as_number(own) == pytest.approx(change[0, 0], rel=1e-3)
    assert as_number(deviation) == pytest.approx(5.4, abs=0.2)
    assert as_number(over) == pytest.approx(as_number(own) * as_number(deviation), rel=2e-3)
    for name, value in (("sex", "male"), ("island", "Torgersen")):
        _, own, deviation, over = weights[f"{name}={value}"]
        place = model.preparation.names.index(f"{name}={value}")
        assert as_number(deviation) == pytest.approx(model.deviations[place], rel=1e-3)
        assert as_number(deviation) == pytest.approx(np.std([row[name] == value for row in whole]), rel=0.03)
        assert as_number(over) == pytest.approx(as_number(own) * model.deviations[place], rel=2e-3)
    size = [abs(as_number(row[4])) for row in page.table("For Adelie")[1:-1]]
    assert size == sorted(size, reverse=True)


def as_number(text: str) -> float:
    return float(text.replace("\u2212", "-").replace(",", ""))


def test_the_page_tells_where_the_model_comes_from(penguins):
    import sklearn

    model, _, page = penguins
    said = spaced(page.with_id("provenance"))
    for text in (model.facts.fingerprint, model.facts.data, np.__version__, sklearn.__version__, "averaged"):
        assert text in said
    becomes = {row[0]: row for row in page.table("Preprocessing of columns")[1:]}
    assert becomes["island"][2] == "Biscoe, Dream, Torgersen"
    assert f"{model.preparation.shift[0]:.6g}" in becomes["bill_length_mm"][2]


def test_the_certificate_is_on_the_page_claim_by_claim(penguins):
    from separatrix.certificates.multiclass import Certificates

    model, _, page = penguins
    certificate = Certificates.from_json(json.dumps(model.facts.certificate))
    assert page.table("Each class against the others")[1:] == certificate.facts()
    proofs = [spaced(each) for each in page.with_id("certificate").all("details")]
    for each, told in zip(certificate.all, proofs, strict=True):
        assert " ".join(each.explain().split("\n\n")[0].split()) in told
    said = spaced(page.with_id("certificate"))
    assert "What it does not prove" in said
    assert "says nothing about other rows" in said


def test_two_classes_have_signed_distances_and_the_worst_mistakes(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table(400, 3)))
    done(run("fit", "t.csv", "--target", "label", "--report", "t.html"))
    model = load("t.sx")
    rows = table(400, 3).to_pylist()
    numbers = [k + 1 for k in range(len(rows))]
    whole = pa.Table.from_pylist(rows)
    far = model.decision_function(whole) / np.linalg.norm(model.estimator.coef_)
    own = np.where(np.array(whole["label"].to_pylist()) == "yes", far, -far)
    wrong = model.predict(whole) != np.array(whole["label"].to_pylist())
    order = [k for k in np.argsort(own, kind="stable") if wrong[k]][:10]
    listed = page_of("t.html").table("Worst errors of t.csv")
    assert [int(row[0]) for row in listed[1:]] == [numbers[k] for k in order]
    np.testing.assert_allclose([as_number(row[3]) for row in listed[1:]], own[order], rtol=6e-3)
    assert f"{wrong.sum()} of {len(numbers)} labelled rows are misclassified" in spaced(page_of("t.html"))


# ---------------------------------------------------------------------------------------------- its parts


@given(
    st.lists(
        arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e12, 1e12, width=64)), min_size=1, max_size=5
    ),
    st.sampled_from([1.0, 1e-9, 1e9]),
)
def test_bins_of_a_stream_are_those_of_numpy(parts, size):
    parts = [part * size for part in parts]
    binned = StreamingHistogram(2)
    for part in parts:
        binned.add(part, np.arange(len(part)) % 2)
    edges, counts, outside = binned.shown(30)
    every = np.concatenate(parts)
    codes = np.concatenate([np.arange(len(part)) % 2 for part in parts])
    inside = np.clip(every, edges[0], np.nextafter(edges[-1], -np.inf))
    for code in (0, 1):
        expected = np.histogram(inside[codes == code], bins=np.append(edges[:-1], edges[-1]))[0]
        assert counts[code].tolist() == expected.tolist()
    assert counts.sum() == len(every)
    assert outside <= 0.011 * len(every) + 1
    assert edges[0] >= 0 or edges[-1] <= 0 or 0.0 in edges


@pytest.mark.parametrize("wide", [False, True])
def test_the_second_direction_is_the_principal_one_of_what_the_weights_leave(wide):
    rng = np.random.default_rng(0)
    d = 900 if wide else 5
    X = rng.normal(size=(60, d)) * np.linspace(0.1, 4, d) ** 2
    w = rng.normal(size=X.shape[1])
    unit = w / np.linalg.norm(w)
    left = X - np.outer(X @ unit, unit)
    expected = PCA(1, svd_solver="full").fit_transform(left)[:, 0]
    for given_rows in (X, sparse.csr_matrix(X)):
        projected = project(given_rows, X @ w, w)
        np.testing.assert_allclose(np.abs(projected.along), np.abs(expected), atol=1e-8)
        assert abs(np.corrcoef(projected.along, expected)[0, 1]) > 1 - 1e-9
        centred = X - X.mean(axis=0)
        shown = ((centred @ unit) ** 2).sum() + (expected**2).sum()
        assert projected.shown == pytest.approx(shown / (centred**2).sum())


def test_the_sample_is_the_same_however_the_rows_arrive(run, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_bytes(as_csv(table(3000, 1)))
    done(run("fit", "t.csv", "--target", "label", "--missing", "mean"))
    model = load("t.sx")
    with open_named("t.csv") as source:
        at_once = inspect_rows(model, source)
    monkeypatch.setattr(model_rows, "table_rows", in_pieces(model_rows.table_rows, 700))
    with open_named("t.csv") as source:
        piecewise = inspect_rows(model, source)
    assert len(at_once.sample) == 1200
    assert sorted(at_once.sample.keys.tolist()) == sorted(piecewise.sample.keys.tolist())
    assert [r.number for r in at_once.nearest] == [r.number for r in piecewise.nearest]
    assert [r.number for r in at_once.worst] == [r.number for r in piecewise.worst]
    assert at_once.margins.shown(40).counts.tolist() == piecewise.margins.shown(40).counts.tolist()


def in_pieces(read, size):
    def pieces(source, reader):
        for raw in read(source, reader):
            for begin in range(0, len(raw), size):
                yield raw.take(slice(begin, begin + size))

    return pieces


def test_axes_are_marked_at_round_numbers_within_them():
    assert [text for _, text in Axis(0.0, 1.0, "").ticks()] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [text for _, text in Axis(-3.0, 40_000.0, "").ticks()] == ["0", "10,000", "20,000", "30,000", "40,000"]
    assert [text for _, text in Axis(1.0, 3.0, "", whole=True).ticks()] == ["1", "2", "3"]
    assert [value for value, _ in Axis(0.5, 2000.0, "", log=True).ticks()] == [1.0, 10.0, 100.0, 1000.0]
    for low, high in ((0.3, 0.9), (2.0, 9.0), (1e-12, 1.0), (5.0, 50.0)):
        ticks = Axis(low, high, "", log=True).ticks()
        assert len(ticks) >= 2
        assert all(low <= value <= high for value, _ in ticks)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_marks_lie_within_the_axis(low, wide):
    axis = Axis(low, low + wide, "")
    if axis.high - axis.low < 1e-9 * abs(low):
        return
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-6 * wide <= value <= low + wide * (1 + 1e-6) for value, _ in ticks)


# ---------------------------------------------------------------------------------------------- what data can do


def test_elements_escape_text_and_attributes_and_take_no_names_from_outside():
    made = str(element("p", "<b>&", element("i", '"x"'), None, ["a", ["b"]], title='"><script>'))
    assert made == '<p title="&quot;&gt;&lt;script&gt;">&lt;b&gt;&amp;<i>&quot;x&quot;</i>ab</p>\n'
    assert escaped("a\x00b\x0b\ud800\ufffe\r\nc") == "a\ufffdb\ufffd\ufffd\ufffd\nc"
    for name in ("a b", "x onclick", "", "p>"):
        with pytest.raises(ValueError, match="is not the name"):
            element(name)
    with pytest.raises(ValueError, match="is not the name"):
        element("p", **{"x y": "1"})
    with pytest.raises(ValueError, match="cannot contain '<'"):
        str(StyleSheet("style", {}, ("</style><script>",)))


@pytest.mark.parametrize("model", ["averaged", "kernel-svm"])
def test_nothing_in_a_table_becomes_markup(model, run, tmp_path):
    head = write_nasty(tmp_path / "<u>&nasty.csv")
    done(run("fit", "<u>&nasty.csv", "--target", head[4], "--text", head[3], "--model", model, "-o", "m.sx",
             "--report", "m.html"))  # fmt: skip
    page = page_of("m.html")
    tags = {node.tag for node in page.walk()}
    assert not tags & {"script", "img", "i", "b", "u", "iframe", "object", "form", "base", "a b"}
    attributes = {name for node in page.walk() for name in node.attributes}
    assert attributes <= KNOWN
    said = page.text()
    for text in (*head, *EVIL, "<i>hello</i>"):
        assert text in said, text
    for node in page.walk():
        target = node.attributes.get("href")
        assert target is None or target == "data:," or (target.startswith("#") and page.with_id(target[1:]))
        assert "url(" not in (node.attributes.get("style") or "")
    assert all(node.attributes["style"].startswith("--depth: 0.") for node in page.walk() if "style" in node.attributes)


def test_the_page_may_load_and_run_nothing(penguins):
    _, _, page = penguins
    (policy,) = [m for m in page.all("meta") if m.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.attributes["content"] == POLICY
    assert POLICY.startswith("default-src 'none'")
    assert not page.all("script")
    (style,) = page.all("style")
    assert "url(" not in str(style.children)
    assert "@import" not in str(style.children)


# ---------------------------------------------------------------------------------------------- every case


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_kind_of_model_has_a_report_with_all_sections(kind, classes, run, tmp_path):
    name = "t.csv" if classes == 2 else "penguins"
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", name, "--target", "label" if classes == 2 else "species", "--model", kind, "--epochs", 20,
             "-o", "m.sx", "--report", "m.html"))  # fmt: skip
    page = page_of("m.html")
    keys = [node.attributes["id"] for node in page.all("section")]
    assert keys == ["confusion", "curves", "certificate", "training", "boundary", "weights", "rows", "provenance"]
    links = [node.attributes["href"] for node in page.all("nav")[0].all("a")]
    assert links == [f"#{key}" for key in keys]
    assert "nan" not in " ".join(node.attributes.get("d", "") for node in page.all("path"))
    planes = kind not in ("voted", "kernel-svm", "network", "kernel-perceptron")
    assert bool(page.with_id("weights").all("table")) == planes
    assert ("distance from the boundary" in page.text()) == planes
    said = spaced(page.with_id("boundary"))
    assert ("The classes are learned together;" in said) == (kind == "logistic" and classes == 3)
    assert ("Each class has its own plane (one-vs-rest)" in said) == (planes and kind != "logistic" and classes == 3)
    titles = [spaced(node) for node in page.with_id("boundary").all("h3")]
    assert titles[0] == "Margins by class"
    assert len(titles) == (2 if classes == 2 else 4)
    assert len(page.table("Rows nearest to the boundary")) == 11


def test_many_classes_are_told_apart_or_drawn_as_others(run, tmp_path):
    rng = np.random.default_rng(2)
    lines = [
        f"{rng.normal(c % 4, 0.3):.3f},{rng.normal(c // 4, 0.3):.3f},class {c}" for c in range(24) for _ in range(20)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,kind", *lines]))
    done(run("fit", "t.csv", "--target", "kind", "--report", "t.html"))
    page = page_of("t.html")
    legends = page.with_id("boundary").all("ul")
    assert len(legends) == 4
    for legend in legends:
        signs = [
            (node.all("path")[0].attributes["class"], node.all("path")[0].attributes["d"]) for node in legend.all("li")
        ]
        assert len(set(signs)) == len(signs) == 10
        assert [spaced(node) for node in legend.all("li")][-2:] == ["other classes", "misclassified"]
    wrong = page.table("Test set of t.csv")
    assert wrong[0] == ["actual", "predicted", "rows", "rows of the class"]
    counts = load("t.sx").facts.test.confusion
    assert int(wrong[1][2]) == (counts - np.diag(np.diag(counts))).max()


def test_without_a_source_the_sections_that_need_rows_say_how_to_see_them(run):
    done(run("fit", "penguins", "--target", "species"))
    assert "Report written to penguins.html" in done(run("report", "penguins.sx"))
    page = page_of("penguins.html")
    for key in ("boundary", "rows"):
        assert "separatrix report MODEL SOURCE" in spaced(page.with_id(key))
        assert not page.with_id(key).all("table")
    assert page.table("Test set of penguins")
    assert "made from the model file alone" in spaced(page)


def test_the_same_model_and_rows_give_the_same_bytes(run):
    done(run("fit", "penguins", "--target", "species"))
    for name in ("a.html", "b.html"):
        done(run("report", "penguins.sx", "penguins", "-o", name))
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()


def test_rows_of_another_source_are_not_taken_for_those_learned_from(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    (tmp_path / "other.csv").write_bytes(as_csv(table(50, 9)))
    done(run("fit", "t.csv", "--target", "label"))
    done(run("report", "t.sx", "t.csv", "-o", "own.html"))
    done(run("report", "t.sx", "other.csv", "-o", "other.html"))
    own, other = spaced(page_of("own.html")), spaced(page_of("other.html"))
    assert "on which the model was fitted" in own
    assert "Another source." not in own
    assert "Another source." in other
    assert "The model was fitted on t.csv: another source or query, or a file that has changed since." in other
    assert page_of("other.html").table("Labelled rows of other.csv")


def test_rows_that_may_have_been_learned_from_give_no_interval(run, tmp_path):
    """A file that grew by a row, and rows that an update learned from: neither shows how new rows would fare."""
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "t.csv", "--target", "label", "--model", "averaged", "--test", 0))
    with (tmp_path / "t.csv").open("a") as file:
        file.write("5.0,0.1,red,true,3,yes\n")
    done(run("report", "t.sx", "t.csv", "-o", "grown.html"))
    (tmp_path / "u.csv").write_bytes(as_csv(table(60, 8)))
    done(run("update", "t.sx", "u.csv", "-o", "u.sx"))
    done(run("report", "u.sx", "u.csv", "-o", "updated.html"))
    grown, updated = (spaced(page_of(name).all("header")[0]) for name in ("grown.html", "updated.html"))
    for said in (grown, updated):
        assert "95% CI" not in said
        assert "Some or all of these rows may be training rows" in said
    assert "Without a test set, the accuracy on new rows is unknown" in grown
    assert "Some or all of these rows may still be training rows" in grown
    assert "The model was updated after its test, so the accuracy on new rows is unknown" in updated
    assert "whether it was trained on these rows is unknown" in updated


def test_what_was_found_before_an_update_is_not_told_of_the_model_after_it(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    (tmp_path / "u.csv").write_bytes(as_csv(table(60, 8)))
    done(run("fit", "t.csv", "--target", "label", "--model", "averaged", "--report", "t.html"))
    assert "training accuracy" in spaced(page_of("t.html").all("dl")[0])
    done(run("update", "t.sx", "u.csv", "-o", "u.sx"))
    done(run("report", "u.sx", "-o", "u.html"))
    assert load("u.sx").facts.training_accuracy is None
    cards = spaced(page_of("u.html").all("dl")[0])
    assert "training accuracy" not in cards
    assert "no longer known the model was updated after the fit" in cards
    assert "The model has no certificate: the model was updated after the fit." in spaced(page_of("u.html"))


def test_a_page_tells_why_there_is_no_certificate(run, tmp_path, monkeypatch):
    from separatrix.tables import fit as fit_module

    rng = np.random.default_rng(2)
    lines = [f"{rng.normal(c):.3f},{rng.normal():.3f},class {c}" for c in range(13) for _ in range(4)]
    (tmp_path / "many.csv").write_text("\n".join(["a,b,kind", *lines]))
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "many.csv", "--target", "kind", "--certify", 5, "--test", 0, "--report", "many.html"))
    done(run("fit", "t.csv", "--target", "label", "--certify", 0, "--report", "off.html"))
    done(run("fit", "t.csv", "--target", "label", "--cache", "kept", "-o", "d.sx", "--report", "disk.html"))
    monkeypatch.setattr(fit_module, "_STORED_CERTIFICATE", 10)
    done(run("fit", "t.csv", "--target", "label", "-o", "large.sx"))
    done(run("report", "large.sx"))
    for name, word, why in (
        ("many", "not tried", "there are too many classes"),
        ("off", "not requested", "certification was turned off"),
        ("disk", "not tried", "the rows were on disk"),
        ("large", "not kept", "the certificate was too large for the model file"),
    ):
        page = page_of(f"{name}.html")
        assert f"linearly separable {word} {why}" in spaced(page.all("dl")[0])
        assert f"The model has no certificate: {why}" in spaced(page.with_id("certificate"))


def test_rows_without_labels_get_what_needs_none(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    (tmp_path / "bare.csv").write_bytes(as_csv(table().drop_columns("label")))
    done(run("fit", "t.csv", "--target", "label", "--test", 0))
    done(run("report", "t.sx", "bare.csv"))
    page = page_of("t.html")
    assert "They have no labels" in spaced(page.with_id("boundary"))
    assert "Errors are known only for rows with labels" in spaced(page.with_id("rows"))
    assert "There is no test set, and no labelled rows" in spaced(page.with_id("confusion"))
    assert page.table("Rows nearest to the boundary")[0][:3] == ["row", "predicted", "distance"]
    assert [spaced(node) for node in page.with_id("boundary").all("h3")] == ["Decision boundary"]


def test_missing_values_and_strange_labels_are_counted(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "t.csv", "--target", "label", "--missing", "drop"))
    rows = table().to_pylist()
    lacking = sum(row["length"] is None for row in rows)
    strange = [k for k, row in enumerate(rows) if row["length"] is not None][:3]
    rows[strange[0]]["label"] = rows[strange[1]]["label"] = "perhaps"
    rows[strange[2]]["label"] = None
    (tmp_path / "u.csv").write_bytes(as_csv(pa.Table.from_pylist(rows)))
    done(run("report", "t.sx", "u.csv"))
    said = spaced(page_of("t.html").with_id("boundary"))
    assert f"120 rows of u.csv, {lacking} without a prediction (missing values)" in said
    assert "1 have no label, 2 an unknown label" in said
    assert f"{120 - lacking - 3} labelled rows" in said
    done(run("fit", "t.csv", "--target", "label"))
    done(run("report", "t.sx", "u.csv"))
    said = spaced(page_of("t.html").with_id("boundary"))
    assert "120 rows of u.csv. 1 have no label, 2 an unknown label." in said
    assert "117 labelled rows" in said


@pytest.mark.parametrize("kind", ["npy", "npz", "libsvm"])
def test_rows_without_column_names_have_a_report_too(kind, run, tmp_path):
    source, *target = write_matrices(tmp_path, table())[kind]
    done(run("fit", source, *target, "-o", "m.sx", "--report", "m.html"))
    page = page_of("m.html")
    nearest = page.table("Rows nearest to the boundary")
    first = "x1" if kind == "libsvm" else "x0"
    assert (f"{first} = " in nearest[1][-1]) if kind == "libsvm" else (first in nearest[0])
    assert page.table("For 1")[1]


def imputed(data: pa.Table) -> list[dict[str, object]]:
    """Return the rows with the median in the place of missing lengths."""
    median = float(np.median([length for length in data["length"].to_pylist() if length is not None]))
    return [{**row, "length": median if row["length"] is None else row["length"]} for row in data.to_pylist()]


def test_unscaled_numbers_get_their_standard_deviation_from_the_rows(run, tmp_path, monkeypatch):
    monkeypatch.setattr(model_rows, "table_rows", in_pieces(model_rows.table_rows, 37))
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "t.csv", "--target", "label", "--scale", "none", "--features", "length,width", "--test", 0))
    done(run("report", "t.sx", "-o", "without.html"))
    done(run("report", "t.sx", "t.csv", "-o", "with.html"))
    assert page_of("without.html").table("For yes") == page_of("with.html").table("For yes")  # the rows of the fit
    whole = imputed(table())
    deviations = {row[0]: as_number(row[4]) for row in page_of("with.html").table("For yes")[1:3]}
    for name in ("length", "width"):
        assert deviations[name] == pytest.approx(np.std([row[name] for row in whole]), rel=1e-3)


@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
def test_the_effect_of_a_rare_category_is_weight_times_standard_deviation(scale, run, tmp_path):
    """Order and bars are those of weight times standard deviation, for numbers and values of categories alike."""
    (tmp_path / "t.csv").write_bytes(as_csv(table(300, 4)))
    done(run("fit", "t.csv", "--target", "label", "--scale", scale, "--test", 0, "--report", "t.html"))
    whole = imputed(table(300, 4))
    columns = {name: [row[name] for row in whole] for name in ("length", "width", "count")}
    columns |= {f"colour={c}": [row["colour"] == c for row in whole] for c in ("blue", "red", "sea green")}
    columns["length missing"] = [value is None for value in table(300, 4)["length"].to_pylist()]
    columns |= {f"sold={value}": [row["sold"] is value for row in whole] for value in (True, False)}
    rows = page_of("t.html").table("For yes")[1:-1]
    strengths = []
    for name, _, _, own, deviation, over in rows:
        assert as_number(deviation) == pytest.approx(np.std(columns[name]), rel=1e-3)
        assert as_number(over) == pytest.approx(as_number(own) * np.std(columns[name]), rel=2e-3)
        strengths.append(abs(as_number(over)))
    assert strengths == sorted(strengths, reverse=True)
    assert "cannot be compared" not in spaced(page_of("t.html").with_id("weights"))


def test_without_rows_values_of_categories_are_said_not_to_be_comparable(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "t.csv", "--target", "label"))
    model = load(tmp_path / "t.sx")
    model.deviations = None  # as in files of earlier versions
    save(model, tmp_path / "t.sx")
    done(run("report", "t.sx"))
    page = page_of("t.html")
    rows = {row[0]: row for row in page.table("For yes")[1:]}
    assert rows["colour=red"][4:] == ["0 to 1", "\u2013"]
    assert as_number(rows["width"][4]) == pytest.approx(1.0, abs=0.2)
    assert "cannot be compared with those of numbers" in spaced(page.with_id("weights"))


def test_a_constant_number_is_no_category(run, tmp_path):
    lines = [f"{k / 10},0.1,{'yes' if k > 12 else 'no'}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["x,same,y", *lines]))
    done(run("fit", "t.csv", "--target", "y", "--scale", "none", "--test", 0, "--report", "t.html"))
    rows = {row[0]: row[3:] for row in page_of("t.html").table("For yes")[1:]}
    assert as_number(rows["same"][0]) != 0
    assert rows["same"][1:] == ["0", "0"]


def test_settings_are_told_as_values(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    done(run("fit", "t.csv", "--target", "label", "--model", "kernel-svm", "--test", 0, "--report", "k.html"))
    X = load("t.sx")._matrix(table())
    gamma = 1.0 / (X.shape[1] * X.var())
    rate = ("--param", "eta0=0.01")
    done(run("fit", "t.csv", "--target", "label", "--model", "neuron", *rate, "--epochs", 7, "--report", "n.html"))
    k, n = (settings(page_of(name)) for name in ("k.html", "n.html"))
    assert k["parameter C"] == "1"
    assert k["parameter kernel"] == "rbf"
    assert k["parameter gamma"].startswith("scale")
    assert float(k["parameter gamma"].split("here ")[1]) == pytest.approx(gamma, rel=1e-5)
    assert n["parameter max_iter"] == "7"
    assert n["parameter stop"] == "NoProgress(tol=0.0001, patience=5) or EpochsInAll(epochs=7)"
    assert n["parameter eta0"] == "0.01"
    assert "by default" not in {*k.values(), *n.values()}


def settings(page: Node) -> dict[str, str]:
    names, values = (page.with_id("provenance").all(tag) for tag in ("dt", "dd"))
    return {spaced(name): spaced(value) for name, value in zip(names, values, strict=True)}


def test_shifts_below_zero_are_added(run, tmp_path):
    lines = [f"{-20 + k / 2},{k},{'yes' if k > 12 else 'no'}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["low,high,y", *lines]))
    for scale, low, high in (
        ("standard", "(x + 12.75) / ", "(x \u2212 14.5) / "),
        ("minmax", "x \u00b7 0.0689655 + 1.37931", "x \u00b7 0.0344828 + 0"),
    ):
        done(run("fit", "t.csv", "--target", "y", "--scale", scale, "--test", 0, "--report", "t.html"))
        becomes = {row[0]: row[2] for row in page_of("t.html").table("Preprocessing of columns")[1:]}
        assert becomes["low"].startswith(low)
        assert becomes["high"].startswith(high)


def test_a_label_from_right_to_left_turns_no_other_word(run, tmp_path):
    labels = ["\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd", "plain"]
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal(4 * c):.3f},{rng.normal():.3f},{labels[c]}" for c in range(3) for _ in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,kind", *lines]), encoding="utf-8")
    done(run("fit", "t.csv", "--target", "kind", "--report", "t.html"))
    page = page_of("t.html").with_id("certificate")
    cells = [node for node in page.all("th") if "vs the rest" in node.text()]
    assert len(cells) == 3
    for cell in [*cells, *page.all("summary")]:
        assert "dir" not in cell.attributes
        alone = "".join(child for child in cell.children if isinstance(child, str))
        assert not any(label in alone for label in labels[:2])
        assert all(node.tag in ("bdi", "th", "summary") for node in cell.walk())


def test_long_names_are_shortened_and_told_whole(run, tmp_path):
    column, label = "c" * 290 + "umn", "l" * 290 + "abel"
    lines = [f"{k},{k % 7},{label if k > 12 else 'no'}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([f"{column},b,y", *lines]))
    done(run("fit", "t.csv", "--target", "y", "--test", 0, "--report", "t.html"))
    page = page_of("t.html")
    heads = [node for node in page.all("th") if node.text().endswith(("ccumn", "llabel"))]
    assert len(heads) >= 4
    for node in heads:
        assert len(node.text()) < 60
        assert node.all("bdi")[0].attributes["title"] in (column, label)
    for section_ in ("boundary", "weights", "confusion", "rows"):
        assert "l" * 100 not in page.with_id(section_).text()
        assert "c" * 100 not in page.with_id(section_).text()


def test_a_perceptron_says_why_it_has_no_curve_of_a_loss(penguins, run):
    _, _, page = penguins
    assert "The loss of a perceptron is its number of mistakes" in spaced(page.with_id("training"))
    done(run("fit", "penguins", "--target", "species", "--model", "neuron", "--epochs", 9, "--report", "n.html"))
    assert "The loss of a perceptron is its number of mistakes" not in spaced(page_of("n.html"))


def test_both_ways_to_count_rows_are_told_in_one_place(penguins):
    _, _, page = penguins
    said = spaced(page.with_id("certificate"))
    assert "from 0; the lists of rows in this report count the rows of the source, from 1" in said


def test_no_class_that_a_plane_tells_from_the_others_is_said_without_a_zero(run, tmp_path):
    lines = [f"{c},{k % 2},{'abc'[(c + k) % 3]}" for c in range(4) for k in range(6)]
    (tmp_path / "t.csv").write_text("\n".join(["u,v,kind", *lines]))
    done(run("fit", "t.csv", "--target", "kind", "--test", 0, "--report", "t.html"))
    assert "None of the 3 classes is linearly separable from all others" in spaced(page_of("t.html").all("header")[0])


def test_an_interrupted_fit_says_how_to_have_its_report(run, monkeypatch):
    from separatrix.tables import fit as fit_module

    whole = fit_module.fit

    def cut(*given, **named):
        fitted = whole(*given, **named)
        return fit_module.FitResult(fitted.model, True)

    monkeypatch.setattr(fit_module, "fit", cut)
    status, out, _ = run("fit", "penguins", "--target", "species", "--report", "p.html")
    assert status == 130
    (command,) = [line for line in out.splitlines() if "separatrix report" in line]
    words = command.split("separatrix report ")[1].split()
    assert not Path("p.html").exists()
    done(run("report", *words))
    assert page_of("p.html").table("Rows nearest to the boundary")


def test_rows_from_standard_input_are_read_again_for_the_report(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_csv(table()))))
    done(run("fit", "-", "--target", "label", "-o", "m.sx", "--report", "m.html"))
    assert "120 rows of standard input" in spaced(page_of("m.html"))


def test_rows_on_disk_and_updated_models_have_a_report(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(table(2000, 2)))
    done(run("fit", "t.csv", "--target", "label", "--cache", "kept", "--epochs", 4, "--report", "d.html"))
    said = spaced(page_of("d.html"))
    assert "rows were read from disk in each epoch" in said
    assert "Mistakes per epoch" in said
    assert "The model has no certificate" in said
    (tmp_path / "u.csv").write_bytes(as_csv(table(60, 8)))
    done(run("update", "t.sx", "u.csv"))
    done(run("report", "t.sx", "u.csv", "-o", "u.html"))
    assert "It was later updated with 60 rows of u.csv" in spaced(page_of("u.html"))


def test_fit_says_where_the_report_is(run):
    assert "Report written to p.html" in done(run("fit", "penguins", "--target", "species", "--report", "p.html"))
    told = json.loads(done(run("fit", "penguins", "--target", "species", "--report", "p.html", "--json")))
    assert told["report"] == "p.html"


def test_a_report_that_fails_leaves_the_model(run, monkeypatch):
    def refuse(*given, **named):
        raise ValueError("the disk is full")

    monkeypatch.setattr(report_rows, "inspect_rows", refuse)
    err = failed(run("fit", "penguins", "--target", "species", "--report", "p.html"))
    assert "the model is in penguins.sx, but there is no report: the disk is full" in err
    assert load("penguins.sx").target == "species"
    assert not Path("p.html").exists()


def test_what_cannot_be_reported_is_refused_before_any_work(run, tmp_path):
    done(run("fit", "penguins", "--target", "species"))
    assert "the name of a report must end in .html" in failed(run("report", "penguins.sx", "-o", "p.pdf"))
    assert "the name of a report must end in .html" in failed(
        run("fit", "penguins", "--target", "species", "--report", "p.txt")
    )
    assert "does not exist" in failed(run("report", "penguins.sx", "-o", "nowhere/p.html"))
    strange = failed(run("report", "penguins.sx", "penguins", "--unknown", "x"))
    assert "'x' is not one of 'zero', 'null', 'fail'" in strange
    assert "nor a built-in data set" in failed(run("report", "penguins.sx", "pinguins"))
    (tmp_path / "t.csv").write_bytes(as_csv(table()))
    assert "t.csv has no columns 'bill_length_mm'" in failed(run("report", "penguins.sx", "t.csv"))
    (tmp_path / "new.csv").write_text(datasets.as_csv("penguins").replace("Biscoe", "Anvers"))
    assert "the model was not trained on the category 'Anvers'" in failed(
        run("report", "penguins.sx", "new.csv", "--unknown", "fail")
    )
    status, _, err = run("report", "penguins.sx", "new.csv", "-o", "new.html")
    assert status == 0
    assert err == "unknown categories, encoded as none of the known ones: island 168 (--unknown)\n"
    (tmp_path / "empty.csv").write_text(datasets.as_csv("penguins").splitlines()[0] + "\nAdelie,Dream,,,,,,\n")
    done(run("fit", "penguins", "--target", "species", "--missing", "drop"))
    message = "empty.csv: every row has missing values, so there is nothing to predict"
    assert message in failed(run("report", "penguins.sx", "empty.csv"))
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["new.html"]


def test_a_model_from_python_has_no_report(run):
    from separatrix import Perceptron, save

    save(Perceptron().fit(*datasets.load("and")), "and.sx")
    assert "saved from Python" in failed(run("report", "and.sx"))
