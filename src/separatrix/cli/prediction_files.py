"""Tables of predictions into files: CSV, Parquet or JSON lines, whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from separatrix.files import write_whole
from separatrix.tables.arrow_columns import text_column
from separatrix.text import printable

ENDINGS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".jsonl": "json", ".ndjson": "json"}


def write_predictions(path: Path | None, tables: Iterable[Any], *, as_json: bool) -> None:
    """Write Arrow tables, one after the other, to a file that appears when all are there, or print them."""
    kind = "json" if as_json else "csv"
    if path is not None:
        ending = ENDINGS.get(path.suffix.lower(), "")
        if not ending:
            raise ValueError(f"-o {path}: the file name must end in one of {', '.join(ENDINGS)}")
        if as_json and ending != "json":
            raise ValueError(f"-o {path} does not fit --json: drop --json, or use a name that ends in .jsonl")
        kind = ending
    make: Any = {"csv": _Csv, "json": _JsonLines, "parquet": _Parquet}[kind]

    def fill(file: Any) -> None:
        made = make(file)
        try:
            for table in tables:
                made.write(table)
        except BaseException:
            with contextlib.suppress(Exception):
                made.close()
            raise
        made.close()

    if path is None:
        fill(_Terminal(sys.stdout) if sys.stdout.isatty() else sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        write_whole(path, fill)


class _Terminal:
    """A file for bytes of text that go to a terminal, where control characters are escapes."""

    def __init__(self, screen: Any) -> None:
        self._screen, self._decoder = screen, codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, content: Any) -> int:
        self._screen.write(printable(self._decoder.decode(bytes(content)), "\n\t"))
        return len(content)


class _Csv:
    def __init__(self, file: Any) -> None:
        self._file, self._begun = file, False

    def write(self, table: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        if table.num_columns == 1:
            self._write_lines(table)
            return
        texts = [column for column in table.columns if pa.types.is_string(column.type)]
        plain = not any(
            pc.any(pc.match_substring_regex(text, '[",\r\n]')).as_py() or pc.min(pc.binary_length(text)).as_py() == 0
            for text in texts
        )
        head = "none" if all(not set('",\r\n') & set(name) for name in table.column_names) else "needed"
        for name, column in zip(table.column_names, table.columns, strict=True):
            if pa.types.is_nested(column.type):
                raise ValueError(f"--keep {name}: a CSV file cannot hold {column.type}; write Parquet or JSON lines")
        csv.write_csv(
            table, self._file,
            csv.WriteOptions(
                include_header=not self._begun, quoting_style="none" if plain else "needed", quoting_header=head
            ),
        )  # fmt: skip
        self._begun = True

    def _write_lines(self, table: Any) -> None:
        """Write a single column; a missing value is a pair of quotes, since readers pass over empty lines."""
        import pyarrow as pa

        encoded = table.column(0).combine_chunks().dictionary_encode(null_encoding="encode")
        cells = ['""' if value is None else _cell(value) for value in encoded.dictionary.to_pylist()]
        lines = text_column([f"{cell}\n" for cell in cells]).cast(pa.large_string())
        every = lines.take(encoded.indices)
        if not self._begun:
            self._file.write(f"{_cell(table.column_names[0])}\n".encode())
        self._file.write(every.buffers()[2])  # Arrow keeps texts one behind the other: these are the lines
        self._begun = True

    def close(self) -> None:
        """Nothing is left to write."""


def _cell(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if not text or set(text) & set('",\r\n') else text


class _JsonLines:
    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, table: Any) -> None:
        lines = [
            json.dumps({name: _finite(value) for name, value in row.items()}, ensure_ascii=False, default=str)
            for row in table.to_pylist()
        ]
        self._file.write(("\n".join(lines) + "\n").encode())

    def close(self) -> None:
        """Nothing is left to write."""


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Parquet:
    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: Any) -> None:
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
