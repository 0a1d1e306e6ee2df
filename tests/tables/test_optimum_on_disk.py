"""Rows in a file are trained on to a duality gap, with the bits of rows in memory."""

import dataclasses
import errno
import io
import os

import numpy as np
import pandas as pd
import pytest

from separatrix.cli.summary import show_fit
from separatrix.svm.rowblocks import disk_store
from separatrix.svm.rowblocks.disk_store import DiskSource
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.fit import FitResult, fit
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.opening import open_source
from small_shards import MODELS, fitted, learned, problem, table
from small_tables import written


@pytest.fixture(autouse=True)
def much_is_on_disk(small_shards, monkeypatch):
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 1000)


def on_disk(folder, X, codes, weights=None):
    file = RowFile(folder / "rows", X.shape[1], sparse=False, weighted=weights is not None)
    for begin in range(0, len(X), 400):
        part = slice(begin, begin + 400)
        file.append(X[part], codes[part].astype(np.int32), None if weights is None else weights[part])
    (folder / "state").mkdir()
    return file, folder / "state"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("loss", MODELS)
def test_a_fit_to_a_file_has_the_bits_of_one_in_memory(tmp_path, loss, threads):
    X, y = problem(500, classes=3)
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    weights[64:200] = 0.0
    file, state = on_disk(tmp_path, X, y, weights)
    how = {"tol": 1e-6, "class_weight": "balanced"}
    there = MODELS[loss](**how)._fit_source(DiskSource(file, state, threads), np.arange(3), np.bincount(y))
    assert learned(there) == learned(MODELS[loss](**how).fit(X, y, weights))
    assert not os.listdir(state)


def test_the_state_of_the_rows_needs_no_memory(tmp_path, monkeypatch):
    X, y = problem(d=2)
    file, state = on_disk(tmp_path, X, y)
    counts = []
    kept = disk_store.KeptNumbers.read
    monkeypatch.setattr(disk_store.KeptNumbers, "read", lambda *given: (counts.append(given[3]), kept(*given))[1])
    MODELS["hinge"]()._fit_source(DiskSource(file, state), np.arange(2))
    assert max(counts) == 64


def test_a_full_disk_is_said_in_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    X, y = problem()
    file, state = on_disk(tmp_path, X, y)

    class Full(io.RawIOBase):
        def __init__(self, *given, **how):
            os.close(given[0])

        def seek(self, *given):
            return 0

        def write(self, values):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk_store, "open", Full, raising=False)
    with pytest.raises(ValueError, match=r"numbers about rows cannot be written to .*: the disk is full"):
        MODELS["hinge"]()._fit_source(DiskSource(file, state), np.arange(2))
    assert not os.listdir(state)


# ---------------------------------------------------------------------------------------------- from a table


@pytest.mark.parametrize("model", ["svm", "logistic"])
def test_a_table_beyond_the_memory_gives_the_model_of_one_in_memory(tmp_path, model):
    name = written(table(), tmp_path / "t.csv")
    here, there = (fitted(name, model, MemoryBudget(size)) for size in (None, 1000))
    assert there.facts.on_disk
    assert not here.facts.on_disk
    assert there.facts.converged
    assert learned(there.estimator) == learned(here.estimator)
    for part in ("shift", "factor", "means"):
        assert getattr(there.preparation, part).tobytes() == getattr(here.preparation, part).tobytes()
    assert there.facts.test.accuracy == here.facts.test.accuracy
    assert there.facts.status.startswith("converged")
    assert "relative duality gap" in there.facts.status


def test_rows_on_disk_that_are_few_are_gathered(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 1000)
    name = written(table(400), tmp_path / "t.csv")
    here, there = (fitted(name, "svm", MemoryBudget(size), calibrate="none") for size in (None, 1000))
    assert there.facts.on_disk
    assert learned(there.estimator) == learned(here.estimator)


def test_nothing_is_left_to_resume(tmp_path):
    name = written(table(), tmp_path / "t.csv")
    before = fitted(name, "svm", MemoryBudget(), time_limit=1e-9)
    assert "time limit" in before.facts.status
    for size in (None, 1000):
        with open_source(str(name)) as source, pytest.raises(ValueError, match="nothing to resume: fit the model anew"):
            fit(source, before.facts.options, before.facts.settings, MemoryBudget(size), before=before)


@pytest.mark.parametrize(("warm_start", "shown"), [(True, True), (False, False)])
def test_a_command_that_resumes_is_shown_where_there_is_something_to_resume(tmp_path, capsys, warm_start, shown):
    model = fitted(written(table(100), tmp_path / "t.csv"), "svm", MemoryBudget())
    model.estimator.set_params(warm_start=warm_start)
    model.facts = dataclasses.replace(model.facts, interrupted=True)
    show_fit(FitResult(model, True), tmp_path / "m.sx", "separatrix fit --resume m.sx")
    assert ("Resume: " in capsys.readouterr().out) == shown


def test_sparse_rows_on_disk_are_refused(tmp_path):
    words = pd.DataFrame({"t": ["a b", "c d e"] * 900, "y": ["no", "yes"] * 900})
    name = written(words, tmp_path / "t.csv")
    options = ColumnOptions("y", text=("t",), text_method="hashed")
    with open_source(str(name)) as source, pytest.raises(ValueError, match="sparse rows must fit into memory"):
        fit(source, options, Settings("svm", certify=0), MemoryBudget(1000))
