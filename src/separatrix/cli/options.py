"""Options that several commands share, and the source that they name."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Annotated, Any

import typer


class Scale(str, enum.Enum):
    """How numbers are scaled."""

    standard = "standard"
    minmax = "minmax"
    none = "none"


class Missing(str, enum.Enum):
    """What is done about missing values."""

    drop = "drop"
    mean = "mean"
    fail = "fail"


class TextMethod(str, enum.Enum):
    """How words become numbers."""

    tfidf = "tfidf"
    hashed = "hashed"


Source = Annotated[
    str | None,
    typer.Argument(
        help="A file (CSV, TSV, Parquet, Arrow, Feather, JSON lines, libsvm, .npy, .npz, DuckDB, SQLite; gz and zst "
        "too), a folder or pattern of Parquet files, '-' for standard input, or a built-in data set such as penguins.",
    ),
]
Target = Annotated[str | None, typer.Option(help="The column that holds the labels.")]
Features = Annotated[list[str] | None, typer.Option(help="Learn from these columns only (again for each, or a,b).")]
Exclude = Annotated[list[str] | None, typer.Option(help="Leave these columns out.")]
ScaledBy = Annotated[
    Scale | None, typer.Option(help="How numbers are scaled; by default standard, and none for sparse data.")
]
Text = Annotated[list[str] | None, typer.Option(help="Read this column as words and pairs of words.")]
WordsBy = Annotated[
    TextMethod | None, typer.Option(help="Words by name, or hashed into a fixed number of places. [default: tfidf]")
]
Lacking = Annotated[
    Missing | None,
    typer.Option(
        help="Rows that lack a value: drop them, fill in the mean (a category becomes none), or fail. [default: drop]"
    ),
]
MaxLevels = Annotated[
    int | None, typer.Option(help="The most different texts in a column that is not read as words. [default: 100]")
]
Sql = Annotated[
    str | None,
    typer.Option(help="Read the result of this SELECT; the source is the table 'data' in it, files go by 'name.csv'."),
]
Db = Annotated[str | None, typer.Option(help="A database to send --sql to, as postgresql://user@host/name.")]
Delimiter = Annotated[str | None, typer.Option(help="What parts the cells of a CSV file; found out by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead, for machines.")]
Unknown = Annotated[
    str,
    typer.Option(help="A category that the model was not trained on: fail, or zero (it is none of the known ones)."),
]


def open_named(
    where: str | None, sql: str | None = None, db: str | None = None, delimiter: str | None = None, **more: Any
) -> Any:
    """Open a file, a query or a built-in data set."""
    from separatrix import datasets
    from separatrix.tables.sources.opening import open_source

    if where is None and sql is None:
        raise ValueError("name a file, or give a query with --sql")
    if where is not None and db is None and where.lower() in datasets.files() and not Path(where).exists():
        found = open_source(str(datasets.path(where)), sql=sql, **more)
        found.name = where.lower()
        return found
    if where is not None and db is None and sql is None and is_example(where):
        import io

        from pyarrow import csv

        from separatrix.tables.sources.in_memory import TableInMemory

        return TableInMemory(csv.read_csv(io.BytesIO(datasets.as_csv(where).encode())), where.lower())
    if where is not None and db is None and where.replace("-", "").isalnum() and not Path(where).exists():
        raise ValueError(f"{where} is neither a file nor a built-in data set; those are {', '.join(datasets.about())}")
    return open_source(where, sql=sql, db=db, delimiter=delimiter, **more)


def asked_of(
    target: str | None, features: list[str] | None, exclude: list[str] | None, weight: str | None,
    text: list[str] | None, text_method: TextMethod | None, missing: Missing | None, scale: Scale | None,
    max_levels: int | None,
) -> Any:  # fmt: skip
    """Return what the options ask of the columns."""
    from separatrix.tables.columns import ColumnOptions

    return ColumnOptions(
        target, tuple(features or ()), tuple(exclude or ()), weight, tuple(text or ()),
        "tfidf" if text_method is None else text_method.value, "drop" if missing is None else missing.value,
        None if scale is None else scale.value, 100 if max_levels is None else max_levels,
    )  # fmt: skip


def check_writable(path: Path, option: str = "-o") -> None:
    """Refuse a path that cannot be written to before the work is done."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; {option} needs the name of a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"cannot write {path}: no permission")


def refuse_same(output: Path | None, *inputs: str | Path | None) -> None:
    """Refuse to write over what is read."""
    for given in inputs:
        path = Path(str(given))
        if (
            output is not None
            and given not in (None, "-")
            and output.exists()
            and path.exists()
            and output.samefile(path)
        ):
            raise ValueError(f"-o {output} would write over {given}, which is read; name another file")


def is_example(where: str | None) -> bool:
    """Return whether this names one of the lectures' examples, and no file."""
    from separatrix import datasets

    return where is not None and where.lower() in datasets.names() and not Path(where).exists()


def parameters(given: list[str]) -> dict[str, Any]:
    """Return ``name=value`` options as parameters; numbers, true, false and none are read as such.

    Examples
    --------
    >>> parameters(["C=10", "loss=squared_hinge", "shuffle=false", "hidden=[4, 4]"])
    {'C': 10, 'loss': 'squared_hinge', 'shuffle': False, 'hidden': (4, 4)}
    """
    import json

    out: dict[str, Any] = {}
    for each in given:
        name, sign, text = each.partition("=")
        if not sign or not name.isidentifier():
            raise ValueError(f"--param must be NAME=VALUE, as in C=10; found {each!r}")
        words: dict[str, Any] = {"true": True, "false": False, "none": None, "inf": float("inf")}
        if text.lower() in words:
            value: Any = words[text.lower()]
        else:
            try:
                value = json.loads(text)
            except ValueError:
                value = text
        out[name] = tuple(value) if isinstance(value, list) else value
    return out
