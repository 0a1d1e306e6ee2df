"""The reader of libsvm text: equal to scikit-learn's, whatever the chunks, with a sentence for whatever is wrong."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from separatrix import _core
from separatrix.tables.sources import libsvm
from separatrix.tables.sources.libsvm import LibsvmSource, read_libsvm

CORPUS = Path(__file__).parents[3] / "fuzz" / "corpus" / "libsvm_core"
TEXT = (
    b"\xef\xbb\xbf+1 1:0.5 3:-2e-3 # first\r\n\n# a comment\n-1 qid:3 2:1\t7:.25  \n2.5\n \t\r\n"
    b"0 1:123456789012345678 9:1e-320 #x\n-3 7:179769313486231580793e288 0010:5."
)


def read_all(text, zero_based=False, dtype=np.float64):
    return read_libsvm(io.BytesIO(text), zero_based=zero_based, dtype=dtype)


def outcome(pieces, zero_based=False, single=False, rows=None):
    """What a reader makes of the pieces: all that it read, or its sentence."""
    reader = _core.LibsvmReader(zero_based, single)
    got = []
    try:
        for piece in pieces:
            reader.feed(piece)
            if rows:
                got.append(reader.take(rows))
        reader.finish()
        while rows and reader.rows > rows:
            got.append(reader.take(rows))
        got.append(reader.take(reader.rows))
    except ValueError as problem:
        return str(problem)
    columns = [(values, columns, np.diff(starts), labels) for values, columns, starts, labels in got]
    parts = [b"".join(part.tobytes() for part in column) for column in zip(*columns, strict=True)]
    return parts, reader.width, reader.smallest, reader.lines


def assert_same_as_sklearn(text, zero_based=False):
    X, y = read_all(text, zero_based)
    theirs, labels = load_svmlight_file(io.BytesIO(text), zero_based=zero_based)
    assert X.shape == theirs.shape
    assert X.data.tobytes() == theirs.data.tobytes()
    np.testing.assert_array_equal(X.indices, theirs.indices)
    np.testing.assert_array_equal(X.indptr, theirs.indptr)
    assert y.tobytes() == labels.tobytes()


digits = st.text("0123456789", min_size=1, max_size=25)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda v: f"{v:.6f}"),
    st.integers(-(10**25), 10**25).map(str),
    st.tuples(st.sampled_from(["", "-", "+"]), digits, digits, st.integers(-330, 280)).map(
        lambda t: f"{t[0]}{t[1]}.{t[2]}e{t[3]}"
    ),
    st.sampled_from(["0", "-0", "1", "5.", ".5", "1E5", "1e+3", "9007199254740993", "4.9e-324", "2e-324", "1e-400"]),
)
spaces = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def lines(draw):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "  ", "# only a comment", "\t# 1:2", "#"]))
    line = draw(numbers) + (f" qid:{draw(st.integers(0, 99))}" if draw(st.booleans()) else "")
    for index in sorted(draw(st.sets(st.integers(1, 10**6), max_size=8))):
        line += f"{draw(spaces)}{index}:{draw(numbers)}"
    return line + draw(st.sampled_from(["", " ", "\r", " # 1:2 3", "#x"]))


files = st.tuples(st.lists(lines(), max_size=8), numbers, st.booleans()).map(
    lambda t: ("\n".join([*t[0], f"{t[1]} 3:1"]) + "\n" * t[2]).encode()
)


@settings(max_examples=200, deadline=None)
@given(files)
def test_random_files_are_read_as_scikit_learn_reads_them(text):
    assert_same_as_sklearn(text)


@settings(max_examples=300, deadline=None)
@given(numbers)
def test_a_number_is_read_as_python_reads_it(number):
    value = float(number)
    X, y = read_all(f"{number} 1:{number}".encode())
    assert y[0].hex() == X.data[0].hex() == value.hex()


def test_digits_near_halfway_between_floats_are_rounded_to_the_nearest():
    random.seed(0)
    near = []
    for _ in range(3000):
        mantissa, exponent = random.getrandbits(53) | 1 << 53, random.randint(-60, 10)
        halfway = (2 * mantissa + 1) * 5 ** max(-exponent, 0) * 2 ** max(exponent, 0)  # over 10^-exponent
        for off in (-1, 0, 1):
            written = str(halfway + off).zfill(1 - min(exponent, 0) + 1)
            near.append(written[:exponent] + "." + written[exponent:] if exponent < 0 else written)
            near.append(near[-1][:20])
    _, y = read_all("\n".join(near).encode())
    assert y.tobytes() == np.array([float(number) for number in near]).tobytes()


def test_data_like_a9a_are_read_as_scikit_learn_reads_them():
    rng = np.random.default_rng(0)
    rows = (sorted(rng.choice(123, 14, replace=False) + 1) for _ in range(3000))
    text = "".join(f"{rng.choice(['+1', '-1'])} {' '.join(f'{j}:1' for j in row)} \n" for row in rows).encode()
    assert_same_as_sklearn(text)


def test_indices_from_zero_are_taken_when_asked_for():
    assert_same_as_sklearn(b"1 0:2 5:3\n2 4:1\n", zero_based=True)
    reader = _core.LibsvmReader(zero_based=True)
    reader.feed(b"1 4:2 7:1\n1 2:3\n")
    assert (reader.smallest, reader.width) == (2, 8)


def test_nothing_was_seen_before_the_first_row():
    reader = _core.LibsvmReader()
    assert (reader.rows, reader.lines, reader.width, reader.smallest) == (0, 0, 0, None)


def test_single_precision_is_the_rounded_double():
    X, _ = read_all(b"1 1:0.1 2:16777217", dtype=np.float32)
    assert X.dtype == np.float32
    assert X.data.tolist() == [np.float32(0.1), 16777216.0]


@pytest.mark.parametrize("cut", range(len(TEXT) + 1))
def test_a_chunk_may_end_at_any_byte(cut):
    assert outcome([TEXT[:cut], TEXT[cut:]]) == outcome([TEXT])
    assert outcome([TEXT[:cut], TEXT[cut:]], rows=1) == outcome([TEXT])


def test_chunks_of_one_byte_and_any_bytes_like_object_will_do():
    whole = outcome([TEXT])
    assert outcome([bytes([byte]) for byte in TEXT]) == whole
    assert (
        outcome([bytearray(TEXT)]) == outcome([memoryview(TEXT)]) == outcome([np.frombuffer(TEXT, np.uint8)]) == whole
    )
    with pytest.raises(TypeError):
        _core.LibsvmReader().feed("text")


ERRORS = {
    "1 5:1 3:1": "line 1: the index 3 follows 5; indices must rise",
    "1 5:1\n1 5:1 5:2": "line 2: the index 5 follows 5; indices must rise",
    "1 0:1": "line 1: found the index 0 where indices start with 1",
    "# c\n\n1 -3:1": "line 3: the index -3 is negative",
    "1 4000000000:1": "line 1: the index 4000000000 is above 2147483647",
    "1 2147483648:1": "line 1: the index 2147483648 is above 2147483647",
    "1 99999999999999999999999:1": "line 1: the index 99999999999999999999999 is above 2147483647",
    "1 3": "line 1: found '3' where index:value belongs",
    "1 3 :4": "line 1: found '3' where index:value belongs",
    "1 a:4": "line 1: found 'a:4' where index:value belongs, the index a whole number",
    "1 1.5:4": "line 1: found '1.5:4' where index:value belongs, the index a whole number",
    "1 :4": "line 1: found ':4' where index:value belongs, the index a whole number",
    "1 -:4": "line 1: found '-:4' where index:value belongs, the index a whole number",
    "1 2:": "line 1: found nothing where a number belongs, at index 2",
    "1 2: 3": "line 1: found nothing where a number belongs, at index 2",
    "1 2:x": "line 1: found 'x' where a number belongs, at index 2",
    "1 2:3:4": "line 1: found '3:4' where a number belongs, at index 2",
    "1 2:1e": "line 1: found '1e' where a number belongs, at index 2",
    "1 2:1e+": "line 1: found '1e+' where a number belongs, at index 2",
    "1 2:.": "line 1: found '.' where a number belongs, at index 2",
    "1 2:--1": "line 1: found '--1' where a number belongs, at index 2",
    "1 2:1_0": "line 1: found '1_0' where a number belongs, at index 2",
    "1 2:0x10": "line 1: found '0x10' where a number belongs, at index 2",
    "1 2:nan": "line 1: found 'nan' where a number belongs, at index 2",
    "1 2:-inf": "line 1: found '-inf' where a number belongs, at index 2",
    "1 2:1e400": "line 1: found '1e400' where a value that a 64-bit float can hold belongs, at index 2",
    "1 2:é": r"line 1: found '\xc3\xa9' where a number belongs, at index 2",
    "1 2:" + "7" * 60 + "x": f"line 1: found '{'7' * 40}...' where a number belongs, at index 2",
    "1 2:" + "0" * 10_001: f"line 1: found '{'0' * 40}...' where a number belongs, at index 2",
    "1,2 1:1": "line 1: found the labels '1,2'; each row must have a single label",
    "spam 1:1": "line 1: found 'spam' where the label, a number, belongs",
    "nan 1:1": "line 1: found 'nan' where the label, a number, belongs",
    "1:1 2:1": "line 1: found '1:1' where the label, a number, belongs",
    "1e999 1:1": "line 1: found '1e999' where a label that a 64-bit float can hold belongs",
    "1 qid:x 1:1": "line 1: found 'qid:x' where qid: and a whole number belong",
    "1 1:1 qid:2": "line 1: found 'qid:2' where index:value belongs, the index a whole number",
    "1 1:\0": "line 1: found a NUL byte; text is needed",
    "\0": "line 1: found a NUL byte; text is needed",
}


@pytest.mark.parametrize("text", ERRORS)
def test_what_is_wrong_is_said_in_one_sentence_wherever_the_chunks_end(text):
    data = text.encode()
    with pytest.raises(ValueError) as problem:  # noqa: PT011 (compared below)
        read_all(data)
    assert str(problem.value) == "the file, " + ERRORS[text]
    step = max(1, len(data) // 20)
    assert {outcome([data[:cut], data[cut:]]) for cut in range(0, len(data), step)} == {ERRORS[text]}


def test_a_value_too_large_for_single_precision_is_refused():
    with pytest.raises(ValueError, match="found '1e39' where a value that a 32-bit float can hold belongs, at index 1"):
        read_all(b"1 1:1e39", dtype=np.float32)


def test_a_reader_that_failed_says_so_again():
    reader = _core.LibsvmReader()
    for act in (lambda: reader.feed(b"x\n"), lambda: reader.feed(b"1 1:1\n"), lambda: reader.take(1), reader.finish):
        with pytest.raises(ValueError, match="line 1: found 'x' where the label"):
            act()


def test_the_number_of_rows_to_take_is_checked():
    with pytest.raises(ValueError, match="rows is negative"):
        _core.LibsvmReader().take(-1)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: path.name[:8])
def test_what_fuzzing_found_is_read_the_same_in_any_pieces(path):
    data = path.read_bytes()
    options, text = data[0] if data else 0, data[2:]
    zero_based, single = bool(options & 1), bool(options & 2)
    whole = outcome([text], zero_based, single)
    assert outcome([text[k : k + 1] for k in range(len(text))], zero_based, single, rows=2) == whole
    assert outcome([text[k : k + 7] for k in range(0, len(text), 7)], zero_based, single) == whole


def test_there_is_a_corpus():
    assert any(CORPUS.glob("*"))


# Files


def write(path, text):
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
@pytest.mark.parametrize("chunk", [1, 10, 1 << 20])
def test_blocks_put_together_are_the_whole_file(tmp_path, monkeypatch, rows, chunk):
    monkeypatch.setattr(libsvm, "_CHUNK", chunk)
    path = write(tmp_path / "a.txt", TEXT)
    X, y = read_libsvm(path)
    source = LibsvmSource(path)
    for _ in range(2):  # a path can be read again
        blocks = list(source.blocks(rows))
        assert [len(labels) for _, labels in blocks[:-1]] == [rows] * (len(blocks) - 1)
        widths = [block.shape[1] for block, _ in blocks]
        assert widths == sorted(widths)
        for block, _ in blocks:
            assert block.has_canonical_format
            block.check_format()
            block.resize(block.shape[0], X.shape[1])
        dense = np.vstack([block.toarray() for block, _ in blocks])
        np.testing.assert_array_equal(dense, X.toarray())
        np.testing.assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    assert (source.name, source.sparse, source.labelled) == (str(path), True, True)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_gz_is_unpacked_whatever_its_name_and_members(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(libsvm, "_CHUNK", chunk)
    X, y = read_all(TEXT)
    members = gzip.compress(TEXT[:50]) + gzip.compress(b"") + gzip.compress(TEXT[50:])
    for packed in (gzip.compress(TEXT), members, members + b"\0" * 20):
        got, labels = read_libsvm(write(tmp_path / "a.txt", packed))
        assert (got != X).nnz == 0
        np.testing.assert_array_equal(labels, y)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_gz_that_unpacks_to_much_more_is_unpacked_in_steps(tmp_path, monkeypatch, chunk):
    text = b"1 1:1\n" * 20_000 + b"2 2:2"
    path = write(tmp_path / "a.gz", gzip.compress(text))
    monkeypatch.setattr(libsvm, "_CHUNK", max(chunk, 100))
    longest = max(len(piece) for piece in LibsvmSource(path)._chunks())
    assert longest <= max(chunk, 100)
    X, y = read_libsvm(path)
    assert X.shape == (20_001, 2)
    assert y[-1] == 2


def test_gz_cut_short_is_said_to_be(tmp_path):
    packed = gzip.compress(TEXT)
    for size in range(2, len(packed)):
        path = write(tmp_path / "a.gz", packed[:size])
        with pytest.raises(ValueError, match=r"a\.gz: the gz data end early; the file is truncated$"):
            read_libsvm(path)


def test_gz_that_is_damaged_is_refused(tmp_path):
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 1
    with pytest.raises(ValueError, match=r"a\.gz: the gz data are damaged \(.*incorrect data check\)"):
        read_libsvm(write(tmp_path / "a.gz", packed))
    with pytest.raises(ValueError, match=r"a\.gz: something other than gz data follows the gz data"):
        read_libsvm(write(tmp_path / "a.gz", gzip.compress(TEXT) + b"\0\0more"))
    with pytest.raises(ValueError, match=r"a\.gz: the gz data are damaged"):
        read_libsvm(write(tmp_path / "a.gz", gzip.compress(TEXT) + b"more"))
    with pytest.raises(ValueError, match=r"a\.gz is empty inside gzip"):
        read_libsvm(write(tmp_path / "a.gz", gzip.compress(b"")))


def test_other_packers_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"a9a is compressed with Zstandard; decompress it first, or use gzip"):
        read_libsvm(write(tmp_path / "a9a", b"\x28\xb5\x2f\xfd"))


@pytest.mark.parametrize("chunk", [100, 1 << 20])
@pytest.mark.parametrize(("ending", "pack"), [("bz2", bz2.compress), ("xz", lzma.compress)])
def test_bz2_and_xz_are_unpacked_in_steps_whatever_their_streams(tmp_path, monkeypatch, chunk, ending, pack):
    monkeypatch.setattr(libsvm, "_CHUNK", chunk)
    X, y = read_all(TEXT)
    streams = pack(TEXT[:50]) + pack(b"") + pack(TEXT[50:])
    for packed in (pack(TEXT), streams, streams + b"\0" * 20):
        got, labels = read_libsvm(write(tmp_path / "a.txt", packed))
        assert (got != X).nnz == 0
        np.testing.assert_array_equal(labels, y)
    large = write(tmp_path / "b", pack(b"1 1:1\n" * 20_000))
    assert max(len(piece) for piece in LibsvmSource(large)._chunks()) <= chunk
    for size in range(10, len(pack(TEXT))):
        with pytest.raises(ValueError, match=rf"a: the {ending} data end early; the file is truncated$"):
            read_libsvm(write(tmp_path / "a", pack(TEXT)[:size]))
    with pytest.raises(ValueError, match=rf"a: something other than {ending} data follows the {ending} data"):
        read_libsvm(write(tmp_path / "a", pack(TEXT) + b"more than a little"))
    with pytest.raises(ValueError, match=rf"a is empty inside {ending}"):
        read_libsvm(write(tmp_path / "a", pack(b"")))


def test_files_that_hold_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt is empty; lines such as '1 3:0.5' are needed"):
        read_libsvm(write(tmp_path / "a.txt", b""))
    with pytest.raises(ValueError, match=r"a\.txt has no rows, only blank lines and comments"):
        read_libsvm(write(tmp_path / "a.txt", b"# nothing\n\n"))
    with pytest.raises(ValueError, match=r"there is no file .*none\.txt"):
        read_libsvm(tmp_path / "none.txt")
    with pytest.raises(ValueError, match=r"is a folder; a libsvm file is needed"):
        read_libsvm(tmp_path)


def test_errors_name_the_file_and_the_line(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt, line 2: the index 1 follows 2; indices must rise"):
        read_libsvm(write(tmp_path / "a.txt", b"1 1:1\n1 2:1 1:1\n"))
    with pytest.raises(ValueError, match=r"a\.txt, line 1: found 'x' where"):
        list(LibsvmSource(write(tmp_path / "a.txt", b"x")).blocks(5))


def test_an_open_file_is_read_once():
    source = LibsvmSource(io.BytesIO(b"1 1:1"), name="standard input")
    assert len(list(source.blocks(10))) == 1
    with pytest.raises(ValueError, match="standard input has been read before"):
        list(source.blocks(10))


def test_the_width_can_be_given():
    assert read_libsvm(io.BytesIO(b"1 3:1"), width=7)[0].shape == (1, 7)
    with pytest.raises(ValueError, match="the file has 3 columns, more than the width 2"):
        read_libsvm(io.BytesIO(b"1 3:1"), width=2)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="rows must be at least 1, not 0"):
        next(LibsvmSource(io.BytesIO(b"1 1:1")).blocks(0))
    with pytest.raises(ValueError, match="dtype must be float64 or float32, not int64"):
        LibsvmSource(io.BytesIO(b"1 1:1"), dtype=np.int64)


def test_rows_without_values_have_no_width():
    X, y = read_all(b"1\n2 # none\n")
    assert X.shape == (2, 0)
    assert y.tolist() == [1, 2]


def test_the_largest_index_takes_no_room():
    X, _ = read_all(b"1 2147483647:1")
    assert X.shape == (1, 2**31 - 1)
    assert X.nnz == 1
