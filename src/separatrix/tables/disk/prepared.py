"""Rows on disk, prepared: scaled, coded, in float32, those to learn from and those held out; kept if asked to."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk.rowfile import RowFile, shrink
from separatrix.tables.features import make_features
from separatrix.tables.gathering import Gathered
from separatrix.tables.preparation import Preparation, is_wide
from separatrix.tables.raw_rows import RawRows

_WINDOW = 16 << 20  # bytes of rows in memory at once


@dataclass
class Prepared:
    """Rows that a model can learn from."""

    folder: Path
    train: RowFile
    test: RowFile | None
    preparation: Preparation
    classes: list[Any]
    target: str
    facts: dict[str, Any]
    mark: str

    def keep(self, key: str, folder: Path) -> Prepared:
        """Note what the rows are and move them to a folder where another run finds them; return them there.

        Until then they are in a folder of their own, so that two runs at once do not meet.
        """
        from separatrix.models.model_file import save

        save(self.preparation, self.folder / "preparation.sx")
        about: dict[str, Any] = {
            "key": key,
            "classes": self.classes,
            "target": self.target,
            "facts": self.facts,
            "mark": self.mark,
        }
        about["test"] = self.test is not None
        if self.test is not None:
            self.test.seal()
        self.train.seal()
        temporary = self.folder / "about.part"
        temporary.write_text(json.dumps(about), encoding="utf-8")
        os.replace(temporary, self.folder / "about.json")
        if self.reopen(folder, key) is not None:  # another run was faster
            return self
        try:
            shutil.rmtree(folder, ignore_errors=True)  # what is there is damaged
            os.rename(self.folder, folder)
        except OSError:
            return self
        return self.reopen(folder, key) or self

    @classmethod
    def reopen(cls, folder: Path, key: str) -> Prepared | None:
        """Return the rows that an earlier run kept under this key; None if there are none."""
        from separatrix.models.model_file import load

        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            if about["key"] != key:
                return None
            preparation = load(folder / "preparation.sx")
            train = RowFile.reopen(folder / "train")
            test = RowFile.reopen(folder / "test") if about["test"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if train is None or (about["test"] and test is None) or not isinstance(preparation, Preparation):
            return None
        return cls(folder, train, test, preparation, about["classes"], about["target"], about["facts"], about["mark"])


def cache_key(source: Any, asked: ColumnOptions, test: float, seed: int) -> str | None:
    """Return what the rows of a source depend on; None if a change of the source could not be noticed."""
    found = source.fingerprint()
    if found is None:
        return None
    text = json.dumps([__version__, found, asdict(asked), test, seed], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def prepare_on_disk(
    gathered: Gathered, asked: ColumnOptions, test: float, seed: int, folder: Path, watch: Callable[..., None]
) -> Prepared:
    """Scale and code the rows that lie on disk, and part them into those to learn from and those held out."""
    disk = gathered.disk
    assert disk is not None
    assert gathered.chosen.target is not None
    chosen = gathered.chosen
    rows = max(1, min(1 << 16, _WINDOW // max(8 * (len(chosen.order) + 4), 1)))
    moments, counts, first = Moments(), np.zeros(len(gathered.classes), dtype=np.int64), None
    done = 0
    for raw in gathered.windows(rows):
        first = raw.take(slice(0, 1)) if first is None else first
        learned = raw.take(~held_out(done, len(raw), test, seed))
        assert learned.labels is not None
        counts += np.bincount(learned.labels, minlength=len(counts))
        moments.add(learned.numbers)
        done += len(raw)
        watch("scale", part=done / disk.n)
    assert first is not None
    if (counts == 0).any():
        rare = gathered.classes[int(np.flatnonzero(counts == 0)[0])]
        raise ValueError(f"{gathered.where}: no row of class {str(rare)!r} is left to learn from; use --test 0")
    preparation = _preparation(gathered, asked, first, moments)
    weighted = first.weights is not None
    train = RowFile(folder / "train", preparation.width, sparse=preparation.sparse, weighted=weighted)
    held = RowFile(folder / "test", preparation.width, sparse=preparation.sparse, weighted=weighted) if test else None
    done = 0
    for raw in gathered.windows(rows):
        out = held_out(done, len(raw), test, seed)
        for file, part in ((train, raw.take(~out)), (held, raw.take(out))):
            if file is not None and len(part):
                assert part.labels is not None
                file.append(shrink(preparation.matrix(part), gathered.where), part.labels, part.weights)
        done += len(raw)
        watch("write", part=done / disk.n)
    disk.remove()
    facts: dict[str, Any] = {
        "separatrix": __version__,
        "source": gathered.where,
        "rows": {
            "read": gathered.n_read,
            "dropped": gathered.n_dropped,
            "train": train.n,
            "test": held.n if held else 0,
        },
        "missing": gathered.missing,
        "columns": {"used": list(chosen.order), "unused": list(chosen.unused), "numbers": preparation.width},
        "classes": [{"label": v, "rows": int(c)} for v, c in zip(gathered.classes, counts, strict=True)],
        "constant": [] if gathered.anonymous else moments.constant([c.name for c in chosen.numbers]),
    }
    return Prepared(folder, train, held, preparation, gathered.classes, gathered.chosen.target.name, facts, train.check)


def held_out(first: int, n: int, test: float, seed: int) -> NDArray[np.bool_]:
    """Return which of the rows from this number on are held out: a function of seed and number alone."""
    if not test:
        return np.zeros(n, dtype=bool)
    z = np.arange(first, first + n, dtype=np.uint64) + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) < np.uint64(int(test * 2**64)))


class Moments:
    """Means, spreads and ranges of number columns, seen some rows at a time (Chan, Golub and LeVeque 1979)."""

    def __init__(self) -> None:
        self.count: Any = 0.0
        self.mean: Any = 0.0
        self.square: Any = 0.0  # the sum of squared distances from the mean
        self.low: Any = None
        self.high: Any = None
        self._sparse = False

    def add(self, numbers: Any) -> None:
        """Look at more rows; NaN is missing."""
        if is_sparse(numbers):
            self._add_sparse(numbers)
            return
        if not numbers.shape[0]:
            return
        there = ~np.isnan(numbers)
        count = there.sum(axis=0).astype(np.float64)
        filled = np.where(there, numbers, 0.0)
        mean = filled.sum(axis=0) / np.maximum(count, 1)
        square = (np.where(there, numbers - mean, 0.0) ** 2).sum(axis=0)
        self._join(count, mean, square)
        low = np.where(there, numbers, np.inf).min(axis=0)
        high = np.where(there, numbers, -np.inf).max(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)

    def _add_sparse(self, numbers: Any) -> None:
        self._sparse = True
        n, width = numbers.shape
        if not n:
            return
        mean = np.bincount(numbers.indices, numbers.data, minlength=width) / n
        there = np.bincount(numbers.indices, minlength=width)
        off = numbers.data - mean[numbers.indices]
        square = np.bincount(numbers.indices, off * off, minlength=width) + (n - there) * mean * mean
        if self.count:
            self.mean, self.square = (_widened(values, width) for values in (self.mean, self.square))
        self._join(float(n), mean, square)

    def _join(self, count: Any, mean: Any, square: Any) -> None:
        total = self.count + count
        step = mean - self.mean
        part = count / np.maximum(total, 1)
        self.square = self.square + square + step * step * self.count * part
        self.mean = self.mean + step * part
        self.count = total

    def _spread(self) -> Floats:
        """Return the spreads; 1 for columns that rounding cannot tell from constant ones, as scikit-learn has it."""
        n = np.maximum(self.count, 1)
        variance, tiny = self.square / n, np.finfo(np.float64).eps
        constant = variance <= n * tiny * variance + (n * self.mean * tiny) ** 2
        return np.where(constant, 1.0, np.sqrt(variance))

    def scale(self, how: str, width: int) -> tuple[Floats, Floats]:
        """Return shift and factor, as scikit-learn's scalers find them; a constant column keeps its scale."""
        if how == "none" or not width:
            return np.zeros(width), np.ones(width)
        if self._sparse:
            return np.zeros(width), self._spread()
        if how == "standard":
            return self.mean.copy(), self._spread()
        width_of = np.where(self.high > self.low, self.high - self.low, 1.0)
        return -self.low / width_of, 1.0 / width_of

    def constant(self, names: list[str]) -> list[str]:
        """Return the columns that hold one value only."""
        if self.low is None:
            return []
        return [name for name, low, high in zip(names, self.low, self.high, strict=True) if low == high]


def _widened(values: Floats, width: int) -> Floats:
    return np.pad(values, (0, max(0, width - len(values))))


def _preparation(gathered: Gathered, asked: ColumnOptions, first: RawRows, moments: Moments) -> Preparation:
    sparse = is_sparse(first.numbers)
    scale = asked.scale or ("none" if sparse else "standard")
    if sparse and scale == "minmax":
        raise ValueError(f"{gathered.where} is sparse, which --scale minmax would undo; use standard or none")
    width = len(moments.mean) if sparse else first.numbers.shape[1]
    shift, factor = moments.scale(scale, width)
    if not (np.isfinite(shift).all() and np.isfinite(factor).all()):
        raise ValueError(f"{gathered.where} holds numbers too large to be scaled; use --scale none")
    means = np.zeros(width) if sparse or not width else np.asarray(moments.mean, dtype=np.float64)
    features = make_features(gathered, asked, [])
    wide = sparse or is_wide(features)
    return Preparation(features, asked.missing, scale, shift, factor, means, wide, gathered.anonymous)
