"""Observers: objects that are notified of a run. They record and show it, and never change a result.

An observer has any of the methods ``on_begin(tasks, pool, stop)``, ``on_epoch_begin()``, ``on_step(step)`` (reference
engine only), ``on_advance(epoch, done, pool)``, ``on_epoch(epoch)`` and ``on_end()``. An ``on_epoch`` that returns True
stops the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from separatrix.loop.engines import Step
from separatrix.models.validity import is_list_of, require
from separatrix.rules.losses import LOSSES
from separatrix.stops import Epoch, MaxEpochs, Stop


class History:
    """Keeps each epoch: mistakes, loss (where it was recorded or a stop rule needs it), norm of the weights, seconds.

    Parameters
    ----------
    record : str, optional
        Which loss ``loss`` is, if more than one was computed; by default the first that was.

    Examples
    --------
    >>> from separatrix import Problem, solve
    >>> from separatrix.rules import Perceptron
    >>> history = History()
    >>> _ = solve(Problem([[2.0], [-1.0]], [1, -1]), Perceptron(), observers=[history])
    >>> history.mistakes
    [1, 0]
    """

    def __init__(self, record: str | None = None) -> None:
        self.epochs: list[Epoch] = []
        self.record = record

    def on_epoch(self, epoch: Epoch) -> None:
        """Keep the epoch."""
        self.epochs.append(epoch)

    def validate(self) -> None:
        """Refuse what are not epochs."""
        require(is_list_of(self.epochs, Epoch), "its epochs are damaged")
        require(self.record is None or self.record in LOSSES, "its history records an unknown loss")

    def __len__(self) -> int:
        return len(self.epochs)

    def __iter__(self) -> Iterator[Epoch]:
        return iter(self.epochs)

    def __getitem__(self, index: int) -> Epoch:
        return self.epochs[index]

    @property
    def mistakes(self) -> list[int]:
        """Mistakes in each epoch, over all tasks."""
        return [epoch.mistakes for epoch in self.epochs]

    @property
    def loss(self) -> list[float | None]:
        """The total loss of the training examples after each epoch, None where it was not computed.

        It is that of the weights as they were then, with ties as predictions have them, added over the tasks.
        """
        name = self.loss_name
        return [None if name is None else epoch.losses.get(name) for epoch in self.epochs]

    @property
    def loss_name(self) -> str | None:
        """Which loss that is, the one recorded, else the first that a stop rule needed; None if there is none."""
        if self.record is not None:
            return self.record
        return next((name for epoch in self.epochs for name in epoch.losses), None)

    @property
    def loss_epochs(self) -> list[int]:
        """The epochs after which the loss was computed, counted from 1."""
        return [epoch.number for epoch, loss in zip(self.epochs, self.loss, strict=True) if loss is not None]

    @property
    def mean_loss(self) -> list[float]:
        """The mean loss of each epoch of gradient descent; empty for rules that update on mistakes only."""
        return [epoch.mean_loss for epoch in self.epochs if epoch.mean_loss is not None]

    @property
    def held_out(self) -> list[float | None]:
        """The error on the validation set after each epoch, None without one."""
        return [epoch.held_out for epoch in self.epochs]

    @property
    def norm(self) -> list[float]:
        """The length of the weights after each epoch."""
        return [epoch.norm for epoch in self.epochs]

    @property
    def seconds(self) -> list[float]:
        """The time since the run began, after each epoch."""
        return [epoch.seconds for epoch in self.epochs]


class StepRecorder:
    """Keeps every Step of a run in the reference engine."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def on_step(self, step: Step) -> None:
        """Keep the step."""
        self.steps.append(step)


class Progress:
    """A progress bar for runs that last longer than ``delay`` seconds: epochs, time, mistakes in the last epoch.

    It is drawn with Rich on standard error, or on the ``console`` given, if that is a terminal or a notebook.
    """

    _unit = "epoch"

    def __init__(self, *, delay: float = 1.0, console: Any = None) -> None:
        self._delay = delay
        self._console = console
        self._bar: Any = None
        self._task: Any = None
        self._seen = ""
        self._epochs: int | None = None
        self._began = 0.0

    def on_begin(self, tasks: int, pool: int, stop: Stop) -> None:
        """Note when the run began and how many epochs it may take."""
        limits = [part.epochs for part in stop.parts if isinstance(part, MaxEpochs)]
        self._epochs = min(limits, default=None)
        self._began = time.perf_counter()

    def on_advance(self, epoch: int, done: int, pool: int) -> None:
        """Draw, once the run has lasted long enough."""
        if self._bar is None:
            if time.perf_counter() - self._began < self._delay:
                return
            self._start()
        self._bar.update(
            self._task, completed=epoch - 1 + done / pool, description=f"{self._unit} {epoch}", seen=self._seen
        )

    def on_epoch(self, epoch: Epoch) -> None:
        """Note the mistakes or the loss."""
        loss = epoch.mean_loss
        self._seen = f"{epoch.mistakes:,} mistakes" if loss is None else f"mean loss {loss:.6g}"

    def on_end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = self._console or Console(stderr=True)
        seen = TextColumn("{task.fields[seen]}")
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), seen, console=console, transient=True,
            disable=not (console.is_terminal or console.is_jupyter),
        )  # fmt: skip
        self._task = self._bar.add_task("", total=self._epochs, seen="")
        self._bar.start()


class RoundProgress(Progress):
    """The same for solvers that work in rounds towards a gap."""

    _unit = "round"

    @classmethod
    @contextmanager
    def shown_if(cls, wanted: bool) -> Iterator[Callable[[Any], None] | None]:
        """Yield what to call with the primal value and the gap after each round, None if nothing is to be shown."""
        if not wanted:
            yield None
            return
        bar = cls()
        bar._began = time.perf_counter()
        rounds = 0

        def watch(bounds: Any) -> None:
            nonlocal rounds
            rounds += 1
            bar._seen = f"relative gap {bounds.gap / max(abs(bounds.primal), 1e-300):.2g}"
            bar.on_advance(rounds, 1, 1)

        try:
            yield watch
        finally:
            bar.on_end()


class SklearnCallbacks:
    """Forwards each epoch to scikit-learn's callbacks, where the installed version has them.

    Parameters
    ----------
    estimator : object
        The estimator being fitted.
    context : object
        The callback context of its fit.
    fitted : callable
        Returns the attributes that a fitted estimator would have now.
    """

    def __init__(self, estimator: Any, context: Any, fitted: Callable[[], dict[str, Any]]) -> None:
        self._estimator = estimator
        self._context = context
        self._fitted = fitted
        self._task: Any = None

    def on_epoch_begin(self) -> None:
        """Open a task for the epoch."""
        self._task = self._context.subcontext(task_name="epoch")
        self._task.call_on_fit_task_begin(estimator=self._estimator, reconstruction_attributes=self._fitted)

    def on_epoch(self, epoch: Epoch) -> bool:
        """Close the epoch's task; True when a callback requests a stop."""
        return self._close()

    def on_end(self) -> None:
        """Close the task of an epoch that was cut short."""
        self._close()

    def _close(self) -> bool:
        task, self._task = self._task, None
        if task is None:
            return False
        return bool(task.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=self._fitted))
