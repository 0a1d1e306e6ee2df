"""The studio in a notebook: the same page in a cell, and its model in Python. anywidget is the extra ``notebook``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from separatrix.studio.page import html
from separatrix.studio.points import ESTIMATORS, Points, points_of, state_of


class Studio(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """The studio in a cell of a notebook, with two columns of X.

    Parameters
    ----------
    X : array or frame of shape (n_samples, n_features), optional
        The rows; without them the page begins with the worked example of Lecture 000.
    y : sequence of n_samples labels
        Their classes.
    columns : (int, int), default=(0, 1)
        The columns of X that run across and up.
    positive : label, optional
        The label of class 1; the others are class 0. By default the last.

    Attributes
    ----------
    model : estimator
        The estimator that the page shows, fitted as far as the page has gone.
    points : Points
        The points of the page: ``X`` and the labels ``y``, -1 and 1.

    Examples
    --------
    >>> from separatrix import Studio
    >>> studio = Studio([[0, 1], [1, 0]], ["no", "yes"])  # the last line of a cell shows it
    """

    _esm = Path(__file__).with_name("web") / "widget.js"
    page = traitlets.Unicode().tag(sync=True)
    run = traitlets.Dict().tag(sync=True)

    def __init__(
        self, X: Any = None, y: Any = None, *, columns: tuple[int, int] = (0, 1), positive: Any = None
    ) -> None:
        begins: dict[str, Any] = {}
        if X is not None:
            names = [str(name) for name in getattr(X, "columns", [])]
            rows = X.to_numpy() if hasattr(X, "to_numpy") else X
            pairs = [[row[column] for column in columns] for row in rows]
            chosen = [names[column] if names else f"x{column + 1}" for column in columns]
            begins = state_of(pairs, list(y), chosen, positive)
        super().__init__(page=html({**begins, "embedded": True}))

    @property
    def model(self) -> Any:
        """The estimator that the page shows, fitted as far as the page has gone."""
        import warnings

        import separatrix

        points, name = self.points, self.run["estimator"]
        if name not in ESTIMATORS:
            raise ValueError(f"the estimator must be one of {', '.join(ESTIMATORS)}; found {name!r}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows how the run ended
            return getattr(separatrix, name)(**self.run["parameters"]).fit(points.X, points.y)

    @property
    def points(self) -> Points:
        """The points of the page and their classes."""
        if not self.run:
            raise ValueError("the page has not been shown yet: make it the last line of a cell")
        return points_of(self.run)
