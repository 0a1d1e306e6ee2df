"""A model as other languages need it: columns, arithmetic on their numbers, a decision, labels. Nothing else.

Numbers and the order of additions are those of the package, so that a language whose floats are IEEE doubles can give
the same bits: dense rows are added in 16 lanes, sparse ones in 4 (``LANES``).

A row with missing values or an unknown category has no prediction, unless ``Input.fill`` or ``unknown`` say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.calibration import Calibration
from separatrix.tables.predict import proba_names, score_names

LANES, SPARSE_LANES = 16, 4  # number j is added to sum j mod 16; of a sparse row, entry p to sum p mod 4


@dataclass(frozen=True)
class Input:
    """A column, or one number of a row without column names.

    Attributes
    ----------
    name : str
        The column.
    role : {"number", "category", "text"}
        How it is read.
    fill : float, optional
        Of a number: what replaces a missing value. Without it, a row with a missing value has no prediction.
    optional : bool
        Of a category or text: whether a missing value is encoded as all zeros.
    levels : tuple of tuples of str
        Of a category: for each level its spellings, the model's own first.
    words : dict of str to int, optional
        Of a text: its unigrams and bigrams and their places; None where they are hashed.
    rarity : array, optional
        Of a text: the inverse document frequency of each word.
    place, width : int
        Where its numbers begin in a row, and how many they are; without ``gap``, if it is a number.
    gap : int, optional
        The place of the feature that is 1 where the value is missing.
    pooled : int, optional
        Of a category: the place of the feature that is 1 for every level that is not listed.
    notation : str
        Of a number that was text in the table: how it was written, as 1,234.5; SQL reads it so, and in all other
        targets the number itself is given.
    """

    name: str
    role: str
    place: int
    width: int
    fill: float | None = None
    optional: bool = False
    levels: tuple[tuple[str, ...], ...] = ()
    words: dict[str, int] | None = None
    rarity: Floats | None = None
    gap: int | None = None
    pooled: int | None = None
    notation: str = ""


class Linear(NamedTuple):
    """Activations ``w . x + b``, one for each one-vs-rest task."""

    weights: Floats  # (tasks, width)
    bias: Floats  # (tasks,)


class Layers(NamedTuple):
    """A network: ``a = sigmoid(a W + b)``, and no sigmoid at the end."""

    weights: list[Floats]  # (inputs, neurons) each
    biases: list[Floats]


class KernelExpansion(NamedTuple):
    """Activations ``sum_i coef_ik K(x, s_i) + b_k``.

    With ``pairs`` there is one activation for each pair of classes (one-vs-one), and each pair's winner gets a vote.
    """

    kernel: str  # linear, rbf or poly
    gamma: float
    degree: int
    coef0: float
    support: Floats  # (vectors, width)
    coef: Floats  # (vectors, activations)
    bias: Floats
    pairs: bool


class VoterSequence(NamedTuple):
    """The voters of one one-vs-rest task.

    The first has the activation ``start . x + bias``; voter j the one before it plus
    ``signed[j-1] * (K(x, s[rows[j-1]]) + square)``. ``counts`` are the votes of each.
    """

    start: Floats
    bias: float
    rows: NDArray[np.int64]
    signed: Floats
    counts: Floats
    square: float


class Voted(NamedTuple):
    """A score for each task: the fraction of votes for the class minus the fraction against it."""

    kernel: str
    gamma: float
    degree: int
    coef0: float
    support: Floats
    voters: list[VoterSequence]


Decision = Linear | Layers | KernelExpansion | Voted


@dataclass(frozen=True)
class Scorer:
    """All that is needed to predict a row.

    Attributes
    ----------
    inputs : tuple of Input
        The columns: numbers, then categories, then texts.
    named : bool
        Whether the columns have names of their own.
    steps : tuple of (operation, numbers)
        What is done to the number columns, in this order: "minus", "over", "times" or "plus" an array.
    sparse : bool
        Whether rows are sparse: their nonzero numbers are added in 4 lanes, the dense ones in 16.
    decision : Linear, Layers, KernelExpansion or Voted
        From numbers to activations.
    classes : list
        The labels: text, whole numbers, flags or floats.
    tie_is_positive : bool
        Of two classes: whether a score that equals the threshold means the second.
    unknown : {"zero", "null"}
        Whether an unknown category is encoded as all zeros, or its row has no prediction.
    target : str
        What is predicted.
    kind : str
        The estimator's class.
    others : tuple of str
        The other columns of the table that it was trained on, where they are known.
    threshold : float
        Of two classes: the score from which on (``tie_is_positive``) or above which a row is of the second.
    calibration : Calibration, optional
        From scores to probabilities; None where there are none.
    """

    inputs: tuple[Input, ...]
    named: bool
    steps: tuple[tuple[str, Floats], ...]
    sparse: bool
    decision: Decision
    classes: list[Any]
    tie_is_positive: bool
    unknown: str = "zero"
    target: str = "prediction"
    kind: str = "model"
    others: tuple[str, ...] = ()
    threshold: float = 0.0
    calibration: Calibration | None = None

    @property
    def width(self) -> int:
        """Number of features after encoding."""
        return sum(each.width for each in self.inputs) + len(self.gaps)

    @property
    def gaps(self) -> list[Input]:
        """The numbers with a feature that says that one is missing; these features stand behind the numbers."""
        return [each for each in self.inputs if each.role == "number" and each.gap is not None]

    @property
    def hot(self) -> int:
        """How many of the features of a row can be 1 besides its numbers: one for each gap and each category."""
        return len(self.gaps) + len(self.role("category"))

    def role(self, role: str) -> list[Input]:
        """Return the columns of this role."""
        return [each for each in self.inputs if each.role == role]

    @property
    def score_names(self) -> list[str]:
        """The names of the scores: one for one or two classes, one for each of more."""
        return score_names(self.classes)

    @property
    def proba_names(self) -> list[str]:
        """The names of the probabilities, one for each class; none where there are none."""
        return [] if self.calibration is None else proba_names(self.classes)
