"""What follows training, each only where it is wanted: tuning, cross-validation, calibration, the threshold.

All of it is about folds of the training rows (``folds``); the test set has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.geometry.rows import is_sparse
from separatrix.loop.problem import Labels
from separatrix.tables.calibration import KINDS, own_sigmoid
from separatrix.tables.class_weights import class_weight_of
from separatrix.tables.facts import CalibratedOn, CrossValidation, TuningRecord
from separatrix.tables.folds import (
    ACCURACY,
    Folds,
    OutOfFold,
    TooFewRowsError,
    fold_scores,
    held_out,
    make_folds,
    metrics_for,
    out_of_fold,
    usual_metric,
)
from separatrix.tables.kinds import MODELS
from separatrix.tables.model import TableModel
from separatrix.tables.prepare import PreparedRows, PreparedTable
from separatrix.tables.settings import Settings
from separatrix.tables.split_column import SplitBy, parse_split
from separatrix.tables.thresholds import choose_threshold
from separatrix.tables.training import Watch, new_estimator, train
from separatrix.tables.tuning import strength, tune, with_strength
from separatrix.text import listed

# What is calibrated on folds by default, so that five more fits take about half a second: numbers of all one-vs-rest
# tasks, of perceptrons at 50 epochs and of other linear models; rows of models that are not linear. Others are fitted
# once more, without a part of the rows.
_CHEAP, _CHEAP_SOLVED, _CHEAP_ROWS = 4_000_000, 500_000, 500
_EPOCHS = 50


def check_decisions(settings: Settings, table: PreparedTable) -> None:
    """Refuse, before training, what cannot be decided about these rows."""
    if settings.class_weight is not None:
        class_weight_of(settings.class_weight, table.classes)
    if settings.threshold is not None and len(table.classes) != 2:
        raise ValueError(
            f"--threshold is for two classes; column {table.target!r} has {len(table.classes)}: "
            f"{listed(str(label) for label in table.classes)}"
        )
    if settings.positive is not None and settings.positive not in map(str, table.classes):
        raise ValueError(
            f"--positive {settings.positive}: this is no class; the classes are "
            f"{listed(str(label) for label in table.classes)}"
        )
    wanted = _wanted(settings)
    if not wanted:
        return
    if not isinstance(table.train, PreparedRows):
        raise ValueError(
            f"{wanted} needs all training rows in memory, and these rows are on disk; give more --memory, or leave "
            f"{wanted} out"
        )
    if settings.tune:
        strength(settings)
    try:
        _folds(table, table.train, settings)
    except TooFewRowsError as problem:
        raise ValueError(f"{wanted}: {problem}") from None


def _wanted(settings: Settings) -> str:
    """Return the first option that needs folds, empty if none does."""
    given = {
        "--calibrate": settings.calibrate not in (None, "none"), "--threshold": settings.threshold is not None,
        "--tune": settings.tune, "--cv": settings.cv is not None,
    }  # fmt: skip
    return next((option for option, there in given.items() if there), "")


class Decisions:
    """Makes the decisions about a trained model, and puts each into it as soon as it is made: Ctrl-C keeps those.

    Parameters
    ----------
    model : TableModel
        The model; it is changed.
    """

    def __init__(self, model: TableModel) -> None:
        self._model = model

    def make(self, table: PreparedTable, settings: Settings, watch: Watch) -> None:
        """Tune, cross-validate, calibrate, and choose the threshold, as far as the settings ask for it."""
        rows, model = table.train, self._model
        assert isinstance(rows, PreparedRows)
        method = _method(settings, model.estimator)
        if not (method or _wanted(settings)):
            return
        try:
            if _wanted(settings) or _is_cheap(settings, model.estimator, rows, len(table.classes)):
                folds = _folds(table, rows, settings)
            else:
                folds = held_out(rows.labels, table.classes, settings.seed, _by(table), rows.order)
        except ValueError:  # nobody asked for them: check_decisions would have refused folds that cannot be
            return
        result = None
        scored = _scorer(table, rows, folds, watch)
        if settings.tune:
            settings, result = self._tune(table, rows, settings, folds, scored, watch)
        if result is None:
            try:
                result = scored(settings, "out-of-fold scores")
            except ValueError:  # a fold cannot be fitted, where all rows can
                if _wanted(settings):
                    raise
                return
        if settings.cv is not None:
            self._cross_validate(rows, table, result)
        if method:
            scores, labels, weights = result.of(rows.labels, rows.weights)
            model.calibration = KINDS[method].fit(scores, labels, len(table.classes), weights)
            model.facts = replace(model.facts, calibrated=CalibratedOn(len(result.folds), len(labels)))
        if settings.threshold is not None:
            positive = 1
            if settings.positive is not None:
                positive = [str(label) for label in table.classes].index(settings.positive)
            own = model.calibration or own_sigmoid(len(table.classes))
            scores, labels, weights = result.of(rows.labels, rows.weights)
            model.threshold = choose_threshold(settings.threshold, scores, labels, positive, own, weights)

    def _tune(
        self, table: PreparedTable, rows: PreparedRows, settings: Settings, folds: Folds, scored: Any, watch: Watch
    ) -> tuple[Settings, OutOfFold]:
        model = self._model
        if settings.within is not None:
            record, result = self._proven(table, rows, settings, folds, watch), None
        else:
            metric = usual_metric(rows.labels, len(table.classes), folds)
            tuned = tune(settings, metric, rows.labels, folds, scored)
            result = tuned.result
            record = TuningRecord(
                tuned.parameter, metric, len(folds), tuned.values, tuned.means, tuned.deviations,
                tuned.values[tuned.best], ended="interrupted" if tuned.interrupted else "",
            )  # fmt: skip
        chosen = replace(with_strength(settings, record.parameter, record.best), tune=False, within=None)
        watch("fit")
        trained = train(table, chosen, None, watch, 0)
        if trained.facts["interrupted"]:
            raise KeyboardInterrupt
        model.estimator = trained.estimator
        model.facts = replace(model.facts, **trained.facts, settings=chosen, tuning=record)
        if record.ended == "interrupted":  # what is known so far was worth a fit, and no more
            raise KeyboardInterrupt
        if result is None:
            result = scored(chosen, f"C={record.best:.4g}")
        self._cross_validate(rows, table, result)
        return chosen, result

    def _proven(
        self, table: PreparedTable, rows: PreparedRows, settings: Settings, folds: Folds, watch: Watch
    ) -> TuningRecord:
        """Choose C from a whole range, with a proof."""
        from separatrix.tables.proven_tuning import prove

        labels = Labels(np.array(table.classes), rows.labels)
        proved = prove(settings, new_estimator(settings, table.classes), rows.X, labels, rows.weights, folds, watch)
        return TuningRecord(
            "C", ACCURACY, len(folds), proved.values, proved.means, proved.deviations, proved.best, proved.distance,
            proved.ended,
        )  # fmt: skip

    def _cross_validate(self, rows: PreparedRows, table: PreparedTable, result: OutOfFold) -> None:
        metrics = metrics_for(rows.labels, len(table.classes), result.folds)
        scores = {each: tuple(fold_scores(each, result, rows.labels).tolist()) for each in metrics}
        self._model.facts = replace(self._model.facts, cross_validation=CrossValidation(len(result.folds), scores))


def _by(table: PreparedTable) -> SplitBy | None:
    split = table.facts.options.split
    return None if split is None else parse_split(split)


def _folds(table: PreparedTable, rows: PreparedRows, settings: Settings) -> Folds:
    """Return the folds of the training rows: by groups or time where the test set is drawn so."""
    return make_folds(rows.labels, table.classes, settings.folds, settings.seed, _by(table), rows.order)


def _scorer(
    table: PreparedTable, rows: PreparedRows, folds: Folds, watch: Watch
) -> Callable[[Settings, str], OutOfFold]:
    """Return what computes the out-of-fold scores of settings."""

    def scored(settings: Settings, name: str) -> OutOfFold:
        return out_of_fold(
            lambda: new_estimator(settings, table.classes), rows.X, rows.labels, rows.weights,
            np.array(table.classes), folds, lambda done, of: watch("fold", name=name, done=done, of=of),
        )  # fmt: skip

    return scored


def _method(settings: Settings, estimator: Any) -> str | None:
    """Return the method of calibration, None for none: by default where the model has no probabilities of its own."""
    if settings.calibrate is not None:
        return None if settings.calibrate == "none" else settings.calibrate
    return None if hasattr(estimator, "predict_proba") else "sigmoid"


def _is_cheap(settings: Settings, estimator: Any, rows: PreparedRows, n_classes: int) -> bool:
    """Return whether a fit for each fold takes little time, so that a calibration by default can have folds."""
    if settings.time_limit is not None:
        return False
    numbers = rows.X.nnz if is_sparse(rows.X) else rows.X.size
    epochs = settings.epochs or MODELS[settings.model].epochs or _EPOCHS
    work = numbers * (1 if n_classes == 2 else n_classes) * max(epochs, _EPOCHS) / _EPOCHS
    most = _CHEAP if MODELS[settings.model].estimator == "Perceptron" else _CHEAP_SOLVED
    linear = hasattr(estimator, "coef_") or rows.n <= _CHEAP_ROWS
    return bool(work <= most and linear)
