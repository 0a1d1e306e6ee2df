"""Everything that runs in several threads gives the bits of one thread. ``scripts/sanitize thread`` runs these too."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix import _core
from separatrix.geometry.rows import Rows
from separatrix.tables.prefetch import done_ahead
from separatrix.tables.sources.plain_csv import PlainCsv

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N_THREADS = 4


def rows(n=300, d=6, classes=5):
    draw = np.random.default_rng(0)
    return draw.normal(size=(n, d)), draw.integers(0, classes, n)


def learned(model):
    parts = [model.coef_, model.intercept_] if hasattr(model, "coef_") else [model.dual_coef_, model.intercept_]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


LINEAR = [
    sx.Perceptron,
    sx.Neuron,
    sx.OnlineSVM,
    sx.PassiveAggressive,
    sx.AROW,
    sx.SCW,
    sx.ROMMA,
    sx.ALMA,
    sx.SecondOrderPerceptron,
    sx.LinearSVM,
    sx.LogisticRegression,
]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", LINEAR)
def test_classes_learned_in_parallel_get_the_bits_they_get_alone(kind, layout):
    X, y = rows()
    models = [kind(max_iter=3, n_jobs=jobs, random_state=0).fit(layout(X), y) for jobs in (1, N_THREADS)]
    assert learned(models[0]) == learned(models[1])
    assert np.array_equal(models[0].decision_function(X), models[1].decision_function(X))


def test_kernel_rows_computed_in_parallel_are_the_same():
    X, y = rows(classes=2)
    models = [sx.KernelSVM(n_jobs=jobs, cache_size=0.05).fit(X, y) for jobs in (1, N_THREADS)]
    assert learned(models[0]) == learned(models[1])
    assert np.array_equal(models[0].decision_function(X), models[1].decision_function(X))


def test_scores_with_bounds_and_keys_of_rows_are_the_same_from_several_threads():
    X = Rows(rows(n=2000)[0]).matrix
    w = np.arange(6.0)
    for alone, together in zip(*(_core.enclosed_scores(X, w, 0.5, jobs) for jobs in (1, N_THREADS)), strict=True):
        assert np.array_equal(alone, together)
    assert np.array_equal(_core.row_keys(X, 7, 1), _core.row_keys(X, 7, N_THREADS))


def test_a_csv_file_read_by_threads_while_blocks_are_used_is_the_same(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{k % 97},{k / 7:.3f},name{k % 23}" for k in range(60_000)]
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n")
    got = []
    for jobs in (1, N_THREADS):
        file = PlainCsv(path, ",", '"', ["a", "b", "c"], ["number", "number", "label"], jobs)
        blocks = [(X.copy(), codes.copy()) for X, codes in done_ahead(file.blocks())]
        got.append((np.concatenate([X for X, _ in blocks]), np.concatenate([c for _, c in blocks]), file.levels("c")))
    assert np.array_equal(got[0][0], got[1][0])
    assert np.array_equal(got[0][1], got[1][1])
    assert got[0][2] == got[1][2]
    assert len(got[0][0]) == 60_000


def test_fits_of_the_same_rows_in_several_python_threads_are_the_same():
    X, y = rows()
    jobs = [kind(max_iter=3, n_jobs=2, random_state=0) for kind in LINEAR for _ in range(2)]

    def fit(model):
        model.fit(X, y)

    with warnings.catch_warnings():  # for all threads
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=fit, args=[model]) for model in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for first, second in zip(jobs[::2], jobs[1::2], strict=True):
        assert learned(first) == learned(second)


def test_one_reader_in_two_threads_is_refused_or_reads_one_after_the_other():
    reader = _core.CsvReader(b",", b'"', ["number", "number"], 2, 100)
    text = b"1,2\n" * 50_000
    problems, sizes = [], []

    def feed():
        try:
            sizes.append(len(reader.feed(text)[0]))
        except Exception as problem:
            problems.append(str(problem))

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes
    assert set(sizes) == {50_000}
    assert all("another thread" in problem for problem in problems)
