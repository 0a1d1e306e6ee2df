"""Hints in errors are commands that work when they are pasted."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from separatrix.cli.app import app


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
    result = CliRunner().invoke(app, ["fit", "t.csv", *hint])
    assert result.exit_code == 0, result.output
    assert "Classes: False" in result.output
