"""One contender on one split: its predictions, seconds, bytes, and what is proved. Runs in a separate process.

All are measured the same way. Training is a call of ``fit`` on prepared rows, predicting a call of ``predict`` on all
test rows, or on a random sample if all would exceed the time limit; short calls are repeated, and the shortest counts.
Memory is the rise of the process's peak resident memory during ``fit``, after a warm-up on a few rows: it counts C, C++
and Python alike, in pages. Where the system cannot reset the peak, memory below an earlier peak is not counted.
The size of a model of this package is that of the file that ``sx.save`` writes; of scikit-learn's, that of its pickle.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.files import ScratchFolder
from separatrix.geometry.rows import is_sparse
from separatrix.tables.compare.contenders import CONTENDERS, Contender, Recipe
from separatrix.tables.compare.kernel_gap import relative_gap
from separatrix.tables.compare.subprocess_runner import Send
from separatrix.tables.compare.trial import Trial

_REPEATS, _ENOUGH = 7, 0.15  # a call is repeated at most this often, or until this many seconds have passed
_WARM_UP = 60  # rows
SAMPLES = (100, 500, 2_000, 10_000)  # sizes of random samples where all rows take too long
_USED = 0.7  # the fraction of the remaining time that one step may take
PROVED = 10.0  # seconds that a proof about a kernel may take
_SYSTEM = Path("/proc/self")  # where Linux reports on the process itself


@dataclass(frozen=True)
class Guarantee:
    """What is proved about a model and its training rows.

    ``kind`` is "gap": its relative duality gap is at most ``value``; or "margin": its planes separate the classes with
    a margin of at least ``value``, in scaled features.
    """

    kind: str
    value: float


@dataclass(frozen=True)
class Measurement:
    """The measurements of one contender on one split.

    Attributes
    ----------
    predictions : array
        For each predicted test row the code of its class.
    train, predict : float
        Seconds to fit, and seconds to predict these rows.
    memory : int or None
        Bytes that fitting needed, not counting the rows; None where the system does not report it.
    size : int
        Bytes of the model.
    status : str
        How the run ended, if the model says so.
    converged : bool
        Whether it converged before the epoch limit.
    proof : Guarantee or None
        What is proved.
    rows : array or None
        Which test rows were predicted, None for all.
    scores, proba : arrays or None
        Scores and probabilities of these rows, where the model has them and gives them in time.
    """

    predictions: NDArray[np.intp]
    train: float
    predict: float
    memory: int | None
    size: int
    status: str
    converged: bool
    proof: Guarantee | None
    rows: NDArray[np.intp] | None = None
    scores: NDArray[np.float64] | None = None
    proba: NDArray[np.float64] | None = None


def measure(send: Send, name: str, recipe: Recipe, folders: Sequence[Path], seconds: float) -> None:
    """Send the measurements on each split, each within its share of the seconds by predicting fewer rows if need be."""
    for folder in folders:
        send(measure_contender(CONTENDERS[name], recipe, Trial.read(folder), seconds / len(folders)))


def measure_contender(contender: Contender, recipe: Recipe, trial: Trial, seconds: float = math.inf) -> Measurement:
    """Return the measurements on one split."""
    until = time.perf_counter() + seconds
    if contender.dense:
        trial = trial.dense()
    from separatrix.estimators.contract import ConvergenceWarning

    def fitted() -> Any:
        return contender.make(recipe).fit(trial.X, trial.y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):  # errors appear again below
            few = _few(trial.y)
            contender.make(recipe).fit(trial.X[few], trial.y[few]).predict(trial.X_test[:1])
        del caught[:]
        before = _settled()
        train, model = timed(fitted, most=1)
        peak = _peak()
        if train < _ENOUGH:
            train = min(train, timed(fitted, spent=train)[0])
        rows = sample(model, trial.X_test, recipe.seed, until - time.perf_counter())
        test = trial.X_test if rows is None else trial.X_test[rows]
        predict, labels = timed(lambda: model.predict(test))
        given = [
            np.asarray(getattr(model, name)(test), dtype=np.float64)
            if hasattr(model, name) and 2 * predict < until - time.perf_counter()
            else None
            for name in ("decision_function", "predict_proba")
        ]
    status = getattr(model, "status_", None)
    cut = (
        any(issubclass(each.category, ConvergenceWarning) for each in caught)
        if status is None
        else not status.converged
    )
    return Measurement(
        np.searchsorted(model.classes_, labels), train, predict,
        None if before is None or peak is None else max(0, peak - before), _size(contender, model),
        "" if status is None else str(status), not cut,
        _proof(model, trial, predict / test.shape[0], until) if contender.family else None, rows, *given,
    )  # fmt: skip


def sample(model: Any, X: Any, seed: int, left: float) -> NDArray[np.intp] | None:
    """Return which rows can be predicted in the remaining seconds, None for all.

    The number is estimated from the time of a few rows, then more. All models use the same random order.
    """
    n, some = X.shape[0], None
    if math.isinf(left) or n <= SAMPLES[0]:
        return None
    order = np.random.default_rng(seed).permutation(n)
    for size, following in zip(SAMPLES, (*SAMPLES[1:], math.inf), strict=True):
        some = np.sort(order[:size])
        took, _ = timed(partial(model.predict, X[some]), most=1)
        left -= took
        if took / size * n <= _USED * left:
            return None
        if following >= n or 2 * took / size * following > _USED * left:  # twice: here and for its predictions
            break
    return some


def timed(call: Callable[[], Any], *, most: int = _REPEATS, spent: float = 0.0) -> tuple[float, Any]:
    """Return the seconds of the shortest of several calls, and the last result; ``spent`` are seconds before them."""
    best, result = float("inf"), None
    for _ in range(most):
        began = time.perf_counter()
        result = call()
        took = time.perf_counter() - began
        best, spent = min(best, took), spent + took
        if spent >= _ENOUGH:
            break
    return best, result


def _few(y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first rows, and two of each class."""
    pairs = [np.flatnonzero(y == label)[:2] for label in np.unique(y)]
    return np.union1d(np.arange(min(_WARM_UP, len(y))), np.concatenate(pairs))


def _settled() -> int | None:
    """Release free memory and reset the peak; return the resident bytes, or the peak if it cannot be reset."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # TypeError: Windows has no library without a name
        ctypes.CDLL(None).malloc_trim(0)
    try:
        (_SYSTEM / "clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _memory("VmRSS")


def _peak() -> int | None:
    """Return the peak of resident bytes; None where the system does not report it."""
    peak = _memory("VmHWM")
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


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

    with ScratchFolder() as folder:
        path = folder / "model.sx"
        save(model, path)
        return os.path.getsize(path)


def _proof(model: Any, trial: Trial, each: float, until: float) -> Guarantee | None:
    """Return what can be proved in time about a model of this package; ``each`` is the seconds to predict a row."""
    kind = type(model).__name__
    if kind == "KernelSVM":
        # it takes about as long as predicting the rows
        long = each * len(trial.y) > min(PROVED, _USED * (until - time.perf_counter()))
        return None if long or not model.status_.converged else Guarantee("gap", relative_gap(model, trial.X, trial.y))
    if kind == "LogisticRegression":
        return Guarantee("gap", float(np.max(model.duality_gap_ / model.objective_)))
    if kind == "LinearSVM":
        certificate = model.certificate_
        parts = list(certificate.values()) if isinstance(certificate, dict) else [certificate]
        return Guarantee("gap", max(each.objective.gap / each.objective.primal for each in parts))
    if not hasattr(model, "coef_") or getattr(model, "readout", "") == "voted":
        return None  # no single plane decides
    margin = _margin(model, trial)
    return Guarantee("margin", margin) if margin > 0 else None


def _margin(model: Any, trial: Trial) -> float:
    """Return a proved lower bound on the margin; not above 0 if a row is not on its own side."""
    from separatrix.certificates.data import binary_data
    from separatrix.certificates.joint import joint_training_margin
    from separatrix.certificates.model import measure_plane
    from separatrix.estimators.one_vs_rest import positives
    from separatrix.geometry.rows import Rows

    codes = np.searchsorted(model.classes_, trial.y).astype(np.int32)
    if getattr(model, "_learned_together", False):
        return joint_training_margin(Rows(trial.X), codes, model.coef_, model.intercept_)
    coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
    matrix, least = Rows(trial.X), float("inf")
    for which, code in enumerate(positives(len(model.classes_))):
        task = binary_data(matrix, model.classes_, codes, True, code)
        weights = np.ascontiguousarray(coef[which], dtype=np.float64)
        least = min(least, measure_plane(task, weights, float(model.intercept_[which])).margin)
        if not least > 0:
            break
    return least
