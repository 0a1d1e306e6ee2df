"""A separate process for each task, so that its memory can be measured and a run that takes too long can be stopped.

A clean second process (worker.py) imports scikit-learn and this package once; each task runs in a fork of it, or in
itself where the system cannot fork. It starts without other threads, and linear algebra uses one. A task is a function
of a module whose first argument is a function that sends its results.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from separatrix.tables.compare.worker import SIGNALLED

THREADS = 1
_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CODE = "import sys; sys.path[:] = sys.argv[1:]; from separatrix.tables.compare.worker import serve; serve()"
_START = 120.0  # seconds that loading may take
_LONGEST = 1e6  # seconds that can be waited for
_END = 5.0  # seconds that a process may take to end

Send = Callable[[Any], None]


class UnfinishedError(Exception):
    """The task did not finish; the text says why."""


class SubprocessRunner:
    """Runs one task after the other. A context: what still runs at its end is stopped."""

    def __init__(self) -> None:
        self._process: Any = None
        self._messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def __enter__(self) -> SubprocessRunner:
        self._open()  # it loads while the source is read
        return self

    def __exit__(self, *problem: object) -> None:
        self._close()

    def results_of(self, task: Callable[..., None], *arguments: Any, seconds: float) -> Iterator[Any]:
        """Yield what ``task(send, *arguments)`` sends.

        Raises UnfinishedError if it takes longer than ``seconds``, not counting imports, or fails.
        """
        if self._process is None:
            self._open()
        ended = False
        try:
            with contextlib.suppress(BrokenPipeError):  # the reader sees the end
                pickle.dump((task, arguments, seconds), self._process.stdin)
                self._process.stdin.flush()
            yield from self._received(seconds)
            ended = True
        except _FailedError as problem:
            ended = True
            raise UnfinishedError(str(problem)) from None
        finally:
            if not ended:
                self._close()

    def _received(self, seconds: float) -> Iterator[Any]:
        ends = time.monotonic() + _START
        while True:
            try:
                kind, value = self._messages.get(timeout=min(max(0.0, ends - time.monotonic()), _LONGEST))
            except queue.Empty:
                raise UnfinishedError(f"took longer than {seconds:g} s") from None
            if kind == "begun":
                ends = time.monotonic() + seconds
            elif kind == "result":
                yield value
            elif kind == "ended":
                return
            elif kind == "failed":
                raise _FailedError(value)
            else:
                raise UnfinishedError(self._how_it_ended())

    def _how_it_ended(self) -> str:
        try:
            status = self._process.wait(_END)
        except subprocess.TimeoutExpired:
            return "its process sent an unreadable message"
        signalled = -status if status < 0 else status - SIGNALLED
        if signalled > 0:
            return f"its process was killed by signal {signalled}"
        return f"its process exited with status {status}"

    def _open(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CODE, *sys.path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **dict.fromkeys(_LIMITS, str(THREADS))},
            start_new_session=True,  # Ctrl-C is for the one who waits
        )  # fmt: skip
        self._messages = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._messages), daemon=True).start()

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the group that was made for it
        else:
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


class _FailedError(Exception):
    """The task failed by itself: there is nothing to stop."""


def _listen(stream: Any, into: queue.SimpleQueue[tuple[str, Any]]) -> None:
    """Pass on messages until the stream ends."""
    with stream:
        while True:
            try:
                into.put(pickle.load(stream))
            except Exception:  # the end, or half a message, which can raise anything
                into.put(("gone", None))
                return
