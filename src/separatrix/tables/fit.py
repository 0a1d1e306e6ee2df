"""From a source to a model: read, split, prepare, learn, certify, score."""

from __future__ import annotations

import hashlib
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__, _core
from separatrix.geometry.rows import Rows, is_sparse
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk.prepared import Prepared, cache_key, prepare_on_disk
from separatrix.tables.disk.training import Place, train
from separatrix.tables.features import make_features
from separatrix.tables.gathering import COPIES, Gathered, gather
from separatrix.tables.kinds import MODELS, STREAMED, make
from separatrix.tables.memory import available, size_of_files
from separatrix.tables.model import TableModel
from separatrix.tables.preparation import Preparation, is_wide, learn_scale
from separatrix.tables.raw_rows import RawRows
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import MatrixSource, TableSource

_SHARE = 0.6  # of the memory there is
CERTIFIED_CLASSES = 12  # with more there are too many pairs
_KEPT_CERTIFICATE = 1 << 20  # characters
_VOTES = 20_000  # rows
_LOOK = 4096  # rows looked at together for constant columns


@dataclass
class Settings:
    """How to fit.

    Parameters
    ----------
    model : str
        One of ``kinds.MODELS``.
    test : float
        The share of rows to hold out; 0 for none.
    epochs : int, optional
        The most epochs.
    time_limit : float, optional
        Seconds for learning.
    seed : int
        Where the split and the orders come from.
    parameters : dict
        More parameters of the estimator.
    certify : float
        Seconds for the certificate of the data; 0 for none.
    """

    model: str = "averaged"
    test: float = 0.2
    epochs: int | None = None
    time_limit: float | None = None
    seed: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    certify: float = 5.0

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"--model must be one of {', '.join(MODELS)}; found {self.model!r}")
        if not 0 <= self.test < 1:
            raise ValueError(f"--test must be a share from 0 up to, but not including, 1; found {self.test:g}")
        if self.epochs is not None and self.epochs < 1:
            raise ValueError(f"--epochs must be at least 1; found {self.epochs}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"--time-limit must be a positive number of seconds; found {self.time_limit:g}")
        if not self.certify >= 0:  # nor is nan
            raise ValueError(f"--certify must be a number of seconds, at least 0; found {self.certify:g}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"--seed must be from 0 to 2^32 - 1; found {self.seed}")


@dataclass
class MemoryBudget:
    """Where rows go.

    Parameters
    ----------
    memory : int, optional
        Bytes that rows may take in memory, copies included; by default most of what is free.
    cache : Path, optional
        A folder in which rows on disk stay for the next run.
    """

    memory: int | None = None
    cache: Path | None = None

    @property
    def budget(self) -> int:
        """Bytes that rows may take."""
        return self.memory if self.memory is not None else int(available() * _SHARE)

    def make_cache(self) -> None:
        """Make the folder of the cache."""
        assert self.cache is not None
        try:
            self.cache.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise ValueError(f"--cache {self.cache}: the folder cannot be made: {problem.strerror}") from None

    def is_tight(self, where: str | None) -> bool:
        """Return whether the files of a source are so large that reading them must take as little memory as it can."""
        return self.cache is not None or size_of_files(where) * COPIES > self.budget


@dataclass
class Fitted:
    """What a fit gives: the model, and whether Ctrl-C ended it."""

    model: TableModel
    interrupted: bool
    certificate: Any = None


Watch = Callable[..., None]  # stage, and numbers that belong to it


def _quiet(stage: str, **numbers: Any) -> None:
    pass


def fit(
    source: TableSource | MatrixSource,
    asked: ColumnOptions,
    settings: Settings,
    room: MemoryBudget | None = None,
    *,
    before: TableModel | None = None,
    watch: Watch = _quiet,
    verbose: int = 0,
) -> Fitted:
    """Fit a model to a source; ``before`` is one that was cut short, to go on with."""
    room = room or MemoryBudget()
    began = time.perf_counter()
    job = _Job(asked, settings, before, watch, verbose)
    key = None
    if room.cache is not None:
        key = cache_key(source, asked, settings.test, settings.seed)
        if key is None:
            raise ValueError(f"--cache: whether {source.name} has changed cannot be told, so its rows are not kept")
        kept = Prepared.reopen(room.cache / key, key)
        if kept is not None:
            watch("cached", rows=kept.train.n)
            return job.on_disk(kept, began)
        room.make_cache()
    with tempfile.TemporaryDirectory(prefix="separatrix-", dir=room.cache, ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "rows"
        gathered = gather(
            source, asked, budget=room.budget, folder=folder, on_disk=room.cache is not None,
            watch=lambda rows, part: watch("read", rows=rows, part=part),
        )  # fmt: skip
        if gathered.raw is not None:
            return job.in_memory(source, gathered, began)
        if settings.model not in STREAMED:
            raise ValueError(
                f"{source.name} does not fit into memory ({room.budget / 2**20:,.0f} MB for rows and their copies), "
                f"and --model {settings.model} needs all rows at once; these do not: {', '.join(STREAMED)}"
            )
        prepared = prepare_on_disk(gathered, asked, settings.test, settings.seed, folder, watch)
        prepared.facts["fingerprint"] = source.fingerprint()
        if key is not None and room.cache is not None:
            prepared = prepared.keep(key, room.cache / key)
        return job.on_disk(prepared, began)


class _Job:
    """One fit, once the rows are there."""

    def __init__(
        self, asked: ColumnOptions, settings: Settings, before: TableModel | None, watch: Watch, verbose: int
    ) -> None:
        self._asked, self._settings, self._before = asked, settings, before
        self._watch, self._verbose = watch, verbose

    def in_memory(self, source: Any, gathered: Gathered, began: float) -> Fitted:
        raw = gathered.raw
        assert raw is not None
        assert raw.labels is not None
        settings = self._settings
        labels = np.array(gathered.classes)
        train_rows, test_rows = split(raw.labels, settings.test, settings.seed)
        learned = raw if test_rows is None else raw.take(train_rows)
        held = None if test_rows is None else raw.take(test_rows)
        assert learned.labels is not None
        check_classes(gathered, learned.labels, f"once {settings.test:g} of the rows are held out; use --test 0")
        preparation = learn_preparation(gathered, learned, self._asked)
        constant = constant_columns(preparation, learned)
        X = preparation.matrix(learned, overwrite=True)
        y = labels[learned.labels]
        mark = fingerprint(X, learned.labels, learned.weights)
        gathered.raw = raw = None
        facts = self._facts(source, gathered, preparation)
        facts["rows"] |= {"train": len(y), "test": 0 if held is None else len(held)}
        facts["data"] = mark
        self._watch("fit")
        estimator, interrupted = self._learn(X, y, learned.weights, mark)
        facts["status"] = str(estimator.status_)
        facts["converged"] = bool(estimator.status_.converged)
        facts["interrupted"] = interrupted
        assert gathered.chosen.target is not None
        model = TableModel(preparation, estimator, gathered.chosen.target.name, self._asked.weight, facts)
        counts = np.bincount(learned.labels, minlength=len(labels))
        facts["classes"] = [{"label": _plain(v), "rows": int(c)} for v, c in zip(labels, counts, strict=True)]
        facts["constant"] = constant
        try:  # the model is there: Ctrl-C ends what is only about it
            if held is not None:
                assert held.labels is not None
                scores = Scores.none(len(labels), int(counts.argmax()))
                answers = estimator.predict(preparation.matrix(held))
                scores.add(held.labels, np.searchsorted(estimator.classes_, answers))
                facts["held_out"] = scores.to_dict()
            if settings.model != "voted" or len(y) <= _VOTES:  # whose votes take long to count
                facts["training_accuracy"] = float(np.mean(estimator.predict(X) == y))
        except KeyboardInterrupt:
            interrupted = True
        certificate = None
        if settings.certify > 0 and not interrupted:
            certificate = self._certify(X, y, facts)
        else:
            facts["uncertified"] = "interrupted" if interrupted else "off"
        facts["seconds"] = round(time.perf_counter() - began, 3)
        return Fitted(model, interrupted, certificate)

    def _learn(self, X: Any, y: NDArray[Any], weights: Any, mark: str) -> tuple[Any, bool]:
        settings = self._settings
        if self._before is None:
            estimator = make(
                settings.model, epochs=settings.epochs, time_limit=settings.time_limit, seed=settings.seed,
                parameters=settings.parameters, verbose=self._verbose,
            )  # fmt: skip
        else:
            estimator = self._go_on(mark)
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
            try:
                estimator.fit(X, y, sample_weight=weights)
            except KeyboardInterrupt:
                if not getattr(getattr(estimator, "status_", None), "interrupted", False):
                    raise
                return estimator, True
        return estimator, False

    def _go_on(self, mark: str) -> Any:
        """Return the estimator of a model that was cut short, ready to learn for the epochs that are left."""
        assert self._before is not None
        before, settings = self._before, self._settings
        if before.facts.get("data") != mark:
            raise ValueError(
                "--resume: the rows are not those that the model was trained on; separatrix update teaches it new ones"
            )
        made = make(
            settings.model, epochs=settings.epochs, time_limit=settings.time_limit, seed=settings.seed,
            parameters=settings.parameters, verbose=self._verbose,
        )  # fmt: skip
        estimator = before.estimator
        known = estimator.get_params()
        new = {name: value for name, value in made.get_params().items() if name in ("max_iter", "stop", "verbose")}
        if "warm_start" in known:
            if not estimator._cut_short:
                raise ValueError("--resume: the run of this model has come to its end; there is nothing to go on with")
            going = [state for state in estimator._states if state.ended is None or state.ended.cut]
            done = min(int(getattr(state, "epochs", 0)) for state in going)
            if new["max_iter"] <= done:
                raise ValueError(f"--resume: the model has had its {done} epochs; ask for more of them with --epochs")
        return estimator.set_params(**new)

    def _certify(self, X: Any, y: NDArray[Any], facts: dict[str, Any]) -> Any:
        import json

        self._watch("certify")
        try:
            found = certificate_of(X, y, self._settings.certify, self._settings.seed)
        except KeyboardInterrupt:  # the model is there already
            facts["uncertified"] = "interrupted"
            return None
        if found is None:
            facts |= {"certificate": None, "uncertified": "classes"}
            return None
        text = found.to_json()
        if len(text) <= _KEPT_CERTIFICATE:
            facts["certificate"] = json.loads(text)
        else:
            facts |= {"certificate": None, "uncertified": "size"}
        return found

    def _facts(self, source: Any, gathered: Gathered, preparation: Preparation) -> dict[str, Any]:
        chosen = gathered.chosen
        return {
            "separatrix": __version__,
            "source": source.name,
            "fingerprint": source.fingerprint(),
            "asked": asdict(self._asked),
            "settings": asdict(self._settings),
            "rows": {"read": gathered.n_read, "dropped": gathered.n_dropped},
            "missing": gathered.missing,
            "columns": {"used": list(chosen.order), "unused": list(chosen.unused), "numbers": preparation.width},
            "on_disk": gathered.raw is None and gathered.disk is not None,
        }

    def on_disk(self, prepared: Prepared, began: float) -> Fitted:
        settings, before = self._settings, self._before
        if settings.model not in STREAMED:
            raise ValueError(f"--model {settings.model} cannot learn from rows on disk; {', '.join(STREAMED)} can")
        labels = np.array(prepared.classes)
        epochs = settings.epochs if settings.epochs is not None else MODELS[settings.model][2] or 20
        if before is None:
            estimator = make(
                settings.model, epochs=epochs, time_limit=None, seed=settings.seed, parameters=settings.parameters,
                streamed=True,
            )  # fmt: skip
            place = Place()
        else:
            if before.facts.get("data") != prepared.mark or not before.facts.get("on_disk"):
                raise ValueError("--resume: the rows are not those that the model was trained on")
            if before.facts.get("converged") or before.estimator.status_.diverged:
                raise ValueError("--resume: the run of this model has come to its end; there is nothing to go on with")
            estimator, place = before.estimator, Place.of(before.facts.get("place"))
            if place.epoch >= epochs:
                raise ValueError(f"--resume: the model has had its {place.epoch} epochs; ask for more with --epochs")
        self._watch("fit")
        mistakes = list(before.facts.get("mistakes", [])) if before is not None else []
        status = train(
            estimator, prepared.train, labels, epochs=epochs, seed=settings.seed, place=place,
            time_limit=settings.time_limit, until_no_mistakes=settings.model in ("averaged", "perceptron"),
            watch=lambda epoch, part: self._watch("epoch", epoch=epoch, part=part, epochs=epochs),
            history=mistakes,
        )  # fmt: skip
        facts = prepared.facts
        facts["settings"] = asdict(settings)
        facts["asked"] = asdict(self._asked)
        facts |= {"status": str(status), "converged": status.converged, "interrupted": status.interrupted}
        facts |= {"place": asdict(place), "on_disk": True, "data": prepared.mark, "mistakes": mistakes}
        facts["uncertified"] = "disk"
        model = TableModel(prepared.preparation, estimator, prepared.target, self._asked.weight, facts)
        counts = np.array([each["rows"] for each in facts["classes"]])
        scores = Scores.none(len(labels), int(counts.argmax()))
        interrupted = status.interrupted
        if prepared.test is not None and prepared.test.n and not interrupted:
            try:
                for piece in prepared.test.cut(16 << 20):
                    X, codes, _ = prepared.test.read([piece])
                    scores.add(codes, np.searchsorted(estimator.classes_, estimator.predict(X)))
                facts["held_out"] = scores.to_dict()
            except KeyboardInterrupt:
                interrupted = True
        facts["seconds"] = round(time.perf_counter() - began, 3)
        return Fitted(model, interrupted)


def split(labels: NDArray[np.int32], test: float, seed: int) -> tuple[Any, Any]:
    """Return the rows to learn from and those to hold out, as scikit-learn's ``train_test_split`` draws them.

    Each class keeps its share, where every class has two rows or more.
    """
    if test == 0:
        return slice(None), None
    from sklearn.model_selection import train_test_split

    n = len(labels)
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    held = int(np.ceil(n * test))
    if held < 1 or n - held < 2:
        raise ValueError(f"{n} rows are too few to hold out {test:g} of them: use --test 0")
    fair = counts.min() >= 2 and held >= len(counts) and n - held >= len(counts)
    train_rows, test_rows = train_test_split(
        np.arange(n), test_size=test, random_state=seed, stratify=labels if fair else None
    )
    return np.sort(train_rows), np.sort(test_rows)


def check_classes(gathered: Gathered, labels: NDArray[np.int32], when: str) -> None:
    """Refuse rows to learn from that lack a class, by codes; ``when`` says how that came about and what would help."""
    lost = np.setdiff1d(np.arange(len(gathered.classes)), labels)
    if lost.size:
        rare = str(gathered.classes[lost[0]])
        raise ValueError(
            f"{gathered.where}: no row of class {rare!r} is left to learn from {when} or leave the class out"
        )


def certificate_of(X: Any, y: NDArray[Any], seconds: float, seed: int) -> Any:
    """Return whether planes separate the classes, with a proof; None for so many classes that it would take long."""
    from separatrix.certificates.certifying import certify

    if len(np.unique(y)) > CERTIFIED_CLASSES:
        return None
    return certify(X, y, time_limit=seconds, random_state=seed)


def learn_preparation(gathered: Gathered, learned: RawRows, asked: ColumnOptions) -> Preparation:
    """Return what is to be done to each row, found on the rows to learn from."""
    sparse = is_sparse(learned.numbers)
    scale = asked.scale or ("none" if sparse else "standard")
    if sparse and scale == "minmax":
        raise ValueError(f"{gathered.where} is sparse, which --scale minmax would undo; use standard or none")
    means = np.zeros(learned.numbers.shape[1])
    numbers = learned.numbers
    if asked.missing == "mean" and not sparse:
        means = means_of(gathered, np.asfortranarray(numbers))
        numbers = np.where(np.isnan(numbers), means, numbers)
    shift, factor = learn_scale(scale, numbers)
    check_scale(gathered, shift, factor)
    features = make_features(gathered, asked, learned.texts)
    wide = sparse or is_wide(features)
    return Preparation(features, asked.missing, scale, shift, factor, means, wide, gathered.anonymous)


def check_scale(gathered: Gathered, shift: Any, factor: Any) -> None:
    """Refuse numbers that are too large to be scaled."""
    bad = np.flatnonzero(~(np.isfinite(shift) & np.isfinite(factor)))
    if bad.size:
        name = gathered.chosen.numbers[bad[0]].name if gathered.chosen.numbers else f"x{bad[0]}"
        raise ValueError(f"{gathered.where}, column {name!r} holds numbers too large to be scaled; use --scale none")


def means_of(gathered: Gathered, numbers: Any) -> Any:
    """Return the mean of each number column, or say which has none."""
    found = ~np.isnan(numbers)
    for place in np.flatnonzero(~found.any(axis=0)):
        name = gathered.chosen.numbers[place].name if gathered.chosen.numbers else f"x{place}"
        raise ValueError(f"{gathered.where}, column {name!r} is empty, so it has no mean; leave it out")
    return np.nanmean(numbers, axis=0) if numbers.shape[1] else np.zeros(0)


def constant_columns(preparation: Preparation, learned: RawRows) -> list[str]:
    """Return the columns that hold one value only, which teach nothing."""
    out = []
    if not preparation.anonymous and len(learned):
        same = np.ones(learned.numbers.shape[1], dtype=bool)
        for begin in range(0, len(learned), _LOOK):
            if not same.any():
                break
            part = learned.numbers[begin : begin + _LOOK]
            same &= ((part == learned.numbers[0]) | np.isnan(part)).all(axis=0)
        out += [feature.name for feature, constant in zip(preparation.role("number"), same, strict=True) if constant]
        out += [feature.name for feature in preparation.role("category") if len(feature.levels) == 1]
    return out


def fingerprint(X: Any, labels: NDArray[np.int32], weights: Any = None) -> str:
    """Return a key of rows, labels and weights: of all rows, or of some thousand of many and the sums of all."""
    n = len(labels)
    rows = np.unique(np.linspace(0, n - 1, 4096).astype(np.int64)) if n > 1 << 16 else np.arange(n)
    part = Rows(X[rows] if len(rows) < n else X)
    found = hashlib.blake2b(f"{n} {X.shape[1]}".encode(), digest_size=16)
    found.update(_core.row_keys(part.matrix, 0, 1).tobytes())
    if is_sparse(X):
        found.update(f"{X.data.sum()!r} {X.indices.sum(dtype=np.int64)}".encode())
    else:
        found.update(_core.column_sums(np.ascontiguousarray(X, dtype=np.float64), None, False, 2).tobytes())
    found.update(labels.tobytes())
    if weights is not None:
        found.update(weights.tobytes())
    return found.hexdigest()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
