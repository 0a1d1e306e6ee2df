"""Scores of a model as text: the metrics, and a table by class or, of many classes, the weakest of them."""

from __future__ import annotations

from typing import Any

from separatrix.cli.writing import plain_table

MOST_CLASSES = 12  # in a table
_WEAKEST = 5  # classes and confusions that are shown of more
_BETWEEN = 3  # characters between two columns


def show_scores(scores: Any, labels: list[Any], console: Any, what: str = "Test") -> None:
    """Print the metrics, what to remark about them, and scores by class."""
    for sentence in scores.sentences(what):
        console.print(sentence)
    if (remark := scores.remark()) is not None:
        console.print(remark)
    show_by_class(scores, labels, console)


def show_by_class(scores: Any, labels: list[Any], console: Any) -> None:
    """Print scores by class, of many classes the weakest; a confusion matrix where it fits the console."""
    names = [str(label) for label in labels]
    if len(names) > MOST_CLASSES:
        _show_weakest(scores, names, console)
        return
    counts = [
        [label, *(f"{count:,}" for count in own)] for label, own in zip(names, scores.confusion.tolist(), strict=True)
    ]
    by_class = [_cells(each) for each in scores.by_class()]
    matrix, measures = ["actual \\ predicted", *names], ["rows", "precision", "recall", "F1"]
    joined = [[*own, *more] for own, more in zip(counts, by_class, strict=True)]
    if _width([[*matrix, *measures], *joined]) <= console.width:
        console.print(plain_table([*matrix, *measures], joined, right=True))
        return
    if fits := _width([matrix, *counts]) <= console.width:
        console.print(plain_table(matrix, counts, right=True))
        console.print()
    rows = [[label, *more] for label, more in zip(names, by_class, strict=True)]
    console.print(plain_table(["class", *measures], rows, right=True))
    if not fits:
        _show_errors(scores, names, console)


def _show_weakest(scores: Any, names: list[str], console: Any) -> None:
    by_class = scores.by_class()
    weakest = scores.weakest(_WEAKEST)
    console.print(f"Weakest of {len(names):,} classes, by recall:")
    rows = [[names[code], *_cells(by_class[code])] for code in weakest]
    console.print(plain_table(["class", "rows", "precision", "recall", "F1"], rows, right=True))
    _show_errors(scores, names, console)


def _show_errors(scores: Any, names: list[str], console: Any) -> None:
    support = scores.confusion.sum(axis=1).tolist()
    errors = [[names[a], names[b], f"{n:,}", f"{support[a]:,}"] for a, b, n in scores.confusions(_WEAKEST)]
    if errors:
        console.print("Most frequent errors:")
        console.print(plain_table(["actual", "predicted", "rows", "rows of the class"], errors))


def _cells(each: Any) -> list[str]:
    shares = ["" if value is None else f"{value:.3f}" for value in (each.precision, each.recall, each.f1)]
    return [f"{each.support:,}", *shares]


def _width(rows: list[list[str]]) -> int:
    from rich.cells import cell_len

    columns = zip(*rows, strict=True)
    return sum(max(cell_len(cell) for cell in column) + _BETWEEN for column in columns) - _BETWEEN
