"""From a table to a model and back, against pandas with scikit-learn and Vowpal Wabbit: ratios of times in one run.

    python benchmarks/tables.py [--rows 1000000] [--repeats 4] [--large]

Vowpal Wabbit takes part where it is installed; --large also fits a file of 2 GB in a process whose memory is limited to
a quarter of that (Linux).
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import csv
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix.cli.prediction_files import write_predictions
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.predict import PredictionCounts, PredictOptions, predict
from separatrix.tables.settings import Settings
from separatrix.tables.sources.opening import open_source

COMMAND = [sys.executable, "-c", "from separatrix.cli import main; main()"]
COLUMNS = 30
LIMIT = 480 << 20


def write_table(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS)).round(6)
    score = X @ rng.standard_normal(COLUMNS) + rng.standard_normal(rows)
    data = pd.DataFrame(X, columns=[f"f{k}" for k in range(COLUMNS)])
    data["label"] = np.where(score > 0, "yes", "no")
    import pyarrow as pa

    csv.write_csv(pa.Table.from_pandas(data, preserve_index=False), path)


def best_of(repeats: int, **works: Callable[[], object]) -> dict[str, float]:
    """Return the best time of each work, all of them in turn each time."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            gc.collect()
            began = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


def show(title: str, times: dict[str, float], ours: str) -> None:
    others = "; ".join(
        f"{name} {value:.3f} s ({value / times[ours]:.2f}x)" for name, value in times.items() if name != ours
    )
    print(f"{title}: {times[ours]:.3f} s; {others}", flush=True)


def starting(repeats: int) -> None:
    def run(*command: str) -> None:
        subprocess.run([*command], check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/m.sx"
        found = best_of(
            max(repeats, 5),
            version=lambda: run(*COMMAND, "--version"),
            numpy=lambda: run(sys.executable, "-c", "import numpy"),
            penguins=lambda: run(*COMMAND, "fit", "penguins", "--target", "species", "-o", model),
        )
    part = found["version"] / found["numpy"]
    print(f"--version {found['version']:.3f} s, {part:.2f} of the {found['numpy']:.3f} s of importing numpy")
    print(f"fit penguins, the whole process: {found['penguins']:.2f} s", flush=True)


def learning(path: Path, repeats: int) -> None:
    for scale in ("none", "standard"):

        def ours(scale: str = scale) -> None:
            with open_source(str(path)) as source:
                fit(source, ColumnOptions("label", scale=scale), Settings(epochs=5, test=0, certify=0))

        def sklearn(scale: str = scale) -> None:
            data = pd.read_csv(path)
            X = data.drop(columns="label").to_numpy()
            X = StandardScaler().fit_transform(X) if scale == "standard" else X
            Perceptron(max_iter=5, tol=None).fit(X, data["label"])

        show(f"CSV to an averaged perceptron, 5 epochs, scale {scale}",
             best_of(repeats, ours=ours, **{"pandas + scikit-learn": sklearn}), "ours")  # fmt: skip


def answering(path: Path, repeats: int) -> None:
    with open_source(str(path)) as source:
        model = fit(source, ColumnOptions("label"), Settings(epochs=2, test=0, certify=0)).model
    some = pd.read_csv(path, nrows=20_000)
    names = [name for name in some if name != "label"]
    other = make_pipeline(StandardScaler(), Perceptron()).fit(some[names], some["label"])
    for scores in (False, True):

        def ours(scores: bool = scores) -> None:
            with open_source(str(path)) as source:
                tables = predict(model, source, PredictOptions(scores=scores), PredictionCounts())
                write_predictions(path.with_name("ours.csv"), tables, as_json=False)

        def sklearn(scores: bool = scores) -> None:
            X = pd.read_csv(path)[names]
            out = pd.DataFrame({"prediction": other.predict(X)})
            if scores:
                out["score"] = other.decision_function(X)
            out.to_csv(path.with_name("theirs.csv"), index=False)

        title = "predict, CSV to CSV" + (" with scores" if scores else "")
        show(title, best_of(repeats, ours=ours, **{"pandas + scikit-learn": sklearn}), "ours")


def against_vw(path: Path, repeats: int) -> None:
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        print("Vowpal Wabbit is not installed")
        return
    data = pd.read_csv(path)
    X, y = data.drop(columns="label").to_numpy(), np.where(data["label"] == "yes", 1, -1)
    text = path.with_suffix(".vw")
    with text.open("w") as file:
        for label, row in zip(y.tolist(), X.tolist(), strict=True):
            file.write(f"{label} | " + " ".join(f"f{k}:{value:.6g}" for k, value in enumerate(row)) + "\n")

    def theirs() -> None:
        Workspace(f"-d {text} -c -k --passes 5 --holdout_off --quiet --loss_function hinge").finish()

    def ours() -> None:
        with open_source(str(path)) as source:
            fit(source, ColumnOptions("label", scale="none"), Settings(epochs=5, test=0, certify=0))

    show("the same against vw, its own format, cache, 5 passes", best_of(repeats, ours=ours, vw=theirs), "ours")


def limited(path: Path) -> None:
    large = path.with_name("large.csv")
    head, _, rows = path.read_bytes().partition(b"\n")
    with large.open("wb") as file:
        file.write(head + b"\n")
        while file.tell() < 4.1 * LIMIT:
            file.write(rows)
    command = [*COMMAND, "fit", str(large), "--target", "label", "--epochs", "2", "-o", str(path.with_name("l.sx"))]
    began = time.perf_counter()
    done = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    )
    peak = 0
    while done.poll() is None:
        try:
            status = Path(f"/proc/{done.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
        except OSError:
            break
        time.sleep(0.05)
    done.wait()
    print(f"a file of {large.stat().st_size / 2**20:,.0f} MB, memory limited to {LIMIT >> 20} MB: exit status "
          f"{done.returncode}, peak {peak / 1024:.0f} MB, {time.perf_counter() - began:.1f} s")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--large", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, asked.rows)
        starting(asked.repeats)
        learning(path, asked.repeats)
        answering(path, asked.repeats)
        against_vw(path, min(asked.repeats, 2))
        if asked.large:
            limited(path)


if __name__ == "__main__":
    main()
