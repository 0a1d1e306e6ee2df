"""How to fit: the model, the test set, limits, and how much memory rows may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.tables.calibration import check_method
from separatrix.tables.class_weights import parse_class_weight
from separatrix.tables.folds import FOLDS
from separatrix.tables.kinds import MODELS, stop_rule
from separatrix.tables.memory import available, size_of_files
from separatrix.tables.thresholds import parse_threshold

if TYPE_CHECKING:
    from separatrix.tables.disk.cluster import Cluster

COPIES = 3  # of the rows that a fit in memory holds at its peak
_SHARE = 0.6  # of the memory that is available


PROVEN = ("svm", "logistic")  # whose choice of C can be proved


@dataclass(frozen=True)
class Settings:
    """How to fit.

    Parameters
    ----------
    model : str
        One of ``kinds.MODELS``.
    test : float
        The fraction of rows in the test set; 0 for none.
    epochs : int, optional
        The maximum number of epochs.
    time_limit : float, optional
        Seconds for training.
    seed : int
        Random seed of the test set and of the order of rows.
    parameters : dict
        More parameters of the estimator.
    certify : float, optional
        Seconds for the certificate of the data; 0 for none. By default a tenth of the time of the fit so far, from 0.2
        to 5 (and where other processes take the processors up to 2.5 times the least).
    stop : str, optional
        When to stop training, besides the limits, as ``separatrix.stops.parse`` reads it; by default as the model does.
    class_weight : str, optional
        Weights of classes: "balanced", or by label, as in ``"yes=5,no=1"``.
    calibrate : {"sigmoid", "isotonic", "temperature", "none"}, optional
        How scores become probabilities; by default "sigmoid" where the model has none of its own.
    threshold : str, optional
        How the decision between two classes is made: a probability, "max-f1", "recall=0.9", "precision=0.9" or
        "cost=5:1".
    positive : str, optional
        The class that the threshold is about; by default the second.
    cv : int, optional
        Number of cross-validation folds: scores are computed on them.
    test_file : str, optional
        The file of the test set, where it is one of its own.
    tune : bool
        Whether to choose the model's strength by cross-validation.
    within : float, optional
        With ``tune``, for the linear SVM and logistic regression: choose C so that provably no other of the range has
        an accuracy higher by more than this.
    """

    model: str = "averaged"
    test: float = 0.2
    epochs: int | None = None
    time_limit: float | None = None
    seed: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    certify: float | None = None
    stop: str | None = None
    class_weight: str | None = None
    calibrate: str | None = None
    threshold: str | None = None
    positive: str | None = None
    cv: int | None = None
    test_file: str | None = None
    tune: bool = False
    within: float | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"--model must be one of {', '.join(MODELS)}; found {self.model!r}")
        if not 0 <= self.test < 1:
            raise ValueError(f"--test must be at least 0 and below 1; found {self.test:g}")
        if self.epochs is not None and self.epochs < 1:
            raise ValueError(f"--epochs must be at least 1; found {self.epochs}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"--time-limit must be a positive number of seconds; found {self.time_limit:g}")
        if self.certify is not None and not self.certify >= 0:  # nor is nan
            raise ValueError(f"--certify must be a number of seconds, at least 0; found {self.certify:g}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"--seed must be from 0 to 2^32 - 1; found {self.seed}")
        if self.stop is not None:
            stop_rule(self.model, self.stop)
        if self.class_weight is not None:
            parse_class_weight(self.class_weight)
            if "class_weight" in self.parameters:
                raise ValueError("--class-weight and --param class_weight are the same: give one of them")
        self._check_decisions()

    def _check_decisions(self) -> None:
        if self.calibrate is not None:
            check_method(self.calibrate)
        if self.threshold is not None:
            rule = parse_threshold(self.threshold)
            if rule.name == "probability" and self.calibrate == "none":
                raise ValueError(
                    f"--threshold {self.threshold} is a probability: use --calibrate sigmoid, isotonic or temperature"
                )
        if self.positive is not None and self.threshold is None:
            raise ValueError("--positive names the class that --threshold is about: give both")
        if self.cv is not None and self.cv < 2:
            raise ValueError(f"--cv must be at least 2 folds; found {self.cv}")
        if self.within is not None:
            if not self.tune:
                raise ValueError("--within says how near to the best --tune must come: give both")
            if self.model not in PROVEN:
                raise ValueError(f"--within needs --model {' or '.join(PROVEN)}; found {self.model!r}")
            if not 0.0 < self.within < 1.0:  # nor is nan
                raise ValueError(f"--within must be a number between 0 and 1, such as 0.005; found {self.within:g}")

    @property
    def folds(self) -> int:
        """Number of folds for calibration, thresholds, tuning and cross-validation."""
        return FOLDS if self.cv is None else self.cv


@dataclass(frozen=True)
class MemoryBudget:
    """How much memory rows may take; beyond it they are kept on disk.

    Parameters
    ----------
    memory : int, optional
        Bytes for the rows, copies included; by default most of what is available.
    cache : Path, optional
        A folder in which rows on disk are kept for the next run.
    cluster : Cluster, optional
        Whose workers train on rows that are too many to be gathered.
    """

    memory: int | None = None
    cache: Path | None = None
    cluster: Cluster | None = None

    @property
    def on_disk(self) -> bool:
        """Whether rows go to disk at once."""
        return self.cache is not None or self.cluster is not None

    @property
    def limit(self) -> int:
        """Bytes that rows may take."""
        return self.memory if self.memory is not None else int(available() * _SHARE)

    def make_cache(self) -> None:
        """Create the cache folder."""
        assert self.cache is not None
        try:
            self.cache.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise ValueError(f"--cache {self.cache}: cannot create the folder: {problem.strerror}") from None

    def is_tight(self, where: str | None) -> bool:
        """Return whether the files of a source are so large that reading them must take as little memory as it can."""
        return self.on_disk or size_of_files(where) * COPIES > self.limit
