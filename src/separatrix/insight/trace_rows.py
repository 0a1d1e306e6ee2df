"""The rows of a trace's table: one for each example, or for each fold of examples whose steps are averaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from separatrix.insight.trace_proof import Proof, Vector
from separatrix.insight.trace_view import TraceView, plain
from separatrix.loop.engines import Step
from separatrix.rules import Downhill, Number, Smooth


@dataclass(frozen=True)
class Setting:
    """What a table needs to know of a run besides its steps."""

    rule: Any
    boundary: str
    batch: int | str
    readout: str
    constant: Number
    classes: list[Any]
    labels: list[Any]
    proof: Proof | None = None

    @property
    def smooth(self) -> bool:
        """Whether the rule is that of a neuron, whose output is a sigmoid."""
        return isinstance(self.rule, Smooth)

    @property
    def folds(self) -> bool:
        """Whether the steps of several examples are averaged."""
        return self.batch != 1

    @property
    def has_proof(self) -> bool:
        """Whether the convergence theorem is about such a run."""
        return self.rule.name == "perceptron" and not self.folds

    def check(self, view: TraceView, start: tuple[Vector, Number]) -> None:
        """Refuse a view that this run does not have."""
        named = f"rule {self.rule.name!r}"
        if view.dual:
            if isinstance(self.rule, Downhill) or self.folds:
                which = "batch=1" if self.folds else "the perceptron rules"
                raise ValueError(
                    f"the dual form is for {which}; found {f'batch={self.batch!r}' if self.folds else named}"
                )
            if start[1] or any(start[0]):
                raise ValueError("the dual form, w = sum(alpha_i y_i x_i), starts from zeros; found another start")
        if "proof" in view.columns:
            if not self.has_proof:
                found = f"batch={self.batch!r}" if self.folds else named
                raise ValueError(f"the proof is about the perceptron, one example at a time; found {found}")
            if self.proof is None:
                raise ValueError("the proof columns need a separating w*: run trace with proof='auto', or give one")


class Row(NamedTuple):
    """One row of the table: an example or a fold, and the weights before and after it.

    ``updates`` are the updates so far, this row's included. ``alphas`` are the counts of the dual form before and
    after, where they were asked for.
    """

    epoch: int
    fold: int
    steps: tuple[Step, ...]
    before: tuple[Vector, Number]
    after: tuple[Vector, Number]
    updates: int
    alphas: tuple[Vector, Vector] = ((), ())

    @property
    def updated(self) -> bool:
        """Whether an example of the row moved the weights."""
        return any(step.updated for step in self.steps)


def table_rows(steps: Sequence[Step], start: tuple[Vector, Number], setting: Setting) -> list[Row]:
    """Return the rows of the table: one for each step, or for each fold of an epoch."""
    rows: list[Row] = []
    before, updates = start, 0
    for epoch, group in groupby(steps, key=lambda step: step.epoch):
        run = tuple(group)
        size = len(run) if isinstance(setting.batch, str) else setting.batch
        for fold, begin in enumerate(range(0, len(run), size), start=1):
            part = run[begin : begin + size]
            after = (part[-1].weights, part[-1].bias)
            updates += any(step.updated for step in part)
            rows.append(Row(epoch, fold, part, before, after, updates))
            before = after
    return rows


def with_alphas(rows: Sequence[Row], setting: Setting) -> Iterator[Row]:
    """Yield the rows of a perceptron's run from zero with the counts of the dual form: ``w = sum(alpha_i y_i x_i)``."""
    alphas: Vector = (0,) * len(setting.labels)
    for row in rows:
        after = alphas
        if row.updated:
            place = row.steps[0].index
            after = (*alphas[:place], plain(alphas[place] + setting.rule.eta), *alphas[place + 1 :])
        yield row._replace(alphas=(alphas, after))
        alphas = after
