"""The second process of a runner: it reads tasks and runs each in a fork."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SHARE = 0.9  # of the available memory
SIGNALLED = 128  # a process that a signal ended has this status and the signal's number, as in shells
_GRACE = 60  # seconds after which a run that nobody waits for any longer ends itself


def serve() -> None:
    """Run one task after the other until no more arrive."""
    load()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is not a result
    while True:
        try:
            task, arguments, seconds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if not hasattr(os, "fork"):
            run(out, task, arguments)
            continue
        child = os.fork()
        if child == 0:
            signal.alarm(int(min(seconds, 1e8)) + _GRACE)
            _limit_memory()
            run(out, task, arguments)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            # it may have died in the middle of a message, after which no other can be read: exit the same way
            sys.exit(SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else status >> 8)


def load() -> None:
    """Import what contenders need."""
    import sklearn.linear_model
    import sklearn.neighbors
    import sklearn.svm
    import sklearn.tree  # noqa: F401

    import separatrix.estimators
    import separatrix.models.model_file  # noqa: F401


def run(out: Any, task: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run a task, and write its results."""
    from threadpoolctl import threadpool_limits

    from separatrix.tables.compare.subprocess_runner import THREADS

    with threadpool_limits(THREADS):
        _write(out, "begun", None)
        try:
            task(lambda value: _write(out, "result", value), *arguments)
        except MemoryError:
            _write(out, "failed", "not enough memory")
        except Exception as problem:
            _write(out, "failed", " ".join(str(problem).split()) or type(problem).__name__)
        else:
            _write(out, "ended", None)


def _write(out: Any, kind: str, value: Any) -> None:
    pickle.dump((kind, value), out)
    out.flush()


def _limit_memory() -> None:
    """Let a task that needs more memory than is available fail by itself, without affecting others."""
    from separatrix.tables.memory import available

    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])
        room = pages * os.sysconf("SC_PAGE_SIZE") + int(_SHARE * available())
        resource.setrlimit(resource.RLIMIT_DATA, (room, resource.getrlimit(resource.RLIMIT_DATA)[1]))
