"""What data are accepted, without a copy where possible, and the sentence for each that is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import Problem, as_exact, encode_labels

y2 = [0, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_in_c_order_are_not_copied(dtype):
    X = np.ones((4, 3), dtype=dtype)
    assert Rows(X).values is X
    view = np.ones((8, 5), dtype=dtype)[::2, :3]
    assert Rows(view).values is view
    S = sparse.csr_array(X)
    assert Rows(S).values is S


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [("i8", "f8"), ("u1", "f8"), ("?", "f8"), ("f2", "f4"), (">f8", "f8"), (">f4", "f4"), ("g", "f8"), ("O", "f8")],
)
def test_other_numbers_are_converted_once(dtype, becomes):
    X = np.array([[1, 0], [0, 1]]).astype(dtype)
    assert Rows(X).values.dtype == np.dtype(becomes)
    assert Rows(X).values.astype(int).tolist() == [[1, 0], [0, 1]]


def test_columns_out_of_order_are_copied_into_order():
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert Rows(X).values.flags.c_contiguous
    assert Rows(X).values.tolist() == X.tolist()
    unaligned = np.frombuffer(b"\0" + X.tobytes("C"), dtype=np.float64, offset=1).reshape(2, 3)
    assert Rows(unaligned).values.tolist() == X.tolist()


def test_csr_entries_twice_or_out_of_order_are_put_right_in_a_copy():
    S = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    rows = Rows(S)
    assert rows.values.toarray().tolist() == [[2, 0, 5]]
    assert S.nnz == 3
    assert Problem(sparse.vstack([S, S]), y2).square_norms().tolist() == [30, 30]


@pytest.mark.parametrize("container", [sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.lil_array])
def test_every_sparse_format_is_accepted(container):
    assert Problem(container(np.eye(2)), y2).square_norms().tolist() == [2, 2]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_bring_their_names(frame):
    X = frame({"height": [1.5, 2.5], "count": [1, 2]})
    rows = Rows(X)
    assert rows.names == ["height", "count"]
    assert rows.values.tolist() == [[1.5, 1], [2.5, 2]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_text_column_is_named(frame):
    X = frame({"height": [1.5, 2.5], "city": ["Rome", "Oslo"]})
    with pytest.raises(ValueError, match="column 'city' of X holds 'Rome' in row 0, where a number belongs"):
        Rows(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_missing_value_in_a_frame_is_named_by_column(frame):
    X = frame({"height": [1.5, 2.5, 3.5], "count": [1, 2, None]})
    with pytest.raises(ValueError, match=r"X contains NaN in row 2, column 1 \('count'\)"):
        Problem(X, [0, 1, 1])


def test_a_nullable_integer_column_is_read():
    X = pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": [0.5, 1.5]})
    assert Rows(X).values.tolist() == [[1, 0.5], [2, 1.5]]


BAD_X = [
    (np.zeros(3), ValueError, "must have 2 dimensions .* dim 1 .* Reshape your data"),
    (np.zeros((2, 2, 2)), ValueError, "must have 2 dimensions .* dim 3 and shape"),
    (np.zeros((0, 3)), ValueError, r"X has 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
    (np.zeros((3, 0)), ValueError, r"X has 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
    (np.zeros((2, 2), dtype=complex), ValueError, "Complex data not supported"),
    (sparse.csr_array(np.eye(2) * 1j), ValueError, "Complex data not supported"),
    ([["a", 1], ["b", 2]], ValueError, "X holds 'a' in row 0, column 0, where a number belongs"),
    ([[1.0, {}], [2.0, 3.0]], TypeError, "X holds {} in row 0, column 1, where a number belongs"),
    ([[1.0], [2.0, 3.0]], ValueError, "its rows differ in length"),
    (np.array([["2020-01-01"]], dtype="M8[D]"), ValueError, "where a number belongs"),
    ("text", ValueError, "must have 2 dimensions"),
]


@pytest.mark.parametrize(("X", "kind", "message"), BAD_X, ids=range(len(BAD_X)))
def test_bad_data_get_one_clear_sentence(X, kind, message):
    with pytest.raises(kind, match=message):
        Rows(X)
    with pytest.raises(kind, match=message):
        sx.Perceptron().fit(X, y2)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["dense", "float32", "csr"])
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_fit_finds_a_bad_value_wherever_it_hides(shuffle, value, layout, weight):
    for row, column in ((0, 0), (2, 4), (5, 19)):
        X = np.random.default_rng(0).standard_normal((6, 20))
        X[row, column] = value
        weights = np.ones(6)
        weights[row] = weight
        data = {"dense": X, "float32": X.astype(np.float32), "csr": sparse.csr_array(X)}[layout]
        name = "NaN" if np.isnan(value) else "infinity"
        with pytest.raises(ValueError, match=f"X contains {name} in row {row}, column {column}: every value"):
            sx.Perceptron(shuffle=shuffle, random_state=0).fit(data, [0, 1, 0, 1, 0, 1], sample_weight=weights)


def test_a_bad_value_among_the_held_out_rows_is_found_too():
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = np.arange(40) % 2
    for row in range(40):
        bad = X.copy()
        bad[row, 1] = np.nan
        with pytest.raises(ValueError, match=f"X contains NaN in row {row}, column 1"):
            sx.Perceptron(stop=sx.stops.HeldOutFlat(0.5), random_state=0).fit(bad, y)


def test_numbers_that_overflow_are_told_from_bad_values():
    with pytest.raises(ValueError, match=r"the activation of row \d is not a finite number: .* scale the features"):
        sx.Perceptron(random_state=0).fit([[1e200, 0], [-1e200, 1.0], [1e200, 2.0]], [0, 1, 1])


BAD_Y = [
    ([0, 1, 1], ValueError, "X and y differ in length: X has 2 rows, y has 3 labels"),
    ([0.5, 1.5], ValueError, r"Unknown label type: continuous \(y holds 0.5 in row 0\)"),
    ([0.0, np.nan], ValueError, "y contains NaN or infinity in row 1"),
    ([0, 1j], ValueError, "Complex data not supported"),
    (np.array([None, "a"], dtype=object), ValueError, r"y contains a missing label \(None\) in row 0"),
    ([[0, 1], [1, 0]], ValueError, "y must be one label for each row"),
]


@pytest.mark.parametrize(("y", "kind", "message"), BAD_Y, ids=range(len(BAD_Y)))
def test_bad_labels_get_one_clear_sentence(y, kind, message):
    with pytest.raises(kind, match=message):
        Problem(np.eye(2), y)


@pytest.mark.parametrize("form", ["coo", "csc", "bsr"])
def test_sparse_places_outside_the_matrix_are_refused_before_scipy_follows_them(form):
    X = sparse.random_array((6, 6), density=0.5, rng=np.random.default_rng(0)).asformat(form)
    if form == "coo":
        X.col[0] = 10**8
    else:
        X.indices[0] = 10**8
    with pytest.raises(ValueError, match="outside"):
        sx.Perceptron().fit(X, [0, 1] * 3)


def test_narrow_integer_labels_do_not_wrap_around():
    labels = np.arange(-100, 100, dtype=np.int8)
    classes, codes = encode_labels(labels)
    assert classes.tolist() == labels.tolist()
    assert codes.tolist() == list(range(200))


def test_one_number_is_the_weight_of_every_row():
    assert Problem(np.eye(2), y2, sample_weight=2.0).weights.tolist() == [2.0, 2.0]


def test_a_problem_knows_its_names_and_its_ball():
    problem = Problem(pd.DataFrame({"a": [0.0, 2.0], "b": [0.0, 0.0]}), y2, bias="ball")
    assert problem.names == ["a", "b"]
    assert problem.bias == pytest.approx(1.0, rel=1e-3)


def test_labels_that_cannot_be_sorted_are_refused():
    with pytest.raises(TypeError, match=r"y mixes labels that cannot be sorted \(int, str\)"):
        encode_labels(np.array([1, "a", 2], dtype=object))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"sample_weight.shape == \(1,\), expected \(2,\)"),
        ([1.0, -1.0], "sample_weight gives -1.0 to row 1"),
        ([np.nan, 1.0], "sample_weight gives nan to row 0"),
        ([0.0, 0.0], "zero everywhere"),
        (["a", "b"], "sample_weight must hold numbers"),
    ],
)
def test_bad_weights_get_one_clear_sentence(weights, message):
    with pytest.raises(ValueError, match=message):
        Problem(np.eye(2), y2, sample_weight=weights)


@given(
    st.one_of(
        st.lists(st.integers(-5, 5), min_size=1),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
        st.lists(st.sampled_from(["ham", "spam", "eggs", ""]), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.integers(-3, 3).map(float), min_size=1),
    )
)
def test_labels_are_encoded_as_numpy_unique_does(labels):
    classes, codes = encode_labels(labels)
    expected, inverse = np.unique(np.asarray(labels), return_inverse=True)
    assert classes.tolist() == expected.tolist()
    assert codes.tolist() == inverse.tolist()
    assert classes.dtype == expected.dtype


def test_exact_numbers_read_floats_as_the_decimals_they_print_as():
    assert as_exact(0.1) == Fraction(1, 10)
    assert as_exact(np.float32(0.1)) == Fraction(1, 10)
    assert as_exact("1/3") == Fraction(1, 3)
    assert as_exact(np.int64(4)) == 4
    assert type(as_exact(4.0)) is int
    for bad in (float("nan"), "x", None, "1/0"):
        with pytest.raises(ValueError, match=r"not a number|no exact value"):
            as_exact(bad)


def test_exact_problems_do_not_run_in_the_compiled_engine():
    with pytest.raises(ValueError, match="exact numbers run in the reference engine only"):
        sx.solve(Problem.from_exact([[1], [2]], y2), sx.rules.Perceptron())


@pytest.mark.parametrize("text", ["1e999999999", "1E-999999999", "2e+0001001", "1e1_000_000", "-3.5e99999"])
def test_a_number_with_an_endless_exponent_is_refused_at_once(text):
    with pytest.raises(ValueError, match="is too large or too small"):
        as_exact(text)
    assert as_exact("1e0300") == 10**300
