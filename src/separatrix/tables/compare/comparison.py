"""The whole comparison: read once, split once, every contender on the same rows, ordered by a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__
from separatrix.files import ScratchFolder
from separatrix.tables.collect import Collected, collect
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.compare.contenders import CONTENDERS
from separatrix.tables.compare.mcnemar import mcnemar_holm
from separatrix.tables.compare.measure import Guarantee, Measurement, measure
from separatrix.tables.compare.plan import ComparisonPlan
from separatrix.tables.compare.scaling import ScalingCurve, scaling_curves
from separatrix.tables.compare.splitting import Splits, write_splits
from separatrix.tables.compare.subprocess_runner import THREADS, SubprocessRunner, UnfinishedError
from separatrix.tables.fit import certificate_of
from separatrix.tables.scores import LOSSES, Scores
from separatrix.tables.settings import MemoryBudget
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.store import MemoryRows

Watch = Callable[..., None]  # stage, and numbers that belong to it


@dataclass
class Standing:
    """How one contender did. Seconds and bytes are means over the folds, memory is the largest.

    Attributes
    ----------
    name : str
        The contender.
    family : bool
        Whether it is one of this package's.
    scores : Scores
        Its accuracy on the test rows that it predicted.
    predicted : array of bool
        For each test row, in order, whether it was predicted: all, or a random sample if all would have taken too long.
    correct : array of bool
        For each test row whether its prediction was correct.
    train, predict : float
        Seconds to fit, and seconds to predict one row among many.
    memory : int or None
        Bytes that fitting needed, not counting the rows.
    size : float
        Bytes of the model.
    status : str
        How the run ended; with folds, the last.
    converged : bool
        Whether it converged in all folds before the epoch limit.
    proof : Guarantee or None
        What is proved; with several folds, what holds for all.
    p : float
        The p-value of the difference from the best; see :func:`~separatrix.tables.compare.mcnemar.mcnemar_holm`.
    """

    name: str
    family: bool
    scores: Scores
    predicted: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    train: float
    predict: float
    memory: int | None
    size: float
    status: str
    converged: bool
    proof: Guarantee | None
    p: float = 1.0

    @property
    def sampled(self) -> bool:
        """Whether it predicted only a sample of the rows."""
        return not self.predicted.all()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name, "family": self.family, **self.scores.to_dict(), "sampled": self.sampled,
            "p_value": self.p,
            "train_seconds": self.train, "predict_seconds": self.predict, "memory_bytes": self.memory,
            "model_bytes": self.size, "status": self.status, "converged": self.converged,
            "certified": self.proof is not None, "proof": None if self.proof is None else asdict(self.proof),
        }  # fmt: skip


@dataclass
class Comparison:
    """The result of a comparison: standings, best first; contenders left out and why; the certificate of the data."""

    data: dict[str, Any]
    plan: ComparisonPlan
    standings: list[Standing] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    baseline: Scores | None = None
    certificate: Any = None
    scaling: list[ScalingCurve] = field(default_factory=list)
    interrupted: bool = False

    @property
    def metric(self) -> str:
        """By what the standings are ordered."""
        if self.plan.metric is not None:
            return self.plan.metric
        return "balanced_accuracy" if self.baseline is not None and self.baseline.imbalanced else "accuracy"

    def indistinguishable(self) -> list[Standing]:
        """Return those whose accuracy does not differ significantly from that of the best, the best first."""
        return [each for each in self.standings if each.p >= 0.05]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        import json

        low, high = (None, None) if self.baseline is None else self.baseline.interval()
        plan = asdict(self.plan)
        plan.pop("scaling")
        return {
            "separatrix": __version__,
            **self.data,
            "plan": plan | {"test": None if self.plan.folds else self.plan.test, "models": list(self.plan.models)},
            "metric": self.metric,
            "threads": THREADS,
            "contenders": [each.to_dict() for each in self.standings],
            "left_out": [{"name": name, "reason": reason} for name, reason in self.left_out.items()],
            "baseline": None if self.baseline is None else {
                "label": self.data["classes"][self.baseline.majority]["label"],
                "accuracy": self.baseline.accuracy, "interval": [low, high],
            },
            "certificate": None if self.certificate is None else json.loads(self.certificate.to_json()),
            "scaling": [asdict(each) for each in self.scaling],
            "interrupted": self.interrupted,
        }  # fmt: skip


def _quiet(stage: str, **numbers: Any) -> None:
    pass


def compare(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    plan: ComparisonPlan,
    watch: Watch = _quiet,
    test_source: TableSource | MatrixSource | None = None,
) -> Comparison:
    """Compare the contenders on a source; Ctrl-C ends it with those that are done.

    The test rows are drawn from the source, unless they are a source of their own.
    """
    with SubprocessRunner() as runner, ScratchFolder() as folder:
        collected = collect(
            source, options, limit=MemoryBudget().limit, folder=folder / "rows",
            watch=lambda rows, part: watch("read", rows=rows, part=part),
        )  # fmt: skip
        if not isinstance(collected.rows, MemoryRows):
            raise ValueError(f"{source.name} does not fit into memory; compare needs all rows in memory")
        splits = write_splits(collected, collected.rows.raw, options, plan, folder, test_source)
        data = {
            "source": source.name, "rows": {"read": collected.n_read, "dropped": collected.n_dropped, **splits.rows},
            "numbers": splits.width, "sparse": splits.sparse, "scale": splits.scale,
            "classes": splits.class_counts(collected.classes), "imputed": _imputed(collected, options),
            "split": options.split,
        }  # fmt: skip
        del collected  # its rows are on disk now
        comparison = Comparison(data, plan)
        try:
            _run(comparison, splits, runner, watch)
            if plan.certify > 0:
                watch("certify")
                X, y = splits.certified
                comparison.certificate = certificate_of(X, y, plan.certify, plan.seed)
            splits.certified = None
            if plan.scaling:
                comparison.scaling = scaling_curves(
                    runner, splits.folders[0], plan.seed, plan.time_limit, watch, plan.parameters
                )
        except KeyboardInterrupt:
            comparison.interrupted = True
    return comparison


def _imputed(collected: Collected, options: ColumnOptions) -> dict[str, int]:
    """Return how many values were imputed, by column, most first."""
    if options.missing not in ("impute", "mean"):
        return {}
    target = collected.chosen.target
    counts = sorted(collected.missing.items(), key=lambda pair: -pair[1])
    return {name: n for name, n in counts if target is None or name != target.name}  # rows without a label are dropped


def _run(comparison: Comparison, splits: Splits, runner: SubprocessRunner, watch: Watch) -> None:
    """Measure each contender, and put those that are done in order."""
    plan = comparison.plan
    truth = np.concatenate(splits.truths)
    comparison.baseline = splits.scores(np.full(len(truth), splits.majority))
    metric = comparison.metric
    try:
        for place, name in enumerate(plan.models):
            watch("contender", name=name, done=place, of=len(plan.models))
            try:
                parts = list(runner.results_of(
                    measure, name, plan.recipe(name), splits.folders, plan.time_limit, seconds=plan.time_limit,
                ))  # fmt: skip
            except UnfinishedError as problem:
                comparison.left_out[name] = str(problem)
            else:
                comparison.standings.append(_standing(name, parts, splits))
    finally:
        watch("measured")
        # ties keep the order of the plan; the best is one that predicted all rows
        standings = comparison.standings
        standings.sort(key=lambda each: (each.sampled, _rank(each.scores.value(metric), metric)))
        if standings:
            values = mcnemar_holm([each.correct for each in standings], [each.predicted for each in standings])
            for each, p in zip(standings, values, strict=True):
                each.p = p


def _rank(value: float | None, metric: str) -> float:
    """Return what is smaller for a better value; a model without one comes last."""
    if value is None:
        return np.inf
    return value if metric in LOSSES else -value


def _standing(name: str, parts: Sequence[Measurement], splits: Splits) -> Standing:
    predictions = np.concatenate([each.predictions for each in parts])
    masks = [np.ones(len(truth), dtype=bool) for truth in splits.truths]
    for each, mask in zip(parts, masks, strict=True):
        if each.rows is not None:
            mask[:] = False
            mask[each.rows] = True
    predicted = np.concatenate(masks)
    correct = np.zeros(len(predicted), dtype=bool)
    correct[predicted] = predictions == np.concatenate(splits.truths)[predicted]
    memory = [each.memory for each in parts if each.memory is not None]
    scores = splits.scores(predictions, predicted)
    scores.metrics = splits.metrics(parts)
    return Standing(
        name, CONTENDERS[name].family, scores, predicted, correct,
        float(np.mean([each.train for each in parts])), sum(each.predict for each in parts) / len(predictions),
        max(memory) if len(memory) == len(parts) else None, float(np.mean([each.size for each in parts])),
        parts[-1].status, all(each.converged for each in parts), _joint([each.proof for each in parts]),
    )  # fmt: skip


def _joint(proofs: Sequence[Guarantee | None]) -> Guarantee | None:
    """Return what is proved of the models of all folds."""
    known = [each for each in proofs if each is not None]
    if len(known) < len(proofs):
        return None
    worst = max if known[0].kind == "gap" else min
    return Guarantee(known[0].kind, worst(each.value for each in known))
