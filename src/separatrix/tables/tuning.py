"""The strength of a model, chosen by cross-validation: its one parameter that trades fit against simplicity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.folds import Folds, OutOfFold, fold_scores
from separatrix.tables.settings import Settings

# From simple to complex: of equally good values the first is taken.
_GRIDS: dict[str, tuple[Any, ...]] = {
    "C": (0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6, 100.0),
    "r": (100.0, 31.6, 10.0, 3.16, 1.0, 0.316, 0.1, 0.0316, 0.01),
    "epochs": (1, 2, 5, 10, 20, 50),
    "alpha": (0.1, 0.01, 0.001, 0.0001, 0.00001, 0.0),
}
_GRIDS["a"] = _GRIDS["r"]
_PARTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)  # of the largest margin, ALMA's alpha


class Tuned(NamedTuple):
    """The candidates, their cross-validated scores (mean and standard deviation over folds), and the best of them.

    Where Ctrl-C ended it, they are those that were done.
    """

    parameter: str
    values: tuple[Any, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    best: int
    result: OutOfFold  # of the best
    interrupted: bool = False


def strength(settings: Settings) -> tuple[str, tuple[Any, ...]]:
    """Return the parameter that ``--tune`` chooses for a model, and its candidates; refuse one that is given too.

    Examples
    --------
    >>> strength(Settings("averaged"))
    ('epochs', (1, 2, 5, 10, 20, 50))
    """
    import separatrix
    from separatrix.tables.kinds import MODELS

    known = getattr(separatrix, MODELS[settings.model].estimator)().get_params()
    name = next((name for name in ("C", "r", "a", "alpha") if name in known), "epochs")
    given = f"--param {name}" if name in settings.parameters else ""
    if name == "epochs" and settings.epochs is not None:
        given = "--epochs"
    if given:
        raise ValueError(f"--tune chooses {name} for --model {settings.model}: leave {given} out")
    return name, _PARTS if settings.model == "alma" else _GRIDS[name]


def with_strength(settings: Settings, parameter: str, value: Any) -> Settings:
    """Return the settings with a value for the parameter."""
    if parameter == "epochs":
        return replace(settings, epochs=value)
    return replace(settings, parameters={**settings.parameters, parameter: value})


def tune(
    settings: Settings,
    metric: str,
    labels: NDArray[Any],
    folds: Folds,
    scored: Callable[[Settings, str], OutOfFold],
) -> Tuned:
    """Return the best strength.

    Parameters
    ----------
    settings : Settings
        All other settings.
    metric : str
        What decides, as ``folds.fold_scores`` computes it.
    labels : array
        Codes of the training rows' classes.
    folds : list of pairs of arrays
        The folds, the same for each candidate.
    scored : callable
        Returns the out-of-fold scores of settings; it is told which candidate they are, for a progress bar.
    """
    name, values = strength(settings)
    means: list[float] = []
    deviations: list[float] = []
    best: OutOfFold | None = None
    for value in values:
        try:
            result = scored(with_strength(settings, name, value), f"{name}={value:g}")
        except KeyboardInterrupt:
            if best is None:
                raise
            break
        per_fold: Floats = fold_scores(metric, result, labels)
        if best is None or per_fold.mean() > max(means):
            best = result
        means.append(float(per_fold.mean()))
        deviations.append(float(per_fold.std()))
    assert best is not None
    done = values[: len(means)]
    return Tuned(name, done, tuple(means), tuple(deviations), int(np.argmax(means)), best, len(done) < len(values))
