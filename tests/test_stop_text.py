"""Stop rules as text: the grammar, its errors, and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.stops import (
    EpochsInAll,
    HeldOutFlat,
    LossAtMost,
    LossFlat,
    MaxEpochs,
    NoMistakes,
    NoProgress,
    Stop,
    TimeLimit,
    parse,
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("no-mistakes", NoMistakes()),
        ("epochs:7", MaxEpochs(7)),
        (" time : 2.5 ", TimeLimit(2.5)),
        ("loss<=0.01", LossAtMost(0.01)),
        ("loss <= 3 @ hinge / 2", LossAtMost(3, 2, "hinge")),
        ("loss<=1e-3@log", LossAtMost(1e-3, loss="log")),
        ("flat", LossFlat()),
        ("flat:3", LossFlat(patience=3)),
        ("flat:3,0.5@squared/4", LossFlat(0.5, 3, 4, "squared")),
        ("flat@perceptron", LossFlat(loss="perceptron")),
        ("no-progress", NoProgress()),
        ("no-progress:0.01", NoProgress(0.01)),
        ("no-progress:0.01,9", NoProgress(0.01, 9)),
        ("validation", HeldOutFlat()),
        ("validation:0.25,3", HeldOutFlat(0.25, 3)),
        (
            "no-mistakes | loss<=0.01 | flat:5 | time:10",
            NoMistakes() | LossAtMost(0.01) | LossFlat(patience=5) | TimeLimit(10),
        ),
    ],
)
def test_every_rule_has_its_text(text, rule):
    assert parse(text) == rule


def test_every_public_stop_rule_can_be_written():
    written = {type(part) for part in parse("no-mistakes|epochs:1|time:1|loss<=1|flat|no-progress|validation").parts}
    rules = {kind for kind in Stop.__subclasses__() if kind.__name__ != "AnyOf" and "test" not in kind.__module__}
    assert rules == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"'' is not a stop rule; accepted are no-mistakes, epochs:N, time:SECONDS, loss<=VALUE"),
        ("no-mistakes |", "'' is not a stop rule"),
        ("no-mistakes || time:3", "'' is not a stop rule"),
        ("time:3 | flet:5", "'flet:5' is not a stop rule; .*flat.*joined with"),
        ("No-Mistakes", "'No-Mistakes' is not a stop rule"),
        ("no-mistakes time:3", "'no-mistakes time:3' is not|must be written no-mistakes"),
        ("no-mistakes:2", "the stop rule 'no-mistakes:2' must be written no-mistakes"),
        ("epochs", "the stop rule 'epochs' must be written epochs:N"),
        ("epochs:", "the stop rule 'epochs:' must be written epochs:N"),
        ("epochs:many", "in the stop rule 'epochs:many', N must be a whole number; found 'many'"),
        ("epochs:0", "in the stop rule 'epochs:0', the number of epochs must be a whole number of at least 1"),
        ("time:-3", "in the stop rule 'time:-3', a time limit must be a positive number"),
        ("time:nan", "a time limit must be a positive number"),
        ("time:inf", "a time limit must be a positive number"),
        ("loss:1", "the stop rule 'loss:1' must be written loss<=VALUE"),
        ("loss<1", "must be written loss<=VALUE"),
        ("loss<=nan", "the loss to reach must be zero or positive"),
        ("loss<=1@L", "in the stop rule 'loss<=1@L', the loss must be one of zero_one, .*; found 'L'"),
        ("loss<=1/x", "in the stop rule 'loss<=1/x', EVERY must be a whole number; found 'x'"),
        ("flat:1,2,3", r"the stop rule 'flat:1,2,3' must be written flat\[:PATIENCE,CHANGE\]"),
        ("flat:2,-1", "in the stop rule 'flat:2,-1', the change must be zero or positive"),
        ("validation:1.5", "in the stop rule 'validation:1.5', the validation fraction must lie between 0 and 1"),
        ("no-progress:2", "in the stop rule 'no-progress:2', tol must be at least 0 and below 1"),
        ("time:3@hinge", "in the stop rule 'time:3@hinge', '@hinge' has no meaning: only loss and flat take @LOSS"),
        ("validation/3", "only loss and flat take /EVERY"),
    ],
)
def test_a_wrong_part_is_quoted(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


@given(st.text(alphabet="noepchsmtikaflv-r:<=|@/,.0123456789 ", max_size=24))
def test_any_text_is_a_rule_or_one_sentence(text):
    try:
        rule = parse(text)
    except ValueError as problem:
        rule = str(problem)
    assert isinstance(rule, Stop) or (len(rule.splitlines()) == 1 and "stop rule" in rule)


def test_what_is_not_text_is_refused():
    with pytest.raises(TypeError, match="must be text such as"):
        parse(3)
    with pytest.raises(TypeError, match="stop must be a stop rule such as"):
        sx.Perceptron(stop=3).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kind", [sx.Perceptron, sx.KernelPerceptron, sx.Neuron, sx.OnlineSVM, sx.Network])
def test_estimators_take_text_as_they_take_rules(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    models = [
        kind(stop=stop, random_state=0).fit(X, y) for stop in ("flat:2 | epochs:30", LossFlat(0, 2) | MaxEpochs(30))
    ]
    assert str(models[0].status_) == str(models[1].status_)
    assert models[0].get_params()["stop"] == "flat:2 | epochs:30"


def test_the_linear_svm_takes_time_and_epochs_only():
    X, y = sx.datasets.load("and")
    sx.LinearSVM(stop="time:5").fit(X, y)
    with pytest.raises(ValueError, match="accepts TimeLimit and MaxEpochs besides"):
        sx.LinearSVM(stop="flat").fit(X, y)


# ---------------------------------------------------------------------------------------------- the command line


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def failed(result):
    status, _, err = result
    assert status == 2
    return err


def test_fit_stops_as_it_is_told_and_the_model_loads_and_learns_on(run, tmp_path):
    told = done(run(
        "fit", "xor", "--model", "perceptron", "--test", 0, "--stop", "no-mistakes | flat:3", "--json", "-o", "m.sx",
    ))  # fmt: skip
    facts = json.loads(told)
    assert facts["settings"]["stop"] == "no-mistakes | flat:3"
    assert facts["status"].startswith("converged: loss 2, changed by at most 0 in 3 checks (epoch ")
    assert sx.load(tmp_path / "m.sx").facts.settings.stop == "no-mistakes | flat:3"
    assert "stop='no-mistakes | flat:3'" in " ".join(done(run("inspect", "m.sx")).split())
    done(run("update", "m.sx", "xor"))
    done(run("predict", "m.sx", "xor"))


def test_epochs_and_limits_join(run):
    for limits in (["--stop", "epochs:3", "--epochs", 9], ["--stop", "epochs:9", "--epochs", 3]):
        out = done(run("fit", "xor", "--model", "perceptron", "--test", 0, *limits, "-o", "m.sx"))
        assert "epoch limit of 3 reached" in out
    out = done(run("fit", "xor", "--model", "perceptron", "--test", 0, "--stop", "time:0.001 | epochs:1000000",
                   "--epochs", 1000000, "--time-limit", 60, "-o", "m.sx"))  # fmt: skip
    assert "time limit of 0.001 s reached" in out


def test_a_limit_keeps_the_goal_of_the_model(run):
    for limit in ("time:60", "epochs:40"):
        out = done(run("fit", "and", "--model", "perceptron", "--test", 0, "--stop", limit, "-o", "m.sx"))
        assert "converged: no mistakes (epoch" in out


def test_a_run_that_its_rule_cut_short_can_be_resumed_with_another(run, tmp_path):
    arguments = ("xor", "--model", "averaged", "--test", 0)
    done(run("fit", *arguments, "--stop", "epochs:3", "-o", "m.sx"))
    assert EpochsInAll(3) in sx.load(tmp_path / "m.sx").estimator.stop.parts
    assert "trained for 3 epochs; give more with another --stop" in failed(run("fit", "xor", "--resume", "m.sx"))
    done(run("fit", "xor", "--resume", "m.sx", "--stop", "epochs:5"))
    done(run("fit", *arguments, "--stop", "epochs:5", "-o", "whole.sx"))
    resumed, whole = (sx.load(tmp_path / name).estimator for name in ("m.sx", "whole.sx"))
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stop", "never"], "--stop: 'never' is not a stop rule; accepted are no-mistakes, epochs:N"),
        (
            ["--stop", "no-progress"],
            "--stop: no-progress is about the mean loss of neuron, online-svm, pa, arow, scw, nherd, romma, alma,",
        ),
        (["--stop", "flat", "--model", "svm"], "accepts only epochs:N and time:SECONDS besides"),
        (["--stop", "time:3", "--model", "kernel-svm"], "--stop cannot end a kernel-svm"),
        (["--param", "stop=flat"], "--param stop: use --stop"),
        (["--record", "L"], "--record must be one of zero_one, perceptron"),
        (["--every", "2"], "--every needs --record"),
        (["--record", "log", "--every", "0"], "--every must be at least 1; found 0"),
        (["--record", "log", "--model", "kernel-svm"], "--record is for models that are trained epoch by epoch"),
    ],
)
def test_what_a_model_cannot_do_is_refused(run, tmp_path, arguments, message):
    assert message in failed(run("fit", "xor", "--test", 0, *arguments, "-o", "m.sx"))
    assert not (tmp_path / "m.sx").exists()


def test_rows_on_disk_stop_by_mistakes_epochs_and_time_only(run, tmp_path, monkeypatch):
    from separatrix.tables.disk import rowfile

    monkeypatch.setattr(rowfile, "GROUP", 1 << 10)
    lines = ["a,b,y", *(f"{k % 17},{k % 5},{'no' if k % 17 < 9 else 'yes'}" for k in range(600))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    fit = ("fit", "t.csv", "--target", "y", "--model", "perceptron", "--cache", "kept", "-o", "m.sx", "--json")
    facts = json.loads(done(run(*fit, "--stop", "epochs:2")))
    assert facts["on_disk"]
    assert "epoch limit of 2 reached" in facts["status"]
    for stop in ("no-mistakes | time:60", "time:60"):
        assert "no mistakes (epoch" in json.loads(done(run(*fit, "--stop", stop)))["status"]
    assert "these rows are on disk; there, no-mistakes, epochs:N and" in failed(run(*fit, "--stop", "loss<=1"))
    assert "--record needs all rows in memory" in failed(run(*fit, "--record", "zero_one"))


def test_a_recorded_loss_is_in_the_model_file(run, tmp_path):
    done(run("fit", "xor", "--test", 0, "--model", "perceptron", "--record", "zero_one", "--every", 2, "--epochs", 5,
             "-o", "m.sx"))  # fmt: skip
    assert sx.load(tmp_path / "m.sx").estimator.history_.loss_epochs == [2, 4]
