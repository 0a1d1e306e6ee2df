"""Hints in errors are commands that work when they are pasted."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

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
