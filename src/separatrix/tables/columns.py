"""Which columns of a table are features, and of which type."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from separatrix.tables.date_notations import TIMES, parts_of
from separatrix.tables.sources.base import Column
from separatrix.tables.sources.dialect import header_hint
from separatrix.tables.split_column import parse_split
from separatrix.text import listed

MISSING = ("impute", "drop", "mean", "fail")
SCALES = ("standard", "minmax", "none")
TEXT_METHODS = ("tfidf", "hashed")
DATE_METHODS = ("parts", "seconds", "drop")
DECIMALS = ("", ".", ",")
_LIKELY = ("target", "label", "class", "y", "outcome", "category", "diagnosis", "species", "response")
_LONGEST_HINT = 100  # letters of a name that a hint repeats


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
    missing : {"impute", "drop", "mean", "fail"}
        What to do where something is missing: impute the median with a feature that says so, a missing category being
        a level of its own; drop the row; impute the mean and encode a missing category as all zeros; or fail.
    scale : {"standard", "minmax", "none"}, optional
        How numbers are scaled; by default "standard", and "none" for sparse data.
    max_levels : int
        Of more levels in a category column, the most frequent are one-hot encoded and the others pooled.
    category, number, date : tuples of str
        Columns that are categories, numbers or dates, whatever they look like.
    dates : {"parts", "seconds", "drop"}
        Dates as their parts, as seconds since 1970, or not at all.
    detect : bool
        Whether to look at the values for numbers and dates in other notations, free text and ids.
    target_encode : tuple of str
        Categories that are encoded as the share of each class among the training rows that have the level.
    split : str, optional
        How the test set is drawn, if not at random: ``time:COL`` or ``group:COL``. The column is no feature unless
        ``features`` names it.
    decimal : {"", ".", ","}
        The decimal mark of numbers that are text; empty: as the values show.
    """

    target: str | None = None
    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    weight: str | None = None
    text: tuple[str, ...] = ()
    text_method: str = "tfidf"
    missing: str = "impute"
    scale: str | None = None
    max_levels: int = 100
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    dates: str = "parts"
    detect: bool = True
    split: str | None = None
    target_encode: tuple[str, ...] = ()
    decimal: str = ""

    def __post_init__(self) -> None:
        for name, value, accepted in (
            ("missing", self.missing, MISSING),
            ("scale", self.scale or "none", SCALES),
            ("text_method", self.text_method, TEXT_METHODS),
            ("dates", self.dates, DATE_METHODS),
            ("decimal", self.decimal, DECIMALS),
        ):
            if value not in accepted:
                raise ValueError(f"{name} must be one of {', '.join(accepted)}; found {value!r}")
        if self.max_levels < 2:
            raise ValueError(f"max_levels must be at least 2; found {self.max_levels}")
        if self.split is not None:
            parse_split(self.split)

    @property
    def roles(self) -> dict[str, str]:
        """The columns whose role was given, and that role."""
        given = {"category": self.category, "number": self.number, "date": self.date, "text": self.text}
        return dict.fromkeys(self.target_encode, "category") | {
            name: role for role, names in given.items() for name in names
        }

    def with_names(self, by_name: Mapping[str, Column]) -> ColumnOptions:
        """Return the same with names one by one that were given with commas between them."""
        lists = ("features", "exclude", "text", "category", "number", "date", "target_encode")
        named: dict[str, Any] = {name: separated(getattr(self, name), by_name) for name in lists}
        return replace(self, **named)


@dataclass(frozen=True)
class Role:
    """What a column is used as.

    Attributes
    ----------
    role : {"number", "date", "category", "text", "none"}
        As what; "none" is left out.
    notation : str
        How numbers or dates are written, where the column is text.
    why : str
        Why it is left out.
    warning : str
        What a person should know of it, in a sentence.
    decimal : str
        The decimal mark that its values show; empty where they show none.
    """

    role: str
    notation: str = ""
    why: str = ""
    warning: str = ""
    decimal: str = ""


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read: the features in the table's order, the target, the weight.

    Attributes
    ----------
    numbers, dates, categories, texts : tuples of Column
        The features by role.
    order : tuple of str
        The names of all features.
    target, weight : Column or None
        The labels and the sample weights.
    unused : tuple of str
        The other columns.
    notations : dict
        How the numbers and dates are written that are text in the source, by column.
    parts : dict
        What each column of dates becomes.
    left_out : dict
        Why columns are not used that nobody excluded, by column.
    """

    numbers: tuple[Column, ...]
    categories: tuple[Column, ...]
    texts: tuple[Column, ...]
    order: tuple[str, ...]
    target: Column | None
    weight: Column | None
    unused: tuple[str, ...] = ()
    dates: tuple[Column, ...] = ()
    notations: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    split: Column | None = None  # by which the test set is drawn
    warnings: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All columns to read."""
        more = [column.name for column in (self.target, self.weight) if column is not None]
        names = [*(column.name for column in (*self.numbers, *self.dates, *self.categories, *self.texts)), *more]
        return names if self.split is None or self.split.name in names else [*names, self.split.name]

    @property
    def plain(self) -> bool:
        """Whether all features are numbers and categories as they stand in a file of text."""
        return not (self.texts or self.dates or self.notations) and all(c.kind == "text" for c in self.categories)

    @property
    def number_names(self) -> list[str]:
        """The name of each number that is read: those of number columns, then the parts of dates."""
        parts = [f"{column.name} {part}" for column in self.dates for part in self.parts[column.name]]
        return [*(column.name for column in self.numbers), *parts]


def choose(
    where: str,
    columns: Sequence[Column],
    options: ColumnOptions,
    detected: Mapping[str, Role] | None = None,
    *,
    labelled: bool = True,
) -> ChosenColumns:
    """Return the columns to read of a table called ``where``, or say what is wrong with the options.

    ``detected`` are the roles that the values of some columns suggest; with ``labelled=False`` there is no target.
    """
    by_name = {column.name: column for column in columns}
    options = options.with_names(by_name)
    target = _target(where, columns, by_name, options.target) if labelled else None
    weight = None
    if options.weight is not None:
        weight = column_called(where, by_name, options.weight, "--weight")
        if weight.kind != "number":
            raise ValueError(f"{where}, column {weight.name!r} is {weight.type}; sample weights must be numbers")
        if weight is target:
            raise ValueError(f"--target and --weight are both {weight.name!r}: they must be two columns")
    taken = {column.name for column in (target, weight) if column is not None}
    _check_names(where, by_name, options, target, taken)
    split = None
    if options.split is not None:
        split = column_called(where, by_name, parse_split(options.split).column, "--split")
        if split.name in taken:
            raise ValueError(f"--split names {split.name!r}, which is the target or the weight")
        taken |= {split.name} - set(options.features)
    wanted = set(options.features) | set(options.roles) if options.features else set(by_name)
    roles: dict[str, Role] = {}
    problems: list[str] = []
    for column in columns:
        if column.name in wanted and column.name not in taken and column.name not in options.exclude:
            try:
                roles[column.name] = _role(column, options, (detected or {}).get(column.name))
            except ValueError as problem:
                problems.append(str(problem))
    refuse_all(where, problems)
    used = [column for column in columns if roles.get(column.name, Role("none")).role != "none"]
    if not used:
        left_out = listed(f"{name} ({role.why})" for name, role in roles.items())
        more = f"; left out: {left_out}" if left_out else ""
        raise ValueError(f"{where}: no feature column is left; its columns are {listed(by_name)}{more}")
    kept = {column.name for column in used} | taken
    by_role = {
        role: tuple(column for column in used if roles[column.name].role == role)
        for role in ("number", "date", "category", "text")
    }
    return ChosenColumns(
        by_role["number"], by_role["category"], by_role["text"], tuple(column.name for column in used), target, weight,
        tuple(column.name for column in columns if column.name not in kept), by_role["date"],
        {name: role.notation for name, role in roles.items() if role.notation},
        {c.name: parts_of(options.dates, _is_clock(c, roles[c.name])) for c in by_role["date"]},
        {name: role.why for name, role in roles.items() if role.role == "none"}, split,
        tuple(role.warning for role in roles.values() if role.warning),
    )  # fmt: skip


def refuse_all(where: str, problems: Sequence[str]) -> None:
    """Refuse a table for everything that is wrong with it, in one message."""
    if len(problems) == 1:
        raise ValueError(f"{where}, {problems[0]}")
    if problems:
        raise ValueError(f"{where} has {len(problems)} problems:\n" + "\n".join(f"- {each}" for each in problems))


def _check_names(
    where: str, by_name: dict[str, Column], options: ColumnOptions, target: Column | None, taken: set[str]
) -> None:
    """Refuse names of no column, and columns that are to be two things at once."""
    seen: dict[str, str] = {}
    for option in ("--features", "--exclude", "--text", "--category", "--number", "--date", "--target-encode"):
        for name in getattr(options, option[2:].replace("-", "_")):
            if column_called(where, by_name, name, option).name in taken:
                role = "target" if target is not None and name == target.name else "weight"
                raise ValueError(f"{option} names {name!r}, which is the {role}")
            if option != "--features" and seen.setdefault(name, option) != option:
                raise ValueError(f"{name!r} is both in {seen[name]} and in {option}")
    twice = sorted(set(options.features) & set(options.exclude))
    if twice:
        raise ValueError(f"{twice[0]!r} is both in --features and in --exclude")


def _role(column: Column, options: ColumnOptions, detected: Role | None) -> Role:
    """Return what a column is used as; a ValueError says why it cannot be what was asked for."""
    name, given = column.name, options.roles.get(column.name)
    usual = {"number": "number", "flag": "category", "text": "category", "date": "date"}.get(column.kind)
    if given == "text" and column.kind != "text":
        raise ValueError(f"column {name!r} is {column.type}; --text is for text columns")
    if given == "number" and column.kind in ("date", "flag"):
        way = "; --dates seconds makes numbers of dates" if column.kind == "date" else ""
        raise ValueError(f"column {name!r} is {column.type}; --number is for numbers{way}")
    if given == "date" and column.kind == "flag":
        raise ValueError(f"column {name!r} is {column.type}; --date is for dates")
    if usual is None:
        if given is not None or name in options.features:
            raise ValueError(
                f"column {name!r} is {column.type}, neither numbers nor text: leave it out with --exclude "
                f"{shlex.quote(name)}"
            )
        return Role("none", why=f"{column.type}, neither numbers nor text")
    if detected is not None:
        return detected
    if (given == "number" and column.kind == "text") or (given == "date" and column.kind != "date"):
        return Role("category")  # until its values have shown their notation
    if given is not None:
        return Role(given)
    if usual == "date":
        if options.dates == "drop":
            return Role("none", why="dates")
        if column.type == "INTERVAL":
            raise ValueError(
                f"column {name!r} holds spans of time (INTERVAL): make numbers of them with --sql, or leave it out "
                f"with --exclude {shlex.quote(name)}"
            )
    return Role(usual)


def _is_clock(column: Column, role: Role) -> bool:
    return role.notation in TIMES if role.notation else column.type.startswith("TIME") and "STAMP" not in column.type


def separated(names: Sequence[str], by_name: Mapping[str, Column]) -> tuple[str, ...]:
    """Return names that were given one by one or with commas between them; a column's own name may hold commas."""
    out: list[str] = []
    for name in names:
        out += [name] if name in by_name else [part.strip() for part in name.split(",") if part.strip()]
    return tuple(dict.fromkeys(out))


def _target(where: str, columns: Sequence[Column], by_name: dict[str, Column], name: str | None) -> Column:
    if name is None:
        likely = suggestion(columns)
        hint = f"; perhaps --target {shlex.quote(likely)}" if likely and len(likely) <= _LONGEST_HINT else ""
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
    raise ValueError(
        f"{where} has no column {name!r}, which {option} names{hint}; its columns are {listed(by_name)}"
        f"{header_hint([name], by_name)}"
    )
