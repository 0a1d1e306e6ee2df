"""Online training on new rows: what the error before learning them is."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import Settings
from separatrix.tables.sources.opening import open_source
from separatrix.tables.update import update


def table(n: int, seed: int, kinds: str = "abcd") -> pd.DataFrame:
    random = np.random.default_rng(seed)
    place = random.integers(len(kinds), size=n)
    noisy = place + random.normal(scale=0.6, size=n)
    return pd.DataFrame({"x": noisy, "z": random.normal(size=n), "kind": [kinds[k] for k in place]})


def fitted(data: pd.DataFrame, folder, model: str):
    data.to_csv(folder / "train.csv", index=False)
    parameters = {"budget": 40} if model == "kernel-perceptron" else {}
    settings = Settings(model=model, certify=0, test=0, epochs=5, parameters=parameters)
    with open_source(str(folder / "train.csv")) as source:
        return fit(source, ColumnOptions("kind"), settings).model


@pytest.mark.parametrize(
    "model",
    [
        "averaged", "perceptron", "voted", "pocket", "neuron", "online-svm", "pa", "arow", "scw", "nherd", "romma",
        "alma", "sop", "network", "kernel-perceptron",
    ],
)  # fmt: skip
def test_the_error_is_the_share_of_rows_that_predict_gets_wrong_before_they_are_learned(model, tmp_path):
    start, new = fitted(table(300, 1), tmp_path, model), table(200, 2)
    expected = int((copy.deepcopy(start).predict(new) != new["kind"].to_numpy()).sum())
    new.to_csv(tmp_path / "new.csv", index=False)
    with open_source(str(tmp_path / "new.csv")) as source:
        result = update(start, source)
    assert 0 < expected < 200
    assert (result.rows, result.errors) == (200, expected)
    assert start.facts.updates[-1].mistakes == expected


def test_rows_of_a_new_class_are_errors(tmp_path):
    start = fitted(table(100, 1, "bd"), tmp_path, "averaged")
    new = table(50, 2, "ac")
    new.to_csv(tmp_path / "new.csv", index=False)
    with open_source(str(tmp_path / "new.csv")) as source:
        result = update(start, source)
    assert (result.errors, result.new_classes) == (50, ["a", "c"])
