"""Models as ONNX files, run by onnxruntime beside the package's own answers."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from export_models import KERNELLED, LINEAR, NETWORKS, TEXTS, VOTED, case, check_predictions, of_estimator, of_table
from separatrix import _core
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.onnx_graph import as_onnx
from separatrix.tables.export.onnx_nodes import MOST_PRODUCTS
from separatrix.tables.export.scorer import Input, KernelExpansion, Layers, Linear, Scorer, Voted, VoterSequence

HELD = [*LINEAR, *NETWORKS, *VOTED, *KERNELLED]
SPARSE = tuple(name for name in LINEAR if name.startswith(("table wide", "libsvm")))
NEVER_SEEN = "\t no such text"


class Running:
    """A file in onnxruntime, asked with tables and answering in Python's own values."""

    def __init__(self, file: bytes) -> None:
        onnx.checker.check_model(onnx.load_from_string(file), full_check=True)
        self.session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        self.said = self.session.get_modelmeta().custom_metadata_map

    def raw(self, feed: dict[str, Any]) -> list[Any]:
        return self.session.run(None, feed)

    def __call__(self, feed: dict[str, Any]) -> tuple[list[Any], Any]:
        labels, scores = self.raw(feed)[:2]
        values, classes = json.loads(self.said["labels"]), json.loads(self.said["classes"])
        meaning = dict(zip(values, classes, strict=True))
        none = type(values[0])(self.said["no_answer"])
        assert all(label in meaning or label == none or label != label for label in labels.tolist())
        return [meaning.get(label) for label in labels.tolist()], scores


def feed_of(scorer: Scorer, table: pa.Table) -> dict[str, Any]:
    """Return a table as inputs of a graph; an empty text that is no gap is told apart, for there it would be one."""
    if not scorer.named:
        return {"X": np.array([column.to_numpy() for column in table.columns]).T}
    feed: dict[str, Any] = {}
    for each in scorer.inputs:
        cells = table.column(each.name).to_pylist()
        if each.role == "number":
            feed[each.name] = np.array([np.nan if cell is None else cell for cell in cells])[:, None]
        else:
            texts = ["" if cell is None else str(cell) or NEVER_SEEN for cell in cells]
            feed[each.name] = np.array(texts, dtype=object)[:, None]
    return feed


def some(feed: dict[str, Any], part: slice) -> dict[str, Any]:
    return {name: values[part] for name, values in feed.items()}


def numbers(decision: Any, classes: list[Any], width: int, **more: Any) -> Scorer:
    inputs = tuple(Input(f"x{k}", "number", k, 1) for k in range(width))
    return Scorer(inputs, False, (), more.pop("sparse", False), decision, classes, True, **more)


def lines(width: int, many: int, seed: int = 0) -> tuple[Linear, Any]:
    """Return planes and rows whose numbers are of very different sizes."""
    rng = np.random.default_rng(seed)
    W, X = (rng.normal(size=(n, width)) * 10.0 ** rng.integers(-9, 9, (n, width)) for n in (many, 70))
    return Linear(W, rng.normal(size=many)), X


# ------------------------------------------------------------------------------------------------ every kind of model


@pytest.mark.parametrize("name", HELD)
def test_onnxruntime_answers_as_the_package_does(name: str) -> None:
    example = case(name)
    scorer = scorer_of(example.model, unknown=example.unknown)
    run, feed = Running(as_onnx(scorer)), feed_of(scorer, example.table)
    labels, scores = run(feed)
    assert scores.shape == (example.table.num_rows, len(scorer.score_names))
    check_predictions(example, labels, scores)
    gone = np.isnan(scores)  # far closer than is promised: nothing was rounded to 32 bits on the way
    tiny = 1e-13 * np.abs(scores[~gone]).max()
    np.testing.assert_allclose(scores[~gone], example.scores.reshape(scores.shape)[~gone], rtol=1e-9, atol=tiny)


@pytest.mark.parametrize("name", HELD)
def test_rows_one_by_one_and_no_rows_at_all(name: str) -> None:
    example = case(name)
    scorer = scorer_of(example.model, unknown=example.unknown)
    run, feed = Running(as_onnx(scorer)), feed_of(scorer, example.table)
    parts = [run(some(feed, slice(k, k + 1))) for k in range(example.table.num_rows)]
    check_predictions(example, [labels[0] for labels, _ in parts], np.concatenate([scores for _, scores in parts]))
    labels, scores = run(some(feed, slice(0, 0)))
    assert labels == []
    assert scores.shape == (0, len(scorer.score_names))


@pytest.mark.parametrize("name", [name for name in (*LINEAR, *VOTED) if name not in SPARSE])
def test_scores_of_dense_linear_models_are_equal_to_the_last_bit(name: str) -> None:
    example = case(name)
    scorer = scorer_of(example.model, unknown=example.unknown)
    _, scores = Running(as_onnx(scorer))(feed_of(scorer, example.table))
    assert np.array_equal(scores, example.scores.reshape(scores.shape), equal_nan=True)


@pytest.mark.parametrize("many", [1, 3])
@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 33, 200])
def test_additions_are_in_the_order_of_the_core(width: int, many: int) -> None:
    planes, X = lines(width, many)
    run = Running(as_onnx(numbers(planes, list(range(max(many, 2))), width)))
    _, scores = run({"X": X})
    assert np.array_equal(scores, _core.decide(_core.dense(X), *planes, 1))
    if width == 200:
        assert not np.array_equal(scores, X @ planes.weights.T + planes.bias), "these rows cannot tell orders apart"


def test_large_models_use_matrix_products_and_small_ones_do_not() -> None:
    for many, uses in ((MOST_PRODUCTS // 784, False), (MOST_PRODUCTS // 784 + 1, True)):
        planes, X = lines(784, many)
        file = as_onnx(numbers(planes, list(range(many)), 784))
        assert any(node.op_type == "MatMul" for node in onnx.load_from_string(file).graph.node) == uses
        _, scores = Running(file)({"X": X})
        expected = X @ planes.weights.T + planes.bias
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-12 * np.abs(expected).max())


def test_a_thousand_images_are_answered_in_little_time() -> None:
    planes, X = lines(784, 10)
    X = np.tile(X, (15, 1))[:1000]
    run = Running(as_onnx(numbers(planes, list(range(10)), 784)))
    begin = time.perf_counter()
    _, scores = run({"X": X})
    assert time.perf_counter() - begin < 5.0  # some 20 ms on one core
    assert np.array_equal(scores, _core.decide(_core.dense(X), *planes, 1))


# ------------------------------------------------------------------------------------------------ what goes in


def test_columns_may_be_called_like_outputs_and_like_anything() -> None:
    rng = np.random.default_rng(0)
    names = ["label", "scores", "X", "_1", "__2", "N", "label_", "", 'a "b"\n\'é日', "column"]
    frame = pd.DataFrame(rng.normal(size=(40, len(names))), columns=names)
    model = sx.Perceptron(random_state=0).fit(frame, frame.sum(axis=1) > 0)
    run = Running(as_onnx(scorer_of(model)))
    inputs, outputs = json.loads(run.said["inputs"]), json.loads(run.said["outputs"])
    assert list(inputs.values()) == names
    assert inputs["column_"] == ""
    assert outputs == {"label__": "label", "scores_": "scores"}
    assert [each.name for each in run.session.get_outputs()] == list(outputs)
    labels, scores = run({name: frame[[column]].to_numpy() for name, column in inputs.items()})
    assert labels == model.predict(frame).tolist()
    assert np.array_equal(scores[:, 0], model.decision_function(frame))


def test_a_column_that_is_there_twice_is_refused() -> None:
    inputs = (Input("a", "number", 0, 1), Input("a", "number", 1, 1))
    scorer = Scorer(inputs, True, (), False, Linear(np.ones((1, 2)), np.zeros(1)), [0, 1], True)
    with pytest.raises(ValueError, match="column 'a' appears twice"):
        as_onnx(scorer)


@pytest.mark.parametrize("name", TEXTS)
def test_columns_of_words_are_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"column 'words' is a bag of words, which cannot be exported to onnx; use --to json"
    ):
        sx.export(case(name).model, to="onnx")


def test_infinite_numbers_leave_a_row_without_an_answer_even_where_gaps_are_filled() -> None:
    inputs = (Input("a", "number", 0, 1, fill=4.0), Input("b", "number", 1, 1))
    scorer = Scorer(inputs, True, (), False, Linear(np.ones((1, 2)), np.zeros(1)), ["no", "yes"], True)
    a, b = np.array([[1.0, np.nan, np.inf, -np.inf, 1.0, 1e308]]).T, np.array([[1.0, 1.0, 1.0, 1.0, np.nan, 0.0]]).T
    labels, scores = Running(as_onnx(scorer))({"a": a, "b": b})
    assert labels == ["yes", "yes", None, None, None, "yes"]
    assert np.array_equal(scores[:, 0], [2.0, 5.0, np.nan, np.nan, np.nan, 1e308], equal_nan=True)


@pytest.mark.parametrize("unknown", ["null", "zero"])
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("levels", [(("a", "A"), ("b",)), (("a", "A"), ("",))])
def test_an_empty_category_is_a_gap_unless_it_is_a_value(levels: Any, optional: bool, unknown: str) -> None:
    inputs = (Input("c", "category", 0, 2, optional=optional, levels=levels),)
    decision = Linear(np.array([[1.0, 2.0]]), np.array([0.5]))
    scorer = Scorer(inputs, True, (), False, decision, ["no", "yes"], True, unknown=unknown)
    _, scores = Running(as_onnx(scorer))({"c": np.array([["a"], ["A"], [""], ["new"]], dtype=object)})
    empty = 2.5 if ("",) in levels else 0.5 if optional else np.nan
    new = 0.5 if unknown == "zero" else np.nan
    assert np.array_equal(scores[:, 0], [1.5, 1.5, empty, new], equal_nan=True)


# ------------------------------------------------------------------------------------------------ what comes out


@pytest.mark.parametrize(
    ("classes", "none", "kind"),
    [
        (["a", "b"], "", "tensor(string)"),
        (["", "b"], "_", "tensor(string)"),
        ([0, 1], -1, "tensor(int64)"),
        ([-1, 1], -2, "tensor(int64)"),
        ([-(2**63), -1, 2**63 - 1], -(2**63) + 1, "tensor(int64)"),
        ([False, True], -1, "tensor(int64)"),
        ([-1.5, 2.5], np.nan, "tensor(double)"),
        (["only"], "", "tensor(string)"),
    ],
)
def test_the_label_of_a_row_without_an_answer_is_no_class(classes: list[Any], none: Any, kind: str) -> None:
    many = len(classes) if len(classes) > 2 else 1
    planes = Linear(np.eye(3)[:many], np.zeros(many))
    run = Running(as_onnx(numbers(planes, classes, 3)))
    assert run.session.get_outputs()[0].type == kind
    X = np.array([[1.0, 0, 0], [-1.0, 1, 2], [np.nan, 0, 0]])
    labels, scores = run.raw({"X": X})
    first, second = (1, 0) if len(classes) == 2 else (0, len(classes) - 1)
    np.testing.assert_array_equal(labels, np.array([classes[first], classes[second], none], dtype=labels.dtype))
    assert run.said["no_answer"] == str(none)
    np.testing.assert_array_equal(scores, np.where(np.isnan(X[:, :1]), np.nan, X[:, :many]))


def test_the_file_says_what_it_is() -> None:
    example = case("table flag as label")
    file = as_onnx(scorer_of(example.model, unknown="zero"))
    model = onnx.load_from_string(file)
    assert {(each.domain, each.version) for each in model.opset_import} == {("", 13), ("ai.onnx.ml", 2)}
    assert (model.ir_version, model.producer_name, model.producer_version) == (7, "separatrix", sx.__version__)
    said = {each.key: each.value for each in model.metadata_props}
    assert (said["target"], said["unknown"], said["separatrix"]) == ("$flag", "zero", sx.__version__)
    assert (said["classes"], said["labels"], said["no_answer"]) == ("[false, true]", "[0, 1]", "-1")
    assert json.loads(said["outputs"]) == {each: each for each in ("label", "scores", "probabilities")}


@pytest.mark.parametrize(
    "name", ["table averaged 3", "table voted 3, drop", "table kernel-svm 3, drop", "network of two layers"]
)
def test_the_same_model_gives_the_same_bytes(name: str) -> None:
    model = case(name).model
    assert as_onnx(scorer_of(model)) == as_onnx(scorer_of(model))


def test_without_onnx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs the onnx package: pip install 'separatrix\[onnx\]'"):
        as_onnx(numbers(lines(2, 1)[0], [0, 1], 2))


# ------------------------------------------------------------------------------------------------ decisions by hand


def test_scales_are_not_rounded_to_32_bits_beside_a_matrix_product() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1))
    network = numbers(Layers([rng.normal(size=(1, 3)), rng.normal(size=(3, 1))], [np.zeros(3), np.zeros(1)]), [0, 1], 1)
    scaled = Scorer(network.inputs, False, (("over", np.array([0.1])),), False, network.decision, [0, 1], True)
    W, V = network.decision.weights
    expected = 1.0 / (1.0 + np.exp(-(X / 0.1) @ W)) @ V
    np.testing.assert_allclose(Running(as_onnx(scaled))({"X": X})[1], expected, rtol=1e-12)
    for vectors, width in ((1, 1), (1, 3), (4, 1), (4, 3)):
        support, X = rng.normal(size=(vectors, width)), rng.normal(size=(20, width))
        coef = rng.normal(size=(vectors, 1))
        poly = KernelExpansion("poly", 0.1, 3, 0.7, support, coef, np.array([0.3]), False)
        expected = (0.1 * X @ support.T + 0.7) ** 3 @ coef + 0.3
        scores = Running(as_onnx(numbers(poly, [0, 1], width)))({"X": X})[1]
        np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-13)


def test_a_network_keeps_its_digits_where_a_sigmoid_is_tiny() -> None:
    layers = Layers([np.eye(2), np.array([[1.0], [0.0]])], [np.zeros(2), np.zeros(1)])
    z = np.array([-700.0, -60.0, -38.0, -1.0, 0.0, 1.0, 800.0])
    _, scores = Running(as_onnx(numbers(layers, [0, 1], 2)))({"X": np.stack([z, z], axis=1)})
    expected = [np.exp(each) / (1.0 + np.exp(each)) if each < 700 else 1.0 for each in z]
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-13)


def test_gaussian_kernels_keep_their_digits_far_from_the_origin() -> None:
    rng = np.random.default_rng(0)
    support, X = (1e6 + rng.normal(size=(n, 3)) for n in (8, 30))
    coef = np.ones((8, 1))
    kernel = KernelExpansion("rbf", 0.7, 3, 0.0, support, coef, np.zeros(1), False)
    expected = np.exp(-0.7 * ((X[:, None] - support) ** 2).sum(axis=2)) @ coef
    scores = Running(as_onnx(numbers(kernel, [0, 1], 3)))({"X": X})[1]
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_model_without_support_vectors_answers_by_its_bias(kernel: str) -> None:
    empty = np.zeros((0, 2))
    X = np.array([[1.0, 2.0], [np.nan, 0.0]])
    machine = KernelExpansion(kernel, 1.0, 2, 0.0, empty, np.zeros((0, 1)), np.array([-2.0]), False)
    assert Running(as_onnx(numbers(machine, ["a", "b"], 2)))({"X": X})[0] == ["a", None]
    ballot = VoterSequence(np.zeros(2), 0.0, np.zeros(0, dtype=np.int64), np.zeros(0), np.array([5.0]), 1.0)
    voted = Voted(kernel, 1.0, 2, 0.0, empty, [ballot])
    labels, scores = Running(as_onnx(numbers(voted, ["a", "b"], 2)))({"X": X})
    assert labels == ["b", None]
    assert scores[0, 0] == 1.0


def test_votes_with_sparse_rows_and_an_estimator_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    example = of_estimator(make_pipeline(StandardScaler(), LogisticRegression()), 3)
    scorer = scorer_of(example.model)
    check_predictions(example, *Running(as_onnx(scorer))(feed_of(scorer, example.table)))
    rng = np.random.default_rng(3)
    towns, a = rng.integers(0, 90, 300), rng.normal(size=300)
    columns = {"a": a, "town": [f"town {k}" for k in towns], "y": ["hi" if v else "lo" for v in a + towns / 45 > 1]}
    table = pa.table(columns)
    example = of_table(table, table.drop_columns(["y"]), "y", "voted", epochs=2)
    scorer = scorer_of(example.model)
    assert scorer.sparse
    check_predictions(example, *Running(as_onnx(scorer))(feed_of(scorer, example.table)))
