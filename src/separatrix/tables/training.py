"""Training: rows in memory at once, rows on disk in parts, and an interrupted model further."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.files import ScratchFolder
from separatrix.geometry.rows import is_sparse
from separatrix.stops import MaxEpochs, NoMistakes, TimeLimit, lasting
from separatrix.svm.rowblocks.tree import in_shards, tall
from separatrix.tables.class_weights import class_weight_of
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.disk.training import DiskTraining
from separatrix.tables.facts import Facts, TrainingProgress
from separatrix.tables.kinds import MODELS, SOLVED, make, stop_rule
from separatrix.tables.model import TableModel
from separatrix.tables.prepare import PreparedRows, PreparedTable
from separatrix.tables.settings import Settings

Watch = Callable[..., None]  # stage, and numbers that belong to it
MOST_GATHERED = 1 << 25  # numbers of rows on disk
_NOTHING_KEPT = (
    "--resume: the training of so many rows leaves the model and its gap, and nothing to resume: fit the model anew"
)


@dataclass
class Trained:
    """A fitted estimator, and the facts about how training ended."""

    estimator: Any
    facts: dict[str, Any]


def in_memory(rows: PreparedRows | RowFile, *, solved: bool = False) -> PreparedRows | None:
    """Return rows that are in memory, or on disk and few enough to be read at once; None for others.

    For a model that is solved to a duality gap, dense rows are few where they are not trained on in shards.
    """
    if isinstance(rows, PreparedRows):
        return rows
    if solved and not rows.sparse and not in_shards(rows.n, rows.width) and rows.n * rows.width <= MOST_GATHERED:
        return PreparedRows(*rows.read([(0, rows.n)]))
    whole = rows.whole()
    return None if whole is None else PreparedRows(*whole)


def new_estimator(
    settings: Settings, classes: Sequence[Any], counts: NDArray[Any] | None = None, verbose: int = 0
) -> Any:
    """Return the estimator that the settings describe, ready to be fitted to rows in memory.

    With the number of rows of each class, "balanced" weights are those of these rows, also in later updates.
    """
    return make(
        settings.model, epochs=settings.epochs, time_limit=settings.time_limit, seed=settings.seed,
        parameters=_parameters(settings, classes, counts), stop=settings.stop, verbose=verbose,
    )  # fmt: skip


def _parameters(settings: Settings, classes: Sequence[Any], counts: NDArray[Any] | None = None) -> dict[str, Any]:
    """Return the parameters of the estimator, the weights of classes among them."""
    if settings.class_weight is None:
        return settings.parameters
    return {**settings.parameters, "class_weight": class_weight_of(settings.class_weight, classes, counts)}


def _counts(table: PreparedTable) -> NDArray[np.int64]:
    return np.array([each.rows for each in table.facts.classes])


def train(table: PreparedTable, settings: Settings, before: TableModel | None, watch: Watch, verbose: int) -> Trained:
    """Train on rows in memory; ``before`` is an interrupted model, to resume."""
    estimator = new_estimator(settings, table.classes, _counts(table), verbose)
    if before is not None:
        estimator = _resumed(before, table.facts, estimator)
    rows = table.train
    assert isinstance(rows, PreparedRows)
    if settings.model in SOLVED and not is_sparse(rows.X) and tall(*rows.X.shape):
        estimator.set_params(warm_start=False)  # shards leave nothing to resume
    return _trained(
        estimator,
        lambda: estimator._fit_codes(rows.X, rows.labels, np.array(table.classes), sample_weight=rows.weights),
    )


def _trained(estimator: Any, fit: Callable[[], Any]) -> Trained:
    """Let an estimator be fitted; Ctrl-C leaves what it has learned."""
    from separatrix.estimators.contract import ConvergenceWarning

    interrupted = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
        try:
            fit()
        except KeyboardInterrupt:
            if not getattr(getattr(estimator, "status_", None), "interrupted", False):
                raise
            interrupted = True
    status = estimator.status_
    ended = {"status": str(status), "converged": bool(status.converged), "interrupted": interrupted}
    return Trained(estimator, ended)


def solve(
    table: PreparedTable, settings: Settings, before: TableModel | None, watch: Watch, verbose: int,
    cluster: Any = None,
) -> Trained:  # fmt: skip
    """Train a model that is solved to a duality gap on rows on disk, here or on the workers of a cluster."""
    if before is not None:
        raise ValueError(_NOTHING_KEPT)
    from separatrix.estimators.fitting import threads
    from separatrix.estimators.sharded import check_shape
    from separatrix.svm.rowblocks.disk_store import DiskSource

    assert isinstance(table.train, RowFile)
    check_shape(table.train.width, sparse=table.train.sparse, where=table.facts.source)
    estimator = new_estimator(settings, table.classes, _counts(table), verbose).set_params(warm_start=False)
    source: Any
    with ExitStack() as stack:
        if cluster is None:
            scratch = stack.enter_context(ScratchFolder(table.train.folder.parent))
            source = DiskSource(table.train, scratch, threads(estimator.n_jobs))
        else:
            from separatrix.tables.disk.cluster import on_workers

            source = on_workers(stack.enter_context(cluster.client()), table.train)
        return _trained(estimator, lambda: estimator._fit_source(source, np.array(table.classes)))


def _resumed(before: TableModel, facts: Facts, made: Any) -> Any:
    """Return the estimator of an interrupted model, ready to train for the epochs that are left."""
    if before.facts.data != facts.data or before.facts.on_disk != facts.on_disk:
        raise ValueError("--resume: the rows are not those that the model was trained on; use separatrix update")
    estimator = before.estimator
    new = {name: value for name, value in made.get_params().items() if name in ("max_iter", "stop", "verbose")}
    if "warm_start" in estimator.get_params():
        if not estimator.warm_start:
            raise ValueError(_NOTHING_KEPT)
        if not estimator._cut_short:
            raise ValueError("--resume: the training of this model has ended; there is nothing to resume")
        going = [state for state in estimator._states if state.ended is None or state.ended.cut]
        done = min(int(getattr(state, "epochs", 0)) for state in going)
        limits = [part.epochs for part in made.stop.parts if isinstance(part, MaxEpochs)] if made.stop else []
        if min([new["max_iter"], *limits]) <= done:
            more = "--epochs" if new["max_iter"] <= done else "another --stop"
            raise ValueError(f"--resume: the model has been trained for {done} epochs; give more with {more}")
    return estimator.set_params(**new)


def stream(table: PreparedTable, settings: Settings, before: TableModel | None, watch: Watch, verbose: int) -> Trained:
    """Train on rows on disk, some of them at a time."""
    epochs = settings.epochs if settings.epochs is not None else MODELS[settings.model].epochs or 20
    epochs, time_limit, until_no_mistakes = _limits_on_disk(settings, epochs)
    progress, mistakes = TrainingProgress(), []
    if before is None:
        estimator = make(
            settings.model, epochs=epochs, time_limit=None, seed=settings.seed, on_disk=True,
            parameters=_parameters(settings, table.classes, _counts(table)),
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
    if getattr(estimator, "shuffle", True) == "random":
        raise ValueError(
            "shuffle='random' draws from all rows, which must fit into memory for that: use shuffle=true, which trains "
            "on rows on disk too"
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
    return Trained(estimator, ended)


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
