"""Leave-one-out of classes that were learned together: where the optimum without a row can be, by one fit's curvature.

Let g and H be gradient and Hessian of the objective without a row, at the model. Along any u with ``u H u = 1`` no
difference of two scores of a row moves faster than q, the largest ``|(e_k - e_l) x|`` in the norm of ``H^-1``; the
second derivative of the softmax loss then falls by no more than ``exp(-q t)``. So with ``lambda^2 = g H^-1 g`` and
``lambda q < 1`` the optimum is within ``t = -log(1 - lambda q) / q`` in the norm of H (the module on logistic
regression without a penalty, ``svm/unpenalised.py``, has the argument for two classes), and a difference of two scores
of the row is off by at most t times its own length.

Hessians without a row come from that of all rows: of the row only the table ``M_kl = x (H^-1)_kl x`` counts. Biases
that cost nothing are held at a mean of 0, which changes no difference of scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from separatrix.estimators.left_out_rows import ALIKE, OPEN, OTHER, REFIT_TOL, RIGHT, WRONG, LeftOutRows
from separatrix.estimators.logistic_regression import MultinomialState
from separatrix.estimators.warm_fits import WarmFits, copy_of
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.loop.problem import Labels

MOST = 1500  # classes times coefficients of each
_UNIT = float(np.finfo(np.float64).eps)
_STIFF = 0.9  # the part of the Hessian that rounding must leave
_HELD = 0.95  # the most of it that one row may make up
_SLACK = 1.0 + 1e-6  # for the rounding of lengths


class JointCurvature:
    """The objective of classes learned together, about given weights and biases, and what its curvature proves."""

    def __init__(
        self, rows: Any, codes: NDArray[np.intp], costs: Floats, coef: Floats, bias: Floats, constant: float, free: bool
    ) -> None:
        values = rows.toarray() if is_sparse(rows) else rows
        table = np.asarray(values, dtype=np.float64)
        n, k = len(codes), len(bias)
        self.centre = costs @ table / costs.sum() if free else np.zeros(table.shape[1])
        self.constant, self.free = 1.0 if free else constant, free
        self.codes, self.costs = codes, costs
        self.theta = coef
        if self.constant:
            self.theta = np.column_stack([coef, (bias + coef @ self.centre) / self.constant])
        self.Z = self._seen(table)
        self.scores = self.Z @ self.theta.T
        self.p = softmax(self.scores, axis=1)
        self.residuals = self.p.copy()
        self.residuals[np.arange(n), codes] = -(self.p.sum(axis=1) - self.p[np.arange(n), codes])
        width = self.Z.shape[1]
        ridge = np.ones(width)
        if free:
            ridge[-1] = 0.0
        losses = logsumexp(self.scores, axis=1) - self.scores[np.arange(n), codes]
        self.value = 0.5 * float((ridge * self.theta * self.theta).sum()) + float(costs @ losses)
        gradient = (ridge * self.theta + (costs[:, None] * self.residuals).T @ self.Z).ravel()
        hessian = np.empty((k, width, k, width))
        for a in range(k):
            for b in range(a + 1):
                bend = costs * self.p[:, a] * ((a == b) - self.p[:, b])
                hessian[a, :, b] = hessian[b, :, a] = (self.Z.T * bend) @ self.Z
            hessian[a, :, a] += np.diag(ridge)
        if free:
            hessian[:, -1, :, -1] += 1.0
        whole = hessian.reshape(k * width, -1)
        inverse = np.linalg.inv(whole)
        self.inverse = inverse.reshape(k, width, k, width)
        softest = float(np.trace(inverse))
        self.stiff = 1.0 - (n + len(whole) + 8) * _UNIT * float(np.trace(whole)) * softest
        self.flat = not (softest > 0.0 and self.stiff > _STIFF)  # so much that rounding allows no proof
        if self.flat:
            return
        lengths = np.linalg.norm(self.Z, axis=1)
        self.off = (width + 4) * _UNIT * (1.0 + np.linalg.norm(self.theta) * lengths)
        tilted = (n + 4) * _UNIT * float(costs @ (lengths * np.abs(self.residuals).sum(axis=1))) + 2.0 * float(
            costs @ (self.off * lengths)
        )
        self.decrement = float(np.sqrt(max(gradient @ inverse @ gradient, 0.0))) + tilted * np.sqrt(softest)
        self.tables = self._tables(self.Z)
        self.fastest = float(np.sqrt(_pairs(self.tables).max())) * _SLACK

    def _seen(self, values: Floats) -> Floats:
        table = values - self.centre
        return np.column_stack([table, np.full(len(table), self.constant)]) if self.constant else table

    def _tables(self, Z: Floats) -> Floats:
        k = len(self.theta)
        tables = np.empty((len(Z), k, k))
        for a in range(k):
            for b in range(k):
                tables[:, a, b] = np.einsum("ij,ij->i", Z @ self.inverse[a, :, b], Z)
        return tables

    def without_each(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows the optimum of all others certainly gets right, and which certainly wrong."""
        if self.flat:
            return (np.zeros(len(self.codes), dtype=bool),) * 2
        k = self.p.shape[1]
        spread = np.einsum("ik,kl->ikl", self.p, np.eye(k)) - np.einsum("ik,il->ikl", self.p, self.p)
        mine = self.costs[:, None, None] * np.einsum("ikl,ilm->ikm", spread, self.tables)
        held = np.trace(mine, axis1=1, axis2=2) / self.stiff
        left = np.clip(1.0 - held, 1.0 - _HELD, 1.0)
        others = np.eye(k) - np.where((held < _HELD)[:, None, None], mine, 0.0)
        tables = np.einsum("ikl,ilm->ikm", self.tables, np.linalg.inv(others))
        pulled = self.costs[:, None] * self.residuals
        own = np.einsum("ik,ikl,il->i", pulled, tables, pulled)
        decrement = np.sqrt(np.maximum(own, 0.0)) + self.decrement / np.sqrt(left)
        known = held < _HELD
        return self._decided(self.scores, self.codes, tables, decrement, self.fastest / np.sqrt(left), self.off, known)

    def of(self, row: Any, code: int) -> tuple[bool, bool]:
        """Return whether the optimum of these rows certainly gets another row right, and whether certainly wrong."""
        if self.flat:
            return False, False
        values = row.toarray() if is_sparse(row) else row
        Z = self._seen(np.asarray(values, dtype=np.float64))
        off = (Z.shape[1] + 4) * _UNIT * (1.0 + np.linalg.norm(self.theta) * np.linalg.norm(Z, axis=1))
        one = np.ones(1)
        right, wrong = self._decided(
            Z @ self.theta.T, np.array([code]), self._tables(Z), self.decrement * one, self.fastest * one, off,
            one > 0.0,
        )  # fmt: skip
        return bool(right[0]), bool(wrong[0])

    def _decided(
        self, scores: Floats, codes: NDArray[np.intp], tables: Floats, decrement: Floats, fastest: Floats, off: Floats,
        known: NDArray[np.bool_],
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:  # fmt: skip
        each = np.arange(len(codes))
        decrement, fastest = decrement * _SLACK / np.sqrt(self.stiff), fastest / np.sqrt(self.stiff)
        a = decrement * fastest
        known = known & (a < 1.0)
        reach = -np.log1p(-np.where(known, a, 0.0)) / fastest
        lengths = np.sqrt(np.maximum(_pairs(tables)[each, codes], 0.0) / self.stiff) * _SLACK
        moved = reach[:, None] * lengths + 2.0 * off[:, None]
        ahead = scores[each, codes][:, None] - scores
        ahead[each, codes], moved[each, codes] = np.inf, 0.0
        return known & (ahead > moved).all(axis=1), known & (ahead < -moved).any(axis=1)


def _pairs(tables: Floats) -> Floats:
    """Return the squared lengths ``M_kk + M_ll - 2 M_kl`` of the differences of classes."""
    diagonal = np.einsum("ikk->ik", tables)
    return np.asarray(diagonal[:, :, None] + diagonal[:, None, :] - tables - np.swapaxes(tables, 1, 2))


class JointlyLeftOut(LeftOutRows):
    """The rows of a fit of classes that were learned together, without themselves."""

    def _begin(self, fitted: Any) -> None:
        self.values = self.problem.rows.values[self.kept]
        weights = np.ones(self.problem.n) if self.problem.weights is None else self.problem.weights
        self.weights = np.asarray(weights[self.kept], dtype=np.float64)
        size = len(self.problem.classes) * (self.problem.d + 1)
        if size > MOST:
            raise ValueError(
                f"leave_one_out of classes learned together needs at most {MOST:,} weights and intercepts; found "
                f"{size:,}: fit with multi_class='ovr'"
            )
        self.whole = self._curvature(fitted, np.arange(len(self.kept)))
        if not abs(self.whole.value - fitted.objective_) <= ALIKE * fitted.objective_:
            raise ValueError(OTHER)

    def _curvature(self, model: Any, rows: NDArray[np.intp]) -> JointCurvature:
        costs = float(self.fits.model.C) * self.weights[rows]
        bias = self.fits.model._bias_kind()
        return JointCurvature(self.values[rows], self.codes[rows], costs, model.coef_, model.intercept_, *bias)

    def bound(self) -> None:
        """Bound every row's scores without itself, from the one fit."""
        self._note(self.kept, *self.whole.without_each(), "bound")

    def _note(self, rows: NDArray[np.intp], right: NDArray[np.bool_], wrong: NDArray[np.bool_], by: str) -> None:
        for sure, verdict in ((right, RIGHT), (wrong, WRONG)):
            new = rows[sure & (self.verdicts[rows] == OPEN)]
            self.verdicts[new], self.decided_by[new] = verdict, by

    def row_by_row(self, halted: Callable[[], bool]) -> list[int]:
        """Return the rows that are left, those nearest to a verdict of "wrong" first."""
        scores, each = self.whole.scores.copy(), np.arange(len(self.codes))
        own = scores[each, self.codes]
        scores[each, self.codes] = -math.inf
        left = np.flatnonzero(self.verdicts[self.kept] == OPEN).tolist()
        return sorted(left, key=lambda place: (own[place] - scores[place].max(), place))

    def refit(self, place: int) -> None:
        """Fit without a row, and decide it if the fit proves the order of its scores."""
        others = np.delete(np.arange(len(self.kept)), place)
        model = copy_of(self.fits.model, class_weight=None, verbose=0)
        labels = Labels(self.problem.classes, self.codes[others].astype(np.int32))
        fits = WarmFits(model, Rows(self.values[others]), labels, self.weights[others])
        start = MultinomialState(self.fits.model.coef_, self.fits.model.intercept_)
        C = float(self.fits.model.C)
        fitted = fits.fit(C, min(float(self.fits.model.tol), REFIT_TOL), [(C, [start])])
        right, wrong = self._curvature(fitted, others).of(self.values[[place]], int(self.codes[place]))
        self._note(self.kept[[place]], np.array([right]), np.array([wrong]), "refit")
