"""The trace: steps, views, formats."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.insight.trace_view import number
from separatrix.rules import RULES

X = [[1, 1], [Fraction(1, 2), -1], [-1, -1], [-1, 1]]
y = [1, -1, -1, -1]


def run(**options):
    return sx.trace(X, y, start=((1, 0), 0), **options)


def test_a_trace_is_a_sequence_of_steps():
    trace = run()
    assert len(trace) == len(list(trace)) == 4 * trace.n_epochs
    step = trace[1]
    assert (step.epoch, step.index, step.x, step.y) == (1, 1, (Fraction(1, 2), -1), -1)
    assert (step.activation, step.margin, step.mistake) == (Fraction(1, 2), Fraction(-1, 2), True)
    assert (step.weights, step.bias) == ((Fraction(1, 2), 1), -1)
    assert trace[-1].weights == trace.weights
    assert "updates" in repr(trace)


def test_the_views_change_the_writing_and_not_the_run():
    trace = run()
    plain = trace.rows()[1]
    assert plain == ["1", "2", "(1/2, -1)", "-1", "(1, 0)", "0", "1/2", "Yes", "(1/2, 1)", "-1"]
    lecture_000 = trace.show(augmented=True, flipped=True)
    assert lecture_000.header() == [
        "epoch",
        "example",
        "adjusted pattern",
        "weight applied",
        "w x",
        "update?",
        "new weight",
    ]
    assert lecture_000.rows()[1] == ["1", "2", "(-1, -1/2, 1)", "(0, 1, 0)", "-1/2", "Yes", "(-1, 1/2, 1)"]
    lecture_004 = trace.show(labels="01", threshold=True, decimals=True)
    assert lecture_004.rows()[1] == ["1", "2", "(0.5, -1)", "0", "(1, 0)", "0", "0.5", "Yes", "(0.5, 1)", "1"]
    assert lecture_004.rows()[2][6] == "-1.5"  # h leaves the bias out
    assert trace.show(labels="own").rows()[1][3] == "-1"
    assert trace.steps == lecture_000.steps
    with pytest.raises(ValueError, match="labels must be one of"):
        trace.show(labels="yes")


def test_markdown_latex_html_csv_and_pandas_hold_the_same_cells():
    trace = run()
    rows = trace.rows()
    lines = trace.to_markdown().splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]] == rows

    latex = trace.to_latex()
    assert latex.startswith("\\begin{tabular}{llllllllll}")
    assert "$(1/2, -1)$ & $-1$ & $(1, 0)$ & $0$ & $1/2$ & Yes & $(1/2, 1)$ & $-1$ \\\\" in latex

    table = ET.fromstring(trace.to_html())
    assert [[cell.text for cell in row] for row in table.iter("tr")][1:] == rows
    assert [row.get("style") is not None for row in table.iter("tr")][1:] == [step.mistake for step in trace]
    assert table.find("caption").text == f"{trace.status}; final {trace.final()}"
    assert trace._repr_html_() == trace.to_html()

    records = list(csv.DictReader(io.StringIO(trace.to_csv())))
    assert records[1] == {
        "epoch": "1", "example": "2", "x1": "1/2", "x2": "-1", "y": "-1", "a": "1/2", "margin": "-1/2",
        "mistake": "True", "w1": "1/2", "w2": "1", "b": "-1",
    }  # fmt: skip
    frame = trace.to_pandas()
    assert frame.shape == (len(trace), 11)
    assert frame["w1"].iloc[1] == Fraction(1, 2)


@pytest.mark.parametrize(
    "data",
    [np.array(X, dtype=float), pd.DataFrame(np.array(X, dtype=float)), sparse.csr_array(np.array(X, dtype=float))],
)
def test_arrays_frames_and_sparse_matrices_trace_alike(data):
    assert sx.trace(data, y, start=((1, 0), 0)).steps == run().steps


def test_csv_and_pandas_follow_the_view():
    trace = run().show(augmented=True, flipped=True)
    assert trace.to_csv().splitlines()[2] == "1,2,-1,-1/2,1,-1,-1/2,-1/2,True,-1,1/2,1"
    frame = run().show(labels="01", threshold=True).to_pandas()
    assert frame.columns.tolist() == [
        "epoch",
        "example",
        "x1",
        "x2",
        "t",
        "h",
        "margin",
        "mistake",
        "w1",
        "w2",
        "theta",
    ]
    assert frame.iloc[1][["t", "h", "theta"]].tolist() == [0, Fraction(1, 2), 1]


def test_a_uniform_start_lies_in_the_cube_and_is_the_first_weight_applied():
    trace = sx.trace(X, y, start="uniform", random_state=3)
    assert all(abs(value) <= 1 for value in (*trace.start[0], trace.start[1]))
    assert trace.steps == sx.trace(X, y, start=trace.start).steps


def test_exact_numbers_have_no_largest():
    trace = sx.trace([[10**400], [1]], [0, 1])
    assert trace.status.converged or trace.n_epochs == 100


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_own_numbers(frame):
    trace = sx.trace(frame({"a": np.array([0.1, 0.7], dtype=np.float32), "b": [1, 2]}), [0, 1])
    assert trace[0].x == (Fraction(1, 10), 1)


def test_floats_instead_of_fractions_on_request():
    trace = run(exact=False)
    assert isinstance(trace[1].activation, float)
    assert trace.rows()[1][6] == "0.5"


def test_a_float_is_the_decimal_it_prints_as():
    trace = sx.trace([[0.1], [-0.3]], [1, -1])
    assert trace.weights == (Fraction(1, 10),) or trace[0].weights == (Fraction(1, 10),)


def test_rules_orders_and_readouts():
    margin = run(rule="margin_perceptron", margin=3)
    assert all(abs(step.margin) > 3 for step in margin if step.epoch == margin.n_epochs)
    shuffled = run(order="shuffled", random_state=1)
    assert [step.index for step in shuffled[:4]] != [0, 1, 2, 3]
    assert sorted(step.index for step in shuffled[:4]) == [0, 1, 2, 3]
    averaged = run(readout="averaged")
    steps = list(averaged)
    assert averaged.weights[0] == sum(Fraction(step.weights[0]) for step in steps) / len(steps)
    assert averaged.bias == sum(Fraction(step.bias) for step in steps) / len(steps)
    assert run(fit_intercept=False).bias == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "adaline"}, f"rule must be one of {', '.join(RULES)}; found 'adaline'"),
        ({"eta0": 0}, "eta0 must be a positive finite number; found 0"),
        ({"max_iter": 0}, "at least 1; found 0"),
        ({"start": ((1,), 0)}, "the start needs 2 weights"),
        ({"boundary": "?"}, "boundary must be one of"),
    ],
)
def test_bad_options_get_one_clear_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        sx.trace(X, y, **options)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        ([[1, "a"], [2, 3]], [0, 1], "'a' is not a number"),
        ([1, 2], [0, 1], "must have 2 dimensions"),
        ([[1], [2]], [0, 0], "examples of two classes are needed; found 1"),
        ([[1], [2]], [0, 1, 2], "differ in length"),
        (np.zeros((2, 2, 2)), [0, 1], "must have 2 dimensions"),
        ([[1, 2], [3]], [0, 1], "rows differ in length"),
        (None, [0, 1], "must have 2 dimensions"),
        ([], [], r"X has 0 sample\(s\)"),
        ([[float("nan")], [1]], [0, 1], "no exact value"),
    ],
)
def test_bad_data_get_one_clear_sentence(data, labels, message):
    with pytest.raises(ValueError, match=message):
        sx.trace(data, labels)


@given(st.fractions())
def test_a_number_as_decimal_text_is_the_same_number(value):
    assert Fraction(number(value, decimals=True)) == value
    assert Fraction(number(value, decimals=False)) == value


@pytest.mark.parametrize("rule", ["arow", "nherd"])
def test_fractions_that_grow_without_end_make_room_for_floats(rule):
    X, y = sx.datasets.load("lecture-000")
    run = sx.trace(X, y, rule=rule)
    assert run.n_epochs == 100
    assert run.note.startswith("computed with floats, since the fractions have more than 4,000 digits after example ")
    same = sx.trace(X, y, rule=rule, exact=False)
    assert (run.weights, run.to_csv()) == (same.weights, same.to_csv())
    assert same.note == ""
    with pytest.raises(ValueError, match=r"4,000 digits after example \d+ .*: use exact=False or max_iter=\d$"):
        sx.trace(X, y, rule=rule, exact=True)
    shown = int(run.note.partition("max_iter=")[2].split()[0])
    short = sx.trace(X, y, rule=rule, max_iter=shown)
    assert short.note == ""
    assert all(isinstance(value, int | Fraction) for value in short.weights)
    assert len(short.to_markdown()) > 4000
