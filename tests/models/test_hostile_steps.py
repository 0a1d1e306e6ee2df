"""A model file cannot make a step of scikit-learn open files, call functions, or take time or memory without end."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

import separatrix as sx
from forged_models import apart, attribute, put, together
from saved_models import FRAME, TEXTS, TOPICS
from saved_models import X as NUMBERS
from separatrix.models import model_file
from separatrix.models.patterns import is_token_pattern

pytestmark = pytest.mark.filterwarnings("ignore")

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus" / "model_file"
FIRST = ("steps", 0, "tuple", 1)
ENCODER = (*FIRST, "transformers_", 0, "tuple", 1)
A_TYPE = {"type": "python str"}
EVIL = r"(?:(?:\w+)+)+#"
FORGED = [
    *((name, (*FIRST, *change), text) for name in ("words", "tfidf", "hashed") for *change, text in (
        ("input", "filename", "would read files"),
        ("input", "file", "would read files"),
        ("token_pattern", EVIL, "could take time without end"),
        ("token_pattern", r"(\w|\w)*#", "could take time without end"),
        ("token_pattern", r"\w*\w*\w*#", "could take time without end"),
        ("token_pattern", r"[a-z]+\b", "could take time without end"),
        ("analyzer", A_TYPE, "analyzer of its .* is a function or type"),
        ("tokenizer", A_TYPE, "tokenizer of its .* is a function or type"),
        ("preprocessor", A_TYPE, "preprocessor of its .* is a function or type"),
        ("strip_accents", A_TYPE, "strip_accents of its .* is a function or type"),
        ("ngram_range", {"tuple": [1, 10**9]}, "ngram_range"),
        ("ngram_range", {"tuple": [0, 1]}, "ngram_range"),
        ("encoding", "punycode", "encoding"),
        ("dtype", {"dtype": "<U9999"}, "dtype of its .* is not a type of numbers"),
        ("dtype", {"type": "python object"}, "dtype of its .* is not a type of numbers"),
        ("stop_words", [1], "stop_words"),
        ("_parameter_constraints", {"dict": [[], []]}, "has an attribute that cannot be"),
        ("_doc_link_template", "javascript:alert(1)", "has an attribute that cannot be"),
    )),
    ("columns", (*FIRST, "verbose_feature_names_out", "{feature_name:>999999999}"), "verbose_feature_names_out"),
    ("columns", (*FIRST, "verbose_feature_names_out", A_TYPE), "verbose_feature_names_out"),
    ("columns", (*ENCODER, "feature_name_combiner", A_TYPE), "feature_name_combiner"),
    ("columns", (*ENCODER, "dtype", {"dtype": "<U9999"}), "dtype of its OneHotEncoder is not a type of numbers"),
    ("columns", (*ENCODER, "dtype", {"dtype": "<U999999"}), "a type is unknown"),
]  # fmt: skip


def forged(name, *changes):
    """The bytes of a file of the corpus with other values at these places; the last of a place may be new."""
    metadata, tree, arrays = apart((CORPUS / f"{name}.sx").read_bytes())
    for *names, last, value in changes:
        put(tree, (*attribute(tree, *names), "object", 1, last), value)
    return together(metadata, tree, arrays)


@pytest.mark.parametrize(("name", "change", "text"), FORGED, ids=lambda part: part if isinstance(part, str) else "")
def test_a_step_with_a_harmful_setting_is_refused(name, change, text):
    began = time.process_time()
    with pytest.raises(ValueError, match=f"^x.sx is damaged: .*({text})"):
        model_file.build(forged(name, change), "x.sx")
    assert time.process_time() - began < 2


def test_a_file_that_names_another_file_does_not_read_it(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("dog")
    raw = forged("words", (*FIRST, "input", "filename"))
    with pytest.raises(ValueError, match="would read files"):
        model_file.build(raw, "x.sx").predict([str(secret)])


def test_a_file_does_not_say_how_many_processes_are_started():
    model = model_file.build(forged("columns", (*FIRST, "n_jobs", 4000)), "x.sx")
    assert model.steps[0][1].n_jobs is None


@pytest.mark.parametrize(
    ("model", "rows", "labels", "text"),
    [
        (make_pipeline(CountVectorizer(token_pattern=EVIL + "?"), sx.Perceptron()), TEXTS, TOPICS, "token_pattern"),
        (make_pipeline(CountVectorizer(ngram_range=(1, 40)), sx.Perceptron()), TEXTS, TOPICS, "ngram_range"),
    ],
)
def test_what_would_not_be_read_is_not_written(model, rows, labels, text, tmp_path):
    model.fit(rows, labels)
    with pytest.raises(ValueError, match=rf"^this Pipeline cannot be saved: .*{text}"):
        sx.save(model, tmp_path / "model.sx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pattern", [".*_id$", "^num_.*$", "^(?!num)", "count|id", "(?i)COUNT", None])
def test_columns_chosen_by_name_are_kept_and_never_chosen_again(pattern, tmp_path):
    rows = FRAME[["size", "count"]].fillna(0.0)
    columns = ColumnTransformer(
        [("a", StandardScaler(), make_column_selector(pattern=pattern))], remainder="passthrough"
    )
    model = make_pipeline(columns, sx.Perceptron()).fit(rows, TOPICS)
    sx.save(model, tmp_path / "model.sx")
    assert (sx.load(tmp_path / "model.sx").predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("encoding", ["utf_8", "cp1251", "gbk", "UTF-8", "latin-1"])
def test_any_encoding_of_text_is_kept(encoding, tmp_path):
    model = make_pipeline(TfidfVectorizer(encoding=encoding), sx.Perceptron()).fit(TEXTS, TOPICS)
    sx.save(model, tmp_path / "model.sx")
    assert (sx.load(tmp_path / "model.sx").predict(TEXTS) == model.predict(TEXTS)).all()


def test_a_few_long_categories_among_many_short_ones_are_kept(tmp_path):
    cells = np.array([[f"c{k:06}"] for k in range(20_000)] + [["x" * 300]])
    step = OneHotEncoder().fit(cells)
    model = make_pipeline(step, sx.Perceptron(max_iter=1, stop=sx.stops.MaxEpochs(1))).fit(cells, np.arange(20_001) % 2)
    sx.save(model, tmp_path / "model.sx")
    assert sx.load(tmp_path / "model.sx").steps[0][1].categories_[0][-1] == "x" * 300


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\w+", r"[a-zA-Z]+", r"\S+", r"\b[^\d\W]+\b", r"\b[a-z]{3,}\b", "[a-z#]",
        r"[^|]+", r"[a-z&]+", r"[^\n\t]+", r"(\w+)", r"(?u)\b(\w\w+)\b", r"(?:\w+)", r"(?i)\b\w+\b", r"\w\w+\b",
        r"#?\w+", r"\w+|\S", r"(?u)\b\w\w+\b|!|\?", r"\w+(?:['-]\w+)*", r"\w{2,}",
    ],
)  # fmt: skip
def test_plain_patterns_are_kept_and_their_time_grows_with_the_text(pattern, tmp_path):
    model = make_pipeline(TfidfVectorizer(token_pattern=pattern), sx.Perceptron()).fit(TEXTS, TOPICS)
    sx.save(model, tmp_path / "model.sx")
    again = sx.load(tmp_path / "model.sx")
    assert (again.predict(TEXTS) == model.predict(TEXTS)).all()
    for text in ("a" * 300_000 + "1", "a1" * 150_000, "a-" * 150_000 + "1", "ab#" * 100_000, "-" * 300_000):
        began = time.process_time()
        again.predict([text])
        assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\w+)+#", r"\w+\w+#", r"(?:a|a)*b", r"(a*)*b", r"[a-z]+\b", r"\S+\b", r"(?:\w+)*#", r"\w+(?:\w+)*#",
        r"\b(\w+\s?)+\b", r"(\w+|\S+)#", "a|" * 400 + "a",
    ],
)  # fmt: skip
def test_patterns_that_may_backtrack_are_not_plain(pattern):
    assert not is_token_pattern(pattern)


def test_checking_a_pattern_takes_no_time_itself():
    began = time.process_time()
    for part in ("_", "a", r"\w", "[a", "[^", "[a]", r"\b", "{1,", "-", "."):
        for end in ("", "(", "]", "+", r"\b", "#)"):
            is_token_pattern(part * 5000 + end)
            is_token_pattern(part * 20 + end)
    assert time.process_time() - began < 1


def test_products_that_fill_the_memory_are_refused_before_they_are_made():
    scalers = ("steps", 5, "tuple", 1)
    counted = PolynomialFeatures._num_combinations(
        n_features=2, min_degree=0, max_degree=5000, interaction_only=False, include_bias=True
    )
    raw = forged(
        "scalers",
        (*scalers, "degree", 5000),
        (*scalers, "interaction_only", False),
        (*scalers, "include_bias", True),
        (*scalers, "_min_degree", 0),
        (*scalers, "_max_degree", 5000),
        (*scalers, "n_output_features_", counted),
    )
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"its PolynomialFeatures makes [0-9,]+ columns; at most 200,000"):
        model_file.build(raw, "x.sx")
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()


def test_a_small_file_takes_little_memory_to_refuse_or_to_read(tmp_path):
    path = tmp_path / "model.sx"
    sx.save(make_pipeline(OrdinalEncoder(), sx.Perceptron(max_iter=3)).fit(NUMBERS.round(), TOPICS * 2), path)
    metadata, tree, arrays = apart(path.read_bytes())
    for bomb in (
        {"text": [[1], 1 << 26, ["a"]]},
        {"text": [[1 << 20], 1 << 26, []]},
        {"cells": [[1 << 40], []]},
        {"bytes": [[1 << 40], 1, "steps.1.1.coef_"]},
        {"tuple": [{"text": [[1], 200_000, ["a"]]}] * 1000},
    ):
        other = put(tree, attribute(tree, *FIRST, "unknown_value"), bomb)
        tracemalloc.start()
        with pytest.raises(ValueError, match=r"^x\.sx is damaged"):
            model_file.build(together(metadata, other, arrays), "x.sx")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
        tracemalloc.stop()


def test_a_field_or_a_member_that_is_there_twice_is_refused():
    metadata, tree, arrays = apart((CORPUS / "perceptron_last.sx").read_bytes())
    text = json.dumps(tree)
    doubled = text.replace('"max_iter":', '"max_iter": 5, "max_iter":', 1)
    assert doubled != text
    with pytest.raises(ValueError, match="its tree has the field 'max_iter' twice"):
        model_file.build(together(metadata, doubled, arrays), "x.sx")
    raw = together(metadata, tree, arrays)
    header = raw[8:].replace(b'"format":"separatrix model"', b'"format":"x","format":"separatrix model"', 1)
    length = int.from_bytes(raw[:8], "little") + len(header) - len(raw[8:])
    with pytest.raises(ValueError, match="is not a model file of separatrix, or its beginning is damaged"):
        model_file.build(length.to_bytes(8, "little") + header, "x.sx")
    tree["object"][1]["note"] = {"set": ["a", "a"]}
    with pytest.raises(ValueError, match="a set has a member twice"):
        model_file.build(together(metadata, tree, arrays), "x.sx")
