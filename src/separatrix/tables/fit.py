"""From a source to a model: read, split, prepare, train, decide, score, certify."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.files import ScratchFolder
from separatrix.tables.collect import collect
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.deciding import Decisions, check_decisions
from separatrix.tables.deviations import deviations
from separatrix.tables.disk import cache
from separatrix.tables.facts import Facts
from separatrix.tables.kinds import MODELS, ON_DISK, SOLVED, make
from separatrix.tables.model import TableModel
from separatrix.tables.prepare import PreparedRows, PreparedTable, prepare
from separatrix.tables.scores import Scores
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.store import MemoryRows
from separatrix.tables.test_file import read_test
from separatrix.tables.training import Watch, in_memory, solve, stream, train
from separatrix.text import byte_size

CERTIFIED_CLASSES = 12  # with more there are too many pairs
_STORED_CERTIFICATE = 1 << 20  # characters
_VOTES = 20_000  # rows
_CERTIFY_SHARE, _CERTIFY_LEAST, _CERTIFY_MOST = 0.1, 0.2, 5.0  # of the fit's time; seconds
_BUSIEST = 2.5  # how much longer the least may take where other processes share the processors


@dataclass
class FitResult:
    """What a fit gives: the model, whether Ctrl-C ended it, and the certificate of the training rows."""

    model: TableModel
    interrupted: bool
    certificate: Any = None


def _quiet(stage: str, **numbers: Any) -> None:
    pass


def fit(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    settings: Settings,
    budget: MemoryBudget | None = None,
    *,
    test_source: TableSource | MatrixSource | None = None,
    before: TableModel | None = None,
    on_disk_model: str | None = None,
    watch: Watch = _quiet,
    verbose: int = 0,
) -> FitResult:
    """Fit a model to a source; ``before`` is an interrupted one, to resume.

    The test set is drawn from the source (``settings.test``), unless it is a source of its own. Rows that do not fit
    into memory are learned by ``on_disk_model``, if one is named, where the model of the settings cannot.
    """
    began, computed = time.perf_counter(), time.process_time()
    on_disk = settings.model if settings.model in ON_DISK or on_disk_model is None else on_disk_model
    solved = on_disk in SOLVED
    if before is None:
        make(  # before a long read: it refuses parameters that the model does not have
            settings.model, epochs=settings.epochs, time_limit=settings.time_limit, seed=settings.seed,
            parameters=settings.parameters, stop=settings.stop,
        )  # fmt: skip
    budget = budget or MemoryBudget()
    if budget.cluster is not None and not solved:
        raise ValueError(f"--cluster and --workers are for --model {' and '.join(SOLVED)}; found {settings.model!r}")
    with _prepared(source, options, settings, on_disk, budget, watch) as table:
        if test_source is not None:
            table.test = read_test(test_source, table.preparation, table.classes, table.target)
            table.facts = replace(table.facts, rows=replace(table.facts.rows, test=table.test.n))
        run = partial(solve, cluster=budget.cluster) if solved else stream
        if (rows := in_memory(table.train, solved=solved)) is not None:
            table.train, run = rows, train
        check_decisions(settings, table)
        if rows is None:
            settings = replace(settings, model=on_disk)
        if table.preparation.role("text") and not settings.tune:
            settings = replace(settings, parameters={**(MODELS[settings.model].words or {}), **settings.parameters})
        facts = replace(table.facts, settings=settings)
        watch("fit")
        trained = run(table, settings, before, watch, verbose)
        facts = replace(facts, **trained.facts)
        model = TableModel(table.preparation, trained.estimator, table.target, options.weight, facts)
        interrupted = facts.interrupted
        decisions = Decisions(model)
        if rows is not None and not interrupted:
            try:  # the model is there: Ctrl-C ends what is only about it
                decisions.make(table, settings, watch)
            except KeyboardInterrupt:
                interrupted = True
        facts = model.facts
        try:
            if table.test is not None and not (facts.interrupted and facts.progress is not None):
                facts = replace(facts, test=_scored(model, table))
            facts = replace(facts, training_accuracy=_training_accuracy(model, table.train, settings))
            if hasattr(model.estimator, "coef_"):
                model.deviations = deviations(table.preparation, table.train, facts.constant)
        except KeyboardInterrupt:
            interrupted = True
        seconds = _certify_seconds(settings, time.perf_counter() - began, time.process_time() - computed)
        facts, certificate = _certified(facts, table, seconds, settings.seed, interrupted, watch)
    model.facts = replace(facts, seconds=round(time.perf_counter() - began, 3))
    return FitResult(model, interrupted, certificate)


def _scored(model: TableModel, table: PreparedTable) -> Scores | None:
    """Return the scores on the test set, None where it has no rows."""
    counts = np.array([each.rows for each in model.facts.classes])
    scores = Scores.none(len(counts), int(counts.argmax()))
    for X, labels in table.test_blocks():
        scores.add(labels, *model.predictions(X))
    scores.finish()
    return scores if scores.n else None


@contextmanager
def _prepared(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    settings: Settings,
    on_disk: str,
    budget: MemoryBudget,
    watch: Watch,
) -> Iterator[PreparedTable]:
    """Yield the rows of a source, prepared; those on disk are removed afterwards unless there is a cache.

    ``on_disk`` is the model that rows on disk are for.
    """
    key = None
    if budget.cache is not None:
        key = cache.cache_key(source, options, settings.test, settings.seed, solved=settings.model in SOLVED)
        if key is None:
            raise ValueError(f"--cache: changes of {source.name} cannot be detected, so its rows are not cached")
        cached = cache.reopen(budget.cache / key, key)
        if cached is not None:
            watch("cached", rows=cached.train.n)
            _check_on_disk(on_disk)
            yield cached
            return
    with ExitStack() as stack:
        if budget.cache is not None and key is not None:
            stack.enter_context(cache.unless_failed(budget.cache, key))
            budget.make_cache()
        temporary = stack.enter_context(ScratchFolder(budget.cache))
        folder = temporary / "rows"
        data = collect(
            source, options, limit=budget.limit, folder=folder, on_disk=budget.on_disk,
            watch=lambda rows, part: watch("read", rows=rows, part=part),
        )  # fmt: skip
        if not isinstance(data.rows, MemoryRows) and on_disk not in (*ON_DISK, *SOLVED) and budget.cache is None:
            raise ValueError(
                f"{source.name} does not fit into memory ({byte_size(budget.limit)} for rows and their copies), "
                f"and --model {on_disk} needs all rows at once; these do not: {', '.join((*ON_DISK, *SOLVED))}"
            )
        if not isinstance(data.rows, MemoryRows):
            _check_on_disk(on_disk)
        table = prepare(
            data, options, settings.test, settings.seed, fingerprint=source.fingerprint(), folder=folder, watch=watch,
            solved=settings.model in SOLVED,
        )  # fmt: skip
        if key is not None and budget.cache is not None:
            table = cache.keep(table, folder, budget.cache / key, key)
        yield table


def _check_on_disk(model: str) -> None:
    known = (*ON_DISK, *SOLVED)
    if model not in known:
        raise ValueError(f"--model {model} cannot be trained on rows on disk; {', '.join(known)} can")


# ---------------------------------------------------------------------------------------------- afterwards


def _training_accuracy(model: TableModel, rows: Any, settings: Settings) -> float | None:
    if not isinstance(rows, PreparedRows) or (settings.model == "voted" and rows.n > _VOTES):  # votes take long
        return None
    return float(np.mean(model._predict_codes(rows.X) == rows.labels))


def _certify_seconds(settings: Settings, elapsed: float, computed: float) -> float:
    """Return the time for the certificate: as asked for, or a tenth of the fit's, of which it ``computed`` a part."""
    if settings.certify is not None:
        return settings.certify
    least = _CERTIFY_LEAST * min(max(elapsed / max(computed, 1e-3), 1.0), _BUSIEST)
    return min(max(least, _CERTIFY_SHARE * elapsed), _CERTIFY_MOST)


def _certified(
    facts: Facts, table: PreparedTable, seconds: float, seed: int, interrupted: bool, watch: Watch
) -> tuple[Facts, Any]:
    """Return the facts with the certificate of the training rows, or why there is none; and the certificate."""
    rows = table.train
    if facts.on_disk or not isinstance(rows, PreparedRows):
        return replace(facts, no_certificate="disk"), None
    if facts.options.target_encode:  # the rows were encoded by cross-fitting, and nobody could verify it
        return replace(facts, no_certificate="encoded"), None
    if interrupted or not seconds:
        return replace(facts, no_certificate="interrupted" if interrupted else "off"), None
    watch("certify")
    try:
        y = np.array(table.classes)[rows.labels]
        certificate = certificate_of(rows.X, y, seconds, seed)
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
