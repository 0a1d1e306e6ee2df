"""The first try on real tables: `separatrix fit FILE --target COL` against pandas with scikit-learn, whole processes.

    python benchmarks/real_tables.py churn.csv:churned adult.csv:income [--repeats 3]

Both fit 80% of the rows of each CSV file and predict the others. scikit-learn's side is what a practitioner would write
first: SimpleImputer with the median and an indicator, StandardScaler, OneHotEncoder with at most 100 categories, and
LogisticRegression. Prints balanced accuracy and ROC AUC of both, the best time of the fit of each and of its
processors, and the ratios of both times with their geometric means. Without files: penguins and data sets that come
with scikit-learn. Both sides run from bytecode, as installed packages do, also where Python is told not to write any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

import separatrix as sx

COMMAND = [sys.executable, "-c", "from separatrix.cli import main; main()"]
PEER = """
import sys, pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
train, test, target, out = sys.argv[1:]
rows = pd.read_csv(train)
X, y = rows.drop(columns=target), rows[target]
number = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
category = make_pipeline(
    SimpleImputer(strategy="constant", fill_value="missing"),
    OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=100),
)
model = make_pipeline(
    make_column_transformer((number, make_column_selector(dtype_include="number")),
                            (category, make_column_selector(dtype_exclude="number"))),
    LogisticRegression(max_iter=1000),
).fit(X.astype({name: object for name in X.select_dtypes("bool")}), y)
if out:
    new = pd.read_csv(test)
    new = new.astype({name: object for name in new.select_dtypes("bool")})
    made = pd.DataFrame(model.predict_proba(new), columns=[f"proba_{label}" for label in model.classes_])
    made.insert(0, "prediction", model.predict(new))
    made.to_csv(out, index=False)
"""


def built_in(folder: Path) -> list[str]:
    """Write tables that need no download; return them as FILE:TARGET."""
    sets = {"breast_cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris, "digits": load_digits}
    given = []
    for name, load in sets.items():
        frame = load(as_frame=True).frame
        frame.to_csv(folder / f"{name}.csv", index=False)
        given.append(f"{folder / name}.csv:target")
    pd.read_csv(sx.datasets.path("penguins")).to_csv(folder / "penguins.csv", index=False)
    return [*given, f"{folder / 'penguins.csv'}:species"]


def quality(truth: pd.Series, made: pd.DataFrame) -> tuple[float, float]:
    """Return balanced accuracy and ROC AUC (of the probabilities, one-vs-rest for several classes) of predictions."""
    actual, classes = truth.astype(str).to_numpy(), np.unique(truth.astype(str))
    right = balanced_accuracy_score(actual, made["prediction"].astype(str))
    chosen = classes[1:] if len(classes) == 2 else classes
    return right, float(np.mean([roc_auc_score(actual == each, made[f"proba_{each}"]) for each in chosen]))


def timed(command: list[str]) -> tuple[float, float]:
    """Return the seconds that a command takes, and those of its processors, which other processes change less."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    if done.returncode:
        raise SystemExit(done.stderr)
    ended, after = time.perf_counter(), os.times()
    computed = after.children_user + after.children_system - before.children_user - before.children_system
    return ended - began, computed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    head = "separatrix      scikit-learn    seconds        ratio   processor seconds"
    print(f"{'table':20} {'rows x columns':>16}   {head}")
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for given in asked.tables or built_in(folder):
            path, _, target = given.rpartition(":")
            rows = pd.read_csv(path).dropna(subset=[target])
            rows = rows[rows.groupby(target)[target].transform("size") >= 3]
            train, test = train_test_split(rows, test_size=0.2, stratify=rows[target], random_state=0)
            files = [str(folder / each) for each in ("train.csv", "test.csv", "model.sx", "ours.csv", "theirs.csv")]
            train.to_csv(files[0], index=False)
            test.to_csv(files[1], index=False)
            fit = [*COMMAND, "fit", files[0], "--target", target, "--test", "0", "-o", files[2]]
            peer = [sys.executable, "-W", "ignore", "-c", PEER, files[0], files[1], target]
            times = [(timed(fit), timed([*peer, ""])) for _ in range(asked.repeats)]
            timed([*COMMAND, "predict", files[2], files[1], "--proba", "-o", files[3]])
            timed([*peer, files[4]])
            ours, theirs = (quality(test[target], pd.read_csv(each, keep_default_na=False)) for each in files[3:])
            best = [[min(time[k] for time in each) for each in zip(*times, strict=True)] for k in range(2)]
            ratios.append([other / own for own, other in best])
            shape = f"{len(train):,} x {train.shape[1] - 1}"
            print(
                f"{Path(path).stem:20} {shape:>16}   {ours[0]:.3f} {ours[1]:.3f}     "
                f"{theirs[0]:.3f} {theirs[1]:.3f}     {best[0][0]:5.2f} {best[0][1]:5.2f}   {ratios[-1][0]:5.2f}x   "
                f"{best[1][0]:5.2f} {best[1][1]:5.2f}   {ratios[-1][1]:5.2f}x",
                flush=True,
            )
    wall, processor = np.exp(np.mean(np.log(ratios), axis=0))
    print(f"geometric mean of the ratios: {wall:.2f}x, of processor seconds {processor:.2f}x")


if __name__ == "__main__":
    main()
