"""Rows of Dask collections are trained on where they are: the bits of rows in memory, whatever happens to workers."""

import contextlib
import os
import signal

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from small_shards import MODELS, learned, problem

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from separatrix.svm.rowblocks import dask_store  # noqa: E402

pytestmark = pytest.mark.usefixtures("small_shards")


@contextlib.contextmanager
def local(**how):
    """A cluster of one worker; one that cannot be closed, after what a test did to it, is left without a warning."""
    with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):
        it = distributed.LocalCluster(
            1, threads_per_worker=1, host="127.0.0.1", protocol="tcp://", dashboard_address=":0", **how
        )
        try:
            yield it
        finally:
            with contextlib.suppress(Exception):
                it.close(timeout=10)
            it.status = distributed.core.Status.closed


@pytest.fixture(scope="module")
def cluster():
    with local(processes=True) as it:
        yield it


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as it:
        yield it


def scaled(cluster, client, n):
    cluster.scale(n)
    client.wait_for_workers(n, timeout=30)


X, Y = problem(512, classes=3)
WEIGHTS = np.random.default_rng(2).integers(0, 3, len(Y)).astype(float)
WEIGHTS[64:200] = 0.0


def cut(values, chunks=((200, 0, 123, 189),)):
    return da.from_array(values, chunks=chunks + ((values.shape[1],) if values.ndim == 2 else ()))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_rows_in_memory(cluster, client, workers):
    scaled(cluster, client, workers)
    make = MODELS[{1: "squared hinge", 2: "hinge", 4: "log"}[workers]]
    how = {"tol": 1e-2, "class_weight": "balanced"}
    there = make(**how).fit(cut(X), cut(Y > 0), cut(WEIGHTS))
    assert learned(there) == learned(make(**how).fit(X, Y > 0, WEIGHTS))
    assert there.status_.converged
    assert not hasattr(there, "dual_coef_")


def test_a_killed_worker_changes_no_bit(cluster, client, monkeypatch):
    scaled(cluster, client, 2)
    calls = []
    kept = dask_store.DaskStore._reduce

    def reduce(store, given):
        calls.append(given)
        if len(calls) in (7, 20):
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return kept(store, given)

    monkeypatch.setattr(dask_store.DaskStore, "_reduce", reduce)
    labels = Y > 0
    there = sx.LinearSVM(tol=1e-4).fit(cut(X), cut(labels))
    assert len(calls) > 30
    assert learned(there) == learned(sx.LinearSVM(tol=1e-4).fit(X, labels))


def test_dataframes_keep_their_names_and_predictions_stay_there(cluster, client):
    scaled(cluster, client, 1)
    frame = pd.DataFrame(X.astype(np.float64), columns=["a", "b", "c", "d"])
    names = pd.Series(np.array(["no", "yes", "yes"])[Y])
    rows = dd.from_pandas(frame, npartitions=2)
    there = sx.LinearSVM(loss="squared_hinge").fit(rows, dd.from_pandas(names, npartitions=2))
    assert there.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    here = sx.LinearSVM(loss="squared_hinge").fit(frame, names)
    assert learned(there) == learned(here)
    lazy = there.predict(rows)
    assert type(lazy).__module__.startswith("dask")
    assert lazy.compute().tolist() == here.predict(frame).tolist()


def test_predictions_for_dask_arrays_are_dask_arrays():
    for classes, labels in ((2, Y > 0), (3, Y)):
        model = sx.LinearSVM().fit(X, labels)
        assert np.array_equal(model.decision_function(cut(X)).compute(), model.decision_function(X)), classes
        assert model.predict(cut(X)).compute().tolist() == model.predict(X).tolist()
        model = sx.LogisticRegression().fit(X, labels)
        for method in ("predict_proba", "predict_log_proba"):
            assert np.array_equal(getattr(model, method)(cut(X)).compute(), getattr(model, method)(X))


def test_few_rows_are_gathered_and_need_no_cluster():
    few = slice(0, 100)
    there = sx.LinearSVM().fit(cut(X[few], ((60, 40),)), cut(Y[few], ((60, 40),)))
    assert learned(there) == learned(sx.LinearSVM().fit(X[few], Y[few]))


def test_a_model_of_workers_is_saved_like_any_other(cluster, client, tmp_path):
    model = sx.LogisticRegression().fit(cut(X), cut(Y > 0))
    sx.save(model, tmp_path / "model.sx")
    assert np.array_equal(sx.load(tmp_path / "model.sx").predict(X), model.predict(X))


def bad(values, place, value):
    values = values.astype(float if not isinstance(value, str) else object)
    values[place] = value
    return values


FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
CUT_Y = cut(Y > 0)
BAD = {
    "partition 2 of 4: X contains NaN in row 7, column 1": lambda: (cut(bad(X, (207, 1), np.nan)), CUT_Y),
    "partition 3 of 4: y contains NaN": lambda: (cut(X), cut(bad(Y, 500, np.nan))),
    "found one class: 1": lambda: (cut(X), cut(np.ones(len(X), dtype=int))),
    "X has 4 partitions, y has 1: cut both in the same places": lambda: (cut(X), da.from_array(Y)),
    "partition 0 of 4: X has 200 rows, y has 100 labels": lambda: (cut(X), cut(Y, ((100, 100, 123, 189),))),
    "y must be an array or a dataframe of Dask": lambda: (cut(X), Y),
    "partition 1 of 2: it has the columns a, b, c, e, where X has a, b, c, d": lambda: (
        dd.from_delayed(
            [dask.delayed(FRAME[:300]), dask.delayed(FRAME[300:].rename(columns={"d": "e"}))],
            meta=FRAME[:0], verify_meta=False,
        ),
        cut(Y, ((300, 212),)),
    ),
    "partition 1 of 2: column 'd' of X holds 'x' in row 0, where a number belongs": lambda: (
        dd.from_delayed(
            [dask.delayed(FRAME[:300]), dask.delayed(FRAME[300:].assign(d="x"))], meta=FRAME[:0], verify_meta=False
        ),
        cut(Y, ((300, 212),)),
    ),
    "X has 0 sample": lambda: (cut(X[:0], ((0, 0),)), cut(Y[:0], ((0, 0),))),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD)
def test_bad_partitions_are_named(client, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        sx.LinearSVM().fit(*BAD[sentence]())


def test_what_needs_rows_in_memory_is_refused(client):
    with pytest.raises(ValueError, match="warm_start needs rows in memory; those of X are on Dask workers"):
        sx.LinearSVM(warm_start=True).fit(cut(X), cut(Y))
    with pytest.raises(ValueError, match="use 'ovr', or such rows"):
        sx.LogisticRegression().fit(cut(X), cut(Y))
    with pytest.raises(TypeError, match=r"Perceptron learns from rows in memory only: gather them there \(X.compute"):
        sx.Perceptron().fit(cut(X), cut(Y))


def test_workers_of_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr("separatrix.estimators.dask_rows.__version__", "9.9")
    with pytest.raises(
        ValueError, match=r"the worker tcp://127.* has separatrix .*, the client 9\.9: install the same"
    ):
        sx.LinearSVM().fit(cut(X), cut(Y))


def test_without_a_client_many_rows_are_refused():
    with pytest.raises(ValueError, match="there is no cluster to fit them on: make a client first"):
        sx.LinearSVM().fit(cut(X), cut(Y))


def test_a_scheduler_that_is_gone_ends_the_fit_with_a_sentence(monkeypatch):
    monkeypatch.setattr(dask_store, "_PATIENCE", 1.0)
    with local(processes=False) as it, distributed.Client(it):
        calls = []
        kept = dask_store.DaskStore._reduce

        def reduce(store, given):
            calls.append(given)
            if len(calls) == 5:
                it.sync(it.scheduler.close)
            return kept(store, given)

        monkeypatch.setattr(dask_store.DaskStore, "_reduce", reduce)
        model = sx.LinearSVM()
        with pytest.raises(ConnectionError, match=r"has lost .*: the fit ends without a model"):
            model.fit(cut(X), cut(Y > 0))
        assert not hasattr(model, "coef_")
