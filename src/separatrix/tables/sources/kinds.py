"""The kinds of file that can be read, one line each.

To add a kind, write a module with a function that takes a `Request` and returns a source, and add its line to `KINDS`.
Modules are imported when a file of their kind is opened.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.tables.sources.messages import path_text

if TYPE_CHECKING:
    from separatrix.tables.sources.base import MatrixSource, TableSource
    from separatrix.tables.sources.peeking import Peek

_LIBSVM = re.compile(
    rb"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:,[+-]?[0-9.]+)*(?:[ \t]+qid:[0-9]+)?"  # labels
    rb"(?:[ \t]+[0-9]+:[^\s:]+)*[ \t]*(?:#.*)?\r?"  # pairs
)


@dataclass(frozen=True)
class Request:
    """What is to be opened.

    Parameters
    ----------
    files : sequence of str
        The files; more than one only for kinds that are read together.
    name : str
        What messages call them: the path or pattern as given, or standard input.
    peeks : sequence of Peek
        The beginnings of the files.
    sql : str, optional
        A query over them.
    delimiter : str, optional
        Of CSV files.
    frugal : bool
        Use as little memory as possible.
    header : bool
        Whether the first line of a CSV file has the names of its columns.
    quotes : bool
        Whether cells of a CSV file may be in double quotes.
    names : sequence of str
        What messages call each file; its path if there are none.
    watch : callable, optional
        Is told while the files are opened which part of that is done.
    """

    files: Sequence[str]
    name: str
    peeks: Sequence[Peek]
    sql: str | None = None
    delimiter: str | None = None
    frugal: bool = False
    header: bool = True
    quotes: bool = True
    names: Sequence[str] = ()
    watch: Callable[[float], None] | None = None

    @property
    def labels(self) -> list[str]:
        """What messages call each file."""
        return [self.name] if len(self.files) == 1 else list(self.names or self.files)


@dataclass(frozen=True)
class SourceKind:
    """A kind of file.

    Parameters
    ----------
    name : str
        For messages.
    endings : tuple of str
        Of file names, in lower case. ``.txt`` and ``.db`` can be several kinds: the content decides.
    opener : str
        The module and function that open it, as in ``"csv_files:open_csv"``.
    recognise : callable
        Whether a file that begins with these bytes is of this kind.
    text : bool
        Whether it is text, which may be compressed and in any encoding.
    unpacks : tuple of str
        The compressions that its opener reads; others are unpacked into a copy. So is a text that is not UTF-8.
    copies : bool
        Whether its opener makes a copy of its own, from any compression and encoding.
    several : bool
        Whether several files can be read as one table.
    sql : bool
        Whether queries can read it.
    delimited : bool
        Whether it has a delimiter.
    apart : bool
        Whether a child process reads it: true for what libraries parse that a damaged file may crash.
    """

    name: str
    endings: tuple[str, ...]
    opener: str
    recognise: Callable[[bytes], bool]
    text: bool = False
    unpacks: tuple[str, ...] = ("none", "gzip", "zstd")
    copies: bool = False
    several: bool = False
    sql: bool = True
    delimited: bool = False
    apart: bool = False

    def open(self, request: Request) -> TableSource | MatrixSource:
        """Open files of this kind."""
        module, function = self.opener.split(":")
        source: TableSource | MatrixSource
        source = getattr(importlib.import_module(f"separatrix.tables.sources.{module}"), function)(request)
        if request.sql is not None and not self.sql:
            source.close()
            raise ValueError(f"{path_text(request.name)} has no named columns; SQL needs a table")
        return source


def _begins(*beginnings: bytes, at: int = 0) -> Callable[[bytes], bool]:
    return lambda raw: raw[at:].startswith(beginnings)


def _is_json(raw: bytes) -> bool:
    return raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_arff(raw: bytes) -> bool:
    """Return whether a text begins with ``@relation``, behind comments."""
    for line in io.BytesIO(raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")):
        if (text := line.strip()) and not text.startswith(b"%"):
            return text[:10].lower().startswith((b"@relation", b"@attribute"))
    return False


def _is_npz(raw: bytes) -> bool:
    return raw.startswith(b"PK\x03\x04") and b".npy" in raw[:200]


def looks_like_libsvm(raw: bytes) -> bool:
    """Return whether the first lines read ``label index:value ...``."""
    lines = [line for line in raw[:65536].split(b"\n")[:20] if line.strip() and not line.startswith(b"#")]
    if len(raw) > 65536 and len(lines) > 1:
        lines = lines[:-1]  # the last may be cut
    pairs = any(re.search(rb"[ \t][0-9]+:[^\s:]+", line) for line in lines)
    return pairs and all(_LIBSVM.fullmatch(line) for line in lines)


# The content is compared in this order; text that is nothing else is CSV.
KINDS = (
    SourceKind(
        "parquet", (".parquet", ".pq"), "parquet_files:open_parquet", _begins(b"PAR1"), several=True, apart=True,
    ),
    SourceKind(
        "arrow", (".arrow", ".feather", ".ipc"), "arrow_files:open_arrow", _begins(b"ARROW1", b"\xff\xff\xff\xff"),
        apart=True,
    ),
    SourceKind("npy", (".npy",), "arrays:open_npy", _begins(b"\x93NUMPY"), sql=False),
    SourceKind("npz", (".npz",), "arrays:open_npz", _is_npz, sql=False),
    SourceKind("sqlite", (".sqlite", ".sqlite3"), "sqlite:open_sqlite", _begins(b"SQLite format 3\x00"), apart=True),
    SourceKind("duckdb", (".duckdb",), "duckdb_files:open_duckdb", _begins(b"DUCK", at=8), apart=True),
    SourceKind(
        "json", (".jsonl", ".ndjson", ".json"), "json_files:open_json", _is_json, text=True, several=True,
    ),
    SourceKind("arff", (".arff",), "arff:open_arff", _is_arff, text=True, copies=True),  # KEEL's .dat files too
    SourceKind(
        "libsvm", (".libsvm", ".svmlight", ".svm", ".lsvm"), "libsvm:open_libsvm", looks_like_libsvm, text=True,
        unpacks=("none", "gzip", "bz2", "xz"), sql=False,
    ),
    SourceKind(
        "csv", (".csv", ".tsv", ".psv"), "csv_files:open_csv", lambda _: True, text=True, several=True,
        delimited=True,
    ),
)  # fmt: skip


def kind_of(raw: bytes, name: str, ending: str) -> SourceKind:
    """Return the kind of a file by the ending of its name, else by its first bytes."""
    named = next((kind for kind in KINDS if ending in kind.endings), None)
    if named is not None:
        return named
    binary = next((kind for kind in KINDS if not kind.text and kind.recognise(raw)), None)
    if binary is not None:
        return binary
    if raw.startswith(b"PK\x03\x04"):
        hint = "save the sheet as CSV" if ending in (".xlsx", ".xlsm", ".ods") else "unzip it first"
        raise ValueError(f"{path_text(name)} is a zip archive; {hint}")
    if ending == ".db":
        raise ValueError(f"{path_text(name)} is neither a SQLite nor a DuckDB database")
    return next(kind for kind in KINDS if kind.text and kind.recognise(raw))
