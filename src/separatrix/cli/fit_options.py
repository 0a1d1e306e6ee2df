"""Options of ``fit`` about the test set and decisions, and what they mean together."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import DATA, DECISIONS
from separatrix.rules.losses import LOSSES


class Calibration(str, enum.Enum):
    """How scores become probabilities."""

    sigmoid = "sigmoid"
    isotonic = "isotonic"
    temperature = "temperature"
    none = "none"


Test = Annotated[
    str | None,
    typer.Option(
        help="Test set: the fraction of rows in it, 0 for none, or a file of its own. [default: 0.2]",
        metavar="FRACTION|FILE",
        rich_help_panel=DATA,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="Draw the test set, and folds, by a column: time:COL (the last rows) or group:COL (whole groups). The "
        "column is no feature unless --features names it. [default: at random]",
        rich_help_panel=DATA,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(help="Weights of the classes: balanced, or by label, such as yes=5,no=1.", rich_help_panel=DECISIONS),
]
Calibrate = Annotated[
    Calibration | None,
    typer.Option(
        help="Probabilities by calibration on out-of-fold scores. [default: sigmoid where the model has no "
        "probabilities of its own; where folds would take long, on a part of the training rows that one more fit "
        "leaves out]",
        rich_help_panel=DECISIONS,
    ),
]
ThresholdText = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        help="Decision threshold for two classes, chosen on out-of-fold scores: a probability such as 0.3, max-f1, "
        "recall=0.9, precision=0.9, or cost=5:1 (false negative : false positive).",
        rich_help_panel=DECISIONS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Class that --threshold is about. [default: the one that sorts last]", rich_help_panel=DECISIONS),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Choose C (svm, kernel-svm, online-svm, pa, scw, nherd), r (arow), a (sop), alpha (neuron, network, "
        "alma) or the number of epochs (perceptrons, romma) by cross-validation.",
        rich_help_panel=DECISIONS,
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        "--within",
        help="With --tune, for svm and logistic: choose C by accuracy from all of 0.01 to 100, and prove that no other "
        "has a cross-validation accuracy higher by more than this, such as 0.005; the search takes 30 s at most, or "
        "--time-limit.",
        rich_help_panel=DECISIONS,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        help="Cross-validate on this many folds of the training rows. [default: no scores; 5 folds for the options "
        "above]",
        rich_help_panel=DECISIONS,
    ),
]


def share_or_file(given: str | None, split: str | None) -> tuple[float, str | None]:
    """Return the fraction of rows in the test set, and its file where it is one of its own.

    Examples
    --------
    >>> share_or_file("0.1", None), share_or_file("new.csv", None), share_or_file(None, None)
    ((0.1, None), (0.0, 'new.csv'), (0.2, None))
    """
    if given is None:
        return 0.2, None
    try:
        return float(given), None
    except ValueError:
        if split is not None:
            raise ValueError(f"--test {given} is a file, so --split has nothing to draw: leave it out") from None
        return 0.0, given


def with_record(given: dict[str, Any], record: str | None, every: int | None) -> dict[str, Any]:
    """Return the parameters with those that --record and --every stand for."""
    if record is not None and record not in LOSSES:
        raise ValueError(f"--record must be one of {', '.join(LOSSES)}; found {record!r}")
    if every is not None and (every < 1 or record is None):
        why = "--every needs --record" if record is None else f"--every must be at least 1; found {every}"
        raise ValueError(why)
    new = {"record": record, "every": every}
    return {**given, **{name: value for name, value in new.items() if value is not None}}


def as_before(
    before: Any, path: Path, epochs: int | None, time_limit: float | None, certify: float | None, stop: str | None
) -> tuple[Any, Any]:
    """Return the options and settings of an interrupted model, with what may change."""
    facts = before.facts
    if not facts.separatrix:
        raise ValueError(f"{path} does not say how it was fitted, so it cannot be resumed")
    new = {"epochs": epochs, "certify": certify, "stop": stop}
    changed = {name: value for name, value in new.items() if value is not None}
    return facts.options, replace(facts.settings, time_limit=time_limit, **changed)
