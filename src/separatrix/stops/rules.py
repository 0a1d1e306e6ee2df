"""The stop rules themselves, and what a run asks about a rule that joins several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from separatrix.rules.losses import LOSSES
from separatrix.stops.base import Epoch, Monitor, Stop, StopReason, is_count, is_number
from separatrix.text import times


@dataclass(frozen=True)
class NoMistakes(Stop):
    """Stop after an epoch without mistakes; after one of random draws, only if no other example is a mistake either."""

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        return lambda epoch: StopReason.success("no mistakes", epoch.number) if _without_mistakes(epoch) else None


def _without_mistakes(epoch: Epoch) -> bool:
    return not epoch.mistakes and epoch.verified


def _epoch_limit(epoch: Epoch, count: int, *, cut: bool) -> StopReason:
    """Return the reason of a run that has reached its epoch limit."""
    if epoch.mean_loss is not None and _without_mistakes(epoch):
        # On separable data a smooth loss decreases for ever: an epoch without mistakes is the goal.
        text = f"no mistakes, mean loss {epoch.mean_loss:.6g}, at the epoch limit"
        return StopReason.success(text, count, cut=cut, flat=True)
    mistakes = times(epoch.mistakes, "mistake") if epoch.mistakes else "no mistakes"
    text = f"stopped: epoch limit of {count} reached, {mistakes} in the last epoch"
    if epoch.mean_loss is not None:
        return StopReason(f"{text}, mean loss {epoch.mean_loss:.6g}", False, cut=cut, flat=True)
    return StopReason(text, False, cut=cut)


@dataclass(frozen=True)
class MaxEpochs(Stop):
    """Stop after this many epochs."""

    epochs: int

    def __post_init__(self) -> None:
        if not is_count(self.epochs):
            raise ValueError(f"the number of epochs must be a whole number of at least 1; found {self.epochs!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        return lambda epoch: _epoch_limit(epoch, epoch.number, cut=False) if epoch.number >= self.epochs else None


@dataclass(frozen=True)
class EpochsInAll(MaxEpochs):
    """Stop after this many epochs of a run, including those before it was cut short; it can be resumed with more.

    ``MaxEpochs`` counts the epochs of one call, and ends a run for good.
    """

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        return lambda epoch: _epoch_limit(epoch, epoch.since, cut=True) if epoch.since >= self.epochs else None


def over(state: Any, stop: Stop) -> StopReason | None:
    """Return why a state that is to be resumed has nothing left to do, None if it has epochs left.

    The tasks of one run are cut short at different epochs; one that has had all its epochs waits for the others.
    """
    if state.ended is not None and not state.ended.cut:
        return state.ended  # type: ignore[no-any-return]
    reports = getattr(state, "reports", [])
    limits = [part.epochs for part in stop.parts if isinstance(part, EpochsInAll)]
    return _epoch_limit(reports[-1], len(reports), cut=True) if limits and len(reports) >= min(limits) else None


@dataclass(frozen=True)
class TimeLimit(Stop):
    """Stop after this many seconds, if need be in the middle of an epoch."""

    seconds: float

    def __post_init__(self) -> None:
        if not (is_number(self.seconds) and self.seconds > 0 and math.isfinite(self.seconds)):
            raise ValueError(f"a time limit must be a positive number of seconds; found {self.seconds!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        return lambda epoch: self.reason(epoch.number, epoch.mistakes) if epoch.seconds >= self.seconds else None

    def reason(self, epoch: int, mistakes: int) -> StopReason:
        """Return the reason of a run that this limit ended."""
        made = times(mistakes, "mistake")
        text = f"stopped: time limit of {self.seconds:g} s reached in epoch {epoch} ({made} while learning in it)"
        return StopReason(text, False, cut=True)


@dataclass(frozen=True)
class LossAtMost(Stop):
    """Stop when the total loss of the training examples is at most ``value``; checked every ``every`` epochs.

    It is the loss of the weights as they are after the epoch. With ``loss="zero_one"``, Lecture 004's L, it is the
    number of training examples that these weights predict wrong: a tie counts as ``predict`` decides it, whatever the
    boundary made of it while learning.
    """

    value: float
    every: int = 1
    loss: str = "zero_one"

    def __post_init__(self) -> None:
        _check_schedule(self.every, self.loss)
        if not (is_number(self.value) and self.value >= 0):
            raise ValueError(f"the loss to reach must be zero or positive; found {self.value!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""

        def monitor(epoch: Epoch) -> StopReason | None:
            loss = _loss_after(self, epoch)
            if loss is None or loss > self.value:
                return None
            return StopReason.success(f"loss {loss:g}, at most {self.value:g}", epoch.number)

        return monitor


@dataclass(frozen=True)
class LossFlat(Stop):
    """Stop when the loss has changed by at most ``change`` in ``patience`` checks in a row.

    The loss is that of :class:`LossAtMost`.
    """

    change: float = 0.0
    patience: int = 5
    every: int = 1
    loss: str = "zero_one"

    def __post_init__(self) -> None:
        _check_schedule(self.every, self.loss)
        if not (is_number(self.change) and self.change >= 0):
            raise ValueError(f"the change must be zero or positive; found {self.change!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        last: float | None = None
        flat = 0

        def monitor(epoch: Epoch) -> StopReason | None:
            nonlocal last, flat
            loss = _loss_after(self, epoch)
            if loss is None:
                return None
            flat = flat + 1 if last is not None and abs(loss - last) <= self.change else 0
            last = loss
            if flat < self.patience:
                return None
            checks = times(self.patience, "check")
            return StopReason.success(f"loss {last:g}, changed by at most {self.change:g} in {checks}", epoch.number)

        return monitor


@dataclass(frozen=True)
class NoProgress(Stop):
    """Stop gradient descent when the mean loss no longer decreases.

    The average over the last ``patience`` epochs must be lower, by a relative ``tol``, than over as many before them:
    single epochs of stochastic descent go up and down.
    """

    tol: float = 1e-4
    patience: int = 5

    def __post_init__(self) -> None:
        if not (is_number(self.tol) and 0 <= self.tol < 1):
            raise ValueError(f"tol must be at least 0 and below 1; found {self.tol!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        seen: list[float] = []

        def monitor(epoch: Epoch) -> StopReason | None:
            if epoch.mean_loss is None:
                raise ValueError("NoProgress monitors the loss of gradient descent; for the perceptron use LossFlat")
            seen.append(epoch.mean_loss)
            del seen[: -2 * self.patience]
            before, after = sum(seen[: self.patience]), sum(seen[self.patience :])
            if len(seen) < 2 * self.patience or before - after > self.tol * abs(before):
                return None
            text = (
                f"mean loss {seen[-1]:.6g}, relative decrease at most {self.tol:g} in {times(self.patience, 'epoch')}"
            )
            return StopReason.success(text, epoch.number, flat=True)

        return monitor


def _check_schedule(every: int, loss: str) -> None:
    if not is_count(every):
        raise ValueError(f"every must be a whole number of at least 1; found {every!r}")
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}; found {loss!r}")


def _loss_after(rule: LossAtMost | LossFlat, epoch: Epoch) -> float | None:
    """Return the rule's loss after the epoch, None in the epochs that it does not check."""
    return epoch.losses.get(rule.loss) if (epoch.since or epoch.number) % rule.every == 0 else None


@dataclass(frozen=True)
class HeldOutFlat(Stop):
    """Early stopping: keep a part of the examples as a validation set, and stop when its error no longer decreases.

    The run stops when the error has not been lower for ``patience`` epochs.
    """

    fraction: float = 0.1
    patience: int = 5

    def __post_init__(self) -> None:
        if not (is_number(self.fraction) and 0 < self.fraction < 1):
            raise ValueError(f"the validation fraction must lie between 0 and 1; found {self.fraction!r}")
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1; found {self.patience!r}")

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        best = math.inf
        since = 0

        def monitor(epoch: Epoch) -> StopReason | None:
            nonlocal best, since
            if epoch.held_out is None:
                return None
            since = 0 if epoch.held_out < best else since + 1
            best = min(best, epoch.held_out)
            if since < self.patience:
                return None
            text = f"validation error not lower for {times(self.patience, 'epoch')}, best {best:.4g}"
            return StopReason.success(text, epoch.number)

        return monitor


def watches_progress(stop: Stop) -> bool:
    """Return whether some rule needs the mean loss of gradient descent."""
    return any(isinstance(part, NoProgress) for part in stop.parts)


def held_out_fraction(stop: Stop) -> float:
    """Return the part of the examples to keep as a validation set (0: none)."""
    return max((part.fraction for part in stop.parts if isinstance(part, HeldOutFlat)), default=0.0)


def lasting(stop: Stop) -> tuple[Stop, ...]:
    """Return the parts of a rule that do more than count epochs or seconds.

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
