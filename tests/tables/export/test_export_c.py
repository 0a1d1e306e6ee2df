"""Models as C: every one is compiled, by every compiler that is there, and run."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import separatrix as sx
from export_models import KERNELLED, LINEAR, NETWORKS, TEXTS, VOTED, Case, case, check_predictions, of_wide_table
from separatrix.tables.export.c_header import as_c
from separatrix.tables.export.c_words import members, number
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.scorer import Input, Linear, Scorer

NAMES = [*LINEAR, *NETWORKS, *VOTED, *KERNELLED]
EXACT = [*LINEAR, *VOTED]  # the same bits
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion"]
STRICT = [*WARNINGS, "-Werror", "-ffp-contract=off"]
BUILDS = {
    "cc -O0": ("cc", ["-std=c99", "-O0"]),
    "cc -O2": ("cc", ["-std=c99", "-O2"]),
    "gcc, GNU C": ("gcc", ["-std=gnu17", "-O1"]),
    "gcc -O1": ("gcc", ["-std=c99", "-O1"]),
    "clang -O2": ("clang", ["-std=c99", "-O2"]),
    "clang -O0": ("clang", ["-std=c99", "-O0"]),
    "g++": ("g++", ["-x", "c++", "-std=c++17"]),
    "clang++": ("clang++", ["-x", "c++", "-std=c++17"]),
    "sanitized": ("cc", ["-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
}


def compiler(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        if name == "cc" and os.environ.get("SEPARATRIX_TEST_EXPORTS") == "required":  # the others are a bonus
            pytest.fail(f"there is no {name}")
        pytest.skip(f"there is no {name}")
    return path


def cell(value: Any, role: str) -> str:
    """Return a cell as C, written in another way than the header's: hexadecimal doubles, texts all in octal."""
    if role == "number":
        return "(double)NAN" if value is None or math.isnan(value) else "HUGE_VAL" if math.isinf(value) else value.hex()
    return "NULL" if value is None else '"' + "".join(f"\\{byte:03o}" for byte in str(value).encode()) + '"'


def asked(scorer: Scorer, table: pa.Table, own: str) -> str:
    """Return the rows of a table as a C array."""
    columns = [table.column(each.name).to_pylist() for each in scorer.inputs]
    rows = [
        "{" + ",".join(cell(value, each.role) for value, each in zip(row, scorer.inputs, strict=True)) + "}"
        for row in zip(*columns, strict=True)
    ]
    kind = (
        f"static const {own}_row {own}_asked[]" if scorer.named else f"static const double {own}_asked[][{own}_WIDTH]"
    )
    return f"{kind} = {{\n" + ",\n".join(rows) + "};"


def asking(scorer: Scorer, own: str, count: int) -> str:
    """Return what prints the answers: a place, whether there are scores, the scores."""
    row = f"&{own}_asked[i]" if scorer.named else f"{own}_asked[i]"
    return f"""
    for (i = 0; i < {count}; ++i) {{
        double scores[{own}_N_SCORES];
        const int place = {own}_predict({row}), there = {own}_scores({row}, scores);
        printf("%d %d", place, there);
        for (k = 0; k < {own}_N_SCORES; ++k) printf(" %.17g", scores[k]);
        printf("\\n");
    }}"""


def program(folder: Path, cases: dict[str, tuple[Scorer, pa.Table]]) -> list[Path]:
    """Write the headers and two sources that include all of them; the first asks each model about its rows."""
    folder.mkdir()
    names = [f"m{place}" for place in range(len(cases))]
    for own, (scorer, _) in zip(names, cases.values(), strict=True):
        (folder / f"{own}.h").write_text(as_c(scorer, own), encoding="utf-8")
    every = "".join(f'#include "{own}.h"\n' for own in names)
    rows = "\n".join(asked(*each, own) for own, each in zip(names, cases.values(), strict=True))
    calls = "".join(
        asking(scorer, own, table.num_rows) for own, (scorer, table) in zip(names, cases.values(), strict=True)
    )
    quiet = '#pragma GCC diagnostic ignored "-Woverlength-strings"'  # of the rows here, not of the headers
    head = f"#include <stdio.h>\n{every}{every}\n{quiet}\n{rows}"
    main = f"{head}\nint main(void) {{\n    int i, k;{calls}\n    return 0;\n}}\n"
    (folder / "main.c").write_text(main, encoding="utf-8")
    (folder / "other.c").write_text(f"{every}\nint other(void);\nint other(void) {{ return m0_N_CLASSES; }}\n")
    return [folder / "main.c", folder / "other.c"]


def answers(sources: list[Path], name: str, flags: list[str], cases: dict[str, tuple[Scorer, pa.Table]]) -> Any:
    """Compile, run, and return for each case the places of the labels, whether each row has scores, and the scores."""
    to = sources[0].with_name(re.sub(r"\W", "_", " ".join([name, *flags])))
    command = [compiler(name), *flags, *STRICT, *map(str, sources), "-o", str(to), "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[:4000]
    assert not made.stderr
    ran = subprocess.run([str(to)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:4000]
    lines = iter(ran.stdout.splitlines())
    results = {}
    for each, (_, table) in cases.items():
        parts = [next(lines).split() for _ in range(table.num_rows)]
        scores = np.array([[float(word) for word in part[2:]] for part in parts])
        results[each] = ([int(part[0]) for part in parts], [int(part[1]) for part in parts], scores)
    assert next(lines, None) is None
    return results


@pytest.fixture(scope="module")
def matrix() -> dict[str, tuple[Scorer, pa.Table]]:
    return {name: (scorer_of(case(name).model, unknown=case(name).unknown), case(name).table) for name in NAMES}


@pytest.fixture(scope="module")
def sources(matrix: Any, tmp_path_factory: Any) -> list[Path]:
    return program(tmp_path_factory.mktemp("c") / "models", matrix)


def exact_scores(name: str) -> Any:
    """Return the package's scores; of models of sparse rows those of sparse rows, which are added in another order."""
    example = case(name)
    if not name.startswith("libsvm"):
        return example.scores
    X = sparse.csr_matrix(np.array([column.to_numpy() for column in example.table.columns]).T[:-1])
    return np.vstack([example.model.decision_function(X).reshape(X.shape[0], -1), example.scores[-1:]])


@pytest.mark.parametrize("build", BUILDS)
def test_every_model_answers_as_the_package_does(build, matrix, sources):
    outputs = answers(sources, *BUILDS[build], matrix)
    for name, (places, there, scores) in outputs.items():
        expected, classes = case(name), matrix[name][0].classes
        check_predictions(expected, [None if place < 0 else classes[place] for place in places], scores)
        assert [bool(each) for each in there] == [place >= 0 for place in places]
        if name in EXACT:
            assert np.array_equal(scores, exact_scores(name), equal_nan=True), name


def test_every_way_to_write_a_category_is_found_and_infinity_has_no_answer(tmp_path):
    flags, strict = case("table averaged 2"), case("table averaged 2, drop")
    first = {name: values[0] for name, values in flags.table.to_pydict().items()}
    x1, x2, _, flag = first
    first[flag] = "True"
    spelled = [{**first, flag: text} for text in ("True", "TRUE", "true", "1", "False", "FALSE", "false", "0", "TruE")]
    endless = [{**first, x1: math.inf}, {**first, x2: -math.inf}, {**first, x1: math.nan}]
    filled = case("table neuron 2, mean")
    cases = {
        "flags": (scorer_of(flags.model), pa.Table.from_pylist([*spelled, *endless])),
        "strict": (scorer_of(strict.model, unknown="null"), pa.Table.from_pylist([*spelled, *endless])),
        "filled": (scorer_of(filled.model), pa.Table.from_pylist(endless)),
    }
    outputs = answers(program(tmp_path / "spelled", cases), "cc", ["-std=c99"], cases)
    for name, expected in (("flags", [1] * 9 + [0, 0, 1]), ("strict", [1] * 8 + [0] * 4)):
        _, there, scores = outputs[name]
        assert there == expected
        assert len(set(scores[:4, 0])) == len(set(scores[4:8, 0])) == 1
        assert scores[0, 0] != scores[4, 0]
    _, there, scores = outputs["filled"]
    assert there == [0, 0, 1]
    assert np.isnan(scores[:2]).all()


def test_labels_are_there_as_texts_and_as_what_they_are(tmp_path):
    names = ["estimator, large numbers", "estimator, floats", "estimator, flags", "estimator, texts"]
    scorers = [scorer_of(case(name).model) for name in names]
    least = dataclasses.replace(scorers[0], classes=[-(2**63), 2**63 - 1])
    lines = []
    for place, (scorer, form) in enumerate(zip([*scorers, least], ["%lld", "%.17g", "%d", "", "%lld"], strict=True)):
        (tmp_path / f"m{place}.h").write_text(as_c(scorer, f"m{place}"), encoding="utf-8")
        lines.append(f"for (i = 0; i < m{place}_N_CLASSES; ++i) puts(m{place}_classes[i]);")
        if form:
            lines.append(f'for (i = 0; i < m{place}_N_CLASSES; ++i) printf("{form}\\n", m{place}_labels[i]);')
    every = "".join(f'#include "m{place}.h"\n' for place in range(5))
    source, body = tmp_path / "labels.c", "\n".join(lines)
    source.write_text(f"#include <stdio.h>\n{every}int main(void) {{ int i;\n{body}\nreturn 0; }}\n")
    to = tmp_path / "labels"
    subprocess.run([compiler("cc"), "-std=c99", *STRICT, str(source), "-o", str(to)], check=True)
    shown = subprocess.run([str(to)], capture_output=True, check=True).stdout.decode()
    large = [str(-(2**62) - 1), str(2**62 + 1)]
    ends = [str(-(2**63)), str(2**63 - 1)]
    texts = [*scorers[3].classes]
    assert shown.split("\n") == [
        *large, *large, "-1.0", "2.0", "3.0", "-1", "2", "3", "False", "True", "0", "1", *texts, *ends, *ends, ""
    ]  # fmt: skip


NASTY = [
    "*/ int x = 1; /*", "??/", "a\\", "ends in ??/\\", "\n#error", "*", "/", "//", "\u202e right to left", "", " ",
    "日本", "class", "new", "NULL", "linux", "1st", "a", "a", "A", "_", "a_2", "x" * 300, "x" * 299 + "y", '"', "%d",
    "\\u00e9", "\x07", "\u2028", "int", "row", "values",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "flags"),
    [("cc", ["-std=c99"]), ("clang", ["-std=c99"]), ("gcc", ["-std=gnu17"]), ("g++", ["-x", "c++", "-std=c++17"])],
)
def test_no_name_of_a_column_or_category_can_break_the_header(name, flags, tmp_path):
    long = "é'\"?\\" * 1500
    tiny = [5e-324, 1.7976931348623157e308, -0.0, 1e22]
    every = list(dict.fromkeys([*NASTY, long, *(f"level {k}" for k in range(40))]))
    inputs = [Input(name, "number", place, 1) for place, name in enumerate([*dict.fromkeys(NASTY)])]
    inputs.append(Input("category */", "category", len(inputs), len(every), levels=tuple((text,) for text in every)))
    width = sum(each.width for each in inputs)
    weights = np.zeros((1, width))
    weights[0, : len(tiny)] = tiny
    weights[0, len(inputs) - 1 :] = np.arange(len(every))
    scorer = Scorer(tuple(inputs), True, (), False, Linear(weights, np.zeros(1)), [long, "??/"], True, target="*/??/")
    rows = [{**{each.name: 0.0 for each in inputs[:-1]}, "category */": text} for text in every]
    cases = {"nasty": (scorer, pa.Table.from_pylist(rows))}
    sources = program(tmp_path / "nasty", cases)
    _, there, scores = answers(sources, name, flags, cases)["nasty"]
    assert all(there)
    assert scores[:, 0].tolist() == list(range(len(every)))


def test_names_of_columns_are_names_of_c_and_all_differ():
    identifiers = members(NASTY)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in identifiers)
    assert len(set(identifiers)) == len(identifiers)
    assert not {"class", "new", "int", "NULL", "linux"} & set(identifiers)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1e308, -0.0, 3.0, 1e22, 2.0**70])
def test_doubles_read_back_as_the_same_bits(value):
    assert float(number(value)).hex() == value.hex()
    assert re.search(r"[.e]", number(value))  # no whole number of C


def test_numbers_that_are_not_finite_are_refused():
    scorer = scorer_of(sx.Perceptron().fit([[0.0], [1.0]], [0, 1]))
    bad = dataclasses.replace(scorer, decision=Linear(np.array([[math.inf]]), np.zeros(1)))
    with pytest.raises(ValueError, match="cannot export a model with a weight that is inf"):
        as_c(bad)


@pytest.mark.parametrize("name", ["2nd", "a-b", "", "é", "_x", "a b", "x" * 49])
def test_a_name_that_c_cannot_have_is_refused(name):
    with pytest.raises(ValueError, match="is not a prefix for C names: use letters"):
        as_c(scorer_of(case("ties 2").model), name)


@pytest.mark.parametrize("name", ["int", "class", "while"])
def test_a_word_of_c_is_no_name(name):
    with pytest.raises(ValueError, match=r"it is a keyword of C or C\+\+"):
        as_c(scorer_of(case("ties 2").model), name)


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_refused_with_the_column_and_the_way_out(name):
    with pytest.raises(
        ValueError, match=r"column 'words' is a bag of words, which cannot be exported to c; use --to json"
    ):
        sx.export(case(name).model, to="c")


def test_a_null_character_is_refused_with_its_column():
    inputs = (Input("kind", "category", 0, 2, levels=(("a\0b",), ("c",))),)
    scorer = Scorer(inputs, True, (), False, Linear(np.zeros((1, 2)), np.zeros(1)), ["x", "y"], True)
    with pytest.raises(ValueError, match="column 'kind' contains a null character"):
        as_c(scorer)


@pytest.mark.parametrize("name", NAMES)
def test_headers_are_the_same_twice_and_allocate_nothing(name):
    example = case(name)
    text = as_c(scorer_of(example.model, unknown=example.unknown))
    assert text == as_c(scorer_of(example.model, unknown=example.unknown))
    assert not re.search(r"\b(malloc|calloc|realloc|free|alloca|printf)\b", text)
    assert set(re.findall(r"#include <(.*)>", text)) == {"math.h", "stddef.h"}
    needs = name in NETWORKS or re.search(r"\bexp\(", text)
    assert ("-lm" in text) == bool(needs)


def test_two_models_of_one_name_do_not_compile_together(tmp_path):
    for place, name in enumerate(["ties 2", "ties 4"]):
        (tmp_path / f"m{place}.h").write_text(as_c(scorer_of(case(name).model), "m"), encoding="utf-8")
    (tmp_path / "both.c").write_text('#include "m0.h"\n#include "m1.h"\n')
    command = [compiler("cc"), "-std=c99", "-fsyntax-only", str(tmp_path / "both.c")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "m_scores" in made.stderr


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_fast_math_is_refused_by_the_compiler(name, tmp_path):
    (tmp_path / "m.h").write_text(as_c(scorer_of(case("ties 2").model), "m"), encoding="utf-8")
    (tmp_path / "m.c").write_text('#include "m.h"\n')
    command = [compiler(name), "-std=c99", "-fsyntax-only", "-ffast-math", str(tmp_path / "m.c")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "fast math is not supported: missing values are NAN" in made.stderr


def test_models_of_other_libraries_and_of_one_class_predict_too(tmp_path):
    from sklearn.linear_model import LogisticRegression

    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    other = LogisticRegression().fit(X, [0, 1, 1, 1, 0])
    once = sx.Perceptron().partial_fit(X, ["a"] * 5, classes=["a"])
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1]})
    cases = {"other": (scorer_of(other), table), "once": (scorer_of(once), table)}
    outputs = answers(program(tmp_path / "few", cases), "cc", ["-std=c99"], cases)
    check_predictions(
        Case(other, table, other.predict(X).tolist(), other.decision_function(X)), *_named(cases, outputs, "other")
    )
    check_predictions(Case(once, table, ["a"] * 5, once.decision_function(X)), *_named(cases, outputs, "once"))


def _named(cases: Any, outputs: Any, name: str) -> Any:
    places, _, scores = outputs[name]
    return [cases[name][0].classes[place] for place in places], scores


def test_models_of_many_categories_answer_whatever_decides(tmp_path):
    wide = {model: of_wide_table(model) for model in ("voted", "kernel-svm", "network")}
    cases = {model: (scorer_of(each.model), each.table) for model, each in wide.items()}
    assert all(scorer.sparse for scorer, _ in cases.values())
    outputs = answers(program(tmp_path / "wide", cases), "cc", ["-std=c99"], cases)
    for model, each in wide.items():
        places, _, scores = outputs[model]
        labels = [None if place < 0 else cases[model][0].classes[place] for place in places]
        check_predictions(each, labels, scores)
