"""``separatrix inspect MODEL DATA --dual``: the dual solution of a support vector machine, point by point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from separatrix.cli.options import open_named
from separatrix.cli.table_formats import write_table
from separatrix.cli.writing import console, plain_table
from separatrix.text import csv_text, html_table, latex, listed, markdown, times


@dataclass(frozen=True)
class DualTable:
    """All points of one task, or of several one after the other, as a table."""

    head: list[str]
    rows: list[list[str]]

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown(self.head, self.rows)

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        return latex(self.head, self.rows)

    def to_html(self) -> str:
        """Return the table as HTML."""
        return html_table(self.head, self.rows)

    def to_csv(self) -> str:
        """Return the table as comma-separated values."""
        return csv_text(self.head, self.rows)


def show_dual(
    model: Any, source: str | None, sql: str | None, db: str | None, delimiter: str | None, *, label: str | None,
    top: int, name: str | None, output: Path | None, json: bool,
) -> None:  # fmt: skip
    """Print alpha, slack and place of each training row, the conditions of optimality, and the objective."""
    from separatrix.insight.kkt import svm_conditions
    from separatrix.tables.whole import read_training

    estimator = model.estimator
    kind = type(estimator).__name__
    if kind not in ("LinearSVM", "KernelSVM"):
        raise ValueError(f"a {kind} has no dual solution; --dual is for support vector machines (svm, kernel-svm)")
    if source is None and sql is None:
        raise ValueError("--dual needs the rows that the model was trained on: give their source after the model")
    with open_named(source, sql, db, delimiter) as opened:
        rows = read_training(model, opened)
    every = svm_conditions(estimator, rows.X, rows.y, sample_weight=rows.weights)
    labels = [str(each) for each in every.classes]
    if label is not None:
        known = [str(each) for each in model.classes_.tolist()]
        if label not in known:
            raise ValueError(f"--class {label}: there is no such class; the classes are {listed(known)}")
        if label not in labels:
            raise ValueError(f"--class {label}: of two classes there is one task, whose positive class is {labels[0]}")
    parts = {
        str(each): every.of_class(each) for each in every.classes if label is None or str(each) == label
    }  # fmt: skip
    if json:
        import json as to_text

        tasks = [_as_dict(title, part, rows, top) for title, part in parts.items()]
        typer.echo(to_text.dumps({"model": kind, "C": _finite(float(estimator.C)), "tasks": tasks}))
    elif name is None or output is not None:
        for place, (title, part) in enumerate(parts.items()):
            _show(estimator, title, part, rows, top, first=place == 0, several=len(model.classes_) > 2)
    if name is not None and (output is not None or not json):
        write_table(_table(parts, rows), name, output, times(len(rows.y) * len(parts), "row"))


def _chosen(part: Any) -> Any:
    """Return the points to show: the support vectors, and those with a residual, in the order of the rows."""
    return np.flatnonzero((part.alpha > 0) | (part.residual > 1e-3))


def _cells(part: Any, rows: Any, chosen: Any, digits: int = 6) -> list[list[str]]:
    cells = part.cells(chosen.tolist(), digits)
    out = []
    for row, (_, place, *numbers) in zip(chosen.tolist(), cells, strict=True):
        bias = "" if np.isnan(part.free_bias[row]) else f"{part.free_bias[row]:.{digits}g}"
        out.append([str(int(rows.places[row])), str(rows.y[row]), place, *numbers, bias])
    return out


_HEAD = ["row", "y", "place", "alpha", "margin", "slack", "residual", "b from it"]


def _table(parts: dict[str, Any], rows: Any) -> DualTable:
    every = np.arange(len(rows.y))
    if len(parts) == 1:
        return DualTable(_HEAD, _cells(next(iter(parts.values())), rows, every, 17))
    out = [[title, *cells] for title, part in parts.items() for cells in _cells(part, rows, every, 17)]
    return DualTable(["class", *_HEAD], out)


def _show(estimator: Any, title: str, part: Any, rows: Any, top: int, *, first: bool, several: bool) -> None:
    screen = console()
    if not first:
        screen.print()
    task = f"{title} against the others" if several else f"positive class {title}"
    counts = ", ".join(f"{count:,} {place}" for place, count in part.counts.items())
    n_support, n_free = int((part.alpha > 0).sum()), int(part.free.sum())
    screen.print(
        f"{task}: {times(n_support, 'support vector')} among {len(rows.y):,} training rows ({n_free:,} free); "
        f"{counts} the margin\n",
        soft_wrap=True,
    )
    chosen = _chosen(part)
    screen.print(plain_table(_HEAD, _cells(part, rows, chosen[:top])))
    if len(chosen) > top:
        screen.print(f"{times(len(chosen) - top, 'more row')} not shown (--top shows more, -o writes all)")
    screen.print()
    screen.print(plain_table(["condition", "value"], _facts(estimator, part)))


def _facts(estimator: Any, part: Any) -> list[list[str]]:
    value = part.objective
    squared = getattr(estimator, "loss", "hinge") == "squared_hinge"
    slack = "sum z^2" if squared else "sum z"
    hard = bool(np.isinf(float(estimator.C)))
    lines = [["largest KKT residual", f"{part.worst:.3g}"]]
    if part.stationarity is not None:
        lines.append(["stationarity |w - sum alpha y x|", f"{part.stationarity:.3g}"])
    lines.append(["balance |sum alpha y|", f"{part.balance:.3g}{_about_balance(estimator)}"])
    known = part.free_bias[~np.isnan(part.free_bias)]
    if len(known):
        between = f"from {known.min():.6g} to {known.max():.6g} ({times(len(known), 'free support vector')})"
        lines.append(["b from free support vectors", between])
    elif getattr(estimator, "fit_intercept", True):
        lines.append(["b from free support vectors", "none is free (0 < alpha < C)"])
    lines.append(["b of the model", f"{part.bias:.6g}"])
    if hard:
        lines.append(["primal value 1/2 |w|^2", f"{value.primal:.6g}"])
    else:
        parts = f"{value.regulariser:.6g} + {value.penalty:.6g}"
        lines.append([f"primal value 1/2 |w|^2 + gamma {slack}", f"{parts} = {value.primal:.6g}"])
        lines.append(["divided by gamma N (mean loss + regulariser)", f"{value.mean_loss:.6g}"])
    less = " - sum alpha^2 / (4 gamma)" if squared else ""
    lines.append([f"dual value sum alpha - 1/2 |sum alpha y x|^2{less}", f"{value.dual:.6g}"])
    lines.append(["duality gap", f"{value.gap:.3g}"])
    weighted = " (times the weight of the row)" if len(np.unique(part.cost)) > 1 else ""
    box = "alpha >= 0" if hard or squared else f"0 <= alpha <= gamma = C = {float(estimator.C):g}{weighted}"
    lines.append(["bounds of the dual (Lecture 003 misprints gamma as tau)", box])
    return lines


def _about_balance(estimator: Any) -> str:
    if not getattr(estimator, "fit_intercept", True):
        return " (need not be 0: the model has no bias)"
    if getattr(estimator, "intercept_scaling", None) is not None:
        return " (need not be 0: the bias is penalised)"
    return ""


def _as_dict(title: str, part: Any, rows: Any, top: int) -> dict[str, Any]:
    value = part.objective
    chosen = _chosen(part)[:top].tolist()
    return {
        "positive": title,
        "rows": len(rows.y),
        "support_vectors": int((part.alpha > 0).sum()),
        "free": int(part.free.sum()),
        "counts": part.counts,
        "residual": part.worst,
        "stationarity": part.stationarity,
        "balance": part.balance,
        "bias": part.bias,
        "objective": {**vars(value), "gap": value.gap},
        "points": [
            {
                "row": int(rows.places[row]), "y": rows.y[row : row + 1].tolist()[0], "place": str(part.place[row]),
                "alpha": float(part.alpha[row]), "margin": float(part.margin[row]), "slack": float(part.slack[row]),
                "residual": float(part.residual[row]), "bias": _finite(float(part.free_bias[row])),
            }
            for row in chosen
        ],
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
