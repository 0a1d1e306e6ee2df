"""Newton's method for multinomial logistic regression over rows on a device.

The equations of a step are solved by conjugate gradients, each of which reads the rows once, in single precision until
that is not enough. Their preconditioner takes the Hessian for the Kronecker product of how the classes compete, on
average, with the rows' second moments. The duality gap and the value are computed in double, as multinomial_bounds.py
derives them. Where the biases are free, the probabilities that prove the gap weigh each class as its examples do: they
are those of the weights after a small step of the offsets, or, where it would be long, mixed with one distribution.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.geometry.device_rows import to_numpy
from separatrix.svm.history import MarginHistory
from separatrix.svm.multinomial_bounds import MultinomialSolution
from separatrix.svm.rowblocks.block import Precision
from separatrix.svm.rowblocks.joint_block import JointBlock, JointCurve

_UNIT = float(np.finfo(np.float64).eps)
_MOST_STEPS = 1000  # of conjugate gradients in one iteration
_MOST_AXES = 4096  # features whose correlations the preconditioner knows
_SETTLINGS = 20  # steps of the offsets alone
_SETTLED = 0.5  # a step of the offsets that is short enough to be left to the weights
_ARMIJO = 1e-4
_GOOD = 0.25
_HALVINGS = 50
_PATIENCE = 4
_SLOW = 0.5  # a gap that falls by less asks for products in double


@dataclass(eq=False)
class JointRun:
    """A run: weights and offsets on the device, and the best solution so far."""

    block: JointBlock
    tol: float
    free: bool = True
    constant: float = 0.0
    halted: Callable[[], bool] = lambda: False
    tell: Callable[[JointRun], None] = lambda run: None
    iterations: int = 0
    ended: str = ""
    start: tuple[Any, Any] | None = None  # weights and offsets
    best: MultinomialSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    exact: bool = False
    _idle: int = 0

    def go(self, max_iter: int) -> MultinomialSolution:
        """Run until the gap is at most ``tol`` of the value, ``max_iter`` iterations are over, or it is halted."""
        self._begin()
        began, before, fresh = time.perf_counter(), math.inf, True
        while True:
            here = self._settled()
            gradient, slopes = self._gradient(here)
            found = self._solution(here, gradient, slopes)
            self._idle = 0 if self.best is None or found.gap < 0.9 * self.best.gap else self._idle + 1
            if self.best is None or found.relative_gap < self.best.relative_gap or self.ended:
                self.best = found
            self.history.add(found.primal, found.dual, time.perf_counter() - began, exact=True, method="newton-cg")
            self.tell(self)
            if self.ended:
                return self.best
            if found.relative_gap <= self.tol and not fresh:
                self._from_weights()  # as it seems: look once more, with scores from the weights
                fresh = True
                continue
            if found.relative_gap <= self.tol:
                self.ended = "gap"
            elif self.iterations >= max_iter:
                self.ended = "iterations"
            elif self.halted():
                self.ended = "halted"
            elif self._idle >= _PATIENCE or not math.isfinite(found.primal):
                self.ended = "rounding"
            else:
                self.exact = self.exact or found.gap > _SLOW * before
                before = found.gap
                fresh = False
                while not self._step(here, gradient, slopes, found) and not self.ended:
                    if self.exact:
                        self.ended = "rounding"
                    self.exact = True
            if self.ended and fresh:
                return self.best
            if self.ended:
                self._from_weights()
                fresh = True

    def _dot(self, one: Any, other: Any) -> float:
        return self.block.rows.total(one * other)

    def reached(self) -> tuple[Any, Any]:
        """Return weights and offsets from which a run on other rows may start."""
        return self.weights, self._shift(self.weights, self.offsets) if self.free else self.offsets

    # ------------------------------------------------------------------------------------------ where it is

    def _begin(self) -> None:
        block, rows = self.block, self.block.rows
        xp = rows.xp
        self.sums = block.class_sums()
        self.total = float(xp.sum(self.sums.totals))
        self.step = 1.0 if self.free else self.constant
        self.penalty = 0.0 if self.free else 1.0
        k, d = block.n_classes, rows.d
        kind = {"dtype": xp.float64, "device": rows.device}
        self.centre = xp.sum(self.sums.across, axis=0) / self.total if self.free else xp.zeros((d,), **kind)
        self.weights, self.offsets = xp.zeros((k, d), **kind), xp.zeros((k,), **kind)
        if self.free:
            parts = xp.log(self.sums.totals / self.total)
            self.offsets = parts - xp.mean(parts)
        if self.start is not None:
            self.weights, self.offsets = self.start
            if self.free:  # they were those of another centre
                self.offsets = self.offsets + self.weights @ self.centre
        self.axes = self._axes()
        self._from_weights()

    def _axes(self) -> tuple[Any, Any]:
        """Return eigenvalues and eigenvectors of the rows' second moments around the centre."""
        rows, xp = self.block.rows, self.block.rows.xp
        d = rows.d
        if d > _MOST_AXES:
            mean = self.total * self.sums.longest**2 / d
            return xp.full((d,), mean, dtype=xp.float64, device=rows.device), None
        table = rows.gram(self.block.costs, Precision.SAMPLE)[:d, :d]
        table = table - self.total * self.centre[:, None] * self.centre[None, :]
        values, vectors = xp.linalg.eigh(0.5 * (table + table.T))
        return xp.where(values > 0.0, values, 0.0 * values), vectors

    def _shift(self, weights: Any, offsets: Any) -> Any:
        return self.step * offsets - weights @ self.centre

    def _from_weights(self) -> None:
        self.block.begin(self.weights, self._shift(self.weights, self.offsets))

    def _settled(self) -> JointCurve:
        """Move free offsets where they are far from balance; return the loss and its derivatives."""
        for _ in range(_SETTLINGS if self.free else 0):
            there = self.block.curve(offsets_alone=True)
            shift = self._repair(there)
            reach = math.nan if shift is None else float(np.ptp(shift))
            if not reach > _SETTLED:
                break
            moved = self.block.rows.to_device(shift * (math.log1p(reach) / reach))  # which cannot overshoot
            self.offsets = self.offsets + moved
            self.block.move(moved)
        return self.block.curve()

    @staticmethod
    def _repair(here: JointCurve) -> Any:
        """Return the step of the offsets that would balance the classes if probabilities were linear in them."""
        coupling, excess = to_numpy(here.coupling), -to_numpy(here.sums)
        diagonal = coupling.diagonal()
        if not diagonal.min() > 0:
            return None
        kept = np.arange(len(diagonal)) != int(np.argmax(diagonal))  # the offsets matter up to a constant
        scale = 1.0 / np.sqrt(diagonal[kept])
        shift = np.zeros(len(diagonal))
        try:
            shift[kept] = scale * np.linalg.solve(
                coupling[np.ix_(kept, kept)] * np.multiply.outer(scale, scale), scale * excess[kept]
            )
        except np.linalg.LinAlgError:
            return None
        return shift - shift.mean() if np.isfinite(shift).all() else None

    def _gradient(self, here: JointCurve) -> tuple[Any, Any]:
        gradient = self._pulled(here.across, here.sums)
        return gradient, self.penalty * self.offsets + self.step * here.sums

    def _pulled(self, across: Any, sums: Any) -> Any:
        """Return how far the weights are from those that belong to probabilities with these residuals."""
        return self.weights + across - sums[:, None] * self.centre[None, :]

    # ------------------------------------------------------------------------------------------ what is proved

    def _solution(self, here: JointCurve, gradient: Any, slopes: Any) -> MultinomialSolution:
        """Return the solution with the present weights."""
        primal = here.loss + 0.5 * (
            self._dot(self.weights, self.weights) + self.penalty * self._dot(self.offsets, self.offsets)
        )
        left = 0.0
        if self.free:
            gap, left = self._balanced_gap(here)
        else:
            gap = 0.5 * (self._dot(gradient, gradient) + (self._dot(slopes, slopes) if self.step else 0.0))
        bias = self._shift(self.weights, self.offsets) if self.free else self.step * self.offsets
        weights, bias = to_numpy(self.weights), to_numpy(bias)
        if self.free:
            bias = bias - bias.mean()
        rounding = self._rounding(here, primal, math.sqrt(2.0 * max(gap, 0.0)), left)
        return MultinomialSolution(weights, bias, primal, gap, rounding, 1e-16 * self.total)

    def _balanced_gap(self, here: JointCurve) -> tuple[float, float]:
        """Return the gap for probabilities that weigh each class as its examples do, and by how much they do not."""
        xp, totals = self.block.rows.xp, self.sums.totals
        shift = self._repair(here)
        if shift is not None and float(np.ptp(shift)) <= _SETTLED:  # as far as 1 no probability turns negative
            moves = self.block.rows.to_device(shift)
            bent = self.block.bent(None, moves, exact=True)
            away, sums = self._pulled(here.across + bent.across, here.sums + bent.sums), here.sums + bent.sums
            return self.block.tilted(moves) + 0.5 * self._dot(away, away), float(xp.sum(xp.abs(sums)))
        sums = totals + here.sums
        least = float(xp.min(totals / xp.where(sums > 1e-300, sums, 1e-300 + 0.0 * sums)))
        part_of = min(max(1.0 - least, _UNIT), 1.0)
        common = totals - (1.0 - part_of) * sums
        common = xp.where(common > 0.0, common, 0.0 * common)
        common = common / xp.sum(common)
        everything = xp.sum(self.sums.across, axis=0)
        whole = common[:, None] * everything[None, :] - self.sums.across
        across = (1.0 - part_of) * here.across + part_of * whole
        sums = (1.0 - part_of) * here.sums + part_of * (common * self.total - totals)
        away = self._pulled(across, sums)
        return self.block.mixed(part_of, common) + 0.5 * self._dot(away, away), float(xp.sum(xp.abs(sums)))

    def _rounding(self, here: JointCurve, primal: float, gradient: float, left: float) -> float:
        """Return a bound on what rounding can have changed; see multinomial_bounds.py."""
        n, d, k = self.block.rows.n, self.block.rows.d, self.block.n_classes
        xp = self.block.rows.xp
        longest = self.sums.longest + math.sqrt(self._dot(self.centre, self.centre))
        norms = math.sqrt(float(xp.max(xp.sum(self.weights * self.weights, axis=1))))
        shift = self.step * float(xp.max(xp.abs(self.offsets)))
        off = (d + k + 4) * _UNIT * (1.0 + shift + norms * longest)  # of a score
        value = 2.0 * (here.wrong + self.total * off) * off + (n + 16) * _UNIT * primal
        size = math.sqrt(self._dot(self.weights, self.weights)) + shift * math.sqrt(k)
        sums = (n + 4) * _UNIT * (2.0 * here.wrong * longest + size)
        pair = 2.0 * self.total * (off + 8 * _UNIT) ** 2
        reach = shift + self.step + (gradient + sums) * longest
        balance = ((n + 4) * _UNIT * self.step * 2.0 * here.wrong + left) * reach if self.step else 0.0
        return float(2.0 * (value + (gradient + sums) * sums + pair + balance))

    # ------------------------------------------------------------------------------------------ a step

    def _step(self, here: JointCurve, gradient: Any, slopes: Any, found: MultinomialSolution) -> bool:
        """Make one iteration; False where no length of the step lowers the value."""
        direction = self._direction(here, gradient, slopes, found)
        if direction is None:
            return False
        step, moves = direction
        slope = self._dot(gradient, step) + self._dot(slopes, moves)
        if not (math.isfinite(slope) and slope < 0.0):
            return False
        self.block.aim(step, self._shift(step, moves))
        squares = [self._dot(*pair) for pair in ((self.weights,) * 2, (self.weights, step), (step, step))]
        if self.penalty:
            bias = [self._dot(*pair) for pair in ((self.offsets,) * 2, (self.offsets, moves), (moves, moves))]
            squares = [one + other for one, other in zip(squares, bias, strict=True)]
        length, allowed, best, lowest = 1.0, 16.0 * _UNIT * found.primal, 0.0, math.inf
        for _ in range(_HALVINGS):
            value = self.block.along(length)
            value += 0.5 * (squares[0] + 2.0 * length * squares[1] + length * length * squares[2])
            if best and value >= lowest:
                break
            if value <= found.primal + _ARMIJO * length * slope + allowed:
                best, lowest = length, value
                if found.primal - value >= -_GOOD * length * slope:
                    break
            length *= 0.5
        if not best:
            return False
        if -slope > 1e-12 * found.primal:  # the value still falls, whatever the gap does meanwhile
            self._idle = 0
        self.block.slide(best)
        self.weights, self.offsets = self.weights + best * step, self.offsets + best * moves
        self.iterations += 1
        return True

    def _direction(self, here: JointCurve, gradient: Any, slopes: Any, found: MultinomialSolution) -> Any:
        """Solve Newton's equations by preconditioned conjugate gradients, as exactly as the gap asks for."""
        eased = self._preconditioner(here.coupling)
        aim = 0.5 * math.sqrt(self.tol * found.primal)
        size = math.sqrt(self._dot(gradient, gradient))
        rough = max(size * min(0.1, math.sqrt(found.relative_gap)), aim)
        step, moves = 0.0 * gradient, 0.0 * slopes
        residual, rest = -gradient, -slopes
        towards, shift = eased(residual, rest)
        product = self._dot(residual, towards) + self._dot(rest, shift)
        for _ in range(_MOST_STEPS):
            if self.halted():
                self.ended = "halted"
                return None
            bent = self.block.bent(towards, self._shift(towards, shift), exact=self.exact)
            image = towards + bent.across - bent.sums[:, None] * self.centre[None, :]
            pull = self.penalty * shift + self.step * bent.sums
            bend = self._dot(towards, image) + self._dot(shift, pull)
            if not (bend > 0.0 and product > 0.0):
                break
            length = product / bend
            step, moves = step + length * towards, moves + length * shift
            residual, rest = residual - length * image, rest - length * pull
            if self._dot(residual, residual) <= rough * rough:
                break
            scaled, scaled_rest = eased(residual, rest)
            last, product = product, self._dot(residual, scaled) + self._dot(rest, scaled_rest)
            towards, shift = scaled + (product / last) * towards, scaled_rest + (product / last) * shift
        return step, moves

    def _preconditioner(self, coupling: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
        """Return what solves the equations as if how classes compete did not depend on the rows."""
        xp = self.block.rows.xp
        strengths, classes = xp.linalg.eigh(coupling / self.total)
        floor = 1e-13 * max(float(strengths[-1]), 1e-300)
        strengths = xp.where(strengths > floor, strengths, floor + 0.0 * strengths)
        spreads, features = self.axes
        inverse = 1.0 / (1.0 + strengths[:, None] * spreads[None, :])
        of_offsets = self.penalty + strengths * (self.step**2 * self.total)

        def eased(residual: Any, rest: Any) -> tuple[Any, Any]:
            turned = classes.T @ residual
            if features is None:
                step = classes @ (turned * inverse)
            else:
                step = classes @ (((turned @ features) * inverse) @ features.T)
            if not self.step:
                return step, 0.0 * rest
            moves = classes @ ((classes.T @ rest) / of_offsets)
            return step, moves - xp.mean(moves) if self.free else moves

        return eased
