"""What can be exported and what cannot, from Python and from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import separatrix as sx
from export_models import case
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.exporting import target_of
from separatrix.tables.export.targets import TARGETS

X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 5.0], [3.0, 4.0]])
Y = [0, 0, 1, 1]


@pytest.fixture
def penguins(run):
    """Return what runs a command in a folder that holds the model of the penguins."""
    assert run("fit", "penguins", "--target", "species")[0] == 0
    return run


# ------------------------------------------------------------------------------------------------ the scorer


def test_a_scorer_holds_the_model_and_what_is_done_to_its_columns():
    example = scorer_of(case("table svm 2").model)
    assert [(each.role, each.place, each.width, each.gap, each.pooled) for each in example.inputs] == [
        ("number", 0, 1, 2, None), ("number", 1, 1, 3, None), ("category", 4, 9, 12, None),
        ("category", 13, 3, 15, None),
    ]  # fmt: skip
    assert [operation for operation, _ in example.steps] == ["minus", "over"]
    assert example.width == example.decision.weights.shape[1] == 16
    pooled = scorer_of(case("table averaged 2, pooled").model)
    assert [(each.place, each.width, each.gap, each.pooled) for each in pooled.role("category")] == [
        (4, 5, 8, 7), (9, 3, 11, None),
    ]  # fmt: skip
    dropped = scorer_of(case("table averaged 2, drop").model)
    assert [(each.place, each.width, each.gap) for each in dropped.inputs] == [
        (0, 1, None), (1, 1, None), (2, 8, None), (10, 2, None),
    ]  # fmt: skip
    assert dropped.width == 12


@pytest.mark.parametrize(
    "name",
    ["table averaged 3", "table averaged 3, drop, null", "table averaged 2, pooled", "pipeline chain", "estimator 2"],
)
def test_what_a_scorer_says_is_what_the_model_computes(name):
    """The arithmetic of a scorer, carried out by NumPy on the columns of numbers."""
    example = case(name)
    scorer = scorer_of(example.model)
    columns = example.table.to_pydict()
    for row, expected in enumerate(example.scores):
        if np.isnan(expected).any():
            continue
        x = np.zeros(scorer.width)
        for each in scorer.inputs:
            cell = columns[each.name][row]
            if cell is None and each.gap is not None:
                x[each.gap] = 1.0
            if each.role == "number":
                x[each.place] = each.fill if cell is None else cell
            elif cell is not None and any(known := [str(cell) in level for level in each.levels]):
                x[each.place + known.index(True)] = 1.0
            elif cell is not None and each.pooled is not None:
                x[each.pooled] = 1.0
        numbers = len(scorer.role("number"))
        for operation, by in scorer.steps:
            way = {"minus": np.subtract, "over": np.divide, "times": np.multiply, "plus": np.add}[operation]
            x[:numbers] = way(x[:numbers], by)
        np.testing.assert_allclose(scorer.decision.weights @ x + scorer.decision.bias, expected, rtol=1e-9, atol=1e-12)


def test_a_linear_model_of_scikit_learn_is_exported_with_its_own_ties():
    model = LogisticRegression().fit(X, Y)
    assert not scorer_of(model).tie_is_positive
    assert scorer_of(sx.LinearSVM().fit(X, Y)).tie_is_positive


def test_a_multinomial_model_is_exported_with_the_scores_of_its_softmax():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4))
    model = sx.LogisticRegression().fit(rows, (rows @ rng.normal(size=(4, 3))).argmax(axis=1))
    decision = scorer_of(model).decision
    scores = rows @ decision.weights.T + decision.bias
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(powers / powers.sum(axis=1, keepdims=True), model.predict_proba(rows), rtol=1e-12)
    assert np.array_equal(scores.argmax(axis=1), model.predict(rows))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            make_pipeline(PCA(1), sx.LinearSVM()),
            r"step 'pca' \(PCA\) cannot be exported; supported steps: MinMaxScaler",
        ),
        (make_pipeline(MinMaxScaler(clip=True), sx.LinearSVM()), r"step 'minmaxscaler' clips values to its range"),
        (sx.KernelSVM(kernel=lambda a, b: a @ b.T), "a kernel that is a Python function cannot be exported"),
    ],
)
def test_what_cannot_leave_python_is_named(model, message):
    with pytest.raises(ValueError, match=message):
        sx.export(model.fit(X, Y), to="json")


def test_a_precomputed_kernel_is_refused():
    with pytest.raises(
        ValueError, match="a precomputed kernel cannot be exported; supported kernels: linear, rbf, poly"
    ):
        sx.export(sx.KernelSVM(kernel="precomputed").fit(X @ X.T, Y), to="json")


@pytest.mark.parametrize("to", TARGETS)
def test_dates_are_refused_with_the_column_and_the_way_out(run, tmp_path, to):
    rows = "".join(f"2024-01-{1 + k % 28:02},{k % 5},{'pq'[k % 2]}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("sold on,n,y\n" + rows)
    assert run("fit", "t.csv", "--target", "y", "--certify", 0)[0] == 0
    status, printed, messages = run("export", "t.sx", "--to", to, "-o", "t.out")
    assert (status, printed) == (2, "")
    assert messages.startswith(
        "separatrix: column 'sold on' is a date, which cannot be exported; fit without it (--exclude 'sold on'), or "
        'with numbers that a query makes of it, as --sql \'select * exclude ("sold on"), year('
    )
    assert run("fit", "t.csv", "--target", "y", "--certify", 0, "--exclude", "sold on")[0] == 0
    assert run("export", "t.sx", "--to", to, "-o", "t.out")[0] == 0


def test_models_that_are_not_linear_are_refused():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ValueError, match=r"a DecisionTreeClassifier cannot be exported: .* is not a fitted linear"):
        sx.export(DecisionTreeClassifier().fit(X, Y), to="json")
    with pytest.raises(ValueError, match="a str is not a model that can be exported"):
        sx.export("model.sx", to="json")


def test_a_model_that_was_not_fitted_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="This Perceptron instance is not fitted yet"):
        sx.export(sx.Perceptron(), to="sql")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no export target given; choose one of onnx, sql, c, json"),
        ({"to": "pmml"}, "to must be one of onnx, sql, c, json; found 'pmml'"),
        ({"to": "sql", "unknown": "fail"}, "unknown must be one of zero, null; found 'fail'"),
        ({"path": "model.txt"}, r"model.txt ends in none of .onnx, .sql, .h, .hpp, .c, .json; give the export target"),
        ({"to": "c", "name": "2nd"}, "2nd"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sx.export(sx.LinearSVM().fit(X, Y), **options)


@pytest.mark.parametrize(("ending", "first"), [("onnx", 0x08), ("sql", ord("-")), ("h", ord("/")), ("json", ord("{"))])
def test_the_ending_of_a_path_says_the_form(tmp_path, ending, first):
    path = tmp_path / f"model.{ending}"
    content = sx.export(make_pipeline(StandardScaler(), sx.LinearSVM()).fit(X, Y), path)
    written = path.read_bytes()
    assert written == (content if isinstance(content, bytes) else content.encode())
    assert written[0] == first
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [path.name, *(["separatrix.js"] if ending == "json" else [])]
    )


# ------------------------------------------------------------------------------------------------ the command


@pytest.mark.parametrize("form", ["sql", "c", "json"])
def test_text_is_printed_and_is_what_python_gives(penguins, form):
    status, printed, messages = penguins("export", "penguins.sx", "--to", form)
    assert (status, messages) == (0, "")
    name = {"name": "penguins"} if form == "c" else {}
    assert printed == sx.export(sx.load("penguins.sx"), to=form, **name)


def test_a_file_appears_with_what_it_needs(penguins, tmp_path):
    assert penguins("export", "penguins.sx", "-o", "model.json") == (
        0, "", "model.json written, and separatrix.js beside it\n",
    )  # fmt: skip
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["format"] == "separatrix-scorer"
    assert (tmp_path / "separatrix.js").read_text(encoding="utf-8")
    assert penguins("export", "penguins.sx", "--to", "onnx")[2] == "penguins.onnx written\n"
    assert (tmp_path / "penguins.onnx").stat().st_size > 100


def test_a_script_of_the_users_own_is_left_alone(penguins, tmp_path):
    script = tmp_path / "separatrix.js"
    script.write_text("mine", encoding="utf-8")
    status, _, messages = penguins("export", "penguins.sx", "-o", "model.json")
    assert status == 2
    assert "separatrix.js exists and was not written by separatrix" in messages
    assert (script.read_text(encoding="utf-8"), (tmp_path / "model.json").exists()) == ("mine", False)
    script.unlink()
    assert penguins("export", "penguins.sx", "-o", "model.json")[0] == 0
    script.write_text('// an older version\nconst FORMAT = "separatrix-scorer";\n', encoding="utf-8")
    assert penguins("export", "penguins.sx", "-o", "again.json")[0] == 0  # over a script of ours
    assert "an older version" not in script.read_text(encoding="utf-8")
    (tmp_path / "penguins.sx").rename(tmp_path / "separatrix.js")
    status, _, messages = penguins("export", "separatrix.js", "-o", "other.json")
    assert status == 2
    assert "would overwrite the input separatrix.js" in messages


def test_a_pipe_gets_the_model_and_no_script(penguins):
    command = "from separatrix.cli import main; main()"
    arguments = ["export", "penguins.sx", "--to", "json", "-o", "/dev/stdout"]
    if not os.path.exists("/dev/stdout"):
        pytest.skip("there is no /dev/stdout")
    done = subprocess.run([sys.executable, "-c", command, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "/dev/stdout written\n")
    assert json.loads(done.stdout)["format"] == "separatrix-scorer"
    assert not os.path.exists("/dev/separatrix.js")


def test_the_command_offers_what_the_table_of_targets_holds(penguins):
    """A new target is a module and an entry of TARGETS: choices, help, endings and refusals follow from it."""
    shown = " ".join(penguins("export", "--help")[1].split())
    assert f"--to <{'|'.join(TARGETS)}>" in shown
    for target in TARGETS.values():
        assert f"{target.name}, {target.about}" in shown
        assert target_of(f"model{target.endings[0]}", None) is target
    assert penguins("export", "penguins.sx", "--to", "pmml")[2] == (
        f"separatrix: --to must be one of {', '.join(TARGETS)}; found 'pmml'\n"
    )


def test_what_has_to_be_installed_is_said_in_one_line(penguins, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert penguins("export", "penguins.sx", "--to", "onnx") == (
        2, "", "separatrix: export to ONNX needs the onnx package: pip install 'separatrix[onnx]'\n",
    )  # fmt: skip
    assert not (tmp_path / "penguins.onnx").exists()


@pytest.mark.parametrize(("stem", "name"), [("my-model 2", "my_model_2"), ("int", "model"), ("2nd", "model")])
def test_names_in_c_begin_like_the_file_where_they_can(penguins, tmp_path, stem, name):
    (tmp_path / "penguins.sx").rename(tmp_path / f"{stem}.sx")
    assert f"static inline int {name}_predict(" in penguins("export", f"{stem}.sx", "--to", "c")[1]


@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_duckdb_predicts_what_predict_does(penguins, missing):
    import csv

    import duckdb

    if missing == "drop":
        assert penguins("fit", "penguins", "--target", "species", "--missing", "drop")[0] == 0
    _, predictions, _ = penguins("predict", "penguins.sx", "penguins")
    _, sql, _ = penguins("export", "penguins.sx", "--to", "sql", "--table", "birds")
    path = sx.datasets.path("penguins")
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE birds AS SELECT * FROM read_csv('{path}', nullstr='NA')")
        rows = database.execute(f"SELECT prediction FROM ({sql})").fetchall()
    expected = [row[0] if row else "" for row in list(csv.reader(predictions.splitlines()))[1:]]
    assert [label or "" for (label,) in rows] == expected
    assert expected.count("") == (11 if missing == "drop" else 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["penguins.sx"], "no export target given; use --to with one of onnx, sql, c, json"),
        (
            ["penguins.sx", "-o", "model.txt"],
            "model.txt ends in none of .onnx, .sql, .h, .hpp, .c, .json; give the export target",
        ),
        (
            ["penguins.sx", "--to", "json", "-o", "separatrix.js"],
            "separatrix.js is the name of the script that reads the model",
        ),
        (["penguins.sx", "--to", "json", "--table", "x"], "--table is only for --to sql, not for json"),
        (["penguins.sx", "--to", "sql", "--name", "x"], "--name is only for --to c, not for sql"),
        (["penguins.sx", "--to", "sql", "--table", ""], "table must be a name such as customers or sales.customers"),
        (["nothing.sx", "--to", "sql"], "nothing.sx"),
        (["penguins.sx", "--to", "sql", "-o", "."], ". is a folder; -o needs a file name"),
        (["penguins.sx", "--to", "sql", "-o", "penguins.sx"], "would overwrite the input penguins.sx"),
        (["penguins.sx", "--to", "c", "-o", "no/such/model.h"], "no/such/model.h"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(penguins, tmp_path, arguments, message):
    before = sorted(tmp_path.iterdir())
    status, printed, messages = penguins("export", *arguments)
    assert (status, printed) == (2, "")
    assert message in messages
    assert len(messages.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_form_that_cannot_hold_the_model_says_which_can(run, tmp_path):
    assert run("fit", "penguins", "--target", "species", "--model", "kernel-svm", "-o", "k.sx")[0] == 0
    status, printed, messages = run("export", "k.sx", "--to", "sql", "-o", "k.sql")
    assert (status, printed) == (2, "")
    assert (
        "a KernelSVM with kernels cannot be exported to sql; use --to onnx, c or json, or fit a linear model"
        in messages
    )
    assert not (tmp_path / "k.sql").exists()
