"""Models as JSON: every one is asked in node, and the file itself is read in Python."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import separatrix as sx
from export_models import EVERY, LINEAR, TEXTS, VOTED, Case, case, check_predictions, of_table, of_wide_table
from separatrix.tables.export import json_scorer
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.json_scorer import as_json
from separatrix.tables.export.scorer import Input, Linear, Scorer

EXACT = [*LINEAR, *VOTED, *TEXTS]  # the same bits
SCRIPT = Path(json_scorer.__file__).with_name("scorer.js")
DRIVER = """
"use strict";
const fs = require("fs");
const separatrix = require(process.argv[2]);
const asked = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const plain = (label) => (typeof label === "bigint" ? {large: String(label)} : label);
const text = (score) => (Object.is(score, -0) ? "-0" : String(score));
const answers = asked.map(({model, rows}) => {
  const loaded = separatrix.load(model);
  return rows.map((row) => {
    const scores = loaded.scores(row);
    return [plain(loaded.predict(row)), scores === null ? null : scores.map(text)];
  });
});
fs.writeFileSync(process.argv[4], JSON.stringify(answers));
"""


@pytest.fixture(scope="module")
def node() -> str:
    path = shutil.which("node")
    if path is None:
        if os.environ.get("SEPARATRIX_TEST_EXPORTS") == "required":
            pytest.fail("there is no node")
        pytest.skip("there is no node")
    return path


def run(node: str, folder: Path, script: str, *more: Any) -> str:
    """Run a script in node, the scorer beside it; return what it prints."""
    (folder / "scorer.js").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "driver.js").write_text(script, encoding="utf-8")
    command = [node, str(folder / "driver.js"), str(folder / "scorer.js"), *map(str, more)]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[:4000]
    return ran.stdout.decode()


def rows_of(scorer: Scorer, table: pa.Table) -> list[Any]:
    """Return rows as JavaScript is given them: objects, or arrays for a model without names."""
    whole = [
        {name: None if isinstance(cell, float) and math.isnan(cell) else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]
    return whole if scorer.named else [[row[each.name] for each in scorer.inputs] for row in whole]


def asked(node: str, folder: Path, cases: list[tuple[Scorer, list[Any]]]) -> list[tuple[list[Any], Any]]:
    """Return the labels and scores of each model's rows."""
    every = [{"model": as_json(scorer), "rows": rows} for scorer, rows in cases]
    (folder / "asked.json").write_text(json.dumps(every), encoding="utf-8")
    run(node, folder, DRIVER, folder / "asked.json", folder / "answers.json")
    result = []
    for (scorer, _), answers in zip(cases, json.loads((folder / "answers.json").read_text("utf-8")), strict=True):
        none = [math.nan] * len(scorer.score_names)
        labels = [int(label["large"]) if isinstance(label, dict) else label for label, _ in answers]
        scores = np.array([none if each is None else [float(word) for word in each] for _, each in answers])
        result.append((labels, scores))
    return result


@pytest.fixture(scope="module")
def answered(node: str, tmp_path_factory: Any) -> dict[str, tuple[list[Any], Any]]:
    cases = []
    for name in EVERY:
        scorer = scorer_of(case(name).model, unknown=case(name).unknown)
        cases.append((scorer, rows_of(scorer, case(name).table)))
    return dict(zip(EVERY, asked(node, tmp_path_factory.mktemp("json"), cases), strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_every_model_answers_as_the_package_does(name, answered):
    expected = case(name)
    check_predictions(expected, *answered[name])
    if name not in EXACT:
        return
    scores = expected.scores
    if name.startswith("libsvm"):  # of sparse rows, which are added in another order than dense ones
        X = sparse.csr_matrix(np.array([column.to_numpy() for column in expected.table.columns]).T[:-1])
        scores = np.vstack([expected.model.decision_function(X).reshape(X.shape[0], -1), scores[-1:]])
    assert np.array_equal(answered[name][1], scores, equal_nan=True)


def of_more(node: str, folder: Path, cases: dict[str, Case]) -> None:
    """Ask models that are not in the matrix, and compare."""
    scorers = [scorer_of(each.model, unknown=each.unknown) for each in cases.values()]
    given = [(scorer, rows_of(scorer, each.table)) for scorer, each in zip(scorers, cases.values(), strict=True)]
    for each, output in zip(cases.values(), asked(node, folder, given), strict=True):
        check_predictions(each, *output)


@pytest.mark.parametrize("method", ["tfidf", "hashed"])
def test_models_of_words_answer_whatever_decides(method, node, tmp_path):
    base = case("words 3" if method == "tfidf" else "hashed words")
    texts = [text for text in base.table.column("words").to_pylist() if text] * (3 if method == "hashed" else 6)
    rng = np.random.default_rng(2)
    age = rng.normal(50.0, 10.0, len(texts))
    table = pa.table({"age": age, "words": texts, "y": (np.arange(len(texts)) % 3).tolist()})
    rows = pa.table({"age": [None, *age[:10]], "words": [texts[0], None, "", *texts[:8]]})
    more = {"text": ("words",), "text_method": method, "epochs": 4}
    models = ["voted", "svm"] if method == "hashed" else ["voted", "svm", "kernel-svm", "network", "perceptron"]
    cases = {model: of_table(table, rows, "y", model, missing="mean", **more) for model in models}
    assert all(scorer_of(each.model).sparse for each in cases.values())
    of_more(node, tmp_path, cases)


def test_models_of_many_categories_answer_whatever_decides(node, tmp_path):
    of_more(node, tmp_path, {model: of_wide_table(model) for model in ("voted", "kernel-svm", "network")})


# ---------------------------------------------------------------------------------------------- words


def words_scorer(size: int) -> Scorer:
    """Return a model whose score for a text of one word is the place that the word is hashed to."""
    weights = np.arange(float(size))[None, :]
    return Scorer(
        (Input("t", "text", 0, size),), True, (), True, Linear(weights, np.zeros(1)), ["a", "b"], tie_is_positive=True
    )


def test_words_are_hashed_as_scikit_learn_hashes_them(node, tmp_path):
    from sklearn.feature_extraction.text import HashingVectorizer

    rng = np.random.default_rng(0)
    letters = np.array(list("abcxyz019_éß日本ß𝒳ж٣"))
    words = ["".join(rng.choice(letters, rng.integers(2, 15))) for _ in range(400)]
    for size in (1 << 10, 1 << 20):
        places = HashingVectorizer(n_features=size, alternate_sign=False).transform(words).indices
        (_, scores), = asked(node, tmp_path, [(words_scorer(size), [{"t": word} for word in words])])  # fmt: skip
        assert scores[:, 0].tolist() == places.tolist()


def test_texts_fall_into_words_as_in_python(node, tmp_path):
    """Over all of Unicode, but for letters that one of the two does not know yet."""
    script = r"""
    let kinds = "";
    const lowered = {};
    for (let c = 0; c < 0x110000; ++c) {
      const text = c >= 0xd800 && c < 0xe000 ? null : String.fromCodePoint(c);
      kinds += text === null || /\p{Cn}/u.test(text) ? "?" : /[\p{L}\p{N}_]/u.test(text) ? "w" : " ";
      if (text !== null && text.toLowerCase() !== text) lowered[c] = text.toLowerCase();
    }
    process.stdout.write(JSON.stringify([kinds, lowered]));
    """
    kinds, lowered = json.loads(run(node, tmp_path, script))
    known = [code for code, kind in enumerate(kinds) if kind != "?" and unicodedata.category(chr(code)) != "Cn"]
    words = set(re.findall(r"\w", "".join(map(chr, known))))
    differing = [
        f"U+{code:04X} {chr(code).lower()!r} {kinds[code]}"
        for code in known
        if (chr(code) in words) != (kinds[code] == "w") or chr(code).lower() != lowered.get(str(code), chr(code))
    ]
    assert len(known) > 200_000
    assert differing == []


def test_case_is_folded_as_in_python_where_neighbours_matter(node, tmp_path):
    texts = ["".join(part) for n in (1, 2, 3, 4) for part in itertools.product("Σa\u0391\u0301' .İ", repeat=n)]
    script = "process.stdout.write(JSON.stringify(JSON.parse(process.argv[3]).map((each) => each.toLowerCase())));"
    assert json.loads(run(node, tmp_path, script, json.dumps(texts))) == [text.lower() for text in texts]


# ---------------------------------------------------------------------------------------------- the script


def test_the_script_has_its_rules_for_rows_and_files(node, tmp_path):
    table, imputed, array = case("table averaged 2, drop"), case("table averaged 2, pooled"), case("npy 3")
    categories = Scorer(
        (
            Input("__proto__", "number", 0, 1),
            Input("constructor", "category", 1, 3, levels=(("__proto__",), ("toString", "1"), ("true",))),
        ),
        True,
        (),
        False,
        Linear(np.array([[10.0, 1.0, 2.0, 3.0]]), np.zeros(1)),
        ["no", "yes"],
        tie_is_positive=True,
        unknown="null",
    )
    models = {
        "table": scorer_of(table.model, unknown="null"),
        "imputed": scorer_of(imputed.model),
        "array": scorer_of(array.model),
        "proto": categories,
    }
    row = table.table.to_pylist()[0]
    (tmp_path / "given.json").write_text(
        json.dumps({"row": row, **{name: as_json(scorer) for name, scorer in models.items()}})
    )
    run(node, tmp_path, (Path(__file__).with_name("scorer_rules.js")).read_text("utf-8"), tmp_path / "given.json")


def test_the_script_is_one_strict_file_that_asks_nothing_of_the_page():
    text = SCRIPT.read_text(encoding="utf-8")
    code = re.sub(r"//.*", "", text)
    assert '"use strict"' in code
    assert not re.search(
        r"\beval\b|\bFunction\(|\bimport\b|\brequire\b|\bfetch\b|\bdocument\b|\bwindow\b|innerHTML", code
    )
    assert len(text) < 30_000


# ---------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize("name", EVERY)
def test_files_are_plain_json_and_the_same_twice(name):
    example = case(name)
    scorer = scorer_of(example.model, unknown=example.unknown)
    text = as_json(scorer)
    assert text == as_json(scorer_of(example.model, unknown=example.unknown))
    assert text.isascii()
    assert "<" not in text
    data = json.loads(text, parse_constant=lambda word: pytest.fail(f"example {word}"))
    assert (data["format"], data["version"]) == ("separatrix-scorer", 1)
    assert [each["name"] for each in data["columns"]] == [each.name for each in scorer.inputs]
    assert list(data) == [
        "format", "version", "written_by", "kind", "target", "named", "columns", "unknown", "steps", "sparse",
        "decision", "classes", "tie_is_positive", "threshold", "probabilities",
    ]  # fmt: skip
    if isinstance(scorer.decision, Linear):
        for read, weights in zip(data["decision"]["weights"], scorer.decision.weights, strict=True):
            assert np.array_equal(whole(read), weights)


def whole(vector: Any) -> Any:
    if isinstance(vector, list):
        return vector
    out = np.zeros(vector["size"])
    out[vector["places"]] = vector["values"]
    return out


def test_mostly_zeros_are_written_short():
    assert len(as_json(scorer_of(case("hashed words").model))) < 10_000


@pytest.mark.parametrize(
    ("labels", "kind", "written"),
    [
        ([1, 2], "whole", [1, 2]),
        ([-(2**53) + 1, 2**53 - 1], "whole", [-(2**53) + 1, 2**53 - 1]),
        ([1, 2**53], "large", ["1", str(2**53)]),
        ([False, True], "flag", [False, True]),
        ([0.5, 1.0], "number", [0.5, 1.0]),
        (["a", "</script>"], "text", ["a", "</script>"]),
    ],
)
def test_labels_keep_their_type(labels, kind, written):
    scorer = dataclasses.replace(scorer_of(case("ties 2").model), classes=labels)
    result = json.loads(as_json(scorer))["classes"]
    assert result == {"type": kind, "labels": written}
    assert [type(label) for label in result["labels"]] == [type(label) for label in written]


def test_numbers_that_are_not_finite_are_refused():
    scorer = scorer_of(sx.Perceptron().fit([[0.0], [1.0]], [0, 1]))
    bad = dataclasses.replace(scorer, decision=Linear(np.array([[math.nan]]), np.zeros(1)))
    with pytest.raises(ValueError, match="cannot export a model with weights that are not finite"):
        as_json(bad)
