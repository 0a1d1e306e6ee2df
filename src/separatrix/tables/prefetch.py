"""Work that is done ahead, in a thread, while what is ready is used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
_WAITING = 2  # items that may be ready and not yet used


def done_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the same items, in the same order, each made while those before it are used; an error comes in its place.

    Examples
    --------
    >>> list(done_ahead(range(4)))
    [0, 1, 2, 3]
    """
    ready: queue.Queue[tuple[str, Any]] = queue.Queue(_WAITING)
    given_up = threading.Event()

    def put(kind: str, value: Any) -> bool:
        while not given_up.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
            put("end", None)
        except BaseException as problem:
            put("error", problem)

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        given_up.set()
        thread.join()
