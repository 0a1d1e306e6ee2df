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


@pytest.fixture
def product_threads():
    before = _core.product_threads(1)
    yield _core.product_threads
    _core.product_threads(before)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr", "unsorted csr"])
def test_products_have_the_same_bits_with_any_number_of_threads(kind, product_threads):
    draw = np.random.default_rng(1)
    X = draw.normal(size=(5000, 900))
    if kind.endswith("csr"):
        X[draw.random(X.shape) < 0.05] = 0.0
        X = sparse.csr_array(X)
        if kind.startswith("unsorted"):
            X.indices, X.data = X.indices.copy(), X.data.copy()
            ends = X.indptr[1]
            X.indices[:ends], X.data[:ends] = X.indices[:ends][::-1].copy(), X.data[:ends][::-1].copy()
            X.has_sorted_indices = False
    else:
        X = X.astype(kind)
    matrix = Rows(X).matrix
    few = Rows(X[:, :120]).matrix
    v = draw.normal(size=5000)
    v[draw.random(5000) < 0.2] = 0.0
    found = []
    for most in (1, 2, 3, 7):
        product_threads(most)
        parts = [
            _core.combine(matrix, v), _core.decide(matrix, np.ones((2, 900)), np.ones(2), 1),
            _core.gram(few, np.abs(v)),
        ]  # fmt: skip
        found.append(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    assert len(set(found)) == 1


@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearSVM(random_state=0, max_iter=20)])
def test_one_problem_that_uses_several_threads_is_solved_to_the_same_bits(model):
    draw = np.random.default_rng(2)
    X = draw.normal(size=(40_000, 101)).astype(np.float32)
    y = X[:, 0] + 0.5 * draw.normal(size=len(X)) > 0.2
    assert learned(model.set_params(n_jobs=N_THREADS).fit(X, y)) == learned(model.set_params(n_jobs=1).fit(X, y))


def test_threads_of_products_end_with_the_fit():
    X, y = rows(classes=2)
    sx.LogisticRegression(n_jobs=N_THREADS).fit(X, y)
    assert _core.product_threads(1) == 1


def test_a_long_gram_matrix_and_factor_ask_whether_to_go_on_and_have_the_same_bits():
    draw = np.random.default_rng(3)
    X = draw.normal(size=(3000, 1000)).astype(np.float32)
    matrix, weights = Rows(X).matrix, np.where(draw.random(3000) < 0.9, draw.random(3000), 0.0)
    looks = []
    table = _core.gram(matrix, weights, lambda: looks.append("gram"))
    np.testing.assert_array_equal(table, _core.gram(matrix, weights))
    assert looks == ["gram"]
    big = np.eye(2000)
    _core.factor(big, 0.0, 1.0, lambda: looks.append("factor"))
    np.testing.assert_array_equal(big, np.eye(2000))
    assert looks == ["gram", "factor"]

    def stop():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        _core.gram(matrix, weights, stop)
    with pytest.raises(InterruptedError):
        _core.factor(big, 0.0, 1.0, stop)
