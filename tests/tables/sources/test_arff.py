"""ARFF and KEEL files: as SciPy and scikit-learn read them where those can, and what they cannot read."""

from __future__ import annotations

import gzip
import io
import lzma

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff

from separatrix.tables.sources.arff_text import ArffText
from separatrix.tables.sources.opening import open_source

HEADER = """% a comment
@relation 'some rows'
@ATTRIBUTE 'a b' numeric % unused
@attribute kind {'x y', z}
@attribute\tnote string
@attribute day date "yyyy-MM-dd"

@DATA
"""
ROWS = """% another
1.5, 'x y', 'it\\'s, ok', 2001-02-03
?,?,"say ?",?

 2 ,z,\t'?' , "2001-02-04"
3e1,'z','',?
"""


def table(path, **options):
    with open_source(str(path), **options) as source:
        names = [column.name for column in source.columns]
        rows = pa.Table.from_batches(list(source.batches(names)))
        return rows.to_pydict(), {column.name: column.kind for column in source.columns}


def refusal(path, text, **options):
    path.write_text(text)
    with pytest.raises(ValueError, match=r"\S") as caught:
        table(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path), path.name)


@pytest.mark.parametrize("sql", [None, "select * from data"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("name", "pack"), [("a.arff", bytes), ("a.arff.gz", gzip.compress), ("a", lzma.compress)])
def test_values_have_the_types_of_the_header(tmp_path, name, pack, end, sql):
    path = tmp_path / name
    path.write_bytes(pack((HEADER + ROWS).replace("\n", end).encode()))
    found, kinds = table(path, sql=sql)
    assert kinds == {"a b": "number", "kind": "text", "note": "text", "day": "date"}
    assert [None if day is None else str(day) for day in found.pop("day")] == ["2001-02-03", None, "2001-02-04", None]
    assert found == {
        "a b": [1.5, None, 2.0, 30.0],
        "kind": ["x y", None, "z", "z"],
        "note": ["it's, ok", "say ?", "?", None],
    }


def test_keel_files_are_recognised_by_their_content(tmp_path):
    path = tmp_path / "iris.dat"
    path.write_text(
        "@relation iris\n@attribute Length real [4.3, 7.9]\n@attribute Rings integer[1,29]\n@attribute Class {A, B c}\n"
        "@inputs Length, Rings\n@outputs Class\n@data\n5.1, 3, A\n<null>, 4, B c\n"
    )
    found, kinds = table(path)
    assert found == {"Length": [5.1, None], "Rings": [3, 4], "Class": ["A", "B c"]}
    assert kinds == {"Length": "number", "Rings": "number", "Class": "text"}


def test_categories_that_look_like_numbers_stay_categories(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n7,0\n8,1\n")
    assert table(path)[0] == {"x": [7, 8], "y": ["0", "1"]}


def test_sparse_rows_leave_out_zeros_and_first_categories(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute 'b c' {u,v}\n@attribute c numeric\n@data\n"
        "{0 3, 2 -4.5}\n{1 'v'}\n{}\n{ 1 ?, 2 ? }\n1,v,2\n"
    )
    assert table(path)[0] == {
        "a": [3, 0, 0, 0, 1], "b c": ["u", "v", "u", None, "v"], "c": [-4.5, 0.0, 0.0, None, 2.0],
    }  # fmt: skip


def test_white_space_may_part_values(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute a numeric\n@attribute b {u,'v w'}\n@data\n 1\t u \n2   'v w'\n? ?\n")
    assert table(path)[0] == {"a": [1, 2, None], "b": ["u", "v w", None]}


def test_one_attribute_has_a_row_for_each_value_and_none_for_comments(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute a numeric\n@data\n\n1\n% no\n?\n\n2\n")
    assert table(path)[0] == {"a": [1, None, 2]}


REFUSALS = {
    "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1,u\n%c\nx,v\n": (
        "a.arff, line 7, column 'a': 'x' is not a number; fix the cell, or leave it empty if the value is missing"
    ),
    "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1,u\n%c\n1,'v\n": (
        'a.arff, line 7: the quote of "\'v" is not closed, or text follows it'
    ),
    "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1,'u'\n1,'v'\n1,'v'w\n2,u\n": (
        "a.arff, line 7: the quote of \"'v'w\" is not closed, or text follows it"
    ),
    "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1,u\n%c\n\n1,'v',3\n": (
        "a.arff, line 8: 3 cells where there are 2 columns"
    ),
    "@relation r\n@attribute a numeric\n@data\n%c\n\n": "a.arff has no rows below @data",
    "@relation r\n@attribute a numeric\n1\n": (
        "a.arff, line 3: '1' is not a line of an ARFF header, which has @relation, @attribute and @data"
    ),
    "@relation r\n@attribute a numeric\n": "a.arff has no line @data; an ARFF file has its rows below it",
    "@relation r\n@data\n1\n": "a.arff, line 2: no @attribute line is before @data, so there are no columns",
    "@relation r\n@attribute a numeric\n@attribute a real\n@data\n1,2\n": "a.arff has two columns called 'a'",
    "@relation r\n@attribute a colour\n@data\n1\n": (
        "a.arff, line 2: the type 'colour' of attribute 'a' cannot be read; types are numeric, real, integer, string, "
        "date and {A, B}"
    ),
    "@relation r\n@attribute 'a\n@data\n1\n": "a.arff, line 2: \"@attribute 'a\" is not '@attribute NAME TYPE'",
    "@relation r\n@attribute a {x\n@data\n1\n": "a.arff, line 2: '{x' has no closing brace",
    "@relation r\n@attribute a real\n@attribute b real\n@data\n1,2\n{1 2, 0 3}\n": (
        "a.arff, line 6: a sparse row must have pairs 'INDEX VALUE' with indices that rise from 0 to 1; found ' 0 3'"
    ),
    "@relation r\n@attribute a real\n@data\n{0 3\n": (
        "a.arff, line 4: the sparse row has no closing brace, or something follows it"
    ),
}


@pytest.mark.parametrize("text", REFUSALS)
def test_what_is_wrong_is_one_sentence_with_the_line(tmp_path, text):
    assert refusal(tmp_path / "a.arff", text) == REFUSALS[text]


def test_options_of_csv_files_are_refused(tmp_path):
    sentence = refusal(tmp_path / "a.arff", HEADER + ROWS, header=False)
    assert sentence == "a.arff is an arff file and has no header line; --no-header is for CSV files"


@pytest.mark.parametrize("late", [False, True])
def test_text_that_is_not_utf_8_is_read_with_a_note(tmp_path, late):
    path = tmp_path / "a.arff"
    rows = "1,a\n" * (400_000 if late else 3) + "2,'café'\n"
    path.write_bytes(f"@relation r\n@attribute a real\n@attribute b {{a,'café'}}\n@data\n{rows}".encode("latin-1"))
    if late:
        path.write_bytes(path.read_bytes().replace(b",'caf\xe9'}", b"}"))
    with open_source(str(path)) as source:
        assert source.notes == [f"{path}: read as windows-1252; give --encoding if that is wrong"]
        last = list(source.batches(["b"]))[-1].column(0).to_pylist()[-1]
        assert (last, source.files) == ("café", [str(path)])


def test_a_dense_file_is_what_scipy_reads(tmp_path):
    rng = np.random.default_rng(0)
    X, kinds = rng.normal(size=(500, 3)), rng.choice(["u", "v w"], 500)
    lines = [f"{a!r},{b!r}, {c!r},'{k}'" for (a, b, c), k in zip(X.tolist(), kinds, strict=True)]
    text = "@relation r\n@attribute a real\n@attribute b real\n@attribute c real\n@attribute k {u,'v w'}\n@data\n"
    path = tmp_path / "a.arff"
    path.write_text(text + "\n".join(lines))
    found, _ = table(path)
    data, _meta = arff.loadarff(io.StringIO(path.read_text()))
    for name in "abc":
        np.testing.assert_array_equal(found[name], data[name])
    assert found["k"] == [value.decode() for value in data["k"]]


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=1, max_size=20),
    st.integers(1, 50),
    st.booleans(),
    st.sampled_from([",", ", ", " ,\t"]),
)
def test_any_text_in_quotes_comes_back_however_the_file_is_cut(texts, size, double, between):
    """Written with the escapes that Weka writes; read with Python's csv."""
    import csv

    quote = '"' if double else "'"
    escapes = str.maketrans({"\\": "\\\\", quote: f"\\{quote}", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
    rows = "".join(f"{k}{between}{quote}{text.translate(escapes)}{quote}\n" for k, text in enumerate(texts))
    raw = f"@relation r\n@attribute n integer\n@attribute t string\n@data\n{rows}".encode()
    read = ArffText((raw[k : k + size] for k in range(0, len(raw), size)), "a")
    lines = b"".join(read.rows()).decode()
    assert [row[1] for row in csv.reader(io.StringIO(lines, newline="")) if row] == texts


@pytest.mark.parametrize("row", ["1," + " " * 400_000 + "x", "1,'" + "a\\" * 200_000, "{0 " + " " * 400_000])
def test_odd_lines_take_linear_time(tmp_path, row):
    path = tmp_path / "a.arff"
    refusal(path, f"@relation r\n@attribute a real\n@attribute b real\n@data\n{row}\n")
    refusal(path, f"@relation r\n@attribute a {{{row}\n@data\n1\n")
