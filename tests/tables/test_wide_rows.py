"""One large index makes rows wide: what does not fit is refused with the figure before memory is taken for it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.sources.opening import open_source
from separatrix.tables.whole import read_whole


def libsvm(path, index):
    lines = [f"{(1, -1)[k % 2]} {k + 1}:1 {index if k == 7 else 50 + k % 3}:0.5" for k in range(20)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("command", [["fit"], ["certify"], ["trace"], ["fit", "--memory", "300MB"]])
def test_an_index_of_a_billion_is_refused_with_the_figure(tmp_path, run, command):
    path = libsvm(tmp_path / "d.libsvm", 2**30)
    more = ["-o", tmp_path / "m.sx"] if command[0] == "fit" else []
    tracemalloc.start()
    status, _, error = run(*command, path, *more)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert status == 2
    assert f"{path} has 1,073,741,824 columns (the largest index counts, though most may be empty): a model" in error
    assert "would take about 215 GB of memory, and " in error
    assert error.rstrip().endswith("GB are free; number the columns that occur from 1 without gaps")
    assert peak < 200 << 20
    assert not (tmp_path / "m.sx").exists()


def test_a_sparse_matrix_of_a_huge_shape_is_refused_too(tmp_path, run):
    path = tmp_path / "d.npz"
    sparse.save_npz(path, sparse.csr_matrix(([1.0, 2.0], ([0, 1], [3, 2**30 - 1])), shape=(2, 2**30)))
    status, _, error = run("fit", path, "--target", "0", "-o", tmp_path / "m.sx")
    assert status == 2
    assert "columns (the largest index counts" in error


def test_more_classes_need_more_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.memory.available", lambda: 2 * 8 * 10_000 * 40)
    two, four = tmp_path / "two.libsvm", tmp_path / "four.libsvm"
    two.write_text("1 1:1\n2 10000:1\n" * 4)
    four.write_text("1 1:1\n2 10000:1\n3 4:1\n4 5:1\n" * 4)
    with open_source(str(two)) as source:
        assert read_whole(source, ColumnOptions()).X.shape == (8, 10_000)
    with open_source(str(four)) as source, pytest.raises(ValueError, match="a model of 4 classes would take about"):
        read_whole(source, ColumnOptions())


def test_rows_wider_than_the_model_are_refused_by_predict_and_update(tmp_path, run):
    model = tmp_path / "m.sx"
    assert run("fit", libsvm(tmp_path / "d.libsvm", 60), "--model", "averaged", "-o", model)[0] == 0
    wide = libsvm(tmp_path / "wide.libsvm", 2**30)
    for command in (["predict", model, wide], ["update", model, wide], ["certify", model, wide]):
        status, _, error = run(*command)
        assert status == 2
        assert f"{wide} has 1,073,741,824 features; the model was trained on 60" in error


def test_dense_rows_are_not_estimated(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.memory.available", lambda: 1)
    np.save(tmp_path / "d.npy", np.eye(6))
    with open_source(str(tmp_path / "d.npy")) as source:
        assert read_whole(source, ColumnOptions(target="0")).X.shape == (6, 5)


def test_a_column_of_a_sparse_matrix_can_be_the_target(tmp_path):
    dense = np.array([[1.0, 0, 2], [0, 3, 4], [5, 0, 2], [0, 0, 4]])
    sparse.save_npz(tmp_path / "d.npz", sparse.csr_matrix(dense))
    for target, labels, others in (("-1", [2, 4, 2, 4], [0, 1]), ("0", [1, 0, 5, 0], [1, 2])):
        with open_source(str(tmp_path / "d.npz")) as source:
            whole = read_whole(source, ColumnOptions(target=target))
        assert np.array_equal(whole.X.toarray(), dense[:, others])
        assert whole.y.tolist() == labels
