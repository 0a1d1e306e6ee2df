"""A model as one SELECT statement that DuckDB, PostgreSQL and SQLite read alike.

It names the columns of the table as they are, adds the scores and the prediction to them, and needs nothing but
arithmetic, CASE and CAST (a network also ``tanh``, probabilities ``exp``). Additions stand in the package's own order,
so that dense rows get the same bits; rows without a prediction get NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import separatrix
from separatrix.geometry.rows import Floats
from separatrix.tables.export.scorer import LANES, Input, Layers, Linear, Scorer
from separatrix.tables.export.sql_notations import NumberText, number_text
from separatrix.tables.export.sql_probabilities import double, sql_probabilities
from separatrix.text import listed

_LARGEST = "1.7976931348623157e308"  # NaN, in both databases that have it, is larger
_MOST_TERMS = 200_000  # in one statement
_LONGEST_NAME = 63  # bytes that PostgreSQL keeps of a name
_SIGNS = {"minus": ("-", 0.0), "plus": ("+", 0.0), "times": ("*", 1.0), "over": ("/", 1.0)}  # and what changes nothing
_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'  # of a table's name, quoted or not


def as_sql(scorer: Scorer, table: str = "data") -> str:
    """Return the statement.

    Parameters
    ----------
    scorer : Scorer
        The model; linear, or a network.
    table : str
        The table's name, as ``customers`` or ``sales.customers``.
    """
    decision = scorer.decision
    assert isinstance(decision, Linear | Layers)  # what targets.py lets through
    _check_size(scorer, [decision.weights.T] if isinstance(decision, Linear) else decision.weights)
    rows = _Rows(scorer)
    scores = rows.scores(decision)
    n = len(scorer.score_names)
    free = _free([*scorer.score_names, "prediction", *scorer.proba_names], scorer)
    names, prediction, chances = free[:n], free[n], free[n + 1 :]
    chance = sql_probabilities(scorer.calibration, [f"scored.{quoted(name)}" for name in names])
    head = (
        f"-- Written by separatrix {separatrix.__version__} for DuckDB, PostgreSQL 12 and SQLite 3.35, or newer.\n"
        f"{_without_prediction(scorer)}"
        f"{_notations(scorer)}"
        f"-- {_last(chance)} are the last columns; the table must not have columns of these names.\n"
    )
    label = f"{_label(scorer, names)} AS {quoted(prediction)}"
    label += "".join(f",\n  {text} AS {quoted(name)}" for text, name in zip(chance, chances, strict=False))
    first = f"""  SELECT t.*,
    CASE WHEN {rows.complete}
      THEN {scores[0]} END
      AS {quoted(names[0])}
  FROM {_table(table)} AS t
"""
    if len(scores) == 1:
        return f"""{head}SELECT scored.*,
{label}
FROM (
{first}) AS scored
"""
    more = ",\n".join(
        f"    CASE WHEN t.{quoted(names[0])} IS NOT NULL\n      THEN {score} END\n      AS {quoted(name)}"
        for score, name in zip(scores[1:], names[1:], strict=True)
    )
    # Without the word the planners write every score again wherever it is compared.
    return f"""{head}WITH separatrix_first AS MATERIALIZED (
{first}),
separatrix_scored AS MATERIALIZED (
  SELECT t.*,
{more}
  FROM separatrix_first AS t
)
SELECT scored.*,
{label}
FROM separatrix_scored AS scored
"""


def quoted(name: str) -> str:
    """Return a name as SQL writes it.

    Examples
    --------
    >>> print(quoted('the "size" in cm'))
    "the ""size"" in cm"
    """
    if not name or "\0" in name:
        raise ValueError(f"SQL cannot have a column called {name!r}")
    return '"' + name.replace('"', '""') + '"'


def _without_prediction(scorer: Scorer) -> str:
    """Return the comment that says which rows have no prediction."""
    unknown = scorer.unknown == "null" and any(each.pooled is None for each in scorer.role("category"))
    imputed = all(each.fill is not None or each.optional for each in scorer.inputs)
    rows = ["missing values"] * (not imputed) + ["unknown categories"] * unknown
    return f"-- Rows with {' or '.join(rows)} get NULL.\n" if rows else ""


def _notations(scorer: Scorer) -> str:
    """Return the comment that says which columns are text."""
    noted = [f"{each.name} ({each.notation})" for each in scorer.role("number") if each.notation]
    names = re.sub(r"[\r\n]+", " ", ", ".join(noted))
    return f"-- Text that is read as numbers, as it was in the training data: {names}.\n" if noted else ""


def _last(chance: list[str]) -> str:
    return "Scores, prediction and probabilities" if chance else "Scores and prediction"


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError(f"SQL cannot express the text {value!r}")
    return "'" + value.replace("'", "''") + "'"


def _table(name: str) -> str:
    if not re.fullmatch(rf"{_PART}(?:\.{_PART})*", name):
        raise ValueError(f"table must be a name such as customers or sales.customers; found {name!r}")
    return ".".join(part if part.startswith('"') else quoted(part) for part in re.findall(_PART, name))


def _free(names: Sequence[str], scorer: Scorer) -> list[str]:
    """Return names that no column is known to have; they differ in more than capitals, and within 63 bytes."""
    taken, free = {name.lower() for name in (*(each.name for each in scorer.inputs), *scorer.others)}, []
    for place, name in enumerate(names, start=1):
        if len(name.encode()) > _LONGEST_NAME:
            name = f"{name.encode()[: _LONGEST_NAME - 10].decode(errors='ignore')}_{place}"
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        free.append(name)
    return free


def _check_size(scorer: Scorer, layers: list[Floats]) -> None:
    terms = scorer.width
    for weights in layers:
        terms *= weights.shape[1]
    if terms > _MOST_TERMS:
        raise ValueError(
            f"the SQL statement would have {terms:,} terms, more than the limit of {_MOST_TERMS:,}; "
            "use --to onnx, c or json"
        )
    names = [each.name.lower() for each in scorer.inputs]
    if len(set(names)) < len(names):
        twice = listed(sorted({each.name for each in scorer.inputs if names.count(each.name.lower()) > 1}))
        raise ValueError(f"column names that differ only in case are the same in DuckDB and SQLite: {twice}")


def _label(scorer: Scorer, names: list[str]) -> str:
    """Return the CASE that turns scores into a label: by sign for two classes, the first largest of more."""
    classes, scores = [_literal(label) for label in scorer.classes], [f"scored.{quoted(name)}" for name in names]
    if len(classes) == 1:
        return f"  CASE WHEN {scores[0]} IS NOT NULL THEN {classes[0]} END"
    if len(classes) == 2:
        at = double(scorer.threshold) if scorer.threshold else "0"
        yes, no = (">=", "<") if scorer.tie_is_positive else (">", "<=")
        return f"  CASE WHEN {scores[0]} {yes} {at} THEN {classes[1]} WHEN {scores[0]} {no} {at} THEN {classes[0]} END"
    lines = []
    for k, label in enumerate(classes):
        beaten = " AND ".join(f"{scores[k]} >= {other}" for other in scores[k + 1 :])
        lines.append(f"    WHEN {beaten or f'{scores[k]} IS NOT NULL'} THEN {label}")
    return "  CASE\n" + "\n".join(lines) + "\n  END"


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).upper()
    if isinstance(label, int):
        return str(label) if label > -(2**63) else f"({label + 1} - 1)"
    return _typed(label) if isinstance(label, float) else _text(label)


class _Rows:
    """The numbers of a row as expressions, and sums over them."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._numbers = scorer.role("number")
        self._categories = scorer.role("category")

    def scores(self, decision: Linear | Layers) -> list[str]:
        """Return one expression for each score."""
        if isinstance(decision, Linear):
            return [self._sum(w, b) for w, b in zip(decision.weights, decision.bias.tolist(), strict=True)]
        return self._outputs(decision)

    @property
    def complete(self) -> str:
        """What holds for a row that has a prediction."""
        return _balanced([*self._guards()] or ["1 = 1"], "AND")

    def _guards(self) -> Iterator[str]:
        """Yield what must hold for a row to have a prediction."""
        for each in self._numbers:
            if each.notation:
                noted = _noted(each)
                yield f"({noted.missing} OR {noted.valid})" if each.fill is not None else noted.valid
                continue
            cell, text = _cell(each), f"CAST(t.{quoted(each.name)} AS TEXT)"
            # SQLite reads a text that is no number as 0.
            finite = (
                f"{cell} BETWEEN -{_LARGEST} AND {_LARGEST} AND ({cell} <> 0 OR {text} LIKE '%0%' OR {text} = 'false')"
            )
            if each.fill is None:
                yield finite
            else:  # what is infinite is not filled in
                yield f"({cell} IS NULL OR {finite} OR {text} IN ('NaN', 'nan'))"
        for each in self._categories:
            spelled = ", ".join(_text(text) for level in each.levels for text in level)
            if self._scorer.unknown == "null" and each.pooled is None:
                known = f"{_cell(each)} IN ({spelled})"
                yield f"(t.{quoted(each.name)} IS NULL OR {known})" if each.optional else known
            elif not each.optional:
                yield f"t.{quoted(each.name)} IS NOT NULL"

    def _sum(self, weights: Floats, bias: float) -> str:
        """Return the sum of the row's numbers times weights, and a bias."""
        terms = self._sparse_sum(weights) if self._scorer.sparse else self._dense_sum(weights)
        bias_text = double(bias)
        if terms is None:
            return f"CAST({bias_text} AS DOUBLE PRECISION)"
        return f"({terms}\n        + {bias_text})"

    def _dense_sum(self, weights: Floats) -> str | None:
        lanes: list[list[str]] = [[] for _ in range(LANES)]
        for each in self._numbers:
            if w := weights[each.place]:
                lanes[each.place % LANES].append(f"{self._number(each)} * {double(w)}")
        for each in self._scorer.gaps:
            assert each.gap is not None
            if w := weights[each.gap]:
                lanes[each.gap % LANES].append(_missing_number(each, w))
        for each in self._categories:
            for k, level in enumerate(each.levels):
                if w := weights[each.place + k]:
                    known = ", ".join(map(_text, level))
                    term = f"CASE WHEN {_cell(each)} IN ({known}) THEN {_typed(w)} ELSE 0e0 END"
                    lanes[(each.place + k) % LANES].append(term)
            for place, term in _more_levels(each, weights):
                lanes[place % LANES].append(term)
        sums = ["\n        + ".join(lane) for lane in lanes]
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [_added(a, b) for a, b in zip(sums[:half], sums[half:], strict=True)]
        return sums[0] or None

    def _sparse_sum(self, weights: Floats) -> str | None:
        terms = [f"{self._number(each)} * {double(w)}" for each in self._numbers if (w := weights[each.place])]
        for each in self._scorer.gaps:
            assert each.gap is not None
            if w := weights[each.gap]:
                terms.append(_missing_number(each, w))
        for each in self._categories:
            terms += [term for _, term in _more_levels(each, weights)]
            cases = [
                f"\n          WHEN {text} THEN {_typed(w)}"
                for k, level in enumerate(each.levels)
                if (w := weights[each.place + k])
                for text in map(_text, level)
            ]
            if cases:
                terms.append(f"CASE {_cell(each)}{''.join(cases)}\n          ELSE 0e0 END")
        return _balanced(terms) if terms else None

    def _number(self, each: Input) -> str:
        """Return a number as the model sees it."""
        if each.notation:
            missing, _, value = _noted(each)
            if each.fill is not None:
                value = f"CASE WHEN {missing} THEN {_typed(each.fill)} ELSE {value} END"
        else:
            value = _cell(each)
            known = f"{value} BETWEEN -{_LARGEST} AND {_LARGEST}"
            value = value if each.fill is None else f"CASE WHEN {known} THEN {value} ELSE {_typed(each.fill)} END"
        for operation, numbers in self._scorer.steps:
            number = float(numbers[each.place])
            sign, nothing = _SIGNS[operation]
            if number != nothing:
                value = f"({value} {sign} {double(number)})"
        return value

    def _outputs(self, decision: Layers) -> list[str]:
        """Return what goes into the output neurons, the neurons before them written out in their places."""
        first, *more = zip(decision.weights, decision.biases, strict=True)
        values = [self._sum(w, b) for w, b in zip(first[0].T, first[1].tolist(), strict=True)]
        for weights, biases in more:
            fired = [f"(0.5e0 + 0.5e0 * tanh(0.5e0 * {value}))" for value in values]
            values = [
                f"({_balanced([f'{unit} * {double(w)}' for unit, w in zip(fired, own, strict=True)])} + {double(b)})"
                for own, b in zip(weights.T.tolist(), biases.tolist(), strict=True)
            ]
        return values


def _cell(each: Input) -> str:
    # With the table's name before it: SQLite takes an unknown name in double quotes for a text.
    kind = "DOUBLE PRECISION" if each.role == "number" else "TEXT"
    return f"CAST(t.{quoted(each.name)} AS {kind})"


def _noted(each: Input) -> NumberText:
    return number_text(f"t.{quoted(each.name)}", each.notation)


def _missing_number(each: Input, weight: float) -> str:
    """Return the term of the feature that says that a number is missing."""
    if each.notation:
        return f"CASE WHEN {_noted(each).missing} THEN {_typed(weight)} ELSE 0e0 END"
    return f"CASE WHEN {_cell(each)} BETWEEN -{_LARGEST} AND {_LARGEST} THEN 0e0 ELSE {_typed(weight)} END"


def _more_levels(each: Input, weights: Floats) -> Iterator[tuple[int, str]]:
    """Yield the terms of a category's features for levels that are not listed and for a missing one, by place."""
    if each.pooled is not None and (w := weights[each.pooled]):
        spelled = ", ".join(_text(text) for level in each.levels for text in level)
        listed_ = f"t.{quoted(each.name)} IS NULL OR {_cell(each)} IN ({spelled})"
        yield each.pooled, f"CASE WHEN {listed_} THEN 0e0 ELSE {_typed(w)} END"
    if each.gap is not None and (w := weights[each.gap]):
        yield each.gap, f"CASE WHEN t.{quoted(each.name)} IS NULL THEN {_typed(w)} ELSE 0e0 END"


def _typed(value: float) -> str:
    return f"CAST({double(value)} AS DOUBLE PRECISION)"


def _added(a: str, b: str) -> str:
    return f"({a}\n        + {_grouped(b)})" if a and b else a or b


def _grouped(text: str) -> str:
    """Return a sum in parentheses, so that what stands before it is added last."""
    return f"({text})" if "\n        + " in text else text


def _balanced(terms: list[str], sign: str = "+") -> str:
    """Return a sum whose parentheses are as deep as need be: databases limit the depth of an expression."""
    while len(terms) > 1:
        pairs = [f"({a}\n        {sign} {b})" for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0]
