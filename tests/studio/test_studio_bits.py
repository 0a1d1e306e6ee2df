"""The studio's runs are those of Python: weights after every epoch, bit for bit."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import warnings
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
