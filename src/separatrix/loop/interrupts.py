"""Ctrl-C: the first press becomes a flag that a loop checks between two pieces of work.

So does any other signal that the program handles as Python handles Ctrl-C.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

from separatrix.stops import StopReason

# Without the wrappers that make an enumeration of every answer: 64 of them take longer than a small fit.
_plain = import_module("_signal")


@functools.cache
def _signals() -> tuple[int, ...]:
    return tuple(signal.valid_signals())


@contextmanager
def interrupts() -> Iterator[list[bool]]:
    """Turn the first Ctrl-C into a flag, so that no array is left half changed.

    A second Ctrl-C raises at once. Outside the main thread, or where the program has its own handler, nothing changes.
    """
    pressed = [False]
    usual = signal.default_int_handler
    numbers: list[int] = []
    if threading.current_thread() is threading.main_thread():
        numbers = [each for each in _signals() if _plain.getsignal(each) is usual]

    def note(number: int, frame: FrameType | None) -> None:
        if pressed[0]:
            raise KeyboardInterrupt
        pressed[0] = True

    for each in numbers:
        _plain.signal(each, note)
    try:
        yield pressed
    finally:
        for each in numbers:
            _plain.signal(each, usual)


def interrupted(finished: int, *, in_epoch: bool) -> StopReason:
    """Return the reason of a run that Ctrl-C ended after this many epochs, or in the one after them."""
    where = f"in epoch {finished + 1}" if in_epoch else f"after epoch {finished}"
    return StopReason(f"interrupted: Ctrl-C {where}; the model is what was learned so far", False)


def stopped_by_callback(finished: int) -> StopReason:
    """Return the reason of a run that an observer or a callback ended after this many epochs."""
    return StopReason(f"stopped: requested by a callback after epoch {finished}", False)
