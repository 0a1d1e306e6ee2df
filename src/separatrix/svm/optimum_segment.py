"""Where the optima between two solutions are: near the segment that joins the two, and how near.

For ``C = (1 - t) C1 + t C2`` take the mean of the two solutions in the same parts: weights w, intercept b, and dual
weights alpha, which satisfy the constraints for C because those of the ends do for theirs. Their Fenchel gap eps is
that of the rows with the mean margins m. By the inequality of ``optimum_ball`` with ``r = 1``, ::

    (w* - w).(w* - u) <= eps,

a ball about ``(w + u) / 2`` with the squared radius ``|w - u|^2 / 4 + eps``. The centre is linear in C; ``|w - u|^2``
is convex in t. The bound on eps is that of each row, for all t of a part of the segment whose ends have the numbers
m, alpha and C with the indices a and b:

- hinge, ``(C s - alpha) (1 - m)+ + alpha (m - 1)+``: products of two linear functions, of which the first is not
  negative: the largest value is at an end or where the derivative vanishes. A row that stays on one side of 1, or at 1,
  adds nothing, whatever the step: only rows that change sides make the ball larger.
- squared hinge, ``C s ((1 - m)+ - alpha / (2 C s))^2 + alpha (m - 1)+``: ``alpha / C`` is the mean of its values at the
  ends in parts that differ from t by at most ``(Cb - Ca) / (4 Ca)``; the rest is linear but for a kink at ``m = 1``.
- log: the divergence of ``p = alpha / (C s)`` from ``1 / (1 + e^m)`` is at most ``h^2 / 2`` times the largest ``p' (1 -
  p')`` between the two, with ``h = log alpha - log(C s - alpha) + m``. Both logarithms are of linear functions of t: h
  is at most its larger value at the ends and an eighth of the largest second derivative.

For smooth losses eps is thus of the fourth order in the length of the segment.
"""

from __future__ import annotations

import math

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.svm.optimum_ball import Ball, Evidence, Problem

_UNIT = float(np.finfo(np.float64).eps)
End = tuple[float, Floats, Floats]  # C, alpha and margins at an end of a part of the segment


def between(problem: Problem, first: Evidence, last: Evidence, low: float, high: float) -> Ball | None:
    """Return a ball that holds the optima for all C from low to high, which lie between those of the two solutions."""
    if not first.C <= low <= high <= last.C or not first.C < last.C:
        return None
    span = last.C - first.C
    parts = [min(max((C - first.C) / span, 0.0), 1.0) for C in (low, high)]
    ends = [_end(first, last, t) for t in parts]
    off = np.maximum(first.off, last.off)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        gaps = _GAPS[problem.loss](problem.counts, ends[0], ends[1], off)
        eps = _core.dot(gaps, np.ones(len(gaps)))
    if not math.isfinite(eps):
        return None
    d = len(first.weights)
    square = max(_core.dot(each.weights - each.combined, each.weights - each.combined) for each in (first, last))
    norms = [math.sqrt(_core.dot(v, v)) for each in (first, last) for v in (each.weights, each.combined)]
    largest, longest = max(norms), math.sqrt(2.0 * last.primal)  # |w*|^2 / 2 is at most the optimum's value for last.C
    shift = max(abs(first.bias), abs(last.bias)) + longest * max(first.reach, last.reach) + max(first.lean, last.lean)
    slack = (1.0 + 16.0 * (len(gaps) + 16) * _UNIT) * eps + max(first.doubt, last.doubt) * (largest + longest)
    slack += max(first.imbalance, last.imbalance) * shift
    hidden = 16.0 * (d + 16) * _UNIT * largest * largest
    radius = math.sqrt(0.25 * square + slack + hidden) * (1.0 + 8.0 * _UNIT)
    halves = [(0.5 * (1.0 - t), 0.5 * (1.0 - t), 0.5 * t, 0.5 * t) for t in parts]
    return Ball(halves[0], halves[1], radius, 8.0 * (d + 8) * _UNIT * (sum(norms) + 1.0))


def _end(first: Evidence, last: Evidence, t: float) -> End:
    rest = 1.0 - t
    return rest * first.C + t * last.C, rest * first.alpha + t * last.alpha, rest * first.margins + t * last.margins


def _hinge(counts: Floats, a: End, b: End, off: Floats) -> Floats:
    free = [np.maximum(C * counts - alpha, 0.0) for C, alpha, _ in (a, b)]
    over = _largest_product(free[0], free[1], 1.0 - a[2], 1.0 - b[2])
    under = _largest_product(a[1], b[1], a[2] - 1.0, b[2] - 1.0)
    return np.asarray(over + under + b[0] * counts * (off + 8.0 * _UNIT * (1.0 + off + np.abs(a[2]) + np.abs(b[2]))))


def _squared_hinge(counts: Floats, a: End, b: End, off: Floats) -> Floats:
    slopes = [alpha / (2.0 * C * counts) for C, alpha, _ in (a, b)]
    apart = [np.maximum(1.0 - end[2], 0.0) - slope for end, slope in zip((a, b), slopes, strict=True)]
    turn = np.clip((1.0 - a[2]) / (b[2] - a[2]), 0.0, 1.0)
    kink = np.where((a[2] < 1.0) != (b[2] < 1.0), np.abs((1.0 - turn) * slopes[0] + turn * slopes[1]), 0.0)
    bent = 0.25 * (b[0] - a[0]) / a[0] * np.abs(slopes[1] - slopes[0])
    most = np.maximum(np.maximum(np.abs(apart[0]), np.abs(apart[1])), kink) + bent
    hidden = off + 16.0 * _UNIT * (1.0 + np.abs(a[2]) + np.abs(b[2]) + slopes[0] + slopes[1])
    under = _largest_product(a[1], b[1], a[2] - 1.0, b[2] - 1.0) + np.maximum(a[1], b[1]) * hidden
    return np.asarray(b[0] * counts * (most + hidden) ** 2 + under)


def _log(counts: Floats, a: End, b: End, off: Floats) -> Floats:
    low, high = a[0] * counts, b[0] * counts
    rests = (low - a[1], high - b[1])
    least = np.minimum(a[1], b[1]), np.minimum(*rests)
    hidden = [4.0 * _UNIT * whole / rest for whole, rest in zip((low, high), rests, strict=True)]
    apart = [np.log(end[1]) - np.log(rest) + end[2] for end, rest in zip((a, b), rests, strict=True)]
    bends = [(b[1] - a[1]) / least[0], (rests[1] - rests[0]) / least[1]]
    h = np.maximum(np.abs(apart[0]), np.abs(apart[1])) + 0.125 * np.maximum(bends[0] ** 2, bends[1] ** 2)
    h = h * (1.0 + 1e-9) + np.maximum(*hidden) + off + 16.0 * _UNIT * (32.0 + np.abs(a[2]) + np.abs(b[2]))
    spread = [end[1] / whole * (rest / whole) for end, rest, whole in zip((a, b), rests, (low, high), strict=True)]
    crosses = (a[1] < rests[0]) != (b[1] < rests[1])
    most = np.where(crosses, 0.25, np.minimum(np.maximum(*spread) * (1.0 + 1e-9) * np.exp(h), 0.25))
    gaps = 0.5 * high * most * h * h
    return np.where((least[0] > 0.0) & (least[1] > 0.0), gaps, math.inf)


_GAPS = {"hinge": _hinge, "squared_hinge": _squared_hinge, "log": _log}


def _largest_product(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Return the largest product, along a segment, of a function from a to b and the positive part of one from c to d.

    Both are linear, and the first is not negative.
    """
    rise, climb = b - a, d - c
    place = -(a * climb + c * rise) / (2.0 * rise * climb)
    place = np.where((place > 0.0) & (place < 1.0), place, 0.0)
    inside = (a + place * rise) * np.maximum(c + place * climb, 0.0)
    ends = np.maximum(a * np.maximum(c, 0.0), b * np.maximum(d, 0.0))
    return np.asarray(np.maximum(inside, ends) * (1.0 + 8.0 * _UNIT))
