"""Stop rules: small frozen values, joined with ``|``; the first that applies ends the run.

A stop rule holds no state. ``begin()`` returns a monitor, which sees each finished epoch once and returns a
:class:`StopReason` or None. Every stopping condition of Lecture 004 is here. ``parse`` reads a rule from text, as the
command line has it: ``parse("no-mistakes | loss<=0.01 | flat:5 | time:10")``.

A reason, and the status of the run, is one sentence that begins with how the run ended: ``converged:``, ``stopped:``,
``interrupted:`` or ``diverged:``. That of a run that converged ends with the epoch, ``(epoch 7)``.
"""

from __future__ import annotations

from separatrix.stops.base import (
    AnyOf,
    Epoch,
    Monitor,
    Stop,
    StopReason,
    add_kept_errors,
    counts_errors,
    errors_seen,
    is_count,
    kept_errors,
)
from separatrix.stops.rules import (
    EpochsInAll,
    HeldOutFlat,
    LossAtMost,
    LossFlat,
    MaxEpochs,
    NoMistakes,
    NoProgress,
    TimeLimit,
    held_out_fraction,
    lasting,
    over,
    time_limit,
    watches_progress,
)
from separatrix.stops.text import as_stop, parse

__all__ = [
    "AnyOf",
    "Epoch",
    "EpochsInAll",
    "HeldOutFlat",
    "LossAtMost",
    "LossFlat",
    "MaxEpochs",
    "Monitor",
    "NoMistakes",
    "NoProgress",
    "Stop",
    "StopReason",
    "TimeLimit",
    "add_kept_errors",
    "as_stop",
    "counts_errors",
    "errors_seen",
    "held_out_fraction",
    "is_count",
    "kept_errors",
    "lasting",
    "over",
    "parse",
    "time_limit",
    "watches_progress",
]
