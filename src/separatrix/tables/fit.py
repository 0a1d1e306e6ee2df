"""From a source to a model: read, split, prepare, train, score, certify."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.files import ScratchFolder
from separatrix.stops import MaxEpochs, NoMistakes, TimeLimit, lasting
from separatrix.tables.collect import collect
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.deviations import deviations
from separatrix.tables.disk import cache
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.disk.training import DiskTraining
from separatrix.tables.facts import Facts, TrainingProgress
from separatrix.tables.kinds import MODELS, ON_DISK, make, stop_rule
from separatrix.tables.model import TableModel
from separatrix.tables.prepare import PreparedRows, PreparedTable, prepare
from separatrix.tables.scores import Scores, predictions
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.store import MemoryRows
from separatrix.text import byte_size

CERTIFIED_CLASSES = 12  # with more there are too many pairs
_STORED_CERTIFICATE = 1 << 20  # characters
_VOTES = 20_000  # rows


@dataclass
class FitResult:
    """What a fit gives: the model, whether Ctrl-C ended it, and the certificate of the training rows."""

    model: TableModel
    interrupted: bool
    certificate: Any = None


Watch = Callable[..., None]  # stage, and numbers that belong to it


def _quiet(stage: str, **numbers: Any) -> None:
    pass


def fit(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    settings: Settings,
    budget: MemoryBudget | None = None,
    *,
    before: TableModel | None = None,
    watch: Watch = _quiet,
    verbose: int = 0,
) -> FitResult:
    """Fit a model to a source; ``before`` is an interrupted one, to resume."""
    began = time.perf_counter()
    with _prepared(source, options, settings, budget or MemoryBudget(), watch) as table:
        facts = replace(table.facts, settings=settings)
        watch("fit")
        run = _stream
        if (rows := _in_memory(table.train)) is not None:
            table.train, run = rows, _train
        trained = run(table, settings, before, watch, verbose)
        facts = replace(facts, **trained.facts)
        counts = np.array([each.rows for each in facts.classes])
        scores = Scores.none(len(counts), int(counts.argmax()))
        interrupted = facts.interrupted
        spread = None
        try:  # the model is there: Ctrl-C ends what is only about it
            if table.test is not None and not (interrupted and facts.progress is not None):
                score_test_rows(trained.estimator, table, scores)
                facts = replace(facts, test=scores if scores.n else None)
            facts = replace(facts, training_accuracy=_training_accuracy(trained.estimator, table.train, settings))
            if hasattr(trained.estimator, "coef_"):
                spread = deviations(table.preparation, table.train, facts.constant)
        except KeyboardInterrupt:
            interrupted = True
        facts, certificate = _certified(facts, table, settings, interrupted, watch)
    facts = replace(facts, seconds=round(time.perf_counter() - began, 3))
    model = TableModel(table.preparation, trained.estimator, table.target, options.weight, facts, spread)
    return FitResult(model, interrupted, certificate)


@contextmanager
def _prepared(
    source: TableSource | MatrixSource, options: ColumnOptions, settings: Settings, budget: MemoryBudget, watch: Watch
) -> Iterator[PreparedTable]:
    """Yield the rows of a source, prepared; those on disk are removed afterwards unless there is a cache."""
    key = None
    if budget.cache is not None:
        key = cache.cache_key(source, options, settings.test, settings.seed)
        if key is None:
            raise ValueError(f"--cache: changes of {source.name} cannot be detected, so its rows are not cached")
        cached = cache.reopen(budget.cache / key, key)
        if cached is not None:
            watch("cached", rows=cached.train.n)
            _check_on_disk(settings)
            yield cached
            return
        budget.make_cache()
    with ScratchFolder(budget.cache) as temporary:
        folder = temporary / "rows"
        data = collect(
            source, options, limit=budget.limit, folder=folder, on_disk=budget.cache is not None,
            watch=lambda rows, part: watch("read", rows=rows, part=part),
        )  # fmt: skip
        if not isinstance(data.rows, MemoryRows) and settings.model not in ON_DISK and budget.cache is None:
            raise ValueError(
                f"{source.name} does not fit into memory ({byte_size(budget.limit)} for rows and their copies), "
                f"and --model {settings.model} needs all rows at once; these do not: {', '.join(ON_DISK)}"
            )
        if not isinstance(data.rows, MemoryRows):
            _check_on_disk(settings)
        table = prepare(
            data, options, settings.test, settings.seed, fingerprint=source.fingerprint(), folder=folder, watch=watch
        )
        if key is not None and budget.cache is not None:
            table = cache.keep(table, folder, budget.cache / key, key)
        yield table


def _check_on_disk(settings: Settings) -> None:
    if settings.model not in ON_DISK:
        raise ValueError(f"--model {settings.model} cannot be trained on rows on disk; {', '.join(ON_DISK)} can")


# ---------------------------------------------------------------------------------------------- training


@dataclass
class _Trained:
    """A fitted estimator, and the facts about how training ended."""

    estimator: Any
    facts: dict[str, Any]


def _in_memory(rows: PreparedRows | RowFile) -> PreparedRows | None:
    """Return rows that are in memory, or on disk and few enough to be read at once; None for others."""
    if isinstance(rows, PreparedRows):
        return rows
    whole = rows.whole()
    return None if whole is None else PreparedRows(*whole)


def _train(table: PreparedTable, settings: Settings, before: TableModel | None, watch: Watch, verbose: int) -> _Trained:
    rows = table.train
    assert isinstance(rows, PreparedRows)
    estimator = make(
        settings.model, epochs=settings.epochs, time_limit=settings.time_limit, seed=settings.seed,
        parameters=settings.parameters, stop=settings.stop, verbose=verbose,
    )  # fmt: skip
    if before is not None:
        estimator = _resumed(before, table.facts, estimator)
    from sklearn.exceptions import ConvergenceWarning

    interrupted = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
        try:
            estimator._fit_codes(rows.X, rows.labels, np.array(table.classes), sample_weight=rows.weights)
        except KeyboardInterrupt:
            if not getattr(getattr(estimator, "status_", None), "interrupted", False):
                raise
            interrupted = True
    status = estimator.status_
    ended = {"status": str(status), "converged": bool(status.converged), "interrupted": interrupted}
    return _Trained(estimator, ended)


def _resumed(before: TableModel, facts: Facts, made: Any) -> Any:
    """Return the estimator of an interrupted model, ready to train for the epochs that are left."""
    if before.facts.data != facts.data or before.facts.on_disk != facts.on_disk:
        raise ValueError("--resume: the rows are not those that the model was trained on; use separatrix update")
    estimator = before.estimator
    new = {name: value for name, value in made.get_params().items() if name in ("max_iter", "stop", "verbose")}
    if "warm_start" in estimator.get_params():
        if not estimator._cut_short:
            raise ValueError("--resume: the training of this model has ended; there is nothing to resume")
        going = [state for state in estimator._states if state.ended is None or state.ended.cut]
        done = min(int(getattr(state, "epochs", 0)) for state in going)
        limits = [part.epochs for part in made.stop.parts if isinstance(part, MaxEpochs)] if made.stop else []
        if min([new["max_iter"], *limits]) <= done:
            more = "--epochs" if new["max_iter"] <= done else "another --stop"
            raise ValueError(f"--resume: the model has been trained for {done} epochs; give more with {more}")
    return estimator.set_params(**new)


def _stream(
    table: PreparedTable, settings: Settings, before: TableModel | None, watch: Watch, verbose: int
) -> _Trained:
    epochs = settings.epochs if settings.epochs is not None else MODELS[settings.model].epochs or 20
    epochs, time_limit, until_no_mistakes = _limits_on_disk(settings, epochs)
    progress, mistakes = TrainingProgress(), []
    if before is None:
        estimator = make(
            settings.model, epochs=epochs, time_limit=None, seed=settings.seed, parameters=settings.parameters,
            on_disk=True,
        )  # fmt: skip
    else:
        if before.facts.data != table.facts.data or not before.facts.on_disk:
            raise ValueError("--resume: the rows are not those that the model was trained on")
        if before.facts.converged or before.estimator.status_.diverged:
            raise ValueError("--resume: the training of this model has ended; there is nothing to resume")
        if before.facts.progress is None:
            raise ValueError("--resume: the model does not say where its training stands")
        estimator, progress, mistakes = before.estimator, before.facts.progress, list(before.facts.mistakes)
        if progress.epoch >= epochs:
            raise ValueError(
                f"--resume: the model has been trained for {progress.epoch} epochs; give more with --epochs"
            )
    assert not isinstance(table.train, PreparedRows)
    training = DiskTraining(
        estimator, table.train, np.array(table.classes), epochs=epochs, seed=settings.seed,
        until_no_mistakes=until_no_mistakes, progress=progress, mistakes=mistakes,
        watch=lambda epoch, part: watch("epoch", epoch=epoch, part=part, epochs=epochs),
    )  # fmt: skip
    status = training.run(time_limit)
    ended = {
        "status": str(status), "converged": status.converged, "interrupted": status.interrupted,
        "progress": training.progress, "mistakes": tuple(training.mistakes),
    }  # fmt: skip
    return _Trained(estimator, ended)


def _limits_on_disk(settings: Settings, epochs: int) -> tuple[int, float | None, bool]:
    """Return the epochs, the seconds and whether no mistakes end training on disk; refuse what needs rows in memory."""
    if settings.parameters.get("record") is not None:
        raise ValueError("--record needs all rows in memory after an epoch, and these rows are on disk")
    goal = settings.model in ("averaged", "perceptron")  # which end with an epoch without mistakes
    if settings.stop is None:
        return epochs, settings.time_limit, goal
    rule = stop_rule(settings.model, settings.stop)
    parts = rule.parts
    if not all(isinstance(part, MaxEpochs | TimeLimit | NoMistakes) for part in parts):
        raise ValueError(
            f"--stop {settings.stop!r} needs all rows in memory after an epoch, and these rows are on disk; there, "
            "no-mistakes, epochs:N and time:SECONDS can end training"
        )
    epochs = min([epochs, *(part.epochs for part in parts if isinstance(part, MaxEpochs))])
    seconds = [part.seconds for part in parts if isinstance(part, TimeLimit)]
    seconds += [] if settings.time_limit is None else [settings.time_limit]
    until = any(isinstance(part, NoMistakes) for part in parts) or (goal and not lasting(rule))
    return epochs, min(seconds, default=None), until


# ---------------------------------------------------------------------------------------------- afterwards


def score_test_rows(estimator: Any, table: PreparedTable, scores: Scores) -> None:
    """Score the predictions on the test set, with the scores and probabilities that the estimator gives."""
    for X, labels in table.test_blocks():
        scores.add(labels, *predictions(estimator, X))
    scores.finish()


def _training_accuracy(estimator: Any, rows: Any, settings: Settings) -> float | None:
    if not isinstance(rows, PreparedRows) or (settings.model == "voted" and rows.n > _VOTES):  # votes take long
        return None
    return float(np.mean(estimator._predict_codes(rows.X) == rows.labels))


def _certified(
    facts: Facts, table: PreparedTable, settings: Settings, interrupted: bool, watch: Watch
) -> tuple[Facts, Any]:
    """Return the facts with the certificate of the training rows, or why there is none; and the certificate."""
    rows = table.train
    if facts.on_disk or not isinstance(rows, PreparedRows):
        return replace(facts, no_certificate="disk"), None
    if interrupted or not settings.certify:
        return replace(facts, no_certificate="interrupted" if interrupted else "off"), None
    watch("certify")
    try:
        y = np.array(table.classes)[rows.labels]
        certificate = certificate_of(rows.X, y, settings.certify, settings.seed)
    except KeyboardInterrupt:  # the model is there already
        return replace(facts, no_certificate="interrupted"), None
    if certificate is None:
        return replace(facts, no_certificate="classes"), None
    text = certificate.to_json()
    if len(text) > _STORED_CERTIFICATE:
        return replace(facts, no_certificate="size"), certificate
    return replace(facts, certificate=json.loads(text)), certificate


def certificate_of(X: Any, y: NDArray[Any], seconds: float, seed: int) -> Any:
    """Return a certificate of linear separability; None for so many classes that it would take long."""
    from separatrix.certificates.certifying import certify

    if len(np.unique(y)) > CERTIFIED_CLASSES:
        return None
    return certify(X, y, time_limit=seconds, random_state=seed)
