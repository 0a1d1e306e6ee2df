"""The summary of a model, as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.cli.scores import MOST_CLASSES, show_scores
from separatrix.cli.writing import console as new_console
from separatrix.cli.writing import pasted, plain_table
from separatrix.tables.decision_lines import decision_lines, decisions_as_dict
from separatrix.text import listed, times

if TYPE_CHECKING:
    from separatrix.tables.facts import Facts

_SHOWN = 10  # weights
_CERTIFIED = 3  # classes whose certificates are shown one by one
_NAMED = 6  # classes that a line names


def model_as_dict(model: Any, path: Path) -> dict[str, Any]:
    """Return all that is known about a model as plain values."""
    decisions = decisions_as_dict(model)
    return {
        **plain_values({**model.facts.to_dict(), **decisions}),
        "model_file": str(path),
        "weights": weights_as_dict(model),
    }


def weights_as_dict(model: Any, most: int = 1000) -> Any:
    """Return the largest weights in the units of the table, None for a model without."""
    from separatrix.tables.weights import weights_of

    weights = weights_of(model)
    if weights is None:
        return None
    features = [
        {
            "feature": weights.names[k],
            "weights": weights.own[:, k].tolist(),
            "scaled": weights.scaled[:, k].tolist(),
            "per_deviation": None if model.deviations is None else weights.per_deviation[:, k].tolist(),
        }
        for k in weights.strongest(most)
    ]
    return {"classes": weights.titles, "bias": weights.bias.tolist(), "features": features}


def plain_values(value: Any) -> Any:
    """Return values that JSON can hold; what is not finite becomes text."""
    if isinstance(value, dict):
        return {str(key): plain_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def show_fit(result: Any, path: Path, resume: str) -> None:
    """Print the summary of a fit; ``resume`` is the command that resumes an interrupted one."""
    model, console = result.model, new_console()
    facts = model.facts
    show_rows(facts, console)
    console.print()
    console.print(model_line(facts))
    show_decisions(model, console)
    show_test_scores(model, console)
    show_separability(result.certificate, features_of(model), console)
    show_weights(model, console)
    console.print()
    state = "Interrupted; model so far written to" if result.interrupted else "Model written to"
    console.print(f"{state} {path} ({facts.seconds:.2g} s).")
    if result.interrupted:
        if facts.interrupted and getattr(model.estimator, "warm_start", True):  # and not what follows training
            console.print(f"Resume: {resume}", soft_wrap=True)
    else:
        own = shlex.quote(pasted(path))
        console.print(f"Next: separatrix predict {own} FILE, or separatrix inspect {own}", soft_wrap=True)


def show_rows(facts: Facts, console: Any) -> None:
    """Print what was read and what of it is used."""
    rows, columns = facts.rows, facts.columns
    line = f"{facts.source}: {times_of(rows.read, 'row')}"
    if rows.dropped:
        line += f", {rows.dropped:,} dropped (missing values: {counts_by_column(facts.dropped_for)})"
    if facts.imputed:
        line += f"; missing values imputed: {counts_by_column(facts.imputed)}"
    console.print(line + ".")
    test = f", test set {rows.test:,}" if rows.test else ""
    used = columns.used
    shown = ", ".join(used[:12]) + (f" and {len(used) - 12} more" if len(used) > 12 else "")
    width = f" as {times_of(columns.numbers, 'feature')}"
    what = f"{times_of(len(used), 'column')}{width}: {shown}" if used else times_of(columns.numbers, "feature")
    console.print(f"Training set {times_of(rows.train, 'row')}{test}; {what}.")
    if facts.constant:
        more = f" and {len(facts.constant) - 12:,} more" if len(facts.constant) > 12 else ""
        console.print(f"Constant columns, no effect: {', '.join(facts.constant[:12])}{more}.")
    for note in facts.notes:
        console.print(note)
    if columns.unused and not any(note.startswith("Left out: ") for note in facts.notes):
        console.print(f"Unused columns: {', '.join(columns.unused[:12])}.")
    if facts.on_disk:
        console.print("Trained on rows on disk; whether the classes are separable is not certified.")
    classes = facts.classes
    every = ", ".join(f"{each.label} {each.rows:,}" for each in classes[:MOST_CLASSES])
    more = f" and {len(classes) - MOST_CLASSES} more" if len(classes) > MOST_CLASSES else ""
    console.print(f"Classes: {every}{more}.")


def counts_by_column(missing: Mapping[str, int]) -> str:
    """Return how many values are missing, by column, for the first columns."""
    return listed(f"{name} {count:,}" for name, count in missing.items())


def model_line(facts: Facts) -> str:
    """Return what was fitted and how training ended."""
    from separatrix.tables.kinds import MODELS

    name = MODELS[facts.settings.model].title
    return f"{name[0].upper()}{name[1:]}, {facts.status}."


def show_decisions(model: Any, console: Any) -> None:
    """Print what was decided on folds of the training rows."""
    for line in decision_lines(model):
        console.print(line)


def times_of(count: int, noun: str) -> str:
    """Return ``1 row`` or ``1,234 rows``."""
    return times(count, noun) if count < 1000 else f"{count:,} {noun}s"


def features_of(model: Any) -> str:
    """Return which features a certificate of a model's rows is about."""
    from separatrix.tables.preparation import FEATURES

    return FEATURES[model.preparation.scale]


def show_separability(certificate: Any, features: str, console: Any) -> None:
    """Print whether the classes are linearly separable, where there is a certificate, in at most six lines."""
    from separatrix.certificates.multiclass import HEAD, Certificates

    if certificate is None:
        return
    console.print()
    if not isinstance(certificate, Certificates):
        console.print(f"Linear separability ({features}; proved): {certificate}.")
        return
    title = f"Linear separability ({features}; proved)"
    pairs = _by_verdict(certificate.pairs)
    if len(certificate.rest) <= _CERTIFIED:
        console.print(f"{title}; pairs of classes: {_counted(pairs)}:")
        console.print(plain_table(HEAD, [[each.names, *each.facts()] for each in certificate.rest.values()]))
        return
    console.print(f"{title}; separatrix certify lists all {len(certificate.all)}:")
    for verdict, names in _by_verdict(certificate.rest).items():
        classes = listed([repr(name) for name in names], _NAMED)
        console.print(f"against the rest, {verdict}: {len(names)} of {len(certificate.rest)} classes ({classes})")
    console.print(f"pairs of classes: {_counted(pairs)}")


def _by_verdict(certificates: dict[Any, Any]) -> dict[str, list[Any]]:
    """Return the names of certificates by verdict, the best verdict first."""
    from separatrix.certificates.words import VERDICTS

    found = {
        words: [name for name, each in certificates.items() if each.separable == verdict]
        for verdict, words in VERDICTS.items()
    }
    return {words: names for words, names in found.items() if names}


def _counted(verdicts: dict[str, list[Any]]) -> str:
    return ", ".join(f"{len(names)} {words}" for words, names in verdicts.items())


def show_test_scores(model: Any, console: Any) -> None:
    """Print the scores on the test set, where there is one."""
    if model.facts.test is not None:
        console.print()
        show_scores(model.facts.test, model.classes_.tolist(), console)


def show_weights(model: Any, console: Any, most: int = _SHOWN) -> None:
    """Print the largest weights."""
    from separatrix.tables.weights import weights_of

    weights = weights_of(model)
    if weights is None or len(weights.titles) > MOST_CLASSES:
        return
    console.print()
    one = len(weights.titles) == 1
    compared = "per standard deviation" if model.deviations is not None else f"for {features_of(model)}"
    toward = f" (positive: {weights.titles[0]})" if one else f", sorted by weight {compared}"
    console.print(f"Largest weights, in the units of the table{toward}:")
    head = ["feature", *(["weight", compared] if one else weights.titles)]
    rows = []
    for place in weights.strongest(most):
        values = [weights.own[0, place], weights.per_deviation[0, place]] if one else weights.own[:, place]
        rows.append([weights.names[place], *(f"{value:.4g}" for value in values)])
    bias = [f"{weights.bias[0]:.4g}", ""] if one else [f"{value:.4g}" for value in weights.bias]
    rows.append(["(intercept)", *bias])
    console.print(plain_table(head, rows, right=True))
    left = len(weights.names) - most
    if left > 0:
        console.print(f"{left:,} more: separatrix inspect MODEL --top {len(weights.names)}")
