"""``separatrix inspect MODEL DATA --dual``: the training rows found again, and the dual solution on them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import separatrix as sx


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def failed(result):
    status, out, err = result
    assert status == 2, out
    return err


def fitted(run, *arguments):
    done(run("fit", *arguments, "--certify", "0"))


def test_lecture_000_by_hand(run):
    fitted(run, "lecture-000", "--target", "label", "--model", "svm", "--scale", "none", "--test", "0", "-o", "m.sx")
    out = done(run("inspect", "m.sx", "lecture-000", "--dual"))
    assert "positive class 1: 4 support vectors among 6 training rows (2 free)" in out
    assert "1.25 + 1 = 2.25" in out
    assert "divided by gamma N (mean loss + regulariser)" in out
    assert "0 <= alpha <= gamma = C = 1" in out
    (task,) = json.loads(done(run("inspect", "m.sx", "lecture-000", "--dual", "--json")))["tasks"]
    assert [point["row"] for point in task["points"]] == [0, 2, 3, 5]
    np.testing.assert_allclose([point["alpha"] for point in task["points"]], [0.75, 1, 0.75, 1], atol=1e-6)
    assert [point["bias"] is None for point in task["points"]] == [False, True, False, True]
    assert task["objective"]["mean_loss"] == pytest.approx(2.25 / 6)


def test_the_test_set_is_left_out_as_in_the_fit(run, tmp_path):
    fitted(run, "penguins", "--target", "species", "--model", "svm", "-o", "m.sx")
    told = json.loads(done(run("inspect", "m.sx", "penguins", "--dual", "--json")))
    model = sx.load("m.sx")
    assert [task["positive"] for task in told["tasks"]] == ["Adelie", "Chinstrap", "Gentoo"]
    for place, task in enumerate(told["tasks"]):
        assert task["rows"] == 275
        assert task["residual"] < 1e-3
        assert task["stationarity"] < 1e-6
        assert task["objective"]["primal"] == pytest.approx(model.estimator.objective_[place])
        assert task["bias"] == model.estimator.intercept_[place]
    out = done(run("inspect", "m.sx", "penguins", "--dual", "--class", "Adelie", "--top", "2", "-o", "a.csv"))
    assert out.count("against the others") == 1
    assert "not shown" in out
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert len(rows) == 275
    assert sum(float(row["alpha"]) for row in rows) == pytest.approx(
        np.abs(model.estimator.dual_coef_[0]).sum(), rel=1e-12
    )
    whole = done(run("inspect", "m.sx", "penguins", "--dual", "--format", "csv"))
    assert len(whole.splitlines()) == 1 + 3 * 275


def test_kernel_squared_hinge_and_hard_margin(run):
    fitted(run, "penguins", "--target", "sex", "--model", "kernel-svm", "-o", "k.sx")
    out = done(run("inspect", "k.sx", "penguins", "--dual", "--top", "1"))
    assert "stationarity" not in out
    assert "free support vectors)" in out
    fitted(run, "lecture-000", "--target", "label", "--model", "svm", "--param", "loss=squared_hinge", "--test", "0",
           "-o", "s.sx")  # fmt: skip
    assert "- sum alpha^2 / (4 gamma)" in done(run("inspect", "s.sx", "lecture-000", "--dual"))
    fitted(run, "lecture-000", "--target", "label", "--model", "svm", "--param", "C=inf", "--test", "0", "-o", "h.sx")
    out = done(run("inspect", "h.sx", "lecture-000", "--dual"))
    assert "primal value 1/2 |w|^2 " in out
    assert "gamma N" not in out
    assert json.loads(done(run("inspect", "h.sx", "lecture-000", "--dual", "--json")))["C"] is None


def test_sample_weights_are_read_too(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    lines = [f"{a},{b},{'yes' if a + b + 0.5 * rng.normal() > 0 else 'no'},{1 + k % 3}" for k, (a, b) in enumerate(X)]
    (tmp_path / "w.csv").write_text("a,b,y,n\n" + "\n".join(lines) + "\n")
    fitted(run, "w.csv", "--target", "y", "--weight", "n", "--model", "svm", "-o", "m.sx")
    out = done(run("inspect", "m.sx", "w.csv", "--dual"))
    assert "gamma = C = 1 (times the weight of the row)" in out
    (task,) = json.loads(done(run("inspect", "m.sx", "w.csv", "--dual", "--json")))["tasks"]
    assert task["residual"] < 1e-3
    (tmp_path / "w.csv").write_text("a,b,y,n\n" + "\n".join(lines[:-1]) + "\n")
    err = failed(run("inspect", "m.sx", "w.csv", "--dual"))
    assert "the 39 complete rows of w.csv are not those that the model was trained on (32 of 40 rows of w.csv)" in err
    assert "--test 0" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("penguins",), "DATA is for --dual"),
        (("--dual",), "--dual needs the rows that the model was trained on"),
        (("--class", "1"), "--class is for --dual"),
        (("lecture-001", "--dual"), "are not those that the model was trained on (6 of 6 rows of lecture-000)"),
        (("lecture-000", "--dual", "--class", "7"), "there is no such class; the classes are -1, 1"),
        (("lecture-000", "--dual", "--class", "-1"), "there is one task, whose positive class is 1"),
        (("lecture-000", "--dual", "-o", "a.png"), "the ending must be one of"),
    ],
)  # fmt: skip
def test_what_is_refused(run, arguments, message):
    fitted(run, "lecture-000", "--target", "label", "--model", "svm", "--test", "0", "-o", "m.sx")
    assert message in failed(run("inspect", "m.sx", *arguments))


def test_models_without_a_dual_say_so(run):
    fitted(run, "lecture-000", "--target", "label", "--model", "perceptron", "--test", "0", "-o", "m.sx")
    err = failed(run("inspect", "m.sx", "lecture-000", "--dual"))
    assert "a Perceptron has no dual solution; --dual is for support vector machines (svm, kernel-svm)" in err
    fitted(run, "penguins", "--target", "species", "--model", "kernel-svm", "-o", "k.sx")
    assert "one task for each pair of classes" in failed(run("inspect", "k.sx", "penguins", "--dual"))
