"""One contender on one split: its answers, seconds, bytes, and what is proved about it. Runs in a process of its own.

All are measured in the same way. Training is the call of ``fit`` on prepared rows, predicting one call of ``predict``
on all held-out rows, or on some at random if all would take longer than there is time; short calls are repeated, and
the shortest counts. Memory is how far the peak of the process's resident memory rises during ``fit``, after a rehearsal
on a few rows: it counts C, C++ and Python alike, in pages. Where the system does not let the peak be set back, what a
fit takes below an earlier peak is not seen. A model of this package is as large as the file that ``sx.save`` writes,
one of scikit-learn's as its pickle.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import os
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.compare.contenders import CONTENDERS, Contender, Recipe
from separatrix.tables.compare.kernel_gap import relative_gap
from separatrix.tables.compare.subprocess_runner import Send
from separatrix.tables.compare.trial import Trial

_REPEATS, _ENOUGH = 7, 0.15  # a call is repeated so often at most, or until all took so many seconds
_REHEARSAL = 60  # rows
SAMPLES = (100, 500, 2_000, 10_000)  # rows that are predicted at random where all take too long
_USED = 0.7  # the share of the time left that is given to one thing
PROVED = 10.0  # seconds that a proof about a kernel may take
_SYSTEM = Path("/proc/self")  # what Linux tells a process about itself


@dataclass(frozen=True)
class Proof:
    """What is proved about a model and the rows it learned from.

    ``kind`` is "gap": no model of its kind has an objective that is smaller by more than ``value`` of it; or "margin":
    its planes separate the classes, each row at least ``value`` away from them, in the numbers as scaled.
    """

    kind: str
    value: float


@dataclass(frozen=True)
class Measured:
    """What was found on one split.

    Attributes
    ----------
    answers : array
        For each held-out row that was predicted the code of its class.
    train, predict : float
        Seconds to fit, and seconds to predict these rows.
    memory : int or None
        Bytes that fitting needed besides the rows, None where the system does not tell.
    size : int
        Bytes of the model.
    status : str
        How the run ended, as far as the model says.
    converged : bool
        Whether it ended by itself, not at the limit of its epochs.
    proof : Proof or None
        What is proved.
    rows : array or None
        Which of the held-out rows were predicted, None for all.
    """

    answers: NDArray[np.intp]
    train: float
    predict: float
    memory: int | None
    size: int
    status: str
    converged: bool
    proof: Proof | None
    rows: NDArray[np.intp] | None = None


def measure(send: Send, name: str, recipe: Recipe, folders: Sequence[Path], seconds: float) -> None:
    """Send what is found on each split, each in its share of the seconds as far as rows to predict can be left out."""
    for folder in folders:
        send(measured(CONTENDERS[name], recipe, Trial.read(folder), seconds / len(folders)))


def measured(contender: Contender, recipe: Recipe, trial: Trial, seconds: float = math.inf) -> Measured:
    """Return what is found on one split."""
    until = time.perf_counter() + seconds
    from sklearn.exceptions import ConvergenceWarning

    def fitted() -> Any:
        return contender.make(recipe).fit(trial.X, trial.y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):  # what is wrong comes to light below
            few = _few(trial.y)
            contender.make(recipe).fit(trial.X[few], trial.y[few]).predict(trial.held[:1])
        del caught[:]
        before = _settled()
        train, model = timed(fitted, most=1)
        peak = _peak()
        if train < _ENOUGH:
            train = min(train, timed(fitted, spent=train)[0])
        rows = sample(model, trial.held, recipe.seed, until - time.perf_counter())
        held = trial.held if rows is None else trial.held[rows]
        predict, answers = timed(lambda: model.predict(held))
    status = getattr(model, "status_", None)
    cut = (
        any(issubclass(each.category, ConvergenceWarning) for each in caught)
        if status is None
        else not status.converged
    )
    return Measured(
        np.searchsorted(model.classes_, answers), train, predict,
        None if before is None or peak is None else max(0, peak - before), _size(contender, model),
        "" if status is None else str(status), not cut,
        _proof(model, trial, predict / held.shape[0], until) if contender.family else None, rows,
    )  # fmt: skip


def sample(model: Any, held: Any, seed: int, left: float) -> NDArray[np.intp] | None:
    """Return which rows can be predicted in the seconds that are left, None for all.

    How many is found from the time of a few, then more. They are the first of the same random order for all models.
    """
    n, some = held.shape[0], None
    if math.isinf(left) or n <= SAMPLES[0]:
        return None
    order = np.random.default_rng(seed).permutation(n)
    for size, following in zip(SAMPLES, (*SAMPLES[1:], math.inf), strict=True):
        some = np.sort(order[:size])
        took, _ = timed(partial(model.predict, held[some]), most=1)
        left -= took
        if took / size * n <= _USED * left:
            return None
        if following >= n or 2 * took / size * following > _USED * left:  # twice: here and for its answers
            break
    return some


def timed(call: Callable[[], Any], *, most: int = _REPEATS, spent: float = 0.0) -> tuple[float, Any]:
    """Return the seconds of the shortest of several calls, and the last answer; ``spent`` are seconds before them."""
    best, answer = float("inf"), None
    for _ in range(most):
        began = time.perf_counter()
        answer = call()
        took = time.perf_counter() - began
        best, spent = min(best, took), spent + took
        if spent >= _ENOUGH:
            break
    return best, answer


def _few(y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first rows, and two of each class."""
    pairs = [np.flatnonzero(y == label)[:2] for label in np.unique(y)]
    return np.union1d(np.arange(min(_REHEARSAL, len(y))), np.concatenate(pairs))


def _settled() -> int | None:
    """Give back what memory is free and forget the peak; return the resident bytes, or the peak if it stays."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # TypeError: Windows has no library without a name
        ctypes.CDLL(None).malloc_trim(0)
    try:
        (_SYSTEM / "clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _memory("VmRSS")


def _peak() -> int | None:
    """Return the most bytes that were resident; None where the system does not tell."""
    found = _memory("VmHWM")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def _memory(name: str) -> int | None:
    try:
        lines = (_SYSTEM / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:")), None)


def _size(contender: Contender, model: Any) -> int:
    if not contender.family:
        return len(pickle.dumps(model))
    from separatrix.models.model_file import save

    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        path = os.path.join(folder, "model.sx")
        save(model, path)
        return os.path.getsize(path)


def _proof(model: Any, trial: Trial, each: float, until: float) -> Proof | None:
    """Return what can be proved about a fitted model of the family in time; ``each`` is what it takes for a row."""
    kind = type(model).__name__
    if kind == "KernelSVM":
        # it takes about as long as to predict the rows
        long = each * len(trial.y) > min(PROVED, _USED * (until - time.perf_counter()))
        return None if long or not model.status_.converged else Proof("gap", relative_gap(model, trial.X, trial.y))
    if kind == "LinearSVM":
        found = model.certificate_
        parts = list(found.values()) if isinstance(found, dict) else [found]
        return Proof("gap", max(each.objective.gap / each.objective.primal for each in parts))
    if not hasattr(model, "coef_") or getattr(model, "readout", "") == "voted":
        return None  # whose answers come from no single plane
    margin = _margin(model, trial)
    return Proof("margin", margin) if margin > 0 else None


def _margin(model: Any, trial: Trial) -> float:
    """Return a proved lower bound on the least distance of a row from its plane; not above 0 if one is not beyond."""
    from separatrix.certificates.data import binary_data
    from separatrix.certificates.model import measure_plane
    from separatrix.estimators.one_vs_rest import positives
    from separatrix.geometry.rows import Rows

    codes = np.searchsorted(model.classes_, trial.y).astype(np.int32)
    coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
    matrix, least = Rows(trial.X), float("inf")
    for which, code in enumerate(positives(len(model.classes_))):
        asked = binary_data(matrix, model.classes_, codes, True, code)
        weights = np.ascontiguousarray(coef[which], dtype=np.float64)
        least = min(least, measure_plane(asked, weights, float(model.intercept_[which])).margin)
        if not least > 0:
            break
    return least
