"""The settings of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from separatrix.tables.compare.contenders import CONTENDERS, Recipe
from separatrix.tables.scores import METRICS
from separatrix.tables.settings import Settings


@dataclass
class ComparisonPlan:
    """What to compare, and how.

    Parameters
    ----------
    models : tuple of str
        Names of contenders.
    test : float
        Fraction of rows in the test set.
    folds : int, optional
        Number of cross-validation folds, instead of a test set.
    epochs : int, optional
        Maximum number of epochs, for iterative models.
    seed : int
        Random seed.
    time_limit : float
        Seconds for each contender.
    certify : float
        Seconds for the certificate of the data; 0 for none.
    scaling : bool
        Whether to measure prediction time against the number of training rows, too.
    metric : str, optional
        By what the contenders are ordered, a name of ``separatrix.tables.scores.METRICS``; by default accuracy, for two
        classes of which one is rare balanced accuracy.
    parameters : dict of dict
        Parameters of contenders, by name of the contender and of the parameter.
    test_file : str, optional
        The file of the test rows, where it is one of its own.
    """

    models: tuple[str, ...] = tuple(CONTENDERS)
    test: float = 0.2
    folds: int | None = None
    epochs: int | None = None
    seed: int = 0
    time_limit: float = 30.0
    certify: float = 5.0
    scaling: bool = False
    metric: str | None = None
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    test_file: str | None = None

    def __post_init__(self) -> None:
        checked = {name: getattr(self, name) for name in ("test", "epochs", "time_limit", "seed", "certify")}
        Settings(**checked)
        if self.metric is not None and self.metric not in METRICS:
            raise ValueError(f"--metric must be one of {', '.join(METRICS)}; found {self.metric!r}")
        if self.test == 0 and self.folds is None and self.test_file is None:
            raise ValueError("--test 0 leaves no test rows to compare on; use a larger --test, or --folds")
        if self.folds is not None and self.folds < 2:
            raise ValueError(f"--folds must be at least 2; found {self.folds}")

    def recipe(self, name: str) -> Recipe:
        """Return how to make a contender."""
        return Recipe(self.epochs, self.seed, self.parameters.get(name, {}))
