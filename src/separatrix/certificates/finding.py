"""Where witnesses come from. Nothing here is trusted: what is found counts only once ``prove`` has checked it.

First a fast search in floating point, for a plane with a large margin and for the nearest points of the two hulls. If
the plane separates, that is all. If the hulls seem to touch, the points that show it are handed to integer arithmetic,
which decides without rounding, with the help of a linear program where there are many dimensions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.bracket import search
from separatrix.certificates.data import Data
from separatrix.certificates.deciding import Decision, decide
from separatrix.certificates.exact_rows import Places
from separatrix.certificates.guessing import Halted
from separatrix.certificates.integers import circuit, primitive
from separatrix.certificates.margin_search import Candidate, SearchResult
from separatrix.certificates.proving import ProvedBounds, prove
from separatrix.certificates.witness import Plane, WeightedRows, Witness
from separatrix.geometry.rows import Floats
from separatrix.svm.hard import HardRun
from separatrix.svm.task import HaltedError, MarginTask

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
    halted: Halted,
    tell: Callable[[float, float], None],
) -> tuple[Witness, ProvedBounds]:
    """Return the best witness within reach, and what it proves."""

    def note(candidate: Candidate) -> None:
        tell(max(candidate.lower, 0.0), candidate.upper)

    if data.d > _MOST_COORDINATES and len(data.pairs):  # no plane separates, and more is out of reach
        witness = Witness(None, WeightedRows(data.numbers(data.pairs[0]), (1, 1)))
        return witness, prove(data, witness)
    result = search(data.rows, data.signs, data.free, tol=tol, seed=seed, halted=halted, tell=note)
    points = _floats(data, result.points, result.shares)
    if result.lower > 0:
        witness = Witness(_plane(result.weights, result.bias), points)
        proof = prove(data, witness)
        if proof.separable == "strict":
            return (witness, proof) if result.ended != "stuck" else _narrowed(data, witness, tol, seed, halted)
    weights = _circuit(data, result)
    if (
        weights is not None and len(weights) > data.dimension
    ):  # more rows than dimensions with one dependence span everything
        witness = Witness(None, WeightedRows(data.numbers(result.points), weights))
        return witness, prove(data, witness)
    sure = _decided(data, result, halted)
    if sure is not None and sure.points is None:
        return _narrowed(data, Witness(sure.plane, points), tol, seed, halted)
    if sure is None and len(data.pairs):
        sure = Witness(None, WeightedRows(data.numbers(data.pairs[0]), (1, 1)))
    if sure is None and weights is not None:
        sure = Witness(None, WeightedRows(data.numbers(result.points), weights))
    witness = sure or Witness(None, points)
    return witness, prove(data, witness)


def _narrowed(
    data: Data, witness: Witness, tol: float, seed: int, halted: Callable[[], bool]
) -> tuple[Witness, ProvedBounds]:
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
            solution = run.go(_EPOCHS, halted)
    except (ArithmeticError, ValueError):  # numbers that do not suit it
        return witness, proof
    support = np.flatnonzero(solution.alpha > 0)
    other = Witness(_plane(solution.weights, solution.bias), _floats(data, support, solution.alpha[support]))
    other_proof = prove(data, other)
    best = Witness(
        other.plane if other_proof.lower > proof.lower else witness.plane,
        other.points if other_proof.upper < proof.upper else witness.points,
    )
    return best, prove(data, best)


def _plane(weights: Floats, bias: float) -> Plane | None:
    values = (*weights.tolist(), float(bias))
    return Plane(values[:-1], values[-1]) if np.isfinite(values).all() else None


def _floats(data: Data, places: Places, shares: Floats) -> WeightedRows | None:
    return WeightedRows(data.numbers(places), tuple(shares.tolist())) if len(places) else None


def _circuit(data: Data, result: SearchResult) -> tuple[int, ...] | None:
    """Return the whole weights with which the points of the search add up to zero, if there are such."""
    if result.ended != "small" or not 0 < len(result.points) <= _LARGEST_CIRCUIT:
        return None
    weights = circuit(data.part(result.points).exact.take(range(len(result.points))))
    return None if weights is None else primitive(weights)


def _decided(data: Data, result: SearchResult, halted: Halted) -> Witness | None:
    """Decide about all rows in integers, beginning with what floating point suggests."""
    n, d = data.rows.shape
    if d > _MOST_COORDINATES or n * d > _MOST_VALUES or halted():
        return None
    guess = _plane(result.weights, result.bias)
    plane = None if guess is None else data.exact.whole_plane((*guess.weights, guess.bias)[: data.dimension])
    try:
        decision = decide(data.exact, result.points.tolist(), plane, halted, data.pairs.tolist())
    except (HaltedError, ArithmeticError):
        return None
    return _witness(data, decision, np.array(decision.points, dtype=np.intp))


def _witness(data: Data, decision: Decision, places: Places) -> Witness:
    plane = None
    if decision.plane is not None:
        whole = data.exact.plane(decision.plane)
        plane = Plane(whole[: data.d], whole[data.d] if data.free else 0)
    points = WeightedRows(data.numbers(places), decision.weights) if decision.weights else None
    return Witness(plane, points)
