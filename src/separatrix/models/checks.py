"""What every object of a model file must be like, so that no forged one misleads the core or fails later.

Each check raises an error with half a sentence about what is wrong; the caller names the file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.geometry.rows import is_sparse
from separatrix.models.probing import is_fitted, probe

_MOST_JOBS = 4096
_MOST_DEGREE = 10_000
_POINT = ("alpha", "square", "cost", "slack", "sign", "rest", "wait", "leave")
_BY_FEATURE = ("mean_", "var_", "scale_", "center_", "min_", "max_abs_", "data_min_", "data_max_", "data_range_",
               "statistics_", "idf_")  # fmt: skip


def _need(condition: Any, text: str) -> None:
    if not condition:
        raise ValueError(text)


def _is_count(value: Any, least: int = 0, most: int = 2**62) -> bool:
    return type(value) is int and least <= value <= most


def _is_real(value: Any) -> bool:
    return type(value) in (int, float) or isinstance(value, np.floating | np.integer)


def _is_array(value: Any, kind: str, shape: tuple[int | None, ...], *, finite: bool = False) -> bool:
    """Whether this is an array of that type and shape, where None stands for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(kind) or value.ndim != len(shape):
        return False
    if any(wanted is not None and length != wanted for length, wanted in zip(value.shape, shape, strict=True)):
        return False
    return not finite or bool(np.isfinite(value).all())


# ---------------------------------------------------------------------------------------------- estimators


def _check_fitted(model: Any) -> tuple[int, int]:
    """Check what all estimators have; return the number of features and of classes."""
    name = type(model).__name__
    _need(is_fitted(model), f"the {name} is not fitted: call fit first")
    for parameter in model.get_params(deep=False):
        _need(parameter in vars(model), f"the {name} has no {parameter}")
    _check_jobs(model)
    width = _check_width(model)
    classes: Any = getattr(model, "classes_", None)
    plain = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 0
    if plain and classes.dtype.kind not in "biufUSO":
        raise ValueError(f"its classes_ are of the type {classes.dtype}, which a model file cannot keep")
    _need(plain and np.array_equal(np.unique(classes), classes), "its classes_ are not sorted labels")
    check_status(getattr(model, "status_", None))
    return width, len(classes)


def _check_width(model: Any) -> int:
    width = getattr(model, "n_features_in_", None)
    if not isinstance(width, int) or not _is_count(width, 1):
        raise ValueError("its n_features_in_ is no number of features")
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        named = _is_array(names, "O", (width,)) and all(isinstance(each, str) for each in names)
        _need(named, "its feature_names_in_ are not the names of its features")
    return width


def _check_jobs(step: Any) -> None:
    jobs = getattr(step, "n_jobs", None)
    _need(jobs is None or (isinstance(jobs, int) and abs(jobs) <= _MOST_JOBS), "its n_jobs is no number of threads")


def _questions(n_classes: int) -> int:
    return n_classes if n_classes > 2 else 1


def _check_learned(model: Any, width: int, states: int) -> None:
    """Check what estimators that can go on keep for that."""
    found = vars(model)
    for name in ("_states", "_spread", "_run_seed", "_width", "_cut_short", "_data_mark", "history_"):
        _need(name in found, f"the {type(model).__name__} has no {name}")
    _need(isinstance(model._states, list) and len(model._states) == states, "its states are not one for each question")
    _need(_is_count(model._run_seed, 0, 2**64 - 1), "its seed is no whole number")
    _need(model._width == width, "its width is not that of its features")
    _need(type(model._cut_short) is bool, "it does not say whether it was cut short")
    _need(
        type(model._spread).__name__ == "Moments" and len(model._spread._mean) == width, "its moments are of other data"
    )
    mark = model._data_mark
    _need(mark is None or type(mark) is tuple, "the mark of its data is damaged")
    if mark is not None:
        from separatrix.stops import Stop

        _need(type(found.get("_watched")) is tuple, "it does not say what it watched")
        _need(isinstance(found.get("_asked"), Stop), "it does not say when it was to stop")


def _check_planes(model: Any) -> tuple[int, int]:
    """Check what all linear estimators have; return the number of features and of classes."""
    width, n_classes = _check_fitted(model)
    model._check_parameters()
    questions = _questions(n_classes)
    _need(
        _is_array(model.coef_, "f8", (questions, width), finite=True), "its coef_ are not finite weights of its shape"
    )
    _need(_is_array(model.intercept_, "f8", (questions,), finite=True), "its intercept_ is not finite or of its shape")
    _check_learned(model, width, questions)
    for state in model._states:
        _need(0 <= state.positive < max(n_classes, 1), "a state is of an unknown class")
    return width, n_classes


def check_linear_svm(model: Any) -> None:
    """Check a LinearSVM."""
    width, _ = _check_planes(model)
    _need({type(state).__name__ for state in model._states} == {"MarginState"}, "its states are not of one kind")
    for state in model._states:
        _check_margin_width(state, width)
    lengths = {None if state.alpha is None else len(state.alpha) for state in model._states}
    _need(len(lengths) <= 1, "its states are of different data")
    probe(model)


def check_linear(model: Any) -> None:
    """Check a Perceptron, Neuron or OnlineSVM."""
    width, _ = _check_planes(model)
    _need(model._readout in ("last", "averaged", "voted", "pocket"), "its readout is unknown")
    _need(_is_real(model._bias_constant) and 0 <= model._bias_constant < math.inf, "its bias constant is no number")
    _need({type(state).__name__ for state in model._states} == {"State"}, "its states are not of one kind")
    voted = model._readout == "voted"
    for state in model._states:
        _need(len(state.weights) == width, "a state has weights of the wrong number")
        _need(
            (state.average_correction is not None) == (model._readout in ("averaged", "voted")),
            "a state keeps no average",
        )
        _need((state.pocket is not None) == (model._readout == "pocket"), "a state keeps no pocket")
        _need(
            (state.voted_weights is not None) == voted and (state.votes is not None) == voted, "a state keeps no votes"
        )
        if voted:
            _need(state.votes == [] and len(state.voted_weights._start[0]) == width, "a ballot is of other data")
            rows = state.voted_weights._rows
            _need(rows is None or rows.shape[1] == width, "a ballot is of other data")
    if type(model).__name__ == "OnlineSVM":
        seen = model._weight_seen
        _need(_is_real(seen) and 0 <= seen < math.inf, "it does not say how much it has seen")
    probe(model)


def check_network(model: Any) -> None:
    """Check a Network."""
    width, n_classes = _check_fitted(model)
    model._check_parameters()
    _check_learned(model, width, 1)
    coefs, intercepts = model.coefs_, model.intercepts_
    _need(type(coefs) is list and type(intercepts) is list and len(coefs) == len(intercepts) > 0, "it has no layers")
    _need(type(model._states[0]).__name__ == "NetworkState", "its state is no network's")
    before = width
    for weights, bias in zip(coefs, intercepts, strict=True):
        _need(_is_array(weights, "f8", (before, None), finite=True), "the weights of a layer are not of its shape")
        before = weights.shape[1]
        _need(
            before > 0 and _is_array(bias, "f8", (before,), finite=True), "the biases of a layer are not of its shape"
        )
    _need(before == _questions(n_classes), "its last layer is not one neuron for each question")
    shapes = [each.shape for each in coefs]
    state = model._states[0]
    _need([layer.weights.shape for layer in state.layers] == shapes, "its state has other layers")
    _need([layer.weights.shape for layer in state.start] in ([], shapes), "its state began with other layers")
    probe(model)


def _check_support(model: Any) -> tuple[int, int, int]:
    if callable(model.kernel):
        raise ValueError("its kernel is a function, which a model file cannot keep: name one of linear, rbf, poly or "
                         "precomputed instead")  # fmt: skip
    width, n_classes = _check_fitted(model)
    _need(n_classes >= 2, "it knows one class only")
    model._check_numbers()
    model._check_kernel()
    _need(getattr(model._kernel, "stored_as", "") == "Kernel", "it has no kernel")
    support = model.support_
    _need(
        isinstance(support, np.ndarray) and support.ndim == 1 and support.dtype.kind == "i", "its support_ is damaged"
    )
    n = len(support)
    _need(n == 0 or support.min() >= 0, "its support_ names rows that cannot be")
    vectors = model.support_vectors_
    if model._kernel.precomputed:
        _need(_is_array(vectors, "f8", (0, 0)), "its support vectors are damaged")
        _need(n == 0 or support.max() < width, "its support_ names rows that cannot be")
    else:
        numbers = (is_sparse(vectors) or isinstance(vectors, np.ndarray)) and vectors.dtype.name in (
            "float32",
            "float64",
        )
        _need(numbers and vectors.shape == (n, width), "its support vectors are not of their shape")
        data = vectors.data if is_sparse(vectors) else vectors
        _need(np.isfinite(data).all(), "its support vectors are not finite")
    center = model._center
    _need(center is None or _is_array(center, "f8", (width,), finite=True), "its center is damaged")
    _need(model._precision in ("float32", "float64"), "its precision is unknown")
    return width, n_classes, n


def check_kernel_svm(model: Any) -> None:
    """Check a KernelSVM."""
    _, n_classes, n = _check_support(model)
    pairs = n_classes * (n_classes - 1) // 2
    _need(_is_array(model.dual_coef_, "f8", (n_classes - 1, n), finite=True), "its dual_coef_ are not of their shape")
    _need(_is_array(model.intercept_, "f8", (pairs,), finite=True), "its intercept_ is not of its shape")
    counts = model.n_support_
    fits = isinstance(counts, np.ndarray) and counts.shape == (n_classes,) and counts.dtype.kind == "i"
    _need(fits, "its n_support_ is damaged")
    _need((counts >= 0).all() and int(counts.sum(dtype=np.int64)) == n, "its n_support_ does not count its support_")
    probe(model)


def check_kernel_perceptron(model: Any) -> None:
    """Check a KernelPerceptron."""
    _, n_classes, n = _check_support(model)
    questions = _questions(n_classes)
    _need(_is_array(model.dual_coef_, "f8", (questions, n), finite=True), "its dual_coef_ are not of their shape")
    _need(_is_array(model.intercept_, "f8", (questions,), finite=True), "its intercept_ is not of its shape")
    ballots = model._ballots
    _need(type(ballots) is list and len(ballots) in (0, questions), "its ballots are damaged")
    for ballot in ballots:
        _need(type(ballot).__name__ == "KernelVotedWeights", "its ballots are damaged")
        rows = ballot._rows
        _need(len(rows) == 0 or (rows.min() >= 0 and rows.max() < n), "a ballot names rows that are not there")
    probe(model)


# ---------------------------------------------------------------------------------------------- what they hold


def check_status(status: Any) -> None:
    """Check how a run ended."""
    flags = ("converged", "interrupted", "diverged")
    known = type(status).__name__ == "Status" and type(status.text) is str
    _need(known and all(type(getattr(status, flag)) is bool for flag in flags), "its status_ is damaged")


def _check_resumable(state: Any) -> None:
    counts = (state.epochs, state.position, state.updates, state.mistakes)
    _need(all(_is_count(value) for value in counts), "a state counts what cannot be")
    numbers = (state.rate, state.level, state.penalty, state.epoch_loss)
    _need(all(_is_real(value) for value in numbers), "a state holds what is no number")
    plateau = state.plateau
    fits = type(plateau) is tuple and len(plateau) == 2 and _is_real(plateau[0]) and _is_count(plateau[1])
    _need(fits and type(state.new_data) is bool, "a state is damaged")
    _need(state.ended is None or type(state.ended).__name__ == "StopReason", "a state ended in a way that cannot be")
    _check_epochs(state.reports)


def _check_epochs(epochs: Any) -> None:
    known = type(epochs) is list and all(type(each).__name__ == "Epoch" for each in epochs)
    _need(known, "its epochs are damaged")


def check_state(state: Any) -> None:
    """Check what one question has learned."""
    from separatrix.loop.state import SLOTS

    _need(_is_array(state.weights, "f8", (None,), finite=True), "the weights of a state are no finite numbers")
    width = len(state.weights)
    _need(_is_array(state.real, "f8", (SLOTS,)) and _is_array(state.count, "i8", (3,)), "a state is damaged")
    for part in (state.average_correction, state.pocket):
        _need(part is None or _is_array(part, "f8", (width,)), "a state holds weights of another number")
    _need(_is_count(state.positive), "a state is of an unknown class")
    _need(_is_real(state.clock) and 0 <= state.clock < math.inf, "the clock of a state is no number")
    start = state.start
    fits = type(start) is tuple and len(start) == 2 and _is_array(start[0], "f8", (width,)) and _is_real(start[1])
    _need(start is None or fits, "a state began where it cannot have")
    _need(state.voted_weights is None or type(state.voted_weights).__name__ == "VotedWeights", "a ballot is damaged")
    _need(state.last_report is None or type(state.last_report).__name__ == "Epoch", "its epochs are damaged")
    _need(type(state.alphas) is dict and (state.votes is None or type(state.votes) is list), "a state is damaged")
    for vote in state.votes or []:
        _need(type(vote) is tuple and len(vote) == 3, "a vote is damaged")
        rows = vote[0]
        _need(isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "iu", "a vote is damaged")
        _need(all(_is_array(part, "f8", (len(rows),)) for part in vote[1:]), "a vote is damaged")
    _check_resumable(state)


def check_network_state(state: Any) -> None:
    """Check what a network has learned."""
    for layers in (state.layers, state.start):
        known = type(layers) is list and all(type(each).__name__ == "Layer" for each in layers)
        _need(known, "the layers of a state are damaged")
    _check_resumable(state)


def check_layer(layer: Any) -> None:
    """Check one layer."""
    fits = _is_array(layer.weights, "f8", (None, None), finite=True)
    fits = fits and _is_array(layer.bias, "f8", (layer.weights.shape[1],), finite=True)
    _need(fits, "a layer is damaged")


def check_moments(moments: Any) -> None:
    """Check the moments of the features."""
    fits = _is_array(moments._mean, "f8", (None,)) and _is_array(moments._squares, "f8", (len(moments._mean),))
    _need(fits and _is_count(moments.count), "its moments are damaged")


def check_ballot(ballot: Any) -> None:
    """Check the voters of one question."""
    start, rows, index = ballot._start, ballot._rows, ballot._index
    fits = type(start) is tuple and len(start) == 2 and _is_array(start[0], "f8", (None,)) and _is_real(start[1])
    _need(fits and _is_real(ballot._bias_square) and _is_real(ballot._age), "a ballot is damaged")
    _need(isinstance(index, np.ndarray) and index.ndim == 1 and index.dtype.kind == "i", "a ballot is damaged")
    n = len(index)
    _need(_is_array(ballot._signed, "f8", (n,)) and _is_array(ballot._times, "f8", (n,)), "a ballot is damaged")
    if rows is None:
        _need(n == 0, "a ballot names rows that are not there")
        return
    numbers = (is_sparse(rows) or isinstance(rows, np.ndarray)) and rows.dtype.name in ("float32", "float64")
    _need(numbers and rows.ndim == 2, "the rows of a ballot are damaged")
    _need(n == 0 or (index.min() >= 0 and index.max() < rows.shape[0]), "a ballot names rows that are not there")


def check_kernel_ballot(ballot: Any) -> None:
    """Check the voters of one question about kernel values."""
    rows = ballot._rows
    _need(isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind == "i", "a ballot is damaged")
    fits = _is_array(ballot._signed, "f8", (len(rows),)) and _is_array(ballot._times, "f8", (len(rows),))
    _need(fits and _is_real(ballot._age) and _is_real(ballot._bias_square), "a ballot is damaged")


def check_kernel(kernel: Any) -> None:
    """Check a kernel that has seen its rows."""
    from separatrix.geometry.kernels import KERNELS

    _need(kernel.function is None, "its kernel is a function, which a model file cannot keep")
    _need(kernel.name in tuple(KERNELS), "its kernel is unknown")
    _need(_is_real(kernel.gamma) and 0 < kernel.gamma < math.inf, "its gamma is no positive number")
    _need(_is_count(kernel.degree, 1, 2**31), "its degree is no whole number")
    _need(_is_real(kernel.coef0) and math.isfinite(kernel.coef0), "its coef0 is no number")


def check_history(history: Any) -> None:
    """Check the epochs of a run."""
    _check_epochs(history.epochs)


def check_rounds(history: Any) -> None:
    """Check the rounds of a run."""
    known = type(history.rounds) is list and all(type(each).__name__ == "Round" for each in history.rounds)
    _need(known, "its rounds are damaged")


def check_epoch(epoch: Any) -> None:
    """Check one epoch."""
    counts = (epoch.number, epoch.mistakes, epoch.updates, epoch.since)
    _need(all(_is_count(value) for value in counts), "an epoch counts what cannot be")
    _need(_is_real(epoch.norm) and _is_real(epoch.seconds), "an epoch is damaged")
    for value in (epoch.held_out, epoch.mean_loss):
        _need(value is None or _is_real(value), "an epoch is damaged")
    fits = type(epoch.losses) is dict and all(type(name) is str for name in epoch.losses)
    _need(fits and all(_is_real(loss) for loss in epoch.losses.values()), "the losses of an epoch are damaged")


def check_stop_reason(reason: Any) -> None:
    """Check why a run stopped."""
    flags = (reason.converged, reason.diverged, reason.cut, reason.flat)
    _need(type(reason.text) is str and all(type(flag) is bool for flag in flags), "a stop reason is damaged")


def check_any_of(stop: Any) -> None:
    """Check joined stop rules."""
    from separatrix.stops import AnyOf, Stop

    known = type(stop.rules) is tuple and all(
        isinstance(rule, Stop) and not isinstance(rule, AnyOf) for rule in stop.rules
    )
    _need(known, "its stop rules are damaged")


def check_margin_history(history: Any) -> None:
    """Check the looks of a run."""
    columns = [history.primal, history.dual, history.gap, history.seconds, history.exact, history.method]
    fits = all(type(column) is list for column in columns) and len({len(column) for column in columns}) == 1
    _need(fits and all(_is_real(value) for column in columns[:4] for value in column), "its history is damaged")


def check_answer(answer: Any) -> None:
    """Check one answer of the dual solver."""
    fits = _is_array(answer.alpha, "f8", (None,)) and _is_array(answer.slack, "f8", (len(answer.alpha),))
    fits = fits and _is_array(answer.weights, "f8", (None,), finite=True)
    numbers = (answer.bias, answer.primal, answer.dual, answer.rounding)
    _need(fits and all(_is_real(value) for value in numbers), "an answer is damaged")


def check_margin_state(state: Any) -> None:
    """Check what one question of the dual solver has learned."""
    _need(_is_count(state.positive), "a state is of an unknown class")
    _need(state.alpha is None or _is_array(state.alpha, "f8", (None,), finite=True), "a state is damaged")
    _need(state.run is None or type(state.run).__name__ in ("Run", "HardRun"), "a state is damaged")
    _need(state.ended is None and type(state.new_data) is bool, "a state is damaged")


def _check_margin_width(state: Any, width: int) -> None:
    run = state.run
    if run is None:
        return
    for answer in (run.best, run.shown):
        _need(answer is None or len(answer.weights) == width, "a run is of other data")
    _need(run.ascent is None or len(run.ascent.weights) == width, "a run is of other data")


def check_run(run: Any) -> None:
    """Check a run of the dual solver that was cut short."""
    _need(run.ended in ("gap", "epochs", "halted", "inseparable"), "a run ended in a way that cannot be")
    for answer in (run.best, run.shown):
        _need(answer is None or type(answer).__name__ == "DualSolution", "a run is damaged")
    _need((run.shown if run.ended == "halted" else run.best) is not None, "a run has no answer")
    counts = (run.seed, run.epochs, run.finishing, run.judged, run.bound, run.iterations_before)
    _need(all(_is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
    numbers = (run.tol, run.widest, run.due, run.patience, run.newton_from)
    _need(all(_is_real(value) for value in numbers), "a run holds what is no number")
    _need(all(type(flag) is bool for flag in (run.checked, run.polished, run.looking)), "a run is damaged")
    for part in (run.start, run.witness):
        _need(part is None or _is_array(part, "f8", (None,), finite=True), "a run is damaged")
    seen = type(run.seen) is list and all(
        type(each) is tuple and len(each) == 2 and _is_real(each[0]) and _is_real(each[1]) for each in run.seen
    )
    _need(seen and type(run.history).__name__ == "MarginHistory", "a run is damaged")
    ascent = run.ascent
    _need(ascent is None or type(ascent).__name__ == "Ascent", "a run is damaged")
    lengths = {len(answer.alpha) for answer in (run.best, run.shown) if answer is not None}
    lengths |= {len(part) for part in (run.start, run.witness) if part is not None}
    lengths |= set() if ascent is None else {len(ascent.points)}
    _need(len(lengths) == 1, "the parts of a run are of different data")


def unzip_points(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an ascent with its points as arrays of their own."""
    points = parts["points"]
    return {**parts, "points": {name: np.ascontiguousarray(points[name]) for name in _POINT}}


def zip_points(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an ascent with its points as the core wants them, and its weights where it wants them."""
    from separatrix.svm.ascent import POINT, aligned_zeros

    columns, weights = parts.get("points"), parts.get("weights")
    _need(isinstance(columns, dict) and set(columns) == set(_POINT), "the points of a run are damaged")
    assert isinstance(columns, dict)
    n = len(columns["alpha"])
    for name in _POINT:
        _need(_is_array(columns[name], POINT[name].str, (n,)), "the points of a run are damaged")
    _need(_is_array(weights, "f8", (None,)), "the weights of a run are damaged")
    assert isinstance(weights, np.ndarray)
    points, room = np.zeros(n, dtype=POINT), aligned_zeros(len(weights))
    for name in _POINT:
        points[name] = columns[name]
    room[:] = weights
    return {**parts, "points": points, "weights": room}


def check_ascent(ascent: Any) -> None:
    """Check the state of coordinate ascent."""
    from separatrix.svm.ascent import DRIFT, POINT

    points, order = ascent.points, ascent._order
    _need(
        isinstance(points, np.ndarray) and points.dtype == POINT and points.ndim == 1, "the points of a run are damaged"
    )
    n = len(points)
    _need(n > 0 and np.isin(points["sign"], (-1, 1)).all(), "the points of a run are damaged")
    _need(np.isfinite(points["alpha"]).all() and (points["alpha"] >= 0).all(), "the points of a run are damaged")
    _need(not np.isnan(points["cost"]).any() and (points["cost"] > 0).all(), "the points of a run are damaged")
    _need(np.isfinite(points["square"]).all() and (points["square"] >= 0).all(), "the points of a run are damaged")
    _need(_is_array(ascent.real, "f8", (5,)) and ascent.real[DRIFT] > 0, "a run is damaged")
    _need(_is_array(ascent.weights, "f8", (None,), finite=True), "the weights of a run are not finite")
    _need(_is_real(ascent.bias_square) and 0 <= ascent.bias_square < math.inf, "a run is damaged")
    counts = (ascent.epochs, ascent.touched, ascent._position)
    _need(all(_is_count(value) for value in counts) and _is_count(ascent._seed, 0, 2**64 - 1), "a run is damaged")
    _need(_is_count(ascent._per_row, 1) and _is_count(ascent._block, 1, 4096), "a run is damaged")
    if order is not None:
        _need(_is_array(order, "u4", (None,)) and ascent._position <= len(order) <= n, "the order of a run is damaged")
        _need(len(order) == 0 or int(order.max()) < n, "the order of a run is damaged")


# ---------------------------------------------------------------------------------------------- scikit-learn


def check_step(step: Any) -> None:
    """Check a step of scikit-learn: its parameters, arrays of its features, and an answer."""
    _check_parameters(step)
    if not is_fitted(step):
        return
    width = getattr(step, "n_features_in_", None)
    if width is not None:
        _check_width(step)
        for name in _BY_FEATURE:
            found = vars(step).get(name)
            fits = found is None or (isinstance(found, np.ndarray) and found.shape == (width,))
            _need(fits, f"the {name} of its {type(step).__name__} is not of its shape")
    probe(step)


def _check_parameters(step: Any) -> None:
    _check_jobs(step)
    step._validate_params()
    config = vars(step).get("_sklearn_output_config", {})
    fits = type(config) is dict and all(type(each) is str for pair in config.items() for each in pair)
    _need(fits, f"the output of its {type(step).__name__} is damaged")


def check_indicator(step: Any) -> None:
    """Check the mark of missing values that an imputer adds."""
    _check_parameters(step)
    if is_fitted(step):
        places = step.features_
        fits = isinstance(places, np.ndarray) and places.ndim == 1 and places.dtype.kind == "i"
        _need(fits and _is_count(step._n_features, 1), "its MissingIndicator is damaged")
        _need(len(places) == 0 or (places.min() >= 0 and places.max() < step._n_features), "its MissingIndicator names "
              "columns that are not there")  # fmt: skip


def check_function_transformer(step: Any) -> None:
    """Check a column that is passed through."""
    _check_parameters(step)
    found = (step.func, step.inverse_func, step.kw_args, step.inv_kw_args)
    _need(all(each is None for each in found), "it holds a FunctionTransformer with a function")
    _need(step.feature_names_out in (None, "one-to-one"), "it holds a FunctionTransformer with a function")


def _check_categories(step: Any) -> list[Any]:
    width, categories = _check_width(step), step.categories_
    fits = type(categories) is list and len(categories) == width
    fits = fits and all(isinstance(each, np.ndarray) and each.ndim == 1 and len(each) for each in categories)
    _need(fits, "the categories_ of an encoder are damaged")
    return list(categories)


def check_ordinal(step: Any) -> None:
    """Check an OrdinalEncoder."""
    _check_parameters(step)
    if is_fitted(step):
        _check_categories(step)
        probe(step)


def check_one_hot(step: Any) -> None:
    """Check a OneHotEncoder: no index that it can make may lie outside its output."""
    _check_parameters(step)
    if not is_fitted(step):
        return
    categories = _check_categories(step)
    sizes = [len(each) for each in categories]
    if step._infrequent_enabled:
        mappings = step._default_to_infrequent_mappings
        _need(type(mappings) is list and len(mappings) == len(sizes), "the groups of an encoder are damaged")
        for k, mapping in enumerate(mappings):
            if mapping is not None:
                fits = isinstance(mapping, np.ndarray) and mapping.shape == (sizes[k],) and mapping.dtype.kind == "i"
                _need(fits and mapping.min() == 0, "the groups of an encoder are damaged")
                sizes[k] = int(mapping.max()) + 1
    dropped = step._drop_idx_after_grouping
    if dropped is not None:
        _need(_is_array(dropped, "O", (len(sizes),)), "what an encoder drops is damaged")
        for k, place in enumerate(dropped):
            if place is not None:
                fits = isinstance(place, int | np.integer) and not isinstance(place, bool) and 0 <= place < sizes[k]
                _need(fits, "what an encoder drops is damaged")
                sizes[k] -= 1
    _need(step._n_features_outs == sizes, "the columns of an encoder are damaged")
    probe(step)


def check_polynomial(step: Any) -> None:
    """Check PolynomialFeatures."""
    _check_parameters(step)
    degrees = step.degree if isinstance(step.degree, tuple) else (step.degree,)
    _need(all(_is_count(each, 0, _MOST_DEGREE) for each in degrees), "the degree of its PolynomialFeatures is too high")
    if not is_fitted(step):
        return
    width, most = _check_width(step), step._max_degree
    _need(_is_count(step._min_degree, 0, _MOST_DEGREE) and _is_count(most, 0, _MOST_DEGREE), "its degrees are damaged")
    outputs = step._num_combinations(
        n_features=width, min_degree=step._min_degree, max_degree=most, interaction_only=step.interaction_only,
        include_bias=step.include_bias,
    ) if width <= 10**6 else -1  # fmt: skip
    _need(outputs == step.n_output_features_ <= 10**8, "the columns of its PolynomialFeatures are damaged")
    if outputs <= 10**6:
        probe(step)


def check_vectorizer(step: Any) -> None:
    """Check a vectoriser of text: no index that it can make may lie outside its output."""
    _check_parameters(step)
    if type(step).__name__ == "HashingVectorizer":
        probe(step)
        return
    tfidf = vars(step).get("_tfidf")
    _need(tfidf is None or type(tfidf).__name__ == "TfidfTransformer", "its TfidfVectorizer is damaged")
    words = vars(step).get("vocabulary_")
    if words is None:
        return
    _need(type(words) is dict and all(type(word) is str for word in words), "its vocabulary_ is damaged")
    places = list(words.values())
    _need(all(isinstance(place, int | np.integer) for place in places), "its vocabulary_ is damaged")
    _need(sorted(places) == list(range(len(words))), "its vocabulary_ does not number its words")
    if tfidf is not None and "idf_" in vars(tfidf):
        _need(len(tfidf.idf_) == len(words), "its idf_ are not one for each word")
    probe(step)


def check_columns(step: Any) -> None:
    """Check a ColumnTransformer."""
    for name in ("transformers", "transformers_"):
        parts = vars(step).get(name, [])
        fits = type(parts) is list and all(
            type(each) is tuple and len(each) == 3 and type(each[0]) is str for each in parts
        )
        _need(fits, "the steps of its ColumnTransformer are damaged")
    _check_parameters(step)
    if is_fitted(step):
        _check_width(step)
        probe(step)


def check_pipeline(pipeline: Any) -> None:
    """Check a Pipeline."""
    steps: Any = vars(pipeline).get("steps")
    fits = type(steps) is list and len(steps) > 0
    fits = fits and all(type(each) is tuple and len(each) == 2 and type(each[0]) is str for each in steps)
    _need(fits, "the steps of its Pipeline are damaged")
    _check_parameters(pipeline)
    if is_fitted(pipeline):
        probe(pipeline)


def check_table_model(model: Any) -> None:
    """Check a model of a table: what it is made of has been checked, and it must answer."""
    probe(model)
