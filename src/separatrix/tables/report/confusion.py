"""Predictions against labels: the confusion matrix, and precision, recall and F1 of each class."""

from __future__ import annotations

import math

from separatrix.tables.report.blocks import boxed, brief, data, details, isolated, paragraph, section, table
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.scores import ClassScore, Scores

MOST_CLASSES = 12  # in a matrix; of more, the most frequent errors and the weakest classes are shown
_WIDE = 5  # classes from which on a matrix takes the whole width
_ERRORS = 12
_LETTERS = 24  # of a name above a column
_SYLLABLE = 7  # letters of a word above a column, after which it may be broken


def confusion(context: ReportContext) -> Element:
    """Return the section with the confusion matrices and the scores by class."""
    scores, inspected = context.facts.test, context.inspected
    parts: list[Content] = []
    if scores is not None:
        parts.append(_scored(context, scores, f"Test set of {isolated(brief(context.facts.source))}"))
    if inspected is not None and inspected.confusion.n:
        which = "All labelled rows of" if inspected.trained_on else "Labelled rows of"
        among = ", training rows included" if inspected.trained_on else ""
        parts.append(_scored(context, inspected.confusion, f"{which} {isolated(brief(inspected.source))}{among}"))
    intro = (
        "Rows by actual class (down) and predicted class (across). Correct predictions are on the diagonal. Recall is "
        "the fraction of a class that is predicted correctly, precision the fraction of the predictions of a class "
        "that are correct, and F1 their harmonic mean."
    )
    title = "Predictions by class"
    if not parts:
        return section(
            "confusion", title,
            paragraph(
                "There is no test set, and no labelled rows were given: ",
                element("code", "separatrix report MODEL SOURCE"), " uses the rows of a source.",
            ),
        )  # fmt: skip
    return section("confusion", title, paragraph(intro), parts)


def _scored(context: ReportContext, scores: Scores, caption: str) -> Element:
    labels = context.labels
    correct = f"{caption}: {scores.correct:,} of {scores.n:,} correct"
    if len(labels) <= MOST_CLASSES:
        own = [_matrix(labels, scores, correct), _by_class(labels, scores, range(len(labels)), f"By class: {caption}")]
        return element("div", own, class_="tables" if len(labels) < _WIDE else "stacked")
    weakest = scores.weakest(MOST_CLASSES)
    own = [
        _errors(labels, scores, f"{correct}; the most frequent errors"),
        _by_class(labels, scores, weakest, f"The weakest of {len(labels):,} classes, by recall: {caption}"),
    ]
    every = _by_class(labels, scores, range(len(labels)), f"All classes: {caption}")
    more = details(f"All {len(labels):,} classes", every, class_="many")
    return element("div", element("div", own, class_="tables"), more)


def _matrix(labels: list[str], scores: Scores, caption: str) -> Element:
    counts = scores.confusion
    most = max(int(counts.max()), 1)
    head = element("tr", element("th", "actual \\ predicted", scope="col"), [
        element("th", _heading(label, len(labels) > _WIDE), scope="col", class_="number") for label in labels
    ], element("th", "recall", scope="col", class_="number"))  # fmt: skip
    body = []
    for code, own in enumerate(counts.tolist()):
        cells = [
            element(
                "td", f"{count:,}", class_=None if not count else "right" if predicted == code else "wrong",
                style=f"--depth: {0.08 + 0.3 * count / most:.3f}" if count else None,
            )
            for predicted, count in enumerate(own)
        ]  # fmt: skip
        share = f"{own[code] / sum(own):.1%}" if sum(own) else "\u2013"
        body.append(
            element(
                "tr",
                element("th", data(labels[code]), scope="row"),
                cells,
                element("td", share, class_="share"),
            )
        )
    dense = "matrix dense" if len(labels) > _WIDE else "matrix"
    return boxed(caption, element("thead", head), element("tbody", body), class_=dense)


def _heading(label: str, dense: bool) -> Element:
    """Return a name above a column: shorter than elsewhere, and whole in its title; above many, long words break."""
    shown = brief(label, _LETTERS)
    words = " ".join(_breakable(word) for word in shown.split(" ")) if dense else shown
    return element("bdi", words, title=label if shown != label else None)


def _breakable(word: str) -> str:
    """Return a word with soft hyphens, if it is long.

    Examples
    --------
    >>> _breakable("Glaciers").replace("\u00ad", "-"), _breakable("bog")
    ('Glac-iers', 'bog')
    """
    size = math.ceil(len(word) / math.ceil(len(word) / _SYLLABLE)) if word else 1
    return "\u00ad".join(word[k : k + size] for k in range(0, len(word), size))


def _errors(labels: list[str], scores: Scores, caption: str) -> Element:
    """Return the most frequent errors, where a matrix of all classes would be too large to read."""
    support = scores.confusion.sum(axis=1).tolist()
    rows: list[list[Content]] = [
        [data(labels[a]), data(labels[b]), f"{n:,}", f"{support[a]:,}"] for a, b, n in scores.confusions(_ERRORS)
    ]
    return table(caption, ["actual", "predicted", "rows", "rows of the class"], rows, numbers=(2, 3))


def _by_class(labels: list[str], scores: Scores, codes: range | list[int], caption: str) -> Element:
    by_class = scores.by_class()
    rows: list[list[Content]] = [[data(labels[code]), *_cells(by_class[code])] for code in codes]
    return table(caption, ["class", "rows", "precision", "recall", "F1"], rows, numbers=(1, 2, 3, 4))


def _cells(each: ClassScore) -> list[str]:
    shares = ["\u2013" if value is None else f"{value:.3f}" for value in (each.precision, each.recall, each.f1)]
    return [f"{each.support:,}", *shares]
