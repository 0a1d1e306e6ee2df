"""Weights per standard deviation: the weight times the standard deviation of the feature, whatever the scaling."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from separatrix.models.model_file import load, save
from separatrix.tables.weights import weights_of

LINES = ["a,b,kind,y", *(f"{k},{(7 * k) % 11 / 10},{'red' if k % 3 else 'blue'},{int(k > 14)}" for k in range(30))]


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def raw_deviations():
    cells = [line.split(",") for line in LINES[1:]]
    columns = [[float(c[0]) for c in cells], [float(c[1]) for c in cells]]
    columns += [[float(c[2] == level) for c in cells] for level in ("blue", "red")]
    return np.std(columns, axis=1)


@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
@pytest.mark.parametrize("memory", [[], ["--memory", "1kB"]])
def test_per_standard_deviation_is_the_weight_times_the_deviation(run, tmp_path, scale, memory):
    (tmp_path / "t.csv").write_text("\n".join(LINES), encoding="utf-8")
    fitted = done(
        run("fit", "t.csv", "--target", "y", "--scale", scale, "--test", "0", "--json", "-o", "m.sx", *memory)
    )
    weights = weights_of(load(tmp_path / "m.sx"))
    assert weights.names == ["a", "b", "kind=blue", "kind=red"]
    np.testing.assert_allclose(weights.per_deviation[0], weights.own[0] * raw_deviations(), rtol=1e-9)
    listed = json.loads(fitted)["weights"]["features"]
    sizes = [abs(each["per_deviation"][0]) for each in listed]
    assert sizes == sorted(sizes, reverse=True)
    row = next(line for line in done(run("inspect", "m.sx")).splitlines() if line.startswith("a "))
    assert row.split()[1:] == [f"{weights.own[0, 0]:.4g}", f"{weights.per_deviation[0, 0]:.4g}"]


def test_a_constant_column_has_no_deviation(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,5,0\n2,5,0\n3,5,1\n4,5,1\n", encoding="utf-8")
    done(run("fit", "t.csv", "--target", "y", "--test", "0", "-o", "m.sx", "--param", "init=uniform"))
    assert load(tmp_path / "m.sx").deviations.tolist() == [1.0, 0.0]


def test_a_model_without_deviations_does_not_claim_them(run, tmp_path):
    done(run("fit", "and", "--test", "0", "-o", "m.sx", "--scale", "none"))
    save(replace(load(tmp_path / "m.sx"), deviations=None), tmp_path / "m.sx")  # as files of earlier versions are
    shown = done(run("inspect", "m.sx"))
    assert "per standard deviation" not in shown
    assert "for features as they are" in shown
    assert json.loads(done(run("inspect", "m.sx", "--json")))["weights"]["features"][0]["per_deviation"] is None


def test_forged_deviations_are_refused(run, tmp_path):
    done(run("fit", "and", "--test", "0", "-o", "m.sx"))
    for forged in (np.ones(3), -np.ones(2), [1.0, 1.0]):
        with pytest.raises(ValueError, match="standard deviations must be 2 numbers"):
            replace(load(tmp_path / "m.sx"), deviations=forged)


def test_every_summary_says_whether_features_are_scaled(run):
    for scale, features in (("none", "features as they are"), ("minmax", "scaled features")):
        said = f"Linear separability ({features}; proved)"
        assert said in done(run("fit", "and", "--scale", scale, "--test", "0", "-o", "m.sx"))
        assert said in done(run("inspect", "m.sx"))
        assert said in done(run("compare", "xor", "--scale", scale, "--models", "perceptron", "--folds", "2"))
        done(run("report", "m.sx", "and", "-o", "r.html"))
        page = Path("r.html").read_text(encoding="utf-8")
        assert f"the training rows in {features}." in page
        assert f"Distances are in {features}." in page
