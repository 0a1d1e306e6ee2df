"""The Trace: the steps of a run as a sequence, its votes, and its table in every format.

trace_rows.py and trace_columns.py have the rows and columns of the table, trace_view.py how numbers are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.insight.trace_columns import Columns
from separatrix.insight.trace_proof import Proof, Vector
from separatrix.insight.trace_rows import Row, Setting, table_rows, with_alphas
from separatrix.insight.trace_view import TraceView, divide, number, plain
from separatrix.loop.engines import Step
from separatrix.loop.kernel_votes import Vote
from separatrix.loop.state import Solution, Status
from separatrix.rules import Number
from separatrix.rules.losses import sigmoid
from separatrix.text import csv_text, html_table, latex, latex_cell, markdown, times


class Trace(Sequence[Step]):
    """The steps of a run, in order.

    Attributes
    ----------
    steps : tuple of Step
        Each with epoch, index, x, y, activation, margin, mistake, updated, and the weights and bias after it (in a
        fold: those after the fold).
    start : (weights, bias)
        Where the run started.
    weights, bias
        What the readout gives at the end.
    status : Status
        How the run ended.
    n_updates, n_epochs : int
        Updates made, epochs begun.
    classes : list
        The negative and the positive class.
    readout : str
        Which weights of the run those are.
    view : TraceView
        How tables are written.
    note : str
        Why a run that could be exact is not; empty where it is, or where that was asked for.
    """

    note = ""

    def __init__(
        self,
        steps: Sequence[Step],
        start: tuple[Vector, Number],
        solution: Solution,
        setting: Setting,
        view: TraceView,
    ) -> None:
        self.steps = tuple(steps)
        self.start = start
        self.weights: Vector = tuple(plain(value) for value in solution.weights)
        self.bias: Number = plain(solution.bias)
        self.status: Status = solution.status
        self.n_updates = solution.n_updates
        self.n_epochs = solution.n_epochs
        self.classes = setting.classes
        self.readout = setting.readout
        self._setting = setting
        self._table = table_rows(self.steps, start, setting)
        setting.check(view, start)
        self.view = view

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"<Trace: {len(self)} steps, {self.n_updates} updates, {self.n_epochs} epochs; {self.status}>"

    @property
    def path(self) -> Floats:
        """The weights and the bias at the start and after each step or fold, as floats, of shape (rows + 1, d + 1)."""
        points = [self.start, *(row.after for row in self._table)]
        return np.array([[*map(float, weights), float(bias)] for weights, bias in points])

    @property
    def alphas(self) -> Vector:
        """The counts of the dual form at the end, one for each example; the weights are ``sum(alpha_i y_i x_i)``.

        They are those of the last weights of a run of a perceptron rule from zero, each the number of updates with the
        example times the learning rate.
        """
        self._setting.check(replace(self.view, dual=True), self.start)
        alphas: Vector = (0,) * len(self._setting.labels)
        for row in with_alphas(self._table, self._setting):
            alphas = row.alphas[1]
        return alphas

    @property
    def votes(self) -> tuple[Vote, ...]:
        """Every weight vector of the run with the number of examples that it survived (Lecture 001).

        The first is the start. The sum of ``count * weights`` over the sum of ``count`` is the averaged readout.

        Examples
        --------
        >>> from separatrix import trace
        >>> for vote in trace([[1], [3], [-1]], [1, 1, -1]).votes:
        ...     print(vote)
        Vote(weights=(0,), bias=0, count=0)
        Vote(weights=(1,), bias=1, count=2)
        Vote(weights=(2,), bias=0, count=4)
        """
        votes = [Vote(*self.start, 0)]
        for row in self._table:
            if row.updated or row.before != row.after:
                votes.append(Vote(*row.after, 0))
            votes[-1] = votes[-1]._replace(count=votes[-1].count + len(row.steps))
        return tuple(votes)

    @property
    def proof(self) -> Proof | None:
        """The numbers of the convergence theorem (Lecture 000), where they were asked for."""
        return self._setting.proof

    def show(self, **view: Any) -> Trace:
        """Return the same run in another view: ``trace.show(augmented=True, flipped=True)``."""
        changed = replace(self.view, **view)
        self._setting.check(changed, self.start)
        twin = object.__new__(Trace)
        twin.__dict__.update(self.__dict__)
        twin.view = changed
        return twin

    # ------------------------------------------------------------------------------------------ the table

    @property
    def _columns(self) -> Columns:
        return Columns(self.view, self._setting)

    def header(self) -> list[str]:
        """Return the names of the table's columns."""
        return [column.head for column in self._columns.all()]

    def rows(self) -> list[list[str]]:
        """Return the table's cells as text, one row for each step (or fold)."""
        columns = self._columns.all()
        return [[self.text(column.value(row)) for column in columns] for row in self._shown()]

    def table_rows(self) -> list[Row]:
        """Return what each row of the table is about: its epoch and steps, and the weights before and after."""
        return list(self._table)

    def _shown(self) -> Iterable[Row]:
        return with_alphas(self._table, self._setting) if self.view.dual else self._table

    def text(self, value: Any) -> str:
        """Return a value of the table as text in this view."""
        if value is None:
            return ""
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.text, value)) + ")"
        return value if isinstance(value, str) else number(value, decimals=self.view.decimals, digits=self.view.digits)

    def shown_state(self, weights: Vector, bias: Number) -> list[Any]:
        """Return weights and bias as this view has them: one vector, or a vector and the bias or threshold."""
        return self._columns.state(weights, bias)

    def final(self) -> str:
        """Return what the readout gives at the end, in this view: ``weight (0, 2, -1)``."""
        counts = f"alpha {self.text(self.alphas)}, " if self.view.dual and self.readout == "last" else ""
        return counts + self._named(self.weights, self.bias)

    def _named(self, weights: Vector, bias: Number) -> str:
        values = [self.text(value) for value in self._columns.state(weights, bias)]
        names = ["weight", "theta" if self.view.threshold else "b"]
        return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=False))

    def votes_note(self) -> str:
        """Return in a sentence what the votes average to, computed from them."""
        return f"sum c(k) w(k) / sum c(k), the averaged weights: {self._named(*self.averaged())}."

    def notes(self) -> list[str]:
        """Return sentences that belong below the table: the constants that its columns use."""
        notes = []
        constant, proof = self._setting.constant, self._setting.proof
        if constant not in (0, 1):
            spreads = getattr(self._setting.rule, "spread", False)
            what = " is the bias coordinate." if spreads else ": an update moves b by y eta K^2."
            notes.append(f"K = {self.text(constant)}{what}")
        if proof is not None and "proof" in self.view.columns:
            separating = self.text(self._columns.values(proof.weights, proof.bias))
            facts = f"alpha = {self.text(proof.alpha)}, beta = {self.text(proof.beta)}"
            most = self.text(proof.most)
            if proof.from_zero:
                most = f"k_max = beta |w*|^2 / alpha^2 = {most}"
            else:
                most = f"k_max = {most}, with the start in (A) and (B)"
            notes.append(f"w* = {separating}, |w*|^2 = {self.text(proof.square)}, {facts}: {most}.")
        return notes

    def _ends(self) -> list[int]:
        """Return the rows after which an epoch has ended."""
        epochs = [row.epoch for row in self._table]
        return [place for place in range(len(epochs)) if epochs[place : place + 2] != [epochs[place]] * 2]

    def to_markdown(self, *, by_epoch: bool = False) -> str:
        """Return the table as Markdown; ``by_epoch`` makes one table for each epoch, with a line at its end."""
        whole = markdown(self.header(), self.rows())
        if not by_epoch:
            return whole
        head, body = whole.splitlines()[:2], whole.splitlines()[2:]
        parts, begin = [], 0
        for end in self._ends():
            parts.append("\n".join([*head, *body[begin : end + 1]]))
            parts.append(f"End of epoch {self._table[end].epoch}")
            begin = end + 1
        return "\n\n".join(parts)

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular with a rule after each epoch; it needs no package."""
        ends = {place: f"end of epoch {self._table[place].epoch}" for place in self._ends()}
        heads = [column.latex for column in self._columns.all()]
        return latex(heads, self.rows(), sections=ends, foot=self._final_latex(), escaped_head=True)

    def _final_latex(self) -> str:
        values = [latex_cell(self.text(value)) for value in self._columns.state(self.weights, self.bias)]
        names = ["weight", r"$\theta$" if self.view.threshold else "$b$"]
        return "final " + ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=False))

    def to_html(self) -> str:
        """Return the table as HTML: a rule after each epoch, the updates marked, the end of the run below."""
        marked = [row.updated for row in self._table]
        caption = f"{self.status}; final {self.final()}"
        return html_table(self.header(), self.rows(), marked=marked, caption=caption, sections=self._ends())

    def _repr_html_(self) -> str:
        return self.to_html()

    def votes_table(self) -> tuple[list[str], list[list[str]]]:
        """Return the votes as a table: k, the weights w(k), the bias b(k) and the count c(k)."""
        columns = self._columns
        heads = ["w(k)", "theta(k)" if self.view.threshold else "b(k)"]
        rows = []
        for k, vote in enumerate(self.votes):
            values = columns.state(vote.weights, vote.bias)
            rows.append([str(k), *map(self.text, values), self.text(vote.count)])
        return ["k", *heads[: len(rows[0]) - 2], "c(k)"], rows

    def averaged(self) -> tuple[Vector, Number]:
        """Return ``sum(c w) / sum(c)`` over the votes, and the same for the bias: the averaged readout."""
        votes = self.votes
        total = sum(vote.count for vote in votes)
        if not total:
            return self.start
        weights = tuple(
            divide(sum(vote.count * vote.weights[j] for vote in votes), total) for j in range(len(self.start[0]))
        )
        return weights, divide(sum(vote.count * vote.bias for vote in votes), total)

    # ------------------------------------------------------------------------------------------ as data

    def to_csv(self) -> str:
        """Return the table as comma-separated values in this view, each coordinate in a column of its own."""
        head, rows = self._flat()
        return csv_text(head, [[self.text(cell) for cell in row] for row in rows])

    def to_pandas(self) -> Any:
        """Return the steps as a pandas DataFrame in this view, each coordinate in a column of its own."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_pandas needs pandas: pip install pandas; to_csv and records need no package"
            ) from None
        head, rows = self._flat()
        return pd.DataFrame(rows, columns=head)

    def records(self) -> list[dict[str, Any]]:
        """Return the steps as dictionaries of numbers in this view, each coordinate by a name of its own."""
        head, rows = self._flat()
        return [dict(zip(head, row, strict=True)) for row in rows]

    def _flat(self) -> tuple[list[str], list[list[Any]]]:
        """Return one row for each step, or for each fold."""
        extra = [column for column in self._columns.all() if column.extra]
        records: list[dict[str, Any]] = []
        for row in self._shown():
            cells = [*self._flat_fold(row), *self._flat_state(row)]
            for column in extra:
                cells += _spread(column.head, column.value(row), 0 if self.view.augmented else 1)
            records.append(dict(cells))
        heads = max((list(record) for record in records), key=len, default=[])  # an epoch's last fold may be smaller
        return heads, [[record.get(name) for name in heads] for record in records]

    def _flat_fold(self, row: Row) -> list[tuple[str, Any]]:
        columns, view = self._columns, self.view
        if self._setting.folds:
            examples = " ".join(str(step.index + 1) for step in row.steps)
            return [("epoch", row.epoch), ("fold", row.fold), ("examples", examples), ("updated", row.updated)]
        (step,) = row.steps
        neuron = self._setting.smooth
        name = "w x" if view.augmented or view.flipped else "h" if view.threshold else "z" if neuron else "a"
        return [
            ("epoch", row.epoch),
            ("example", step.index + 1),
            *_spread("x", columns.pattern(step), 0 if view.augmented and self._setting.constant else 1),
            ("t" if view.labels == "01" else "y", columns.label(step)),
            (name, columns.product(step, row.before[1])),
            *([("output", float(sigmoid(step.activation)))] if neuron else []),
            *([] if "margin" in view.columns else [("margin", step.margin)]),
            ("mistake", step.mistake),
        ]

    def _flat_state(self, row: Row) -> list[tuple[str, Any]]:
        weights, *bias = self._columns.state(*row.after)
        counts = _spread("alpha", row.alphas[1], 1) if self.view.dual else []
        first = 0 if self.view.augmented and self._setting.constant else 1
        name = "theta" if self.view.threshold else "b"
        return [*counts, *_spread("w", weights, first), *((name, value) for value in bias)]

    def summary(self) -> str:
        """Return how the run ended in a sentence, as in ``converged: no mistakes (epoch 3); 3 updates in 3 epochs``."""
        return f"{self.status}; {times(self.n_updates, 'update')} in {times(self.n_epochs, 'epoch')}."


def _spread(name: str, value: Any, first: int) -> list[tuple[str, Any]]:
    """Return a vector as named numbers, and any other value as it is."""
    if not isinstance(value, tuple):
        return [(name, value)]
    return [(f"{name}{place}", each) for place, each in enumerate(value, start=first)]
