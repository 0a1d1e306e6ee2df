"""What a fit came to, for a person and for a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from separatrix.cli.writing import console as new_console
from separatrix.cli.writing import plain_table
from separatrix.text import times

_SHOWN = 10  # weights
_MOST_CLASSES = 12  # in a table


def fitted_as_dict(found: Any, path: Path) -> dict[str, Any]:
    """Return all that a fit came to as plain values."""
    model = found.model
    return {**_plain(model.facts), "model_file": str(path), "weights": weights_as_dict(model)}


def weights_as_dict(model: Any, most: int = 1000) -> Any:
    """Return the strongest weights in the units of the table, None for a model without."""
    from separatrix.tables.weights import weights_of

    found = weights_of(model)
    if found is None:
        return None
    features = [
        {"feature": found.names[k], "weights": found.own[:, k].tolist(), "scaled": found.scaled[:, k].tolist()}
        for k in found.strongest(most)
    ]
    return {"classes": found.titles, "bias": found.bias.tolist(), "features": features}


def _plain(value: Any) -> Any:
    """Return values that JSON can hold; what is not finite becomes text."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def show_fitted(found: Any, path: Path) -> None:
    """Print the summary of a fit."""
    model, console = found.model, new_console()
    facts = model.facts
    show_rows(facts, console)
    console.print()
    console.print(model_line(facts))
    if facts.get("certificate") is not None or found.certificate is not None:
        console.print()
        show_separability(found.certificate, console)
    if "held_out" in facts:
        console.print()
        show_scores(model, console)
    show_weights(model, console)
    console.print()
    state = "Interrupted; the model so far is in" if found.interrupted else "Model written to"
    console.print(f"{state} {path} after {facts['seconds']:.2g} s.")
    if found.interrupted:
        named = facts["source"] not in ("the query", "standard input")
        source = facts["source"] if named else "(the same source)"
        console.print(f"Go on with: separatrix fit {source} --resume {path}")
    else:
        console.print(f"Next: separatrix predict {path} FILE, or separatrix inspect {path}")


def show_rows(facts: dict[str, Any], console: Any) -> None:
    """Print what was read and what of it is used."""
    rows, columns = facts["rows"], facts["columns"]
    source = facts["source"]
    line = f"{source}: {times_of(rows['read'], 'row')}"
    if rows["dropped"]:
        lacking = ", ".join(
            f"{name} {count:,}" for name, count in sorted(facts["missing"].items(), key=lambda p: -p[1])
        )
        line += f", {rows['dropped']:,} of them dropped because a value is missing ({lacking})"
    elif facts["missing"]:
        lacking = ", ".join(f"{name} {count:,}" for name, count in facts["missing"].items())
        line += f"; missing values were filled in ({lacking})"
    console.print(line + ".")
    held = f", {rows['test']:,} held out" if rows["test"] else ""
    used = columns["used"]
    shown = ", ".join(used[:12]) + (f" and {len(used) - 12} more" if len(used) > 12 else "")
    numbers = f" as {columns['numbers']:,} numbers" if columns["numbers"] != len(used) else ""
    what = f"{times_of(len(used), 'column')}{numbers}: {shown}" if used else f"{columns['numbers']:,} numbers each"
    console.print(f"Learned from {times_of(rows['train'], 'row')}{held}; {what}.")
    if facts.get("constant"):
        console.print(f"Constant, so they teach nothing: {', '.join(facts['constant'])}.")
    if columns["unused"]:
        console.print(f"Not used: {', '.join(columns['unused'][:12])}.")
    if facts.get("on_disk"):
        console.print("The rows were learned from disk.")
    classes = facts["classes"]
    every = ", ".join(f"{each['label']} {each['rows']:,}" for each in classes[:_MOST_CLASSES])
    more = f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else ""
    console.print(f"Classes: {every}{more}.")


def model_line(facts: dict[str, Any]) -> str:
    """Return what was fitted and how the run ended."""
    from separatrix.tables.kinds import TITLES

    status = facts["status"]
    name = TITLES.get(facts["settings"]["model"], facts["settings"]["model"])
    return f"{name[0].upper()}{name[1:]}: {status}."


def times_of(count: int, noun: str) -> str:
    """Return ``1 row`` or ``1,234 rows``."""
    return times(count, noun) if count < 1000 else f"{count:,} {noun}s"


def show_separability(certificate: Any, console: Any) -> None:
    """Print whether planes separate the classes."""
    from separatrix.certificates.multiclass import HEAD, Certificates

    if certificate is None:
        return
    if isinstance(certificate, Certificates):
        console.print("Can planes separate the classes? (numbers as scaled; each verdict is proved)")
        console.print(plain_table(HEAD, certificate.facts()))
        return
    console.print(f"{certificate} (numbers as scaled).")


def show_scores(model: Any, console: Any) -> None:
    """Print the held-out accuracy and where the model errs."""
    held = model.facts["held_out"]
    low, high = held["interval"]
    console.print(
        f"Held-out rows: {held['accuracy']:.1%} right ({held['right']:,} of {held['rows']:,}), with 95% confidence "
        f"between {low:.1%} and {high:.1%}; always naming the commonest class: {held['baseline']:.1%}.",
    )
    labels = [str(label) for label in model.classes_.tolist()]
    if len(labels) <= _MOST_CLASSES:
        rows = [
            [label, *(f"{count:,}" for count in counts)]
            for label, counts in zip(labels, held["confusion"], strict=True)
        ]
        console.print(plain_table(["true class \\ answer", *labels], rows, right=True))


def show_weights(model: Any, console: Any, most: int = _SHOWN) -> None:
    """Print the strongest weights."""
    from separatrix.tables.weights import weights_of

    found = weights_of(model)
    if found is None or len(found.titles) > _MOST_CLASSES:
        return
    console.print()
    one = len(found.titles) == 1
    toward = f" (positive: toward {found.titles[0]})" if one else ""
    console.print(f"Strongest weights, in the units of the table{toward}:")
    head = ["feature", *(["weight", "over one spread"] if one else found.titles)]
    rows = []
    for place in found.strongest(most):
        values = [found.own[0, place], found.scaled[0, place]] if one else found.own[:, place]
        rows.append([found.names[place], *(f"{value:.4g}" for value in values)])
    bias = [f"{found.bias[0]:.4g}", ""] if one else [f"{value:.4g}" for value in found.bias]
    rows.append(["(bias)", *bias])
    console.print(plain_table(head, rows, right=True))
    left = len(found.names) - most
    if left > 0:
        console.print(f"{left:,} more: separatrix inspect MODEL --top {len(found.names)}")
