"""What a stop rule is: the report of an epoch, the reason to stop, the base class, and rules joined with ``|``."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from separatrix.models.validity import is_count as is_counted
from separatrix.models.validity import is_real, require

_COUNTS_ERRORS = re.compile(r"no mistakes|mistakes? in the last epoch|: loss ")


@dataclass(frozen=True)
class Epoch:
    """The report of one finished epoch.

    ``number`` counts from 1 in this run; ``losses`` holds, by name, those that a stop rule needs after this epoch;
    ``held_out`` (the error on the validation set) is None without one; ``seconds`` is the time since the run began.
    ``mean_loss`` is what gradient descent minimises: the mean of the rule's loss over the epoch's examples, each
    computed just before its own update, with the penalty as it was when the epoch began; for one batch of all examples
    that is the objective before its step. It is None for rules that update on mistakes only. ``since`` counts the
    epochs of a run that was cut short too, where ``number`` counts those of this call. ``verified`` is False after an
    epoch of random draws that made no mistakes while the weights make some on examples that it did not draw.
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
    verified: bool = True

    @property
    def loss(self) -> float | None:
        """The loss that a stop rule needs, None if none does."""
        return next(iter(self.losses.values()), None)

    def validate(self) -> None:
        """Refuse an epoch that cannot have been."""
        counts = (self.number, self.mistakes, self.updates, self.since)
        require(all(is_counted(value) for value in counts), "an epoch counts what cannot be")
        numbers = (self.norm, self.seconds, *(v for v in (self.held_out, self.mean_loss) if v is not None))
        require(all(is_real(value) for value in numbers), "an epoch is damaged")
        fits = type(self.losses) is dict and all(type(name) is str for name in self.losses)
        require(fits and all(is_real(loss) for loss in self.losses.values()), "the losses of an epoch are damaged")
        require(type(self.verified) is bool, "an epoch is damaged")


class StopReason(NamedTuple):
    """Why a run stopped: a sentence, and whether it reached its goal.

    ``diverged``: its steps were too large; ``cut``: it was cut short and can be resumed; ``flat``: its mean loss no
    longer decreases, or it reached its epoch limit, which is a success only if that loss is low.
    """

    text: str
    converged: bool
    diverged: bool = False
    cut: bool = False
    flat: bool = False

    @classmethod
    def success(cls, what: str, epoch: int, *, cut: bool = False, flat: bool = False) -> StopReason:
        """Return the reason of a run that reached its goal in this epoch."""
        return cls(f"converged: {what} (epoch {epoch})", True, cut=cut, flat=flat)

    def as_failure(self, why: str) -> StopReason:
        """Return the reason of a run that stopped in the same way, but did not reach its goal."""
        return self._replace(text=f"stopped: {self.text.removeprefix('converged: ')}; {why}", converged=False)

    def validate(self) -> None:
        """Refuse a reason that cannot have been."""
        flags = (self.converged, self.diverged, self.cut, self.flat)
        require(type(self.text) is str and all(type(flag) is bool for flag in flags), "a stop reason is damaged")


Monitor = Callable[[Epoch], "StopReason | None"]


def counts_errors(text: str) -> bool:
    """Return whether a reason says how many mistakes a whole epoch made, or the loss of the training rows.

    Examples
    --------
    >>> counts_errors("converged: no mistakes (epoch 3)"), counts_errors("converged: loss 0, at most 0 (epoch 3)")
    (True, True)
    >>> counts_errors("converged: mean loss 0.2, relative decrease at most 0.0001 in 5 epochs (epoch 41)")
    False
    """
    return bool(_COUNTS_ERRORS.search(text))


def errors_seen(text: str, mistakes: int, report: Epoch | None) -> float | None:
    """Return the errors that such a reason names: the mistakes of the last epoch, or its zero-one loss, if known."""
    if "mistake" in text:
        return mistakes
    return None if report is None else report.losses.get("zero_one")


def kept_errors(what: str, wrong: float, total: float, unit: str = "training rows") -> str:
    """Return the part of a sentence that tells the training errors of the weights that were kept.

    Examples
    --------
    >>> kept_errors("averaged weights", 1, 60)
    'averaged weights: 1 of 60 training rows wrong'
    """
    return f"{what}: {wrong:g} of {total:g} {unit} wrong"


def add_kept_errors(text: str, what: str, wrong: float, total: float, unit: str = "training rows") -> str:
    """Return a reason with the training errors of the kept weights.

    Examples
    --------
    >>> add_kept_errors("stopped: epoch limit of 1 reached, 1 mistake", "last weights", 0, 4)
    'stopped: epoch limit of 1 reached, 1 mistake; last weights: 0 of 4 training rows wrong'
    """
    return f"{text}; {kept_errors(what, wrong, total, unit)}"


def is_number(value: object) -> bool:
    """Return whether the value is a real number and no truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    """Return whether the value is a whole number of at least 1."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= 1


class Stop:
    """A stop rule; ``a | b`` stops at whichever comes first."""

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        raise TypeError(f"{type(self).__name__} does not implement begin(): it is not a stop rule")

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
    """The first of several rules to apply."""

    rules: tuple[Stop, ...]

    @property
    def parts(self) -> tuple[Stop, ...]:
        """The rules that are joined here."""
        return self.rules

    def begin(self) -> Monitor:
        """Return a monitor for one run."""
        monitors = [rule.begin() for rule in self.rules]

        def monitor(epoch: Epoch) -> StopReason | None:
            reasons = [each(epoch) for each in monitors]  # each of them must see every epoch
            return next((reason for reason in reasons if reason is not None), None)

        return monitor

    def validate(self) -> None:
        """Refuse rules that are not joined as ``|`` joins them."""
        rules = self.rules if type(self.rules) is tuple else (None,)
        fits = all(isinstance(rule, Stop) and not isinstance(rule, AnyOf) for rule in rules)
        require(fits, "its stop rules are damaged")
