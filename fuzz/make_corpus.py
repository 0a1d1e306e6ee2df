"""Write the seeds of fuzz/corpus/model_file: one small model of each kind."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import separatrix as sx
from separatrix.stops import HeldOutFlat, LossAtMost, MaxEpochs, NoProgress, TimeLimit
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import Settings, fit
from separatrix.tables.sources.in_memory import TableInMemory

FOLDER = Path(__file__).parent / "corpus" / "model_file"
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0], [1.0, 3.0], [0.5, 2.5]])
TWO, THREE, CUT = [0, 0, 1, 1, 1, 0], ["a", "a", "b", "b", "c", "c"], [0, 1, 0, 1, 0, 1]
TEXTS = ["a red dog", "one cat", "dog and cat", "fish", "red fish", "cat fish"]
MIXED = np.array([[1.0, "x"], [2.0, "y"], [3.0, "x"], [4.0, "z"], [5.0, "x"], [6.0, "z"]], dtype=object)


def models() -> dict[str, object]:
    """Return them by name."""
    made: dict[str, object] = {}
    for readout in ("last", "averaged", "voted", "pocket"):
        made[f"perceptron_{readout}"] = sx.Perceptron(readout=readout, max_iter=3, random_state=0).fit(X, TWO)
        made[f"kernel_perceptron_{readout}"] = sx.KernelPerceptron(readout=readout, max_iter=3).fit(X, THREE)
    made["perceptron_three"] = sx.Perceptron(readout="voted", warm_start=True, max_iter=2).fit(X, THREE)
    made["perceptron_sparse"] = sx.Perceptron(readout="voted", max_iter=2).fit(sparse.csr_array(X), TWO)
    short = {"warm_start": True, "stop": TimeLimit(1e-9), "random_state": 1}
    for readout in ("last", "averaged", "voted", "pocket"):
        made[f"perceptron_cut_{readout}"] = sx.Perceptron(readout=readout, **short).fit(X, CUT)
    made["perceptron_weighted"] = sx.Perceptron(
        max_iter=2, stop=LossAtMost(0) | MaxEpochs(2), class_weight={0: 1.0, 1: 2.0}
    ).fit(X, TWO)
    made["neuron_cut"] = sx.Neuron(**short).fit(X, np.resize(["a", "b", "c"], 6))
    made["neuron"] = sx.Neuron(max_iter=3, stop=NoProgress() | HeldOutFlat(0.3)).fit(X, TWO)
    made["neuron_three"] = sx.Neuron(max_iter=2, loss="log", init=(np.ones((3, 2)), np.zeros(3))).fit(X, THREE)
    made["svm"] = sx.LinearSVM().fit(X, THREE)
    made["svm_hard"] = sx.LinearSVM(C=np.inf).fit(X, [0, 0, 1, 1, 1, 0])
    cut = sx.LinearSVM(C=100.0, warm_start=True).fit(X, CUT)
    made["svm_cut"] = cut.set_params(C=1.0, **short).fit(X, CUT)
    made["svm_cut_hard"] = sx.LinearSVM(C=np.inf, **short).fit(X, X[:, 0] > 0.7)
    made["svm_cut_online"] = sx.OnlineSVM(**short).fit(X, CUT)
    made["svm_online"] = sx.OnlineSVM(average=True, max_iter=3).fit(X, TWO)
    made["kernel_svm"] = sx.KernelSVM().fit(X, THREE)
    made["kernel_svm_sparse"] = sx.KernelSVM(kernel="poly").fit(sparse.csr_matrix(X), TWO)
    made["kernel_svm_table"] = sx.KernelSVM(kernel="precomputed").fit(X @ X.T, TWO)
    made["network"] = sx.Network((2,), max_iter=2, random_state=0).fit(X, TWO)
    made["network_cut"] = sx.Network((2, 2), **short).fit(X, CUT)
    last = {"max_iter": 2, "random_state": 0}
    made |= newer()
    scalers = [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), Normalizer(), PolynomialFeatures()]
    made["scalers"] = make_pipeline(*scalers, "passthrough", make_pipeline(sx.Perceptron(**last))).fit(X, TWO)
    encoders = [OneHotEncoder(drop="first", min_frequency=2), OneHotEncoder(sparse_output=False), OrdinalEncoder()]
    columns = [(str(k), encoder, [1]) for k, encoder in enumerate(encoders)]
    columns += [
        ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), [0]),
        ("p", "passthrough", [0]),
    ]
    columns += [("s", SimpleImputer(strategy="most_frequent"), slice(0, 1)), ("d", "drop", [1])]
    made["columns"] = make_pipeline(ColumnTransformer(columns), sx.Perceptron(**last)).fit(MIXED, TWO)
    made["words"] = make_pipeline(CountVectorizer(stop_words="english"), TfidfTransformer(), sx.Perceptron(**last)).fit(
        TEXTS, TWO
    )
    made["tfidf"] = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), sx.LinearSVM()).fit(TEXTS, TWO)
    made["hashed"] = make_pipeline(HashingVectorizer(n_features=16), sx.Perceptron(**last)).fit(TEXTS, TWO)
    online = sx.Perceptron(stop=MaxEpochs(2), random_state=0)
    for begin in range(0, 6, 2):
        online.partial_fit(X[begin : begin + 2], THREE[begin : begin + 2])
    made["online"] = online
    return made | tables()


def newer() -> dict[str, object]:
    """Return models of logistic regression and of the online family by name."""
    few, cut = {"max_iter": 2, "random_state": 0}, {"warm_start": True, "stop": TimeLimit(1e-9)}
    made: dict[str, object] = {
        "logistic": sx.LogisticRegression().fit(X, TWO),
        "logistic_cut": sx.LogisticRegression(**cut).fit(X, CUT),
        "logistic_l1": sx.LogisticRegression(l1_ratio=1.0).fit(X, TWO),
        "logistic_l1_cut": sx.LogisticRegression(C=100.0, l1_ratio=1.0, **cut).fit(X, CUT),
        "svm_l1_cut": sx.LinearSVM(loss="squared_hinge", penalty="l1", **cut).fit(X, CUT),
        "multinomial": sx.LogisticRegression().fit(X, THREE),
        "multinomial_cut": sx.LogisticRegression(**cut).fit(X, THREE),
        "perceptron_joint": sx.Perceptron(multi_class="joint", readout="averaged", **few).fit(X, THREE),
        "pa": sx.PassiveAggressive(**few).fit(X, TWO),
        "pa_joint": sx.PassiveAggressive(multi_class="joint", **few).fit(X, THREE),
        "budget": sx.KernelPerceptron(budget=3, **few).fit(X, THREE),
    }
    for spread in ("diagonal", "full"):
        made[f"arow_{spread}"] = sx.AROW(covariance=spread, **few).fit(X, THREE)
    for kind in (sx.SCW, sx.NHERD, sx.ROMMA, sx.ALMA, sx.SecondOrderPerceptron):
        made[kind.__name__.lower()] = kind(**few).fit(X, TWO)
    return made


def tables() -> dict[str, object]:
    """Return models of tables by name."""
    rows = range(24)
    table = pa.table(
        {
            "a": [k % 5 for k in rows],
            "b": [k * 3 % 7 + 0.5 for k in rows],
            "c": ["rgb"[k % 3] for k in rows],
            "t": [f"w{k % 4} v{k % 3}" for k in rows],
            "d": [f"2024-{k % 12 + 1:02}-{k + 1:02}" for k in rows],
            "g": [None if k % 5 == 0 else float(k * 5 % 9) for k in rows],
            "y": ["xz"[k * 7 // 3 % 2] for k in rows],
        }
    )
    settings = {"test": 0, "certify": 0}

    def fitted(asked: ColumnOptions, **more: object) -> object:
        return fit(TableInMemory(table, "table"), asked, Settings(**settings | more)).model

    return {
        "table": fitted(ColumnOptions("y", exclude=("t", "d", "g"))),
        "table_dates": fitted(ColumnOptions("y", features=("a", "d", "g")), model="averaged"),
        "table_encoded": fitted(ColumnOptions("y", features=("a", "c"), target_encode=("c",)), model="svm"),
        "table_decided": fitted(
            ColumnOptions("y", features=("a", "b", "c"), max_levels=2),
            model="svm",
            calibrate="sigmoid",
            threshold="max-f1",
        ),
        "table_words": fitted(ColumnOptions("y", features=("a", "t"), text=("t",))),
        "table_svm": fitted(ColumnOptions("c", features=("a", "b"), missing="mean", scale="minmax"), model="svm"),
    }


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models().items():
            sx.save(model, FOLDER / f"{name}.sx")


if __name__ == "__main__":
    main()
