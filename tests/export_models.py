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
    unknown: str = "zero"


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


def of_table(table: pa.Table, rows: pa.Table, target: str, model: str, unknown: str = "zero", **more: Any) -> Case:
    """Return a model as ``separatrix fit`` makes it."""
    parameters, epochs = more.pop("parameters", {}), more.pop("epochs", None)
    settings = Settings(model, test=0.0, epochs=epochs, parameters=parameters, certify=0.0)
    fitted = fit(TableInMemory(table, "the table"), ColumnOptions(target, **more), settings).model
    options = PredictOptions(scores=True, unknown=unknown)
    answers = list(predict(fitted, TableInMemory(rows, "rows"), options, PredictionCounts()))
    answers = pa.concat_tables(answers)
    labels = answers.column(0).to_pylist()
    names = [name for name in answers.column_names if name.startswith("score")]
    scores = np.array([answers.column(name).to_numpy(zero_copy_only=False) for name in names], dtype=float).T
    return Case(fitted, rows, labels, scores, unknown)


def of_matrix(model: Any, X: Any, first: int = 0, fill: float | None = None) -> Case:
    """Return a model of rows without column names, the last of them with a gap in the last column.

    Where the model imputes, ``fill`` is what it should put there.
    """
    X = np.asarray(X, dtype=float)
    gap = np.where(np.arange(X.shape[1]) == X.shape[1] - 1, np.nan, X[-1])
    table = pa.table({f"x{k + first}": np.append(X[:, k], gap[k]) for k in range(X.shape[1])})
    if fill is not None:
        X = np.vstack([X, np.where(np.isnan(gap), fill, gap)])
    scores = np.asarray(model.decision_function(X), dtype=float).reshape(len(X), -1)
    labels = np.asarray(model.predict(X)).tolist()
    if fill is None:
        labels, scores = [*labels, None], np.vstack([scores, np.full(scores.shape[1], np.nan)])
    return Case(model, table, labels, scores)


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


def of_wide_table(model: str = "averaged", unknown: str = "zero", *, gaps: bool = False, **more: Any) -> Case:
    """Return a model whose rows are sparse: most of its numbers stand for one of many texts."""
    rng = np.random.default_rng(3)
    towns = [f"town {k}" for k in range(90)]
    a, town = rng.normal(size=400), rng.integers(0, 90, 400)
    table = pa.table({
        "a": pa.array(a, mask=(town % 7 == 3) & gaps),
        "town": pa.array([towns[k] for k in town], mask=(a > 1.5) & gaps),
        "y": [int(v) for v in (a + town / 45 > 1)],
    })  # fmt: skip
    rows = pa.table({"a": [0.0, 0.5, None, 1.5, -1.0], "town": ["town 3", "town 80", "town 4", "nowhere", None]})
    case = of_table(table, rows, "y", model, unknown, epochs=None if model == "kernel-svm" else 5, **more)
    assert case.model.preparation.sparse
    return case


def of_texts(method: str, classes: int = 2, *, gaps: bool = False) -> Case:
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
    ages = pa.array(rng.normal(size=len(texts)), mask=np.arange(len(texts)) % 9 == 4) if gaps else None
    colours = [None if gaps and k % 11 == 5 else COLOURS[k % 3] for k in range(len(texts))]
    table = pa.table(
        {
            "age": rng.normal(size=len(texts)) if ages is None else ages,
            "colour": colours,
            "words": [None if gaps and k == 7 else text for k, text in enumerate(texts)],
            "y": [LABELS[k % classes] for k in range(len(texts))],
        }
    )
    asked = [None, "never seen", *(COLOURS[k % 4] for k in range(len(more) - 2))]
    ages = pa.array(rng.normal(size=len(more)), mask=np.arange(len(more)) % 4 == 2)
    rows = pa.table({"age": ages, "colour": asked, "words": more})
    return of_table(table, rows, "y", "averaged", text=("words",), text_method=method, epochs=5)


def of_arrays(kind: str, classes: int, **more: Any) -> Case:
    """Return a model of a matrix without column names, as of an .npy or a libsvm file."""
    from scipy import sparse

    rng = np.random.default_rng(9)
    X = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.7)
    y = np.digitize(X.sum(axis=1), np.linspace(-1, 1, classes - 1) if classes > 2 else [0.0])
    source = ArraySource("X.npz", "X.npz", sparse.csr_matrix(X) if kind == "libsvm" else X, y)
    options = ColumnOptions(**more)
    fitted = fit(source, options, Settings("averaged", test=0.0, certify=0.0)).model
    fills = {"impute": float(np.median(X[:, -1])), "mean": float(np.mean(X[:, -1]))}
    first, fill = (1, None) if fitted.preparation.anonymous == "libsvm" else (0, fills.get(options.missing))
    case = of_matrix(fitted, X, first, fill)
    return case._replace(model=fitted)


def _nasty(model: str, classes: int, unknown: str = "zero", **more: Any) -> Case:
    return of_table(nasty_table(150, classes), asked_rows(classes), "label", model, unknown, **more)


P = sx.Perceptron
FEW: dict[str, Any] = {"stop": sx.stops.MaxEpochs(9), "random_state": 0}  # epochs, and no warning that they are few
LINEAR: dict[str, Callable[[], Case]] = {
    "table averaged 2": lambda: _nasty("averaged", 2),
    "table averaged 3": lambda: _nasty("averaged", 3),
    "table averaged 3, null": lambda: _nasty("averaged", 3, "null"),
    "table averaged 2, drop": lambda: _nasty("averaged", 2, missing="drop"),
    "table averaged 3, drop, null": lambda: _nasty("averaged", 3, "null", missing="drop"),
    "table averaged 2, pooled": lambda: _nasty("averaged", 2, max_levels=3),
    "table svm 3, pooled, null": lambda: _nasty("svm", 3, "null", max_levels=4),
    "table svm 2, pooled, drop": lambda: _nasty("svm", 2, max_levels=2, missing="drop"),
    "table svm 3, pooled, mean, null": lambda: _nasty("svm", 3, "null", max_levels=2, missing="mean"),
    "table perceptron 2, minmax": lambda: _nasty("perceptron", 2, scale="minmax", epochs=5),
    "table pocket 3, not scaled": lambda: _nasty("pocket", 3, scale="none", epochs=5),
    "table neuron 2, mean": lambda: _nasty("neuron", 2, missing="mean"),
    "table neuron 3, mean, null": lambda: _nasty("neuron", 3, "null", missing="mean"),
    "table svm 2": lambda: _nasty("svm", 2),
    "table svm 3, fail": lambda: of_table(
        nasty_table(150, 3, gaps=False), asked_rows(5), "label", "svm", "null", missing="fail"
    ),
    "table svm 2, trained without gaps": lambda: of_table(
        nasty_table(150, 2, gaps=False), asked_rows(5), "label", "svm"
    ),
    "table numbers only": lambda: _nasty("averaged", 2, exclude=(COLOUR, FLAG)),
    "table numbers only, minmax": lambda: _nasty("averaged", 3, exclude=(COLOUR, FLAG), scale="minmax"),
    "table numbers only, drop": lambda: _nasty("averaged", 2, exclude=(COLOUR, FLAG), missing="drop"),
    "table categories only": lambda: _nasty("averaged", 2, exclude=(X1, X2)),
    "table wide": of_wide_table,
    "table wide, drop, null": lambda: of_wide_table("averaged", "null", missing="drop"),
    "table wide, gaps": lambda: of_wide_table(gaps=True),
    "table wide, gaps, pooled, null": lambda: of_wide_table("averaged", "null", gaps=True, max_levels=70),
    "table flag as label": lambda: of_table(
        nasty_table(150, 2).drop_columns(["label"]), asked_rows(1).drop_columns([FLAG]), FLAG, "averaged"
    ),
    "npy 3": lambda: of_arrays("npy", 3),
    "npy 2, minmax, mean": lambda: of_arrays("npy", 2, scale="minmax", missing="mean"),
    "npy 2, drop": lambda: of_arrays("npy", 2, missing="drop"),
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
    "joint 3": lambda: of_estimator(P(multi_class="joint", random_state=0), 3, labels=LABELS),
    "joint 3, averaged": lambda: _nasty("averaged", 3, parameters={"multi_class": "joint"}),
    "joint 3, pa": lambda: _nasty("pa", 3, "null", epochs=9, parameters={"multi_class": "joint"}),
    "joint 4, ties": lambda: of_ties(P(multi_class="joint", shuffle=False), 4),
    "pa 2": lambda: of_estimator(sx.PassiveAggressive(max_iter=9, **FEW), 2),
    "online svm 3": lambda: of_estimator(sx.OnlineSVM(max_iter=9, **FEW), 3),
    "arow 3": lambda: of_estimator(sx.AROW(max_iter=9, **FEW), 3, labels=LABELS),
    "arow 2, full": lambda: of_estimator(sx.AROW(covariance="full", max_iter=9, **FEW), 2),
    "scw 3": lambda: of_estimator(sx.SCW(max_iter=9, **FEW), 3),
    "nherd 2, averaged": lambda: of_estimator(sx.NHERD(average=True, max_iter=9, **FEW), 2),
    "romma 3": lambda: of_estimator(sx.ROMMA(max_iter=9, **FEW), 3),
    "alma 2": lambda: of_estimator(sx.ALMA(max_iter=9, **FEW), 2),
    "sop 3": lambda: of_estimator(sx.SecondOrderPerceptron(max_iter=9, **FEW), 3),
}
NETWORKS: dict[str, Callable[[], Case]] = {
    "table network 2": lambda: _nasty("network", 2, epochs=60),
    "table network 3, pooled": lambda: _nasty("network", 3, epochs=60, max_levels=3),
    "table network 2, drop, null": lambda: _nasty("network", 2, "null", epochs=60, missing="drop"),
    "network of two layers": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.Network(hidden=(5, 3), random_state=0, max_iter=60)), 3
    ),
    "network far out": lambda: of_estimator(sx.Network(hidden=(3,), random_state=0, max_iter=5), 2),
}
VOTED: dict[str, Callable[[], Case]] = {
    "table voted 2": lambda: _nasty("voted", 2, epochs=3),
    "table voted 3, pooled, null": lambda: _nasty("voted", 3, "null", epochs=3, max_levels=3),
    "table voted 3, drop": lambda: _nasty("voted", 3, epochs=3, missing="drop"),
    "voted ties": lambda: of_ties(P(shuffle=False, readout="voted"), 2, voted=True),
    "voted ties, negative": lambda: of_ties(P(shuffle=False, readout="voted", boundary="negative"), 2, True),
    "kernel perceptron voted": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.KernelPerceptron(readout="voted", random_state=0, max_iter=4)), 3
    ),
    "kernel perceptron voted, no updates": lambda: of_no_updates("voted"),
}
KERNELLED: dict[str, Callable[[], Case]] = {
    "table kernel-svm 2": lambda: _nasty("kernel-svm", 2),
    "table kernel-svm 3, pooled, null": lambda: _nasty("kernel-svm", 3, "null", max_levels=3),
    "table kernel-svm 3, drop": lambda: _nasty("kernel-svm", 3, missing="drop"),
    "table kernel-svm poly": lambda: _nasty("kernel-svm", 3, parameters={"kernel": "poly", "degree": 3, "coef0": 1.0}),
    "table kernel-svm linear": lambda: _nasty("kernel-svm", 2, parameters={"kernel": "linear"}),
    "kernel perceptron": lambda: of_estimator(
        make_pipeline(StandardScaler(), sx.KernelPerceptron(random_state=0, max_iter=20)), 3
    ),
    "kernel perceptron with a budget": lambda: of_estimator(
        make_pipeline(
            StandardScaler(), sx.KernelPerceptron(budget=6, forget="projected", readout="averaged", random_state=0)
        ),
        3,
    ),
    "kernel perceptron ties": lambda: of_ties(
        sx.KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, shuffle=False), 2
    ),
    "kernel perceptron, no updates": lambda: of_no_updates("averaged"),
}
TEXTS: dict[str, Callable[[], Case]] = {
    "words 2": lambda: of_texts("tfidf"),
    "words 3": lambda: of_texts("tfidf", 3),
    "words 2, gaps": lambda: of_texts("tfidf", gaps=True),
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
