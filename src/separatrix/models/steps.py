"""Which models can be saved: refusals that name the step and say what is accepted."""

from __future__ import annotations

from typing import Any

from separatrix.models.classes import CLASSES, MODELS, STEPS, Known
from separatrix.models.codec import described
from separatrix.models.probing import is_fitted


def check_model(model: Any) -> str:
    """Return the kind of a model that can be saved, or refuse it."""
    known = Known()
    name = known.name_of(type(model))
    if name is None or not CLASSES[name].model:
        accepted = f"a fitted {_either(MODELS)}, or a scikit-learn Pipeline that ends in one"
        raise ValueError(f"a model file holds {accepted}; found {described(model)}")
    if name == "Pipeline":
        _check_pipeline(known, model, "", last=True)
    if not is_fitted(model):
        raise ValueError(f"this {name} is not fitted yet: call fit first")
    return name


def _check_pipeline(known: Known, pipeline: Any, prefix: str, *, last: bool = False) -> None:
    if not pipeline.steps:
        raise ValueError("a Pipeline without steps cannot be saved")
    *before, (final, end) = pipeline.steps
    for name, step in before:
        _check_step(known, step, prefix + str(name))
    if not last:
        _check_step(known, end, prefix + str(final))
    elif known.name_of(type(end)) == "Pipeline":
        _check_pipeline(known, end, f"{prefix}{final}/", last=True)
    elif known.name_of(type(end)) not in MODELS:
        raise ValueError(f"the last step {prefix + str(final)!r} must be a fitted {_either(MODELS)}; found "
                         f"{described(end)}")  # fmt: skip


def _check_step(known: Known, step: Any, path: str) -> None:
    if step is None or (isinstance(step, str) and step in ("passthrough", "drop")):
        return
    name = known.name_of(type(step))
    if name == "Pipeline":
        _check_pipeline(known, step, f"{path}/")
    elif name == "ColumnTransformer":
        for label, each, _ in [*step.transformers, *getattr(step, "transformers_", [])]:
            _check_step(known, each, f"{path}/{label}")
    elif name == "FunctionTransformer":
        if step.func is not None or step.inverse_func is not None:
            raise ValueError(f"the step {path!r} is a FunctionTransformer with a function; {_accepted()}")
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


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
