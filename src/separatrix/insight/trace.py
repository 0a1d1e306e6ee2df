"""``sx.trace``: every step of a run as a table, in the lectures' notation.

A :class:`Trace` is a sequence of Steps from the reference engine; trace_view.py says how it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np

from separatrix.geometry.rows import Floats, Rows, column_names, frame_columns, is_sparse
from separatrix.insight.trace_view import TraceView, number
from separatrix.loop.engines import Step
from separatrix.loop.problem import Problem, as_exact
from separatrix.loop.solve import new_state, solve
from separatrix.loop.state import Solution, Status
from separatrix.observers import StepRecorder
from separatrix.rules import RULES, Downhill, Number, Smooth
from separatrix.rules.losses import sigmoid
from separatrix.stops import MaxEpochs, NoMistakes
from separatrix.text import csv_text, html_table, latex, markdown


class Trace(Sequence[Step]):
    """The steps of a run, in order.

    Attributes
    ----------
    steps : tuple of Step
        Each with epoch, index, x, y, activation, margin, mistake, updated, and the weights and bias after it.
    start : (weights, bias)
        Where the run started.
    weights, bias
        What the readout gives at the end.
    status : Status
        How the run ended.
    n_updates, n_epochs : int
        Updates made, epochs begun.
    view : TraceView
        How tables are written.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        start: tuple[tuple[Number, ...], Number],
        solution: Solution,
        classes: Sequence[Any],
        bias_constant: Number,
        view: TraceView,
        *,
        neuron: bool = False,
    ) -> None:
        self._neuron = neuron
        self.steps = tuple(steps)
        self.start = start
        self.weights: tuple[Number, ...] = tuple(_plain(value) for value in solution.weights)
        self.bias: Number = _plain(solution.bias)
        self.status: Status = solution.status
        self.n_updates = solution.n_updates
        self.n_epochs = solution.n_epochs
        self.classes = list(classes)
        self.view = view
        self._bias_constant = bias_constant

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

    @property
    def path(self) -> Floats:
        """The weights and the bias at the start and after each step, as floats, of shape (steps + 1, d + 1)."""
        points = [self.start, *((step.weights, step.bias) for step in self.steps)]
        return np.array([[*map(float, weights), float(bias)] for weights, bias in points])

    def __repr__(self) -> str:
        return f"<Trace: {len(self)} steps, {self.n_updates} updates, {self.n_epochs} epochs; {self.status}>"

    def show(self, **view: Any) -> Trace:
        """Return the same run in another view: ``trace.show(augmented=True, flipped=True)``."""
        twin = object.__new__(Trace)
        twin.__dict__.update(self.__dict__)
        twin.view = replace(self.view, **view)
        return twin

    # ------------------------------------------------------------------------------------------ the table

    def header(self) -> list[str]:
        """Return the names of the table's columns."""
        view = self.view
        pattern = "adjusted pattern" if view.flipped else "pattern"
        label = [] if view.flipped else ["t" if view.labels == "01" else "y"]
        product = "w x" if view.augmented or view.flipped else ("h" if view.threshold else "z" if self._neuron else "a")
        output = ["output a"] if self._neuron else []
        after = ["new weight"] if view.augmented else ["new weight", "new theta" if view.threshold else "new b"]
        before = ["weight applied"] if view.augmented else ["weight applied", "theta" if view.threshold else "b"]
        return ["epoch", "example", pattern, *label, *before, product, *output, "update?", *after]

    def rows(self) -> list[list[str]]:
        """Return the table's cells as text, one row for each step."""
        rows = []
        weights, bias = self.start
        for step in self.steps:
            rows.append(self._row(step, weights, bias))
            weights, bias = step.weights, step.bias
        return rows

    def _row(self, step: Step, weights: tuple[Number, ...], bias: Number) -> list[str]:
        x, product = self._seen(step, bias)
        label = [] if self.view.flipped else [str(self._label(step.y))]
        return [
            str(step.epoch),
            str(step.index + 1),
            self._vector(x),
            *label,
            *self._state(weights, bias),
            self._number(product),
            *([self._number(float(sigmoid(step.activation)))] if self._neuron else []),
            "Yes" if step.updated else "No",
            *self._state(step.weights, step.bias),
        ]

    def _seen(self, step: Step, bias: Number) -> tuple[tuple[Number, ...], Number]:
        """Return the pattern and the product as this view has them; the bias is the one before the step."""
        view = self.view
        sign = step.y if view.flipped else 1
        x = tuple(sign * value for value in step.x)
        if view.augmented:
            x = (sign * self._bias_constant, *x)
        if view.flipped:
            return x, step.margin
        if view.threshold and not view.augmented:
            return x, step.activation - bias  # h, which the neuron compares with theta
        return x, step.activation

    def _values(self, weights: tuple[Number, ...], bias: Number) -> tuple[Number, ...]:
        """Return weights and bias as the numbers that this view writes."""
        return (bias, *weights) if self.view.augmented else (*weights, -bias if self.view.threshold else bias)

    def _state(self, weights: tuple[Number, ...], bias: Number) -> list[str]:
        values = self._values(weights, bias)
        return [self._vector(values)] if self.view.augmented else [self._vector(values[:-1]), self._number(values[-1])]

    def final(self) -> str:
        """Return what the readout gives at the end, in this view: ``weight (0, 2, -1)``."""
        values = self._state(self.weights, self.bias)
        names = [name.removeprefix("new ") for name in self.header()[-len(values) :]]
        return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))

    def _label(self, y: int) -> Any:
        if self.view.labels == "own":
            return self.classes[1 if y > 0 else 0]
        return y if self.view.labels == "+-" else int(y > 0)

    def _number(self, value: Number) -> str:
        return number(value, decimals=self.view.decimals)

    def _vector(self, values: Sequence[Number]) -> str:
        return "(" + ", ".join(self._number(value) for value in values) + ")"

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown(self.header(), self.rows())

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        return latex(self.header(), self.rows())

    def to_html(self) -> str:
        """Return the table as HTML, with the updates marked and the status below."""
        marked = [step.updated for step in self.steps]
        return html_table(self.header(), self.rows(), marked=marked, caption=str(self.status))

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_csv(self) -> str:
        """Return the table as comma-separated values in this view, each coordinate in a column of its own."""
        head, rows = self._flat()
        return csv_text(head, [[cell if isinstance(cell, str) else self._number(cell) for cell in row] for row in rows])

    def to_pandas(self) -> Any:
        """Return the steps as a pandas DataFrame in this view, each coordinate in a column of its own."""
        import pandas as pd

        head, rows = self._flat()
        return pd.DataFrame(rows, columns=head)

    def _flat(self) -> tuple[list[str], list[list[Any]]]:
        view, d = self.view, len(self.start[0])
        places = range(0 if view.augmented else 1, d + 1)
        bias = [] if view.augmented else ["theta" if view.threshold else "b"]
        label, product = ("t" if view.labels == "01" else "y"), self.header()[self.header().index("update?") - 1]
        if self._neuron:
            product = self.header()[self.header().index("output a") - 1]
        output = ["output"] if self._neuron else []
        head = ["epoch", "example", *(f"x{j}" for j in places), label, product, *output, "margin", "mistake"]
        head += [*(f"w{j}" for j in places), *bias]
        before = self.start[1]
        rows = []
        for step in self.steps:
            x, shown = self._seen(step, before)
            label = self._label(step.y)
            state = self._values(step.weights, step.bias)
            out = [float(sigmoid(step.activation))] if self._neuron else []
            rows.append([step.epoch, step.index + 1, *x, label, shown, *out, step.margin, step.mistake, *state])
            before = step.bias
        return head, rows


def _plain(value: Number) -> Number:
    """Return a whole Fraction as an int and a NumPy float as a float."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else value
    return float(value) if isinstance(value, np.floating) else value


def trace(
    X: Any,
    y: Any,
    *,
    rule: str = "perceptron",
    start: tuple[Sequence[Any], Any] | str | None = None,
    eta0: Any = 1,
    margin: Any = 1,
    lam: Any = 1,
    boundary: str = "mistake",
    order: str = "cyclic",
    fit_intercept: bool = True,
    max_iter: int = 100,
    readout: str = "last",
    exact: bool | None = None,
    random_state: int | None = None,
    **view: Any,
) -> Trace:
    """Run a rule step by step on a small two-class data set and keep every step.

    Parameters
    ----------
    X : table of numbers
        The patterns. Fractions and integers stay exact; a float stands for the decimal that it prints as.
    y : sequence
        Their labels, two distinct ones; the larger is the positive class.
    rule : {"perceptron", "margin_perceptron", "sigmoid_neuron", "logistic_neuron", "online_hinge", "pegasos"}
        What to do with each pattern. The last two shrink the weights at every pattern; an update is then a step for a
        margin below 1.
    start : (weights, bias), "zeros" or "uniform", default="zeros"
        Where to start; "uniform" draws from [-1, 1] (Lecture 004).
    eta0 : number, default=1
        The learning rate; the online hinge's gamma. Pegasos has none.
    margin : number, default=1
        The margin that the margin perceptron wants exceeded.
    lam : number, default=1
        The strength of Pegasos's penalty.
    boundary : {"mistake", "correct", "positive", "negative"}
        What a tie is; Lecture 004's neuron is "negative".
    order : {"cyclic", "shuffled"}
        As the rows stand, or shuffled anew each epoch.
    fit_intercept : bool, default=True
        With a bias, or a plane through the origin.
    max_iter : int, default=100
        The most epochs. Rules that walk down a loss run them all.
    readout : {"last", "averaged", "voted", "pocket"}
        What ``trace.weights`` and ``trace.bias`` are at the end.
    exact : bool, optional
        Compute with integers and fractions, or with floats. By default exactly where the rule can: the exponentials
        of neurons cannot.
    random_state : int, default=None
        Seed of shuffled orders and of a uniform start; None is 0, so that a table can be printed again.
    **view
        View options, how tables are written: ``augmented``, ``flipped``, ``labels``, ``threshold``, ``decimals``; see
        :class:`separatrix.insight.trace_view.TraceView`.

    Returns
    -------
    Trace
        The steps; prints as Markdown, LaTeX, HTML, CSV or a DataFrame.

    Examples
    --------
    >>> run = trace([[1, 1], [-1, 0]], [1, -1], augmented=True, flipped=True)
    >>> print(run.to_markdown())
    | epoch | example | adjusted pattern | weight applied | w x | update? | new weight |
    |-------|---------|------------------|----------------|-----|---------|------------|
    | 1     | 1       | (1, 1, 1)        | (0, 0, 0)      | 0   | Yes     | (1, 1, 1)  |
    | 1     | 2       | (-1, 1, 0)       | (1, 1, 1)      | 0   | Yes     | (0, 2, 1)  |
    | 2     | 1       | (1, 1, 1)        | (0, 2, 1)      | 3   | No      | (0, 2, 1)  |
    | 2     | 2       | (-1, 1, 0)       | (0, 2, 1)      | 2   | No      | (0, 2, 1)  |
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; found {rule!r}")
    smooth, downhill = issubclass(RULES[rule], Smooth), issubclass(RULES[rule], Downhill)
    if exact and smooth:
        raise ValueError(f"rule {rule!r} cannot be computed exactly: use exact=False")
    exact = not smooth if exact is None else exact
    unknown = set(view) - {each.name for each in fields(TraceView)}
    if unknown:
        accepted = ", ".join(each.name for each in fields(TraceView))
        raise TypeError(f"trace has no option {min(unknown)!r}; its view options are {accepted}")
    chosen_view = TraceView(**view)
    bias = 1 if fit_intercept else 0
    problem = Problem.from_exact(_table(X), y, bias=bias) if exact else Problem(X, y, bias=bias)
    numbers = {"eta": eta0, "gamma": eta0, "margin": margin, "lam": lam}
    known = {each.name for each in fields(RULES[rule])}
    options = {
        name: as_exact(value) if exact else float(as_exact(value)) for name, value in numbers.items() if name in known
    }
    recorder = StepRecorder()
    seed = 0 if random_state is None else int(random_state)
    state = new_state(problem, 1, "zeros" if start is None else start, readout=readout, seed=seed)
    began = tuple(_plain(value) for value in state.weights.tolist()), _plain(state.bias)
    solution = solve(
        problem,
        RULES[rule](**options),
        engine="reference",
        stop=MaxEpochs(max_iter) if downhill else NoMistakes() | MaxEpochs(max_iter),
        readout=readout,
        boundary=boundary,
        order=order,
        start=state,
        seed=seed,
        observers=[recorder],
    )
    if solution.status.interrupted:
        raise KeyboardInterrupt
    return Trace(
        recorder.steps, began, solution, problem.classes.tolist(), _plain(problem.bias), chosen_view, neuron=smooth
    )


def _table(X: Any) -> Any:
    """Return X as rows of numbers that still are what they were: frames and sparse matrices opened, the rest as is."""
    if column_names(X) is not None:
        return list(
            zip(*(column.tolist() if column.dtype == object else column for column in frame_columns(X)), strict=True)
        )
    if is_sparse(X):
        return Rows(X).values.toarray()
    if not isinstance(X, list | tuple) or any(not isinstance(row, list | tuple) for row in X):
        values = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        if values.ndim != 2 or 0 in values.shape:
            Rows(values)  # says what is wrong with it
        return values
    if not X or not X[0]:
        Rows(np.empty((len(X), 0)))
    return X
