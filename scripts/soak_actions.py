"""What `scripts/soak` does at random."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import time
import warnings
from pathlib import Path

import numpy as np
from soak_workplace import SoakError, Workplace, digest, processes_of, resident

ON_DISK = (  # others need all rows in memory
    "averaged", "perceptron", "neuron", "online-svm", "pa", "arow", "scw", "nherd", "romma", "alma", "sop",
)  # fmt: skip
ONLINE = (*ON_DISK, "voted", "pocket")
MODELS = (*ONLINE, "logistic", "svm")
KILLED = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ACTIONS = {  # and how often they are chosen
    "fit": 2, "predict": 2, "update": 1, "certify": 1, "export": 1, "report": 1, "killed": 4, "full_disk": 2,
    "full_output": 1, "little_memory": 1, "concurrent_updates": 2, "library": 2,
}  # fmt: skip


class Actions(Workplace):
    """The actions; each takes its choices from a random generator."""

    def fit(self, chance: random.Random) -> None:
        """Fit, twice if chance wants it: both models predict the same."""
        argv, path, family, kind, libsvm = self._fit(chance)
        self.must(*argv, "-o", path.name)
        self._now_has(path, family, kind, libsvm)
        if chance.random() < 0.3:
            self.must(*argv, "-o", "again.sx")
            more = self.table(chance, family, "more", libsvm)
            same = {self.must("predict", name, more, "--scores") for name in (path.name, "again.sx")}
            (self.work / "again.sx").unlink()
            if len(same) > 1:
                raise SoakError("the same fit predicts other labels or scores")

    def _fit(self, chance: random.Random) -> tuple[list[str], Path, str, str, bool]:
        family, kind, libsvm = chance.choice(sorted(self.tables)), chance.choice(MODELS), chance.random() < 0.2
        rows = self.table(chance, family, "train", libsvm)
        argv = ["fit", str(rows), "--model", kind, "--seed", str(chance.randrange(9))]
        argv += ["--epochs", str(chance.choice((1, 3, 20)))] if kind != "svm" else []
        argv += [] if libsvm else ["--target", "label"]
        tight = chance.random() < 0.4 and kind in ON_DISK
        argv += ["--memory", chance.choice(("100KB", "1MB", "20MB"))] if tight else []
        argv += ["--certify", "0"] if chance.random() < 0.5 or family == "medium" else []
        return argv, self.work / f"m{chance.randrange(6)}.sx", family, kind, libsvm

    def _now_has(self, path: Path, family: str, kind: str, libsvm: bool) -> None:
        self.models[path] = family, kind + (" libsvm" if libsvm else "")
        self.updates[path] = 0
        self.expected.add(path.name)

    def _model(self, chance: random.Random, online: bool = False) -> tuple[Path, str, bool]:
        """Return a model, its family, and whether it reads libsvm; fit one if there is none."""
        while not (known := [path for path in sorted(self.models) if not online or self._is_online(path)]):
            self.fit(chance)
        path = chance.choice(known)
        return path, self.models[path][0], self.models[path][1].endswith("libsvm")

    def _is_online(self, path: Path) -> bool:
        return self.models[path][1].split()[0] in ONLINE

    def predict(self, chance: random.Random) -> None:
        """Predict: the same model and rows gave the same bytes whenever they were asked."""
        path, family, libsvm = self._model(chance)
        rows = self.table(chance, family, chance.choice(("train", "more")), libsvm)
        out = self.must("predict", path.name, rows, "--scores")
        key, printed = (digest(path), rows.name), hashlib.sha256(out.encode()).hexdigest()
        if self.answers.setdefault(key, printed) != printed:
            raise SoakError(f"{path.name} predicts something else for {rows.name} than before")
        if out.count("\n") < 10:
            raise SoakError(f"only {out.count(chr(10))} lines of predictions")

    def update(self, chance: random.Random) -> None:
        """Update a model."""
        path, family, libsvm = self._model(chance, online=True)
        self.must("update", path.name, self.table(chance, family, "more", libsvm))
        self.updates[path] += 1
        self._count_updates(path, self.updates[path], self.updates[path])

    def concurrent_updates(self, chance: random.Random) -> None:
        """Update a model by several processes at once while others read it: every success is in the model."""
        path, family, libsvm = self._model(chance, online=True)
        rows = self.table(chance, family, "more", libsvm)
        writers = [self.start("update", path.name, rows) for _ in range(chance.choice((2, 3)))]
        reader = self.start("predict", path.name, rows)
        done = [self.end(each) for each in writers]
        if self.end(reader).returncode:
            raise SoakError("a model could not be read while it was updated")
        for each in done:
            if each.returncode not in (0, 2):
                raise SoakError(f"status {each.returncode}: {each.stderr[-300:]}")
        good = sum(each.returncode == 0 for each in done)
        if not good:
            raise SoakError("no update of several went through")
        self.updates[path] += good
        self._count_updates(path, self.updates[path], self.updates[path])

    def _count_updates(self, path: Path, least: int, most: int) -> None:
        made = len(json.loads(self.must("inspect", path.name, "--json"))["updates"])
        if not least <= made <= most:
            self.updates[path] = made
            raise SoakError(f"{path.name} holds {made} updates; {least} to {most} went through")
        self.updates[path] = made

    def certify(self, chance: random.Random) -> None:
        """Certify a table and verify the proof."""
        family, libsvm = chance.choice(("small", "wide")), chance.random() < 0.2
        rows = self.table(chance, family, "train", libsvm)
        target = [] if libsvm else ["--target", "label"]
        self.must("certify", rows, *target, "--json", "proof.json", "--time-limit", "5")
        self.expected.add("proof.json")
        self.must("verify", "proof.json", rows, *target)
        other = self.table(chance, family, "more", libsvm)
        if self.run("verify", "proof.json", other, *target).returncode != 1:
            raise SoakError("a proof was verified, or not read, with other rows")

    def export(self, chance: random.Random) -> None:
        """Export a model twice: the same bytes."""
        path, _, _ = self._model(chance)
        to = chance.choice(("json", "sql", "c"))
        done = [self.run("export", path.name, "--to", to, "-o", f"out.{to}") for _ in range(2)]
        if any(each.returncode not in (0, 2) for each in done):
            raise SoakError(f"status {[each.returncode for each in done]}")
        if done[0].returncode == 0:
            first = digest(self.work / f"out.{to}")
            self.expected |= {f"out.{to}", *(["separatrix.js"] if to == "json" else [])}
            self.must("export", path.name, "--to", to, "-o", f"out.{to}")
            if digest(self.work / f"out.{to}") != first:
                raise SoakError("the same export has other bytes")

    def report(self, chance: random.Random) -> None:
        """Write a report."""
        path, family, libsvm = self._model(chance)
        self.must("report", path.name, self.table(chance, family, "more", libsvm), "-o", "report.html")
        self.expected.add("report.html")
        if not (self.work / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"):
            raise SoakError("the report is not whole")

    def killed(self, chance: random.Random) -> None:
        """Kill a command that writes; the file is the old one or the new one."""
        cause, after = chance.choice(KILLED), chance.random() * 1.2
        what = chance.choice(("fit", "fit", "update", "predict", "certify", "report"))
        if what == "fit":
            argv, path, family, kind, libsvm = self._fit(chance)
            argv += ["-o", path.name]
            was = digest(path) if path.exists() else None
        else:
            path, family, libsvm = self._model(chance, online=what == "update")
            rows = self.table(chance, family, "more", libsvm)
            names = {"predict": "answers.csv", "certify": "proof.json", "report": "report.html"}
            extra = [] if what == "update" else ["--json" if what == "certify" else "-o", names[what]]
            extra += ["--time-limit", "3"] if what == "certify" else []
            argv = [what, path.name, str(rows), *extra]
            self.expected |= {"answers.csv", "proof.json", "report.html"} & set(extra)
        done = self.run(*argv, kill=(cause, after))
        self._after_a_kill = self._after_a_kill or cause is signal.SIGKILL
        allowed = {0, -cause, 130, 128 + cause, *((2, 1) if cause is not signal.SIGKILL else ())}
        if done.returncode not in allowed:
            raise SoakError(f"status {done.returncode} after {cause.name}: {done.stderr[-500:]}")
        if what == "fit" and path.exists() and digest(path) != was:
            self._now_has(path, family, kind, libsvm)
        if what == "update":
            self._count_updates(path, self.updates[path] + (done.returncode == 0), self.updates[path] + 1)

    def full_disk(self, chance: random.Random) -> None:
        """Write to a disk that is too small: an error and nothing left, or a whole file."""
        path, family, libsvm = self._model(chance)
        rows = self.table(chance, "medium" if family == "medium" else family, "more", libsvm)
        folder = self.small or self.work / "limited"
        folder.mkdir(exist_ok=True)
        room = chance.choice((0, 5_000, 40_000))
        limits = None
        if self.small is None:

            def limits() -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (room + 1, room + 1))

        else:
            free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
            (folder / "filling").write_bytes(bytes(max(0, free - room)))
        variables = {"PYTHONUNBUFFERED": "1"} if chance.random() < 0.3 else {}
        output = folder / "out"
        argv = chance.choice((
            ["predict", path.name, str(rows), "-o", f"{output}.csv"],
            ["report", path.name, str(rows), "-o", f"{output}.html"],
            ["export", path.name, "--to", "json", "-o", f"{output}.json"],
            ["update", path.name, str(rows), "-o", f"{output}.sx"],
            [*self._fit(chance)[0], "-o", f"{output}.sx"],
        ))  # fmt: skip
        if chance.random() < 0.3:
            variables["TMPDIR"] = str(folder)
        try:
            done = self.run(*argv, limits=limits, **variables)
            left = sorted(each.name for each in folder.iterdir() if each.name != "filling")
            if done.returncode not in (0, 1, 2):
                raise SoakError(f"status {done.returncode}: {done.stderr[-300:]}")
            if done.returncode and left:
                raise SoakError(f"status {done.returncode} on a full disk, and {left} is left: {done.stderr[-300:]}")
            for name in left:
                if not name.startswith("out.") and name != "separatrix.js":
                    raise SoakError(f"{name} is left on the full disk")
                if name.endswith(".sx"):
                    self.load(folder / name)
        finally:
            for each in folder.iterdir():
                shutil.rmtree(each) if each.is_dir() else each.unlink()
            if self.small is None:
                folder.rmdir()

    def full_output(self, chance: random.Random) -> None:
        """Print to a device that takes nothing: never success."""
        path, family, libsvm = self._model(chance)
        variables = {"PYTHONUNBUFFERED": "1"} if chance.random() < 0.5 else {}
        rows = self.table(chance, family, "more", libsvm)
        argv = chance.choice((["predict", path.name, rows], ["inspect", path.name, "--json"]))
        with open("/dev/full", "w") as full:
            done = self.run(*argv, stdout=full, **variables)
        if done.returncode != 1:
            raise SoakError(f"status {done.returncode} when the output could not be written: {done.stderr[-300:]}")

    def little_memory(self, chance: random.Random) -> None:
        """Run with little address space: success or a sentence."""
        room = chance.choice((1200, 2000, 2400, 3200, 4500)) << 20

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (room, room))

        argv, path, family, kind, libsvm = self._fit(chance)
        was = digest(path) if path.exists() else None
        done = self.run(*argv, "-o", path.name, limits=limits, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        if done.returncode not in (0, 2):
            raise SoakError(f"status {done.returncode} in {room >> 20} MB of address space: {done.stderr[-300:]}")
        if path.exists() and digest(path) != was:
            self._now_has(path, family, kind, libsvm)

    def library(self, chance: random.Random) -> None:
        """Fit, certify, save, load and predict inside this process, many times."""
        import separatrix as sx

        for _ in range(20):
            draw = np.random.default_rng(chance.getrandbits(32))
            X = draw.integers(-5, 6, (chance.choice((6, 40, 300)), chance.choice((2, 5)))).astype(float)
            noise = draw.normal(size=len(X)) * chance.choice((0.0, 1.0))
            y = (X @ draw.normal(size=X.shape[1]) + noise > 0).astype(int)
            if len(set(y.tolist())) < 2:
                continue
            kinds = (
                sx.Perceptron, sx.Neuron, sx.OnlineSVM, sx.PassiveAggressive, sx.AROW, sx.SCW, sx.NHERD, sx.ROMMA,
                sx.ALMA, sx.SecondOrderPerceptron, sx.LinearSVM, sx.KernelPerceptron, sx.KernelSVM,
            )  # fmt: skip
            maker = chance.choice(kinds)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = maker(max_iter=chance.choice((1, 5))).fit(X, y)
            path = self.temporary / "inside.sx"
            sx.save(model, path)
            if not np.array_equal(sx.load(path).predict(X), model.predict(X)):
                raise SoakError(f"a {maker.__name__} predicts something else after it was loaded")
            path.unlink()
            if len(X) <= 40:
                proof = sx.certify(X, y, time_limit=2.0)
                if not proof.verify(X, y):
                    raise SoakError("a certificate does not hold")
        gc.collect()
        self.resident.append(resident())

    def settle_after_a_kill(self, chance: random.Random) -> None:
        """After a kill the next command removes what was left: every part of a file, every temporary folder."""
        until = time.monotonic() + 10
        while (running := processes_of(self.folder)) and time.monotonic() < until:
            time.sleep(0.05)
        if running:
            raise SoakError(f"what a killed command had started goes on: {running[0]}")
        parts = list(self.work.glob(".*.part"))
        for name in sorted({part.name[1:].rsplit(".", 2)[0] for part in parts}):
            if name.endswith(".sx"):  # the next command that writes there
                rows = self.table(chance, "small", "train", libsvm=False)
                self.must("fit", rows, "--target", "label", "--certify", "0", "-o", name)
                self._now_has(self.work / name, "small", "averaged", libsvm=False)
            else:
                for part in (part for part in parts if part.name.startswith(f".{name}.")):
                    part.unlink()
        for path in self.temporary.iterdir():
            if path.is_file() and path.read_bytes() in (b"", b"blat"):  # with which Python tries whether it can write
                path.unlink()
        if list(self.temporary.iterdir()):
            argv, path, family, kind, libsvm = self._fit(chance)
            self.must(*argv, "-o", path.name)
            self._now_has(path, family, kind, libsvm)
        self._after_a_kill = False
