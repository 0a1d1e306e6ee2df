"""From a fitted model to a :class:`~separatrix.tables.export.scorer.Scorer`: table models, estimators and pipelines."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.geometry.kernels import KERNELS
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.calibration import Calibration, TemperatureCalibration, own_sigmoid
from separatrix.tables.export.date_query import date_query
from separatrix.tables.export.scorer import (
    Decision,
    Input,
    KernelExpansion,
    Layers,
    Linear,
    Scorer,
    Voted,
    VoterSequence,
)

UNKNOWN = ("zero", "null")
_MOST_NUMBERS = 1 << 26  # of support vectors
_MOST_PROBED = 1 << 21  # features of made-up rows


def scorer_of(model: Any, *, unknown: str = "zero") -> Scorer:
    """Return a fitted model as a scorer, or say what cannot be exported."""
    from separatrix.tables.model import TableModel

    if unknown not in UNKNOWN:
        raise ValueError(f"unknown must be one of {', '.join(UNKNOWN)}; found {unknown!r}")
    if isinstance(model, TableModel):
        inputs, steps = _columns(model.preparation)
        estimator, sparse = model.estimator, model.preparation.sparse or model.preparation.anonymous == "libsvm"
        decision = decision_of(estimator)
        named = not model.preparation.anonymous
        made = _made(estimator, decision, inputs, named, steps, sparse, unknown, model.target)
        others = [model.target, *([model.weight] if model.weight else []), *_unused_columns(model)]
        if model.threshold is not None:
            made = replace(made, threshold=model.threshold.value, tie_is_positive=True)
        return replace(made, others=tuple(others), calibration=model.calibration or made.calibration)
    from sklearn.pipeline import Pipeline

    scalers, estimator = _unpacked(model) if isinstance(model, Pipeline) else ([], model)
    decision = decision_of(estimator)
    names = getattr(scalers[0] if scalers else estimator, "feature_names_in_", None)
    width = int(estimator.n_features_in_)
    texts = [f"x{place}" for place in range(width)] if names is None else [str(name) for name in names]
    inputs = tuple(Input(name, "number", place, 1) for place, name in enumerate(texts))
    steps = tuple(step for scaler in scalers for step in _scaling(scaler))
    return _made(estimator, decision, inputs, names is not None, steps, False, unknown, "prediction")


def _unused_columns(model: Any) -> list[str]:
    """Return the columns of the table that are not features, as its facts say."""
    return list(model.facts.columns.unused)


def _made(
    estimator: Any,
    decision: Decision,
    inputs: tuple[Input, ...],
    named: bool,
    steps: Any,
    sparse: bool,
    unknown: str,
    target: str,
) -> Scorer:
    classes = [_plain(label) for label in np.asarray(estimator.classes_).tolist()]
    positive = getattr(estimator, "_tie_is_positive", None)  # of a model in original units
    if positive is None:
        ours = type(estimator).__module__.startswith("separatrix.")  # a tie is negative in scikit-learn
        positive = ours and getattr(estimator, "boundary", "mistake") != "negative"
    kind = type(estimator).__name__
    return Scorer(
        inputs, named, steps, sparse, decision, classes, bool(positive), unknown, target, kind,
        calibration=own_probabilities(estimator),
    )  # fmt: skip


def own_probabilities(estimator: Any) -> Calibration | None:
    """Return how an estimator's own probabilities come from its scores; None where it has none, or in another way.

    They are sigmoids divided by their sum, or a softmax: which of them, made-up rows tell.
    """
    n_classes, width = len(estimator.classes_), int(estimator.n_features_in_)
    if n_classes < 2 or width > _MOST_PROBED or not hasattr(estimator, "predict_proba"):
        return None
    X = np.random.default_rng(0).normal(size=(8, width))
    scores, own = np.asarray(estimator.decision_function(X)), np.asarray(estimator.predict_proba(X))
    every: list[Calibration] = [own_sigmoid(n_classes)]
    if n_classes > 2:
        every.append(TemperatureCalibration(1.0, n_classes))
    return next((each for each in every if np.allclose(each.probabilities(scores), own, rtol=1e-6, atol=1e-12)), None)


def _plain(label: Any) -> Any:
    if isinstance(label, bool | int | str):
        if isinstance(label, int) and not -(2**63) <= label < 2**63:
            raise ValueError(f"label {label} does not fit into 64 bits")
        return label
    if isinstance(label, float) and math.isfinite(label):
        return label
    raise ValueError(f"cannot export the label {label!r}; labels must be text, numbers or booleans")


# ------------------------------------------------------------------------------------------------ the columns


def _columns(preparation: Any) -> tuple[tuple[Input, ...], tuple[tuple[str, Floats], ...]]:
    filled = preparation.imputes
    steps: tuple[tuple[str, Floats], ...] = ()
    sparse = preparation.anonymous == "libsvm"
    if preparation.scale == "standard":
        steps = (("times", 1.0 / preparation.factor),) if sparse else (
            ("minus", preparation.shift), ("over", preparation.factor)
        )  # fmt: skip
    elif preparation.scale == "minmax":
        steps = (("times", preparation.factor), ("plus", preparation.shift))
    if preparation.anonymous:
        names = preparation.names
        fills = preparation.means if filled and not sparse else [None] * len(names)
        every = [_number(name, k, fill) for k, (name, fill) in enumerate(zip(names, fills, strict=True))]
        return tuple(every), steps
    inputs: list[Input] = []
    starts = preparation.starts()
    gaps = {feature.name: len(preparation.shift) + k for k, feature in enumerate(preparation.gaps)}
    for feature in preparation.features:
        place = starts[feature.name]
        if feature.role == "date":
            raise ValueError(
                f"column {feature.name!r} is a date, which cannot be exported; fit without it (--exclude "
                f"{shlex.quote(feature.name)}), or with numbers that a query makes of it, as --sql "
                f"{shlex.quote(date_query(preparation.role('date')))}"
            )
        if feature.shares:
            raise ValueError(
                f"column {feature.name!r} is target encoded, which cannot be exported; fit without --target-encode "
                f"{shlex.quote(feature.name)}"
            )
        if feature.role == "number":
            fill = preparation.means[place] if filled else None
            number = _number(feature.name, place, fill, gaps.get(feature.name))
            inputs.append(replace(number, notation=feature.notation))
        elif feature.role == "category":
            levels, behind = spellings(feature.levels), place + len(feature.levels)
            inputs.append(
                Input(
                    feature.name, "category", place, feature.width, optional=filled, levels=levels,
                    gap=behind + feature.pooled if feature.gaps else None, pooled=behind if feature.pooled else None,
                )
            )  # fmt: skip
        else:
            words = None if feature.words is None else {word: k for k, word in enumerate(feature.words)}
            inputs.append(
                Input(feature.name, "text", place, feature.width, optional=filled, words=words, rarity=feature.rarity)
            )
    return tuple(inputs), steps


def _number(name: str, place: int, fill: Any, gap: int | None = None) -> Input:
    return Input(name, "number", place, 1, fill=None if fill is None else float(fill), gap=gap)


def spellings(levels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the spellings of each level of a category: booleans are text in some systems and numbers in others.

    Databases also read columns of Yes and No as booleans, and then write them as true and false.

    Examples
    --------
    >>> spellings(("False", "True"))
    (('False', 'false', 'FALSE', '0'), ('True', 'true', 'TRUE', '1'))
    >>> spellings(("No", "Yes"))
    (('No', 'False', 'false', 'FALSE', '0'), ('Yes', 'True', 'true', 'TRUE', '1'))
    >>> spellings(("True", "true"))
    (('True', 'TRUE', '1'), ('true',))
    >>> spellings(("No", "Perhaps", "Yes"))
    (('No',), ('Perhaps',), ('Yes',))
    """
    flags = _flags(levels)
    taken = set(levels)
    every = []
    for level in levels:
        others = []
        if (flag := flags.get(level)) is not None:
            others = [str(flag), str(flag).lower(), str(flag).upper(), str(int(flag))]
        own = [level, *(text for text in others if text not in taken)]
        taken.update(own)
        every.append(tuple(own))
    return tuple(every)


def _flags(levels: tuple[str, ...]) -> dict[str, bool]:
    """Return the levels that a database may hold as booleans: True and False, or those of a pair such as Yes and No."""
    known = {level: level == "True" for level in levels if level in ("True", "False")}
    words = {level.lower(): level for level in levels}
    for no, yes in (("no", "yes"), ("n", "y"), ("f", "t"), ("false", "true")):
        if words.keys() <= {no, yes} and len(words) == len(levels):
            return {level: word == yes for word, level in words.items()}
    return known


def _unpacked(pipeline: Any) -> tuple[list[Any], Any]:
    """Return the scalers of a pipeline and its last step, or say which step cannot be exported."""
    from separatrix.insight.original_units import SCALERS, unnested

    *steps, (_, last) = unnested(pipeline)
    scalers = []
    for name, step in steps:
        if step is None or step == "passthrough":
            continue
        if type(step) not in SCALERS:
            known = ", ".join(each.__name__ for each in SCALERS)
            raise ValueError(
                f"step {name!r} ({type(step).__name__}) cannot be exported; supported steps: {known}. Models of "
                "separatrix fit also export categories and text"
            )
        if getattr(step, "clip", False):
            raise ValueError(f"step {name!r} clips values to its range, which cannot be exported; use clip=False")
        scalers.append(step)
    return scalers, last


def _scaling(scaler: Any) -> list[tuple[str, Floats]]:
    """Return what a scaler of scikit-learn does to the numbers, in its own order."""
    scale = None if scaler.scale_ is None else np.asarray(scaler.scale_, dtype=np.float64)
    if hasattr(scaler, "min_"):
        return [("times", np.asarray(scaler.scale_, dtype=np.float64)), ("plus", np.asarray(scaler.min_))]
    centre = getattr(scaler, "mean_", None) if getattr(scaler, "with_mean", True) else None
    centre = getattr(scaler, "center_", None) if centre is None else centre
    steps: list[tuple[str, Floats]] = [] if centre is None else [("minus", np.asarray(centre, dtype=np.float64))]
    return steps if scale is None else [*steps, ("over", scale)]


# ------------------------------------------------------------------------------------------------ the decision


def decision_of(estimator: Any) -> Decision:
    """Return how an estimator decides, or say that it cannot be exported."""
    from separatrix.estimators import KernelPerceptron, KernelSVM, Network, Perceptron
    from separatrix.insight.original_units import weights_of_model

    if not hasattr(estimator, "classes_"):
        if not hasattr(estimator, "fit"):
            raise ValueError(f"a {type(estimator).__name__} is not a model that can be exported")
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
    if isinstance(estimator, Network):
        return Layers(list(estimator.coefs_), list(estimator.intercepts_))
    if isinstance(estimator, KernelSVM):
        return _kernelled(estimator, *estimator.pair_coefficients(), pairs=len(estimator.classes_) > 2)
    if isinstance(estimator, KernelPerceptron):
        if estimator._ballots:
            return _kernel_voted(estimator)
        return _kernelled(estimator, estimator.dual_coef_.T, estimator.intercept_, pairs=False)
    if isinstance(estimator, Perceptron) and estimator._readout == "voted":
        return _voted(estimator)
    try:
        return Linear(*weights_of_model(estimator, type(estimator).__name__))
    except ValueError as problem:
        raise ValueError(f"a {type(estimator).__name__} cannot be exported: {problem}") from None


def _kernel(estimator: Any) -> tuple[str, float, int, float]:
    kernel = estimator._kernel
    if kernel.supplied:
        what = "a precomputed kernel" if kernel.precomputed else "a kernel that is a Python function"
        names = ", ".join(name for name, kind in KERNELS.items() if not kind.supplied)
        raise ValueError(f"{what} cannot be exported; supported kernels: {names}")
    return kernel.name, float(kernel.gamma), kernel.degree, kernel.coef0


def _kernelled(estimator: Any, coef: Floats, bias: Floats, *, pairs: bool) -> KernelExpansion:
    support = _dense(estimator.support_vectors_)
    return KernelExpansion(*_kernel(estimator), support, np.ascontiguousarray(coef), np.asarray(bias), pairs)


def _kernel_voted(estimator: Any) -> Voted:
    support = _dense(estimator.support_vectors_)
    start = np.zeros(support.shape[1])
    voters = [VoterSequence(start, 0.0, *each.voters()) for each in estimator._ballots]
    return Voted(*_kernel(estimator), support, voters)


def _voted(estimator: Any) -> Voted:
    """Return the voters of all tasks over the rows that any of them misclassified while training."""
    rows, voters, first = [], [], 0
    for state in estimator._states:
        index, signed, counts, square = state.voted_weights.voters()
        start, bias = state.voted_weights.start
        voters.append(VoterSequence(start, bias, index + first, signed, counts, square))
        if state.voted_weights.rows is not None:
            rows.append(_dense(state.voted_weights.rows))
            first += len(rows[-1])
    support = np.concatenate(rows) if rows else np.zeros((0, int(estimator.n_features_in_)))
    return Voted("linear", 1.0, 1, 0.0, support, voters)


def _dense(rows: Any) -> Floats:
    n, width = rows.shape
    if n * width > _MOST_NUMBERS:
        raise ValueError(
            f"the model has {n:,} support vectors of {width:,} features, more than {_MOST_NUMBERS:,} numbers in all; "
            "fit a linear model, which has none"
        )
    return np.ascontiguousarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
