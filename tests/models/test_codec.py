"""Values become a tree and arrays, and come back; trees that no value has are refused."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    QuantileTransformer,
    StandardScaler,
)

import separatrix as sx
from saved_models import TWO, X, same, through
from separatrix.models.codec import RefusedError
from separatrix.models.decoding import decode
from separatrix.models.encoding import encode
from separatrix.models.registry import Registry, Stored, stored_classes
from separatrix.stops import NoMistakes, TimeLimit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63,
        -(10**100),
        0.0,
        -0.0,
        5e-324,
        math.inf,
        -math.inf,
        0.1,
        "",
        "é\x00\ud800",
        [],
        (),
        [1, [2, (3, "x")]],
        {},
        {"a": 1, 2: "b", None: 3, (1, 2): [4], 1.5: 5, np.int64(7): 6},
        {1, 2, 3},
        {"x", "y"},
        pytest.param(frozenset({1, "a"}), id="frozenset"),
        Fraction(-1, 3),
        Fraction(10**50, 7),
        slice(1, None, -2),
        slice("a", "b"),
        np.float64(0.1),
        np.float32(-0.0),
        np.int8(-5),
        np.bool_(True),
        np.str_("a"),
        np.uint64(2**64 - 1),
        np.float16(0.5),
        np.float64,
        float,
        int,
        object,
        np.number,
        np.dtype("<f4"),
        np.dtype(object),
        np.dtype("<U7"),
        np.dtype(bool),
        [0.1] * 40,
        [math.nan, math.inf, -0.0] * 20,
        list(range(40)),
        [2**70] * 40,
        [True, False] * 20,
        ["é", "", "\ud800"] * 20,
        [None, 1.0] * 20,
        {f"word {k}": k for k in range(100)},
        [TimeLimit(float(k + 1)) for k in range(40)],
        [NoMistakes()] * 40,
    ],
    ids=lambda value: "".join(sorted(repr(value)[:20])) if isinstance(value, set) else repr(value)[:40],
)
def test_plain_values_come_back_as_they_were(value):
    tree, arrays = encode(value, Registry())
    again = decode(json.loads(json.dumps(tree, allow_nan=False)), arrays, Registry())
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert arrays == {}


def test_a_nan_keeps_its_bits():
    value = struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0]
    tree, arrays = encode([value], Registry())
    assert struct.pack(">d", decode(tree, arrays, Registry())[0]).hex() == "fff8000000000123"


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(3.5),
        np.arange(6).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(8)[::2],
        np.array([True, False]),
        np.float16([1, 2]),
        np.arange(3, dtype=">i4"),
        np.array(["a", "bcd"]),
        np.array("text"),
        np.array([], dtype="<U5"),
        np.array([["é", ""], ["\ud800", "d"]]),
        np.array(["x" * 9] * 50, dtype="<U12"),
        np.array([None, 1, "a", 2.5, True, np.int64(4)], dtype=object),
        np.empty((2, 0), dtype=object),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_back_as_they_were(array):
    tree, arrays = encode(array, Registry())
    again = decode(json.loads(json.dumps(tree)), arrays, Registry())
    assert again.shape == array.shape
    assert again.dtype == array.dtype.newbyteorder("=")
    assert again.tolist() == array.tolist()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_come_back_as_they_were(kind):
    matrix = kind(np.diag([1.0, 2.0, 0.0, 4.0]))
    tree, arrays = encode(matrix, Registry())
    again = decode(tree, arrays, Registry())
    assert type(again) is kind
    assert (again.toarray() == matrix.toarray()).all()
    with pytest.raises(RefusedError, match="is a csc_array, which a model file cannot keep"):
        encode(sparse.csc_array(np.eye(2)), Registry())


def test_tables_of_text_cannot_be_made_to_fill_the_memory():
    wide = np.array(["a"], dtype="<U3000000")
    tree, arrays = encode([wide, wide], Registry())
    found = decode(tree, arrays, Registry())
    assert [each.dtype.itemsize // 4 for each in found] == [3_000_000, 1]
    for forged in ([tree[0], tree[0]], {"text": [[1], 1 << 23, ["a"]]}, {"text": [[3], 2 * 10**6, ["a", "", "b"]]}):
        with pytest.raises(RefusedError, match="a table of text has the wrong width"):
            decode(forged, {}, Registry())
    long = np.array(["a" * 1000] * 1000 + ["b" * 10_000])  # what is in the file may be so much again in memory
    assert (decode(*encode(long, Registry()), Registry()) == long).all()


@dataclass(frozen=True)
class Column:
    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    means: np.ndarray
    estimator: object
    notes: dict[str, object]


def test_a_dataclass_of_the_table_is_a_model_by_itself(monkeypatch, tmp_path):
    def check(table):
        if not table.columns:
            raise ValueError("it has no columns")

    monkeypatch.setitem(stored_classes(), "Column", Stored(__name__))
    monkeypatch.setitem(stored_classes(), "Table", Stored(__name__, validate=check, model=True))
    model = make_pipeline(StandardScaler(), sx.Perceptron(max_iter=3)).fit(X, TWO)
    columns = [Column(f"c{k}", ("a", "b")) for k in range(40)]
    again = through(Table(columns, np.arange(3.0), model, {"rows": 60}), tmp_path)
    assert (again.columns, again.means.tolist(), again.notes) == (columns, [0.0, 1.0, 2.0], {"rows": 60})
    same(model, again.estimator, X)
    with pytest.raises(ValueError, match="this Table cannot be saved: it has no columns"):
        sx.save(Table([], np.zeros(1), model, {}), tmp_path / "m.sx")
    foreign = make_pipeline(QuantileTransformer(n_quantiles=5), sx.Perceptron()).fit(X, TWO)
    with pytest.raises(
        ValueError, match=r"estimator.steps.0.1 is a QuantileTransformer, which a model file cannot keep"
    ):
        sx.save(Table(columns, np.zeros(1), foreign, {}), tmp_path / "m.sx")


def test_a_dataclass_is_one_line_of_the_table(monkeypatch):
    from separatrix.stops import Epoch

    monkeypatch.setitem(stored_classes(), "Epoch", Stored("separatrix.stops"))
    value = {"parts": [Epoch(1, 2, 3, 0.5, 0.1, {"hinge": 1.0}), Epoch(2, 0, 3, 0.5, 0.2)]}
    tree, arrays = encode(value, Registry())
    assert decode(tree, arrays, Registry()) == value
    monkeypatch.delitem(stored_classes(), "Epoch")
    with pytest.raises(RefusedError, match="is an Epoch, which a model file cannot keep"):
        encode(value, Registry())
    with pytest.raises(RefusedError, match="unknown class 'Epoch'"):
        decode(tree, {}, Registry())


@pytest.mark.parametrize(
    "tree",
    [
        2**63,
        {"a": 1, "b": 2},
        {},
        {"int": 5},
        {"int": "0x" + "f" * 70000},
        {"float": "x"},
        {"tuple": 3},
        {"dict": [[1], []]},
        {"dict": [[[1]], [1]]},
        {"dict": [["a", "a"], [1, 2]]},
        {"set": [[1]]},
        {"fraction": ["0x1", "0x0"]},
        {"fraction": ["0x1", "-0x2"]},
        {"slice": [1, 2]},
        {"slice": [1.5, 2, 3]},
        {"array": "a"},
        {"array": ["a"]},
        {"text": [[2], 1, ["a"]]},
        {"text": [[1], 0, ["a"]]},
        {"text": [[1], 2**40, ["a"]]},
        {"text": [[-1], 1, []]},
        {"text": [[1], 1, [5]]},
        {"cells": [[1], [[1]]]},
        {"cells": [[2**60], []]},
        {"scalar": ["float64", 1]},
        {"scalar": ["int8", 1000]},
        {"scalar": ["os", 1]},
        {"scalar": ["bool", 1]},
        {"type": "os"},
        {"dtype": "<f1"},
        {"dtype": "V8"},
        {"csr": ["csr_array", [1, 1], 1, 2, 3]},
        {"csr": [1]},
        {"object": ["os", {}]},
        {"object": ["Epoch", []]},
        {"object": ["Epoch", {}]},
        {"objects": ["Epoch", [], []]},
        {"objects": ["NoMistakes", ["a"], [[1], [2]]]},
        {"object": ["TimeLimit", {"seconds": -1}]},
        {"object": ["Perceptron", {}]},
        {"texts": ["a", "b"]},
        {"floats": 1},
        json.loads("[" * 80 + "]" * 80),
    ],
    ids=lambda tree: json.dumps(tree)[:40],
)
def test_a_tree_that_no_value_has_is_refused(tree):
    with pytest.raises(ValueError, match=r"\w"):
        decode(tree, {}, Registry())
