"""Tables that a child process reads (`child`), so that a damaged file can crash a library but not this process.

The child has a limit on its memory and, unless it runs a query, on its processor time. Its batches come through a pipe;
this process reads no byte of the file but its beginning. Ctrl-C ends the child at once.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from separatrix.files import ScratchFolder
from separatrix.tables.sources.base import ROWS, Column, TableSource
from separatrix.tables.sources.child import ANSWER, GREETING, HEAD, SCHEMA, STREAM, seconds_for
from separatrix.tables.sources.messages import path_text
from separatrix.text import byte_size

if TYPE_CHECKING:
    import pyarrow as pa

_OWN = re.compile(r"/dev/(?:stdin|fd)\b|/proc/(?:self|thread-self)\b")  # paths that mean something else in the child
_CODE = "import sys; sys.path[:] = sys.argv[1:]; from separatrix.tables.sources.child import main; main()"
_QUIET = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # it multiplies nothing
_PATIENCE = 60.0  # seconds until a program that does not greet is no child of ours


class NotStartedError(ValueError):
    """No child process can be started here; no file is to blame."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the process that reads files cannot be started ({why})")


class _EndedError(Exception):
    """The child has ended; its status is the argument."""


class _NoMemoryError(Exception):
    """The child has not enough memory; its limit in bytes is the argument, None if it has none."""


class _ForeignError(Exception):
    """The child belongs to the process that this one was forked from."""


_FAILURES = (_EndedError, _NoMemoryError, _ForeignError, ValueError, RuntimeError, MemoryError)


class _Child:
    """A child process: requests go to it, frames come back.

    Attributes
    ----------
    busy : bool
        Whether frames of the last request are still to come.
    opened : dict or None
        The request of the source that it has open.

    Raises
    ------
    NotStartedError
        If it does not start, or is another program that does not greet.
    """

    def __init__(self) -> None:
        self.busy = False
        self.opened: dict[str, Any] | None = None
        self._owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _CODE, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_QUIET},
            )
        except OSError as problem:
            raise NotStartedError(problem.strerror or str(problem)) from None
        self._in: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self._out: BinaryIO = self._process.stdout  # type: ignore[assignment]
        try:
            self._await_greeting()
        except BaseException:
            self.kill()
            raise

    def _await_greeting(self) -> None:
        watch = threading.Timer(_PATIENCE, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            greeting = self._out.read(len(GREETING))
            if len(greeting) < len(GREETING):
                raise NotStartedError(_status(self._process.wait()))
        finally:
            watch.cancel()
        if greeting != GREETING:
            raise NotStartedError(f"{sys.executable} is no Python")

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise _ForeignError

    def send(self, request: dict[str, Any]) -> None:
        """Send a request; the next frames are its answer."""
        self._check_owner()
        try:
            self.busy = True
            self._in.write(json.dumps(request).encode() + b"\n")
            self._in.flush()
        except OSError:
            raise self._ended() from None

    def frame(self) -> tuple[bytes, Any, float | None]:
        """Return what comes next: its kind, its content and the fraction that has been read.

        Raises
        ------
        ValueError
            With the sentence that the child found.
        """
        self._check_owner()
        head = self._out.read(HEAD.size)
        if len(head) < HEAD.size:
            raise self._ended()
        what, length, fraction = HEAD.unpack(head)
        content = self._content(length) if what != ANSWER else self._out.read(length)
        if len(content) < length:
            raise self._ended()
        if what == ANSWER:
            content = json.loads(content)
            if "unexpected" in content:
                raise RuntimeError(f"a child process failed:\n{content['unexpected']}")
            if "memory" in content:
                raise _NoMemoryError(content["memory"])
            self.busy = False  # but a child that had no memory is not asked again
            if "error" in content:
                raise ValueError(content["error"])
        return what, content, None if math.isnan(fraction) else fraction

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request that has one answer, and return that."""
        self.send(request)
        answer: dict[str, Any] = self.frame()[1]
        return answer

    def _content(self, length: int) -> Any:
        import pyarrow as pa

        buffer = pa.allocate_buffer(length)
        view, got = memoryview(buffer), 0
        while got < length:
            more = self._out.readinto(view[got:])  # type: ignore[attr-defined]
            if not more:
                raise self._ended()
            got += more
        return buffer

    def stop(self) -> None:
        """End a pass that nobody reads to its end."""
        self.send({"stop": True})
        while self.busy:
            self.frame()

    def has_ended(self) -> bool:
        """Return whether the process is gone."""
        return self._process.poll() is not None

    def _ended(self) -> _EndedError:
        with suppress(OSError):
            self._in.close()  # a child that lives on ends now
        return _EndedError(self._process.wait())

    def kill(self) -> None:
        """End the process, whatever it does, unless it is that of another."""
        if os.getpid() != self._owner:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()


class _Idle:
    """The child that waits for its next source; one is enough."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: _Child | None = None
        atexit.register(self.forget)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.__after_fork)

    def __after_fork(self) -> None:
        self._lock, self._child = threading.Lock(), None  # it belongs to the parent

    def take(self) -> _Child:
        """Return the child that waits, or a new one."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None and child.has_ended():
            child.kill()
            child = None
        return child or _Child()

    def give(self, child: _Child) -> None:
        """Keep a child that has closed its source."""
        with self._lock:
            spare, self._child = self._child, child
        if spare is not None:
            spare.kill()

    def forget(self) -> None:
        """End the child that waits."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.kill()


_IDLE = _Idle()


class ApartSource(TableSource):
    """A table that a child process reads.

    Parameters
    ----------
    files, names : list of str
        The files and what messages call them; none for a query that names its files.
    name, sql, frugal
        See `opening.open_files`, which the child calls with them.
    how : dict
        The fields of `opening.TextOptions`.
    """

    def __init__(
        self, files: list[str], names: list[str], name: str, sql: str | None, frugal: bool, how: dict[str, Any]
    ) -> None:
        if sql is not None and _OWN.search(sql):
            raise ValueError("the query reads a pipe by its path; give it as the file, - or a path, and call it data")
        files = [os.path.realpath(path) if _OWN.match(path) else path for path in files]
        self.name = "the query" if sql is not None else path_text(name)
        self._query = sql is not None
        self._size = sum(map(os.path.getsize, files))
        self._scratch = ScratchFolder()
        self._open = {
            "open": [files, names, name, sql, frugal, how],
            "here": _here(),
            "scratch": str(self._scratch.path),
            "size": self._size,
        }
        self._fraction: float | None = None
        self._free: list[_Child] = []
        self._used: list[_Child] = []
        self._closed = False
        self._owner = os.getpid()
        self._lock = threading.RLock()  # a pass that nobody reads on may end at any place, also where this is held
        weakref.finalize(self, _ended, self._free, self._used, self._scratch)  # also if nobody closes it
        try:
            with self._child():
                answer = self._answer
        except BaseException:
            self.close()
            raise
        self.columns = tuple(Column(**each) for each in answer["columns"])
        self.files = answer["files"]
        for key, value in answer["facts"].items():
            setattr(self, key, value)

    @contextmanager
    def _child(self) -> Iterator[_Child]:
        """Lend a child that has the source open, and say in one sentence why it ended if it does.

        One that is not done is ended.
        """
        if os.getpid() != self._owner:
            raise ValueError(self._foreign())
        child = self._taken() or _IDLE.take()
        with self._lock:
            self._used.append(child)
        try:
            if child.opened is not self._open:
                self._answer = child.ask(self._open)
                child.opened = self._open
            yield child
        except _ForeignError:
            raise ValueError(self._foreign()) from None
        except (_EndedError, _NoMemoryError, ValueError, MemoryError) as problem:
            if self._closed:
                raise ValueError(f"{self.name} is closed") from None
            if isinstance(problem, ValueError):
                raise
            raise ValueError(self._explain(problem)) from None
        finally:
            if os.getpid() == self._owner:
                self._returned(child)

    def _taken(self) -> _Child | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _returned(self, child: _Child) -> None:
        with self._lock:
            self._used.remove(child)
            kept = not child.busy and not self._closed
            if kept:
                self._free.append(child)
        if not kept:
            child.kill()

    def _foreign(self) -> str:
        return f"{self.name} was opened in another process; open it again in this one"

    def _explain(self, problem: Exception) -> str:
        what = "the query fails" if self._query else f"{self.name} cannot be read"
        if isinstance(problem, MemoryError):
            return f"{what}: this process has not enough memory for the next rows"
        reason = problem.args[0]
        if isinstance(problem, _NoMemoryError):
            more = "more memory than there is" if reason is None else f"more than {byte_size(reason)} of memory"
            return f"{what}: it needs {more}; is it damaged?"
        name = _status(reason)
        if name == "SIGXCPU":
            step, doubt = ("opening its file", "the file") if self._query else ("it", "it")
            limit = f"{seconds_for(self._size)} seconds of processor time"
            return f"{what}: {step} took more than {limit}; is {doubt} damaged?"
        if name == "SIGKILL":
            return f"{what}: the process that read it was killed (SIGKILL), perhaps for lack of memory"
        damaged = "a file that it reads may be damaged" if self._query else "the file is damaged"
        return f"{what}: the library that reads it crashed ({name}); {damaged}"

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        if rows < 1:
            raise ValueError(f"rows must be at least 1; got {rows}")
        if self._closed:
            raise ValueError(f"{self.name} is closed")
        self.places(names)
        with self._child() as child:
            child.send({"batches": list(names), "rows": rows})
            try:
                for batch, self._fraction in _batches(child):
                    yield batch
            except GeneratorExit:
                if not self._closed:
                    with suppress(*_FAILURES):  # nobody reads the rest
                        child.stop()
                raise

    def fraction(self) -> float | None:
        """Return how much of the last pass has been read."""
        return self._fraction

    def close(self) -> None:
        """Let the children go, and remove their temporary folder."""
        self._closed = True
        if os.getpid() != self._owner:
            return
        while (child := self._taken()) is not None:
            try:
                child.opened = None
                child.ask({"close": True})
            except _FAILURES:
                child.kill()
            except BaseException:
                child.kill()
                raise
            else:
                _IDLE.give(child)
        _ended(self._free, self._used, self._scratch)


def _batches(child: _Child) -> Iterator[tuple[pa.RecordBatch, float | None]]:
    import pyarrow as pa

    schema = None
    while True:
        what, content, fraction = child.frame()
        if what == ANSWER:
            return
        if what == SCHEMA:
            schema = pa.ipc.read_schema(content)
        elif what == STREAM:
            yield pa.ipc.open_stream(content).read_next_batch(), fraction
        else:
            yield pa.ipc.read_record_batch(content, schema), fraction


def _status(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def _here() -> str | None:
    """Return the folder that this process works in; None if it is gone or hidden."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _ended(free: list[_Child], used: list[_Child], scratch: ScratchFolder) -> None:
    for child in (*free, *used):
        child.kill()
    scratch.close()


def can_be_apart() -> bool:
    """Return whether a child process can be started here: not in a browser, nor where Python is part of a program."""
    return bool(sys.executable) and sys.platform not in ("emscripten", "wasi") and not getattr(sys, "frozen", False)
