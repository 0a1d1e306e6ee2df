"""Models of this package with River's interface: ``learn_one`` and ``predict_one`` of dicts.

Needs the package ``river`` (the extra ``river``).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

try:
    from river import base
except ImportError:
    raise ImportError("sx.river needs the package river: pip install 'separatrix[river]'") from None

from separatrix.estimators.stream import Stream, stream

__all__ = ["Wrap"]


class Wrap(base.Classifier):  # type: ignore[misc, unused-ignore]
    """A model of this package as a classifier of River.

    Every row does what ``partial_fit`` of that row alone would do, to the last bit; see :func:`separatrix.stream`.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        What to learn; it is copied.
    features : sequence of str or "hash", optional
        What the keys of the rows mean: by default the columns are added as they are first seen.

    Examples
    --------
    >>> import separatrix as sx
    >>> from river import metrics  # doctest: +SKIP
    >>> model = sx.river.Wrap(sx.PassiveAggressive())  # doctest: +SKIP
    >>> model.learn_one({"length": 2.0, "width": 0.5}, "leaf")  # doctest: +SKIP
    """

    def __init__(self, model: Any, features: Any = None) -> None:
        self.model = model
        self.features = features
        self._stream: Stream[Any] | None = None

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from separatrix.estimators import AROW, Neuron, PassiveAggressive, Perceptron

        for model in (Perceptron(), PassiveAggressive(), AROW(), Neuron(loss="log")):
            yield {"model": model}

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn from one row and its label."""
        if self._stream is None:
            self._stream = stream(copy.deepcopy(self.model), features=self.features)
        self._stream.learn(x, y)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the class of one row; None before anything was learned."""
        return None if self._stream is None else self._stream.predict(x)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class, of models that have them."""
        if not hasattr(self.model, "predict_proba"):
            raise NotImplementedError(f"{type(self.model).__name__} has no probabilities")
        return {} if self._stream is None else self._stream.probabilities(x)
