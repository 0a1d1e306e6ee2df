"""The studio's runs are those of Python: weights after every epoch, bit for bit."""

from __future__ import annotations

import json
import shlex
import shutil
import struct
import subprocess
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix.geometry.rows import Rows
from separatrix.studio.page import CORE
from separatrix.svm.ascent import Ascent
from separatrix.svm.task import MarginTask

SCRIPT = Path(__file__).with_name("wasm_bits.mjs")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not found")


def runs_in_node() -> list[dict[str, Any]]:
    done = subprocess.run(["node", str(SCRIPT), str(CORE)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def bits(numbers: Any) -> str:
    return " ".join(struct.pack(">d", float(number)).hex() for number in numbers)


def fitted(line: str, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return eval(line, {"sx": sx}).fit(X, y)  # the line that the page shows


def ascent_epochs(model: dict[str, Any], X: Any, y: Any, epochs: int) -> list[str]:
    rows = Rows(X)
    costs = np.full(len(y), float(model["C"]))
    task = MarginTask(rows, y.astype(float), costs, squared=model["loss"] == "squared_hinge", free=True)
    ascent = Ascent(task, None, model["seed"])
    seen = []
    for _ in range(epochs):
        ascent.epoch(lambda: False)
        seen.append(bits([*ascent.weights, ascent.bias]))
    return seen


@needs_node
def test_weights_after_every_epoch_are_those_of_python_for_fifty_settings() -> None:
    runs = runs_in_node()
    assert len(runs) >= 50
    for run in runs:
        X = np.array(run["x"]).reshape(-1, 2)
        y = np.where(np.array(run["codes"]) == 1, 1, -1)
        what = json.dumps({"set": run["set"], **run["model"]})
        if run["model"]["id"] == "svm":
            assert run["epochs"] == ascent_epochs(run["model"], X, y, len(run["epochs"])), what
            continue
        for line, seen in zip(run["lines"], run["epochs"], strict=True):
            model = fitted(line, X, y)
            if run["model"]["id"] == "kernelPerceptron":
                weights = [*(model.alpha_ * y), *model.intercept_]
            else:
                weights = [*model.coef_[0], *model.intercept_]
            assert seen.replace("8000000000000000", "0" * 16) == bits(np.add(weights, 0.0)), (what, line)


@needs_node
def test_commands_show_the_same_runs(run: Any, tmp_path: Path) -> None:
    traces = [each for each in runs_in_node() if each["command"].startswith("separatrix trace")]
    for each in traces[::4]:
        (tmp_path / "points.csv").write_text(each["csv"], encoding="utf-8")
        status, out, messages = run(*shlex.split(each["command"])[1:], "--json")
        assert status == 0, (each["command"], messages)
        final = json.loads(out)
        weights = [float(Fraction(str(number))) for number in (*final["weights"], final["bias"])]
        assert weights == pytest.approx(each["last"], rel=1e-9, abs=1e-12), each["command"]


@needs_node
def test_commands_fit_the_models_that_trace_does_not_show(run: Any, tmp_path: Path) -> None:
    script = (
        "import { checkedModel } from './web/models.mjs'; import { commandLine } from './web/repeat.mjs';"
        "for (const id of ['svm', 'kernelPerceptron', 'kernelSvm'])"
        " console.log(commandLine(checkedModel({ id, kernel: 'poly' }), 3, 'points.csv'));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, cwd=CORE.parent, check=True
    )
    (tmp_path / "points.csv").write_text(sx.datasets.as_csv("lecture-001"), encoding="utf-8")
    for command in done.stdout.splitlines():
        status, _, messages = run(*shlex.split(command)[1:])
        assert status == 0, (command, messages)
