"""Small models of every kind, rows to ask them about, and what the package itself answers: the matrix of the exports.

Rows with gaps, categories never seen, ties, and names that need quoting are among them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import separatrix as sx
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.predict import PredictionCounts, PredictOptions, predict
from separatrix.tables.settings import Settings
from separatrix.tables.sources.arrays import ArraySource
from separatrix.tables.sources.in_memory import TableInMemory

COLOURS = ["it's", 'say "hi"', "日本 🙂", "back\\slash", "two\nlines", "??/ /* */ -- ;", "${x} %s {}", "a"]
LABELS = ["O'Hara", 'né "x" <b>', "日本\\n"]
X1, X2, COLOUR, FLAG = 'größe "cm"', "x'y; --", "色 (colour)", "$flag"


class Case(NamedTuple):
    """A model and rows; ``labels`` has None and ``scores`` NaN where a row has no answer."""

    model: Any
    table: pa.Table
    labels: list[Any]
    scores: np.ndarray[Any, Any]
    unknown: str = "null"


def nasty_table(n: int, classes: int, seed: int = 0, gaps: bool = True) -> pa.Table:
    """Return a table with two numbers, a category, a flag and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(170.0, 20.0, n), rng.normal(0.0, 1e-3, n)
    colour, flag = rng.integers(0, len(COLOURS), n), rng.random(n) < 0.5
    score = (a - 170.0) / 20.0 + 1e3 * b + 0.3 * colour + flag + rng.normal(0, 0.3, n)
    label = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    columns: dict[str, list[Any]] = {
        X1: a.tolist(),
        X2: b.tolist(),
        COLOUR: [COLOURS[k] for k in colour],
        FLAG: flag.tolist(),
        "label": [LABELS[k] for k in label],
    }
    if gaps:
        for k, name in enumerate((X1, X2, COLOUR, FLAG)):
            columns[name][5 + k] = None
    return pa.table(columns)


def asked_rows(seed: int) -> pa.Table:
    """Return rows to ask about: new ones, with gaps, and with a colour never seen."""
    table = nasty_table(60, 2, seed)
    colours = table.column(COLOUR).to_pylist()
    colours[20:23] = ["never seen", "A", ""]
    return table.set_column(table.column_names.index(COLOUR), COLOUR, pa.array(colours)).drop_columns(["label"])


def of_table(table: pa.Table, rows: pa.Table, target: str, model: str, unknown: str = "null", **more: Any) -> Case:
    """Return a model as ``separatrix fit`` makes it."""
    parameters, epochs = more.pop("parameters", {}), more.pop("epochs", None)
    settings = Settings(model, test=0.0, epochs=epochs, parameters=parameters, certify=0.0)
    fitted = fit(TableInMemory(table, "the table"), ColumnOptions(target, **more), settings).model
    options = PredictOptions(scores=True, unknown="zero")
    answers = list(predict(fitted, TableInMemory(rows, "rows"), options, PredictionCounts()))
    answers = pa.concat_tables(answers)
    labels = answers.column(0).to_pylist()
    names = [name for name in answers.column_names if name.startswith("score")]
    scores = np.array([answers.column(name).to_numpy(zero_copy_only=False) for name in names], dtype=float).T
    if unknown == "null":
        for feature in fitted.preparation.role("category"):
            known = {*feature.levels, *((True, False) if feature.kind == "flag" else ()), None}
            for row, cell in enumerate(rows.column(feature.name).to_pylist()):
                if cell not in known:
                    labels[row], scores[row] = None, np.nan
    return Case(fitted, rows, labels, scores, unknown)


def of_matrix(model: Any, X: Any, first: int = 0) -> Case:
    """Return a model of rows without column names, the last of them with a gap."""
    X = np.asarray(X, dtype=float)
    gap = np.where(np.arange(X.shape[1]) == X.shape[1] - 1, np.nan, X[-1])
    scores = np.asarray(model.decision_function(X), dtype=float).reshape(len(X), -1)
    table = pa.table({f"x{k + first}": np.append(X[:, k], gap[k]) for k in range(X.shape[1])})
    labels = [*np.asarray(model.predict(X)).tolist(), None]
    return Case(model, table, labels, np.vstack([scores, np.full(scores.shape[1], np.nan)]))


def of_estimator(estimator: Any, classes: int, d: int = 5, labels: Any = None) -> Case:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(80, d)) * 10.0 ** rng.integers(-3, 4, d)
    y = np.digitize((X / X.std(axis=0)).sum(axis=1), np.linspace(-1, 1, classes - 1) if classes > 2 else [0.0])
    y = y if labels is None else np.asarray(labels)[y]
    return of_matrix(estimator.fit(X, y), np.vstack([X, X[:20] * 3.0]))


def of_ties(estimator: Any, classes: int, voted: bool = False) -> Case:
    """Return a model of whole numbers, asked about points of a grid; many of them lie on its boundaries."""
    X = [[2, 1], [1, 2], [-2, -1], [-1, -2], [2, -1], [1, -2], [-1, 2], [-2, 1]]
    y = [1, 1, 0, 0, 1, 1, 0, 0] if classes == 2 else [2, 2, 0, 0, 1, 1, 3, 3]
    fitted = estimator.fit(X, y)
    case = of_matrix(fitted, [[a, b] for a in range(-6, 7) for b in range(-6, 7)])
    tied = np.sort(case.scores[:-1], axis=1)
    tied = tied[:, -1] == (0.0 if classes == 2 else tied[:, -2])
    assert voted or tied.any(), "no tie to ask about"  # of voters, each can be undecided about a point
    return case


def of_no_updates(readout: str) -> Case:
    """Return a model without support vectors: the only example that is not held out is right from the start."""
    for seed in range(20):
        model = sx.KernelPerceptron(
            readout=readout, boundary="positive", max_iter=1, stop=sx.stops.HeldOutFlat(0.5), random_state=seed
        ).fit([[0.0, 1.0], [2.0, 1.0]], ["no", "yes"])
        if not len(model.support_):
            break
    assert not len(model.support_)
    return of_matrix(model, [[0.0, 1.0], [2.0, 1.0], [-1.5, 0.25]])


def in_original_units() -> Case:
    case = of_estimator(make_pipeline(StandardScaler(), sx.Perceptron(random_state=0)), 3)
    X = np.array([column.to_numpy() for column in case.table.columns]).T[:-1]
    return of_matrix(sx.original_units(case.model), X)


def of_wide_table(model: str = "averaged") -> Case:
    """Return a model whose rows are sparse: most of its numbers stand for one of many texts."""
    rng = np.random.default_rng(3)
    towns = [f"town {k}" for k in range(90)]
    a, town = rng.normal(size=400), rng.integers(0, 90, 400)
    table = pa.table({"a": a, "town": [towns[k] for k in town], "y": [int(v) for v in (a + town / 45 > 1)]})
    rows = pa.table({"a": [0.0, 0.5, None, 1.5, -1.0], "town": ["town 3", "town 80", "town 4", "nowhere", None]})
    case = of_table(table, rows, "y", model, epochs=None if model == "kernel-svm" else 5)
    assert case.model.preparation.sparse
    return case


def of_texts(method: str, classes: int = 2) -> Case:
    """Return a model of words."""
    texts = ["Über Straße straße naïve", "x1 x_2 22 a é", "ΣΟΦΟΣ final sigma ς", "don't STOP", "日本 語 日本語", ""] * 8
    more = [
        *texts[:6],
        "never met words",
        None,
        "straße Straße STRASSE x_2",
        "İstanbul ǅ ﬁne ½ ²² ٣٤ e\u0301a",
        "🙂 ok 🙂",
    ]
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.normal(size=len(texts)),
            "words": texts,
            "y": [LABELS[k % classes] for k in range(len(texts))],
        }
    )
    rows = pa.table({"age": rng.normal(size=len(more)), "words": more})
    return of_table(table, rows, "y", "averaged", text=("words",), text_method=method, epochs=5)


def of_arrays(kind: str, classes: int, **more: Any) -> Case:
    """Return a model of a matrix without column names, as of an .npy or a libsvm file."""
    from scipy import sparse

    rng = np.random.default_rng(9)
    X = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.7)
    y = np.digitize(X.sum(axis=1), np.linspace(-1, 1, classes - 1) if classes > 2 else [0.0])
    source = ArraySource("X.npz", "X.npz", sparse.csr_matrix(X) if kind == "libsvm" else X, y)
    fitted = fit(source, ColumnOptions(**more), Settings("averaged", test=0.0, certify=0.0)).model
    case = of_matrix(fitted, X, first=1 if fitted.preparation.anonymous == "libsvm" else 0)
    return case._replace(model=fitted)


def _nasty(model: str, classes: int, unknown: str = "null", **more: Any) -> Case:
    return of_table(nasty_table(150, classes), asked_rows(classes), "label", model, unknown, **more)


P = sx.Perceptron
LINEAR: dict[str, Callable[[], Case]] = {
    "table averaged 2": lambda: _nasty("averaged", 2),
    "table averaged 3": lambda: _nasty("averaged", 3),
    "table averaged 3, zero": lambda: _nasty("averaged", 3, "zero"),
    "table perceptron 2, minmax": lambda: _nasty("perceptron", 2, scale="minmax", epochs=5),
    "table pocket 3, not scaled": lambda: _nasty("pocket", 3, scale="none", epochs=5),
    "table neuron 2, mean": lambda: _nasty("neuron", 2, missing="mean"),
    "table neuron 3, mean, zero": lambda: _nasty("neuron", 3, "zero", missing="mean"),
    "table svm 2": lambda: _nasty("svm", 2),
    "table svm 3, fail": lambda: of_table(
        nasty_table(150, 3, gaps=False), asked_rows(5), "label", "svm", missing="fail"
    ),
    "table numbers only": lambda: _nasty("averaged", 2, exclude=(COLOUR, FLAG)),
    "table categories only": lambda: _nasty("averaged", 2, exclude=(X1, X2)),
    "table wide": of_wide_table,
    "table flag as label": lambda: of_table(
        nasty_table(150, 2).drop_columns(["label"]), asked_rows(1).drop_columns([FLAG]), FLAG, "averaged"
    ),
    "npy 3": lambda: of_arrays("npy", 3),
    "npy 2, minmax, mean": lambda: of_arrays("npy", 2, scale="minmax"),
    "libsvm 2": lambda: of_arrays("libsvm", 2),
    "libsvm 3, standard": lambda: of_arrays("libsvm", 3, scale="standard"),
    "estimator 2": lambda: of_estimator(P(random_state=0), 2),
    "estimator of 40 features": lambda: of_estimator(sx.LinearSVM(), 3, d=40),
    "estimator without intercept": lambda: of_estimator(P(fit_intercept=False, random_state=0), 2),
    "estimator, texts": lambda: of_estimator(sx.Neuron(random_state=0, max_iter=50), 3, labels=LABELS),
    "estimator, logistic": lambda: of_estimator(sx.LogisticRegression(), 3, labels=LABELS),
    "estimator, flags": lambda: of_estimator(sx.LinearSVM(), 2, labels=[False, True]),
    "estimator, floats": lambda: of_estimator(sx.LinearSVM(), 3, labels=[-1.0, 2.0, 3.0]),
    "estimator, large numbers": lambda: of_estimator(sx.LinearSVM(), 2, labels=[-(2**62) - 1, 2**62 + 1]),
    "pipeline standard": lambda: of_estimator(make_pipeline(StandardScaler(), P(random_state=0)), 3),
    "pipeline chain": lambda: of_estimator(make_pipeline(RobustScaler(), MinMaxScaler(), sx.LinearSVM()), 2),
    "pipeline maxabs": lambda: of_estimator(make_pipeline(MaxAbsScaler(), sx.LinearSVM()), 3),
    "original units": in_original_units,
    "ties 2": lambda: of_ties(P(shuffle=False), 2),
    "ties 2, negative": lambda: of_ties(P(shuffle=False, boundary="negative"), 2),
    "ties 4": lambda: of_ties(P(shuffle=False, max_iter=7), 4),
}
NETWORKS: dict[str, Callable[[], Case]] = {
    "table network 2": lambda: _nasty("network", 2, epochs=60),
    "table network 3": lambda: _nasty("network", 3, epochs=60),
    "network of two layers": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.Network(hidden=(5, 3), random_state=0, max_iter=60)), 3
    ),
    "network far out": lambda: of_estimator(sx.Network(hidden=(3,), random_state=0, max_iter=5), 2),
}
VOTED: dict[str, Callable[[], Case]] = {
    "table voted 2": lambda: _nasty("voted", 2, epochs=3),
    "table voted 3": lambda: _nasty("voted", 3, epochs=3),
    "voted ties": lambda: of_ties(P(shuffle=False, readout="voted"), 2, voted=True),
    "voted ties, negative": lambda: of_ties(P(shuffle=False, readout="voted", boundary="negative"), 2, True),
    "kernel perceptron voted": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.KernelPerceptron(readout="voted", random_state=0, max_iter=4)), 3
    ),
    "kernel perceptron voted, no updates": lambda: of_no_updates("voted"),
}
KERNELLED: dict[str, Callable[[], Case]] = {
    "table kernel-svm 2": lambda: _nasty("kernel-svm", 2),
    "table kernel-svm 3": lambda: _nasty("kernel-svm", 3),
    "table kernel-svm poly": lambda: _nasty("kernel-svm", 3, parameters={"kernel": "poly", "degree": 3, "coef0": 1.0}),
    "table kernel-svm linear": lambda: _nasty("kernel-svm", 2, parameters={"kernel": "linear"}),
    "kernel perceptron": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.KernelPerceptron(random_state=0, max_iter=20)), 3
    ),
    "kernel perceptron ties": lambda: of_ties(
        sx.KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, shuffle=False), 2
    ),
    "kernel perceptron, no updates": lambda: of_no_updates("averaged"),
}
TEXTS: dict[str, Callable[[], Case]] = {
    "words 2": lambda: of_texts("tfidf"),
    "words 3": lambda: of_texts("tfidf", 3),
    "hashed words": lambda: of_texts("hashed"),
}
EVERY = {**LINEAR, **NETWORKS, **VOTED, **KERNELLED, **TEXTS}


@functools.cache
def case(name: str) -> Case:
    """Return one of the models; it is fitted when first asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return EVERY[name]()


def check_predictions(expected: Case, labels: list[Any], scores: Any) -> None:
    """Compare answers from elsewhere with the package's own: every label, and scores to a millionth."""
    scores = np.asarray(scores, dtype=float).reshape(expected.scores.shape)
    assert labels == expected.labels
    assert [isinstance(label, bool) for label in labels] == [isinstance(label, bool) for label in expected.labels]
    gone = np.isnan(expected.scores)
    assert np.array_equal(np.isnan(scores), gone)
    largest = np.nanmax(np.abs(expected.scores), initial=0.0)
    np.testing.assert_allclose(scores[~gone], expected.scores[~gone], rtol=1e-6, atol=1e-12 * largest)
