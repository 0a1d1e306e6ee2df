"""Hints in errors are commands that work when they are pasted."""

from __future__ import annotations

import re
import shlex

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ctrl_c import press_ctrl_c
from separatrix.cli.app import app

QUICK = ("--certify", "0", "--epochs", "1")


def failed(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code, result.output
    return str(result.exception)


@pytest.mark.parametrize("target", ["delay", 'the "delay", in minutes', "order", "it's late"])
def test_a_quantity_as_the_target_is_told_with_a_condition_that_makes_a_class(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    data = pd.DataFrame({"x": x, target: np.round(40 + 30 * x + rng.normal(size=200)).astype(int)})
    data.to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", target)
    assert "looks like a regression target" in message
    hint = shlex.split(re.search(r"use a condition: (.*)", message)[1])
    result = CliRunner().invoke(app, ["fit", "t.csv", *QUICK, *hint])
    assert result.exit_code == 0, result.output
    assert "Classes: False" in result.output


NAMES = ["when", "it's", 'a "b", c', "-x $y"]
OPTION = re.compile(r"--(?:exclude|category|missing|target|sql|scale)(?![a-z])")


def hints(message: str) -> list[list[str]]:
    """Return every option of a message with its value, as a shell splits them."""
    out = []
    for place in OPTION.finditer(message):
        words = shlex.shlex(message[place.start() :], posix=True, punctuation_chars=False)
        words.whitespace_split = True
        option, value = next(words), next(words)
        out.append([option, value.rstrip(",.;:)")])
    return out


def fitted(*words: str) -> str:
    result = CliRunner().invoke(app, ["fit", "t.csv", "--target", "kind", *QUICK, *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", NAMES)
def test_the_hints_for_a_slip_among_numbers_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [str(k % 30) for k in range(200)]
    cells[50] = "oops"
    pd.DataFrame({name: cells, "x": np.arange(200) % 7, "kind": ["a", "b"] * 100}).to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", "kind")
    assert hints(message) == [["--exclude", name], ["--category", name]]
    for hint, columns in zip(hints(message), ("1 column as 1 feature: x", "2 columns as 32 features"), strict=True):
        assert columns in fitted(*hint)


@pytest.mark.parametrize("name", NAMES)
def test_the_hints_for_too_many_dropped_rows_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = [float(k % 9) if k % 5 == 0 else None for k in range(200)]
    pd.DataFrame({name: values, "x": np.arange(200) % 7, "kind": ["a", "b"] * 100}).to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", "kind", "--missing", "drop")
    assert message.endswith(f"--exclude {shlex.quote(name)}")
    impute, exclude = (hint for hint in hints(message) if hint != ["--missing", "drop"])
    assert (impute, exclude) == (["--missing", "impute"], ["--exclude", name])
    assert "missing values imputed:" in fitted(*impute)
    assert "1 column as 1 feature: x" in fitted("--missing", "drop", *exclude)


def test_the_hints_for_a_missing_value_that_is_an_error_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": [1.0, None, 2.0, 3.0] * 20, "kind": ["a", "b"] * 40}).to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", "kind", "--missing", "fail")
    assert message == (
        "t.csv, row 2, column 'x': missing value; impute such values with --missing impute, or drop the rows with "
        "--missing drop"
    )
    assert "80 rows; missing values imputed: x 20." in fitted(*hints(message)[0])
    assert "80 rows, 20 dropped (missing values: x 20)." in fitted(*hints(message)[1])


@pytest.mark.parametrize("name", NAMES)
def test_the_hint_for_a_leak_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 200)
    pd.DataFrame({name: (kind == "a") + 0.5, "x": rng.normal(size=200), "kind": kind}).to_csv("t.csv", index=False)
    warning = next(line for line in " ".join(fitted().split("\n")).split("Warning: ")[1:])
    assert warning.startswith(f"{name} alone predicts 'kind' for almost every row: a leak?")
    (hint,) = hints(warning.split("Classes:")[0])
    assert hint == ["--exclude", name]
    assert "Warning" not in fitted(*hint)


@pytest.mark.parametrize("name", NAMES)
def test_the_hint_for_spans_of_time_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": np.arange(60) % 7, "kind": ["a", "b"] * 30}).to_csv("t.csv", index=False)
    quoted = name.replace('"', '""')
    words = ["--sql", f'select *, interval (x) hour as "{quoted}" from data']
    message = failed("fit", "t.csv", "--target", "kind", *words)
    assert message == (
        f"the query, column {name!r} holds spans of time (INTERVAL): make numbers of them with --sql, or leave it out "
        f"with "
        f"--exclude {shlex.quote(name)}"
    )
    assert "1 column as 1 feature: x" in fitted(*words, "--exclude", name)


@pytest.mark.parametrize("name", NAMES)
def test_the_hint_for_values_that_differ_in_case_or_spaces_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    levels, labels = (rng.choice(values, 90) for values in (["Red", "red ", "blue"], ["Yes", " yes", "no"]))
    data = pd.DataFrame({"x": rng.normal(size=90), name: levels, "kind": labels})
    data.to_csv("t.csv", index=False)
    warning = " ".join(fitted().split("\n")).split("Warning: ")[1].split(" Classes:")[0]
    shown = f"'kind' has ' yes', 'Yes'; {name!r} has 'Red', 'red '"
    assert warning.startswith(f"values that differ only in case or spaces are taken for different ones: {shown}. If ")
    output = fitted(*hints(warning)[0])
    assert "differ only in case" not in output
    assert re.search(r"Classes: no \d+, yes \d+\.", output)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y %H:%M"])
def test_the_hint_for_dates_in_exports_works(name, form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.permutation(200) * 1234, "min")
    kinds = np.where(days.day_of_week < 3, "a", "b")
    pd.DataFrame({name: days.strftime(form), "day 2": days, "kind": kinds}).to_csv("t.csv", index=False)
    fitted("-o", "m.sx")
    hint = hints(failed("export", "m.sx", "--to", "sql"))[1]
    assert hint[0] == "--sql"
    fitted("-o", "m.sx", *hint)
    words = ["--to", "sql", "-o", "m.sql"]
    assert CliRunner().invoke(app, ["export", "m.sx", *words]).exit_code == 0
    assert CliRunner().invoke(app, ["predict", "m.sx", "t.csv", *hint, "-o", "p.csv"]).exit_code == 0
    with duckdb.connect() as database:
        database.execute(f"create table data as {hint[1].removesuffix('from data')} from 't.csv'")
        found = database.execute((tmp_path / "m.sql").read_text()).df()["prediction"]
    assert found.tolist() == pd.read_csv("p.csv").prediction.tolist()


@pytest.mark.parametrize("name", ["plain", "it's a $file", "-x y"])
def test_what_to_do_next_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": np.arange(60) % 7, "kind": ["a", "b"] * 30}).to_csv(f"{name}.csv", index=False)
    result = CliRunner().invoke(app, ["fit", f"./{name}.csv", "--target", "kind", *QUICK])
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.output.splitlines() if line.startswith("Next: ")]
    for hint in line.removeprefix("Next: ").split(", or "):
        _, *words = shlex.split(hint.replace("FILE", shlex.quote(f"./{name}.csv")))
        assert CliRunner().invoke(app, words).exit_code == 0, words


@pytest.mark.parametrize("given", [["--no-header", "--delimiter", ";"], ["--sql", "select x as c1, k as c2 from data"]])
def test_the_command_that_resumes_an_interrupted_fit_works(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head, cells = (None, ";") if "--no-header" in given else (["x", "k"], ",")
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "k": rng.choice(["a", "b"], 60)})
    data.to_csv("my rows.csv", index=False, header=head is not None, sep=cells)
    words = ["fit", "my rows.csv", *given, "--target", "c2", "--epochs", "100000000", "-o", "my model.sx"]
    press_ctrl_c()
    result = CliRunner().invoke(app, [*words, "--report", "page.html"])
    assert result.exit_code == 130, result.output
    (line,) = [line for line in result.output.splitlines() if line.startswith("Resume: ")]
    _, *again = shlex.split(line.removeprefix("Resume: "))
    (later,) = [line for line in result.output.splitlines() if line.startswith("No report written; ")]
    assert CliRunner().invoke(app, shlex.split(later.split(": ")[1])[1:]).exit_code == 0
    result = CliRunner().invoke(app, [*again, "--time-limit", "0.01"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("given", [["--calibrate", "none"], ["--calibrate", "none", "--no-header"]])
def test_the_hint_for_probabilities_works(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"c1": rng.normal(size=60), "c2": rng.choice(["a", "b"], 60)})
    data.to_csv("t.csv", index=False, header="--no-header" not in given)
    words = ["t.csv", *[word for word in given if word == "--no-header"]]
    fit = ["fit", *words, "--target", "c2", "--model", "svm", "-o", "m.sx", "--certify", "0"]
    assert CliRunner().invoke(app, [*fit, "--calibrate", "none"]).exit_code == 0
    message = failed("predict", "m.sx", *words, "--proba")
    assert message == (
        "--proba: this LinearSVM has no probabilities: it was fitted with --calibrate none; fit it again without, or "
        "with --calibrate sigmoid. --scores writes its scores"
    )
    assert CliRunner().invoke(app, ["predict", "m.sx", *words, "--scores"]).exit_code == 0
    for more in ([], ["--calibrate", "sigmoid"]):
        assert CliRunner().invoke(app, [*fit, *more]).exit_code == 0
        assert "proba_a" in CliRunner().invoke(app, ["predict", "m.sx", *words, "--proba"]).output


def test_the_hints_for_probabilities_of_rows_on_disk_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 64)
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=90), "y": rng.choice(["a", "b"], 90)}).to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "y", "-o", "m.sx"]
    assert CliRunner().invoke(app, [*words, "--memory", "1b"]).exit_code == 0
    message = failed("predict", "m.sx", "t.csv", "--proba")
    assert "trained on rows on disk, where scores are not calibrated; fit --model logistic has" in message
    for more in (["--memory", "1b", "--model", "neuron"], ["--model", "averaged"]):
        assert CliRunner().invoke(app, [*words, *more]).exit_code == 0
        assert "proba_a" in CliRunner().invoke(app, ["predict", "m.sx", "t.csv", "--proba"]).output
