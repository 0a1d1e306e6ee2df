"""The result of a comparison, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from separatrix.cli.scores import show_by_class
from separatrix.cli.summary import counts_by_column, show_separability, times_of
from separatrix.cli.writing import console as new_console
from separatrix.cli.writing import plain_table
from separatrix.tables.fit import CERTIFIED_CLASSES
from separatrix.tables.preparation import FEATURES
from separatrix.tables.scores import LOSSES, METRICS
from separatrix.tables.split_column import fold_words
from separatrix.text import byte_size, duration

_MEASURABLE = 10**6  # bytes
_SPARE = ("memory", "size", "p", "95% CI", "train", "certified")  # columns that a narrow screen hides, in this order
_BETWEEN = 3  # characters between two columns


def show_comparison(comparison: Any, pictures: list[Path]) -> None:
    """Print the table, the significance of differences, what was skipped, and the certificate."""
    console, data, standings = new_console(), comparison.data, comparison.standings
    console.print(_about(comparison))
    if data["imputed"]:
        console.print(f"Missing values imputed: {counts_by_column(data['imputed'])}.")
    if comparison.plan.parameters:
        console.print(f"Parameters: {_parameters(comparison.plan.parameters)}.")
    console.print()
    if standings:
        table, hidden = _table(comparison, console.width)
        console.print(table)
        console.print()
        _notes(comparison, console, hidden)
    for name, reason in comparison.left_out.items():
        console.print(f"Skipped {name}: {reason.rstrip('.')}.")
    waiting = [name for name in comparison.plan.models if name not in (*comparison.left_out, *_names(standings))]
    if waiting:
        console.print(f"Interrupted before {', '.join(waiting)} finished.")
    if standings:
        console.print()
        console.print(f"{standings[0].name} by class:")
        show_by_class(standings[0].scores, [each["label"] for each in data["classes"]], console)
    if comparison.certificate is not None:
        console.print()
        console.print("All rows:" if comparison.plan.folds else f"The {data['rows']['train']:,} training rows:")
        show_separability(comparison.certificate, FEATURES[comparison.data["scale"]], console)
    elif len(data["classes"]) > CERTIFIED_CLASSES and comparison.plan.certify > 0:
        console.print(
            f"No certificate of linear separability: {len(data['classes'])} classes; at most {CERTIFIED_CLASSES} are "
            "certified."
        )
    for path in pictures:
        console.print(f"Plot written to {path}.")


def _parameters(by_model: dict[str, dict[str, Any]]) -> str:
    """Return the parameters of models as they are given to --param."""
    return ", ".join(f"{model}:{name}={value}" for model, own in by_model.items() for name, value in own.items())


def _names(standings: Any) -> list[str]:
    return [each.name for each in standings]


def _about(comparison: Any) -> str:
    data, rows, plan = comparison.data, comparison.data["rows"], comparison.plan
    dropped = f", {rows['dropped']:,} dropped (missing values)" if rows["dropped"] else ""
    how = (
        f"{plan.folds}-fold cross-validation{fold_words(data['split'])}, {times_of(rows['train'], 'training row')} per "
        "fold"
        if plan.folds
        else f"{times_of(rows['train'], 'training row')}, {times_of(rows['held_out'], 'test row')}"
    )
    return (
        f"{data['source']}: {times_of(rows['read'], 'row')}{dropped}; {how}; {times_of(data['numbers'], 'feature')}, "
        f"{len(data['classes'])} classes."
    )


def _table(comparison: Any, width: int) -> tuple[Any, list[str]]:
    """Return the table as far as it fits, and the names of the hidden columns."""
    metrics = _metrics(comparison.metric)
    head = ["model", *(METRICS[name] for name in metrics), "95% CI", "p", "train", "predict/row", "memory", "size"]
    head.append("certified")
    lines = [
        [
            each.name + " *" * each.sampled, *(_value(each.scores, name) for name in metrics), _interval(each.scores),
            _p(each, comparison), duration(each.train), duration(each.predict), _memory(each.memory),
            byte_size(each.size), _proof(each.proof),
        ]
        for each in comparison.standings
    ]  # fmt: skip
    base = comparison.baseline
    lines.append(["majority class", *(_value(base, name) for name in metrics), _interval(base), *[""] * 6])
    spare, hidden = list(_SPARE), list[str]()
    while spare and sum(max(map(len, each)) + _BETWEEN for each in zip(head, *lines, strict=True)) - _BETWEEN > width:
        hidden.append(spare.pop(0))
        place = head.index(hidden[-1])
        head, lines = [name.removesuffix("/row") for name in head], [line[:place] + line[place + 1 :] for line in lines]
        del head[place]
    table = plain_table(head, lines, right=True)
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    return table, hidden


def _metrics(metric: str) -> list[str]:
    """Return the metrics of the table: the one that orders it, and accuracy beside ROC AUC."""
    two = ["roc_auc", "accuracy"] if metric == "balanced_accuracy" else ["accuracy", "roc_auc"]
    return [metric, *(name for name in two if name != metric)]


def _value(scores: Any, metric: str) -> str:
    value = scores.value(metric)
    if value is None:
        return ""
    return f"{value:.1%}" if metric == "accuracy" else f"{value:.4g}" if metric in LOSSES else f"{value:.3f}"


def _notes(comparison: Any, console: Any, hidden: list[str]) -> None:
    standings, n = comparison.standings, comparison.data["rows"]["held_out"]
    same, best = _names(comparison.indistinguishable())[1:], standings[0].name
    if comparison.metric != "accuracy":
        console.print(f"Ordered by {METRICS[comparison.metric]}; p is about accuracy, against {best}.")
    elif same and len(same) == len(standings) - 1:
        console.print(f"No model differs significantly from {best} on the {n:,} test rows (p >= 0.05).")
    elif same:
        console.print(f"Not significantly different from {best} on the {n:,} test rows (p >= 0.05): {', '.join(same)}.")
    elif len(standings) > 1:
        console.print(f"{best} is significantly better than all others on the {n:,} test rows (p < 0.05).")
    for each in standings:
        if each.sampled:
            console.print(
                f"* {each.name}: random sample of {each.scores.n:,} of the {n:,} test rows (all would exceed the time "
                "limit); p is for these rows."
            )
    cut = [each for each in standings if not each.converged]
    if cut:
        console.print(f"Not converged (epoch limit reached): {', '.join(_names(cut))}.")
    if len(comparison.data["classes"]) > 2:
        console.print("ROC AUC is the mean over the classes, each against the rest.")
    if (remark := standings[0].scores.remark()) is not None:
        console.print(f"{best}: {remark[0].lower()}{remark[1:]}")
    if hidden:
        names = " and ".join(filter(None, [", ".join(hidden[:-1]), hidden[-1]]))
        console.print(f"Hidden on this narrow screen: {names}. predict is the time per row.")


def _interval(scores: Any) -> str:
    low, high = scores.interval()
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _p(each: Any, comparison: Any) -> str:
    if each is comparison.standings[0]:
        return "best"
    return "<0.001" if each.p < 0.001 else f"{each.p:.3f}" if each.p < 0.0995 else f"{each.p:.2f}"


def _memory(value: int | None) -> str:
    """Return bytes; memory is counted in pages and with delay, so small numbers mean little."""
    return "" if value is None else byte_size(value) if value >= _MEASURABLE else "<1 MB"


def _proof(proof: Any) -> str:
    if proof is None:
        return "no"
    if proof.kind == "margin":
        return "separates"
    return "gap <1e-6" if proof.value < 1e-6 else f"gap {proof.value:.0e}".replace("e-0", "e-")
