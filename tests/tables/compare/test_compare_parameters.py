"""``compare --param``: parameters of one contender or of all that have them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from separatrix.cli.options import contender_parameters
from separatrix.tables.compare.contenders import CONTENDERS, parameters_by_model
from separatrix.tables.compare.plan import ComparisonPlan


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    lines = [f"{rng.normal() + 2 * label:.3f},{rng.normal():.3f},{['no', 'yes'][int(label)]}" for label in y]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,label", *lines]), encoding="utf-8")
    return ["compare", "t.csv", "--target", "label", "--certify", "0"]


def made(model, *given):
    parameters = parameters_by_model(contender_parameters(list(given)), tuple(CONTENDERS))
    return CONTENDERS[model].make(ComparisonPlan(parameters=parameters).recipe(model)).get_params()


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [("svm", "C", 10), ("neuron", "eta0", 0.5), ("kernel-perceptron", "degree", 2), ("k-nn", "n_neighbors", 3),
     ("tree", "max_depth", 2), ("sk-perceptron", "alpha", 0.1), ("sk-linear-svc", "C", 2), ("sk-logistic", "C", 3)],
)  # fmt: skip
def test_a_parameter_of_a_model_is_that_of_its_estimator(model, name, value):
    assert made(model)[name] != value
    assert made(model, f"{model}:{name}={value}")[name] == value


def test_a_parameter_without_a_model_is_that_of_all_of_ours_that_have_it():
    assert [made(name, "C=10")["C"] for name in ("svm", "kernel-svm", "online-svm", "logistic")] == [10] * 4
    assert made("sk-logistic", "C=10")["C"] == 1
    assert made("svm", "svm:C=2", "C=10")["C"] == 2  # its own counts, whatever the order
    assert made("svm", "C=3", "C=4")["C"] == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [("C", "must be NAME=VALUE or MODEL:NAME=VALUE"), (":C=1", "must be NAME=VALUE or MODEL:NAME=VALUE"),
     ("max_depth=2", "--param max_depth: no model of separatrix in this comparison has this parameter"),
     ("tree:C=2", "--param tree:C: tree has no parameter 'C'; it has ccp_alpha, class_weight,"),
     ("sv:C=2", "--param sv:C: 'sv' is not compared; compared are averaged, perceptron,"),
     ("svm:max_iter=3", "--param max_iter: use --epochs"),
     ("shuffle=3", "--param shuffle must be true, false or random")],
)  # fmt: skip
def test_what_no_model_has_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        made("svm", given)


def test_the_parameters_are_used_and_shown(run, table):
    options = ["--models", "k-nn,svm", "--param", "k-nn:n_neighbors=160", "--param", "C=inf"]
    status, out, err = run(*table, *options)
    assert status == 0, err
    assert "Parameters: k-nn:n_neighbors=160, svm:C=inf." in out
    status, out, err = run(*table, *options, "--json")
    assert status == 0, err
    result = json.loads(out)
    assert result["plan"]["parameters"] == {"k-nn": {"n_neighbors": 160}, "svm": {"C": "inf"}}
    accuracy = {each["name"]: each["accuracy"] for each in result["contenders"]}
    assert accuracy["k-nn"] == result["baseline"]["accuracy"]  # the majority of all 160 training rows


def test_a_wrong_parameter_is_refused_before_the_table_is_read(run):
    status, _, err = run("compare", "absent.csv", "--target", "y", "--param", "colour=red")
    assert status == 2
    assert "--param colour: no model of separatrix in this comparison has this parameter" in err
