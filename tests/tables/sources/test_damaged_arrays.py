"""Damaged and hostile files of NumPy are refused in one sentence, before they take memory."""

from __future__ import annotations

import io
import random
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse

from separatrix.tables.sources.opening import open_source


def outcome(path):
    try:
        with open_source(str(path)) as source:
            if hasattr(source, "blocks"):
                return f"{sum(X.shape[0] for X, _ in source.blocks())} rows"
            return f"{sum(batch.num_rows for batch in source.batches([source.columns[0].name]))} rows"
    except ValueError as problem:
        message = str(problem)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < 400
    return message


def npy(header, body=b"", version=b"\1\0"):
    text = header.encode() + b" " * 10 + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + body


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def members(path, **contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(f"{name}.npy", content)


HEADERS = {
    "unclosed": "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2",
    "code": "__import__('os').system('true')",
    "deep": "(" * 5000,
    "unary": "-" * 9000 + "1",
    "type": "{'descr': '<q99', 'fortran_order': False, 'shape': (3, 2), }",
    "nested type": "{'descr': [('a', [('b',)])], 'fortran_order': False, 'shape': (3, 2), }",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }",
    "order": "{'descr': '<f8', 'fortran_order': 7, 'shape': (3, 2), }",
    "text shape": "{'descr': '<f8', 'fortran_order': False, 'shape': ('a',), }",
    "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2), }",
    "huge": "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }",
    "overflow": "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }",
    "keys": "{'descr': '<f8', 'shape': (3, 2), }",
    "a list": "[1, 2]",
    "null": "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\0",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_damaged_header_is_one_sentence(tmp_path, header):
    raw = npy(HEADERS[header], bytes(48))
    (tmp_path / "d.npy").write_bytes(raw)
    members(tmp_path / "d.npz", X=raw)
    tracemalloc.start()
    for name in ("d.npy", "d.npz"):
        assert not outcome(tmp_path / name).endswith(" rows")
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("version", [b"\0\0", b"\4\0", b"\xff\xff"])
def test_an_unknown_version_is_one_sentence(tmp_path, version):
    (tmp_path / "d.npy").write_bytes(npy(HEADERS["keys"], version=version))
    assert "is not a whole file of NumPy arrays: " in outcome(tmp_path / "d.npy")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 2, 2)), np.zeros(4), np.zeros((2, 2), "<U3"), np.zeros((2, 2), complex), np.zeros((0, 3)),
        np.zeros((2, 2), "datetime64[s]"), np.zeros(3, [("a", "f8", (2,))]), np.zeros(3, [("a", "O")]), np.float64(3),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)  # fmt: skip
def test_arrays_that_are_no_matrix_of_numbers_are_refused(tmp_path, array):
    np.save(tmp_path / "d.npy", array)
    np.savez(tmp_path / "d.npz", X=array)
    for name in ("d.npy", "d.npz"):
        assert not outcome(tmp_path / name).endswith(" rows")


def test_rows_in_the_order_of_fortran_are_the_same_rows(tmp_path):
    array = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "d.npy", np.asfortranarray(array))
    np.savez(tmp_path / "d.npz", X=np.asfortranarray(array))
    for name in ("d.npy", "d.npz"):
        with open_source(str(tmp_path / name)) as source:
            assert np.array_equal(np.vstack([X for X, _ in source.blocks(3)]), array)


def test_an_archive_that_unpacks_to_more_than_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "d.npz"
    members(path, X=saved(np.zeros((1000, 1000))))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("separatrix.tables.sources.arrays.available", lambda: 7 << 20)
    assert "holds 8.0 MB of arrays, more than the 7.3 MB of memory that are free; save" in outcome(path)


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "s.npz", "r.npy"])
def test_changed_files_are_read_or_refused_in_one_sentence(tmp_path, name):
    path, chance = tmp_path / name, random.Random(name)
    array = np.arange(60.0).reshape(20, 3)
    if name == "d.npy":
        np.save(path, array)
    elif name == "d.npz":
        np.savez(path, X=array, y=np.arange(20))
    elif name == "r.npy":
        np.save(path, np.array([(1.0, 2, "a")] * 9, dtype=[("a", "f8"), ("b", "i4"), ("c", "U3")]))
    else:
        sparse.save_npz(path, sparse.csr_matrix(array))
    whole = path.read_bytes()
    for _ in range(250):
        raw = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3])):
            at = chance.randrange(len(raw)) if chance.random() < 0.4 else chance.randrange(min(len(raw), 400))
            raw[at : at + 1] = chance.choice([b"\xff\xff\xff\x7f", b"\0", bytes([chance.randrange(256)]), b"", b"9"])
        path.write_bytes(raw)
        outcome(path)


def test_an_index_of_a_sparse_matrix_that_points_outside_is_refused(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, format=b"csr", shape=(2, 3), data=[1.0, 2.0], indices=np.array([1, 77777], "i4"), indptr=[0, 1, 2])
    assert "is not a whole file of NumPy arrays: " in outcome(path)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("place", [3, 77777, 50_000_000, -1])
def test_no_format_of_a_sparse_matrix_may_point_outside(tmp_path, form, place):
    path = tmp_path / "d.npz"
    indices = np.full(2000, place, "i4")
    np.savez(path, format=form.encode(), shape=(3, 3), data=np.ones(2000), indices=indices, indptr=[0, 700, 1400, 2000])
    assert "is not a whole file of NumPy arrays: " in outcome(path)
    np.savez(path, format=form.encode(), shape=(3, 3), data=[1.0], indices=[0], indptr=[0, 10**9, 2, 1])
    assert "is not a whole file of NumPy arrays: " in outcome(path)
    for starts in ([0, 1, 2, 0], [0, 2, 1, 3], [1, 1, 2, 3], [0, 1, 2, 2], [0, 1, 2, 3, 3], [0, 1, 2, 2**62]):
        np.savez(path, format=form.encode(), shape=(3, 3), data=[1.0] * 3, indices=[0, 1, 2], indptr=starts)
        assert "the indices of its sparse matrix do not fit its shape" in outcome(path)
    np.savez(path, format=b"coo", shape=(3, 3), data=[1.0], row=[0], col=[place])
    assert "is not a whole file of NumPy arrays: " in outcome(path)


def test_other_formats_and_parts_of_sparse_matrices_are_refused_by_name(tmp_path):
    path = tmp_path / "d.npz"
    for form in (b"bsr", b"dia", b"odd", 7.0):
        np.savez(path, format=form, shape=(2, 2), data=[1.0], indices=[0], indptr=[0, 1, 1])
        assert "csr, csc, coo can be read" in outcome(path)
    for parts in ({"shape": (2, 2.5)}, {"shape": (2, 2, 2)}, {"indices": [0.0]}, {"data": [[1.0]]}):
        np.savez(
            path, **{"format": b"csr", "shape": (2, 2), "data": [1.0], "indices": [0], "indptr": [0, 1, 1], **parts}
        )
        assert "has a sparse matrix whose" in outcome(path)
    np.savez(path, format=b"coo", shape=(2**40, 2), data=[1.0], row=[0], col=[0])
    assert "claims 1,099,511,627,776 rows, which do not fit into memory" in outcome(path)


def test_texts_with_characters_that_do_not_exist_are_refused(tmp_path):
    bad = np.array([0x41, 0x110000], dtype=np.uint32).view("U1")
    np.savez(tmp_path / "d.npz", X=np.eye(2), y=bad)
    assert "d.npz, y: a text has characters that do not exist" in outcome(tmp_path / "d.npz")
    record = np.zeros(2, dtype=[("a", "f8"), ("c", "U1")])
    record["c"] = bad
    np.save(tmp_path / "r.npy", record)
    with (
        open_source(str(tmp_path / "r.npy")) as source,
        pytest.raises(ValueError, match="characters that do not"),
    ):
        list(source.batches(["c"]))


def test_numbers_that_no_double_holds_are_infinite_without_a_warning(tmp_path):
    np.save(tmp_path / "d.npy", np.array([[np.finfo(np.longdouble).max, 1.0]] * 2))
    with open_source(str(tmp_path / "d.npy")) as source:
        assert np.isinf(next(source.blocks())[0][0, 0])
