"""A test set from a source of its own, read as the model reads rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.preparation import Preparation
from separatrix.tables.prepare import PreparedRows
from separatrix.tables.rows import ModelRows
from separatrix.tables.sources.base import MatrixSource, TableSource


@dataclass
class _Prepared:
    """What reading rows needs of a model that is not there yet."""

    preparation: Preparation
    classes_: NDArray[Any]
    target: str
    weight: None = None

    @property
    def feature_names_in_(self) -> list[str]:
        return [feature.name for feature in self.preparation.features]


def read_test(
    source: TableSource | MatrixSource, preparation: Preparation, classes: Sequence[Any], target: str
) -> PreparedRows:
    """Return the complete rows of a source, prepared as the training rows are; refuse a label that those lack."""
    model = _Prepared(preparation, np.array(classes), target)
    if isinstance(source, TableSource):
        source.settle()
    parts: list[Any] = []
    codes: list[NDArray[np.int32]] = []
    rows = ModelRows(model, source, labels="need")
    for block in rows:
        assert block.labels is not None
        whole = block.labelled
        strange = block.labels[whole] >= len(classes)
        if strange.any():
            label = rows.labels[int(block.labels[whole][strange][0])]
            raise ValueError(f"--test {source.name}: the label {label!r} is not a class of the training rows")
        if whole.any():
            parts.append(preparation.matrix(block.raw.take(whole)))
            codes.append(block.labels[whole])
    if not parts:
        raise ValueError(f"--test {source.name} has no complete row with a label")
    return PreparedRows(_joined(parts), np.concatenate(codes), None)


def _joined(parts: list[Any]) -> Any:
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")
