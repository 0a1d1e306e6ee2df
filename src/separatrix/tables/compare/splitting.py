"""The same rows for all: one split or several folds, each prepared from its own training rows, on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.collect import Collected
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.compare.plan import ComparisonPlan
from separatrix.tables.compare.trial import Trial
from separatrix.tables.folds import TooFewRowsError, make_folds
from separatrix.tables.prepare import check_classes, learn_preparation
from separatrix.tables.raw_rows import RawRows
from separatrix.tables.scores import RANKED, Metrics, Scores
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.split import TestSplit, split_by
from separatrix.tables.split_column import parse_split
from separatrix.tables.test_file import read_test


@dataclass
class Splits:
    """The data of a comparison.

    Attributes
    ----------
    folders : list of Path
        One trial each.
    truths : list of arrays
        For each trial the classes of its test rows, by code.
    counts : array
        Training rows of each class; with folds, all rows.
    rows : dict
        Numbers of training rows (with folds, the mean) and test rows.
    width : int
        Number of features after encoding.
    sparse : bool
        Whether rows are sparse matrices.
    scale : str
        How numbers are scaled.
    certified : tuple of X and y, or None
        The rows that are certified: the training rows, with folds all rows.
    """

    folders: list[Path]
    truths: list[NDArray[np.int32]]
    counts: NDArray[np.intp]
    rows: dict[str, int]
    width: int
    sparse: bool
    certified: Any
    scale: str = "none"

    @property
    def majority(self) -> int:
        """The majority class."""
        return int(self.counts.argmax())

    def scores(self, predictions: NDArray[Any], predicted: Any = slice(None)) -> Scores:
        """Return the scores of predictions of all test rows, or of those marked in ``predicted``."""
        scores = Scores.none(len(self.counts), self.majority)
        scores.add(np.concatenate(self.truths)[predicted], predictions)
        return scores

    def metrics(self, parts: Sequence[Any]) -> Metrics:
        """Return the metrics of scores and probabilities of measurements, with folds their means."""
        every = []
        for each, truth in zip(parts, self.truths, strict=True):
            own = Scores.none(len(self.counts), self.majority)
            actual = truth if each.rows is None else truth[each.rows]
            own.add(actual, each.predictions, each.scores, each.proba)
            every.append(own.finish())
        values = {name: [own.value(name) for own in every] for name in RANKED}
        return Metrics(**{
            name: None if None in known else float(np.mean(known))  # type: ignore[arg-type]
            for name, known in values.items()
        })  # fmt: skip

    def class_counts(self, classes: list[Any]) -> list[dict[str, Any]]:
        """Return each class with its number of rows."""
        return [
            {"label": label, "rows": int(n)} for label, n in zip(np.array(classes).tolist(), self.counts, strict=True)
        ]


def write_splits(
    collected: Collected,
    raw: RawRows,
    options: ColumnOptions,
    plan: ComparisonPlan,
    folder: Path,
    test_source: TableSource | MatrixSource | None = None,
) -> Splits:
    """Write the rows of each split to a folder below ``folder``; the test rows may be a source of their own."""
    labels = np.array(collected.classes)
    assert raw.labels is not None
    out = Splits([], [], np.bincount(raw.labels, minlength=len(labels)), {}, 0, False, None)
    n_train = []
    for place, (train_rows, test_rows) in enumerate(_splits(collected, raw, options, plan)):
        train = raw.take(train_rows)
        assert train.labels is not None
        when = (
            f"in fold {place + 1}; use fewer --folds"
            if plan.folds
            else f"with --test {plan.test:g}; use a smaller --test"
        )
        check_classes(collected, train.labels, when)
        made = learn_preparation(collected, options, train)
        preparation = made.preparation
        if test_source is None:
            test = raw.take(test_rows)
            X_test, truth = made.matrix(test), test.labels
        else:
            assert collected.chosen.target is not None
            tested = read_test(test_source, preparation, collected.classes, collected.chosen.target.name)
            X_test, truth = tested.X, tested.labels
        assert truth is not None
        trial = Trial(made.training_matrix(train, plan.seed), labels[train.labels], X_test)
        trial.write(folder / f"trial{place}")
        out.folders.append(folder / f"trial{place}")
        out.truths.append(truth)
        n_train.append(len(train))
        out.width, out.sparse, out.scale = preparation.width, preparation.sparse, preparation.scale
        if not plan.folds:
            out.counts = np.bincount(train.labels, minlength=len(labels))
            out.certified = trial.X, trial.y
    n_test = sum(map(len, out.truths))
    if plan.folds:
        whole = learn_preparation(collected, options, raw)
        out.certified = whole.training_matrix(raw, plan.seed), labels[raw.labels]
    out.rows = {"train": round(float(np.mean(n_train))), "held_out": n_test}
    return out


def _splits(
    collected: Collected, raw: RawRows, options: ColumnOptions, plan: ComparisonPlan
) -> Iterator[tuple[Any, Any]]:
    codes, by = raw.labels, None if options.split is None else parse_split(options.split)
    assert codes is not None
    counts = np.bincount(codes, minlength=len(collected.classes))
    if plan.test_file is not None:
        yield np.arange(len(raw)), np.zeros(0, dtype=np.intp)
    elif plan.folds is None:
        drawn = TestSplit(counts, plan.test, plan.seed) if by is None else split_by(by, raw.order, plan.test, plan.seed)
        yield drawn.rows(codes)
    elif by is None and counts.min() < plan.folds:
        rare = int(counts.argmin())
        raise ValueError(
            f"{collected.where}: class {str(collected.classes[rare])!r} has {counts[rare]} rows, too few for --folds "
            f"{plan.folds}: each fold needs at least one"
        )
    else:
        try:
            yield from make_folds(codes, collected.classes, plan.folds, plan.seed, by, raw.order)
        except TooFewRowsError as problem:
            raise ValueError(f"--folds {plan.folds}: {problem}") from None
