"""Text in other encodings than UTF-8 is read as the same text, with a note where the encoding is a guess."""

from __future__ import annotations

import gzip
import lzma

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.tables.sources import text_encoding
from separatrix.tables.sources.opening import open_source
from separatrix.tables.sources.text_encoding import check_encoding, detect, in_utf8

TEXT = "name,größe\ncafé,1\nœuvre “x”,2\n"
EXPECTED = {"name": ["café", "œuvre “x”"], "größe": [1, 2]}
NOTE = "read as windows-1252; give --encoding if that is wrong"


def read(path, **options):
    with open_source(str(path), **options) as source:
        names = [column.name for column in source.columns]
        found = pa.Table.from_batches(list(source.batches(names))).to_pydict()
        return found, [note.removeprefix(f"{path}: ") for note in source.notes], source.files


@pytest.mark.parametrize("sql", [None, "select * from data"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings_are_detected(tmp_path, encoding, pack, sql):
    path = tmp_path / "a.csv"
    path.write_bytes(pack(TEXT.encode(encoding)))
    found, notes, files = read(path, sql=sql)
    assert found == EXPECTED
    assert notes == ([NOTE] if encoding == "cp1252" else [])
    assert files == [str(path)]


@pytest.mark.parametrize("encoding", ["mac-roman", "utf-16", "cp1252", "UTF8"])
def test_an_encoding_that_is_given_is_used_without_a_note(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert read(path, encoding=encoding)[:2] == (EXPECTED, [])


def test_bytes_without_a_meaning_in_windows_1252_are_those_of_latin_1(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n\x81\x93,1\n")
    assert read(path)[0]["x"] == ["\x81“"]


def test_a_late_byte_that_is_not_utf_8_lets_the_file_be_read_again(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 300_000 + b"2,\xe9\n")
    found, notes, _ = read(path)
    assert (found["b"][-1], len(found["a"]), notes) == ("é", 300_001, [NOTE])
    with pytest.raises(ValueError, match=r"line 300002: the text is not UTF-8; give its encoding, as in --encoding w"):
        read(path, encoding="utf-8")


def test_only_the_file_that_is_not_utf_8_is_read_in_another_way(tmp_path):
    for name, encoding in (("a", "utf-8"), ("b", "latin-1"), ("c", "utf-16")):
        (tmp_path / f"{name}.csv").write_bytes(f"x,y\ncafé {name},1\n".encode(encoding))
    found, notes, _ = read(tmp_path / "*.csv")
    assert found["x"] == ["café a", "café b", "café c"]
    assert notes == [f"{tmp_path / 'b.csv'}: {NOTE}"]


def test_json_lines_may_be_in_any_encoding(tmp_path):
    path = tmp_path / "a.jsonl"
    for encoding, expected in (("utf-16", []), ("latin-1", [NOTE])):
        path.write_bytes('{"a": "café"}\n{"a": "thé"}\n'.encode(encoding))
        assert read(path)[:2] == ({"a": ["café", "thé"]}, expected)


@pytest.mark.parametrize(
    "name", ["nonsense", "hex", "rot13", "base64", "idna", "unicode_escape", "undefined", "", "a\0b"]
)
def test_what_is_no_encoding_is_refused(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"^there is no encoding .*; --encoding takes names such as utf-8, utf-16"):
        open_source(str(path), encoding=name)


def test_an_encoding_is_for_text(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet is a parquet file, not text; --encoding is for text files$"):
        open_source(str(tmp_path / "a.parquet"), encoding="latin-1")


def test_text_that_the_encoding_does_not_have_is_refused_with_about_the_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 400_000 + b"2,\xe9\n")
    with pytest.raises(ValueError, match=r"a\.csv: the text is not ascii, from about line \d+ on; give another --enc"):
        read(path, encoding="ascii")


@settings(deadline=None)
@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8"]),
    st.integers(1, 7),
)
def test_a_text_cut_anywhere_is_the_same_text(text, encoding, size):
    raw = text.encode(encoding)
    pieces = (raw[k : k + size] for k in range(0, len(raw), size))
    assert b"".join(in_utf8(pieces, check_encoding(encoding), "a")).decode() == text


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_have_an_encoding_in_which_the_fallback_never_fails(raw, whole):
    assert detect(raw, whole) in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", text_encoding.FALLBACK)
    b"".join(in_utf8(iter([raw]), text_encoding.FALLBACK, "a")).decode()


def test_a_copy_leaves_no_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    path = tmp_path / "a.csv.xz"
    for text, works in ((TEXT, True), ("a,b\n1\n", False)):
        path.write_bytes(lzma.compress(text.encode()))
        if works:
            read(path)
        else:
            with pytest.raises(ValueError, match=r"a\.csv\.xz, line 2: 1 cell where the header has 2$"):
                read(path)
        assert not list((tmp_path / "tmp").iterdir())


def test_a_file_that_unpacks_to_more_than_the_disk_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.sources.copies._LOOK", 1 << 20)
    monkeypatch.setattr("separatrix.tables.sources.copies._SPARE", 1 << 62)
    path = tmp_path / "a.csv.xz"
    path.write_bytes(lzma.compress(b"a,b\n" + b"1,2\n" * 3_000_000, preset=0))
    with pytest.raises(
        ValueError, match=r"a\.csv\.xz takes more than the .* has room for; set TMPDIR to a folder with"
    ):
        read(path)


def test_the_fingerprint_is_that_of_the_file_and_not_of_its_copy(tmp_path):
    path = tmp_path / "a.csv.xz"
    path.write_bytes(lzma.compress(TEXT.encode()))

    def fingerprint(**options):
        with open_source(str(path), **options) as source:
            return source.fingerprint()

    first = fingerprint()
    assert first == fingerprint() is not None
    assert first != fingerprint(header=False)
    path.write_bytes(lzma.compress(TEXT.replace("1", "3").encode()))
    assert first != fingerprint()
