"""The compiled entry points: right answers against NumPy, and no input that can crash them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix import _core, rules
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.loop.state import SLOTS
from separatrix.rules import Downhill, Perceptron
from separatrix.stops import MaxEpochs

EXPECTED = (TypeError, ValueError)


def parameters_of(rule):
    """Return what the core reads of a rule of the package with its default parameters."""
    return [float(getattr(rule, name)) for name in _core.RULES[rule.kernel]["parameters"]]


RULES = {  # of the core, each with parameters that it takes
    rule.kernel: parameters_of(rule.among(10) if isinstance(rule, Downhill) else rule)
    for rule in (each() for each in rules.RULES.values())
}
STEP = _core.Rule("threshold", [1.0, 0.0])


def task(d, *, readout="last", positive=1, ties=(True, True), spread=None):
    average_correction = np.zeros(d) if readout == "averaged" else None
    pocket = np.zeros(d) if readout == "pocket" else None
    real = np.zeros(SLOTS)
    real[7:9] = real[10] = 1.0
    real[6] = np.inf
    return _core.BinaryTask(
        np.zeros(d), real, np.zeros(3, np.int64), average_correction, pocket, positive, ties, readout == "voted", spread
    )


def test_every_rule_of_the_core_is_tried_here():
    assert set(_core.RULES) == set(RULES)


@pytest.mark.parametrize("build", _core.builds())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 100])
def test_products_and_norms_are_right_at_every_width(build, dtype, d):
    used = _core.build()
    _core.use_build(build)
    try:
        rng = np.random.default_rng(d)
        X = rng.standard_normal((11, d)).astype(dtype)
        W, b = rng.standard_normal((7, d)), rng.standard_normal(7)
        for data in (X, sparse.csr_array(X), np.pad(X, ((0, 0), (0, 3)))[:, :d]):
            rows = Rows(data)
            np.testing.assert_allclose(_core.decide(rows.matrix, W, b, 2), X @ W.T + b, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(_core.square_norms(rows.matrix), (X.astype(float) ** 2).sum(axis=1), rtol=1e-12)
    finally:
        _core.use_build(used)


@pytest.mark.parametrize("build", _core.builds())
@pytest.mark.parametrize("d", [1, 3, 8, 17, 40])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_every_place_of_a_bad_value_is_found(build, d, value):
    used = _core.build()
    _core.use_build(build)
    try:
        for column in range(d):
            X = np.zeros((3, d))
            X[1, column] = value
            for data in (X, X.astype(np.float32), sparse.csr_array(X)):
                assert _core.first_bad_row(Rows(data).matrix, 0, 3) == 1
    finally:
        _core.use_build(used)
    assert _core.first_bad_row(Rows(np.full((3, d), 1e300)).matrix, 0, 3) == -1


def test_rows_may_have_gaps_between_them_but_values_may_not():
    X = np.arange(24.0).reshape(4, 6)
    assert _core.dense(X[:, :3]).shape == (4, 3)
    assert _core.dense(X[::2]).shape == (2, 6)
    with pytest.raises(ValueError, match="C-ordered"):
        _core.dense(X[:, ::2])
    with pytest.raises(ValueError, match="must not overlap"):
        _core.dense(np.lib.stride_tricks.as_strided(X, (4, 6), (8, 8)))
    with pytest.raises(ValueError, match="must not overlap"):
        _core.dense(X[::-1])


@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 9], [0, 1, 2], "row 1 of a CSR matrix has a column outside 0..2"),
        ([-1, 1], [0, 1, 2], "row 0 of a CSR matrix has a column outside 0..2"),
        ([0, 1], [0, 2, 1], "indptr of a CSR matrix must not fall: it does at row 1"),
        ([0, 1], [0, 1, 5], "ends at 5 but there are 2 values"),
        ([0, 1], [1, 1, 2], "starts at 0: found indptr\\[0\\] = 1"),
        ([0], [0, 1, 1], "as many indices as values: found 1 and 2"),
        ([0, 1], [], "indptr of a CSR matrix is empty"),
    ],
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_broken_csr_arrays_are_refused_with_the_reason(index, indices, indptr, message):
    with pytest.raises(ValueError, match=message):
        _core.csr(np.ones(2), np.array(indices, index), np.array(indptr, index), 3)


def test_arguments_that_do_not_belong_together_are_refused():
    X = _core.dense(np.ones((4, 2)))
    codes = np.zeros(4, np.int32)
    good = _core.Examples(codes, None, None)

    def visit(matrix=X, examples=good, begin=0, end=4, tasks=None, fold=1):
        _core.visit(matrix, examples, begin, end, tasks or [task(2)], STEP, 1.0, 0.0, fold, None, None, 1)

    visit()
    for name, parameters, message in (
        ("huber", [1.0], r"a rule of the core is one of threshold, squared, .*pa2.*: found 'huber'"),
        ("threshold", [1.0], "rule threshold has 2 parameters"),
        ("threshold", [0.0, 0.0], "eta must be positive"),
        ("log", [1.0, -1.0, 0.0], "eta must be positive and alpha at least 0"),
        ("log", [1.0, 1.0, 0.0], r"eta \* alpha must be in 0\.\.1"),
        ("pegasos", [0.0, 1.0, 0.0], "alpha and radius must be positive"),
        ("hinge", [1.0, 2.0, 0.0], r"eta must be positive and decay in 0\.\.1"),
        ("pa1", [0.0], "C must be positive"),
        ("arow", [np.nan], "r must be positive"),
        ("sop", [0.0], "a must be positive"),
        ("alma", [1.5], "part must be above 0 and at most 1"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.Rule(name, parameters)
    with pytest.raises(ValueError, match="rule pa learns from one example at a time"):
        _core.visit(X, good, 0, 4, [task(2)], _core.Rule("pa", []), 1.0, 0.0, 2, None, None, 1)
    with pytest.raises(ValueError, match="rule arow needs tasks with a spread"):
        _core.visit(X, good, 0, 4, [task(2)], _core.Rule("arow", [1.0]), 1.0, 0.0, 1, None, None, 1)
    for spread in (np.array(1.0), np.ones(2), np.ones((3, 2)), np.ones((3, 3, 3))):
        with pytest.raises(ValueError, match="a spread has one number more than w, or that many squared"):
            task(2, spread=spread)
    with pytest.raises(ValueError, match="order names a row that is not there"):
        visit(examples=_core.Examples(codes, None, np.array([0, 7], np.uint32)), end=2)
    with pytest.raises(ValueError, match="order names a row that is not there"):
        visit(
            examples=_core.Examples(codes, None, np.array([0, 7], np.uint32)),
            end=1,
            tasks=[task(2, readout="pocket")],
        )
    with pytest.raises(ValueError, match="begin and end"):
        visit(end=5)
    with pytest.raises(ValueError, match="begin and end"):
        visit(begin=-1)
    with pytest.raises(ValueError, match="codes and rows differ"):
        visit(examples=_core.Examples(codes[:3], None, None))
    with pytest.raises(ValueError, match="weights and rows differ"):
        visit(examples=_core.Examples(codes, np.ones(3), None))
    with pytest.raises(ValueError, match="differ in number"):
        visit(tasks=[task(3)])
    with pytest.raises(ValueError, match="a task is given twice"):
        visit(tasks=[task(2)] * 2)
    with pytest.raises(ValueError, match="fold_size"):
        visit(fold=0)
    with pytest.raises(ValueError, match="no build 'v9' runs on this machine"):
        _core.use_build("v9")
    with pytest.raises(TypeError):
        _core.BinaryTask(
            np.zeros(2, np.float32), np.zeros(SLOTS), np.zeros(3, np.int64), None, None, 1, (True, True), False
        )


arrays = st.one_of(
    st.builds(
        lambda shape, dtype, order, step: np.zeros(shape, dtype=dtype, order=order)[::step],
        st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple),
        st.sampled_from(["f2", "f4", "f8", "i4", "i8", "u1", "c16", "?", ">f8", "O", "U3"]),
        st.sampled_from("CF"),
        st.sampled_from([1, 2, -1]),
    ),
    st.sampled_from([None, 3, "text", [[1.0, 2.0]], np.float64(2.0)]),
)


@settings(max_examples=300)
@given(X=arrays)
def test_no_array_can_crash_the_dense_entry(X):
    try:
        matrix = _core.dense(X)
    except EXPECTED:
        return
    _core.square_norms(matrix)
    assert _core.first_bad_row(matrix, 0, matrix.shape[0]) == -1


@settings(max_examples=400)
@given(
    data=st.lists(st.floats(allow_nan=True, width=32), max_size=8),
    indices=st.lists(st.integers(-3, 6), max_size=8),
    indptr=st.lists(st.integers(-2, 9), max_size=6),
    cols=st.integers(-1, 5),
    value=st.sampled_from([np.float32, np.float64, np.int32]),
    index=st.sampled_from([np.int32, np.int64, np.uint32]),
)
def test_no_arrays_can_crash_the_csr_entry(data, indices, indptr, cols, value, index):
    with np.errstate(all="ignore"):
        numbers = np.nan_to_num(np.array(data)).astype(value) if value is np.int32 else np.array(data, dtype=value)
    places = np.array(indices).astype(index)
    try:
        matrix = _core.csr(numbers, places, np.array(indptr).astype(index), cols)
    except EXPECTED:
        return
    n, d = matrix.shape
    _core.square_norms(matrix)
    _core.decide(matrix, np.ones((2, d)), np.zeros(2), 1)
    if matrix.canonical:
        examples = _core.Examples(np.zeros(n, np.int32), None, None)
        for kind, parameters in RULES.items():
            rule = _core.Rule(kind, parameters)
            for fold in (1, 2) if _core.RULES[kind]["folds"] else (1,):
                for spread in (np.ones(d + 1), np.eye(d + 1)):
                    _core.visit(matrix, examples, 0, n, [task(d, spread=spread)], rule, 1.0, 0.0, fold, None, None, 1)


@settings(max_examples=200)
@given(
    n=st.integers(0, 6),
    d=st.integers(0, 20),
    codes=st.lists(st.integers(-2, 3), max_size=7),
    weights=st.none() | st.lists(st.floats(-1, 1e300) | st.just(np.nan) | st.just(np.inf), max_size=7),
    order=st.none() | st.lists(st.integers(0, 8), max_size=9),
    begin=st.integers(-1, 7),
    end=st.integers(-1, 9),
    readout=st.sampled_from(["last", "averaged", "voted", "pocket"]),
    fold=st.integers(-1, 4),
    n_jobs=st.integers(-1, 3),
    kind=st.sampled_from(list(RULES)),
    parameters=st.lists(st.sampled_from([1.0, 0.0, -1.0, 0.5, 0.999, np.nan, np.inf, 1e308]), max_size=4),
    full=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    lengths=st.none() | st.lists(st.floats(width=32), max_size=7),
)
def test_no_examples_can_crash_a_visit(
    n, d, codes, weights, order, begin, end, readout, fold, n_jobs, kind, parameters, full, dtype, lengths
):
    matrix = _core.dense(np.ones((n, d), dtype=dtype))
    known = None if lengths is None else np.array(lengths, np.float32)
    examples = _core.Examples(
        np.array(codes, np.int32),
        None if weights is None else np.array(weights, np.float64),
        None if order is None else np.array(order, np.uint32),
    )
    tasks = [task(d, readout=readout, positive=k, spread=np.eye(d + 1) if full else np.ones(d + 1)) for k in range(3)]
    try:
        rule = _core.Rule(kind, [*parameters, *RULES[kind]][: len(RULES[kind])])
        _core.visit(matrix, examples, begin, end, tasks, rule, 1.0, 0.0, fold, None, known, n_jobs)
        _core.visit(matrix, examples, begin, end, tasks[:1], rule, 1.0, 0.0, fold, None, known, n_jobs)
        _core.tally(matrix, examples, begin, end, tasks[0], bool(d % 2))
        _core.Shuffler(matrix, examples, 1, 2).epoch(3, 4)
    except EXPECTED:
        pass


def test_a_heavy_example_that_cannot_be_learned_does_not_hang():
    problem = Problem([[0.0], [1.0]], [1, 0], sample_weight=[1e15, 1.0], bias=None)
    assert solve(problem, Perceptron(), stop=MaxEpochs(3)).n_updates == 3 * 1001 - 2


@pytest.mark.parametrize("build", _core.builds())
def test_the_environment_variable_forces_a_build(build):
    code = "import separatrix; print(separatrix._core.build())"
    environment = {**os.environ, "SEPARATRIX_ISA": build}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.strip() == build


def test_an_unknown_build_in_the_environment_is_one_sentence():
    environment = {**os.environ, "SEPARATRIX_ISA": "v5"}
    ran = subprocess.run(
        [sys.executable, "-c", "import separatrix"], env=environment, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith("ImportError: SEPARATRIX_ISA=v5: no build 'v5' runs on this machine")


@pytest.mark.parametrize("n", [1, 7, 8, 9, 127, 128, 129, 136, 255, 1000, 1025, 4097])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_columns_are_summed_as_numpy_sums_them_one_by_one(n, d):
    rng = np.random.default_rng(n * d)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9, (n, d))
    centre = rng.standard_normal(d)
    for jobs in (1, 2, 5):
        assert _core.column_sums(X, None, False, jobs)[0].tolist() == np.asfortranarray(X).sum(axis=0).tolist()
        off = np.asfortranarray(X - centre)
        sums, squares = _core.column_sums(X, centre, True, jobs)
        assert sums.tolist() == off.sum(axis=0).tolist()
        assert squares.tolist() == (off * off).sum(axis=0).tolist()


def test_column_sums_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="centre must have one number for each column"):
        _core.column_sums(np.ones((3, 2)), np.ones(3), False, 1)
    with pytest.raises(TypeError):
        _core.column_sums(np.ones((3, 2), dtype=np.float32), None, False, 1)
    assert _core.column_sums(np.empty((0, 2)), None, True, 2).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert _core.column_sums(np.empty((3, 0)), None, True, 2).shape == (2, 0)


def test_the_core_lets_go_of_the_rows_it_was_given():
    """What nanobind calls leaked at the end of a test run is alive in Python: here nothing stays."""
    X = np.ones((50, 3))
    X[::2] = -1.0
    y = np.arange(50) % 2
    before = sys.getrefcount(X)
    for make in (sx.Perceptron, sx.LinearSVM, sx.KernelSVM, sx.Neuron):
        model = make().fit(X, y)
        model.predict(X)
        del model
    sx.certify(X, y)
    gc.collect()
    assert sys.getrefcount(X) == before
