"""Options that several commands share, and the source that they name."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.writing import say


class Scale(str, enum.Enum):
    """How features are scaled."""

    standard = "standard"
    minmax = "minmax"
    none = "none"


class Missing(str, enum.Enum):
    """What is done about missing values."""

    impute = "impute"
    drop = "drop"
    mean = "mean"
    fail = "fail"


class TextMethod(str, enum.Enum):
    """How words are weighted."""

    tfidf = "tfidf"
    hashed = "hashed"


class UnknownCategories(str, enum.Enum):
    """What is done about categories that the model was not trained on."""

    zero = "zero"
    null = "null"
    fail = "fail"


class Dates(str, enum.Enum):
    """What dates become."""

    parts = "parts"
    seconds = "seconds"
    drop = "drop"


# The groups of options in the help of a command.
DATA, FEATURES, MODEL, DECISIONS = "Data", "Features", "Model", "Decisions"
LIMITS, OUTPUT = "Limits", "Output"

Source = Annotated[
    str | None,
    typer.Argument(
        help="A file (CSV, TSV, Parquet, Arrow, Feather, JSON lines, ARFF, KEEL, libsvm, .npy, .npz, DuckDB, SQLite; "
        "text also as .gz, .zst, .bz2, .xz), a folder or pattern of Parquet files, '-' for standard input, or a "
        "built-in data set such as penguins.",
    ),
]
Target = Annotated[str | None, typer.Option(help="Column with the labels.", rich_help_panel=DATA)]
Features = Annotated[
    list[str] | None,
    typer.Option(help="Use only these columns (comma-separated; may be repeated).", rich_help_panel=FEATURES),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Exclude these columns (comma-separated; may be repeated).", rich_help_panel=FEATURES),
]
ScaledBy = Annotated[
    Scale | None,
    typer.Option(
        help="Feature scaling: zero mean and unit variance, to [0, 1], or none. [default: standard; none for sparse "
        "data]",
        rich_help_panel=FEATURES,
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="Text columns, as bags of words (unigrams and bigrams; comma-separated; may be repeated). Long texts are "
        "detected.",
        rich_help_panel=FEATURES,
    ),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        help="Categories, also where they look like numbers, dates or ids (comma-separated; may be repeated).",
        rich_help_panel=FEATURES,
    ),
]
Number = Annotated[
    list[str] | None,
    typer.Option(
        help="Numbers, also where they look like ids (comma-separated; may be repeated). Notations as 1,234.5 and "
        "1.234,5 are detected.",
        rich_help_panel=FEATURES,
    ),
]
Date = Annotated[
    list[str] | None,
    typer.Option(
        help="Dates or times, as 20240131 (comma-separated; may be repeated). Common notations are detected; where day "
        "and month could change places, the month is first.",
        rich_help_panel=FEATURES,
    ),
]


class DecimalMark(str, enum.Enum):
    """The decimal mark of numbers that are text."""

    point = "."
    comma = ","


Decimal = Annotated[
    DecimalMark | None,
    typer.Option(
        help="Decimal mark of numbers that are text, where 1.549 or 1,549 could be either. [default: as the columns "
        "show]",
        rich_help_panel=FEATURES,
    ),
]
DatesBy = Annotated[
    Dates | None,
    typer.Option(
        help="Dates as parts (year, month, day, weekday, hour, seconds since 1970; cyclic ones also as sine and "
        "cosine), as seconds alone, or drop. [default: parts]",
        rich_help_panel=FEATURES,
    ),
]
WordsBy = Annotated[
    TextMethod | None,
    typer.Option(help="Weight words by tf-idf, or hash them. [default: tfidf]", rich_help_panel=FEATURES),
]
Lacking = Annotated[
    Missing | None,
    typer.Option(
        help="Missing values: impute the median with an indicator feature (categories: a level of their own), drop the "
        "row, impute the mean (categories: all zeros), or fail. [default: impute]",
        rich_help_panel=FEATURES,
    ),
]
MaxLevels = Annotated[
    int | None,
    typer.Option(
        help="Of more categories in a column than this, the most frequent are one-hot encoded and the others pooled. "
        "[default: 100]",
        rich_help_panel=FEATURES,
    ),
]
TargetEncode = Annotated[
    list[str] | None,
    typer.Option(
        help="Categories as the share of each class among their rows instead of one-hot (comma-separated; may be "
        "repeated); training rows are encoded by cross-fitting.",
        rich_help_panel=FEATURES,
    ),
]
Sql = Annotated[
    str | None,
    typer.Option(
        help="Read the result of this SELECT statement; SOURCE is the table data in it, other files are 'name.csv'.",
        rich_help_panel=DATA,
    ),
]
Db = Annotated[
    str | None,
    typer.Option(help="Database that runs --sql, such as postgresql://user@host/name.", rich_help_panel=DATA),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Field delimiter of a CSV file (detected by default).", rich_help_panel=DATA)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=OUTPUT)]
Unknown = Annotated[
    UnknownCategories,
    typer.Option(
        help="Categories that the model was not trained on: zero (encode them as none of the known ones), null (no "
        "prediction for the row), or fail.",
        rich_help_panel=DATA,
    ),
]


def open_named(
    where: str | None,
    sql: str | None = None,
    db: str | None = None,
    delimiter: str | None = None,
    *,
    frugal: bool = False,
    bar: Any = None,
) -> Any:
    """Open a file, a query or a built-in data set; its files are inputs of the command, and a bar shows the progress.

    The options of `text_options` count too. What a person should know of how it is read goes to standard error.
    """
    source = _opened(where, sql, db, delimiter, frugal, bar)
    try:
        guard().reads_source(source, where)
    except BaseException:
        source.close()
        raise
    for note in source.notes:
        say(note, err=True)
    return source


def _opened(where: str | None, sql: str | None, db: str | None, delimiter: str | None, frugal: bool, bar: Any) -> Any:
    from separatrix import datasets
    from separatrix.cli.text_options import text_options
    from separatrix.tables.sources.opening import open_source, open_stream

    if where is None and sql is None:
        raise ValueError("no data: name a file, or give a query with --sql")
    if where is not None and db is None and where.lower() in datasets.files() and not Path(where).exists():
        source = open_source(str(datasets.path(where)), sql=sql, frugal=frugal)
        source.name = where.lower()
        return source
    if where is not None and db is None and is_example(where):
        import io

        return open_stream(io.BytesIO(datasets.as_csv(where).encode()), where.lower(), sql=sql, frugal=frugal)
    if where is not None and db is None and where.replace("-", "").isalnum() and not Path(where).exists():
        raise ValueError(
            f"there is no file {where}, nor a built-in data set of that name; those are {', '.join(datasets.about())}"
        )
    watch = None if bar is None else lambda part: bar("read", part=part)
    return open_source(where, sql=sql, db=db, delimiter=delimiter, frugal=frugal, watch=watch, **text_options())


def asked_of(
    target: str | None, features: list[str] | None, exclude: list[str] | None, weight: str | None,
    text: list[str] | None, text_method: TextMethod | None, missing: Missing | None, scale: Scale | None,
    max_levels: int | None, category: list[str] | None, number: list[str] | None, date: list[str] | None,
    dates: Dates | None, target_encode: list[str] | None, decimal: DecimalMark | None = None,
) -> Any:  # fmt: skip
    """Return the column options of a command."""
    from separatrix.tables.columns import ColumnOptions

    return ColumnOptions(
        target, tuple(features or ()), tuple(exclude or ()), weight, tuple(text or ()),
        "tfidf" if text_method is None else text_method.value, "impute" if missing is None else missing.value,
        None if scale is None else scale.value, 100 if max_levels is None else max_levels, tuple(category or ()),
        tuple(number or ()), tuple(date or ()), "parts" if dates is None else dates.value,
        target_encode=tuple(target_encode or ()), decimal="" if decimal is None else decimal.value,
    )  # fmt: skip


def target_of(where: str | None, target: str | None) -> str | None:
    """Return the column with the labels: a lecture's example has its own, called label, unless another is named."""
    return "label" if target is None and is_example(where) else target


def is_example(where: str | None) -> bool:
    """Return whether this is the name of a lecture's example and not of a file."""
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


def contender_parameters(given: list[str]) -> list[tuple[str | None, str, Any]]:
    """Return ``MODEL:NAME=VALUE`` or ``NAME=VALUE`` options as model (None: all), name and value of a parameter.

    Examples
    --------
    >>> contender_parameters(["svm:C=10", "tol=1e-3"])
    [('svm', 'C', 10), (None, 'tol', 0.001)]
    """
    out: list[tuple[str | None, str, Any]] = []
    for each in given:
        before, sign, value = each.partition("=")
        model, colon, name = before.rpartition(":")
        if not sign or not name.isidentifier() or (colon and not model):
            raise ValueError(f"--param must be NAME=VALUE or MODEL:NAME=VALUE, as in C=10 or svm:C=10; found {each!r}")
        out += [(model if colon else None, *pair) for pair in parameters([f"{name}={value}"]).items()]
    return out
