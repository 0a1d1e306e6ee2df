"""Plain gradient descent on any function of one or many variables (Lectures 000 and 002).

Here: the loop of Lecture 000 and its path. The neurons have their own, faster loops; plots are in plots/.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.loop.state import Status
from separatrix.text import times

_GROWTH = 1e6  # times the value at the start (at least 1): beyond this a run is diverging
_BOTTOM = 1e100  # a function that falls below minus this has no bottom


@dataclass(frozen=True, repr=False)
class Descent:
    """The path of a descent.

    Attributes
    ----------
    path : array of shape (n_steps + 1,) or (n_steps + 1, n_variables)
        Every point, the start first.
    values : array of shape (n_steps + 1,)
        The function there.
    slopes : array of shape (n_steps + 1,)
        The length of the gradient there.
    status : Status
        Whether it converged, made too many steps or diverged; ``str(status)`` is a sentence.
    outcome : {"converged", "too many steps", "diverging"}
        The same in one word or three.
    f : callable
        The function.
    """

    path: Floats
    values: Floats
    slopes: Floats
    status: Status
    outcome: str
    f: Callable[[Any], Any]

    def __repr__(self) -> str:
        return f"<Descent: {self.status}>"

    @property
    def x(self) -> Any:
        """The last point."""
        return float(self.path[-1]) if self.path.ndim == 1 else self.path[-1].copy()

    @property
    def value(self) -> float:
        """The function at the last point."""
        return float(self.values[-1])

    @property
    def n_steps(self) -> int:
        """How many steps were made."""
        return len(self.path) - 1


def descend(
    f: Callable[[Any], Any],
    gradient: Callable[[Any], Any],
    start: Any,
    step: float,
    *,
    tol: float = 1e-6,
    max_steps: int = 1000,
) -> Descent:
    """Walk downhill: ``x <- x - step * gradient(x)``, until the gradient is as good as zero.

    Parameters
    ----------
    f : callable
        The function, of a float or of an array of shape (n_variables,).
    gradient : callable
        Its derivative, or its vector of partial derivatives.
    start : float or sequence of float
        Where to start.
    step : float
        The learning rate.
    tol : float, default=1e-6
        Stop when the gradient is at most this long.
    max_steps : int, default=1000
        Stop after this many steps.

    Returns
    -------
    Descent
        The path and how it ended: a diverging run is stopped, and its status suggests a smaller step, or says that
        the gradient is not the slope of the function, which is measured by finite differences.

    Examples
    --------
    >>> run = descend(lambda x: x * x, lambda x: 2 * x, start=3.0, step=0.25)
    >>> run.outcome, run.n_steps, round(run.x, 6)
    ('converged', 23, 0.0)
    >>> print(descend(lambda x: x * x, lambda x: 2 * x, start=3.0, step=1.1).status)
    diverging: after 38 steps the function has grown from 9 to 9.38e+06; the step 1.1 is too large, try 0.5
    """
    step = _positive("step", step)
    tol = _positive("tol", tol, zero=True)
    if isinstance(max_steps, bool) or not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise ValueError(f"max_steps must be a whole number, at least 1; found {max_steps!r}")
    for name, given in (("f", f), ("gradient", gradient)):
        if not callable(given):
            raise TypeError(f"{name} must be a function; found {given!r}")
    try:
        x = np.array(start, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        x = np.empty(0)
    if x.ndim > 1 or x.size == 0 or not np.isfinite(x).all():
        raise ValueError(f"start must be a finite number or a sequence of finite numbers; found {start!r}")
    points, values, slopes = [x], [_value(f, x)], [_slope(gradient, x)]
    if not (math.isfinite(values[0]) and np.isfinite(slopes[0]).all()):
        raise ValueError(f"f and its gradient must be finite at the start; found {values[0]} and {slopes[0]}")
    limit = _GROWTH * max(abs(values[0]), 1.0)
    for count in range(int(max_steps) + 1):
        length = _length(slopes[-1])
        overflowed = not math.isfinite(values[-1])
        if values[-1] < values[0] - _BOTTOM or (overflowed and count > 1 and values[-2] < values[0]):
            ended = f"diverging: after {times(count, 'step')} the function falls without bound", "diverging"
            break
        if not (math.isfinite(values[-1]) and math.isfinite(length)) or values[-1] - values[0] > limit:
            text = f"after {times(count, 'step')} the function has grown from {values[0]:.3g} to {values[-1]:.3g}"
            advice = _smaller(points, slopes, step)
            ended = f"diverging: {text}; the step {step:g} is too large, try {advice:.2g}", "diverging"
            break
        if length <= tol:
            ended = f"converged after {times(count, 'step')}: gradient norm {length:.3g}", "converged"
            break
        if count == max_steps:
            text = f"stopped after {times(count, 'step')}: the gradient norm is still {length:.3g}"
            if _goes_back_and_forth(points):
                advice = _smaller(points, slopes, step)
                text += f", and the steps go back and forth between {_two(points)}; the step {step:g} is too large, "
                text += f"try {advice:.2g}"
            ended = text, "too many steps"
            break
        with np.errstate(over="ignore", invalid="ignore"):
            x = x - step * slopes[-1]
            points.append(x)
            values.append(_value(f, x))
            slopes.append(_slope(gradient, x))
    if ended[1] != "converged" or values[-1] > values[0]:
        wrong = _wrong_gradient(f, points[:2], slopes[:2])
        if wrong:  # whatever the step did, it did not go down the slope of f
            ended = f"{ended[0].split(';')[0]}; {wrong}", ended[1]
    lengths = np.array([_length(slope) for slope in slopes])
    status = Status(ended[0], ended[1] == "converged", diverged=ended[1] == "diverging")
    return Descent(np.array(points), np.array(values), lengths, status, ended[1], f)


def _positive(name: str, value: Any, *, zero: bool = False) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and 0 <= value < 1e308 and (zero or value > 0)):
        kind = "zero or a positive" if zero else "a positive"
        raise ValueError(f"{name} must be {kind} finite number; found {value!r}")
    return float(value)


def _point(x: Floats) -> Any:
    return float(x) if x.ndim == 0 else x.copy()


def _value(f: Callable[[Any], Any], x: Floats) -> float:
    try:
        value = np.asarray(f(_point(x)), dtype=np.float64)
    except OverflowError:
        return math.inf
    if value.ndim != 0:
        raise ValueError(f"f must return one number; found an array of shape {value.shape}")
    return float(value)


def _slope(gradient: Callable[[Any], Any], x: Floats) -> Floats:
    try:
        slope = np.asarray(gradient(_point(x)), dtype=np.float64)
    except OverflowError:
        return np.full(x.shape, np.inf)
    if slope.shape != x.shape:
        raise ValueError(f"gradient must return the shape of the start, {x.shape}; found {slope.shape}")
    return slope


def _goes_back_and_forth(points: list[Floats]) -> bool:
    """Return whether the last steps jump between two points."""
    if len(points) < 4:
        return False
    far = _length(points[-1] - points[-2])
    back = max(_length(points[-1] - points[-3]), _length(points[-2] - points[-4]))
    return far > 0 and back <= 1e-9 * far


def _two(points: list[Floats]) -> str:
    if points[0].ndim or points[0].size > 1:
        return "two points"
    low, high = sorted((float(points[-2]), float(points[-1])))
    return f"{low:.6g} and {high:.6g}"


def _wrong_gradient(f: Callable[[Any], Any], points: list[Floats], slopes: list[Floats]) -> str:
    """Return what is wrong with a gradient that is not the slope of the function at any of these points, or nothing.

    The function may have a kink at one of them.
    """
    signs = []
    first = ""
    for x, slope in zip(points, slopes, strict=True):
        measured, error = _measured_slope(f, x)
        off = _length(slope - measured)
        if not math.isfinite(off) or off <= 0.01 * max(_length(slope), _length(measured)) + error:
            return ""
        signs.append(_length(slope + measured) <= 0.01 * _length(measured) + error)
        first = first or f"is {_shown(slope)} at the start, where f has the slope {_shown(measured)}"
    if not signs:
        return ""
    return f"the gradient has the wrong sign: it {first}" if all(signs) else f"the gradient is wrong: it {first}"


def _measured_slope(f: Callable[[Any], Any], x: Floats) -> tuple[Floats, float]:
    """Return the slope by central differences, and how far rounding may put it off."""
    slope, error = np.zeros(x.size), 0.0
    flat = x.ravel()
    for place in range(x.size):
        width = 1e-5 * max(1.0, abs(float(flat[place])))
        ends = []
        for side in (width, -width):
            moved = flat.copy()
            moved[place] += side
            ends.append(_value(f, moved.reshape(x.shape)))
        slope[place] = (ends[0] - ends[1]) / (2.0 * width)
        error += 1e-14 * max(abs(ends[0]), abs(ends[1])) / width
    return slope.reshape(x.shape), error


def _shown(slope: Floats) -> str:
    values = [f"{value:.4g}" for value in slope.ravel()[:4].tolist()]
    return values[0] if slope.ndim == 0 else f"({', '.join(values)}{', ...' if slope.size > 4 else ''})"


def _length(vector: Floats) -> float:
    return math.hypot(*vector.ravel().tolist())  # which neither overflows nor underflows on the way


def _smaller(points: list[Floats], slopes: list[Floats], step: float) -> float:
    """Return a step that the curvature met on the way would allow: 1 / |change of gradient / change of x|."""
    bends = [
        _length(after - before) / _length(there - here)
        for here, there, before, after in zip(points, points[1:], slopes, slopes[1:], strict=False)
        if np.isfinite(after).all() and _length(there - here) > 0
    ]
    return min(1.0 / max(bends), step / 2) if bends and 0 < max(bends) < math.inf else step / 10
