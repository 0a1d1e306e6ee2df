"""``inspect`` shows the weights of a network, layer by layer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import separatrix as sx


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def saved(path, hidden=(2,), n_features=2, n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, n_features))
    model = sx.Network(hidden, max_iter=3, stop="epochs:3", random_state=0).fit(X, np.arange(30) % n_classes)
    sx.save(model, path)
    return model


def test_every_weight_of_a_small_network_is_shown(run, tmp_path):
    model = saved(tmp_path / "m.sx")
    lines = [line.split() for line in done(run("inspect", "m.sx")).splitlines()]
    for name, row in (("x1", model.coefs_[0][0]), ("x2", model.coefs_[0][1]), ("h1", model.coefs_[1][0])):
        assert [name, *(f"{value:.4g}" for value in row)] in lines
    assert ["(bias)", *(f"{value:.4g}" for value in model.intercepts_[0])] in lines
    assert ["(bias)", f"{model.intercepts_[1][0]:.4g}"] in lines


def test_the_network_of_a_table_has_the_names_of_its_columns(run):
    done(run("fit", "xor", "--model", "network", "--test", 0, "--epochs", 3, "-o", "m.sx"))
    shown = done(run("inspect", "m.sx"))
    assert "Layer 1, 8 hidden neurons (scaled features):" in shown
    assert "Layer 2, 1 output neuron (positive: 1):" in shown
    layers = json.loads(done(run("inspect", "m.sx", "--json")))["layers"]
    assert [sorted(layer["inputs"]) for layer in layers] == [["x1", "x2"], [f"h{k}" for k in range(1, 9)]]
    assert np.shape(layers[0]["weights"]) == (2, 8)


def test_top_limits_what_is_shown_to_the_largest(run, tmp_path):
    model = saved(tmp_path / "m.sx", (12, 3), n_features=50, n_classes=3)
    shown = done(run("inspect", "m.sx", "--top", "5"))
    assert "50 inputs, layers of 12, 3, 3; 663 weights and biases." in shown
    assert "Not shown: 45 more inputs: --top 50; 7 more neurons: --json." in shown
    assert "h1.12" in shown or "h1.1" in shown
    strongest = int(np.abs(model.coefs_[0]).max(axis=1).argmax()) + 1
    layers = json.loads(done(run("inspect", "m.sx", "--json", "--top", "5")))["layers"]
    assert layers[0]["inputs"][0] == f"x{strongest}"
    assert len(layers[0]["inputs"]) == 5
    assert layers[2]["neurons"] == ["0", "1", "2"]


@pytest.mark.parametrize("kind", [sx.Perceptron, sx.LinearSVM])
def test_other_models_of_python_are_shown_as_before(run, tmp_path, kind):
    sx.save(kind(random_state=0).fit(*sx.datasets.load("and")), tmp_path / "m.sx")
    assert "saved from Python" in done(run("inspect", "m.sx"))
    assert "layers" not in json.loads(done(run("inspect", "m.sx", "--json")))
