"""What is known about how a model of a table came to be; it is stored in the model file and printed as JSON.

A fit fills it in as it goes on (``dataclasses.replace``), ``update`` changes it, and the commands and the report read
it. A model file of version 0.1 holds a dictionary instead, which ``Facts.from_dict`` reads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.kinds import MODELS
from separatrix.tables.scores import Scores
from separatrix.tables.settings import Settings
from separatrix.tables.stored import without_guess

VERSION = 1


class _Checked:
    """Checks its fields when it is made: what a file says may be anything."""

    _counts: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self._counts:
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise ValueError(f"the facts about the model are damaged: {name} is {value!r:.60}")
        for name in self._names:
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
                raise ValueError(f"the facts about the model are damaged: {name} is {value!r:.60}")


@dataclass(frozen=True)
class RowCounts(_Checked):
    """Rows read, dropped for missing values, trained on, and in the test set."""

    _counts = ("read", "dropped", "train", "test")
    read: int = 0
    dropped: int = 0
    train: int = 0
    test: int = 0


@dataclass(frozen=True)
class ColumnUse(_Checked):
    """Names of the columns used and not used, and how many numbers a row becomes."""

    _counts, _names = ("numbers",), ("used", "unused")
    used: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    numbers: int = 0


@dataclass(frozen=True)
class ClassCount(_Checked):
    """A class and how many training rows it has."""

    _counts = ("rows",)
    label: Any
    rows: int


@dataclass(frozen=True)
class TrainingProgress(_Checked):
    """Where training on disk stands: epochs done, groups of rows done in the current one, mistakes in it so far."""

    _counts = ("epoch", "group", "mistakes")
    epoch: int = 0
    group: int = 0
    mistakes: int = 0


@dataclass(frozen=True)
class UpdateRecord(_Checked):
    """New rows that ``update`` trained on, and how many of them the model predicted wrong before."""

    _counts = ("rows", "mistakes")
    source: str
    rows: int
    mistakes: int


@dataclass(frozen=True)
class CalibratedOn(_Checked):
    """How many folds (1: a part that was held out once) and rows the scores of a calibration are from."""

    _counts = ("folds", "rows")
    folds: int
    rows: int


@dataclass(frozen=True)
class CrossValidation(_Checked):
    """Scores of each fold, by metric."""

    _counts = ("folds",)
    folds: int
    scores: dict[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        super().__post_init__()
        scores = self.scores if isinstance(self.scores, dict) else {None: ()}
        if not all(isinstance(name, str) and _are_numbers(each, self.folds) for name, each in scores.items()):
            raise ValueError("the facts about the model are damaged: a cross-validation has a score for each fold")


@dataclass(frozen=True)
class TuningRecord(_Checked):
    """The parameter that was tuned, its candidates and their scores over folds, and the metric that decided.

    ``distance``, where it is proved, is how much higher the accuracy of any value between the candidates can be, and
    ``ended`` is "proved" or what ended the search before that was as little as asked for.
    """

    parameter: str
    metric: str
    folds: int
    values: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    best: float
    distance: float | None = None
    ended: str = ""
    _counts = ("folds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        named = isinstance(self.parameter, str) and isinstance(self.metric, str) and isinstance(self.values, tuple)
        size = len(self.values) if named else -1
        lists = (self.values, self.means, self.deviations)
        named = named and isinstance(self.ended, str)
        if not named or not all(_are_numbers(each, size) for each in lists) or self.best not in self.values:
            raise ValueError("the facts about the model are damaged: a tuning has scores for each candidate")
        if not (self.distance is None or (type(self.distance) is float and 0.0 <= self.distance <= 1.0)):
            raise ValueError("the facts about the model are damaged: a tuning has proved what cannot be")


def _are_numbers(values: Any, size: int) -> bool:
    return isinstance(values, tuple) and len(values) == size and all(type(each) in (int, float) for each in values)


@dataclass(frozen=True)
class Facts:
    """How a model of a table came to be.

    Attributes
    ----------
    version : int
        Of this record.
    separatrix : str
        The version of the package that fitted the model.
    source, fingerprint : str
        The name of the source, and a key that changes when it changes (None where that cannot be told).
    options : ColumnOptions
        What was asked about the columns.
    settings : Settings
        How it was fitted.
    rows, columns, classes : RowCounts, ColumnUse, tuple of ClassCount
        What was read.
    missing : dict
        How many values are missing, by column.
    constant : tuple of str
        Columns with a single value.
    notes : tuple of str
        What was found out about the columns, in sentences: what was left out, how values are read, possible leaks.
    data : str or None
        A key of the rows trained on; None once the model was updated.
    on_disk : bool
        Whether it was trained on rows on disk.
    status, converged, interrupted : str, bool, bool
        How training ended.
    progress, mistakes : TrainingProgress or None, tuple of int
        Of training on disk: where it stands, and the mistakes in each epoch.
    test : Scores or None
        On the test set.
    training_accuracy : float or None
        On the rows trained on.
    certificate : dict or None
        Whether the classes are linearly separable, as JSON.
    no_certificate : str
        Why there is none: "off", "interrupted", "classes", "size", "disk", "encoded" or "updated".
    updates : tuple of UpdateRecord
        Later calls of ``update``.
    seconds : float or None
        How long the fit took.
    cross_validation : CrossValidation or None
        Of ``--cv`` and ``--tune``: scores on folds of the training rows.
    tuning : TuningRecord or None
        Of ``--tune``: the candidates and their scores.
    calibrated : CalibratedOn or None
        What scores became probabilities on, where they did.
    flags : tuple of str
        How false and true were written, where these are the labels and the source was text; empty otherwise.
    """

    version: int = VERSION
    separatrix: str = ""
    source: str = ""
    fingerprint: str | None = None
    options: ColumnOptions = field(default_factory=ColumnOptions)
    settings: Settings = field(default_factory=Settings)
    rows: RowCounts = field(default_factory=RowCounts)
    columns: ColumnUse = field(default_factory=ColumnUse)
    classes: tuple[ClassCount, ...] = ()
    missing: dict[str, int] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    data: str | None = None
    on_disk: bool = False
    status: str = ""
    converged: bool = False
    interrupted: bool = False
    progress: TrainingProgress | None = None
    mistakes: tuple[int, ...] = ()
    test: Scores | None = None
    training_accuracy: float | None = None
    certificate: dict[str, Any] | None = None
    no_certificate: str = ""
    updates: tuple[UpdateRecord, ...] = ()
    seconds: float | None = None
    cross_validation: CrossValidation | None = None
    tuning: TuningRecord | None = None
    calibrated: CalibratedOn | None = None
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"the facts about the model are damaged: {name} is {getattr(self, name)!r:.60}")
        for name, kind in (
            ("classes", ClassCount),
            ("updates", UpdateRecord),
            ("constant", str),
            ("notes", str),
            ("mistakes", int),
            ("flags", str),
        ):
            if not all(isinstance(each, kind) for each in getattr(self, name)):
                raise ValueError(f"the facts about the model are damaged: {name} holds something else")
        if not all(isinstance(name, str) and type(count) is int for name, count in self.missing.items()):
            raise ValueError("the facts about the model are damaged: missing holds something else than counts")
        if len(self.flags) not in (0, 2):
            raise ValueError("the facts about the model are damaged: flags holds something else than two texts")
        if self.test is not None and (not self.test.n or len(self.test.confusion) < len(self.classes)):
            raise ValueError("the facts about the model are damaged: the test scores are of no rows or other classes")

    @property
    def imputed(self) -> dict[str, int]:
        """How many values were imputed, by column, most first."""
        if self.options.missing not in ("impute", "mean"):
            return {}
        needed = (self.options.target or "label", self.options.weight)  # a row without is dropped
        return {name: n for name, n in self._most_missing() if name not in needed}

    @property
    def dropped_for(self) -> dict[str, int]:
        """How many values are missing in the columns for which rows were dropped, most first."""
        imputed = self.imputed
        return {name: n for name, n in self._most_missing() if name not in imputed}

    def _most_missing(self) -> list[tuple[str, int]]:
        return sorted(self.missing.items(), key=lambda pair: -pair[1])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON holds them."""
        out = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("options", "settings", "rows", "columns", "progress", "cross_validation", "tuning", "calibrated"):
            out[name] = None if out[name] is None else asdict(out[name])
        for name in ("classes", "updates"):
            out[name] = [asdict(each) for each in out[name]]
        out["test"] = None if self.test is None else self.test.to_dict()
        return out

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Facts:
        """Return the facts that ``to_dict`` wrote, or that version 0.1 kept in its model files."""
        try:
            own = dict(values)
            if "version" not in own:
                own = _from_version_0(own)
            own = without_guess({name: value for name, value in own.items() if name in cls.__dataclass_fields__})
            for name, kind in (("rows", RowCounts), ("columns", ColumnUse), ("progress", TrainingProgress),
                               ("options", ColumnOptions), ("settings", Settings),
                               ("calibrated", CalibratedOn)):  # fmt: skip
                if own.get(name) is not None:
                    own[name] = kind(**{key: _tuples(value) for key, value in own[name].items()})
            if own.get("cross_validation") is not None:
                scores = own["cross_validation"]["scores"]
                scores = {name: tuple(values) for name, values in scores.items()}
                own["cross_validation"] = CrossValidation(own["cross_validation"]["folds"], scores)
            if own.get("tuning") is not None:
                own["tuning"] = TuningRecord(**{key: _tuples(value) for key, value in own["tuning"].items()})
            own["classes"] = tuple(ClassCount(**each) for each in own.get("classes", ()))
            own["updates"] = tuple(UpdateRecord(**each) for each in own.get("updates", ()))
            for name in ("constant", "notes", "mistakes", "flags"):
                own[name] = tuple(own.get(name, ()))
            if own.get("test") is not None:
                own["test"] = Scores.from_dict(own["test"])
            return cls(**own)
        except (TypeError, AttributeError, LookupError, OverflowError):
            raise ValueError("the facts about the model are damaged") from None


_KINDS: dict[str, Any] = {
    "version": int, "separatrix": str, "source": str, "fingerprint": str | None, "options": ColumnOptions,
    "settings": Settings, "rows": RowCounts, "columns": ColumnUse, "classes": tuple, "missing": dict,
    "constant": tuple, "notes": tuple,
    "data": str | None, "on_disk": bool, "status": str, "converged": bool, "interrupted": bool,
    "progress": TrainingProgress | None, "mistakes": tuple, "test": Scores | None, "training_accuracy": float | None,
    "certificate": dict | None, "no_certificate": str, "updates": tuple, "seconds": float | int | None,
    "cross_validation": CrossValidation | None, "tuning": TuningRecord | None, "flags": tuple,
    "calibrated": CalibratedOn | None,
}  # fmt: skip


def _from_version_0(old: dict[str, Any]) -> dict[str, Any]:
    """Return the dictionary of version 0.1 under the names of now."""
    names = {"asked": "options", "place": "progress", "held_out": "test", "uncertified": "no_certificate"}
    own = {names.get(name, name): value for name, value in old.items()}
    own["version"] = VERSION
    if own.get("options"):
        own["options"] = {**own["options"], "detect": False}
    if own.get("settings"):
        settings = own["settings"] = dict(own["settings"])
        parameters = settings["parameters"] = dict(settings.get("parameters", {}))
        online = parameters.pop("solver", "dual") == "online" or own.get("on_disk")
        if settings.get("model") == "svm" and online and "online-svm" in MODELS:
            settings["model"] = "online-svm"
    return own


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
