"""Files with a right checksum whose content was forged are refused, or give a model that predicts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import sklearn

from forged_models import apart, attribute, mutated, nodes, put, together
from saved_models import refuse
from separatrix.models import model_file
from separatrix.models.model_file import read_facts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "fuzz" / "corpus" / "model_file").glob("*"))


def forged(raw, change):
    metadata, tree, arrays = apart(raw)
    tree = change(tree, arrays) or tree
    return together(metadata, tree, arrays)


def setting(*names, to):
    return lambda tree, arrays: put(tree, attribute(tree, *names), to)


def dropping(*names):
    def change(tree, arrays):
        *before, last = attribute(tree, *names)
        for key in before:
            tree = tree[key]
        del tree[last]

    return change


def arranging(name, change):
    def apply(tree, arrays):
        arrays[name] = change(arrays[name])

    return apply


def wrong_order(tree, arrays):
    arrays["order"] = np.array([0, 100], dtype=np.uint32)
    return put(tree, attribute(tree, "_states", 0, "run", "ascent", "_order"), {"array": "order"})


NAN = {"float": "7ff8000000000000"}
FIRST = ("steps", 0, "tuple", 1)
ENCODER, IMPUTER = ("transformers_", 0, "tuple", 1), ("transformers_", 3, "tuple", 1, *FIRST)
FORGED = [
    ("perceptron_voted", setting("max_iter", to=-1), "max_iter must be a whole number"),
    ("perceptron_voted", setting("eta0", to="x"), "eta0 must be a number"),
    ("perceptron_voted", setting("readout", to="loud"), "readout must be one of"),
    ("perceptron_voted", setting("n_jobs", to=10**9), "n_jobs is not a number of threads"),
    ("perceptron_voted", setting("n_features_in_", to=3), "coef_ are not finite weights of its shape"),
    ("perceptron_voted", setting("n_features_in_", to=10**15), "coef_"),
    ("perceptron_voted", setting("n_features_in_", to={"int": "0x" + "f" * 50}), "n_features_in_ is not a number"),
    ("perceptron_voted", setting("_states", to=[]), "states are not one for each task"),
    ("perceptron_voted", setting("_states", 0, "positive", to=5), "a state is of an unknown class"),
    ("perceptron_voted", setting("_states", 0, "position", to=-1), "a state counts what cannot be"),
    ("perceptron_voted", setting("_states", 0, "clock", to=NAN), "the clock of a state is not a number"),
    ("perceptron_voted", setting("_states", 0, "ballot", to=None), "a state keeps no votes"),
    ("perceptron_voted", setting("_width", to=9), "its width is not that of its features"),
    ("perceptron_voted", setting("_run_seed", to=-5), "its seed is not a whole number"),
    ("perceptron_voted", setting("status_", to="fine"), "its status_ is damaged"),
    ("perceptron_voted", setting("stop", to="now"), "'now' is not a stop rule"),
    ("perceptron_voted", setting("classes_", to={"text": [[2], 1, ["b", "a"]]}), "classes_ are not sorted"),
    ("perceptron_voted", dropping("coef_"), "coef_"),
    ("perceptron_voted", dropping("eta0"), "eta0"),
    ("perceptron_voted", dropping("_states", 0, "real"), "field too many or too few: 'real'"),
    ("perceptron_voted", arranging("coef_", lambda a: a * np.nan), "coef_ are not finite"),
    ("perceptron_voted", arranging("coef_", lambda a: a[:, :1]), "coef_ are not finite weights of its shape"),
    ("perceptron_voted", arranging("coef_", lambda a: a.astype(np.float32)), "coef_ are not finite weights"),
    ("perceptron_voted", arranging("_states.0.real", lambda a: a[:3]), "a state is damaged"),
    ("perceptron_voted", arranging("_states.0.count", lambda a: a.astype(np.int32)), "a state is damaged"),
    ("perceptron_voted", arranging("_states.0.drift", lambda a: a[:1]), "a state holds weights of another number"),
    ("perceptron_voted", arranging("_states.0.ballot._index", lambda a: a + 10**6), "name rows that are not there"),
    ("perceptron_voted", arranging("_states.0.ballot._index", lambda a: a - 10**6), "name rows that are not there"),
    ("perceptron_voted", arranging("_states.0.ballot._times", lambda a: a[:-1]), "the voted weights are damaged"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.indices", lambda a: a + 9), "sparse matrix do not fit"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.indptr", lambda a: a[::-1].copy()), "sparse matrix do not"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.data", lambda a: a[:-1]), "sparse matrix do not fit"),
    (
        "kernel_perceptron_voted",
        arranging("_ballots.0._rows", lambda a: a + 99),
        "the voted weights name rows that are not",
    ),
    (
        "kernel_perceptron_voted",
        arranging("support_vectors_", lambda a: a[:-1]),
        "support vectors are not of their shape",
    ),
    ("kernel_svm", arranging("n_support_", lambda a: a + 1), "n_support_ does not count"),
    ("kernel_svm", arranging("n_support_", lambda a: a * 0 - 1), "n_support_ does not count"),
    ("kernel_svm", arranging("dual_coef_", lambda a: a[:-1]), "dual_coef_ are not of their shape"),
    ("kernel_svm", setting("_kernel", "name", to="callable"), "its kernel is unknown"),
    ("kernel_svm", setting("_kernel", "gamma", to=-1.0), "gamma is not a positive number"),
    ("kernel_svm", setting("_precision", to="float8"), "its precision is unknown"),
    ("kernel_svm", setting("kernel", to="cosine"), "kernel must be one of"),
    ("kernel_svm_table", arranging("support_", lambda a: a + 100), "support_ names rows that cannot be"),
    ("network", arranging("coefs_.0", lambda a: a[:1]), "the weights of a layer are not of its shape"),
    ("network", arranging("_states.0.layers.0.weights", lambda a: a[:1]), "its state has other layers"),
    ("network", setting("hidden", to="many"), "hidden must be the sizes"),
    ("svm_cut", wrong_order, "the order of a run is damaged"),
    ("svm_cut", arranging("_states.0.run.ascent.points.values.4", lambda a: a * 0), "the points of a run are damaged"),
    ("svm_cut", arranging("_states.0.run.ascent.real", np.zeros_like), "a run is damaged"),
    ("svm_cut", arranging("_states.0.run.shown.alpha", lambda a: a[:-1]), "a solution is damaged"),
    ("svm_cut", setting("_states", 0, "run", "ended", to=""), "a run ended in a way that cannot be"),
    ("svm_cut", setting("_states", 0, "run", "shown", to=None), "a run has no solution|uses"),
    ("words", setting(*FIRST, "vocabulary_", to={"dict": [["a", "b"], [0, 10**9]]}), "does not number its words"),
    ("words", setting(*FIRST, "token_pattern", to="("), ""),
    ("words", setting(*FIRST, "analyzer", to="lines"), ""),
    ("hashed", setting(*FIRST, "n_features", to=0), "n_features"),
    ("hashed", setting(*FIRST, "n_features", to=8), ""),
    ("scalers", arranging("steps.0.1.scale_", lambda a: a[:1]), "the scale_ of its StandardScaler is not of its shape"),
    ("scalers", setting("steps", 5, "tuple", 1, "degree", to=10**8), "degree"),
    ("scalers", setting("steps", 5, "tuple", 1, "n_output_features_", to=7), "PolynomialFeatures are damaged"),
    ("scalers", setting("steps", to=[]), "steps of its Pipeline are damaged|uses"),
    ("columns", setting(*FIRST, *ENCODER, "_n_features_outs", to=[1000]), "the columns of an encoder"),
    ("columns", setting(*FIRST, *IMPUTER, "indicator_", "_n_features", to=-1), "MissingIndicator is damaged"),
]


@pytest.mark.parametrize(("name", "change", "text"), FORGED, ids=lambda part: part if isinstance(part, str) else "")
def test_a_forged_file_is_refused_though_its_checksum_is_right(name, change, text, tmp_path):
    path = tmp_path / "forged.sx"
    path.write_bytes(forged((ROOT / "fuzz" / "corpus" / "model_file" / f"{name}.sx").read_bytes(), change))
    refuse(path, f"is damaged: .*({text})")


def test_attributes_that_would_take_the_place_of_methods_are_refused(small):
    for name in (
        "predict",
        "decision_function",
        "__class__",
        "_fit_record",
        "certificate_",
        "_skl_callbacks",
        "a b",
        "fit",
    ):
        metadata, tree, arrays = apart(small.read_bytes())
        tree["object"][1][name] = 5
        with pytest.raises(ValueError, match="has an attribute that cannot be"):
            model_file.build(together(metadata, tree, arrays), "x.sx")


def test_classes_are_found_by_name_only(small):
    for name in (
        "os.system",
        "sklearn.svm.SVC",
        "separatrix.estimators.Perceptron",
        "OwnPerceptron",
        "print",
        "Stored",
    ):
        metadata, tree, arrays = apart(small.read_bytes())
        tree["object"][0] = name
        with pytest.raises(ValueError, match=r"^x.sx is damaged: it holds an object of the unknown class"):
            model_file.build(together(metadata, tree, arrays), "x.sx")
    metadata, tree, arrays = apart(small.read_bytes())
    tree["object"][0] = "Neuron"
    with pytest.raises(ValueError, match=r"^x.sx is damaged: "):
        model_file.build(together(metadata, tree, arrays), "x.sx")
    metadata, tree, arrays = apart(small.read_bytes())
    with pytest.raises(ValueError, match=r"^x.sx is damaged: it is not of the kind that it says"):
        model_file.build(together({**metadata, "kind": "Neuron"}, tree, arrays), "x.sx")
    with pytest.raises(ValueError, match=r"^x.sx is damaged: a model file holds a fitted"):
        model_file.build(together(metadata, {"tuple": []}, {}), "x.sx")


@pytest.mark.parametrize(
    "tree", ["[" * 100_000, '{"tuple":' * 3000 + "[]" + "}" * 3000, "nonsense", "1e999", "NaN", ""]
)
def test_trees_that_are_too_deep_or_no_json_are_refused(small, tree):
    metadata, _, _ = apart(small.read_bytes())
    with pytest.raises(ValueError, match=r"^x.sx is damaged: "):
        model_file.build(together(metadata, tree, {}), "x.sx")


def test_an_array_that_is_used_twice_or_not_at_all_is_refused(small):
    metadata, tree, arrays = apart(small.read_bytes())
    raw = together(metadata, tree, {**arrays, "extra": np.zeros(3)})
    with pytest.raises(ValueError, match="nothing in it uses the array 'extra'"):
        model_file.build(raw, "x.sx")
    tree["object"][1]["note"] = {"array": "coef_"}
    with pytest.raises(ValueError, match="the array 'coef_' is missing, or used twice"):
        model_file.build(together(metadata, tree, arrays), "x.sx")


def holds(raw):
    """Check what must hold for any file: refused by name in one line, or a model that answers."""
    try:
        model = model_file.build(raw, "x.sx")
    except ValueError as problem:
        assert re.fullmatch(r"x\.sx.*", str(problem))  # noqa: PT017
        return False
    from separatrix.models.probing import example

    row = example(model)
    if row is not None:
        try:
            model.predict(row)
        except ValueError as problem:
            assert not isinstance(row, np.ndarray) or row.dtype == object or "categories" in str(problem)  # noqa: PT017
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name[:30])
def test_the_corpus_of_the_fuzzer_holds(path):
    raw = path.read_bytes()
    loaded = holds(raw)
    assert loaded or path.suffix != ".sx" or read_facts(path)["scikit-learn"] != sklearn.__version__
    if loaded:
        for seed in range(60):
            holds(mutated(raw, seed))


@pytest.mark.filterwarnings("ignore")
def test_every_node_of_a_tree_can_be_missing_or_odd(small):
    raw = small.read_bytes()
    _, tree, _ = apart(raw)
    for path in list(nodes(tree)):
        for odd in (None, -1, 1e300, "x", [], {}, {"tuple": []}, 2**62, {"cells": [[1], ["a"]]}):
            metadata, other, arrays = apart(raw)
            holds(together(metadata, put(other, path, odd), arrays))


def test_the_corpus_is_small():
    assert len(CORPUS) < 100  # one for each kind of model, and what was once a failure
    assert sum(path.stat().st_size for path in CORPUS) < 400_000
