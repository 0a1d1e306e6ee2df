"""What a comparison came to, for a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from separatrix.cli.summary import show_separability, times_of
from separatrix.cli.writing import console as new_console
from separatrix.cli.writing import plain_table
from separatrix.tables.fit import CERTIFIED_CLASSES
from separatrix.text import byte_size, duration

_COUNTED = 10**6  # bytes
_SPARE = ("p", "memory", "size", "interval", "train", "certified")  # what a narrow screen does without, in this order
_BETWEEN = 3  # columns of a screen between those of the table


def show_comparison(found: Any, pictures: list[Path]) -> None:
    """Print the table, who was left out, what cannot be told apart, and the certificate."""
    console, facts = new_console(), found.facts
    console.print(_about(found))
    console.print()
    if found.standings:
        table, unseen = _table(found, console.width)
        console.print(table)
        console.print()
        _notes(found, console, unseen)
    for name, reason in found.left_out.items():
        console.print(
            f"Left out: {name}, which {reason}." if reason.startswith("took") else f"Left out: {name}: {reason}"
        )
    waiting = [name for name in found.plan.models if name not in found.left_out and name not in _names(found.standings)]
    if waiting:
        console.print(f"Interrupted before {', '.join(waiting)} came to an end.")
    if found.certificate is not None:
        console.print()
        what = "all rows" if found.plan.folds else f"the {facts['rows']['train']:,} rows learned from"
        console.print(f"Certificate of {what}:")
        show_separability(found.certificate, console)
    elif len(facts["classes"]) > CERTIFIED_CLASSES and found.plan.certify > 0:
        console.print(
            f"No certificate of the rows: {len(facts['classes'])} classes have too many pairs to look at; up to "
            f"{CERTIFIED_CLASSES} are certified."
        )
    for path in pictures:
        console.print(f"Picture written to {path}.")


def _names(standings: Any) -> list[str]:
    return [each.name for each in standings]


def _about(found: Any) -> str:
    facts, rows, plan = found.facts, found.facts["rows"], found.plan
    dropped = f", {rows['dropped']:,} of them dropped because a value is missing" if rows["dropped"] else ""
    how = (
        f"{plan.folds} folds, each held out in turn and learned from {times_of(rows['train'], 'other row')}"
        if plan.folds
        else f"learned from {times_of(rows['train'], 'row')}, {rows['held_out']:,} held out"
    )
    return (
        f"{facts['source']}: {times_of(rows['read'], 'row')}{dropped}; {how}; {times_of(facts['numbers'], 'number')} a "
        f"row, {len(facts['classes'])} classes."
    )


def _table(found: Any, width: int) -> tuple[Any, list[str]]:
    """Return the table as far as it fits, and the names of the columns that do not."""
    head = ["model", "right", "interval", "p", "train", "predict/row", "memory", "size", "certified"]
    lines = [
        [
            each.name + " *" * each.sampled, f"{each.scores.accuracy:.1%}", _interval(each.scores),
            _p(each, found), duration(each.train), duration(each.predict), _memory(each.memory), byte_size(each.size),
            _proof(each.proof),
        ]
        for each in found.standings
    ]  # fmt: skip
    base = found.baseline
    lines.append(["commonest class", f"{base.accuracy:.1%}", _interval(base), *[""] * 6])
    spare, unseen = list(_SPARE), list[str]()
    while spare and sum(max(map(len, each)) + _BETWEEN for each in zip(head, *lines, strict=True)) - _BETWEEN > width:
        unseen.append(spare.pop(0))
        place = head.index(unseen[-1])
        head, lines = [name.removesuffix("/row") for name in head], [line[:place] + line[place + 1 :] for line in lines]
        del head[place]
    table = plain_table(head, lines, right=True)
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    return table, unseen


def _notes(found: Any, console: Any, unseen: list[str]) -> None:
    alike = _names(found.alike())[1:]
    best = found.standings[0].name
    n = found.facts["rows"]["held_out"]
    if alike and len(alike) == len(found.standings) - 1:
        console.print(f"These {n:,} rows do not tell the models apart: all have p of at least 0.05 against {best}.")
    elif alike:
        console.print(f"These {n:,} rows do not tell {best} and {', '.join(alike)} apart (p at least 0.05).")
    elif len(found.standings) > 1:
        console.print(f"These {n:,} rows tell {best} apart from all others (p below 0.05).")
    for each in found.standings:
        if each.sampled:
            console.print(
                f"* {each.name}: on {each.scores.n:,} of the {n:,} rows, at random, as all would have taken too long; "
                "its p is for these."
            )
    cut = [each for each in found.standings if not each.converged]
    if cut:
        console.print(f"Stopped at the limit of their epochs: {', '.join(_names(cut))}.")
    if unseen:
        names = " and ".join(filter(None, [", ".join(unseen[:-1]), unseen[-1]]))
        console.print(f"A wider screen shows {names}, too. predict is the time for one row.")


def _interval(scores: Any) -> str:
    low, high = scores.interval()
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _p(each: Any, found: Any) -> str:
    if each is found.standings[0]:
        return "best"
    return "<0.001" if each.p < 0.001 else f"{each.p:.3f}" if each.p < 0.0995 else f"{each.p:.2f}"


def _memory(value: int | None) -> str:
    """Return bytes; systems count memory in pages and not at once, so small numbers mean little."""
    return "" if value is None else byte_size(value) if value >= _COUNTED else "<1 MB"


def _proof(proof: Any) -> str:
    if proof is None:
        return "no"
    if proof.kind == "margin":
        return "separates"
    return "gap <1e-6" if proof.value < 1e-6 else f"gap {proof.value:.0e}".replace("e-0", "e-")
