"""Weights per standard deviation: the weight times the standard deviation of the feature, whatever the scaling."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from page_tree import read_page
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
    done(
        run(
            "fit",
            "t.csv",
            "--target",
            "y",
            "--test",
            "0",
            "-o",
            "m.sx",
            "--model",
            "averaged",
            "--param",
            "init=uniform",
        )
    )
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


def test_rare_noise_categories_rank_behind_true_signals_in_every_output(run, tmp_path):
    """Ten rare cities that mean nothing have large weights; two numbers decide, one of them in tiny units."""
    rng = np.random.default_rng(0)
    n = 3000
    a, b = rng.normal(size=(2, n))
    city = np.where(rng.random(n) < 0.02, rng.choice([f"n{k}" for k in range(10)], n), "main")
    label = np.where(a + b + 0.6 * rng.normal(size=n) > 0, "yes", "no")
    lines = [f"{a[k]:.4f},{1e-3 * b[k]:.7f},{city[k]},{label[k]}" for k in range(n)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,city,label", *lines]), encoding="utf-8")
    for scale in ("standard", "minmax", "none"):
        done(run("fit", "t.csv", "--target", "label", "--model", "svm", "--scale", scale, "-o", "m.sx"))
        model = load(tmp_path / "m.sx")
        strongest = [weights_of(model).names[place] for place in weights_of(model).strongest(2)]
        if scale != "none":  # where a penalty keeps the weight of the tiny numbers small
            assert set(strongest) == {"a", "b"}
        shown = done(run("inspect", "m.sx")).split("Largest weights")[1].splitlines()[3:5]
        assert [line.split()[0] for line in shown] == strongest
        listed = json.loads(done(run("inspect", "m.sx", "--json")))["weights"]["features"]
        assert [each["feature"] for each in listed[:2]] == strongest
        for source in ([], ["t.csv"]):
            done(run("report", "m.sx", *source, "-o", "r.html"))
            rows = read_page(Path("r.html").read_text(encoding="utf-8")).table("For yes")
            assert [row[0] for row in rows[1:3]] == strongest
