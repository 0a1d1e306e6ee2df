"""The whole comparison: read once, split once, every contender on the same rows, in order of accuracy."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.compare.contenders import CONTENDERS, Recipe
from separatrix.tables.compare.measure import Measured, Proof, measure
from separatrix.tables.compare.plan import Plan
from separatrix.tables.compare.scaling import Growth, grow
from separatrix.tables.compare.splitting import Divided, divide
from separatrix.tables.compare.subprocess_runner import THREADS, SubprocessRunner, UnfinishedError
from separatrix.tables.compare.wording import told_apart
from separatrix.tables.fit import MemoryBudget, certificate_of
from separatrix.tables.gathering import gather
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import MatrixSource, TableSource

Watch = Callable[..., None]  # stage, and numbers that belong to it


@dataclass
class Standing:
    """How one contender did. Seconds and bytes are means over the folds, memory is the most of any.

    Attributes
    ----------
    name : str
        The contender.
    family : bool
        Whether it is one of this package's.
    scores : Scores
        Right answers on the held-out rows that it was asked.
    asked : array of bool
        For each held-out row, in order, whether it was asked: all, or some at random if all would have taken too long.
    right : array of bool
        For each of them whether its answer was right.
    train, predict : float
        Seconds to fit, and seconds to predict one row among many.
    memory : int or None
        Bytes that fitting needed besides the rows.
    size : float
        Bytes of the model.
    status : str
        How the run ended; with folds, the last.
    converged : bool
        Whether it ended by itself, in all folds, not at the limit of its epochs.
    proof : Proof or None
        What is proved; of several folds, what holds for all.
    p : float
        How likely so large a difference to the best would be if both were equally good; see ``telling``.
    """

    name: str
    family: bool
    scores: Scores
    asked: NDArray[np.bool_]
    right: NDArray[np.bool_]
    train: float
    predict: float
    memory: int | None
    size: float
    status: str
    converged: bool
    proof: Proof | None
    p: float = 1.0

    @property
    def sampled(self) -> bool:
        """Whether it was asked only some of the rows."""
        return not self.asked.all()

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
    """What a comparison came to: standings, the best first; who was left out and why; the certificate of the data."""

    facts: dict[str, Any]
    plan: Plan
    standings: list[Standing] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    baseline: Scores | None = None
    certificate: Any = None
    growth: list[Growth] = field(default_factory=list)
    interrupted: bool = False

    def alike(self) -> list[Standing]:
        """Return those that these rows do not tell apart from the best, the best first."""
        return [each for each in self.standings if each.p >= 0.05]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        import json

        low, high = (None, None) if self.baseline is None else self.baseline.interval()
        plan = asdict(self.plan)
        plan.pop("scaling")
        return {
            "separatrix": __version__,
            **self.facts,
            "plan": plan | {"test": None if self.plan.folds else self.plan.test, "models": list(self.plan.models)},
            "threads": THREADS,
            "contenders": [each.to_dict() for each in self.standings],
            "left_out": [{"name": name, "reason": reason} for name, reason in self.left_out.items()],
            "baseline": None if self.baseline is None else {
                "label": self.facts["classes"][self.baseline.majority]["label"],
                "accuracy": self.baseline.accuracy, "interval": [low, high],
            },
            "certificate": None if self.certificate is None else json.loads(self.certificate.to_json()),
            "scaling": [asdict(each) for each in self.growth],
            "interrupted": self.interrupted,
        }  # fmt: skip


def _quiet(stage: str, **numbers: Any) -> None:
    pass


def compare(source: TableSource | MatrixSource, asked: ColumnOptions, plan: Plan, watch: Watch = _quiet) -> Comparison:
    """Hold the contenders against each other on a source; Ctrl-C ends it with those that are done."""
    with (
        SubprocessRunner() as runner,
        tempfile.TemporaryDirectory(prefix="separatrix-", ignore_cleanup_errors=True) as temporary,
    ):
        folder = Path(temporary)
        gathered = gather(
            source, asked, budget=MemoryBudget().budget, folder=folder / "rows",
            watch=lambda rows, part: watch("read", rows=rows, part=part),
        )  # fmt: skip
        if gathered.raw is None:
            raise ValueError(f"{source.name} does not fit into memory, and a comparison needs all rows at once")
        divided = divide(gathered, asked, plan, folder)
        facts = {
            "source": source.name, "rows": {"read": gathered.n_read, "dropped": gathered.n_dropped, **divided.rows},
            "numbers": divided.width, "sparse": divided.sparse, "classes": divided.class_counts(gathered.classes),
        }  # fmt: skip
        gathered.raw = None
        found = Comparison(facts, plan)
        try:
            _run(found, divided, runner, watch)
            if plan.certify > 0:
                watch("certify")
                X, y = divided.certified
                found.certificate = certificate_of(X, y, plan.certify, plan.seed)
            divided.certified = None
            if plan.scaling:
                found.growth = grow(runner, divided.folders[0], plan.seed, plan.time_limit, watch)
        except KeyboardInterrupt:
            found.interrupted = True
    return found


def _run(found: Comparison, divided: Divided, runner: SubprocessRunner, watch: Watch) -> None:
    """Measure each contender, and put those that are done in order."""
    plan, recipe = found.plan, Recipe(found.plan.epochs, found.plan.seed)
    truth = np.concatenate(divided.truths)
    found.baseline = divided.scores(np.full(len(truth), divided.majority))
    try:
        for place, name in enumerate(plan.models):
            watch("contender", name=name, done=place, of=len(plan.models))
            try:
                parts = list(runner.found_by(
                    measure, name, recipe, divided.folders, plan.time_limit, seconds=plan.time_limit
                ))  # fmt: skip
            except UnfinishedError as problem:
                found.left_out[name] = str(problem)
            else:
                found.standings.append(_standing(name, parts, divided))
    finally:
        watch("measured")
        # of equals the first in the plan; the best is one that was asked all rows
        found.standings.sort(key=lambda each: (each.sampled, -each.scores.accuracy))
        if found.standings:
            values = told_apart([each.right for each in found.standings], [each.asked for each in found.standings])
            for each, p in zip(found.standings, values, strict=True):
                each.p = p


def _standing(name: str, parts: Sequence[Measured], divided: Divided) -> Standing:
    answers = np.concatenate([each.answers for each in parts])
    masks = [np.ones(len(truth), dtype=bool) for truth in divided.truths]
    for each, mask in zip(parts, masks, strict=True):
        if each.rows is not None:
            mask[:] = False
            mask[each.rows] = True
    asked = np.concatenate(masks)
    right = np.zeros(len(asked), dtype=bool)
    right[asked] = answers == np.concatenate(divided.truths)[asked]
    memory = [each.memory for each in parts if each.memory is not None]
    return Standing(
        name, CONTENDERS[name].family, divided.scores(answers, asked), asked, right,
        float(np.mean([each.train for each in parts])), sum(each.predict for each in parts) / len(answers),
        max(memory) if len(memory) == len(parts) else None, float(np.mean([each.size for each in parts])),
        parts[-1].status, all(each.converged for each in parts), _joint([each.proof for each in parts]),
    )  # fmt: skip


def _joint(proofs: Sequence[Proof | None]) -> Proof | None:
    """Return what is proved of the models of all folds."""
    known = [each for each in proofs if each is not None]
    if len(known) < len(proofs):
        return None
    worst = max if known[0].kind == "gap" else min
    return Proof(known[0].kind, worst(each.value for each in known))
