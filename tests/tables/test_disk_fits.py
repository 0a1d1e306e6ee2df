"""Fits from rows on disk: as good as in memory, cached, cut short and resumed with the same bits."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pandas as pd
import pytest

from mixed_table import DISK, fitted, frame, written
from separatrix.models.model_file import load, save
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk import rowfile
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.disk.training import groups
from separatrix.tables.fit import fit
from separatrix.tables.memory import available, parse_size
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.opening import open_source


@pytest.fixture
def stream(monkeypatch):
    """Take small files for large ones, whose rows are trained on group by group."""
    monkeypatch.setattr(rowfile, "GROUP", 1 << 16)


@pytest.mark.parametrize(
    "model", ["averaged", "perceptron", "neuron", "online-svm", "pa", "arow", "scw", "romma", "alma", "sop"]
)
def test_rows_streamed_from_disk_train_as_well(model, tmp_path, stream):
    data = frame(6000)
    if model in ("averaged", "neuron"):  # the last weights of the others depend on the last group most
        data = data.sort_values("kind")
    name = written(data, tmp_path)
    same_rate = {"eta0": 0.01} if model == "neuron" else {}  # which adapts in memory only, unless it is given
    settings = Settings(model, certify=0, epochs=20, parameters=same_rate)
    memory = fitted(name, settings=settings).model.facts
    disk = fitted(name, settings=settings, budget=DISK).model.facts
    assert disk.progress is not None
    assert memory.progress is None
    assert disk.on_disk
    assert not memory.on_disk
    assert disk.rows == memory.rows
    assert disk.rows.read == 6000
    assert disk.rows.dropped == 0
    assert disk.missing == memory.missing == {"a": data.a.isna().sum(), "size": data["size"].isna().sum()}
    assert disk.classes == memory.classes
    assert disk.test.confusion.sum(axis=1).tolist() == memory.test.confusion.sum(axis=1).tolist()
    assert disk.test.accuracy > memory.test.accuracy - 0.04


@pytest.mark.parametrize("missing", ["impute", "drop", "mean"])
@pytest.mark.parametrize("model", ["averaged", "perceptron", "neuron"])
def test_a_group_of_rows_on_disk_is_the_same_fit_as_in_memory_bit_for_bit(model, missing, tmp_path):
    name = written(frame(900), tmp_path)
    options, settings = ColumnOptions("kind", missing=missing), Settings(model, certify=0, epochs=7)
    memory, disk = (fitted(name, options, settings, budget).model for budget in (None, DISK))
    assert disk.facts.on_disk
    assert _weights(disk) == _weights(memory)
    for part in ("shift", "factor", "means"):
        assert getattr(disk.preparation, part).tolist() == getattr(memory.preparation, part).tolist()
    assert disk.facts.test.confusion.tolist() == memory.facts.test.confusion.tolist()
    assert disk.facts.constant == memory.facts.constant


@pytest.mark.parametrize("missing", ["impute", "mean"])
def test_streamed_rows_are_scaled_and_held_out_as_in_memory(missing, tmp_path, stream):
    name = written(frame(3000), tmp_path)
    options, settings = ColumnOptions("kind", missing=missing), Settings(certify=0, epochs=2)
    memory, disk = (fitted(name, options, settings, budget).model for budget in (None, DISK))
    for part in ("shift", "factor", "means"):
        np.testing.assert_allclose(getattr(disk.preparation, part), getattr(memory.preparation, part), rtol=1e-12)
    assert disk.preparation.names == memory.preparation.names
    assert disk.facts.rows == memory.facts.rows
    assert disk.facts.classes == memory.facts.classes


@pytest.mark.parametrize("kind", ["libsvm", "words"])
def test_sparse_rows_are_streamed_from_disk(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(rowfile, "GROUP", 1 << 13)
    rng = np.random.default_rng(0)
    if kind == "libsvm":
        X = rng.standard_normal((900, 12)) * (rng.random((900, 12)) < 0.4)
        y = np.where(X @ rng.standard_normal(12) > 0, 1, -1)
        lines = [
            f"{label} " + " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(row) if v)
            for label, row in zip(y.tolist(), X.tolist(), strict=True)
        ]
        name = tmp_path / "t.libsvm"
        name.write_text("\n".join(lines))
        options = ColumnOptions(scale="standard")
    else:
        kinds = rng.choice(["spam", "ham"], 900)
        words = {"spam": ["buy", "now", "deal"], "ham": ["see", "you", "deal"]}
        body = [" ".join(rng.choice(words[each], 5)) for each in kinds]
        name = written(pd.DataFrame({"body": body, "n": rng.random(900), "kind": kinds}), tmp_path)
        options = ColumnOptions("kind", text=("body",), text_method="hashed")
    found = fitted(name, options, Settings(certify=0, epochs=10), DISK).model
    assert found.facts.progress is not None
    assert found.preparation.sparse
    assert found.facts.test.accuracy > 0.9
    found = fitted(name, options, Settings(certify=0, epochs=2, test=0), DISK).model
    memory = fitted(name, options, Settings(certify=0, epochs=2, test=0)).model
    assert np.allclose(found.preparation.factor, memory.preparation.factor, rtol=1e-9)


def test_words_by_name_do_not_go_to_disk(tmp_path):
    name = written(pd.DataFrame({"body": ["a b c"] * 50, "kind": ["x", "y"] * 25}), tmp_path)
    with pytest.raises(ValueError, match="needs all texts at once: use --text-method hashed"):
        fitted(name, ColumnOptions("kind", text=("body",)), Settings(certify=0), DISK)
    with pytest.raises(ValueError, match="--model voted needs all rows at once; these do not: averaged"):
        fitted(written(frame(), tmp_path, "f.csv"), settings=Settings("voted", certify=0), budget=DISK)


def test_missing_numbers_on_disk(tmp_path):
    name = written(frame(2000), tmp_path)
    options = ColumnOptions("kind", missing="mean")
    disk = fitted(name, options, Settings(certify=0, test=0, epochs=5), DISK).model
    memory = fitted(name, options, Settings(certify=0, test=0, epochs=5)).model
    assert np.allclose(disk.preparation.means, memory.preparation.means, rtol=1e-13)
    assert disk.facts.rows == memory.facts.rows


def test_a_cache_is_used_again_while_the_source_is_the_same(tmp_path):
    data = frame(800)
    name, cache, seen = written(data, tmp_path), tmp_path / "cache", []
    budget = MemoryBudget(cache=cache)

    def watch(stage, **numbers):
        seen.append(stage)

    first = fitted(name, budget=budget, watch=watch).model
    assert "cached" not in seen
    again = fitted(name, budget=budget, watch=watch).model
    assert "cached" in seen
    assert again.estimator.coef_.tolist() == first.estimator.coef_.tolist()
    assert {**again.facts.to_dict(), "seconds": 0} == {**first.facts.to_dict(), "seconds": 0}
    seen.clear()
    written(pd.concat([data, data.iloc[:1]]), tmp_path)
    assert fitted(name, budget=budget, watch=watch).model.facts.rows.read == 801
    assert "cached" not in seen
    seen.clear()
    fitted(name, ColumnOptions("kind", exclude=("a",)), budget=budget, watch=watch)
    assert "cached" not in seen
    for part in cache.glob("*/train/rows"):
        part.write_bytes(part.read_bytes()[:-4])
        (part.parent / "labels").write_bytes((part.parent / "labels").read_bytes()[:-4])
    seen.clear()
    fitted(name, budget=budget, watch=watch)
    assert "cached" not in seen


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    name = written(frame(), tmp_path)
    fitted(name, budget=DISK)
    with pytest.raises(ValueError, match="constant"):
        fitted(written(frame().assign(kind="x"), tmp_path), budget=DISK)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    import errno

    def full(*given, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rowfile, "open", full, raising=False)
    with pytest.raises(ValueError, match=r"rows cannot be written to the cache folder .*: the disk is full"):
        fitted(written(frame(), tmp_path), budget=DISK)


def test_an_epoch_visits_every_row_once(tmp_path):
    file = RowFile(tmp_path / "rows", 3000, sparse=False, weighted=False)
    for begin in range(0, 4000, 500):
        rows = np.arange(begin, begin + 500, dtype=np.float32)
        file.append(np.repeat(rows[:, None], 3000, axis=1), np.arange(begin, begin + 500, dtype=np.int32))
    orders = []
    for epoch in range(2):
        seen = []
        for group in groups(file, 0, epoch):
            assert len(group) <= 64
            X, labels, _ = file.read(group)
            assert np.array_equal(X[:, 0], labels)
            seen += labels.tolist()
        assert sorted(seen) == list(range(4000))
        orders.append(seen)
    assert orders[0] != orders[1]
    assert [row for group in groups(file, 0, 0, shuffle=False) for piece in group for row in range(*piece)] == list(
        range(4000)
    )


def test_memory_is_a_size():
    assert available() > 0
    assert parse_size("1.5 KB") == 1536
    for wrong in ("", "MB", "-1", "5 apples", "nan"):
        with pytest.raises(ValueError, match="--memory must be a size such as 500MB"):
            parse_size(wrong)


@pytest.mark.parametrize("model", ["averaged", "perceptron", "voted", "pocket", "neuron", "network"])
def test_a_resumed_run_has_the_same_bits(model, tmp_path):
    name = written(frame(), tmp_path)
    whole = fitted(name, settings=Settings(model, certify=0, epochs=9)).model
    part = fitted(name, settings=Settings(model, certify=0, epochs=4)).model
    save(part, tmp_path / "m.sx")
    more = fitted(name, settings=Settings(model, certify=0, epochs=9), before=load(tmp_path / "m.sx")).model
    assert _weights(more) == _weights(whole)


@pytest.mark.parametrize("model", ["averaged", "neuron", "online-svm", "pa", "arow", "romma", "alma"])
@pytest.mark.parametrize("where", ["memory", "disk", "stream"])
def test_a_run_that_was_interrupted_goes_on_with_the_same_bits(model, where, tmp_path, monkeypatch):
    """Stop at a time limit that cuts it in the middle of an epoch, and go on from the file, several times."""
    budget = None if where == "memory" else DISK
    if where == "stream":
        monkeypatch.setattr(rowfile, "GROUP", 1 << 12)
    name = written(frame(), tmp_path)
    settings = Settings(model, certify=0, epochs=3)
    monkeypatch.setattr("separatrix.loop.engines.compiled.CompiledEngine.chunk", lambda *_: 100)
    whole = fitted(name, settings=settings, budget=budget).model
    assert "epoch limit of 3 reached" in whole.facts.status
    ticks = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: 0.05 * next(ticks))  # a clock that no load of the machine changes
    short = dataclasses.replace(settings, time_limit=0.15)
    before, statuses = None, []
    while len(statuses) < 60:
        before = fitted(name, settings=short, budget=budget, before=before).model
        save(before, tmp_path / "m.sx")
        before = load(tmp_path / "m.sx")
        statuses.append(before.facts.status)
        if "time limit" not in statuses[-1]:
            break
    assert all("time limit" in status for status in statuses[:-1])
    assert len(statuses) - 1 > 3  # more cuts than epochs: some fell into the middle of one
    assert _weights(before) == _weights(whole)


def _weights(model):
    estimator = model.estimator
    if hasattr(estimator, "coefs_"):
        return [layer.tolist() for layer in estimator.coefs_]
    if getattr(estimator, "readout", "") == "voted":
        return estimator.decision_function(np.eye(model.preparation.width)).tolist()
    return estimator.coef_.tolist()


def test_other_rows_are_not_resumed(tmp_path):
    name = written(frame(), tmp_path)
    part = fitted(name, settings=Settings(certify=0, epochs=2)).model
    with pytest.raises(ValueError, match="the rows are not those that the model was trained on"):
        fitted(written(frame(seed=1), tmp_path), settings=Settings(certify=0, epochs=4), before=part)
    part = fitted(name, settings=Settings(certify=0, epochs=2)).model
    with pytest.raises(ValueError, match="the model has been trained for 2 epochs"):
        fitted(name, settings=Settings(certify=0, epochs=2), before=part)


def test_columns_of_small_numbers_are_scaled_on_disk_too(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.standard_normal(500) * 1e-18, "b": rng.standard_normal(500)})
    data["kind"] = np.where(data.a > 0, "p", "q")
    name = written(data, tmp_path)
    assert fitted(name, settings=Settings(certify=0, epochs=20), budget=DISK).model.facts.test.accuracy > 0.9


def test_a_run_on_disk_that_has_ended_is_not_resumed(tmp_path, stream):
    data = pd.DataFrame({"a": [1.0, -1.0] * 30, "kind": ["p", "q"] * 30})
    name = written(data, tmp_path)
    ended = fitted(name, settings=Settings(certify=0, epochs=9), budget=DISK).model
    assert ended.facts.converged
    with pytest.raises(ValueError, match="the training of this model has ended"):
        fitted(name, settings=Settings(certify=0, epochs=20), budget=DISK, before=ended)


@pytest.mark.parametrize("budget", [None, DISK], ids=["memory", "disk"])
def test_other_weights_are_not_resumed(budget, tmp_path):
    data = frame(500).dropna()
    data["w"] = np.arange(len(data)) % 3 + 1
    options, settings = ColumnOptions("kind", weight="w"), Settings(certify=0, epochs=2)
    part = fitted(written(data, tmp_path), options, settings, budget).model
    data["w"] = data["w"].to_numpy()[::-1]
    with pytest.raises(ValueError, match="the rows are not those"):
        fitted(written(data, tmp_path), options, Settings(certify=0, epochs=4), budget, before=part)


@pytest.mark.parametrize(
    "parameters", [{"C": 3}, {"max_iter": 3}, {"eta0": -1.0}, {"margin": -2.0}, {"eta0": "x"}, {"margin": [1]}], ids=str
)
def test_a_fit_that_is_refused_leaves_its_cache_as_it_was(tmp_path, parameters):
    refusal = pytest.raises((TypeError, ValueError), match=next(iter(parameters)))
    name, cache = written(frame(40), tmp_path), tmp_path / "more" / "cache"
    budget, options = MemoryBudget(cache=cache), ColumnOptions("kind")
    with open_source(name) as source, refusal:
        fit(source, options, Settings("averaged", parameters=parameters), budget)
    assert not (tmp_path / "more").exists()
    with open_source(name) as source:
        fit(source, options, Settings("averaged", seed=1), budget)
    kept = sorted(cache.rglob("*"))
    for seed in (0, 1):  # rows of another seed, which would be new, and those that are there
        with open_source(name) as source, refusal:
            fit(source, options, Settings("averaged", parameters=parameters, seed=seed), budget)
        assert sorted(cache.rglob("*")) == kept


def test_runs_at_the_same_time_do_not_spoil_a_cache(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    name, budget = written(frame(3000), tmp_path), MemoryBudget(cache=tmp_path / "cache")
    settings = Settings(certify=0, epochs=3)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: fitted(name, settings=settings, budget=budget).model, range(4)))
    found.append(fitted(name, settings=settings, budget=budget).model)
    assert len({json.dumps(model.estimator.coef_.tolist()) for model in found}) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 1
