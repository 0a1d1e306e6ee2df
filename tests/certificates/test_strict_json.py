"""JSON that two readers could understand differently is refused, in certificates, model files and notes on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix.tables.disk.rowfile import RowFile
from separatrix.text import read_json


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', "the note has the field 'a' twice"),
        ('[{"b": {"a": 1, "c": 2, "\\u0061": 1}}]', "the note has the field 'a' twice"),
        ('{"": 1, "": 2}', "the note has the field '' twice"),
        ("[NaN]", "the note is not JSON: it holds a NaN or an infinity"),
        ('{"a": -Infinity}', "the note is not JSON: it holds a NaN or an infinity"),
        ("1e999", "the note holds a number that is too large: 1e999"),
        ("[-1.5e400]", "the note holds a number that is too large"),
        ("9" * 5000, "the note holds a number with too many digits"),
        ("[" * 100_000, "the note is nested too deeply"),
        ("{'a': 1}", "the note is not JSON: .* in line 1"),
        ("[1,]", "the note is not JSON"),
        ("[1] []", "the note is not JSON"),
        ("\ufeff{}", "the note is not JSON"),
        ("", "the note is not JSON"),
    ],
)
def test_what_readers_could_understand_differently_is_refused_in_one_line(text, message):
    with pytest.raises(ValueError, match=rf"^{message}") as problem:
        read_json(text, "the note")
    assert "\n" not in str(problem.value)


def test_plain_json_is_what_python_reads():
    for value in ({"a": [1, 2.5, -0.0, 1e308, 5e-324, None, True, "\u2028"], "b": {"a": {"a": {}}}}, [], 2**70, "x"):
        assert repr(read_json(json.dumps(value), "the note")) == repr(value)


def test_a_note_on_disk_with_a_field_twice_is_not_used(tmp_path):
    rows = RowFile(tmp_path, 2, sparse=False, weighted=False)
    rows.append(np.ones((3, 2)), np.zeros(3, dtype=np.int32))
    rows.seal()
    assert RowFile.reopen(tmp_path).n == 3
    note = tmp_path / "about.json"
    note.write_text(note.read_text().replace('"n":', '"n": 3, "n":'))
    assert RowFile.reopen(tmp_path) is None


def test_only_data_and_options_are_read_by_another_reader():
    folder = Path(separatrix.__file__).parent
    own = {  # the reader itself, data, options of a command, and text that was written a line before
        "text.py", "tables/sources/json_files.py", "cli/options.py", "tables/fit.py", "tables/compare/comparison.py",
            "tables/sources/apart.py", "tables/sources/child.py",  # two processes of this package
            "tables/sources/query_files.py",  # what DuckDB writes about a query
    }  # fmt: skip
    readers = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if any("json.load" in line and ">>>" not in line for line in path.read_text(encoding="utf-8").splitlines())
    }
    assert readers <= own
