"""Where `scripts/soak` works: tables, commands in processes of their own, and the checks after each action."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

READY = "SOAK_READY"  # the variable with the pipe on which a command says that it begins: signals come later than that
COMMAND = f"""import contextlib, os
from separatrix.cli import main
with contextlib.suppress(OSError):  # of several commands at once only the last is listened to
    os.write(int(os.environ['{READY}']), b'1')
main()"""
FORMATS = ("csv", "parquet", "jsonl", "sqlite", "libsvm")
PATIENCE = 180.0  # seconds for a command
GROWTH = 8 << 10  # kilobytes that this process may grow by
Limits = Callable[[], None] | None


class SoakError(Exception):
    """Something that must hold does not."""


class Workplace:
    """The folder, what is in it, and the commands."""

    def __init__(self, folder: Path, seed: int, small: Path | None) -> None:
        self.folder, self.seed, self.small = folder, seed, small
        self.data, self.work, self.temporary = folder / "data", folder / "work", folder / "tmp"
        for each in (self.data, self.work, self.temporary):
            each.mkdir()
        self.tables: dict[str, dict[str, Path]] = {}  # by family: train and more, in every format
        self.inputs: dict[Path, str] = {}
        self.models: dict[Path, tuple[str, str]] = {}  # path to family and kind
        self.updates: dict[Path, int] = {}
        self.answers: dict[tuple[str, str], str] = {}  # hash of what a model predicted for a file
        self.expected: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.failures = 0
        self.commands = 0
        self.resident: list[int] = []
        self.seconds = 1.0  # that a command takes, about
        self._ready: int | None = None
        self._started: list[subprocess.Popen[str]] = []
        self.log: list[str] = []
        self._after_a_kill = False
        self._whole: dict[Path, tuple[int, int]] = {}

    def make_tables(self, chance: random.Random) -> None:
        """Write small and larger tables in every format."""
        for family, rows in (("small", 60), ("wide", 120), ("medium", 20_000)):
            self.tables[family] = {}
            for part in ("train", "more"):
                for kind in FORMATS:
                    path = self.data / f"{family}-{part}.{kind}"
                    write_table(path, random.Random(f"{family} {part}"), rows, 12 if family == "wide" else 4)
                    self.tables[family][f"{part} {kind}"] = path
                    self.inputs[path] = digest(path)

    def table(self, chance: random.Random, family: str, part: str, libsvm: bool) -> Path:
        """Return a table of a family; models of libsvm files read no others."""
        kind = "libsvm" if libsvm else chance.choice([each for each in FORMATS if each != "libsvm"])
        return self.tables[family][f"{part} {kind}"]

    def run(
        self, *argv: str | Path, kill: tuple[signal.Signals, float] | None = None, limits: Limits = None,
        stdout: Any = subprocess.PIPE, **variables: str,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command, perhaps with limits, perhaps killed after this part of the time that a command takes."""
        started = self.start(*argv, limits=limits, stdout=stdout, **variables)
        if kill is not None:
            assert self._ready is not None
            os.read(self._ready, 1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(kill[1] * self.seconds)
            if started.poll() is None:
                started.send_signal(kill[0])
                self.counts[f"killed by {kill[0].name}"] += 1
        return self.end(started)

    def start(
        self, *argv: str | Path, limits: Limits = None, stdout: Any = subprocess.PIPE, **variables: str
    ) -> subprocess.Popen[str]:
        """Start a command in the working folder."""
        self.commands += 1
        given = "".join(f"{name}={value} " for name, value in variables.items())
        self.log.append(f"cd {self.work} && {given}separatrix {shlex.join(map(str, argv))}")
        if self._ready is not None:
            os.close(self._ready)
        self._ready, ready = os.pipe()
        try:
            started = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *map(str, argv)], cwd=self.work, text=True, stdout=stdout,
                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, preexec_fn=limits, pass_fds=[ready],
                env={**os.environ, "TMPDIR": str(self.temporary), READY: str(ready), **variables},
            )  # fmt: skip
        finally:
            os.close(ready)
        self._started = [each for each in self._started if each.poll() is None] + [started]
        return started

    def end_all(self) -> None:
        """End what a failed action has left running."""
        for each in self._started:
            if each.poll() is None:
                each.kill()
                each.communicate()

    def end(self, started: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        """Wait for a command; one that does not end is a failure."""
        try:
            out, err = started.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            started.kill()
            started.communicate()
            raise SoakError(f"the command did not end in {PATIENCE:g} s") from None
        self.log.append(f"  status {started.returncode}: {err.strip()[-500:]}")
        if "Traceback" in err:
            raise SoakError(f"a traceback: {err[-1500:]}")
        return subprocess.CompletedProcess(started.args, started.returncode, out, err)

    def must(self, *argv: str | Path, **more: Any) -> str:
        """Run a command that must succeed; return its output."""
        began = time.monotonic()
        done = self.run(*argv, **more)
        self.seconds = 0.8 * self.seconds + 0.2 * (time.monotonic() - began)
        if done.returncode:
            raise SoakError(f"status {done.returncode}: {done.stderr.strip()[-500:]}")
        return str(done.stdout)

    def check(self, every_byte: bool) -> None:
        """Hold what must be true after any action."""
        for path, known in self.inputs.items():
            if (every_byte or path.stat().st_size < 100_000) and digest(path) != known:
                self.inputs[path] = digest(path)
                raise SoakError(f"the input {path.name} was changed")
        for entry in sorted(self.data.iterdir()):
            if entry not in self.inputs:
                remove(entry)
                raise SoakError(f"{entry.name} was left beside the inputs")
        for path in sorted(self.work.glob("*.sx")):
            stamp = path.stat().st_mtime_ns, path.stat().st_size
            if self._whole.get(path) != stamp:
                self.load(path)
                self._whole[path] = stamp
        stray = [path for path in self.work.iterdir() if path.name not in self.expected]
        if self._after_a_kill:
            stray = [path for path in stray if path.suffix != ".part"]
        left = [] if self._after_a_kill else list(self.temporary.iterdir())
        for path in (*stray, *left):
            remove(path)
        if stray or left:
            raise SoakError(f"left behind: {', '.join(str(path.relative_to(self.folder)) for path in (*stray, *left))}")

    def load(self, path: Path) -> None:
        """Load a model; one that is not whole is a failure."""
        from separatrix.models.model_file import load

        try:
            load(path)
        except ValueError as problem:
            raise SoakError(f"{path.name} is not whole: {problem}") from None

    def grown(self) -> str | None:
        """Return what is said of a process that grows, None if it does not: the first third is for warming up."""
        rest = self.resident[len(self.resident) // 3 :]
        if len(rest) < 6:
            return None
        half = len(rest) // 2
        before, after = sorted(rest[:half])[half // 2], sorted(rest[half:])[half // 2]
        return f"resident memory grew from {before >> 10} to {after >> 10} MB" if after > before + GROWTH else None

    def status(self) -> str:
        """Return what is said every minute and at the end."""
        memory = (
            f", {self.resident[0] >> 10} MB resident at first and {self.resident[-1] >> 10} now"
            if self.resident
            else ""
        )
        return f"{self.commands:,} commands, {self.failures} failures{memory}"


def write_table(path: Path, chance: random.Random, rows: int, width: int) -> None:
    """Write numbers, categories and labels in the format of the path's ending."""
    import pyarrow as pa

    draw = np.random.default_rng(chance.getrandbits(32))
    X = draw.normal(size=(rows, width)).round(3)
    y = np.where(X.sum(axis=1) > 0, "yes", "no")
    columns: dict[str, Any] = {f"x{k}": X[:, k].tolist() for k in range(width)}
    columns["kind"] = [("red", "green", "blue")[k] for k in draw.integers(0, 3, rows)]
    columns["label"] = y.tolist()
    if path.suffix == ".libsvm":
        pairs = [" ".join(f"{k + 1}:{value}" for k, value in enumerate(row)) for row in X]
        path.write_text("".join(f"{1 if y[i] == 'yes' else -1} {pairs[i]}\n" for i in range(rows)))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({name: columns[name][i] for name in columns}) + "\n" for i in range(rows)))
    elif path.suffix == ".sqlite":
        import sqlite3

        with contextlib.closing(sqlite3.connect(path)) as made:
            made.execute(f"create table t ({', '.join(columns)})")
            cells = ", ".join("?" * len(columns))
            made.executemany(f"insert into t values ({cells})", zip(*columns.values(), strict=True))
            made.commit()
    elif path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path)
    else:
        import pyarrow.csv

        pyarrow.csv.write_csv(pa.table(columns), path)


def digest(path: Path) -> str:
    """Return a hash of the file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def processes_of(folder: Path) -> list[str]:
    """Return the commands that run with this folder in their environment; none where the system does not say."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.name != str(os.getpid()) and os.fsencode(folder) in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200])
    return found


def resident() -> int:
    """Return the resident memory of this process in kilobytes; its peak where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
