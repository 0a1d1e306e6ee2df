"""Keys of JSON objects that cannot become columns are refused with their line and the true reason."""

from __future__ import annotations

import gzip

import pytest

from separatrix.tables.sources.opening import open_source


def table(path, text):
    path.write_text(text)
    with open_source(str(path)) as source:
        names = [column.name for column in source.columns]
        return [row for batch in source.batches(names) for row in batch.to_pylist()]


def refusal(path, text):
    with pytest.raises(ValueError, match=r"\S") as caught:
        table(path, text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "A": 2}\n', ", line 1: the keys 'a' and 'A' differ only in case; rename one"),
        ('{"a": 1}\n\n{"A": 2}\n', ", line 3: the keys 'a' and 'A' differ only in case; rename one"),
        ('{"x": 1, "a": 1, "a_1": 1}\n{"X": 2}\n', ", line 2: the keys 'x' and 'X' differ only in case; rename one"),
        ('{"a": 1}\n{"b": 2, "a": 3, "a": 4}\n', ", line 2: the key 'a' is there twice in one object"),
        ('{"a": 1, "a": 4}\n', ", line 1: the key 'a' is there twice in one object"),
        ('{"a": {"b": 1, "b": 2}}\n', ", line 1: the key 'b' is there twice in one object"),
        ('{"": 1, "b": 2}\n', ", line 1: a key is empty; every key must have a name"),
    ],
)
def test_the_key_and_its_line_are_named(tmp_path, text, message):
    assert refusal(tmp_path / "d.jsonl", text) == message


def test_keys_in_an_array_are_named_too(tmp_path):
    path = tmp_path / "d.json"
    assert refusal(path, '[{"a": 3}, {"a": 1, "a": 2}]') == ", object 2: the key 'a' is there twice in one object"
    assert refusal(path, '[{"a": 3, "A": 2}]') == ": the keys 'A' and 'a' differ only in case; rename one"
    assert table(path, '[{"a": 3, "a_1": 2}]') == [{"a": 3, "a_1": 2}]


@pytest.mark.parametrize("name", ["truncated.jsonl", "zstd.jsonl", "truncated.jsonl.gz"])
def test_the_name_of_a_file_does_not_mean_that_its_end_is_missing(tmp_path, name):
    path = tmp_path / name
    raw = b'{"n0": true,0"\x801": 0.5, "label": tru\r}\n'
    path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    with pytest.raises(ValueError, match="line 1: this is not a JSON object"):
        open_source(str(path))


def test_lines_are_counted_in_a_packed_file(tmp_path):
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2}\n{"A": 3}\n'))
    with pytest.raises(ValueError, match="line 3: the keys 'a' and 'A' differ only in case"):
        open_source(str(path))


def test_keys_that_only_look_renamed_are_columns(tmp_path):
    text = '{"a": 1, "a_1": 2, "a_2": 3}\n{"a": 4, "a_1": 5, "a_2": 6}\n'
    rows = [{"a": 1, "a_1": 2, "a_2": 3}, {"a": 4, "a_1": 5, "a_2": 6}]
    assert table(tmp_path / "d.jsonl", text) == rows


def test_a_key_of_one_row_is_missing_in_the_others(tmp_path):
    rows = table(tmp_path / "d.jsonl", '{"a": 1}\n{"a": 2, "z": 5}\n{"a": 3}\n')
    assert rows == [{"a": 1, "z": None}, {"a": 2, "z": 5}, {"a": 3, "z": None}]


@pytest.mark.parametrize("text", ['[{"a": 0.5, "a_1": null}, {"a": 1.5, "a_1": null}]', '[{"A": 0.5}, {"a_1": null}]'])
def test_a_key_without_values_in_an_array_is_no_clash_of_case(tmp_path, text):
    with_lines = text.strip("[]").replace("}, {", "}\n{") + "\n"
    assert table(tmp_path / "d.json", text) == table(tmp_path / "d.jsonl", with_lines)


def test_clashes_of_case_in_an_array_are_found_beside_such_keys(tmp_path):
    path = tmp_path / "d.json"
    for text in ('[{"b": 1, "b_1": null, "a": 1}, {"A": 2}]', '[{"a": 1, "a_1": null, "A": 2}]'):
        assert refusal(path, text) == ": the keys 'A' and 'a' differ only in case; rename one"
