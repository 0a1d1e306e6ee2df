"""Exports give the probabilities of predict --proba and decide by the model's threshold."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.export.c_header import as_c
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.json_scorer import __file__ as beside
from separatrix.tables.export.json_scorer import as_json
from separatrix.tables.export.onnx_graph import as_onnx
from separatrix.tables.export.sql import as_sql
from separatrix.tables.fit import fit
from separatrix.tables.settings import Settings
from separatrix.tables.sources.in_memory import TableInMemory

CASES = [
    (method, classes, model)
    for method in ("sigmoid", "isotonic", "temperature")
    for classes in (2, 3)
    for model in ("averaged", "svm")
]
CASES += [("isotonic", 3, "kernel-svm"), ("sigmoid", 3, "voted"), (None, 2, "neuron"), (None, 3, "network")]


def table(classes: int, n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(classes)
    data = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n) * 100})
    score = data.a + data.b / 100 + rng.normal(0, 1.0, n)
    data["y"] = np.array(["no", "perhaps", "yes"])[np.digitize(score, [0.0] if classes == 2 else [-0.7, 0.7])]
    return data


def fitted(method, classes, model):
    data = table(classes)
    threshold = "recall=0.95" if classes == 2 else None
    settings = Settings(model, test=0.0, certify=0.0, calibrate=method, threshold=threshold, epochs=30)
    settings = Settings(**{**vars(settings), "epochs": None}) if model in ("svm", "kernel-svm") else settings
    made = fit(TableInMemory(pa.Table.from_pandas(data), "t"), ColumnOptions("y"), settings).model
    rows = data.drop(columns="y").iloc[:50].reset_index(drop=True) * 1.7
    rows.loc[7] = [1e4, -3e6]  # far out, where exp would overflow
    return made, rows, made.predict(rows).tolist(), made.predict_proba(rows)


def of_sql(model, rows, run):
    answers = run(pa.Table.from_pandas(rows), as_sql(scorer_of(model), "t"))
    names = [f"proba_{label}" for label in model.classes_]
    return answers["prediction"].tolist(), answers[names].to_numpy(dtype=float)


def in_duckdb(given, sql):
    with duckdb.connect() as database:
        database.register("t", given)
        return database.sql(sql).df()


def in_sqlite(given, sql):
    database = sqlite3.connect(":memory:")
    given.to_pandas().to_sql("t", database, index=False)
    answers = pd.read_sql(sql, database)
    database.close()
    return answers


def check(model, rows, labels, expected, found):
    assert found[0] == labels
    np.testing.assert_allclose(found[1], expected, rtol=1e-7, atol=1e-12)
    assert np.allclose(expected.sum(axis=1), 1.0)
    if model.threshold is not None:
        plain = model.estimator.predict(model._matrix(rows)).tolist()
        assert plain != labels, "the threshold changes nothing, so that this would show nothing"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "classes", "model"), CASES)
def test_probabilities_and_decisions_are_those_of_the_model(method, classes, model, tmp_path):
    made, rows, labels, expected = fitted(method, classes, model)
    if model not in ("kernel-svm", "voted"):
        for run in (in_duckdb, in_sqlite):
            check(made, rows, labels, expected, of_sql(made, rows, run))
    feed = {name: rows[[name]].to_numpy() for name in rows.columns}
    session = onnxruntime.InferenceSession(as_onnx(scorer_of(made)), providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_outputs()] == ["label", "scores", "probabilities"]
    answer, _, chances = session.run(None, feed)
    check(made, rows, labels, expected, (answer.tolist(), chances))
    check(made, rows, labels, expected, in_c(made, rows, tmp_path))
    check(made, rows, labels, expected, in_node(made, rows, tmp_path))


def in_c(model, rows, folder):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no cc")
    (folder / "m.h").write_text(as_c(scorer_of(model), "m"))
    cells = ",".join(f"{{{float(a)!r}, {float(b)!r}}}" for a, b in rows.to_numpy())
    (folder / "main.c").write_text(f"""#include <stdio.h>
#include "m.h"
int main(void) {{
    static const m_row rows[] = {{{cells}}};
    int i, k;
    for (i = 0; i < {len(rows)}; ++i) {{
        double p[m_N_CLASSES];
        if (!m_probabilities(&rows[i], p)) return 1;
        printf("%d", m_predict(&rows[i]));
        for (k = 0; k < m_N_CLASSES; ++k) printf(" %.17g", p[k]);
        printf("\\n");
    }}
    return 0;
}}
""")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    subprocess.run([compiler, *flags, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    ran = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True)
    lines = [line.split() for line in ran.stdout.splitlines()]
    chances = np.array([[float(word) for word in line[1:]] for line in lines])
    return [model.classes_[int(line[0])] for line in lines], chances


def in_node(model, rows, folder):
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    (folder / "m.json").write_text(as_json(scorer_of(model)))
    (folder / "rows.json").write_text(rows.to_json(orient="records", double_precision=15))
    script = beside.replace("json_scorer.py", "scorer.js")
    (folder / "ask.js").write_text("""const [script, model, rows] = process.argv.slice(2), fs = require("fs");
const made = require(script).load(fs.readFileSync(model, "utf8"));
if (!made.hasProbabilities) throw new Error("no probabilities");
const every = JSON.parse(fs.readFileSync(rows, "utf8")).map((row) => [made.predict(row), made.probabilities(row)]);
console.log(JSON.stringify([every, made.probabilities({a: Infinity, b: 1})]));
""")
    command = [node, "ask.js", script, "m.json", "rows.json"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    every, none = json.loads(ran.stdout)
    assert none is None
    return [label for label, _ in every], np.array([chances for _, chances in every])


def test_a_model_without_probabilities_is_exported_without_them():
    data = pa.Table.from_pandas(table(2))
    settings = Settings("averaged", test=0.0, certify=0.0, calibrate="none")
    scorer = scorer_of(fit(TableInMemory(data, "t"), ColumnOptions("y"), settings).model)
    assert scorer.calibration is None
    assert "proba" not in as_sql(scorer, "t")
    assert "probabilities" not in as_c(scorer, "m")
    assert json.loads(as_json(scorer))["probabilities"] is None
