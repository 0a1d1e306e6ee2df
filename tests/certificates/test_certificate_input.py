"""Certificates of bad and odd input: contradictions, extreme scales, many types; and what once went wrong."""

from __future__ import annotations

import dataclasses
import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import separatrix as sx
from separatrix.certificates import certifying, integers
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certifying import certify_task
from separatrix.certificates.data import binary_data, read
from separatrix.certificates.proving import prove
from separatrix.certificates.witness import Plane, WeightedRows, Witness


def test_contradictory_duplicates_are_named():
    X = [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]
    found = sx.certify(X, [0, 0, 1, 1, 1])
    assert found.separable == "weak"
    assert found.contradictions == ((0, 2), (1, 3))
    assert "different labels: 0 and 2; 1 and 3" in found.explain()
    alike = sx.certify([[1.0], [1.0]], ["a", "b"])
    assert alike.separable == "none"
    assert alike.verify([[1.0], [1.0]], ["a", "b"])


def test_minus_zero_is_zero():
    assert sx.certify([[0.0], [-0.0], [1.0]], [0, 1, 1]).contradictions == ((0, 1),)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, 1e160, 1e-160, 1.0])
@pytest.mark.parametrize(("labels", "verdict"), [((0, 0, 1, 1), "strict"), ((0, 1, 0, 1), "none")])
def test_extreme_scales(scale, labels, verdict):
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) * scale
    found = sx.certify(X, labels)
    assert found.separable == verdict
    assert found.verify(X, labels)
    if verdict == "strict":
        assert found.margin.lower <= 0.5 * scale <= found.margin.upper
        assert found.margin.lower > 0 or scale == 5e-324  # the margin is half the least float


def test_columns_of_very_different_size():
    X = np.array([[1e300, 1e-300], [-1e300, 1e-300], [1e300, -1e-300], [-1e300, -1e-300]])
    assert sx.certify(X, [1, 0, 1, 0]).separable == "strict"
    found = sx.certify(X, [1, 1, 0, 0])
    assert found.separable == "strict"
    assert found.verify(X, [1, 1, 0, 0])
    assert sx.certify(X, [1, 0, 0, 1]).separable == "none"


def test_one_unit_in_the_last_place_separates():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    found = sx.certify(X, [0, 1])
    assert found.separable == "strict"
    assert 0 < found.margin.lower <= 2.0**-53 <= found.margin.upper
    assert found.verify(X, [0, 1])
    far = np.array([[1.7e18, 3.0], [1.7e18 + 256, -1.0], [1.7e18 + 512, 3.0], [1.7e18 + 768, -1.0]])
    found = sx.certify(far, [0, 0, 1, 1])
    assert found.separable == "strict"
    assert found.verify(far, [0, 0, 1, 1])


def test_whole_numbers_that_no_float_holds_are_refused():
    big = 2**53
    assert sx.certify(np.array([[big], [big + 2]]), [0, 1]).separable == "strict"
    for X in (
        np.array([[1], [big + 1]]),
        [[0.5], [big + 1]],
        np.array([[1], [np.int64(big + 1)]], dtype=object),
        [[1], [Fraction(1, 3)]],
        [[1], [Decimal("0.1")]],
        *([[[1], [np.longdouble(1) / 3]]] if np.finfo(np.longdouble).nmant > 52 else []),
        pd.DataFrame({"a": [1, big + 1]}),
        pd.DataFrame({"a": [1, Fraction(1, 3)]}),
        [[1], [big + 1]],
        np.array([[1], [2**64 - 1]], dtype=np.uint64),
        [[1], [10**400]],
    ):
        with pytest.raises(ValueError, match="row 1, column 0, which is not exactly a 64-bit float"):
            sx.certify(X, [0, 1])
    for layout in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array, sparse.dok_array):
        with pytest.raises(ValueError, match="row 1, column 0, which is not exactly a 64-bit float"):
            sx.certify(layout(np.array([[1, 0], [big + 1, 3]])), [0, 1])
    twice = sparse.coo_array(([1, big, 1], ([0, 1, 1], [0, 0, 0])), shape=(2, 1))
    with pytest.raises(ValueError, match="row 1, column 0, which is not"):
        sx.certify(twice, [0, 1])
    assert twice.nnz == 3
    assert sx.certify([[Fraction(1, 2)], [Decimal("0.25")]], [0, 1]).separable == "strict"
    with pytest.raises(ValueError, match="masked"):
        sx.certify(np.ma.masked_values([[1.0], [2.0]], 2.0), [0, 1])


def test_constant_features_and_a_single_row_of_each_class():
    found = sx.certify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0]], [0, 1])
    assert found.separable == "strict"
    assert found.margin.lower <= 0.5 <= found.margin.upper
    none = sx.certify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0], [7.0, 3.0, 0.0]], [0, 1, 0])
    assert none.separable == "none"
    assert none.verify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0], [7.0, 3.0, 0.0]], [0, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([[1.0], [2.0]], [1, 1]), {}, ValueError, "found only the class 1"),
        (([[1.0], [math.nan]], [0, 1]), {}, ValueError, "NaN in row 1, column 0"),
        (([[1.0], [math.inf]], [0, 1]), {}, ValueError, "infinity in row 1, column 0"),
        (([[1.0], [2.0]], [0, 1, 1]), {}, ValueError, "differ in length"),
        ((np.empty((0, 2)), []), {}, ValueError, "0 sample"),
        (([["a"], ["b"]], [0, 1]), {}, ValueError, "'a' in row 0"),
        (([[1.0], [2.0]], [0, 1]), {"tol": 0}, ValueError, "tol must be"),
        (([[1.0], [2.0]], [0, 1]), {"tol": "x"}, ValueError, "tol must be"),
        (([[1.0], [2.0]], [0, 1]), {"time_limit": -1}, ValueError, "time_limit must be"),
        (([[1.0], [2.0]], [0, 1]), {"fit_intercept": "yes"}, TypeError, "fit_intercept must be"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, options, error, message):
    with pytest.raises(error, match=message):
        sx.certify(*arguments, **options)


def test_the_largest_floats_and_badly_scaled_features():
    for X in ([[1.7e308] * 2, [-1.7e308] * 2], [[1.79e308, 0.0], [-1.79e308, 1.0]]):
        found = sx.certify(X, [0, 1])
        assert found.separable == "strict"
        assert found.verify(X, [0, 1])
        assert found.explain()
    X, y = load_breast_cancer(return_X_y=True)
    found = sx.certify(X, y)
    assert found.separable == "strict"
    assert 4.1e-5 < found.margin.lower <= found.margin.upper < 4.2e-5
    assert found.margin.upper <= 1.002 * found.margin.lower
    assert found.verify(X, y)


def test_whole_weights_of_any_length_can_be_shown_and_written():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(900, 260)), random.integers(0, 2, 900)
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert max(found.witness.points.weights).bit_length() > 14_300  # more digits than Python writes
    assert "0x" in repr(found)
    assert Certificate.from_json(found.to_json()) == found
    assert found.verify(X, y)
    assert found.explain()


def test_frames_and_lists_and_text_labels():
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0.5, 0.5, 1.5, 1.5]})
    found = sx.certify(frame, ["no", "no", "yes", "yes"])
    assert found.separable == "strict"
    assert (found.positive, found.negative) == ("yes", "no")
    assert found.verify(frame.to_numpy(), ["no", "no", "yes", "yes"])
    assert Certificate.from_json(found.to_json()) == found


def test_words_and_html():
    X, y = sx.datasets.load("xor")
    found = sx.certify(X, y)
    assert "add up to exactly zero" in found.explain()
    assert "they span all others" in found.explain()
    assert "<table" in found._repr_html_()
    data = sx.datasets.separable(60, 3, margin=0.05, random_state=2)
    strict = sx.certify(data.X, data.y)
    for word in ("Lecture 000", "Lecture 001", "Lecture 003", "all rounding errors", "No plane has a margin above"):
        assert word in strict.explain()
    assert "&lt;b&gt;" in sx.certify(X, ["<b>", "a", "a", "a"])._repr_html_()


# ------------------------------------------------------------------------------------------------ what once went wrong


@pytest.mark.parametrize("center", [1e9, 1e157, 3.7085427135678394e161, 1e170, 1e200, 1e300])
def test_neighbouring_floats_far_from_the_origin(center):
    X, y = np.array([[np.nextafter(center, 0)], [np.nextafter(center, np.inf)]]), [0, 1]
    found = sx.certify(X, y)
    truth = (Fraction(X[1, 0]) - Fraction(X[0, 0])) / 2
    assert Fraction(found.margin.lower) <= truth <= Fraction(found.margin.upper)
    assert found.verify(X, y)


def test_margins_below_the_normal_floats_are_rounded_down():
    least = 5e-324
    X, y = np.array([[2 * least, 2 * least], [-2 * least, -2 * least]]), [1, 0]
    found = sx.certify(X, y, fit_intercept=False)
    assert found.separable == "strict"
    assert Fraction(found.margin.lower) ** 2 <= 8 * Fraction(least) ** 2 <= Fraction(found.margin.upper) ** 2


def test_what_is_not_finite_is_never_verified():
    for good, bad, labels, witness in (
        ([[1.0], [2.0], [-1.0]], [[1.0], [np.inf], [-1.0]], [1, 1, 0], Witness(Plane((1,), 0))),
        ([[0.0], [0.0], [1.0], [-1.0]], [[0.0], [0.0], [1.0], [np.nan]], [1, 0, 1, 0],
         Witness(Plane((1,), 0), WeightedRows((0, 1), (1, 1)))),
    ):  # fmt: skip
        rows, classes, codes = read(np.array(good), labels)
        data = binary_data(rows, classes, codes, True, 1)
        found = Certificate.of(data, witness, prove(data, witness))
        assert found.separable is not None
        assert found.verify(good, labels)
        rows, classes, codes = read(np.array(bad), labels, finite=False)
        forged = dataclasses.replace(found, data=binary_data(rows, classes, codes, True, 1).key)
        assert not forged.verify(bad, labels)


def test_numbers_that_vanish_modulo_the_primes_in_use():
    D = np.diag([float(prime) for prime in integers._MODULI])
    X, y = np.concatenate([D, -D, np.zeros((1, 3))]), [1] * 6 + [0]
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert found.verify(X, y)


def test_rows_whose_keys_agree_do_not_hide_a_contradiction():
    one, other = [6.441151958158444e-232, 1.0000008471639146], [3.4970922687076606e74, 5.042557658600514e-23]
    found = sx.certify([one, other, other], [0, 0, 1])
    assert found.contradictions == ((1, 2),)


def test_many_contradictory_pairs_that_span_everything():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = (X @ rng.normal(size=60) > 0).astype(int)
    X, y = np.concatenate([X, X[:70]]), np.concatenate([y, 1 - y[:70]])
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert found.n_contradictions == 70
    assert set(found.witness.points.weights) == {1}
    assert found.verify(X, y)
    few = sx.certify(X[:405], y[:405])
    assert few.separable == "weak"
    assert few.verify(X[:405], y[:405])


def test_a_time_limit_is_kept_where_integers_would_take_long():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((3000, 250)), rng.integers(0, 2, 3000)
    began = time.process_time()  # of this process: other work on the machine does not count
    found = sx.certify(X, y, time_limit=0.5)
    assert time.process_time() - began < 10
    assert found.separable in (None, "none")
    assert found.verify(X, y)


def test_a_class_that_takes_long_has_the_time_that_the_others_do_not_need(monkeypatch):
    limits = []

    def task(data, tol, seed, deadline):
        limits.append(deadline - time.perf_counter())
        if data.n < 60 or limits[-1] > 0.9:  # decided at once, unless it is one class against the rest
            return certify_task(data, tol, seed, time.perf_counter() + 60.0)
        return certify_task(data, tol, seed, time.perf_counter()).with_history(((limits[-1], 0.0, 1.0),))

    monkeypatch.setattr(certifying, "certify_task", task)
    X, y = np.random.default_rng(3).normal(size=(60, 3)), np.arange(60) % 3
    made = sx.certify(X, y, time_limit=3.0)
    assert len(limits) == 9
    assert max(limits[:3]) < 0.9 < min(limits[6:])
    assert all(each.separable == "none" for each in made.all)
