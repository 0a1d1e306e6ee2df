"""Which models can be saved: refusals that name the step and say what is accepted."""

from __future__ import annotations

from typing import Any

from separatrix.models.encoding import described
from separatrix.models.probing import is_fitted
from separatrix.models.registry import Registry, estimator_names, stored_classes
from separatrix.models.sklearn_steps import STEPS


def check_model(model: Any) -> str:
    """Return the kind of a model that can be saved, or refuse it."""
    registry = Registry()
    name = registry.name_of(type(model))
    if name is None or not (stored_classes()[name].model or stored_classes()[name].estimator):
        accepted = f"a fitted {_estimators()}, or a scikit-learn Pipeline that ends in one"
        raise ValueError(f"a model file holds {accepted}; found {described(model)}")
    if name == "Pipeline":
        _check_pipeline(registry, model, "", last=True)
    if not is_fitted(model):
        raise ValueError(f"this {name} is not fitted yet: call fit first")
    return name


def _check_pipeline(registry: Registry, pipeline: Any, prefix: str, *, last: bool = False) -> None:
    if not pipeline.steps:
        raise ValueError("a Pipeline without steps cannot be saved")
    *before, (final, end) = pipeline.steps
    for name, step in before:
        _check_step(registry, step, prefix + str(name))
    if not last:
        _check_step(registry, end, prefix + str(final))
    elif registry.name_of(type(end)) == "Pipeline":
        _check_pipeline(registry, end, f"{prefix}{final}/", last=True)
    elif registry.name_of(type(end)) not in estimator_names():
        raise ValueError(f"the last step {prefix + str(final)!r} must be a fitted {_estimators()}; found "
                         f"{described(end)}")  # fmt: skip


def _check_step(registry: Registry, step: Any, path: str) -> None:
    if step is None or (isinstance(step, str) and step in ("passthrough", "drop")):
        return
    name = registry.name_of(type(step))
    if name == "Pipeline":
        _check_pipeline(registry, step, f"{path}/")
    elif name == "ColumnTransformer":
        for label, each, _ in [*step.transformers, *getattr(step, "transformers_", [])]:
            _check_step(registry, each, f"{path}/{label}")
    elif name == "FunctionTransformer":
        if step.func is not None or step.inverse_func is not None:
            raise ValueError(f"the step {path!r} is a FunctionTransformer with a function; {_accepted()}")
    elif name is None and hasattr(type(step), "stored_within"):
        raise ValueError(f"the step {path!r} is {described(step)}; {type(step).stored_within}")
    elif name not in STEPS:
        raise ValueError(f"the step {path!r} is {described(step)}; {_accepted()}")
    else:
        for attribute in ("analyzer", "tokenizer", "preprocessor", "feature_name_combiner"):
            if callable(getattr(step, attribute, None)):
                raise ValueError(
                    f"the step {path!r} is {described(step)} whose {attribute} is a function; {_accepted()}"
                )


def _accepted() -> str:
    return (
        f"before the last step a model file holds scikit-learn's {', '.join(STEPS)}, ColumnTransformers and Pipelines "
        "of these, 'passthrough' and 'drop'"
    )


def _estimators() -> str:
    names = estimator_names()
    return f"{', '.join(names[:-1])} or {names[-1]}"
