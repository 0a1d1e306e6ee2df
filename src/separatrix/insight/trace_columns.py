"""The columns of a trace's table: what each is called, in plain text and in LaTeX, and the value that a row has in it.

Values are numbers, vectors (tuples) and text; trace_run.py writes them. trace_rows.py has the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from separatrix.insight.trace_proof import Vector
from separatrix.insight.trace_rows import Row, Setting
from separatrix.insight.trace_view import TraceView, divide, plain
from separatrix.loop.engines import Step
from separatrix.rules import Downhill, Number
from separatrix.rules.losses import PerceptronCriterion, sigmoid

_NAMED = 8  # examples of a fold that are named one by one


class Column(NamedTuple):
    """One column: its name, that in LaTeX, and the value of a row. ``extra`` columns are those that were asked for."""

    head: str
    latex: str
    value: Callable[[Row], Any]
    extra: bool = False


class Columns:
    """Makes the columns of one view of one run."""

    def __init__(self, view: TraceView, setting: Setting) -> None:
        self._view = view
        self._setting = setting

    def all(self) -> list[Column]:
        """Return the columns of the table, from left to right."""
        asked = set(self._view.columns)
        product, after = [self._product()], self._output() if self._setting.smooth else []
        if self._setting.folds:
            product, after, asked = [], [], asked | {"delta"}
        return [
            *self._examples(),
            *self._states("before"),
            *product,
            *after,
            *(self._decision() if "output" in asked else []),
            *(self._margin("margin", "margin $y a$", after=False) if "margin" in asked else []),
            *(self._loss() if "loss" in asked else []),
            self._update(),
            *(self._delta() if "delta" in asked else []),
            *self._states("after"),
            *(self._margin("margin after", "margin after, $y a'$", after=True) if "margin-after" in asked else []),
            *(self._proof() if "proof" in asked else []),
        ]

    # ------------------------------------------------------------------------------------------ examples

    def _examples(self) -> list[Column]:
        epoch = Column("epoch", "epoch", lambda row: row.epoch)
        if self._setting.folds:
            return [
                epoch,
                Column("fold", "fold", lambda row: row.fold),
                Column("examples", "examples", lambda row: _places(step.index + 1 for step in row.steps)),
            ]
        view = self._view
        name = "adjusted pattern" if view.flipped else "pattern"
        pattern = Column(name, name, lambda row: self.pattern(row.steps[0]))
        sign = "t" if view.labels == "01" else "y"
        label = Column(sign, f"${sign}$", lambda row: str(self.label(row.steps[0])))
        example = Column("example", "example", lambda row: row.steps[0].index + 1)
        return [epoch, example, pattern] if view.flipped else [epoch, example, pattern, label]

    def pattern(self, step: Step) -> Vector:
        """Return the pattern as this view has it."""
        sign = step.y if self._view.flipped else 1
        x = tuple(sign * value for value in step.x)
        return (sign * self._setting.constant, *x) if self._view.augmented and self._setting.constant else x

    def label(self, step: Step) -> Any:
        """Return the label of an example as this view has it."""
        return self._setting.labels[step.index] if self._view.labels == "own" else self._class(step.y)

    def _class(self, sign: int) -> Any:
        if self._view.labels == "own":
            return self._setting.classes[1 if sign > 0 else 0]
        return sign if self._view.labels == "+-" else int(sign > 0)

    # ------------------------------------------------------------------------------------------ weights

    def values(self, weights: Vector, bias: Number) -> Vector:
        """Return weights and bias as the numbers that this view writes, in its order."""
        constant = self._setting.constant
        if not constant:
            return weights
        if self._view.augmented:
            return (divide(bias, constant), *weights)
        return (*weights, -bias if self._view.threshold else bias)

    def bias_name(self) -> str | None:
        """Return what the bias is called in a column of its own; None where it has none."""
        if not self._setting.constant or self._view.augmented:
            return None
        return "theta" if self._view.threshold else "b"

    def state(self, weights: Vector, bias: Number) -> list[Any]:
        """Return weights and bias as the values of their columns."""
        values = self.values(weights, bias)
        separate = self._setting.constant and not self._view.augmented
        return [values[:-1], values[-1]] if separate else [values]

    def _states(self, when: str) -> list[Column]:
        view = self._view
        vector, shown = ("alpha", r"$\alpha$") if view.dual else ("weight", "weight")
        bias = self.bias_name()
        latex = {"theta": r"$\theta$", "b": "$b$", None: ""}[bias]
        later = when == "after"

        def at(row: Row) -> tuple[Vector, Number]:
            return row.after if later else row.before

        first = Column(
            f"new {vector}" if later else f"{vector} applied",
            f"new {shown}" if later else f"{shown} applied",
            (lambda row: row.alphas[later]) if view.dual else (lambda row: self.state(*at(row))[0]),
        )
        if bias is None:
            return [first]
        sign = -1 if bias == "theta" else 1
        new = "new " if later else ""
        return [first, Column(f"{new}{bias}", f"{new}{latex}", lambda row: sign * at(row)[1])]

    # ------------------------------------------------------------------------------------------ one step

    def product(self, step: Step, bias: Number) -> Number:
        """Return the product as this view has it; the bias is the one before the step."""
        if self._view.flipped:
            return step.margin
        if self._view.threshold and not self._view.augmented:
            return step.activation - bias  # h, which the neuron compares with theta
        return step.activation

    def _product(self) -> Column:
        view, bias = self._view, " + b" if self._setting.constant else ""
        if view.augmented or (view.flipped and not bias):
            name, latex = "w x", r"$w \cdot x$"
        elif view.flipped:
            name, latex = "y a", rf"$y a = y (w \cdot x{bias})$"
        elif view.threshold:
            name, latex = "h", r"$h = w \cdot x$"
        else:
            name = "z" if self._setting.smooth else "a"
            latex = rf"${name} = w \cdot x{bias}$"
        return Column(name, latex, lambda row: self.product(row.steps[0], row.before[1]))

    def _output(self) -> list[Column]:
        return [Column("output a", r"output $a = \sigma(z)$", lambda row: float(sigmoid(row.steps[0].activation)))]

    def _decision(self) -> list[Column]:
        tie = -1 if self._setting.boundary == "negative" else 1

        def predicted(step: Step) -> str:
            return str(self._class(tie if step.activation == 0 else 1 if step.activation > 0 else -1))

        neuron = self._view.labels == "01" and not self._setting.smooth
        name, latex = ("output y", "output $y$") if neuron else ("predicted", "predicted")
        return [Column(name, latex, lambda row: ", ".join(map(predicted, row.steps)), extra=True)]

    def _margin(self, name: str, latex: str, *, after: bool) -> list[Column]:
        def value(row: Row) -> Any:
            margins = tuple(_margin_after(step, *row.after) if after else step.margin for step in row.steps)
            return margins if self._setting.folds else margins[0]

        return [Column(name, latex, value, extra=True)]

    def _loss(self) -> list[Column]:
        rule = self._setting.rule
        loss = rule.loss if isinstance(rule, Downhill) else PerceptronCriterion
        name, latex = ("C_m", "$C_m$") if rule.name == "sigmoid_neuron" else ("loss", "loss")
        name, latex = (f"mean {name}", f"mean {latex}") if self._setting.folds else (name, latex)

        def value(row: Row) -> Number:
            total = sum(loss.value(step.margin) for step in row.steps)
            total = float(total) if self._setting.smooth else total
            return plain(divide(total, len(row.steps)) if self._setting.folds else total)

        return [Column(name, latex, value, extra=True)]

    def _update(self) -> Column:
        if not self._setting.folds:
            return Column("update?", "update?", lambda row: "Yes" if row.updated else "No")
        name = "updates from"
        return Column(name, name, lambda row: _places(step.index + 1 for step in row.steps if step.updated) or "none")

    def _delta(self) -> list[Column]:
        view, dual = self._view, self._view.dual
        bias = self.bias_name()
        vector, latex = ("delta alpha", r"$\Delta \alpha$") if dual else ("delta w", r"$\Delta w$")
        shown = {"theta": r"$\Delta \theta$", "b": r"$\Delta b$", None: ""}[bias]

        def step(row: Row) -> Vector:
            if dual:
                return tuple(plain(b - a) for a, b in zip(*row.alphas, strict=True))
            weights, shift = self._moved(row)
            return self.values(weights, shift) if view.augmented or bias is None else weights

        first = Column(vector, latex, step, extra=True)
        if bias is None:
            return [first]
        sign = -1 if bias == "theta" else 1
        return [first, Column(f"delta {bias}", shown, lambda row: sign * self._moved(row)[1], extra=True)]

    def _moved(self, row: Row) -> tuple[Vector, Number]:
        """Return the step of the weights and of the bias."""
        if self._setting.smooth and not self._setting.folds:  # a difference of floats would show its rounding
            (step,) = row.steps
            signed = step.y * float(self._setting.rule.step(step.margin, 0, 0, 0, 1).tau)
            return tuple(signed * value for value in step.x), signed * self._setting.constant**2
        (weights, bias), (new, shift) = row.before, row.after
        return tuple(plain(b - a) for a, b in zip(weights, new, strict=True)), plain(shift - bias)

    def _proof(self) -> list[Column]:
        proof = self._setting.proof
        assert proof is not None
        heads = (
            ("w w*", r"$w \cdot w_*$"), ("k alpha", r"$k \alpha$"), ("|w|^2", "$|w|^2$"),
            ("(A)", r"(A) $k^2 \alpha^2 / |w_*|^2$"), ("(B)", r"(B) $k \beta$"),
        )  # fmt: skip

        def part(place: int) -> Callable[[Row], Number]:
            return lambda row: proof.values(*row.after, row.updates)[place]

        count = Column("k", "$k$", lambda row: row.updates, extra=True)
        return [count, *(Column(name, latex, part(place), extra=True) for place, (name, latex) in enumerate(heads))]


def _margin_after(step: Step, weights: Vector, bias: Number) -> Number:
    return plain(step.y * (sum(w * x for w, x in zip(weights, step.x, strict=True)) + bias))


def _places(numbers: Iterable[int]) -> str:
    """Return places as text, those that follow each other as a range where there are many.

    Examples
    --------
    >>> _places([2, 5, 1]), _places(range(1, 151)), _places([])
    ('2, 5, 1', '1-150', '')
    >>> _places([*range(1, 10), 20, 40])
    '1-9, 20, 40'
    """
    every = list(numbers)
    if len(every) <= _NAMED:
        return ", ".join(map(str, every))
    runs: list[list[int]] = []
    for each in every:
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
