"""Where witnesses come from. Nothing here is trusted: what is found counts only once ``prove`` has checked it.

First a fast search in floating point, for a plane with a large margin and for the nearest points of the two hulls. If
the plane separates, that is all. If the hulls seem to touch, the points that show it are handed to integer arithmetic,
which decides without rounding, with the help of a linear program where there are many dimensions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.bracket import Bracket, Found, search
from separatrix.certificates.data import Data
from separatrix.certificates.deciding import Decision, decide
from separatrix.certificates.exact_rows import Places
from separatrix.certificates.gordan import HaltedError
from separatrix.certificates.integers import circuit, primitive
from separatrix.certificates.proving import Proof, prove
from separatrix.certificates.witness import Plane, Points, Witness
from separatrix.geometry.rows import Floats
from separatrix.svm.hard import HardRun
from separatrix.svm.task import MarginTask

_MOST_COORDINATES = 400  # in which integer arithmetic may decide about all rows
_MOST_VALUES = 200_000_000  # of those rows
_LARGEST_RUN = 5_000_000  # of those for the hard-margin solver
_EPOCHS = 1000
_EXTREME = 1e100  # rows so long, or so short, are not for it
_LARGEST_CIRCUIT = 1000  # rows whose dependence integer arithmetic may solve for


def find(
    data: Data,
    *,
    tol: float,
    seed: int,
    halted: Callable[[], bool],
    tell: Callable[[float, float], None],
) -> tuple[Witness, Proof]:
    """Return the best witness within reach, and what it proves."""

    def note(bracket: Bracket) -> None:
        tell(max(bracket.lower, 0.0), bracket.upper)

    if data.d > _MOST_COORDINATES and len(data.pairs):  # no plane separates, and more is out of reach
        witness = Witness(None, Points(data.numbers(data.pairs[0]), (1, 1)))
        return witness, prove(data, witness)
    found = search(data.rows, data.signs, data.free, tol=tol, seed=seed, halted=halted, tell=note)
    points = _floats(data, found.points, found.shares)
    if found.lower > 0:
        witness = Witness(_plane(found.weights, found.bias), points)
        proof = prove(data, witness)
        if proof.separable == "strict":
            return (witness, proof) if found.ended != "stuck" else _narrowed(data, witness, tol, seed, halted)
    weights = _circuit(data, found)
    if weights is not None and len(weights) > data.dimension:  # so many that depend in one way only span everything
        witness = Witness(None, Points(data.numbers(found.points), weights))
        return witness, prove(data, witness)
    sure = _decided(data, found, halted)
    if sure is not None and sure.points is None:
        return _narrowed(data, Witness(sure.plane, points), tol, seed, halted)
    if sure is None and len(data.pairs):
        sure = Witness(None, Points(data.numbers(data.pairs[0]), (1, 1)))
    if sure is None and weights is not None:
        sure = Witness(None, Points(data.numbers(found.points), weights))
    witness = sure or Witness(None, points)
    return witness, prove(data, witness)


def _narrowed(data: Data, witness: Witness, tol: float, seed: int, halted: Callable[[], bool]) -> tuple[Witness, Proof]:
    """Where only integers could find a plane, let the hard-margin solver look for a better one, and for better points.

    Badly scaled data have margins that are nothing beside the size of the rows, and so escape the fast search.
    """
    proof = prove(data, witness)
    size = bounds.radius(data.rows)[1]
    if data.n * data.d > _LARGEST_RUN or not 1.0 / _EXTREME < size < _EXTREME or halted():
        return witness, proof
    run = HardRun(MarginTask(data.rows, data.signs, np.full(data.n, np.inf), free=data.free), tol, seed)
    try:
        with np.errstate(all="ignore"):
            answer = run.go(_EPOCHS, halted)
    except (ArithmeticError, ValueError):  # numbers that do not suit it
        return witness, proof
    support = np.flatnonzero(answer.alpha > 0)
    other = Witness(_plane(answer.weights, answer.bias), _floats(data, support, answer.alpha[support]))
    found = prove(data, other)
    best = Witness(
        other.plane if found.lower > proof.lower else witness.plane,
        other.points if found.upper < proof.upper else witness.points,
    )
    return best, prove(data, best)


def _plane(weights: Floats, bias: float) -> Plane | None:
    values = (*weights.tolist(), float(bias))
    return Plane(values[:-1], values[-1]) if np.isfinite(values).all() else None


def _floats(data: Data, places: Places, shares: Floats) -> Points | None:
    return Points(data.numbers(places), tuple(shares.tolist())) if len(places) else None


def _circuit(data: Data, found: Found) -> tuple[int, ...] | None:
    """Return the whole weights with which the points that were found add up to zero, if there are such."""
    if found.ended != "small" or not 0 < len(found.points) <= _LARGEST_CIRCUIT:
        return None
    weights = circuit(data.part(found.points).exact.take(range(len(found.points))))
    return None if weights is None else primitive(weights)


def _decided(data: Data, found: Found, halted: Callable[[], bool]) -> Witness | None:
    """Decide about all rows in integers, beginning with what floating point suggests."""
    n, d = data.rows.shape
    if d > _MOST_COORDINATES or n * d > _MOST_VALUES or halted():
        return None
    guess = _plane(found.weights, found.bias)
    plane = None if guess is None else data.exact.whole_plane((*guess.weights, guess.bias)[: data.dimension])
    try:
        decision = decide(data.exact, found.points.tolist(), plane, halted, data.pairs.tolist())
    except (HaltedError, ArithmeticError):
        return None
    return _witness(data, decision, np.array(decision.points, dtype=np.intp))


def _witness(data: Data, decision: Decision, places: Places) -> Witness:
    plane = None
    if decision.plane is not None:
        whole = data.exact.plane(decision.plane)
        plane = Plane(whole[: data.d], whole[data.d] if data.free else 0)
    points = Points(data.numbers(places), decision.weights) if decision.weights else None
    return Witness(plane, points)
