"""Tasks for the runner of comparisons. A module of its own, since the worker imports it: it must import little."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import stat
import time
from pathlib import Path

import numpy as np


def slow(send):
    send("begun")
    time.sleep(60)


def quick(send, value):
    send(os.getpid())
    send(value)


def killed(send):
    os.kill(os.getpid(), signal.SIGKILL)


def hungry(send):
    raise MemoryError


def wrong(send):
    raise ValueError("two\nlines")


def half(send):
    """Die in the middle of a message, as one that runs out of memory may."""
    whole = pickle.dumps(("result", bytes(1000)))
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if int(name) > 2 and stat.S_ISFIFO(os.fstat(int(name)).st_mode):
                os.write(int(name), whole[:500])
    os.kill(os.getpid(), signal.SIGKILL)


class Hungry:
    """Takes 64 MB to fit."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        np.ones(8 << 20).sum()
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class Large(Hungry):
    """Takes the memory for many rows only, not in the warm-up, which is the first fit."""

    fits = 0

    def fit(self, X, y):
        Large.fits += 1
        return super().fit(X, y) if Large.fits > 1 else self


def measured_elsewhere(send):
    """Measure on a system that reports only the peak of a process."""
    from separatrix.tables.compare import measure
    from separatrix.tables.compare.contenders import Contender, Recipe
    from separatrix.tables.compare.trial import Trial

    measure._SYSTEM = Path("nowhere")
    trial = Trial(np.zeros((10, 2)), np.arange(10) % 2, np.zeros((5, 2)))
    send(measure.measure_contender(Contender("large", False, lambda recipe: Large()), Recipe(), trial).memory)
