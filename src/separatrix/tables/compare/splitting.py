"""The same rows for all: one split or several folds, each prepared from its own rows to learn from, on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.compare.plan import Plan
from separatrix.tables.compare.trial import Trial
from separatrix.tables.fit import check_classes, learn_preparation, split
from separatrix.tables.gathering import Gathered
from separatrix.tables.scores import Scores


@dataclass
class Divided:
    """What a comparison works on.

    Attributes
    ----------
    folders : list of Path
        One trial each.
    truths : list of arrays
        For each trial the classes of its held-out rows, by code.
    counts : array
        How many rows to learn from each class has; with folds, how many rows at all.
    rows : dict
        How many rows are learned from (with folds, in each on average) and held out.
    width : int
        How many numbers a row becomes.
    sparse : bool
        Whether rows are kept as sparse matrices.
    certified : tuple of X and y, or None
        What the certificate of the data is about: the rows to learn from, with folds all rows.
    """

    folders: list[Path]
    truths: list[NDArray[np.int32]]
    counts: NDArray[np.intp]
    rows: dict[str, int]
    width: int
    sparse: bool
    certified: Any

    @property
    def majority(self) -> int:
        """The commonest class."""
        return int(self.counts.argmax())

    def scores(self, answers: NDArray[Any], asked: Any = slice(None)) -> Scores:
        """Return how many answers are right, to all held-out rows or those that were asked."""
        found = Scores.none(len(self.counts), self.majority)
        found.add(np.concatenate(self.truths)[asked], answers)
        return found

    def class_counts(self, classes: list[Any]) -> list[dict[str, Any]]:
        """Return each class with how many rows it has."""
        return [
            {"label": label, "rows": int(n)} for label, n in zip(np.array(classes).tolist(), self.counts, strict=True)
        ]


def divide(gathered: Gathered, asked: ColumnOptions, plan: Plan, folder: Path) -> Divided:
    """Write the rows of each split to a folder below ``folder``."""
    raw, labels = gathered.raw, np.array(gathered.classes)
    assert raw is not None
    assert raw.labels is not None
    out = Divided([], [], np.bincount(raw.labels, minlength=len(labels)), {}, 0, False, None)
    for place, (learn, hold) in enumerate(_splits(gathered, plan)):
        learned, held = raw.take(learn), raw.take(hold)
        assert learned.labels is not None
        assert held.labels is not None
        when = (
            f"in fold {place + 1}; use fewer --folds"
            if plan.folds
            else f"once {plan.test:g} of the rows are held out; use a smaller --test"
        )
        check_classes(gathered, learned.labels, when)
        preparation = learn_preparation(gathered, learned, asked)
        trial = Trial(preparation.matrix(learned), labels[learned.labels], preparation.matrix(held))
        trial.write(folder / f"trial{place}")
        out.folders.append(folder / f"trial{place}")
        out.truths.append(held.labels)
        out.width, out.sparse = preparation.width, preparation.sparse
        if not plan.folds:
            out.counts = np.bincount(learned.labels, minlength=len(labels))
            out.certified = trial.X, trial.y
    held_out = sum(map(len, out.truths))
    if plan.folds:
        whole = learn_preparation(gathered, raw, asked)
        out.certified = whole.matrix(raw), labels[raw.labels]
    train = len(raw) - held_out if not plan.folds else round(len(raw) * (1 - 1 / plan.folds))
    out.rows = {"train": train, "held_out": held_out}
    return out


def _splits(gathered: Gathered, plan: Plan) -> Iterator[tuple[Any, Any]]:
    assert gathered.raw is not None
    codes = gathered.raw.labels
    assert codes is not None
    if plan.folds is None:
        yield split(codes, plan.test, plan.seed)
        return
    from sklearn.model_selection import StratifiedKFold

    counts = np.bincount(codes, minlength=len(gathered.classes))
    if counts.min() < plan.folds:
        rare = int(counts.argmin())
        raise ValueError(
            f"{gathered.where}: class {str(gathered.classes[rare])!r} has {counts[rare]} rows, too few for --folds "
            f"{plan.folds}: every fold needs one"
        )
    yield from StratifiedKFold(plan.folds, shuffle=True, random_state=plan.seed).split(codes, codes)
