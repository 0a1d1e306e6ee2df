"""The child process that reads a file on behalf of its parent (`apart`): what crashes it leaves the parent alive.

The parent writes requests to standard input, each a line of JSON, and reads frames from standard output: a head (what
it is, its length, the fraction read), then JSON or a record batch of Arrow. A child serves one source after the other,
ends when its parent does, and takes no signal that is meant for the parent.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import tempfile
import threading
import traceback
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO

from separatrix.tables.sources.base import TableSource

if TYPE_CHECKING:
    import pyarrow as pa

HEAD = struct.Struct("<cQd")  # what, length, fraction (nan if it is not known)
ANSWER, SCHEMA, BATCH, STREAM = b"j", b"s", b"b", b"d"
GREETING = b"separatrix reads\n"  # the first bytes, so that no other program is taken for a child
_LEAST_MEMORY = 4 << 30  # bytes of address space, of which engines reserve much that they do not use
_SECONDS = 15  # of processor time for any request
_PACE = 2 << 20  # and more for a large file: a second for each of so many bytes


class _Child:
    """One child, from its first request to its last."""

    def __init__(self, requests: BinaryIO, out: BinaryIO) -> None:
        self._in, self._out = requests, out
        self._source: TableSource | None = None
        self._size: int | None = None
        self._moved = False
        self._requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stopped = threading.Event()

    def listen(self) -> None:
        """Take requests as they come, also while one is answered; end with the parent."""
        try:
            for line in self._in:
                request = json.loads(line)
                if "stop" in request:
                    self._stopped.set()
                else:
                    self._requests.put(request)
        finally:  # a child that nobody can ask for anything must not stay
            os._exit(0)

    def serve(self) -> None:
        """Answer one request after the other."""
        threading.Thread(target=self.listen, daemon=True).start()
        self._out.write(GREETING)
        self._out.flush()
        while True:
            request = self._requests.get()
            try:
                self._limit_time()
                self._answer(request)
            except MemoryError:
                self._send({"memory": _memory_limit()})
            except ValueError as problem:
                self._send({"error": str(problem)})
            except BaseException:
                self._send({"unexpected": traceback.format_exc()})

    def _answer(self, request: dict[str, Any]) -> None:
        if "open" in request:
            self._open(request)
        elif "batches" in request:
            self._read(request["batches"], request["rows"])
        else:
            self._close()
            self._send({"closed": True})

    def _open(self, request: dict[str, Any]) -> None:
        from separatrix.tables.sources.opening import TextOptions, open_files  # which imports this module

        self._enter(request["here"], request["scratch"])
        tempfile.tempdir = request["scratch"]
        self._size = request["size"]
        self._limit_time()
        files, names, name, sql, frugal, how = request["open"]
        source = open_files(files, names, name, sql, frugal, TextOptions(**how), apart=False)
        assert isinstance(source, TableSource)
        self._source = source
        self._send(
            {
                "columns": [asdict(column) for column in source.columns],
                "facts": {key: getattr(source, key) for key in ("name", "n_rows", "mark", "log", "notes")},
                "files": list(source.files),
            }
        )

    def _enter(self, here: str | None, scratch: str) -> None:
        """Go where the parent is, for relative names; a new child is there, also where the folder has no path."""
        try:
            if here is None:
                raise FileNotFoundError
            os.chdir(here)
            self._moved = True
        except OSError:
            if self._moved:
                os.chdir(scratch)  # where relative names mean nothing

    def _read(self, names: list[str], rows: int) -> None:
        source = self._source
        assert source is not None
        self._stopped.clear()
        first = True
        for batch in source.batches(names, rows=rows):
            if first:
                self._frame(SCHEMA, batch.schema.serialize())
                first = False
            what, content = _packed(batch)
            self._frame(what, content, source.fraction())
            if self._stopped.is_set():
                break
            self._limit_time()
        self._send({"end": True})

    def _close(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def _send(self, answer: dict[str, Any]) -> None:
        self._frame(ANSWER, json.dumps(answer).encode())

    def _frame(self, what: bytes, content: Any, fraction: float | None = None) -> None:
        view = memoryview(content)
        self._out.write(HEAD.pack(what, view.nbytes, float("nan") if fraction is None else fraction))
        self._out.write(view)
        self._out.flush()

    def lift_time_limit(self) -> None:
        """Set no limit on processor time until the next source is opened."""
        self._size = None
        self._limit_time()

    def _limit_time(self) -> None:
        """Allow processor time for the next step; a query may take as long as it needs."""
        try:
            import resource
        except ImportError:  # not on Windows
            return
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soft = resource.RLIM_INFINITY
        if self._size is not None:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            soft = int(usage.ru_utime + usage.ru_stime) + seconds_for(self._size)
        if hard != resource.RLIM_INFINITY:
            soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


_SERVING: list[_Child] = []  # the one of this process, if it is a child


def lift_time_limit() -> None:
    """Let the query or view that is being opened take its time, if a child opens it."""
    for child in _SERVING:
        child.lift_time_limit()


def seconds_for(size: int) -> int:
    """Return the processor time that a child has for one step with files of this size."""
    return _SECONDS + size // _PACE


def _packed(batch: pa.RecordBatch) -> tuple[bytes, Any]:
    """Return a batch as bytes: alone, or with the dictionaries that it needs."""
    if not any("dictionary<" in str(field.type) for field in batch.schema):
        return BATCH, batch.serialize()
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return STREAM, sink.getvalue()


def _memory_limit() -> int | None:
    """Return the most bytes that this process may take; None where there is no way to limit them."""
    try:
        import resource

        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ImportError, ValueError, OSError):
        return None
    most = max(_LEAST_MEMORY, physical // 2)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return most if soft == resource.RLIM_INFINITY else min(soft, most)


def main() -> None:
    """Serve the parent until it ends."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    most = _memory_limit()
    if most is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    requests, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # what a library reads or prints must not come between the frames
    os.dup2(2, 1)
    _SERVING.append(_Child(requests, out))
    _SERVING[0].serve()
