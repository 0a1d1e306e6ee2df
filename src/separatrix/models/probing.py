"""Lets a model or step predict a made-up row: what fails there is not what it should be."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Any

import numpy as np

_WIDEST = 1 << 21  # columns of a made-up row, which no file need have room for
_STATELESS = ("Normalizer", "HashingVectorizer", "FunctionTransformer")
_TEXT = ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")


def is_fitted(step: Any) -> bool:
    """Whether an estimator, step or pipeline has been fitted, as far as its attributes say."""
    name = type(step).__name__
    if not hasattr(step, "get_params") or name in _STATELESS:
        return True
    if name == "Pipeline":
        return all(is_fitted(each) for _, each in step.steps)
    return any(key.endswith("_") and not key.startswith("_") for key in vars(step))


def probe(step: Any) -> None:
    """Let it predict or transform one row of zeros, or what else it takes; any error is let through."""
    row = example(step)
    if row is None:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"), _sequential():
        warnings.simplefilter("ignore")
        try:
            if hasattr(step, "predict"):
                step.predict(row)
                for more in ("decision_function", "predict_proba"):
                    if hasattr(step, more):
                        getattr(step, more)(row)
            else:
                step.transform(row)
        except ImportError:
            pass  # an output that a missing library makes
        except ValueError as problem:  # unless the row is not what these steps were meant for
            fits = isinstance(row, list) or getattr(row, "dtype", None) == np.float64
            if fits and "unknown categories" not in str(problem):
                raise


def _sequential() -> contextlib.AbstractContextManager[Any]:
    """Return a context without threads of joblib; if it is not loaded, there are none."""
    if "joblib" not in sys.modules:
        return contextlib.nullcontext()
    from joblib import parallel_config

    context: contextlib.AbstractContextManager[Any] = parallel_config(backend="sequential")
    return context


def example(step: Any) -> Any:
    """Return a row that the step takes, None if none can be made up."""
    name = type(step).__name__
    if not is_fitted(step):
        return None
    if hasattr(step, "example_row"):
        return step.example_row()
    if name in _TEXT:
        return ["a"] if step.input == "content" else None
    if name == "Pipeline":
        return next((example(each) for _, each in step.steps if not isinstance(each, str) and each is not None), None)
    width = getattr(step, "n_features_in_", None)
    if type(width) is not int or not 1 <= width <= _WIDEST:
        return None
    if name == "ColumnTransformer":
        return _mixed(step, width)
    if name in ("OneHotEncoder", "OrdinalEncoder"):
        return _row([each[0] for each in step.categories_])
    if name == "SimpleImputer" and step._fit_dtype.kind not in "biuf":
        return _row(["a" if each is None or each != each else each for each in step.statistics_])
    return np.zeros((1, width))


def _row(cells: list[Any]) -> Any:
    row = np.empty((1, len(cells)), dtype=object)
    row[0, :] = cells
    return row


def _mixed(step: Any, width: int) -> Any:
    """Return a row for a ColumnTransformer: what each of its steps wants, where it wants it."""
    cells: list[Any] = [0.0] * width
    for label, each, _ in step.transformers_:
        if isinstance(each, str):
            continue
        row = example(each)
        if row is None:
            return None
        places = step._transformer_to_input_indices[label]
        for place, cell in zip(places, row if isinstance(row, list) else row[0], strict=True):
            cells[place] = cell if isinstance(cell, str) or cell != 0 else cells[place]
    names = getattr(step, "feature_names_in_", None)
    if names is None:
        return _row(cells)
    try:
        import pandas as pd
    except ImportError:
        return None
    return pd.DataFrame({name: [cell] for name, cell in zip(names.tolist(), cells, strict=True)})
