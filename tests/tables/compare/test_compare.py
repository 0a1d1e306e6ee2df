"""Comparisons: the same answers as scikit-learn's own steps and as ``fit``, honest measures, reasons, pictures."""

from __future__ import annotations

import _thread
import ctypes
import json
import math
import os
import pickle
import signal
import threading
from dataclasses import replace
from io import StringIO
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from runner_tasks import Hungry, half, hungry, killed, measured_elsewhere, quick, slow, wrong
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx
from separatrix import datasets, plots
from separatrix.cli import comparison as comparison_words
from separatrix.cli.options import open_named
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.compare import measure as measure_module
from separatrix.tables.compare import subprocess_runner as runner_module
from separatrix.tables.compare.comparison import compare
from separatrix.tables.compare.contenders import CONTENDERS, Contender, Recipe
from separatrix.tables.compare.kernel_gap import relative_gap
from separatrix.tables.compare.mcnemar import mcnemar_holm
from separatrix.tables.compare.measure import measure_contender
from separatrix.tables.compare.plan import ComparisonPlan
from separatrix.tables.compare.subprocess_runner import SubprocessRunner, UnfinishedError
from separatrix.tables.compare.trial import Trial
from separatrix.tables.fit import fit
from separatrix.tables.kinds import MODELS, make
from separatrix.tables.settings import Settings
from separatrix.tables.split import TestSplit
from table_files import table, write_matrices

mpl.use("agg")
EPOCHS = 30
THEIRS = {
    "k-nn": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
    "sk-perceptron": Perceptron(max_iter=EPOCHS, random_state=0),
    "sk-linear-svc": LinearSVC(max_iter=EPOCHS, random_state=0),
    "sk-logistic": LogisticRegression(max_iter=EPOCHS),
    "sk-boosting": HistGradientBoostingClassifier(random_state=0),
}
OURS = {"averaged": sx.Perceptron(readout="averaged", max_iter=EPOCHS, random_state=0), "kernel-svm": sx.KernelSVM()}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", autouse=True)
def shared_runner():
    """Let all comparisons share one runner: scikit-learn takes seconds to load."""
    from separatrix.tables.compare import comparison

    class Shared(SubprocessRunner):
        def __exit__(self, *problem: object) -> None:
            pass

        def __enter__(self) -> SubprocessRunner:
            return self

    with pytest.MonkeyPatch.context() as patch, SubprocessRunner() as runner:
        shared = Shared()
        shared._process, shared._messages = runner._process, runner._messages
        runner._process = None
        patch.setattr(comparison, "SubprocessRunner", lambda: shared)
        yield shared
        runner._process = shared._process


def compared(source: str, target: str | None, watch=lambda stage, **numbers: None, **plan):
    with open_named(source) as opened:
        return compare(opened, ColumnOptions(target), ComparisonPlan(**{"epochs": EPOCHS, "certify": 0, **plan}), watch)


@pytest.fixture(scope="module")
def islands():
    """All contenders on a question that is hard: which island a penguin lives on."""
    return compared("penguins", "island")


def penguins() -> tuple[pd.DataFrame, np.ndarray]:
    data = pd.read_csv(datasets.path("penguins"))
    return data.drop(columns="island"), data.island.to_numpy().astype(str)


def steps(estimator):
    """The same preparation in scikit-learn."""
    numbers, categories = penguins()[0].select_dtypes("number").columns, ["species", "sex"]
    first = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), list(numbers)),
        (MissingIndicator(error_on_new=False), list(numbers)),
        (OneHotEncoder(sparse_output=False), categories),
        sparse_threshold=0,
    )
    return make_pipeline(first, estimator)


def parted():
    """Return training and test rows and labels, the rows in the order of the table."""
    X, y = penguins()
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    train, test = np.sort(train), np.sort(test)
    return X.iloc[train], X.iloc[test], y[train], y[test]


def by_name(comparison):
    return {each.name: each for each in comparison.standings}


def test_every_contender_takes_part_in_the_order_of_accuracy_whatever_the_clock_says(islands):
    assert set(by_name(islands)) == set(CONTENDERS)
    assert not islands.left_out
    keys = [(-each.scores.accuracy, list(CONTENDERS).index(each.name)) for each in islands.standings]
    assert keys == sorted(keys)
    assert len({accuracy for accuracy, _ in keys}) < len(keys)  # some are equally good
    assert len({each.scores.correct for each in islands.standings}) > 3  # the question tells them apart


@pytest.mark.parametrize("name", THEIRS)
def test_scikit_learns_models_answer_as_in_a_pipeline_of_its_own(name, islands):
    X, held, y, truth = parted()
    answers = steps(THEIRS[name]).fit(X, y).predict(held)
    standing = by_name(islands)[name]
    assert standing.scores.correct == int((answers == truth).sum())
    assert standing.scores.n == len(truth)


@pytest.mark.parametrize("model", MODELS)
def test_our_models_score_as_fit_does(model, islands):
    with open_named("penguins") as source:
        alone = fit(source, ColumnOptions("island"), Settings(model, epochs=EPOCHS, certify=0)).model.facts
    standing = by_name(islands)[model]
    assert standing.scores.confusion.tolist() == alone.test.confusion.tolist()
    assert (standing.status, standing.converged) == (alone.status, alone.converged)
    assert alone.rows.train == islands.data["rows"]["train"]
    assert alone.to_dict()["classes"] == islands.data["classes"]


def test_folds_are_those_of_scikit_learn_each_scaled_by_its_own_rows():
    X, y = penguins()
    folds = StratifiedKFold(3, shuffle=True, random_state=3)
    models = {**THEIRS, **OURS}
    comparison = compared("penguins", "island", folds=3, seed=3, models=tuple(models))
    for name, estimator in models.items():
        seeded = {"random_state": 3} if "random_state" in estimator.get_params() else {}
        own = steps(estimator.__class__(**{**estimator.get_params(), **seeded}))
        answers = cross_val_predict(own, X, y, cv=folds)
        assert by_name(comparison)[name].scores.correct == int((answers == y).sum()), name
        assert by_name(comparison)[name].scores.n == len(y)
    gap = by_name(comparison)["kernel-svm"].proof
    assert gap.kind == "gap"
    assert 0 <= gap.value <= 1e-3


def test_sizes_are_those_of_saved_models(islands, tmp_path):
    X, _, y, _ = parted()
    numbers = steps("passthrough")[:1].fit_transform(X)
    for name in ("averaged", "voted", "svm", "kernel-svm"):
        model = make(name, epochs=EPOCHS, time_limit=None, seed=0, parameters={}).fit(numbers, y)
        sx.save(model, tmp_path / "m.sx")
        size = os.path.getsize(tmp_path / "m.sx")  # in which the seconds of each epoch are written as text
        assert by_name(islands)[name].size == pytest.approx(size, rel=0.02)
    for name, model in THEIRS.items():
        model.fit(numbers, y)
        assert by_name(islands)[name].size == pytest.approx(len(pickle.dumps(model)), abs=8)  # names kept once or twice


def test_only_what_is_proved_is_called_certified(islands):
    proofs = {each.name: each.proof for each in islands.standings}
    assert proofs["svm"].kind == proofs["kernel-svm"].kind == "gap"
    assert 0 <= proofs["svm"].value <= 1e-4
    assert proofs["logistic"].kind == "gap"
    assert 0 <= proofs["logistic"].value <= 1.001e-4  # rounding included
    assert all(proof is None for name, proof in proofs.items() if name not in ("svm", "kernel-svm", "logistic"))
    species = by_name(compared("penguins", "species", models=("perceptron", "tree", "voted")))
    assert species["tree"].proof is species["voted"].proof is None
    assert species["perceptron"].proof.kind == "margin"
    assert 0 < species["perceptron"].proof.value < 0.0830468  # the largest margin that certify proves for a class


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gap_of_a_kernel_svm_is_found_anew(classes, sparse):
    X, codes = _clouds(classes)
    given = csr_matrix(X) if sparse else X
    model = sx.KernelSVM(C=2.0).fit(given, codes)
    gap = relative_gap(model, given, codes)
    assert 0 < gap <= 1e-3
    solver = SVC(C=2.0, gamma=float(model._kernel.gamma), tol=1e-10)
    excess = 0.0
    for one, other in combinations(range(classes), 2):
        some = np.isin(codes, (one, other))
        best = solver.fit(X[some], codes[some])
        K = rbf_kernel(X[some], X[some], gamma=solver.gamma)
        signs = np.where(codes[some] == (other if classes == 2 else one), 1.0, -1.0)

        def primal(v, b, K=K, signs=signs):
            return 0.5 * v @ K @ v + 2.0 * np.maximum(0, 1 - signs * (K @ v + b)).sum()

        v = np.zeros(some.sum())
        v[best.support_] = best.dual_coef_[0]
        flip = 1.0 if classes == 2 else -1.0  # scikit-learn's positive class is the second of two
        least = primal(flip * v, flip * best.intercept_[0])
        which = list(combinations(range(classes), 2)).index((one, other))
        coef, bias = model.pair_coefficients()
        whole = np.zeros(len(codes))
        whole[model.support_] = coef[:, which]
        own = primal(whole[some], bias[which])
        excess = max(excess, (own - least) / own)
    assert excess <= gap + 1e-9
    model.duality_gap_ = model.objective_ = 0.0  # what the solver says of itself counts for nothing
    assert relative_gap(model, given, codes) == gap
    model.dual_coef_ *= 0.9
    assert relative_gap(model, given, codes) > 5 * gap


def test_too_slow_a_proof_is_left_out(monkeypatch):
    X, y = _clouds(2)
    kernel = Contender("kernel-svm", True, lambda recipe: sx.KernelSVM())
    assert measure_contender(kernel, Recipe(), Trial(X, y, X[:5])).proof.kind == "gap"
    monkeypatch.setattr(measure_module, "PROVED", 0.0)
    assert measure_contender(kernel, Recipe(), Trial(X, y, X[:5])).proof is None


def _clouds(classes):
    rng = np.random.default_rng(0)
    codes = np.arange(120) % classes
    return rng.normal(size=(120, 3)) + codes[:, None], codes


def test_p_is_mcnemars_with_holms_correction(islands):
    rights = [each.correct for each in islands.standings]

    def exact(a, b):
        lost, won = int((a & ~b).sum()), int((b & ~a).sum())
        n, k = lost + won, min(lost, won)
        return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)

    raw = sorted((exact(rights[0], right), place) for place, right in enumerate(rights) if place)
    expected, highest = {0: 1.0}, 0.0
    for rank, (p, place) in enumerate(raw):
        highest = max(highest, min(1.0, p * (len(raw) - rank)))
        expected[place] = highest
    np.testing.assert_allclose([each.p for each in islands.standings], [expected[k] for k in range(len(rights))])
    assert mcnemar_holm([np.array([True, False])]) == [1.0]


class Clock:
    """Stands still but for what models say they take."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Return the clock by which models are measured."""
    clock = Clock()
    monkeypatch.setattr(measure_module, "time", clock)
    return clock


class Slow:
    """Knows the parity of the first number, after a millisecond a row."""

    classes_ = np.array([0, 1])

    def __init__(self, clock):
        self.clock = clock

    def fit(self, X, y):
        return self

    def predict(self, X):
        self.clock.now += 1e-3 * len(X)
        return (X[:, 0] % 2).astype(int)


def test_rows_that_take_too_long_are_predicted_at_random(clock):
    held = np.arange(5000.0)[:, None]
    trial, slow = Trial(held[:10], np.arange(10) % 2, held), Contender("slow", False, lambda recipe: Slow(clock))
    measurement = measure_contender(slow, Recipe(), trial, seconds=3.0)
    assert len(measurement.rows) == 500
    assert len(set(measurement.rows.tolist())) == 500
    assert abs(measurement.rows.mean() - 2500) < 300  # from all parts
    np.testing.assert_array_equal(measurement.predictions, held[measurement.rows, 0] % 2)
    assert measurement.predict == pytest.approx(0.5)
    fewer = measure_contender(slow, Recipe(), trial, seconds=0.6).rows
    assert len(fewer) == 100
    assert set(fewer) < set(measurement.rows)
    assert measure_contender(slow, Recipe(), trial, seconds=30.0).rows is None


def test_a_sample_is_scored_and_told_apart_on_its_own_rows(monkeypatch, islands):
    """A model that was asked every third row, as if it were slow."""
    own = SubprocessRunner.results_of

    def results_of(self, work, name, *more, seconds):
        for part in own(self, work, name, *more, seconds=seconds):
            rows = np.arange(0, len(part.predictions), 3)
            if name == "k-nn":
                part = replace(part, predictions=part.predictions[rows], proba=part.proba[rows], rows=rows)
            yield part

    monkeypatch.setattr(SubprocessRunner, "results_of", results_of)
    comparison = compared("penguins", "island", models=("k-nn", "tree", "svm"))
    whole, part = by_name(islands), by_name(comparison)["k-nn"]
    assert comparison.standings[-1] is part
    assert part.scores.n == 23
    assert part.scores.correct == int(whole["k-nn"].correct[::3].sum())
    assert part.to_dict()["sampled"]
    assert not by_name(comparison)["svm"].sampled
    best = whole[comparison.standings[0].name].correct[::3]
    raw = mcnemar_holm([best, whole["k-nn"].correct[::3]])[1]
    assert raw <= part.p <= 2 * raw  # raised for two
    screen = Console(width=100, file=StringIO())
    monkeypatch.setattr(comparison_words, "new_console", lambda: screen)
    comparison_words.show_comparison(comparison, [])
    text = screen.file.getvalue()
    assert "k-nn * " in text
    assert "* k-nn: random sample of 23 of the 69 test rows" in text
    both = np.array([True, True, True, True]), np.array([True, True, False, False])
    assert mcnemar_holm([both[0], ~both[0]], both)[1] == 0.5


def test_the_baseline_is_the_majority_class(islands):
    _, _, y, truth = parted()
    majority = pd.Series(y).mode()[0]
    assert islands.baseline.accuracy == np.mean(truth == majority)
    assert islands.as_dict()["baseline"]["label"] == majority


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak of memory cannot be told here")
def test_memory_is_what_fitting_takes():
    trial = Trial(np.zeros((10, 2)), np.arange(10) % 2, np.zeros((5, 2)))
    measurement = measure_contender(Contender("hungry", False, lambda recipe: Hungry()), Recipe(), trial)
    assert 60e6 < measurement.memory < 75e6
    assert measurement.predictions.tolist() == [0] * 5


class Uneven:
    """Takes another time for each call."""

    classes_ = np.array([0, 1])

    def __init__(self, clock, fits, predictions):
        self.clock, self.fits, self.predictions = clock, fits, predictions

    def fit(self, X, y):
        self.clock.now += self.fits.pop(0)
        return self

    def predict(self, X):
        self.clock.now += self.predictions.pop(0)
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("fits", "train", "predictions", "predict"),
    [
        ([9.0, 2.0], 2.0, [9.0, 3.0], 3.0),  # long calls are made once, after a warm-up that does not count
        ([9.0, 0.07, 0.04, 0.05], 0.04, [9.0, 0.09, 0.05, 0.07], 0.05),  # until 0.15 s have passed; the shortest counts
        ([9.0, *[0.002] * 7, 0.001], 0.001, [9.0, *[0.002] * 6, 0.001], 0.001),  # or seven calls more
    ],
)
def test_seconds_are_those_of_the_shortest_call(fits, train, predictions, predict, clock):
    trial = Trial(np.zeros((10, 2)), np.arange(10) % 2, np.zeros((5, 2)))
    measurement = measure_contender(
        Contender("uneven", False, lambda recipe: Uneven(clock, fits, predictions)), Recipe(), trial
    )
    assert (measurement.train, measurement.predict) == (pytest.approx(train), pytest.approx(predict))
    assert (fits, predictions) == ([], [])


def test_a_system_without_libraries_that_have_no_name_measures_all_the_same(monkeypatch):
    def refuse(name):
        raise TypeError("bad argument type for built-in operation")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    trial = Trial(np.zeros((10, 2)), np.arange(10) % 2, np.zeros((5, 2)))
    measurement = measure_contender(Contender("hungry", False, lambda recipe: Hungry()), Recipe(), trial)
    assert measurement.predictions.tolist() == [0] * 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the peak is that of the whole process here")
def test_memory_is_told_without_the_files_of_linux(shared_runner):
    (memory,) = shared_runner.results_of(measured_elsewhere, seconds=60)
    assert 60e6 < memory < 80e6


# ------------------------------------------------------------------------------------- processes


@pytest.fixture
def light(monkeypatch):
    """Let workers import no estimators, which these tasks do not need."""
    code = "import sys; sys.path[:] = sys.argv[1:]; from separatrix.tables.compare import worker"
    monkeypatch.setattr(runner_module, "_CODE", f"{code}; worker.load = lambda: None; worker.serve()")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the stream cannot be found here")
def test_work_that_dies_in_the_middle_of_a_message_says_so_at_once(light):
    with SubprocessRunner() as runner:
        with pytest.raises(UnfinishedError, match=r"^its process was killed by signal 9$"):
            list(runner.results_of(half, seconds=20))
        assert list(runner.results_of(quick, 1, seconds=20))[1] == 1


def test_a_worker_that_sends_what_cannot_be_read_is_ended(monkeypatch):
    monkeypatch.setattr(runner_module, "_END", 0.2)
    monkeypatch.setattr(runner_module, "_CODE", "import time; print('garbage', flush=True); time.sleep(60)")
    with SubprocessRunner() as runner:
        worker = runner._process
        with pytest.raises(UnfinishedError, match=r"^its process sent an unreadable message$"):
            list(runner.results_of(quick, 1, seconds=20))
        assert worker.wait(5) == -signal.SIGKILL


def test_work_that_is_slow_fails_or_dies_says_so_and_the_next_goes_on(light):
    with SubprocessRunner() as runner:
        first, value = runner.results_of(quick, [1, 2], seconds=20)
        assert value == [1, 2]
        with pytest.raises(UnfinishedError, match=r"^took longer than 0\.3 s$"):
            list(runner.results_of(slow, seconds=0.3))
        with pytest.raises(UnfinishedError, match=r"^two lines$"):
            list(runner.results_of(wrong, seconds=20))
        with pytest.raises(UnfinishedError, match=r"^not enough memory$"):
            list(runner.results_of(hungry, seconds=20))
        with pytest.raises(UnfinishedError, match=r"^its process was killed by signal 9$"):
            list(runner.results_of(killed, seconds=20))
        second, _ = runner.results_of(quick, None, seconds=float("inf"))
        assert len({first, second, os.getpid()}) == 3
        server = runner._process
    assert server.poll() is not None


def test_too_slow_a_contender_is_left_out_and_ctrl_c_keeps_those_that_are_done():
    def press(stage, **numbers):
        if stage == "contender" and numbers["name"] == "pocket":
            threading.Timer(0.3, _thread.interrupt_main).start()

    plan = {"models": ("tree", "perceptron", "pocket", "k-nn"), "epochs": 10**9, "time_limit": 2.0}
    comparison = compared("penguins", "island", watch=press, **plan)
    assert comparison.left_out == {"perceptron": "took longer than 2 s"}
    assert comparison.interrupted
    assert [each.name for each in comparison.standings] == ["tree"]
    assert comparison.as_dict()["interrupted"]


# ------------------------------------------------------------------------------------- the command


def done(result: tuple[int, str, str]) -> str:
    status, out, err = result
    assert status == 0, err
    return out


def test_the_command_prints_one_object_and_draws(run, tmp_path):
    out = done(run("compare", "penguins", "--target", "island", "--models", "svm,k-nn", "--models", "averaged",
                   "--plot", "c.svg", "--json"))  # fmt: skip
    result = json.loads(out)
    assert set(result) == {
        "separatrix", "source", "rows", "numbers", "sparse", "scale", "classes", "plan", "threads", "contenders",
        "left_out", "baseline", "certificate", "scaling", "interrupted", "pictures", "metric", "imputed",
        "split",
    }  # fmt: skip
    assert result["rows"] == {"read": 344, "dropped": 0, "train": 275, "held_out": 69}
    assert {each["name"] for each in result["contenders"]} == {"svm", "k-nn", "averaged"}
    for each in result["contenders"]:
        assert set(each) == {
            "name", "family", "rows", "correct", "accuracy", "interval", "baseline", "confusion", "sampled",
            "p_value", "train_seconds", "predict_seconds", "memory_bytes", "model_bytes", "status", "converged",
            "certified", "proof", "balanced_accuracy", "f1_macro", "roc_auc", "average_precision", "log_loss", "brier",
            "by_class", "remark", "curves", "operating_points",
        }  # fmt: skip
        assert each["interval"][0] < each["accuracy"] < each["interval"][1]
        assert min(each["train_seconds"], each["predict_seconds"], each["model_bytes"]) > 0
    assert result["certificate"]["rest"]
    assert result["pictures"] == ["c.svg"]
    assert "<svg" in Path("c.svg").read_text()


def test_k_nn_slows_down_with_the_rows_and_a_plane_does_not(run):
    result = json.loads(
        done(
            run(
                "compare",
                "penguins",
                "--target",
                "island",
                "--models",
                "tree",
                "--scaling",
                "s.png",
                "--time-limit",
                1.5,
                "--certify",
                0,
                "--json",
            )
        )
    )
    assert result["pictures"] == ["s.png"]
    assert Path("s.png").read_bytes().startswith(b"\x89PNG")
    curves = {each["name"]: each for each in result["scaling"]}
    assert {"k-nn", "averaged"} <= set(curves)
    for each in curves.values():
        assert len(each["rows"]) == len(each["predict"]) == len(each["train"]) > 1
    neighbours, plane = curves["k-nn"], curves["averaged"]
    assert neighbours["predict"][-1] > 5 * neighbours["predict"][0]  # O(N d)
    assert plane["predict"][-1] < 5 * plane["predict"][0]  # O(d)


def test_the_table_for_people(run):
    out = done(run("compare", "penguins", "--target", "island", "--models", "svm,k-nn,tree", "--certify", 0.5))
    for words in ("275 training rows, 69 test rows", "predict/row", "memory", "gap ", "majority class", "best",
                  "The 275 training rows:", "accuracy", "95% CI"):  # fmt: skip
        assert words in out, words
    assert max(len(line) for line in out.split("The 275")[0].splitlines()[2:8]) <= 110


@pytest.mark.parametrize(
    ("width", "hidden"),
    [(100, "memory"), (90, "memory and size"), (74, "memory, size, p and 95% CI"), (30, "certified")],
)
def test_a_narrow_screen_shows_fewer_columns_and_no_word_in_parts(width, hidden, run, monkeypatch, islands):
    screen = Console(width=width, highlight=False, file=StringIO())
    monkeypatch.setattr(comparison_words, "new_console", lambda: screen)
    comparison_words.show_comparison(islands, [])
    out = screen.file.getvalue()
    assert max(map(len, out.splitlines())) <= width
    text = " ".join(out.split())
    assert "Hidden on this narrow screen: memory" in text
    assert f"{hidden}. predict is the time per row." in text
    table = out.split("\n\n")[1].splitlines()
    assert len(table) == 2 + len(CONTENDERS) + 1  # one line for each
    if width >= 72:
        assert {line.split()[0] for line in table[2:-1]} == set(CONTENDERS)
        assert "…" not in out
        for line, each in zip(table[2:], islands.standings, strict=False):
            assert f"{each.scores.accuracy:.1%}" in line.split()


def test_folds_are_told_to_people(run):
    out = done(run("compare", "penguins", "--target", "island", "--models", "svm", "--folds", 2, "--certify", 0))
    assert "2-fold cross-validation, 172 training rows per fold" in out


def test_too_many_classes_for_a_certificate_are_told(run):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=130), "y": [f"c{k % 13}" for k in range(130)]}).to_csv("many.csv", index=False)
    arguments = ("compare", "many.csv", "--target", "y", "--models", "tree")
    why = "No certificate of linear separability: 13 classes; at most 12 are certified."
    assert why in done(run(*arguments))
    assert why not in done(run(*arguments, "--certify", 0))


def test_help_names_every_contender_and_says_how_they_are_measure_contender(run):
    shown = " ".join(done(run("compare", "--help")).split()).replace("- ", "-")
    for words in (
        *CONTENDERS,
        "separate process with one thread",
        "or of a pickle",
        "Wilson",
        "McNemar",
        "order of --models",
        "no model of its kind",
    ):
        assert words in shown, words


def test_ctrl_c_prints_what_is_done(run, monkeypatch):
    own = SubprocessRunner.results_of

    def interrupted(self, work, name, *more, seconds):
        if name == "tree":
            raise KeyboardInterrupt
        return own(self, work, name, *more, seconds=seconds)

    monkeypatch.setattr(SubprocessRunner, "results_of", interrupted)
    status, out, err = run("compare", "penguins", "--target", "species", "--models", "averaged,tree,k-nn")
    assert status == 130
    assert "averaged" in out
    assert "Interrupted before tree, k-nn finished." in out
    assert err == "separatrix: interrupted\n"


@pytest.mark.parametrize("kind", ["libsvm", "npy", "npz"])
def test_numbers_without_names_are_compared(kind, run, tmp_path):
    source = write_matrices(tmp_path, table())[kind]
    result = json.loads(done(run("compare", *source, "--models", "averaged,k-nn", "--json", "--certify", 0)))
    alone = json.loads(done(run("fit", *source, "--model", "averaged", "--json", "--certify", 0, "-o", "m.sx")))
    right = {each["name"]: each["correct"] for each in result["contenders"]}
    assert right["averaged"] == alone["test"]["correct"]
    assert right["k-nn"] > 0


def test_words_are_compared(run):
    rng = np.random.default_rng(0)
    words = np.array(["cheap", "offer", "now", "meeting", "agenda", "tomorrow"])
    kind = rng.choice(["spam", "ham"], 90)
    body = [" ".join(rng.choice(words[:4] if each == "spam" else words[2:], 3)) for each in kind]
    pd.DataFrame({"body": body, "kind": kind}).to_csv("mail.csv", index=False)
    result = json.loads(
        done(run("compare", "mail.csv", "--target", "kind", "--text", "body", "--models", "svm,network,tree", "--json",
                 "--epochs", 20))
    )  # fmt: skip
    alone = json.loads(done(run("fit", "mail.csv", "--target", "kind", "--text", "body", "--model", "svm", "--json",
                                "--epochs", 20)))  # fmt: skip
    right = {each["name"]: each["correct"] for each in result["contenders"]}
    assert result["sparse"]
    assert set(right) == {"svm", "network", "tree"}
    assert right["svm"] == alone["test"]["correct"]


def test_a_contender_that_cannot_learn_from_the_rows_says_why(run):
    Path("few.csv").write_text("a,y\n1,u\n2,u\n3,v\n4,v\n")
    result = json.loads(
        done(run("compare", "few.csv", "--target", "y", "--test", 0.5, "--models", "k-nn,svm", "--json"))
    )
    assert [each["name"] for each in result["contenders"]] == ["svm"]
    assert [each["name"] for each in result["left_out"]] == ["k-nn"]
    assert "n_neighbors" in result["left_out"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "svm,forest"], "--models: unknown model 'forest'; choose from averaged, perceptron, voted, "),
        (["--test", "0"], "--test 0 leaves no test rows to compare on; use a larger --test, or --folds"),
        (["--test", "2"], "--test must be at least 0 and below 1; found 2"),
        (["--folds", "1"], "--folds must be at least 2; found 1"),
        (
            ["--folds", "60"],
            "penguins: class 'Torgersen' has 52 rows, too few for --folds 60: each fold needs at least one",
        ),
        (["--folds", "3", "--test", "0.3"], "--test and --folds cannot both be given; choose one"),
        (["--time-limit", "0"], "--time-limit must be a positive number of seconds; found 0"),
        (["--certify", "-1"], "--certify must be a number of seconds, at least 0; found -1"),
        (["--certify", "nan"], "--certify must be a number of seconds, at least 0; found nan"),
        (["--plot", "a.png", "--scaling", "./a.png"], "--plot and --scaling both name a.png; each needs a file of its"),
        (["--epochs", "0"], "--epochs must be at least 1; found 0"),
        (["--plot", "c.gif"], "--plot c.gif: the ending must be one of .png, .svg, .pdf"),
        (["--scaling", "no/c.png"], "cannot write no/c.png: the folder"),
        (["--target", "islnd"], "penguins has no column 'islnd', which --target names (did you mean 'island'?)"),
        (["--features", "island"], "--features names 'island', which is the target"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, message, run):
    status, out, err = run("compare", "penguins", "--target", "island", *arguments)
    assert status == 2
    assert not out
    assert err.startswith(f"separatrix: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("seconds", ["-1", "nan"])
def test_fit_refuses_such_seconds_for_a_certificate_too(seconds, run):
    status, _, err = run("fit", "penguins", "--target", "island", "--certify", seconds)
    assert status == 2
    assert err == f"separatrix: --certify must be a number of seconds, at least 0; found {seconds}\n"


def test_a_class_that_is_lost_and_a_single_class_are_refused(run):
    Path("rare.csv").write_text("a,y\n" + "".join(f"{k},c{k % 20:02}\n" for k in range(40)))
    labels = (np.arange(40) % 20).astype(np.int32)  # more classes than test rows

    def lost(seed):
        return np.setdiff1d(labels, labels[TestSplit(np.bincount(labels), 0.2, seed).rows(labels)[0]]).tolist()

    seed = next(seed for seed in range(1000) if lost(seed))
    status, _, err = run("compare", "rare.csv", "--target", "y", "--seed", seed, "--models", "tree")
    assert status == 2
    assert f"rare.csv: class 'c{lost(seed)[0]:02}' has no training row with --test 0.2; use a smaller --test" in err
    Path("one.csv").write_text("a,y\n1,u\n2,u\n")
    status, _, err = run("compare", "one.csv", "--target", "y")
    assert status == 2
    assert "one.csv, column 'y' is constant" in err


# ------------------------------------------------------------------------------------- pictures


def test_the_picture_of_a_comparison():
    ax = plots.comparison(["a", "b"], [0.9, 0.5], [(0.8, 0.95), (0.4, 0.6)], [1e-6, 2e-3], [True, False], baseline=0.45)
    ours, theirs = (container.lines[0].get_data() for container in ax.containers)
    assert (ours[0].tolist(), ours[1].tolist()) == ([0.9], [0])
    assert (theirs[0].tolist(), theirs[1].tolist()) == ([0.5], [1])
    ends = [container.lines[2][0].get_segments()[0][:, 0] for container in ax.containers]
    np.testing.assert_allclose(ends, [[0.8, 0.95], [0.4, 0.6]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "majority class, 45.0%", "separatrix", "scikit-learn",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="each model needs a name"):
        plots.comparison(["a"], [], [], [], [])


def test_the_picture_of_growth_has_lines_of_slope_one_and_zero():
    rows = [100, 1000, 10_000]
    ax = plots.growth({"k-nn": (rows, [1e-6, 1e-5, 1e-4]), "plane": (rows, [1e-8] * 3), "none": ([], [])})
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    curves = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert [line.get_ydata().tolist() for line in curves] == [[1e-6, 1e-5, 1e-4], [1e-8] * 3]
    slopes = [np.diff(np.log(line.get_ydata()))[0] / np.diff(np.log(line.get_xdata()))[0]
              for line in ax.lines if line.get_linestyle() == "--"]  # fmt: skip
    np.testing.assert_allclose(slopes, [0, 1], atol=1e-12)
    assert {"k-nn", "plane", "O(d)", "O(N d)"} == {text.get_text() for text in ax.texts}
    with pytest.raises(ValueError, match="there is no curve to draw"):
        plots.growth({})
