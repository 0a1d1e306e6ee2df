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


NAMES = ["when", "it's", 'a "b", c']


def options_after(message: str, what: str) -> list[str]:
    """Return the words of a hint from this option on: it and its value."""
    return shlex.split(message[message.index(what) :].split(", or ")[0].split(", use it")[0].split(", exclude it")[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hint", ["--exclude", "--sql"])
@pytest.mark.parametrize("kind", ["dates", "times"])
def test_the_hints_for_dates_work(name, hint, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dates = pd.date_range("2020-01-01 10:00", periods=40, freq="D" if kind == "dates" else "7h")
    data = pd.DataFrame({name: dates.strftime("%Y-%m-%d" if kind == "dates" else "%Y-%m-%d %H:%M:%S"), "x": range(40)})
    data["kind"] = ["a", "b"] * 20
    data.to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", "kind")
    assert "has dates or times" in message
    result = CliRunner().invoke(app, ["fit", "t.csv", "--target", "kind", *QUICK, *options_after(message, hint)])
    assert result.exit_code == 0, result.output
    assert ("2 columns as 2 features" if hint == "--sql" else "1 column as 1 feature") in result.output


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hint", ["--exclude", "--text"])
@pytest.mark.parametrize("long", [True, False])
def test_the_hints_for_many_categories_work(name, hint, long, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"{'some words that ' * 3 if long else ''}vary {k}" for k in range(200)]
    pd.DataFrame({name: texts, "x": range(200), "kind": ["a", "b"] * 100}).to_csv("t.csv", index=False)
    message = failed("fit", "t.csv", "--target", "kind")
    result = CliRunner().invoke(app, ["fit", "t.csv", "--target", "kind", *QUICK, *options_after(message, hint)])
    assert result.exit_code == 0, result.output
