"""The chosen columns of a table as features."""

from __future__ import annotations

from typing import Any

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.gathering import Gathered
from separatrix.tables.preparation import Feature, learn_words


def make_features(gathered: Gathered, asked: ColumnOptions, texts: list[Any]) -> tuple[Feature, ...]:
    """Return the columns as features: numbers, categories, texts, each in the table's order."""
    chosen = gathered.chosen
    features = [Feature(column.name, "number", column.kind) for column in chosen.numbers]
    for column, levels in zip(chosen.categories, gathered.levels, strict=True):
        features.append(Feature(column.name, "category", column.kind, levels=tuple(levels)))
    if asked.text_method == "hashed":
        return (*features, *(Feature(column.name, "text", "text") for column in chosen.texts))
    return (*features, *(learn_words(column.name, own) for column, own in zip(chosen.texts, texts, strict=True)))
