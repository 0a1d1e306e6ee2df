"""The columns of a trace: the lectures' tables, folds, the dual form, neurons and the proof, against fractions."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix import datasets
from separatrix.insight.trace_constant import ball_constant
from separatrix.insight.trace_view import TraceView, number

F = Fraction
EXAMPLE = datasets.example("lecture-001")


def cells(text):
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def example_trace(name, **changes):
    example = datasets.example(name)
    return sx.trace(example.X, example.y, **{**example.options, **example.view, **changes})


# ------------------------------------------------------------------------------------------------ the lectures' tables


def test_lecture_001_cell_by_cell_with_the_margins_before_and_after():
    run = example_trace("lecture-001", columns=("margin", "margin-after"))
    assert run.header() == [
        "epoch", "example", "pattern", "y", "weight applied", "b", "a", "margin", "update?", "new weight", "new b",
        "margin after",
    ]  # fmt: skip
    assert run.rows()[:4] == cells("""
        1 | 1 | (1, 1)    | 1  | (1, 0)   | 0  | 1    | 1    | No  | (1, 0)   | 0  | 1
        1 | 2 | (1/2, -1) | -1 | (1, 0)   | 0  | 1/2  | -1/2 | Yes | (1/2, 1) | -1 | 7/4
        1 | 3 | (-1, -1)  | -1 | (1/2, 1) | -1 | -5/2 | 5/2  | No  | (1/2, 1) | -1 | 5/2
        1 | 4 | (-1, 1)   | -1 | (1/2, 1) | -1 | -1/2 | 1/2  | No  | (1/2, 1) | -1 | 1/2
    """)
    # a'y = ay + |x|^2 + 1, at the one update
    assert F(7, 4) == F(-1, 2) + F(1, 4) + 1 + 1


def test_lecture_004_the_neuron_fires_or_not():
    run = sx.trace(
        [[1, 3, 2], [F(3, 2), 1, -1]], [1, 0], start=((F(5, 2), -1, F(3, 2)), -2), boundary="negative", labels="01",
        threshold=True, decimals=True, columns="output",
    )  # fmt: skip
    place = run.header().index("output y")
    assert [(row[place - 1], row[place]) for row in run.rows()[:2]] == [("2.5", "1"), ("1.25", "0")]
    tie = sx.trace([[2], [5]], [0, 1], start=((1,), -2), boundary="negative", labels="01", columns=["output"])
    assert tie[0].activation == 0
    assert tie.rows()[0][tie.header().index("output y")] == "0"
    assert not tie[0].updated


def test_the_output_of_own_labels_is_a_class_and_a_tie_is_positive():
    run = sx.trace([[1], [-1]], ["no", "yes"], labels="own", columns="output")
    assert [row[run.header().index("predicted")] for row in run.rows()] == ["yes", "yes", "no", "yes"]


def test_lecture_002_costs_and_steps_of_the_sigmoid_neuron():
    X, y = [[1.0, 2.0], [-1.0, 0.5], [0.3, -1.0]], [1, 0, 1]
    run = sx.trace(
        X, y, rule="sigmoid_neuron", eta0=0.5, start=((0.2, -0.1), 0.3), max_iter=2, labels="01",
        columns=("loss", "delta"), digits=6,
    )  # fmt: skip
    assert run.header()[6:12] == ["z", "output a", "C_m", "update?", "delta w", "delta b"]
    w, b = np.array([0.2, -0.1]), 0.3
    for step, row, record in zip(run, run.rows(), run.records(), strict=True):
        x, t = np.array(X[step.index]), y[step.index]
        a = 1 / (1 + math.exp(-(w @ x + b)))
        change = -0.5 * (a - t) * a * (1 - a)  # -eta dC/dz
        assert float(row[7]) == pytest.approx(a, abs=1e-6)
        assert float(row[8]) == pytest.approx((a - t) ** 2 / 2, abs=1e-6)
        assert record["C_m"] == pytest.approx((a - t) ** 2 / 2, rel=1e-12)
        assert [record["delta w1"], record["delta w2"], record["delta b"]] == pytest.approx([*change * x, change])
        w, b = w + change * x, b + change
        assert [record["w1"], record["w2"], record["b"]] == pytest.approx([*w, b])


def test_other_rules_have_their_own_loss():
    log = sx.trace([[1.0], [-1.0]], [1, 0], rule="logistic_neuron", max_iter=1, columns="loss")
    assert float(log.rows()[0][log.header().index("loss")]) == pytest.approx(math.log(2))
    hinge = sx.trace([[1], [-1]], [1, 0], rule="pegasos", max_iter=1, columns="loss")
    assert hinge.rows()[0][hinge.header().index("loss")] == "1"
    criterion = example_trace("lecture-001", columns="loss")
    assert [row[criterion.header().index("loss")] for row in criterion.rows()[:3]] == ["0", "1/2", "0"]


def test_the_step_in_every_view():
    run = example_trace("lecture-001", columns="delta")
    place = run.header().index("delta w")
    assert run.rows()[1][place : place + 2] == ["(-1/2, 1)", "-1"]
    threshold = run.show(threshold=True)
    assert threshold.header()[place + 1] == "delta theta"
    assert threshold.rows()[1][place : place + 2] == ["(-1/2, 1)", "1"]
    augmented = run.show(augmented=True)
    assert augmented.rows()[1][augmented.header().index("delta w")] == "(-1, -1/2, 1)"


# ------------------------------------------------------------------------------------------------ start, positive, bias


@pytest.mark.parametrize(
    ("view", "numbers", "start"),
    [
        ({}, (1, 0, 5), ((1, 0), 5)),
        ({"augmented": True}, (5, 1, 0), ((1, 0), 5)),
        ({"threshold": True}, (1, 0, -5), ((1, 0), 5)),
        ({"augmented": True, "threshold": True}, (5, 1, 0), ((1, 0), 5)),
        ({"fit_intercept": False}, (1, F(1, 2)), ((1, F(1, 2)), 0)),
        ({"fit_intercept": False, "augmented": True}, (1, 0), ((1, 0), 0)),
        ({"augmented": True, "bias_constant": 3}, (5, 1, 0), ((1, 0), 15)),
    ],
)
def test_a_start_in_the_order_of_the_view_is_the_first_weight_applied(view, numbers, start):
    run = sx.trace(EXAMPLE.X, EXAMPLE.y, start=numbers, **view)
    assert run.start == start
    first = [
        row for name, row in zip(run.header(), run.rows()[0], strict=True) if name in ("weight applied", "b", "theta")
    ]
    assert ", ".join(cell.strip("()") for cell in first) == ", ".join(map(str, numbers))
    assert run.steps == sx.trace(EXAMPLE.X, EXAMPLE.y, **{**view, "start": start}).steps
    assert sx.trace(EXAMPLE.X, EXAMPLE.y, start=np.array(numbers, dtype=float), **view).steps == run.steps


def test_a_start_of_the_wrong_length_names_the_order():
    with pytest.raises(
        ValueError, match=r"the start needs 3 numbers in this view \(the bias, then the weights\); found 2"
    ):
        sx.trace(EXAMPLE.X, EXAMPLE.y, start=(1, 0), augmented=True)
    with pytest.raises(ValueError, match=r"the start needs 2 numbers in this view \(the weights\); found 3"):
        sx.trace(EXAMPLE.X, EXAMPLE.y, start=(1, 0, 0), fit_intercept=False)
    with pytest.raises(ValueError, match=r"\(the weights, then theta\); found 1"):
        sx.trace(EXAMPLE.X, EXAMPLE.y, start=[1], threshold=True)


def test_without_a_bias_there_is_no_column_for_it():
    run = sx.trace(EXAMPLE.X, EXAMPLE.y, fit_intercept=False)
    assert run.header() == ["epoch", "example", "pattern", "y", "weight applied", "a", "update?", "new weight"]
    assert run.final() == f"weight {run.rows()[-1][-1]}"
    assert run.show(augmented=True).rows()[0][2] == "(1, 1)"


def test_a_uniform_start_of_an_exact_run_has_four_decimals():
    run = sx.trace(EXAMPLE.X, EXAMPLE.y, start="uniform", random_state=5)
    assert all((value * 10_000).denominator == 1 and abs(value) <= 1 for value in (*run.start[0], run.start[1]))
    assert run.start != sx.trace(EXAMPLE.X, EXAMPLE.y, start="uniform", random_state=6).start


def test_the_positive_class_is_chosen():
    plain = sx.trace(EXAMPLE.X, EXAMPLE.y)
    turned = sx.trace(EXAMPLE.X, EXAMPLE.y, positive=-1)
    assert turned.classes == [1, -1]
    assert [step.y for step in turned[:4]] == [-1, 1, 1, 1]
    assert turned.weights == tuple(-w for w in plain.weights)
    text = sx.trace([[1], [-1]], ["no", "yes"], positive="no", labels="own")
    assert [step.y for step in text[:2]] == [1, -1]
    assert [row[3] for row in text.rows()[:2]] == ["no", "yes"]
    assert sx.trace(EXAMPLE.X, EXAMPLE.y, positive="-1.0").classes == [1, -1]
    with pytest.raises(ValueError, match="positive must be a label; found 'maybe'; the labels are no, yes"):
        sx.trace([[1], [-1]], ["no", "yes"], positive="maybe")
    with pytest.raises(ValueError, match="two classes are needed; found 1"):
        sx.trace([[1], [-1]], ["no", "no"], positive="no")


def test_one_class_of_three_against_the_rest():
    run = sx.trace([[1], [5], [9]], ["a", "b", "c"], positive="a", labels="own")
    assert [step.y for step in run[:3]] == [1, -1, -1]
    assert [row[3] for row in run.rows()[:3]] == ["a", "b", "c"]
    assert run.classes == ["not a", "a"]
    assert run.steps == sx.trace([[1], [5], [9]], [1, 0, 0]).steps


# ------------------------------------------------------------------------------------------------ the dual form


def dual_run(X, y, square, epochs):
    """The perceptron in dual form (Lecture 003), from its formulas, with fractions."""
    alpha, b, rows = [F(0)] * len(X), F(0), []
    for _ in range(epochs):
        for i, x in enumerate(X):
            a = sum((alpha[j] * y[j] * sum(F(p) * q for p, q in zip(X[j], x, strict=True)) for j in range(len(X))), b)
            if y[i] * a <= 0:
                alpha[i] += 1
                b += y[i] * square
            rows.append((a, tuple(alpha), b))
    return rows


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=5),
    st.integers(0, 31),
    st.sampled_from([1, 2, F(3, 2)]),
)
@settings(max_examples=40, deadline=None)
def test_the_dual_table_is_that_of_the_dual_algorithm(X, labels, constant):
    y = [1 if labels >> i & 1 else -1 for i in range(len(X))]
    if len(set(y)) < 2:
        return
    run = sx.trace(X, y, bias_constant=constant, max_iter=4, dual=True)
    expected = dual_run(X, y, F(constant) ** 2, run.n_epochs)
    names = [*(f"alpha{i + 1}" for i in range(len(X))), "b"]
    for record, (a, alpha, b) in zip(run.records(), expected, strict=True):
        assert (record["a"], tuple(record[name] for name in names)) == (a, (*alpha, b))
    assert run.alphas == expected[-1][1]
    assert run.weights == tuple(sum(c * t * x[j] for c, t, x in zip(run.alphas, y, X, strict=True)) for j in range(2))
    if constant == 1:
        assert run.steps == sx.trace(X, y, max_iter=4).steps


def test_the_dual_table_of_lecture_000_with_the_smallest_ball():
    example = datasets.example("lecture-000")
    run = sx.trace(example.X, example.y, dual=True, bias_constant="ball", augmented=True)
    assert run.header()[4:] == ["alpha applied", "b", "a", "update?", "new alpha", "new b"]
    assert [row[-1] for row in run.rows()[:6]] == ["2", "2", "2", "0", "-2", "-2"]  # K^2 = 2
    assert run.notes() == ["K = sqrt(2): an update moves b by y eta K^2."]
    assert run.final() == "alpha (1, 1, 1, 1, 1, 1), weight (4, -2), b 0"
    assert dual_run(example.X, example.y, 2, 3)[-1][1:] == (run.alphas, 0)


def test_the_learning_rate_counts_in_alpha():
    run = sx.trace([[1], [-2]], [1, -1], eta0=F(1, 4), dual=True)
    assert run.weights[0] == sum(a * y * x for a, y, x in zip(run.alphas, (1, -1), (1, -2), strict=True))
    assert set(run.alphas) <= {0, F(1, 4), F(1, 2)}


@pytest.mark.parametrize(
    ("points", "square"),
    [
        ([[0, 0], [2, 0]], 1),
        ([[0, 0], [4, 0], [0, 3]], F(25, 4)),
        ([[1, 1], [-1, -1], [1, -1], [-1, 1], [0, 0]], 2),
        ([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]], F(3, 4)),
        ([[3], [3]], 1),
    ],
)
def test_the_smallest_ball_has_an_exact_square(points, square):
    constant = ball_constant(points, exact=True)
    assert constant * constant == square
    assert float(ball_constant(points, exact=False)) == pytest.approx(math.sqrt(square), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dual": True, "start": ((1, 0), 0)}, "starts from zeros; found another start"),
        ({"dual": True, "rule": "pegasos"}, "the dual form is for the perceptron rules; found rule 'pegasos'"),
        ({"dual": True, "batch": 2}, "the dual form is for batch=1; found batch=2"),
        ({"bias_constant": 0}, "bias_constant must be 'ball' or a positive number below 1e150; found 0"),
        ({"bias_constant": "big"}, "bias_constant must be 'ball' or a positive number below 1e150; found 'big'"),
        ({"columns": "margins"}, "columns must be among output, margin, loss, delta, margin-after, proof; found 'marg"),
        ({"digits": -1}, "digits must be a whole number from 0 to 100; found -1"),
        ({"digits": True}, "digits must be a whole number from 0 to 100; found True"),
        ({"batch": 0}, "batch_size must be a whole number of at least 1, or 'all'; found 0"),
        ({"batch": 2, "readout": "voted"}, "readout='voted' needs batch_size=1"),
        ({"proof": "auto", "rule": "margin_perceptron"}, "the proof is about the perceptron, one example at a time"),
        ({"proof": "auto", "batch": "all"}, "the proof is about the perceptron, one example at a time"),
        ({"proof": (1, 1, 1)}, r"the proof needs a w\* that separates the examples; its smallest y \(w\* x\) is -1"),
        ({"proof": (1, 1)}, r"the w\* of the proof needs 3 numbers in this view"),
        ({"proof": 3}, "proof must be 'auto'"),
        ({"proof": "given"}, "proof must be 'auto'"),
        ({"proof": ((1,), 0)}, r"the w\* of the proof needs 2 weights; found 1"),
        ({"proof": ((1, 1), 1), "fit_intercept": False}, "has a bias, and the run has none"),
    ],
)
def test_what_a_run_does_not_have_is_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        sx.trace(EXAMPLE.X, EXAMPLE.y, **options)


@pytest.mark.parametrize("options", [{"proof": "auto"}, {"bias_constant": "ball"}])
def test_numbers_above_all_floats_are_refused_where_a_search_needs_floats(options):
    with pytest.raises(ValueError, match=r"too large for the search of a separating plane or of the smallest ball"):
        sx.trace([[10**400], [-1]], [1, 0], **options)


def test_a_view_that_the_run_does_not_have_is_refused_later_too():
    run = example_trace("lecture-001")
    with pytest.raises(ValueError, match="starts from zeros"):
        run.show(dual=True)
    with pytest.raises(ValueError, match="the proof columns need a separating"):
        run.show(columns="proof")
    with pytest.raises(ValueError, match="starts from zeros"):
        _ = run.alphas


# ------------------------------------------------------------------------------------------------ folds


@pytest.mark.parametrize("batch", [2, 3, "all"])
def test_a_row_for_each_fold_has_the_averaged_step(batch):
    example = datasets.example("lecture-000")
    run = sx.trace(example.X, example.y, batch=batch, max_iter=3)
    size = len(example.X) if batch == "all" else batch
    w, b = [F(0), F(0)], F(0)
    rows = iter(zip(run.rows(), run.records(), strict=True))
    for epoch in range(1, run.n_epochs + 1):
        for fold, begin in enumerate(range(0, 6, size), start=1):
            part = range(begin, min(6, begin + size))
            wrong = [
                i for i in part if example.y[i] * (sum(a * c for a, c in zip(w, example.X[i], strict=True)) + b) <= 0
            ]
            step = [F(sum(example.y[i] * example.X[i][j] for i in wrong), len(part)) for j in range(2)]
            shift = F(sum(example.y[i] for i in wrong), len(part))
            w, b = [p + q for p, q in zip(w, step, strict=True)], b + shift
            cells, record = next(rows)
            assert cells[:3] == [str(epoch), str(fold), ", ".join(str(i + 1) for i in part)]
            assert cells[run.header().index("updates from")] == (", ".join(str(i + 1) for i in wrong) or "none")
            assert [record["delta w1"], record["delta w2"], record["delta b"]] == [*step, shift]
            assert [record["w1"], record["w2"], record["b"]] == [*w, b]
    assert next(rows, None) is None
    assert len(run) == 6 * run.n_epochs
    assert len(run.path) == len(run.rows()) + 1


def test_columns_of_folds_have_a_value_for_each_example():
    run = sx.trace(
        EXAMPLE.X, EXAMPLE.y, batch=3, start=((1, 0), 0), columns=("margin", "margin_after", "loss", "output")
    )
    row = dict(zip(run.header(), run.rows()[0], strict=True))
    assert row["margin"] == "(1, -1/2, 1)"
    assert row["mean loss"] == "1/6"
    assert row["predicted"] == "1, 1, -1"
    assert row["delta w"] == "(-1/6, 1/3)"
    assert row["margin after"] == "(5/6, 1/4, 3/2)"
    last = run.records()[1]  # a fold of the fourth point alone
    assert [last[name] for name in ("margin1", "margin2", "delta b", "margin after1")] == [F(5, 6), None, 0, F(5, 6)]
    assert run.to_csv().splitlines()[0].startswith("epoch,fold,examples,updated,w1,w2,b,")


def test_batch_gradient_descent_of_a_neuron():
    X, y = [[1.0], [-2.0], [0.5]], [1, 0, 1]
    run = sx.trace(X, y, rule="sigmoid_neuron", eta0=1, batch="all", max_iter=1, columns="loss")
    (record,) = run.records()
    slope = -0.125  # of C_m at z = 0, for a margin
    assert record["mean C_m"] == pytest.approx(0.125)
    assert record["w1"] == pytest.approx(-slope * (1 + 2 + 0.5) / 3)
    assert record["delta w1"] == pytest.approx(record["w1"])


# ------------------------------------------------------------------------------------------------ the proof


def test_the_proof_of_lecture_000_for_a_given_separator():
    example = datasets.example("lecture-000")
    run = sx.trace(example.X, example.y, augmented=True, flipped=True, proof=(0, 2, -1))
    assert run.header()[-6:] == ["k", "w w*", "k alpha", "|w|^2", "(A)", "(B)"]
    k, w = 0, (0, 0, 0)
    for step, row in zip(run, run.rows(), strict=True):
        x = (step.y, *(step.y * value for value in step.x))
        if step.updated:
            k, w = k + 1, tuple(p + q for p, q in zip(w, x, strict=True))
        product, square = 2 * w[1] - w[2], sum(v * v for v in w)
        assert row[-6:] == [str(value) for value in (k, product, k, square, F(k * k, 5), 3 * k)]
        assert product >= k
        assert F(k * k, 5) <= square <= 3 * k
    assert run.notes() == ["w* = (0, 2, -1), |w*|^2 = 5, alpha = 1, beta = 3: k_max = beta |w*|^2 / alpha^2 = 15."]
    assert (run.proof.alpha, run.proof.beta, run.proof.square, run.proof.most) == (1, 3, 5, 15)
    assert run.n_updates <= 15


def test_the_start_of_lecture_000_is_part_of_both_bounds():
    run = example_trace("lecture-000", proof=(1, 6, -4))
    assert (run.proof.start_product, run.proof.start_square) == (1, 1)
    for row in run.rows():
        k, product, least, square, lower, upper = map(F, row[-6:])
        assert product >= least
        assert lower <= square <= upper
        assert upper == 1 + 3 * k
    most = run.proof.most
    alpha, size = run.proof.alpha, run.proof.square
    assert (1 + most * alpha) ** 2 <= size * (1 + 3 * most)
    assert (1 + (most + 1) * alpha) ** 2 > size * (1 + 3 * (most + 1))
    assert "with the start in (A) and (B)" in run.notes()[0]


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=6), st.integers(0, 63))
@settings(max_examples=30, deadline=None)
def test_a_separator_that_is_found_bounds_every_run(X, labels):
    y = [1 if labels >> i & 1 else -1 for i in range(len(X))]
    if len(set(y)) < 2:
        return
    if sx.certify(np.array(X, dtype=float), y).separable != "strict":
        with pytest.raises(ValueError, match="separates the examples strictly, and there is none"):
            sx.trace(X, y, proof="auto", max_iter=1)
        return
    for options in ({}, {"start": ((3, -1), 2)}, {"eta0": F(1, 3)}, {"bias_constant": 2}):
        run = sx.trace(X, y, proof="auto", max_iter=2000, **options)
        assert run.status.converged
        assert run.n_updates <= run.proof.most
        for row in run.rows():
            product, least, square, lower, upper = map(F, row[-5:])
            assert product >= least
            assert lower <= square <= upper


def test_asking_for_the_columns_finds_a_separator():
    assert sx.trace(*(EXAMPLE.X, EXAMPLE.y), columns="proof").proof is not None
    floats = sx.trace(EXAMPLE.X, EXAMPLE.y, proof="auto", exact=False)
    assert float(floats.rows()[-1][-1]) == floats.n_updates * float(floats.proof.beta)


# ------------------------------------------------------------------------------------------------ formats


def latex_structure(text):
    """Check what a compiler would: balanced groups, equally many cells in each row, no special character by itself."""
    lines = text.splitlines()
    width = len(re.fullmatch(r"\\begin\{tabular\}\{(l+)\}", lines[0]).group(1))
    assert lines[-1] == r"\end{tabular}"
    rows = []
    for line in lines[1:-1]:
        if line == r"\hline":
            continue
        assert line.endswith(r" \\")
        assert line.count("{") - line.count(r"\{") == line.count("}") - line.count(r"\}")
        assert (line.count("$") - line.count(r"\$")) % 2 == 0
        spans = re.match(r"\\multicolumn\{(\d+)\}\{l\}\{", line)
        bare = re.sub(r"\\.", "", line.removesuffix(r" \\"))
        assert not set("#%~") & set(bare)
        outside = re.sub(r"\$[^$]*\$", "", bare)
        assert not set("_^<>|") & set(outside), outside
        if spans:
            assert int(spans.group(1)) == width
        else:
            assert bare.count("&") + 1 == width
        rows.append(line)
    return rows


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"augmented": True, "flipped": True, "proof": "auto"},
        {"threshold": True, "labels": "01", "columns": ("output", "margin", "loss", "delta", "margin-after")},
        {"dual": True, "bias_constant": "ball"},
        {"batch": 2, "columns": ("margin", "loss")},
        {"rule": "sigmoid_neuron", "max_iter": 2, "eta0": 1e-7, "columns": ("loss", "delta")},
        {"readout": "averaged", "fit_intercept": False, "max_iter": 3},
    ],
)
def test_latex_has_the_structure_of_a_tabular(options):
    rows = latex_structure(sx.trace(EXAMPLE.X, EXAMPLE.y, **options).to_latex())
    assert rows[-1].startswith(r"\multicolumn")
    assert "final weight" in rows[-1]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_compiles(tmp_path):
    runs = [
        example_trace("lecture-000", proof="auto"),
        example_trace("lecture-004", columns="output"),
        sx.trace(EXAMPLE.X, EXAMPLE.y, dual=True, bias_constant="ball"),
        sx.trace([[1], [-1]], ["50% _{a}^$&#~\\<|>", "[b]"], labels="own"),
    ]
    page = "\n\n".join(run.to_latex() for run in runs)
    file = tmp_path / "page.tex"
    file.write_text(rf"\documentclass{{article}}\begin{{document}}{page}\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", file.name]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_latex_separates_epochs_and_sets_symbols_as_mathematics():
    run = example_trace("lecture-004")
    text = run.to_latex()
    assert r"$\theta$" in text
    assert r"$h = w \cdot x$" in text
    assert r"new $\theta$" in text
    lines = text.splitlines()
    for epoch in range(1, run.n_epochs + 1):
        place = lines.index(rf"\multicolumn{{10}}{{l}}{{end of epoch {epoch}}} \\")
        assert lines[place + 1] == r"\hline"
    w1, w2 = (str(float(w)) for w in run.weights)
    assert lines[-3] == rf"\multicolumn{{10}}{{l}}{{final weight $({w1}, {w2})$, $\theta$ ${float(-run.bias):g}$}} \\"
    assert r"$w \cdot x$" in example_trace("lecture-000").to_latex()
    tiny = sx.trace([[1e-8], [-1]], [1, 0], exact=False, max_iter=1).to_latex()
    assert r"$(1 \cdot 10^{-8})$" in tiny


def test_latex_escapes_labels():
    labels = ["50% _{a}^$&#~\\<|>", "b\nc"]
    text = sx.trace([[1], [-1]], labels, labels="own", max_iter=1).to_latex()
    latex_structure(text)
    assert (
        r"50\% \_\{a\}\textasciicircum{}\$\&\#\textasciitilde{}\textbackslash{}\textless{}\textbar{}\textgreater{}"
        in text
    )
    assert "b c" in text


def test_html_and_markdown_separate_epochs():
    run = example_trace("lecture-000")
    table = ET.fromstring(run.to_html())
    assert [len(list(body)) for body in table.findall("tbody")] == [6, 6, 6]
    assert table.find("caption").text == "converged: no mistakes (epoch 3); final weight (0, 2, -1)"
    parts = run.to_markdown(by_epoch=True).split("\n\n")
    assert parts[1::2] == ["End of epoch 1", "End of epoch 2", "End of epoch 3"]
    assert [part.splitlines()[:2] for part in parts[::2]] == [run.to_markdown().splitlines()[:2]] * 3
    joined = [line for part in parts[::2] for line in part.splitlines()[2:]]
    assert joined == run.to_markdown().splitlines()[2:]


@given(st.fractions(), st.integers(0, 12))
def test_rounded_text_is_within_half_of_the_last_digit(value, digits):
    text = number(value, decimals=False, digits=digits)
    assert abs(F(text) - value) <= F(1, 2) / 10**digits
    assert "/" not in text
    assert text != "-0"


@given(st.floats(-1e300, 1e300), st.integers(0, 12))
def test_rounded_floats_are_not_in_full(value, digits):
    text = number(value, decimals=False, digits=digits)
    assert float(text) == pytest.approx(value, rel=1e-9, abs=0.51 * 10.0**-digits)
    assert not text.startswith("-0") or float(text) != 0


def test_digits_round_and_their_absence_does_not():
    run = sx.trace([[F(1, 3)], [-1]], [1, -1])
    assert run.rows()[0][2] == "(1/3)"
    assert run.show(digits=2).rows()[0][2] == "(0.33)"
    assert run.show(decimals=True).rows()[0][2] == "(1/3)"
    assert TraceView(columns="delta, margin").columns == ("margin", "delta")


def test_pandas_that_is_not_installed_is_said_in_a_sentence(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas"):
        example_trace("lecture-001").to_pandas()
