"""Long calls into an engine, on a thread of their own so that Ctrl-C works at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_PATIENCE = 5.0  # seconds that an engine has to stop


class Worker:
    """A thread that makes one call after the other.

    Python handles Ctrl-C on its main thread only, and not while that waits inside an engine. Calls from any other
    thread are made directly.

    Parameters
    ----------
    interrupt : callable
        Tells the engine to stop what it does.
    """

    def __init__(self, interrupt: Callable[[], object]) -> None:
        self._interrupt = interrupt
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def call(self, function: Callable[[], T]) -> T:
        """Return what the function returns, or raise what it raises; on Ctrl-C stop it and raise KeyboardInterrupt."""
        if threading.current_thread() is not threading.main_thread():
            return function()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, args=(self._calls,), daemon=True)
            self._thread.start()
        done = threading.Event()
        results: list[Any] = []

        def run() -> None:
            try:
                results.append((function(), None))
            except BaseException as problem:
                results.append((None, problem))
            done.set()

        self._calls.put(run)
        try:
            done.wait()
        except KeyboardInterrupt:
            self._interrupt()
            done.wait(_PATIENCE)
            raise
        result, problem = results.pop()
        if problem is not None:
            try:
                raise problem
            finally:
                del problem  # it holds this frame
        value: T = result
        return value

    @staticmethod
    def _work(calls: queue.SimpleQueue[Callable[[], None] | None]) -> None:
        while (call := calls.get()) is not None:
            call()
            del call

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the thread end."""
        if self._thread is not None:
            self._calls.put(None)
            self._thread = None
