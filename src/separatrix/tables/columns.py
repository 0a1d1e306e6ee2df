"""Which columns of a table are features, and of which type."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from separatrix.tables.sources.base import Column
from separatrix.tables.sources.duck import identifier
from separatrix.tables.split_column import parse_split
from separatrix.text import listed

MISSING = ("drop", "mean", "fail")
SCALES = ("standard", "minmax", "none")
TEXT_METHODS = ("tfidf", "hashed")
_LIKELY = ("target", "label", "class", "y", "outcome", "category", "diagnosis", "species", "response")


@dataclass(frozen=True)
class ColumnOptions:
    """Options about the columns.

    Parameters
    ----------
    target : str, optional
        The column with the labels.
    features, exclude : tuples of str
        The feature columns (empty: all others), and those to leave out.
    weight : str, optional
        The column with the sample weights.
    text : tuple of str
        Text columns, which become bags of words.
    text_method : {"tfidf", "hashed"}
        Unigrams and bigrams weighted by tf-idf, or hashed into a fixed number of features.
    missing : {"drop", "mean", "fail"}
        What to do with rows in which something is missing.
    scale : {"standard", "minmax", "none"}, optional
        How numbers are scaled; by default "standard", and "none" for sparse data.
    max_levels : int
        The maximum number of categories in a column.
    split : str, optional
        How the test set is drawn, if not at random: ``time:COL`` or ``group:COL``. The column is no feature unless
        ``features`` names it.
    """

    target: str | None = None
    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    weight: str | None = None
    text: tuple[str, ...] = ()
    text_method: str = "tfidf"
    missing: str = "drop"
    scale: str | None = None
    max_levels: int = 100
    split: str | None = None

    def __post_init__(self) -> None:
        for name, value, accepted in (
            ("missing", self.missing, MISSING),
            ("scale", self.scale or "none", SCALES),
            ("text_method", self.text_method, TEXT_METHODS),
        ):
            if value not in accepted:
                raise ValueError(f"{name} must be one of {', '.join(accepted)}; found {value!r}")
        if self.max_levels < 2:
            raise ValueError(f"max_levels must be at least 2; found {self.max_levels}")
        if self.split is not None:
            parse_split(self.split)


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read: the features in the table's order, the target, the weight."""

    numbers: tuple[Column, ...]
    categories: tuple[Column, ...]
    texts: tuple[Column, ...]
    order: tuple[str, ...]
    target: Column | None
    weight: Column | None
    unused: tuple[str, ...] = ()
    split: Column | None = None  # by which the test set is drawn

    @property
    def names(self) -> list[str]:
        """All columns to read."""
        more = [column.name for column in (self.target, self.weight) if column is not None]
        names = [*(column.name for column in (*self.numbers, *self.categories, *self.texts)), *more]
        return names if self.split is None or self.split.name in names else [*names, self.split.name]


def choose(where: str, columns: Sequence[Column], options: ColumnOptions) -> ChosenColumns:
    """Return the columns to read of a table called ``where``, or say what is wrong with what was options."""
    by_name = {column.name: column for column in columns}
    options = replace(
        options, features=separated(options.features, by_name), exclude=separated(options.exclude, by_name),
        text=separated(options.text, by_name),
    )  # fmt: skip
    target = _target(where, columns, by_name, options.target)
    weight = None
    if options.weight is not None:
        weight = column_called(where, by_name, options.weight, "--weight")
        if weight.kind != "number":
            raise ValueError(f"{where}, column {weight.name!r} is {weight.type}; sample weights must be numbers")
        if weight is target:
            raise ValueError(f"--target and --weight are both {weight.name!r}: they must be two columns")
    for option, names in (("--features", options.features), ("--exclude", options.exclude), ("--text", options.text)):
        for name in names:
            if column_called(where, by_name, name, option) in (target, weight):
                role = "target" if name == target.name else "weight"
                raise ValueError(f"{option} names {name!r}, which is the {role}")
    taken = {column.name for column in (target, weight) if column is not None}
    split = None
    if options.split is not None:
        split = column_called(where, by_name, parse_split(options.split).column, "--split")
        if split.name in taken:
            raise ValueError(f"--split names {split.name!r}, which is the target or the weight")
        taken |= {split.name} - set(options.features)
    wanted = set(options.features) | set(options.text) if options.features else set(by_name)
    twice = sorted(set(options.features) & set(options.exclude))
    if twice:
        raise ValueError(f"{twice[0]!r} is both in --features and in --exclude")
    used = [c for c in columns if c.name in wanted and c.name not in taken and c.name not in options.exclude]
    if not used:
        raise ValueError(f"{where}: no feature column is left; its columns are {listed(by_name)}")
    for column in used:
        _check_kind(where, column, options)
    texts = tuple(c for c in used if c.name in options.text)
    numbers = tuple(c for c in used if c.kind == "number" and c.name not in options.text)
    categories = tuple(c for c in used if c.kind in ("text", "flag") and c.name not in options.text)
    kept = {c.name for c in used} | taken
    unused = tuple(c.name for c in columns if c.name not in kept)
    return ChosenColumns(numbers, categories, texts, tuple(c.name for c in used), target, weight, unused, split)


def separated(names: Sequence[str], by_name: dict[str, Column]) -> tuple[str, ...]:
    """Return names that were given one by one or with commas between them; a column's own name may hold commas."""
    out: list[str] = []
    for name in names:
        out += [name] if name in by_name else [part.strip() for part in name.split(",") if part.strip()]
    return tuple(dict.fromkeys(out))


def _check_kind(where: str, column: Column, options: ColumnOptions) -> None:
    name = column.name
    if name in options.text:
        if column.kind != "text":
            raise ValueError(f"{where}, column {name!r} is {column.type}; --text is for text columns")
    elif column.kind == "date":
        raise ValueError(
            f"{where}, column {name!r} has dates or times ({column.type}), not numbers: leave it out with "
            f"--exclude {shlex.quote(name)}, or make a number of it with --sql {shlex.quote(_seconds(name))}"
        )
    elif column.kind == "other":
        raise ValueError(
            f"{where}, column {name!r} is {column.type}, neither numbers nor text: leave it out with --exclude "
            f"{shlex.quote(name)}"
        )


def _seconds(name: str) -> str:
    """Return a query that makes a number of a column of dates or times."""
    own, new = identifier(name), identifier(f"{name}_seconds")
    return f"select * exclude ({own}), epoch({own}) as {new} from data"


def _target(where: str, columns: Sequence[Column], by_name: dict[str, Column], name: str | None) -> Column:
    if name is None:
        likely = suggestion(columns)
        hint = f"; perhaps --target {shlex.quote(likely)}" if likely else ""
        raise ValueError(
            f"--target is missing: name the column of {where} with the labels; its columns are {listed(by_name)}{hint}"
        )
    column = column_called(where, by_name, name, "--target")
    if column.kind in ("date", "other"):
        raise ValueError(f"{where}, column {name!r} is {column.type}; labels must be text, integers or booleans")
    return column


def suggestion(columns: Sequence[Column]) -> str | None:
    """Return the column that looks like a target, None if none does."""
    for wanted in _LIKELY:
        for column in columns:
            if column.name.lower() == wanted:
                return column.name
    for column in reversed(columns):
        if column.kind in ("text", "flag"):
            return column.name
    return next((c.name for c in reversed(columns) if c.kind == "number" and c.whole), None)


def column_called(where: str, by_name: dict[str, Column], name: str, option: str) -> Column:
    """Return the column of this name, or say that there is none and which there are."""
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name.lower(), {known.lower(): known for known in by_name}, n=1, cutoff=0.6)
    meant = next((known for known in by_name if near and known.lower() == near[0]), None)
    hint = f" (did you mean {meant!r}?)" if meant is not None else ""
    raise ValueError(f"{where} has no column {name!r}, which {option} names{hint}; its columns are {listed(by_name)}")
