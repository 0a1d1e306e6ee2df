"""``separatrix plot --kind``: what each kind draws, and the sentence where it cannot."""

from __future__ import annotations

import numpy as np
import pytest

ROWS = "a,b,c,y\n" + "".join(
    f"{a:.3f},{b:.3f},{a * b:.3f},{'yes' if a + b + noise > 0 else 'no'}\n"
    for a, b, noise in np.random.default_rng(0).normal(size=(60, 3)) * [1, 1, 0.3]
)


@pytest.fixture
def fitted(run, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")

    def fit(*arguments):
        status, _, messages = run("fit", "rows.csv", "--target", "y", "-o", "m.sx", *arguments)
        assert status == 0, messages

    return fit


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        ("svm", ["margin", "support", "hulls", "ball"]),
        ("kernel-svm", ["margin", "support"]),
        ("perceptron", ["mistakes"]),
    ],
)
def test_each_kind_is_drawn(run, fitted, tmp_path, model, kinds):
    fitted("--features", "a,b", "--model", model)
    for kind in kinds:
        rows = [] if kind == "mistakes" else ["rows.csv"]
        status, printed, messages = run("plot", "m.sx", *rows, "--kind", kind, "-o", f"{kind}.svg")
        assert (status, messages) == (0, ""), kind
        assert printed == f"Plot written to {kind}.svg.\n"
        assert (tmp_path / f"{kind}.svg").stat().st_size > 8_000


def test_what_cannot_be_drawn_is_said_in_one_sentence(run, fitted, tmp_path):
    def refused(*arguments):
        status, printed, messages = run("plot", "m.sx", *arguments)
        assert (status, printed, len(messages.splitlines())) == (2, "", 1)
        return messages

    fitted("--model", "svm")
    for kind in ("margin", "hulls", "ball"):
        found = refused("rows.csv", "--kind", kind)
        assert f"--kind {kind} draws two features, but rows become 3 numbers in this model: fit one with" in found
    assert "--kind support draws rows: give their source after the model" in refused("--kind", "support")
    assert "--kind mistakes draws a perceptron, but this is a LinearSVM" in refused("--kind", "mistakes")
    (tmp_path / "part.csv").write_text("\n".join(ROWS.splitlines()[:30]) + "\n", encoding="utf-8")
    assert "are not those that the model was trained on" in refused("part.csv", "--kind", "support")
    fitted("--model", "perceptron")
    assert "--kind support draws a support vector machine, but this is a Perceptron" in refused(
        "rows.csv", "--kind", "support"
    )


def test_three_classes_are_named(run):
    options = ["--features", "bill_length_mm,bill_depth_mm", "--missing", "drop", "-o", "m.sx"]
    assert run("fit", "penguins", "--target", "species", *options)[0] == 0
    for kind in ("margin", "hulls"):
        status, _, messages = run("plot", "m.sx", "penguins", "--kind", kind)
        assert status == 2
        assert f"--kind {kind} draws two classes, but this model has 3" in messages
    assert run("plot", "m.sx", "penguins", "--kind", "ball", "-o", "b.png")[0] == 0


def test_the_mistakes_of_lecture_000_lie_below_their_bound(run):
    assert run("fit", "lecture-000", "--target", "label", "--model", "perceptron", "--test", "0", "-o", "m.sx")[0] == 0
    status, printed, _ = run("plot", "m.sx", "--kind", "mistakes", "--json")
    assert status == 0
    assert printed == '{"kind": "mistakes", "picture": "m-mistakes.png"}\n'
