"""A model as C: one header for C99 and C++ that needs only the C library, allocates nothing and keeps no state."""

from __future__ import annotations

import zlib
from typing import Any

from separatrix import __version__
from separatrix.tables.calibration import IsotonicCalibration
from separatrix.tables.export.c_decisions import Part, decision
from separatrix.tables.export.c_probabilities import c_probabilities
from separatrix.tables.export.c_words import check_name, in_lines, members, numbers, quoted, texts
from separatrix.tables.export.scorer import Scorer

_SHOWN = 12  # categories or labels that the comment names
_SIGNS = {"minus": "-", "over": "/", "times": "*", "plus": "+"}
_START = """#include <math.h>
#include <stddef.h>

#if (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(_M_FP_FAST)
#error "fast math is not supported: missing values are NAN"
#endif

#ifndef SEPARATRIX_NOT_FUSED
#if defined(__clang__)
#define SEPARATRIX_NOT_FUSED _Pragma("STDC FP_CONTRACT OFF")
#else
#define SEPARATRIX_NOT_FUSED
#endif
#endif"""
_FIND = """/* Binary search for a category; its place in the one-hot encoding, -1 if it is unknown. */
static inline int @_find(const char *text, const char *const *texts, const int *places, int n) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const char *a = text, *b = texts[middle];
        while (*a != '\\0' && *a == *b) {
            ++a;
            ++b;
        }
        if (*a == *b) return places[middle];
        if ((unsigned char)*a < (unsigned char)*b) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return -1;
}"""


def as_c(scorer: Scorer, name: str = "model") -> str:
    """Return the model as the text of a C header; every name in it begins with ``name``.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.tables.export.conversion import scorer_of
    >>> model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> "static inline int both_predict(const double *row)" in as_c(scorer_of(model), "both")
    True
    """
    check_name(name)
    names = members(each.name for each in scorer.inputs)
    made = decision(scorer)
    parts = [
        _START,
        *_interface(scorer, name, names),
        *_reading(scorer, name, names),
        made.text.replace("@_", f"{name}_"),
        _predictions(scorer).replace("@_", f"{name}_"),
    ]
    if scorer.calibration is not None:
        chances = c_probabilities(scorer.calibration, _row(scorer, "@"), len(scorer.classes))
        parts.append(chances.replace("@_", f"{name}_"))
    body = "\n\n".join(parts)
    guard = f"SEPARATRIX_{name}_{zlib.crc32(body.encode()):08x}"  # two models of the same name are an error
    return f"{_comment(scorer, name, names, made)}\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n"


def _row(scorer: Scorer, name: str) -> str:
    return f"const {name}_row *row" if scorer.named else "const double *row"


# ------------------------------------------------------------------------------------------ what a reader sees


def _comment(scorer: Scorer, name: str, names: list[str], made: Part) -> str:
    labels = _some([quoted(str(label)) for label in scorer.classes])
    lines = [f"A {scorer.kind} as C, written by separatrix {__version__}.", ""]
    lines += [*_wrapped(f"It predicts {quoted(scorer.target)}:", labels), "", f'    #include "{name}.h"', ""]
    given = "&row" if scorer.named else "row"
    lines += _example(scorer, name, names)
    lines += [
        f"    int best = {name}_predict({given});  // an index into {name}_classes; -1: no prediction",
        f"    double scores[{name}_N_SCORES];",
        f"    int ok = {name}_scores({given}, scores);  // 0: no prediction, and the scores are NAN",
        "",
    ]
    if scorer.calibration is not None:
        lines[-1:] = [
            f"    double probabilities[{name}_N_CLASSES];",
            f"    ok = {name}_probabilities({given}, probabilities);  // one for each class",
            "",
        ]
    if scorer.named:
        for own, each in zip(names, scorer.inputs, strict=True):
            levels = _some([quoted(level[0]) for level in each.levels])
            written = f", in the table written as {each.notation}: give the number, as 1234.5" if each.notation else ""
            lines += _wrapped(f"{own}: {each.role} {quoted(each.name)}{written}" + (" of" if levels else ""), levels)
        lines.append("")
    lines += _gaps(scorer)
    stack = made.stack + 8 * len(scorer.role("number")) + 4 * scorer.hot + 8 * len(scorer.score_names)
    stack += 8 * len(scorer.score_names) if scorer.calibration is not None else 0
    lines += [
        f"It allocates nothing and keeps no state; arrays on the stack take {stack:,} bytes. "
        + _libraries(scorer, made),
        "Sums are in the same order as in separatrix: with IEEE doubles and -ffp-contract=off, linear models",
        "give the same bits (clang needs no flag). -ffast-math is an error: missing values are NAN.",
    ]
    return "/* " + "\n".join(f" * {line}".rstrip() for line in lines).removeprefix(" * ") + "\n */"


def _libraries(scorer: Scorer, made: Part) -> str:
    if made.needs_exp:
        return "It needs exp (link with -lm)."
    if scorer.calibration is None or isinstance(scorer.calibration, IsotonicCalibration):
        return "It needs no library."
    return "Probabilities need exp (link with -lm)."


def _example(scorer: Scorer, name: str, names: list[str]) -> list[str]:
    if not scorer.named:
        return [f"    double row[{name}_WIDTH] = {{1.5, ...}};"]
    lines = [f"    {name}_row row;"]
    for own, each in zip(names[:_SHOWN], scorer.inputs, strict=False):
        lines.append(f"    row.{own} = {'1.5' if each.role == 'number' else quoted(each.levels[0][0])};")
    return [*lines, "    ..."] if len(names) > _SHOWN else lines


def _gaps(scorer: Scorer) -> list[str]:
    numeric, categories = scorer.role("number"), scorer.role("category")
    none, lines = "the row has no prediction.", []
    if numeric:
        gap = "it is imputed." if numeric[0].fill is not None else none
        lines.append(f"A missing number is NAN: {gap} An infinite number: no prediction.")
    if categories:
        gap = "it is a level of its own, or all zeros." if categories[0].optional else none
        lines.append(f"A category is text in UTF-8. A missing category is NULL: {gap}")
        lines.append(f"An unknown category: {'encoded as all zeros.' if scorer.unknown == 'zero' else none}")
    return lines


def _wrapped(first: str, words: list[str]) -> list[str]:
    return in_lines(words, f"{first} ", "        ").split("\n") if words else [first]


def _some(words: list[str]) -> list[str]:
    return words if len(words) <= _SHOWN else [*words[:_SHOWN], f"and {len(words) - _SHOWN:,} more"]


def _interface(scorer: Scorer, name: str, names: list[str]) -> list[str]:
    counts = [f"{name}_N_CLASSES = {len(scorer.classes)}", f"{name}_N_SCORES = {len(scorer.score_names)}"]
    if not scorer.named:
        counts.append(f"{name}_WIDTH = {scorer.width}")
    parts = [f"enum {{ {', '.join(counts)} }};"]
    if scorer.named:
        kinds = {"number": "double ", "category": "const char *"}
        columns = [
            f"    {kinds[each.role]}{own}; /* {quoted(each.name)} */"
            for own, each in zip(names, scorer.inputs, strict=True)
        ]
        parts.append("\n".join(["typedef struct {", *columns, f"}} {name}_row;"]))
    parts.append(texts(f"{name}_classes", [str(label) for label in scorer.classes], "a label"))
    typed = _typed(scorer.classes, name)
    return [*parts, typed] if typed else parts


def _typed(labels: list[Any], name: str) -> str:
    """Return labels that are not text in their own type."""
    if any(isinstance(label, str) for label in labels):
        return ""
    if any(isinstance(label, float) for label in labels):
        return numbers(f"{name}_labels", [float(label) for label in labels])
    if all(isinstance(label, bool) for label in labels):
        return numbers(f"{name}_labels", [int(label) for label in labels])
    least = -(2**63)  # whose digits alone are too large
    words = [f"({label + 1}LL - 1)" if label == least else f"{label}LL" for label in map(int, labels)]
    return f"static const long long {name}_labels[{len(words)}] = {{{', '.join(words)}}};"


# ------------------------------------------------------------------------------------------ from a row to numbers


def _reading(scorer: Scorer, name: str, names: list[str]) -> list[str]:
    """Return the C that turns a row into numbers and places, and reports missing values."""
    numeric, categories, hot = scorer.role("number"), scorer.role("category"), scorer.hot
    held = [f"double x[{len(numeric)}];"] if numeric else []
    held += [f"int hot[{hot}];"] if hot else []
    ones = ", and the places of its features that are 1 (missing numbers, categories)" if hot else ""
    parts = [f"/* A row's scaled numbers{ones}. */\ntypedef struct {{ {' '.join(held)} }} {name}_values;"]
    body: list[str] = []
    if numeric:
        parts.append(_scaling(scorer, name))
        if scorer.named:
            for place, own in enumerate(names[: len(numeric)]):
                body.append(f"    if (!{name}_number(row->{own}, {place}, values)) return 0;")
        else:
            body += [
                "    int j;",
                f"    for (j = 0; j < {len(numeric)}; ++j)",
                f"        if (!{name}_number(row[j], j, values)) return 0;",
            ]
    for place, each in enumerate(scorer.gaps):
        cell = f"row->{names[scorer.inputs.index(each)]}"
        body.append(f"    values->hot[{place}] = {cell} != {cell} ? {each.gap} : -1;")
    if categories:
        parts.append(_FIND.replace("@_", f"{name}_"))
    for place, (own, each) in enumerate(zip(names[len(numeric) :], categories, strict=True), start=len(scorer.gaps)):
        spelled = sorted(
            (text.encode("utf-8"), text, each.place + code) for code, level in enumerate(each.levels) for text in level
        )
        parts.append(texts(f"{name}_{own}_texts", [text for _, text, _ in spelled], f"column {each.name!r}"))
        parts.append(numbers(f"{name}_{own}_places", [where for _, _, where in spelled]))
        code = f"{name}_find(row->{own}, {name}_{own}_texts, {name}_{own}_places, {len(spelled)})"
        if each.optional:
            gap = -1 if each.gap is None else each.gap
            body.append(f"    values->hot[{place}] = row->{own} == NULL ? {gap} : {code};")
            if each.pooled is not None:
                body.append(
                    f"    if (row->{own} != NULL && values->hot[{place}] < 0) values->hot[{place}] = {each.pooled};"
                )
            elif scorer.unknown == "null":
                body.append(f"    if (row->{own} != NULL && values->hot[{place}] < 0) return 0;")
        else:
            body += [f"    if (row->{own} == NULL) return 0;", f"    values->hot[{place}] = {code};"]
            if each.pooled is not None:
                body.append(f"    if (values->hot[{place}] < 0) values->hot[{place}] = {each.pooled};")
            elif scorer.unknown == "null":
                body.append(f"    if (values->hot[{place}] < 0) return 0;")
    head = f"static inline int {name}_read({_row(scorer, name)}, {name}_values *values) {{"
    parts.append("\n".join([head, *body, "    return 1;", "}"]))
    return parts


def _scaling(scorer: Scorer, name: str) -> str:
    fills = [each.fill for each in scorer.role("number")]
    lines = [numbers(f"{name}_{step}_{place}", values) for place, (step, values) in enumerate(scorer.steps)]
    filled = all(fill is not None for fill in fills)
    if filled:
        lines.append(numbers(f"{name}_means", fills))
    lines += [
        "",
        f"static inline int {name}_number(double value, int j, {name}_values *values) {{",
        "    SEPARATRIX_NOT_FUSED",
        *([f"    if (value != value) value = {name}_means[j];"] if filled else []),
        "    if (!(value - value == 0.0)) return 0;",
        *(f"    value = value {_SIGNS[step]} {name}_{step}_{k}[j];" for k, (step, _) in enumerate(scorer.steps)),
        "    values->x[j] = value;",
        "    return 1;",
        "}",
    ]
    return "\n".join(lines).strip()


# ------------------------------------------------------------------------------------------ from scores to labels


def _predictions(scorer: Scorer) -> str:
    row, classes, scores = _row(scorer, "@"), len(scorer.classes), len(scorer.score_names)
    if classes == 1:
        label = "    return 0;"
    elif classes == 2:
        label = f"    return scores[0] {'>=' if scorer.tie_is_positive else '>'} {scorer.threshold!r};"
    else:
        label = f"""    for (k = 1; k < {classes}; ++k)
        if (!(scores[k] <= scores[best]) && scores[best] == scores[best]) best = k;
    return best;"""
    count = "\n    int k, best = 0;" if classes > 2 else ""
    zeros = ", ".join(["{0.0}"] * bool(scorer.role("number")) + ["{0}"] * bool(scorer.hot))
    return f"""/* Writes the score{"s, one for each class" if scores > 1 else ""}; 0 if the row has no prediction. */
static inline int @_scores({row}, double *scores) {{
    @_values values = {{{zeros}}};
    int k;
    if (@_read(row, &values)) {{
        @_decide(&values, scores);
        return 1;
    }}
    for (k = 0; k < {scores}; ++k) scores[k] = (double)NAN;
    return 0;
}}

/* Returns an index into @_classes, -1 if the row has no prediction. */
static inline int @_predict({row}) {{
    double scores[{scores}];{count}
    if (!@_scores(row, scores)) return -1;
{label}
}}"""
