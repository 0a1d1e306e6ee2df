"""The classes that a model file may hold, by the name under which it has them.

A new class is one line of ``CLASSES``: its name and its module. A dataclass or named tuple is kept field by field and
built anew by its own constructor, an estimator with all its attributes, anything else with the attributes listed.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from separatrix.models import checks
from separatrix.models.codec import RefusedError

_OWN = "separatrix.estimators"
_UNKEPT = ("_taught", "_stop_words_id", "_metadata_request", "certificate_")  # data, caches, what routes fit's weights


class Class(NamedTuple):
    """One class: where it is, and what is special about it.

    Parameters
    ----------
    module : str
        From where it is imported, once it is needed.
    attributes : tuple of str
        Those of a class that is neither dataclass, named tuple nor estimator.
    unkept : dict
        Attributes that are not written, and what they are instead in what is read.
    pack, unpack : callable, optional
        Change the parts before they are written, and back.
    check : callable, optional
        Raises ValueError for an object that cannot be meant.
    upgrade : callable, optional
        Changes what an older package wrote: of the parts of an object, to the name of its class now and its parts.
    model : bool
        Whether it can be saved by itself.
    """

    module: str
    attributes: tuple[str, ...] = ()
    unkept: dict[str, Any] = {}  # noqa: RUF012
    pack: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    unpack: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    check: Callable[[Any], None] | None = None
    upgrade: Callable[[dict[str, Any]], tuple[str, dict[str, Any]]] | None = None
    model: bool = False


def _upgrade_linear_svm(parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what was a LinearSVM with a solver as a LinearSVM or an OnlineSVM."""
    if parts.get("solver") == "online":
        renamed = {"_weight_seen" if name == "_met" else name: part for name, part in parts.items()}
        return "OnlineSVM", {name: part for name, part in renamed.items() if name not in ("solver", "loss", "tol")}
    gone = ("solver", "step", "average", "project", "shuffle", "_met", "_readout", "_bias_constant")
    return "LinearSVM", {name: part for name, part in parts.items() if name not in gone}


_PUT_DOWN = {"task": None, "tell": None, "_began": 0.0}

CLASSES: dict[str, Class] = {
    # estimators
    "Perceptron": Class(_OWN, check=checks.check_linear, model=True),
    "Neuron": Class(_OWN, check=checks.check_linear, model=True),
    "LinearSVM": Class(_OWN, check=checks.check_linear_svm, upgrade=_upgrade_linear_svm, model=True),
    "OnlineSVM": Class(_OWN, check=checks.check_linear, model=True),
    "KernelSVM": Class(_OWN, check=checks.check_kernel_svm, model=True),
    "KernelPerceptron": Class(_OWN, check=checks.check_kernel_perceptron, model=True),
    "Network": Class(_OWN, check=checks.check_network, model=True),
    # what they hold
    "State": Class("separatrix.loop.state", check=checks.check_state),
    "Status": Class("separatrix.loop.state", check=checks.check_status),
    "NetworkState": Class("separatrix.loop.network", check=checks.check_network_state),
    "Layer": Class("separatrix.loop.network", check=checks.check_layer),
    "MarginState": Class("separatrix.estimators.linear_svm", check=checks.check_margin_state),
    "Run": Class("separatrix.svm.solve", unkept=_PUT_DOWN, check=checks.check_run),
    "HardRun": Class("separatrix.svm.hard", unkept=_PUT_DOWN, check=checks.check_run),
    "MarginHistory": Class("separatrix.svm.solve", check=checks.check_margin_history),
    "DualSolution": Class("separatrix.svm.task", check=checks.check_answer),
    "Ascent": Class(
        "separatrix.svm.ascent",
        ("points", "real", "bias_square", "weights", "epochs", "touched", "_seed", "_order", "_position", "_per_row",
         "_block"),
        {"task": None}, checks.unzip_points, checks.zip_points, checks.check_ascent,
    ),
    "VotedWeights": Class(
        "separatrix.loop.readouts", ("_start", "_bias_square", "_rows", "_index", "_signed", "_times", "_age"),
        check=checks.check_ballot,
    ),
    "KernelVotedWeights": Class(
        "separatrix.loop.kernel_votes", ("_rows", "_signed", "_times", "_age", "_bias_square"),
        check=checks.check_kernel_ballot,
    ),
    "Moments": Class("separatrix.geometry.moments", ("count", "_mean", "_squares"), check=checks.check_moments),
    "Kernel": Class("separatrix.geometry.kernels", check=checks.check_kernel),
    "History": Class("separatrix.observers", ("epochs",), check=checks.check_history),
    "Rounds": Class("separatrix.svm.blocks", check=checks.check_rounds),
    "Round": Class("separatrix.svm.blocks"),
    # tables
    "TableModel": Class("separatrix.tables.model", check=checks.check_table_model, model=True),
    "Preparation": Class("separatrix.tables.preparation", model=True),
    "Feature": Class("separatrix.tables.preparation"),
    "Facts": Class("separatrix.tables.facts"),
    "RowCounts": Class("separatrix.tables.facts"),
    "ColumnUse": Class("separatrix.tables.facts"),
    "ClassCount": Class("separatrix.tables.facts"),
    "Progress": Class("separatrix.tables.facts"),
    "UpdateRecord": Class("separatrix.tables.facts"),
    "ColumnOptions": Class("separatrix.tables.columns"),
    "Settings": Class("separatrix.tables.settings"),
    "Scores": Class("separatrix.tables.scores"),
    # stop rules
    "Epoch": Class("separatrix.stops", check=checks.check_epoch),
    "StopReason": Class("separatrix.stops", check=checks.check_stop_reason),
    "AnyOf": Class("separatrix.stops", check=checks.check_any_of),
    "NoMistakes": Class("separatrix.stops"),
    "MaxEpochs": Class("separatrix.stops"),
    "EpochsInAll": Class("separatrix.stops"),
    "TimeLimit": Class("separatrix.stops"),
    "LossAtMost": Class("separatrix.stops"),
    "LossFlat": Class("separatrix.stops"),
    "NoProgress": Class("separatrix.stops"),
    "HeldOutFlat": Class("separatrix.stops"),
    # scikit-learn
    "Pipeline": Class("sklearn.pipeline", unkept={"memory": None}, check=checks.check_pipeline, model=True),
    "ColumnTransformer": Class("sklearn.compose", check=checks.check_columns),
    "make_column_selector": Class("sklearn.compose", ("pattern", "dtype_include", "dtype_exclude")),
    "FunctionTransformer": Class("sklearn.preprocessing", check=checks.check_function_transformer),
    "StandardScaler": Class("sklearn.preprocessing", check=checks.check_step),
    "MinMaxScaler": Class("sklearn.preprocessing", check=checks.check_step),
    "MaxAbsScaler": Class("sklearn.preprocessing", check=checks.check_step),
    "RobustScaler": Class("sklearn.preprocessing", check=checks.check_step),
    "Normalizer": Class("sklearn.preprocessing", check=checks.check_step),
    "OneHotEncoder": Class("sklearn.preprocessing", check=checks.check_one_hot),
    "OrdinalEncoder": Class("sklearn.preprocessing", check=checks.check_ordinal),
    "PolynomialFeatures": Class("sklearn.preprocessing", check=checks.check_polynomial),
    "SimpleImputer": Class("sklearn.impute", check=checks.check_step),
    "MissingIndicator": Class("sklearn.impute", check=checks.check_indicator),
    "CountVectorizer": Class("sklearn.feature_extraction.text", check=checks.check_vectorizer),
    "TfidfVectorizer": Class("sklearn.feature_extraction.text", check=checks.check_vectorizer),
    "HashingVectorizer": Class("sklearn.feature_extraction.text", check=checks.check_vectorizer),
    "TfidfTransformer": Class("sklearn.feature_extraction.text", check=checks.check_step),
}  # fmt: skip

# Files written under older names: the classes and fields that were renamed since, old name to new. Applied on reading.
RENAMED = {
    "Answer": "DualSolution",
    "Spread": "Moments",
    "Ending": "StopReason",
    "Ballot": "VotedWeights",
    "KernelBallot": "KernelVotedWeights",
}
RENAMED_FIELDS = {
    "State": {"drift": "average_correction", "ballot": "voted_weights"},
    "NetworkState": {"met": "epoch_loss"},
}

_HIDDEN = ("make_column_selector", "FunctionTransformer", "MissingIndicator", "Pipeline", "ColumnTransformer")
STEPS = tuple(
    name for name, each in CLASSES.items() if each.module.startswith("sklearn.") and name not in _HIDDEN
)  # the names that a refusal offers
MODELS = tuple(name for name, each in CLASSES.items() if each.module == _OWN)


class Known:
    """What the codec asks about classes; ``seen`` are the names that it met."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def name_of(self, kind: type) -> str | None:
        """Return the name under which this class is written, None if it is not."""
        base: str = getattr(kind, "stored_as", "")  # of classes that are written as their base class
        if base in CLASSES and issubclass(kind, _class(base)):
            return base
        name = kind.__name__
        return name if name in CLASSES and _class(name) is kind else None

    def take_apart(self, name: str, value: Any, where: str) -> dict[str, Any]:
        """Return the parts of an object, checked."""
        entry, kind = CLASSES[name], _class(name)
        self.seen.add(name)
        if entry.check is not None:
            entry.check(value)
        if dataclasses.is_dataclass(kind):
            parts = {each.name: getattr(value, each.name) for each in dataclasses.fields(kind)}
        elif hasattr(kind, "_fields"):
            parts = value._asdict()
        elif entry.attributes:
            parts = {attribute: getattr(value, attribute) for attribute in entry.attributes}
        else:
            parts = {key: part for key, part in vars(value).items() if not (key in _UNKEPT or "callback" in key)}
            parts = _with_seed(parts, where or name)
        parts = {key: part for key, part in parts.items() if key not in entry.unkept}
        return parts if entry.pack is None else entry.pack(parts)

    def put_together(self, name: str, parts: dict[str, Any]) -> Any:
        """Return the object with these parts, or refuse them."""
        name, parts = _renamed(name, parts)
        entry = CLASSES.get(name)
        if entry is None:
            raise RefusedError(f"it holds an object of the unknown class {name!r:.60}")
        if entry.upgrade is not None:
            name, parts = entry.upgrade(parts)
            entry = CLASSES[name]
        self.seen.add(name)
        kind = _class(name)
        parts = {**(parts if entry.unpack is None else entry.unpack(parts)), **entry.unkept}
        fields = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else None
        fields = list(getattr(kind, "_fields", ())) or fields
        if fields is not None:
            _expect(name, parts, fields)
            value = kind(**parts)
        else:
            if entry.attributes:
                _expect(name, parts, [*entry.attributes, *entry.unkept])
            elif any(not _harmless(kind, key) for key in parts):
                raise RefusedError(f"its {name} has an attribute that cannot be")
            value = object.__new__(kind)
            vars(value).update(parts)
        if entry.check is not None:
            entry.check(value)
        return value


def _renamed(name: str, parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the class and the fields under their names of today."""
    name = RENAMED.get(name, name)
    fields = RENAMED_FIELDS.get(name, {})
    return name, {fields.get(key, key): part for key, part in parts.items()}


def _class(name: str) -> Any:
    return getattr(importlib.import_module(CLASSES[name].module), name)


def _expect(name: str, parts: dict[str, Any], fields: list[str]) -> None:
    if set(parts) != set(fields):
        odd = sorted(set(parts) ^ set(fields))[0]
        raise RefusedError(f"its {name} has a field too many or too few: {odd!r:.60}")


def _harmless(kind: type, name: str) -> bool:
    """Whether an estimator may have this attribute: it must not take the place of a method."""
    plain = name.isidentifier() and not name.startswith("__") and name not in _UNKEPT and "callback" not in name
    return plain and not callable(getattr(kind, name, None))


def _with_seed(parts: dict[str, Any], where: str) -> dict[str, Any]:
    """Keep the seed that was drawn from a generator, in its place."""
    if hasattr(parts.get("random_state"), "random_sample"):
        if "_run_seed" not in parts:
            raise RefusedError(
                f"random_state of {where} is a generator, which a model file cannot keep: give it a whole number"
            )
        return {**parts, "random_state": parts["_run_seed"]}
    return parts
