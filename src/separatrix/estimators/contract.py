"""What the estimators take from scikit-learn: base classes, checks, warnings.

They are scikit-learn's own, except in the process of the command ``separatrix``: importing scikit-learn takes longer
than most of its fits. There, where no other code meets the estimators, stand-ins with the same parameters, attributes
and messages take their place, unless scikit-learn is loaded already.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import separatrix

if TYPE_CHECKING or "sklearn" in sys.modules or not separatrix._is_command:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import validate_data as validate_data

    try:  # scikit-learn 1.9 and later
        from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
        from sklearn.callback import with_callbacks as with_callbacks
    except ImportError:

        class CallbackSupportMixin:  # type: ignore[no-redef]
            """Stands in where scikit-learn has no callbacks."""

        def with_callbacks(method: Any) -> Any:
            """Return the method as it is."""
            return method
else:

    class CallbackSupportMixin:
        """Nothing: the command shows progress by other means."""

    class ClassifierMixin:
        """Nothing: the command computes its scores from predictions."""

    class ConvergenceWarning(UserWarning):
        """A run ended before it converged."""

    class NotFittedError(ValueError, AttributeError):
        """An estimator was asked to predict before it was fitted."""

    class BaseEstimator:
        """An estimator whose parameters are those of its ``__init__``, kept in attributes of the same names."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> BaseEstimator:
            """Set some parameters, and return this estimator."""
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}."
                    )
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            usual = {name: each.default for name, each in inspect.signature(type(self).__init__).parameters.items()}
            given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not usual[name]]
            return f"{type(self).__name__}({', '.join(given)})"

        def __sklearn_tags__(self) -> Any:  # for a pipeline of scikit-learn that ends with this estimator
            from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

            return Tags(
                estimator_type="classifier", target_tags=TargetTags(required=True), input_tags=InputTags(),
                transformer_tags=None, classifier_tags=ClassifierTags(), regressor_tags=None,
            )  # fmt: skip

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method

    def check_is_fitted(estimator: Any, attribute: str) -> None:
        """Refuse an estimator without this attribute."""
        if not hasattr(estimator, attribute):
            raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet: call fit first")

    def validate_data(estimator: Any, X: Any, *, reset: bool, skip_check_array: bool) -> None:
        """Keep the number of features, or refuse rows that have another."""
        if not (isinstance(X, np.ndarray) or hasattr(X, "indptr")):  # a frame, whose columns have names
            from sklearn.utils.validation import validate_data

            validate_data(estimator, X, reset=reset, skip_check_array=skip_check_array)
            return
        width = int(X.shape[1])
        if reset:
            estimator.n_features_in_ = width
        elif width != estimator.n_features_in_:
            name, known = type(estimator).__name__, estimator.n_features_in_
            raise ValueError(f"X has {width} features, but {name} is expecting {known} features as input")


@functools.cache
def parameter_names(kind: type) -> list[str]:
    """Return the names of an estimator's parameters, which scikit-learn reads from the signature at every call."""
    names: list[str] = kind._get_param_names()  # type: ignore[attr-defined]
    return names


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Keep the number and the names of the features, or refuse rows that have others.

    For an array or a matrix without names this is what ``validate_data`` does, without a look at its tags.
    """
    known = vars(estimator)
    plain = type(X) is np.ndarray or hasattr(X, "indptr")
    if plain and reset:
        known.pop("feature_names_in_", None)
        estimator.n_features_in_ = int(X.shape[1])
    elif not (plain and "feature_names_in_" not in known and X.shape[1:] == (known.get("n_features_in_"),)):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
