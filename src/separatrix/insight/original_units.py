"""Linear models in the original units of the data, undoing scalers (Lecture 002).

A scaler of scikit-learn is ``x' = x * factor + shift``, feature by feature, and so is a chain of them. A model
``w . x' + b`` on scaled features is therefore ``(w * factor) . x + (b + w . shift)`` on the raw ones.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix import _core
from separatrix.estimators.linear import LinearClassifier
from separatrix.estimators.one_vs_rest import predicted_codes
from separatrix.estimators.probabilistic import Probabilistic, probabilities
from separatrix.geometry.rows import Floats, Rows, is_sparse

SCALERS = (MinMaxScaler, StandardScaler, MaxAbsScaler, RobustScaler)


def original_units(pipeline: Pipeline) -> LinearModel:
    """Return the linear model that does on the raw features what the pipeline does.

    Parameters
    ----------
    pipeline : fitted sklearn Pipeline
        Scalers (MinMaxScaler, StandardScaler, MaxAbsScaler, RobustScaler, any number of them, "passthrough" too), then
        a linear classifier of this package or of scikit-learn.

    Returns
    -------
    LinearModel
        With ``coef_``, ``intercept_``, ``classes_``, ``decision_function`` and ``predict``; for a Neuron or a
        LogisticRegression also ``predict_proba``. A weight is the change of the activation for one more unit of its
        feature.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from separatrix import Perceptron
    >>> X, y = [[1000.0], [2000.0], [3000.0], [5000.0]], [0, 0, 1, 1]
    >>> pipeline = make_pipeline(MinMaxScaler(), Perceptron(random_state=0)).fit(X, y)
    >>> model = original_units(pipeline)
    >>> model.predict(X).tolist() == pipeline.predict(X).tolist() == y
    True
    """
    if not isinstance(pipeline, Pipeline):
        hint = ": give its best_estimator_" if hasattr(pipeline, "best_estimator_") else ""
        raise TypeError(f"original_units needs a fitted scikit-learn Pipeline; found {type(pipeline).__name__}{hint}")
    check_is_fitted(pipeline)
    *steps, (last_name, last) = unnested(pipeline)
    coef, intercept = weights_of_model(last, last_name)
    scalers = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    for name, scaler in reversed(scalers):
        factor, shift = _affine(scaler, name, coef.shape[1])
        intercept = intercept + coef @ shift
        coef = coef * factor
    ours = isinstance(last, LinearClassifier)
    return LinearModel(
        np.ascontiguousarray(coef),
        intercept,
        last.classes_,
        getattr(scalers[0][1] if scalers else last, "feature_names_in_", None),
        tie_is_positive=ours and last.boundary != "negative",
        link=last._probabilities if isinstance(last, Probabilistic) else None,
    )


def unnested(pipeline: Pipeline) -> list[tuple[str, Any]]:
    """Return the steps, those of pipelines inside the pipeline in their place."""
    steps: list[tuple[str, Any]] = []
    for name, step in pipeline.steps:
        steps += unnested(step) if isinstance(step, Pipeline) else [(name, step)]
    return steps


def weights_of_model(model: Any, name: str) -> tuple[Floats, Floats]:
    """Return the weights and biases of a linear classifier, or raise an error that names the step."""
    if getattr(model, "readout", None) == "voted":
        raise ValueError(f"step {name!r} is a voted perceptron, which is not a linear model: use readout='averaged'")
    if not all(hasattr(model, attribute) for attribute in ("coef_", "intercept_", "classes_")):
        raise ValueError(
            f"the last step, {name!r} ({type(model).__name__}), is not a fitted linear classifier: it needs coef_, "
            "intercept_ and classes_"
        )
    coef = dense(model.coef_)
    intercept = np.zeros(len(coef)) + np.asarray(model.intercept_, dtype=np.float64)
    n = len(model.classes_)
    if len(coef) != (1 if n <= 2 else n) or not _decides_by(model, coef, intercept):
        raise ValueError(
            f"the last step, {name!r} ({type(model).__name__}), does not decide by coef_ and intercept_ with one row "
            "for each class (one-vs-one models do not), so it cannot be projected back"
        )
    return coef, intercept


def _decides_by(model: Any, coef: Floats, intercept: Floats) -> bool:
    """Return whether ``w . x + b`` is what the model decides by, at some points."""
    if not hasattr(model, "decision_function"):
        return True
    probe = np.random.default_rng(0).standard_normal((4, coef.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the probe has no column names
        decided = np.asarray(model.decision_function(probe))
    expected = probe @ coef.T + intercept
    expected = expected[:, 0] if expected.shape[1] == 1 else expected
    size = float(np.abs(coef).sum() + np.abs(intercept).sum())
    return decided.shape == expected.shape and np.allclose(decided, expected, rtol=1e-6, atol=1e-9 * size)


def dense(coef: Any) -> Floats:
    """Return weights, which some models keep sparse, as an array with one row for each binary task."""
    return np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef, dtype=np.float64))


def _affine(scaler: Any, name: str, d: int) -> tuple[Floats, Floats]:
    """Return the factor and the shift of each feature."""
    one, nothing = np.ones(d), np.zeros(d)
    if type(scaler) not in SCALERS:
        known = ", ".join(each.__name__ for each in SCALERS)
        raise ValueError(
            f"step {name!r} ({type(scaler).__name__}) cannot be undone feature by feature; supported are "
            f"{known} and chains of these"
        )
    if getattr(scaler, "clip", False):
        raise ValueError(f"step {name!r} clips values to its range, which is not linear: use clip=False")
    if isinstance(scaler, MinMaxScaler):  # its scale_ multiplies, the others' divides
        return np.asarray(scaler.scale_), np.asarray(scaler.min_)
    centre = scaler.mean_ if isinstance(scaler, StandardScaler) else getattr(scaler, "center_", None)
    if not getattr(scaler, "with_mean", True):
        centre = None
    factor = one if scaler.scale_ is None else 1.0 / np.asarray(scaler.scale_)
    return factor, nothing if centre is None else -np.asarray(centre) * factor


class LinearModel:
    """A trained linear classifier: weights, bias and classes.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : array of shape (1,) or (n_classes,)
        The bias.
    classes_ : array
        The labels, sorted.
    n_features_in_ : int
        How many features it takes.
    feature_names_in_ : array or None
        Their names, where the pipeline was fitted on a frame.
    """

    def __init__(
        self,
        coef: Floats,
        intercept: Floats,
        classes: NDArray[Any],
        names: Any,
        *,
        tie_is_positive: bool,
        link: str | None,
    ) -> None:
        self.coef_ = coef
        self.intercept_ = intercept
        self.classes_ = classes
        self.n_features_in_ = coef.shape[1]
        self.feature_names_in_ = names
        self._tie_is_positive = tie_is_positive
        self._link = link

    def __repr__(self) -> str:
        return f"<LinearModel: {self.n_features_in_} features, classes {self.classes_.tolist()}>"

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row: of shape (n,) for two classes, (n, n_classes) for more."""
        rows = Rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features, but the model was trained on {self.n_features_in_}")
        names = self.feature_names_in_
        if names is not None and rows.names is not None and list(names) != rows.names:
            raise ValueError(f"the columns of X are {rows.names}; the model was trained on {list(names)}")
        rows.check_finite()
        activations = _core.decide(rows.matrix, self.coef_, self.intercept_, 1)
        return np.asarray(activations[:, 0] if activations.shape[1] == 1 else activations)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        activations = self.decision_function(X)
        codes = predicted_codes(activations, len(self.classes_), tie_is_positive=self._tie_is_positive)
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    @available_if(lambda self: self._link is not None)  # type: ignore[untyped-decorator, unused-ignore]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, as the model of the pipeline gives it."""
        return probabilities(self.decision_function(X), len(self.classes_), str(self._link))
