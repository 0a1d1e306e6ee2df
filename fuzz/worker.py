"""One process that runs one case after the other and tells of them on standard output; `fuzz/run` starts it.

    python fuzz/worker.py TARGET FOLDER SEED CASES        new cases
    python fuzz/worker.py TARGET FOLDER replay FILE ...   these cases
    python fuzz/worker.py replay FOLDER replay FILE ...   these cases, each of the target that its folder names

A case that ends the process, or never ends, is in FOLDER/case, where the parent finds it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import random
import re
import resource
import struct
import sys
import threading
import time
import traceback
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mutation import LONGEST
from outcomes import CaseError, check_sentence

MEMORY = 4 << 30  # bytes of address space
CORPUS = Path(__file__).parent / "corpus"
STATE = struct.Struct("<qd")  # the number of the case, and when it began
POOL = 400
WARM = ("csv", "json", "parquet")  # whose DuckDB is started once, not for each case


def main() -> None:
    """Run the cases."""
    name, place, seed, *rest = sys.argv[1:]
    folder = Path(place)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable((folder / "stack").open("w"))
    told = os.fdopen(os.dup(1), "w", buffering=1)
    for number, path in ((1, "printed"), (2, "printed")):
        os.dup2(os.open(folder / path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    from targets import TARGETS

    for each in ("here", "tmp"):
        (folder / each).mkdir(exist_ok=True)
    os.chdir(folder / "here")
    loop = Loop(folder, told)
    if seed == "replay":
        loop.run(
            (TARGETS[Path(path).parent.name if name == "replay" else name], Path(path).read_bytes()) for path in rest
        )
        return
    target, chance = TARGETS[name], random.Random(f"{name} {seed}")
    if name in WARM:
        _start_engine_once()
    loop.pool += [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))] + target.seeds(chance)
    loop.run((target, target.case(chance, loop.pool)) for _ in range(int(rest[0])))


class Loop:
    """The cases, their outcomes, and the pool of those whose outcome was new."""

    def __init__(self, folder: Path, told: Any) -> None:
        self.folder, self.told = folder, told
        self.pool: list[bytes] = []
        (folder / "new").mkdir()
        self.outcomes: set[str] = set()
        self.n_cases = 0
        self._printed = os.path.getsize(folder / "printed")
        (folder / "state").write_bytes(STATE.pack(-1, 0.0))
        with (folder / "state").open("r+b") as file:
            self._state = mmap.mmap(file.fileno(), STATE.size)
        self._handles = self._threads = 0

    def run(self, cases: Iterable[tuple[Any, bytes]]) -> None:
        """Run them, and tell how many every half second and of every failure."""
        last = time.monotonic()
        for target, raw in cases:
            (self.folder / "case").write_bytes(raw)
            self._state[:] = STATE.pack(self.n_cases, time.monotonic())
            try:
                outcome = self._outcome(target, raw)
            except CaseError as failure:
                outcome = f"failure {failure.kind}"
                saved = self.folder / f"failed-{self.n_cases}"
                saved.write_bytes(raw)
                self._tell(failure=failure.kind, detail=failure.detail, case=str(saved))
            self.n_cases += 1
            if outcome not in self.outcomes:
                self.outcomes.add(outcome)
                if len(raw) <= LONGEST and len(self.pool) < POOL:
                    self.pool.append(raw)
                    if not outcome.startswith("failure"):
                        (self.folder / "new" / f"{len(self.pool):03}-{zlib.crc32(raw):08x}").write_bytes(raw)
            if time.monotonic() - last > 0.5:
                last = time.monotonic()
                self._tell()
        self._state[:] = STATE.pack(-1, 0.0)
        self._tell(ended=True)

    def _tell(self, **more: Any) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.told.write(
            json.dumps({"cases": self.n_cases, "outcomes": len(self.outcomes), "peak": peak, **more}) + "\n"
        )

    def _outcome(self, target: Any, raw: bytes) -> str:
        try:
            with warnings.catch_warnings():
                _be_strict(target.name)
                outcome = str(target.check(raw, self.folder / "here"))
        except CaseError:
            raise
        except ValueError as problem:
            if type(problem) is not ValueError and not type(problem).__module__.startswith("separatrix"):
                raise CaseError("raw exception", _where(problem)) from None
            outcome = check_sentence(str(problem))
        except BaseException as problem:
            raise CaseError("raw exception", _where(problem)) from None
        finally:
            left = self._swept()
        if left:
            raise CaseError("left behind", ", ".join(left))
        size = os.path.getsize(self.folder / "printed")
        if size != self._printed:
            with (self.folder / "printed").open("rb") as file:
                file.seek(self._printed)
                text = file.read(300).decode("utf-8", "replace")
            self._printed = size
            raise CaseError("printed", text)
        if self.n_cases % 64 == 10:
            self._count_leaks()
        return outcome

    def _swept(self) -> list[str]:
        """Remove what is left in the working and the temporary folder, and name it."""
        left = []
        for name in ("here", "tmp"):
            for entry in list(os.scandir(self.folder / name)):
                left.append(f"{name}/{re.sub('[0-9a-z_]{8,}', '*', entry.name)}")
                with contextlib.suppress(OSError):
                    import shutil

                    shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
        return left

    def _count_leaks(self) -> None:
        handles, threads = (
            len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0,
            threading.active_count(),
        )
        if not self._handles:
            self._handles, self._threads = handles, threads
        if handles > self._handles + 40 or threads > self._threads + 40:
            more = f"{handles - self._handles} files, {threads - self._threads} threads"
            self._handles, self._threads = handles, threads
            raise CaseError("left open", more)


def _where(problem: BaseException) -> str:
    """Return an exception with the places in the code that it went through last."""
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}separatrix{os.sep}" in frame.filename] or frames
    places = [f"{Path(each.filename).name}:{each.lineno}" for each in (ours[-1], frames[-1])]
    return f"{type(problem).__name__} at {places[0]} ({places[1]}): {problem}"[:600]


def _be_strict(name: str) -> None:
    """Make every warning an error, except for models that were changed: their numbers overflow."""
    if name == "model_file":
        warnings.simplefilter("ignore")
        return
    warnings.simplefilter("error")
    from sklearn.exceptions import ConvergenceWarning

    warnings.simplefilter("ignore", ConvergenceWarning)


def _start_engine_once() -> None:
    import duckdb

    connect, started = duckdb.connect, {}

    def cursor(where: str, config: dict[str, str]) -> Any:
        key = str({name: value for name, value in config.items() if name != "temp_directory"})
        if key not in started:
            started[key] = connect(where, config=config)
        return started[key].cursor()

    duckdb.connect = cursor


if __name__ == "__main__":
    main()
