"""When to stop: small frozen values, joined with ``|``; the first that speaks ends the run.

A stop rule holds no state. ``begin()`` gives a judge, which sees each finished epoch once and answers with an
:class:`Ending` or None. Every stopping condition of Lecture 004 is here.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from separatrix.rules.losses import LOSSES
from separatrix.text import times


@dataclass(frozen=True)
class Epoch:
    """What is known about one finished epoch.

    ``number`` counts from 1 in this run; ``losses`` holds those that some rule asked for after this epoch, by name;
    ``held_out`` (the share of held-out examples misclassified) is None without a held-out part; ``seconds`` is the
    time since the run began. ``mean_loss`` is what gradient descent walks down: the mean of the rule's loss over the
    epoch's examples, each as it was met, with the penalty as it was when the epoch began; for one batch of all examples
    that is the objective before its step. It is None for rules that step on mistakes only. ``since`` counts the epochs
    of a run that was cut short too, where ``number`` counts those of this call.
    """

    number: int
    mistakes: int
    updates: int
    norm: float
    seconds: float
    losses: Mapping[str, float] = field(default_factory=dict)
    held_out: float | None = None
    mean_loss: float | None = None
    since: int = 0

    @property
    def loss(self) -> float | None:
        """The loss that was asked for, None if none was."""
        return next(iter(self.losses.values()), None)


class Ending(NamedTuple):
    """Why a run ended: a sentence, and whether it reached what it was looking for.

    ``diverged``: its steps were too large; ``cut``: it was cut short and could go on; ``flat``: its mean loss fell no
    more, or it had no more epochs, which is a success only if that loss is low.
    """

    text: str
    converged: bool
    diverged: bool = False
    cut: bool = False
    flat: bool = False


Judge = Callable[[Epoch], "Ending | None"]


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    """Return whether the value is a whole number of at least 1."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= 1


class Stop:
    """A stop rule; ``a | b`` stops at whichever comes first."""

    def begin(self) -> Judge:
        """Return a judge for one run."""
        raise TypeError(f"{type(self).__name__} does not say when to stop")

    @property
    def parts(self) -> tuple[Stop, ...]:
        """The rules that are joined here."""
        return (self,)

    def __or__(self, other: Stop) -> Stop:
        if not isinstance(other, Stop):
            return NotImplemented
        return AnyOf(self.parts + other.parts)


@dataclass(frozen=True)
class AnyOf(Stop):
    """The first of several rules to speak."""

    rules: tuple[Stop, ...]

    @property
    def parts(self) -> tuple[Stop, ...]:
        """The rules that are joined here."""
        return self.rules

    def begin(self) -> Judge:
        """Return a judge that asks every rule in turn."""
        judges = [rule.begin() for rule in self.rules]

        def judge(epoch: Epoch) -> Ending | None:
            verdicts = [each(epoch) for each in judges]
            return next((verdict for verdict in verdicts if verdict is not None), None)

        return judge


@dataclass(frozen=True)
class NoMistakes(Stop):
    """Stop when an epoch changes nothing."""

    def begin(self) -> Judge:
        """Return a judge."""
        return lambda epoch: None if epoch.mistakes else Ending(f"no mistakes in epoch {epoch.number}", True)


def _after(epoch: Epoch, count: int, *, cut: bool) -> Ending:
    """Return the ending of a run that had no more epochs."""
    if epoch.mean_loss is not None:
        made = times(epoch.mistakes, "mistake") if epoch.mistakes else "no mistakes"
        text = f"stopped after {times(count, 'epoch')} with a mean loss of {epoch.mean_loss:.6g}"
        # On separable data a smooth loss falls for ever: an epoch without mistakes is all there is to reach.
        return Ending(f"{text} and {made} in the last", not epoch.mistakes, cut=cut, flat=True)
    text = f"stopped after {times(count, 'epoch')} with {times(epoch.mistakes, 'mistake')} in the last"
    return Ending(f"{text}: the data may not be separable" if epoch.mistakes else text, False, cut=cut)


@dataclass(frozen=True)
class MaxEpochs(Stop):
    """Stop after this many epochs."""

    epochs: int

    def __post_init__(self) -> None:
        if not is_count(self.epochs):
            raise ValueError(f"the number of epochs must be a whole number of at least 1; found {self.epochs!r}")

    def begin(self) -> Judge:
        """Return a judge."""
        return lambda epoch: _after(epoch, epoch.number, cut=False) if epoch.number >= self.epochs else None


@dataclass(frozen=True)
class EpochsInAll(MaxEpochs):
    """Stop after this many epochs of a run, those before it was cut short counted too; it can then go on with more.

    ``MaxEpochs`` counts the epochs of one call, and what it ends is over.
    """

    def begin(self) -> Judge:
        """Return a judge."""
        return lambda epoch: _after(epoch, epoch.since, cut=True) if epoch.since >= self.epochs else None


def over(state: Any, stop: Stop) -> Ending | None:
    """Return the ending of a state that is to go on, None if it has epochs left to go.

    Questions of one run are cut short at different epochs; one that has had all of them waits for the others.
    """
    if state.ended is not None and not state.ended.cut:
        return state.ended  # type: ignore[no-any-return]
    reports = getattr(state, "reports", [])
    limits = [part.epochs for part in stop.parts if isinstance(part, EpochsInAll)]
    return _after(reports[-1], len(reports), cut=True) if limits and len(reports) >= min(limits) else None


@dataclass(frozen=True)
class TimeLimit(Stop):
    """Stop after this many seconds, in the middle of an epoch if need be."""

    seconds: float

    def __post_init__(self) -> None:
        if not (_is_number(self.seconds) and self.seconds > 0 and math.isfinite(self.seconds)):
            raise ValueError(f"a time limit must be a positive number of seconds; found {self.seconds!r}")

    def begin(self) -> Judge:
        """Return a judge."""
        return lambda epoch: self.ending(epoch.number, epoch.mistakes) if epoch.seconds >= self.seconds else None

    def ending(self, epoch: int, mistakes: int) -> Ending:
        """Return the sentence for a run that this limit ended."""
        made = times(mistakes, "mistake")
        return Ending(
            f"stopped by the time limit of {self.seconds:g} s in epoch {epoch}, with {made} in it", False, cut=True
        )


@dataclass(frozen=True)
class LossAtMost(Stop):
    """Stop when the loss over the training examples is at most ``value``; looked at every ``every`` epochs."""

    value: float
    every: int = 1
    loss: str = "zero_one"

    def __post_init__(self) -> None:
        _check_look(self.every, self.loss)
        if not (_is_number(self.value) and self.value >= 0):
            raise ValueError(f"the loss to reach must be zero or positive; found {self.value!r}")

    def begin(self) -> Judge:
        """Return a judge."""

        def judge(epoch: Epoch) -> Ending | None:
            loss = _look(self, epoch)
            if loss is None or loss > self.value:
                return None
            return Ending(f"the loss is {loss:g}, at most {self.value:g}, after epoch {epoch.number}", True)

        return judge


@dataclass(frozen=True)
class LossFlat(Stop):
    """Stop when the loss has changed by at most ``change`` for ``patience`` looks in a row."""

    change: float = 0.0
    patience: int = 5
    every: int = 1
    loss: str = "zero_one"

    def __post_init__(self) -> None:
        _check_look(self.every, self.loss)
        if not (_is_number(self.change) and self.change >= 0):
            raise ValueError(f"the change must be zero or positive; found {self.change!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Judge:
        """Return a judge."""
        last: float | None = None
        flat = 0

        def judge(epoch: Epoch) -> Ending | None:
            nonlocal last, flat
            loss = _look(self, epoch)
            if loss is None:
                return None
            flat = flat + 1 if last is not None and abs(loss - last) <= self.change else 0
            last = loss
            if flat < self.patience:
                return None
            looks = f"{times(self.patience, 'look')} in a row, up to epoch {epoch.number}"
            return Ending(f"the loss changed by at most {self.change:g} for {looks} (it is {last:g})", True)

        return judge


@dataclass(frozen=True)
class NoProgress(Stop):
    """Stop gradient descent when the mean loss falls no more.

    The average over the last ``patience`` epochs must be lower by ``tol`` of itself than over as many before them:
    single epochs of stochastic descent go up and down.
    """

    tol: float = 1e-4
    patience: int = 5

    def __post_init__(self) -> None:
        if not (_is_number(self.tol) and 0 <= self.tol < 1):
            raise ValueError(f"tol must be at least 0 and below 1; found {self.tol!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Judge:
        """Return a judge."""
        seen: list[float] = []

        def judge(epoch: Epoch) -> Ending | None:
            if epoch.mean_loss is None:
                raise ValueError("NoProgress watches the loss of gradient descent; for the perceptron use LossFlat")
            seen.append(epoch.mean_loss)
            del seen[: -2 * self.patience]
            before, after = sum(seen[: self.patience]), sum(seen[self.patience :])
            if len(seen) < 2 * self.patience or before - after > self.tol * abs(before):
                return None
            since = f"in the {times(self.patience, 'epoch')} up to epoch {epoch.number}"
            return Ending(
                f"the mean loss fell by at most {self.tol:g} of itself {since} (to {seen[-1]:.6g})", True, flat=True
            )

        return judge


def _check_look(every: int, loss: str) -> None:
    if not is_count(every):
        raise ValueError(f"every must be a whole number of at least 1; found {every!r}")
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}; found {loss!r}")


def _look(rule: LossAtMost | LossFlat, epoch: Epoch) -> float | None:
    """Return the rule's loss after the epoch, None in the epochs that it does not look at."""
    return epoch.losses.get(rule.loss) if (epoch.since or epoch.number) % rule.every == 0 else None


@dataclass(frozen=True)
class HeldOutFlat(Stop):
    """Early stopping: hold out a part of the examples and stop when it has not got better for ``patience`` epochs."""

    fraction: float = 0.1
    patience: int = 5

    def __post_init__(self) -> None:
        if not (_is_number(self.fraction) and 0 < self.fraction < 1):
            raise ValueError(f"the held-out fraction must lie between 0 and 1; found {self.fraction!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Judge:
        """Return a judge."""
        best = math.inf
        since = 0

        def judge(epoch: Epoch) -> Ending | None:
            nonlocal best, since
            if epoch.held_out is None:
                return None
            since = 0 if epoch.held_out < best else since + 1
            best = min(best, epoch.held_out)
            if since < self.patience:
                return None
            text = f"the held-out mistakes have not fallen for {times(self.patience, 'epoch')}"
            return Ending(f"{text}, up to epoch {epoch.number} (the best share was {best:.4g})", True)

        return judge


def losses_asked(stop: Stop, epoch: int) -> list[str]:
    """Return the names of the losses that some rule wants to see after this epoch."""
    looking = [part for part in stop.parts if isinstance(part, LossAtMost | LossFlat) and epoch % part.every == 0]
    return sorted({part.loss for part in looking})


def watches_progress(stop: Stop) -> bool:
    """Return whether some rule wants to see the mean loss."""
    return any(isinstance(part, NoProgress) for part in stop.parts)


def held_out_fraction(stop: Stop) -> float:
    """Return the part of the examples to hold out (0: none)."""
    return max((part.fraction for part in stop.parts if isinstance(part, HeldOutFlat)), default=0.0)


def lasting(stop: Stop) -> tuple[Stop, ...]:
    """Return the parts of a rule that look back over several epochs; those that count epochs or seconds do not.

    Examples
    --------
    >>> lasting(LossFlat(1e-3) | MaxEpochs(5) | TimeLimit(2))
    (LossFlat(change=0.001, patience=5, every=1, loss='zero_one'),)
    """
    return tuple(part for part in stop.parts if not isinstance(part, MaxEpochs | TimeLimit))


def time_limit(stop: Stop) -> TimeLimit | None:
    """Return the shortest time limit among the joined rules."""
    limits = [part for part in stop.parts if isinstance(part, TimeLimit)]
    return min(limits, key=lambda limit: limit.seconds, default=None)
