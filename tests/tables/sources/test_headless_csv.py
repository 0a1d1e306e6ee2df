"""CSV files without a header line: read when that is said, refused with the option when their first line is data."""

from __future__ import annotations

import gzip
import lzma
import shlex

import pyarrow as pa
import pytest

from separatrix.tables.sources.opening import open_source


def table(path, **options):
    with open_source(str(path), **options) as source:
        names = [column.name for column in source.columns]
        return pa.Table.from_batches(list(source.batches(names))).to_pydict()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_columns_are_called_c1_c2_and_no_row_is_lost(tmp_path, end, pack):
    path = tmp_path / "a.txt"
    path.write_bytes(pack(end.join(["5.1,2020-01-01,a", "4.9,2020-01-02,b", "6,2020-01-03,b"]).encode()))
    for options in ({}, {"sql": "select c1, c2, c3 from data"}, {"frugal": True}):
        found = table(path, header=False, **options)
        assert [str(day) for day in found.pop("c2")] == ["2020-01-01", "2020-01-02", "2020-01-03"]  # read by DuckDB
        assert found == {"c1": [5.1, 4.9, 6.0], "c3": ["a", "b", "b"]}


def test_lines_are_counted_from_the_first_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n1,a\n2,b\n3\n")
    with pytest.raises(ValueError, match=r"a\.csv, line 4: 1 cell where there are 2 columns$"):
        table(path, header=False)


def test_a_large_plain_file_without_header_is_read_by_the_fast_reader(tmp_path, monkeypatch):
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.whole import read_whole

    monkeypatch.setattr("separatrix.tables.sources.csv_files.CHEAP", 1000)
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{k},{k * k},{'ab'[k % 2]}\n" for k in range(5000)))
    with open_source(str(path), header=False) as source:
        assert source.plain.header is False
        assert source.n_rows is None  # types rest on the first rows
        whole = read_whole(source, ColumnOptions("c3", detect=False))
    assert whole.X[:, 1].tolist() == [float(k * k) for k in range(5000)]


REFUSED = {
    "numbers only": "1,2\n3,4\n",
    "numbers over numbers, and a value that comes again": "5.1,Iris-setosa\n4.9,Iris-setosa\n6.1,Iris-virginica\n",
    "a number twice": "1,0,1,g\n1,0,2,b\n",
    "a value twice": "vhigh,vhigh,2\nhigh,vhigh,3\n",
    "spaces behind the delimiter": "39, State-gov, 77516\n50, Private, 83311\n38, State-gov, 215646\n",
    "an empty cell": "1,,a\n2,3,a\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=list(REFUSED))
def test_a_first_line_that_is_data_is_refused_with_an_option_that_works(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"^the first line of .*a\.csv .*; give --no-header if it is data") as caught:
        table(path)
    assert "\n" not in str(caught.value)
    assert len(table(path, header=False)["c1"]) == text.count("\n")


KEPT = {
    "years": ("country,1999,2000\nFrance,10,12\nItaly,1999,12\n", ["country", "1999", "2000"]),
    "wavelengths": ("sample,400.5,401.0\na,0.1,0.2\nb,0.3,0.1\n", ["sample", "400.5", "401.0"]),
    "a name that is a value": ("spam,text\nspam,buy\nham,hello\n", ["spam", "text"]),
    "numbers over text": ("1,2,sex\na,b,c\nb,c,sex\n", ["1", "2", "sex"]),
}


@pytest.mark.parametrize(("text", "names"), KEPT.values(), ids=list(KEPT))
def test_a_header_with_numbers_or_values_is_a_header(tmp_path, text, names):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert list(table(path)) == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b,a\nx,1,2\n",
            "a.csv has two columns called 'a'; rename one, or give --sql 'select * from '\"'\"'a.csv'\"'\"'' in place "
            "of the file, which reads it as NAME_1",
        ),
        ("a,,\nx,y,2\n", "a.csv has no name for column 2 in its header line"),
    ],
)
def test_a_header_with_a_wrong_name_is_told_as_such(tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"\S") as caught:
        table("a.csv")
    assert str(caught.value) == sentence


def test_quotes_can_be_plain_text(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('kind\ttext\nham\t"so he said\nspam\t5" tape\nham\ta "word"\tof\n'.replace('"\tof', '"'))
    with pytest.raises(ValueError, match=r"; if quotes are plain text in this file, give --no-quotes$"):
        table(path)
    expected = {"kind": ["ham", "spam", "ham"], "text": ['"so he said', '5" tape', 'a "word"']}
    assert table(path, quotes=False) == expected
    assert table(path, quotes=False, sql="select * from data") == expected
    assert table(path, quotes=False, header=False)["c2"] == ["text", *expected["text"]]


def test_quotes_as_plain_text_do_not_depend_on_the_pieces(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    rows = [[f'{k}"', '"' * (k % 4), "x" * (k % 7)] for k in range(200)]
    path.write_text("a,b,c\r\n" + "".join(",".join(row) + "\r\n" for row in rows))
    for piece in (1, 5, 64):
        monkeypatch.setattr("separatrix.tables.sources.csv_rows._PIECE", piece)
        found = table(path, quotes=False, delimiter=",")
        assert list(map(list, zip(*found.values(), strict=True))) == [[cell or None for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"header": False}, "is a libsvm file and has no header line; --no-header is for CSV files"),
        ({"quotes": False}, "is a libsvm file and has no quotes; --no-quotes is for CSV files"),
    ],
)
def test_options_of_csv_files_are_refused_for_others(tmp_path, options, sentence):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2\n")
    with pytest.raises(ValueError, match=sentence):
        open_source(str(path), **options)
    with pytest.raises(
        ValueError, match=r"^--no-(?:header|quotes) needs a file; a query reads its files in its own way"
    ):
        open_source(None, sql="select 1", **options)


def test_a_space_behind_each_delimiter_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "spaced.csv"
    path.write_text("39, State-gov, <=50K\n50, Private, >50K\n38, Private, <=50K\n")
    with open_source(str(path), header=False) as source:
        rows = [row for batch in source.batches(["c1", "c2", "c3"]) for row in batch.to_pylist()]
    assert rows[0] == {"c1": 39, "c2": "State-gov", "c3": "<=50K"}
    path.write_text("39, State-gov,<=50K\n50,Private, >50K\n38, Private, <=50K\n")
    with open_source(str(path), header=False) as source:
        rows = [row for batch in source.batches(["c2"]) for row in batch.to_pylist()]
    assert [row["c2"] for row in rows] == [" State-gov", "Private", " Private"]


UNNAMED = {
    "an index": (",a,c\n0,1.5,x\n1,2.5,y\n", {"c1": [0, 1], "a": [1.5, 2.5], "c": ["x", "y"]}),
    "a delimiter at the end": ("a,c,\n1.5,x,\n2.5,y,\n", {"a": [1.5, 2.5], "c": ["x", "y"], "c3": [None, None]}),
    "a name that is taken": ("c2,,a\n1,2,3\n4,5,6\n", {"c2": [1, 4], "c2_": [2, 5], "a": [3, 6]}),
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(("text", "rows"), UNNAMED.values(), ids=list(UNNAMED))
def test_a_column_without_a_name_is_called_by_its_place(tmp_path, pack, encoding, text, rows):
    path = tmp_path / "a.csv"
    path.write_bytes(pack(text.encode(encoding)))
    for options in ({}, {"sql": "select * from data"}, {"frugal": True}):
        assert table(path, **options) == rows
    with open_source(str(path)) as source:
        made = next(name for name in rows if name not in text)
        assert source.notes == [f"{path}: a column without a name is called {made}"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("letter", [";", ",", "\t", "|"])
def test_a_line_with_the_delimiter_before_the_header_is_heeded(tmp_path, end, letter):
    path = tmp_path / "a.csv"
    lines = [f"sep={letter}", letter.join("ab"), letter.join(["1,5", "x"]), letter.join(["2", "y"])]
    lines[2] = lines[2] if letter != "," else '"1,5",x'
    path.write_bytes(end.join(lines).encode())
    for options in ({}, {"sql": "select * from data"}, {"frugal": True}):
        assert table(path, **options) == {"a": ["1,5", "2"], "b": ["x", "y"]}
    path.write_bytes(b"sep=\n1\n2\n")  # a column of that name
    assert table(path) == {"sep=": [1, 2]}


def test_two_columns_of_one_name_are_read_by_the_query_of_the_hint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's.csv").write_text("a,a,y\n1,2,x\n3,4,z\n")
    with pytest.raises(ValueError, match="two columns called 'a'") as caught:
        table("it's.csv")
    words = shlex.split(str(caught.value).partition("give ")[2])
    assert words[0] == "--sql"
    with open_source(None, sql=words[1]) as source:
        assert [column.name for column in source.columns] == ["a", "a_1", "y"]
