"""What a comparison is asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.tables.compare.contenders import CONTENDERS
from separatrix.tables.fit import Settings


@dataclass
class Plan:
    """How to compare.

    Parameters
    ----------
    models : tuple of str
        Names of contenders.
    test : float
        The share of rows to hold out.
    folds : int, optional
        Hold out each of so many parts in turn instead.
    epochs : int, optional
        The most epochs, for those that have any.
    seed : int
        Where the split and the orders come from.
    time_limit : float
        Seconds for each contender.
    certify : float
        Seconds for the certificate of the data; 0 for none.
    scaling : bool
        Whether to measure the time to predict against the rows learned from, too.
    """

    models: tuple[str, ...] = tuple(CONTENDERS)
    test: float = 0.2
    folds: int | None = None
    epochs: int | None = None
    seed: int = 0
    time_limit: float = 30.0
    certify: float = 5.0
    scaling: bool = False

    def __post_init__(self) -> None:
        checked = {name: getattr(self, name) for name in ("test", "epochs", "time_limit", "seed", "certify")}
        Settings(**checked)
        if self.test == 0 and self.folds is None:
            raise ValueError("--test 0 leaves no rows to compare on; hold some out, or use --folds")
        if self.folds is not None and self.folds < 2:
            raise ValueError(f"--folds must be at least 2; found {self.folds}")
