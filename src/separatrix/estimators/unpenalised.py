"""Logistic regression with ``C=inf``: the maximum of the likelihood, or the proof that there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from separatrix import _core
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.data import Data
from separatrix.certificates.finding import find
from separatrix.loop.state import Status
from separatrix.stops import TimeLimit
from separatrix.svm.unpenalised import MOST_FEATURES, UnpenalisedRun, bare_solution
from separatrix.text import times

_ROUGH = 0.5  # part of the largest margin to which a certificate of separability need not know it
ADVICE = (
    "A finite C has an optimum whether the classes are separable or not; where they are, LinearSVM(C=inf) finds the "
    "plane with the largest margin."
)


class LikelihoodRun(UnpenalisedRun):
    """Maximises the likelihood; where no proof of a maximum comes, asks whether the classes are separable.

    ``separation`` is the certificate then.
    """

    separation: Certificate | None = None

    def decide(self, data: Data, max_iter: int, halted: Callable[[], bool]) -> None:
        """Run until it is known whether there is a maximum, and where."""
        d = self.task.rows.shape[1]
        if d <= MOST_FEATURES:
            self.go(max_iter, halted)
            if self.ended in ("gap", "halted"):
                return
        witness, proof = find(data, tol=_ROUGH, seed=0, halted=lambda ahead=0.0: halted(), tell=lambda low, high: None)
        self.separation = Certificate.of(data, witness, proof)
        self.known = self.separation.separable is not None
        if d > MOST_FEATURES:
            if not self.separated:
                raise ValueError(
                    f"C=inf solves tasks of at most {MOST_FEATURES:,} features, unless a plane separates the classes; "
                    f"found {d:,}: use a large finite C"
                )
            self._take_plane()
        elif self.known and not self.separated and self.ended in ("doubtful", "separated"):
            self.go(max_iter, halted)

    def _take_plane(self) -> None:
        """Take the weights of the certificate's plane, as long as a margin of 1 asks for."""
        assert self.separation is not None
        assert self.separation.witness.plane is not None
        plane = self.separation.witness.plane
        largest = max(abs(value) for value in plane.weights)
        weights = np.array([float(Fraction(value) / Fraction(largest)) for value in plane.weights])
        bias = float(Fraction(plane.bias) / Fraction(largest))
        lower = self.separation.margin.lower
        factor = 1.0 / (lower * math.sqrt(_core.dot(weights, weights))) if lower > 0 else 1.0
        self.weights, self.bias = factor * weights, factor * bias
        self.best = bare_solution(self.task, self.weights, self.bias)
        self.history.add(self.best.primal, 0.0, 0.0, exact=True, method="certificate")

    @property
    def separated(self) -> bool:
        """Whether it is proved that there is no maximum."""
        return self.separation is not None and self.separation.separable in ("strict", "weak")


def likelihood_sentence(run: LikelihoodRun, *, interrupted: bool, limit: TimeLimit | None) -> Status:
    """Return how a run ended, and whether a maximum exists."""
    iterations = times(run.iterations, "iteration")
    if run.separated:
        assert run.separation is not None
        strict = run.separation.separable == "strict"
        why = "a plane separates the classes" if strict else "a plane has no row on its wrong side, some off it"
        name = "complete separation" if strict else "quasi-complete separation"
        text = (
            f"stopped after {iterations}: no maximum likelihood estimate exists, because {why} ({name}, proved by "
            "separation_): the likelihood rises as long as the weights grow along it"
        )
        return Status(text, False, interrupted=interrupted)
    dropped = run.task.rows.shape[1] - len(run.task.kept)
    verbs = ("is a linear combination", "keeps") if dropped == 1 else ("are linear combinations", "keep")
    also = f"; {times(dropped, 'column')} {verbs[0]} of others, as far as rounding shows, and {verbs[1]} the weight 0"
    also = also if dropped else ""
    gap = f"loss within {run.solution.relative_gap:.1e} of the least"
    if run.ended == "gap":
        text = f"converged after {iterations}: a maximum likelihood estimate exists; {gap}, at most tol={run.tol:g}"
        return Status(text + also, True, interrupted=interrupted)
    what = (
        "a maximum likelihood estimate exists"
        if run.known
        else "whether a maximum likelihood estimate exists is undecided"
    )
    what += f"; {gap}, above tol={run.tol:g}" if run.solution.relative_gap < 1.0 else ""
    if run.ended == "halted" and interrupted:
        return Status(f"interrupted in iteration {run.iterations + 1}: {what}{also}", False, interrupted=True)
    if run.ended == "halted" and limit is not None:
        text = f"stopped by the time limit of {limit.seconds:g} s in iteration {run.iterations + 1}: {what}{also}"
        return Status(text, False)
    why = ", and rounding allows no more" if run.ended == "rounding" else ""
    return Status(f"stopped after {iterations}: {what}{why}{also}", False)
