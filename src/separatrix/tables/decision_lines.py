"""What was decided on folds of the training rows, for the summary of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.tables.split_column import fold_words
from separatrix.text import times

_ENDED = {
    "time": "The time limit ended the search before as much as asked for was proved: --time-limit SECONDS gives more.",
    "fits": "The most fits that the search may make were made before as much as asked for was proved.",
    "rounding": "The precision of the fits does not allow to prove as much as asked for.",
    "interrupted": "Ctrl-C ended the search.",
}
_METRICS = {"balanced_accuracy": "balanced accuracy", "roc_auc": "ROC AUC"}  # others are called what they are


def decision_lines(model: Any) -> list[str]:
    """Return sentences about tuning, cross-validation, calibration and the threshold; none about what is usual."""
    facts = model.facts
    lines = []
    if (tuning := facts.tuning) is not None:
        place = tuning.values.index(tuning.best)
        score = f"{_named(tuning.metric)} {tuning.means[place]:.3f} ± {tuning.deviations[place]:.3f}"
        best = f"Tuned {tuning.parameter} = {tuning.best:.4g}, the best of {len(tuning.values)}"
        lines.append(f"{best} ({score} over {_folds(tuning.folds, facts)}).")
        if tuning.distance is not None:
            low, high, by = min(tuning.values), max(tuning.values), np.ceil(tuning.distance * 1e4 - 1e-9) / 1e4
            lines.append(
                f"Proved: no {tuning.parameter} from {low:g} to {high:g} has a cross-validation accuracy higher by "
                f"more than {by:g} at its optimum."
            )
        if tuning.ended in _ENDED:
            lines.append(_ENDED[tuning.ended])
    if (scores := facts.cross_validation) is not None and facts.settings.cv is not None:
        each = [f"{_named(name)} {np.mean(own):.3f} ± {np.std(own):.3f}" for name, own in scores.scores.items()]
        lines.append(f"Cross-validation, {_folds(scores.folds, facts)} of the training rows: {', '.join(each)}.")
    if model.calibration is not None:
        lines.append(f"Probabilities by {model.calibration.method} calibration on {_calibrated_on(facts)}.")
    if (threshold := model.threshold) is not None:
        lines.append(_threshold_line(model, threshold))
    return lines


def _named(metric: str) -> str:
    return _METRICS.get(metric, metric)


def _calibrated_on(facts: Any) -> str:
    """Return which scores became probabilities."""
    on = facts.calibrated
    if on is None or on.folds > 1:
        return "out-of-fold scores" + ("" if on is None else f" ({_folds(on.folds, facts)})")
    return f"scores of {on.rows:,} training rows that one more fit left out"


def _folds(count: int, facts: Any) -> str:
    return times(count, "fold") + fold_words(facts.options.split)


def _threshold_line(model: Any, threshold: Any) -> str:
    """Return which scores are of the positive class, and how good that is."""
    label, value = str(model.classes_.tolist()[threshold.positive]), threshold.value
    chance = ""
    if model.has_probabilities:
        second = probability_at(model, value)
        chance = f" (probability {second if threshold.positive else 1.0 - second:.3f})"
    where = f"from score {value:.4g} on" if threshold.positive else f"below score {value:.4g}"
    score = f"out-of-fold precision {threshold.precision:.3f}, recall {threshold.recall:.3f}"
    if folds := fold_words(model.facts.options.split):
        score += f" (folds{folds})"
    return f"Threshold {threshold.rule}: {label!r} {where}{chance}; {score}."


def probability_at(model: Any, score: float) -> float:
    """Return the probability of the second of two classes at a score."""
    from separatrix.tables.calibration import own_sigmoid

    calibration = model.calibration or own_sigmoid(2)
    return float(calibration.probabilities(np.array([score]))[0, 1])


def decisions_as_dict(model: Any) -> dict[str, Any]:
    """Return the calibration and the threshold as plain values."""
    threshold = model.threshold
    about = None if threshold is None else {
        "score": threshold.value, "rule": threshold.rule, "positive": model.classes_.tolist()[threshold.positive],
        "precision": threshold.precision, "recall": threshold.recall,
    }  # fmt: skip
    return {"calibration": None if model.calibration is None else model.calibration.method, "threshold": about}
