"""The certificate of a fitted linear model, computed on first access: ``certificate_``.

A proof needs the data that the model was fitted to. They are kept without a copy: small ones for as long as the model
lives, large ones only for as long as someone else holds them, so that no model keeps gigabytes alive. Data that have
been changed since are noticed by a key (of all rows if they are few, else of some), and copies of a model, in memory or
in a file, leave the data behind. The claims are about the settings of ``fit``, whatever they were changed to later.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.certificates.certifying import certify_task
from separatrix.certificates.data import Data, binary_data
from separatrix.certificates.model import (
    MistakeBound,
    ModelCertificate,
    PlaneMeasures,
    SoftMargin,
    measure_plane,
    objective,
)
from separatrix.certificates.proving import prove
from separatrix.estimators.fitting import weigh_classes
from separatrix.estimators.one_vs_rest import positives
from separatrix.geometry.device_rows import DeviceRows, rows_of, to_numpy
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.loop.problem import Problem, encode_labels

_VANISHING = 1e-280  # steps that change activations by less are lost in rounding
_OUTWARD = 1.0 + 1e-12  # more than a few roundings
_SMALL = 1 << 24  # bytes of data that a model may keep alive
_KEYED = 1 << 22  # bytes of which every row is in the key
_HARMLESS = ("max_iter", "stop", "verbose", "n_jobs", "warm_start", "random_state")  # change no step of a run
_SOME = 1024  # rows that are in it otherwise


class FitRecord:
    """What a model was fitted to and how: rows, labels, weights, settings.

    ``one_run`` says that it met no other data since its start.
    """

    def __init__(self, problem: Problem, given: Any, settings: dict[str, Any], *, one_run: bool) -> None:
        self.codes, self.weights = problem.codes, None if problem.weights is None else problem.weights.copy()
        self.settings, self.one_run = settings, one_run
        self.certified: tuple[str, Any] | None = None  # the model that was certified last, and its certificate
        rows = problem.rows
        self._key = _key(rows)
        self._rows: Callable[[], Any] = lambda: rows
        if _size(rows) > _SMALL:
            try:
                self._rows = weakref.ref(given)
            except TypeError:
                self._rows = lambda: None

    def not_plain(self) -> str:
        """Return why the theorems are not about this run: they begin at zero and take examples as they are. Else ""."""
        if not self.one_run:
            return "the run went on from an earlier fit, with other data or parameters"
        weighted = self.weights is not None and not bool((self.weights == 1).all())
        return "the theorem is about examples without weights" if weighted else ""

    def goes_on_in(self, settings: dict[str, Any]) -> bool:
        """Return whether a run with these settings goes on as if it were one with the last."""
        same = all(
            np.array_equal(value, self.settings[name]) for name, value in settings.items() if name not in _HARMLESS
        )
        return self.one_run and same

    def rows(self) -> Rows | None:
        """Return the rows, in memory; None if they are gone or no longer what they were."""
        kept = self._rows()
        rows = kept if kept is None or isinstance(kept, Rows) else rows_of(kept)
        if rows is None or _key(rows) != self._key:
            return None
        return Rows(to_numpy(rows.values)) if isinstance(rows, DeviceRows) else rows


def _size(rows: Rows) -> int:
    values = rows.values
    if isinstance(rows, DeviceRows):
        return 8 * math.prod(rows.shape)
    return int(values.data.nbytes + values.indices.nbytes if is_sparse(values) else values.nbytes)


def _key(rows: Rows) -> tuple[Any, ...]:
    n = rows.shape[0]
    if isinstance(rows, DeviceRows):
        rows = rows.sample(_SOME)
    elif _size(rows) > _KEYED and n > _SOME:
        rows = Rows(rows.values[np.linspace(0, n - 1, _SOME).astype(np.intp)])
    return n, _core.checksum(rows.matrix)


class Certified:
    """Gives an estimator with ``coef_`` and ``intercept_`` its ``certificate_``.

    It is no property: scikit-learn evaluates those whenever it lists or shows an estimator.
    """

    classes_: Any
    coef_: Any
    intercept_: Floats
    certificate_: ModelCertificate | dict[Any, ModelCertificate]
    _fit_record: FitRecord | None

    def __getattr__(self, name: str) -> Any:
        if name == "certificate_":
            return self._certified()
        return object.__getattribute__(self, name)  # which says why there is none

    def _certified(self) -> Any:
        """Return what can be proved about this model and its data; for several classes, by label."""
        record: FitRecord | None = getattr(self, "_fit_record", None)
        rows = None if record is None else record.rows()
        if record is None or rows is None:
            raise AttributeError(
                "certificate_ needs the data of fit as they were: there are none if the model is not fitted, learned "
                "online, is a copy or was read from a file, and large data must still be in memory, unchanged; "
                "sx.certify(X, y) is about data alone"
            )
        coef = self.coef_.toarray() if is_sparse(self.coef_) else self.coef_
        mark = hashlib.blake2b(coef.tobytes() + self.intercept_.tobytes()).hexdigest()
        if record.certified is None or record.certified[0] != mark:
            record.certified = mark, self._certificates(record, rows)
        return record.certified[1]

    def _certificates(self, record: FitRecord, rows: Rows) -> Any:
        """Return the certificate of the only task, or for several classes a dict of them by label."""
        coef = self.coef_.toarray() if is_sparse(self.coef_) else self.coef_
        codes = positives(len(self.classes_))
        certificates = [self._certificate(record, rows, which, code, coef[which]) for which, code in enumerate(codes)]
        return dict(zip(self.classes_.tolist(), certificates, strict=True)) if len(codes) > 1 else certificates[0]

    def _certificate(self, record: FitRecord, rows: Rows, which: int, code: int, coef: Floats) -> ModelCertificate:
        kept = None if record.weights is None else np.flatnonzero(record.weights > 0)
        codes = record.codes if kept is None else record.codes[kept]
        part = rows if kept is None or len(kept) == len(record.codes) else Rows(rows.values[kept])
        data = binary_data(part, self.classes_, codes, bool(record.settings["fit_intercept"]), code)
        weights, bias = np.ascontiguousarray(coef, dtype=np.float64), float(self.intercept_[which])
        measured = measure_plane(data, weights, bias)
        more = self._claims(record, data, which, weights, bias, measured)
        return ModelCertificate(
            type(self).__name__,
            data.positive,
            data.negative,
            measured.margin,
            measured.distances,
            measured.wrong,
            **more,
        )

    def _refuted(self, certificate: Any, X: Any, y: Any, sample_weight: Any) -> list[str]:
        """Return which claims of a certificate the weights of this model and these data do not bear out."""
        settings = getattr(getattr(self, "_fit_record", None), "settings", None)
        settings = self.get_params(deep=False) if settings is None else settings
        rows = Rows(X)
        rows.check_finite()
        labels = encode_labels(y, rows.shape[0])
        if not np.array_equal(labels.classes, self.classes_):
            return [f"the labels are {labels.classes.tolist()!r:.60}; the model knows {self.classes_.tolist()!r:.60}"]
        problem = Problem(rows, labels, sample_weight=sample_weight, bias=None, check_finite=False)
        weigh_classes(problem, settings["class_weight"])
        fresh = self._certificates(FitRecord(problem, X, settings, one_run=False), rows)
        if isinstance(fresh, dict):
            fresh = fresh.get(certificate.positive)
        if type(fresh) is not type(certificate):
            return ["the model has no task of this class"]
        problems: list[str] = certificate.refuted_by(fresh)
        if isinstance(certificate, ModelCertificate) and certificate.data is not None:
            problems += certificate.data.verify_rows(rows, *labels).problems
        return problems

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        """Return what else this kind of model can prove."""
        return {}

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fit_record"}


def no_bound(made: int, why: str) -> dict[str, Any]:
    """Return mistakes made, and why no bound on them is known."""
    return {"mistakes": MistakeBound(made, math.inf, why)}


def within_bound(
    data: Data, made: int, constant: float, factor: Callable[[float], float] = lambda square: square
) -> dict[str, Any]:
    """Return mistakes made against the bound, and what the bound rests on.

    The bound is ``factor(R^2) / gamma^2``; by default the perceptron's, ``(R / gamma)^2``.
    """
    certificate = certify_task(data)
    proof = prove(data, certificate.witness)
    radius = proof.radius(constant)
    if not radius * radius > _VANISHING:
        return no_bound(made, "the values are so small that steps vanish in rounding")
    square = radius * radius
    widened = factor(square) / square
    allowed = proof.mistakes(constant) * (widened if widened == 1.0 else widened * _OUTWARD)
    return {"mistakes": MistakeBound(made, allowed), "data": certificate}


def soft_margin(
    data: Data, asked: SoftMargin, weights: Floats, bias: float, measured: PlaneMeasures, alpha: Floats
) -> dict[str, Any]:
    """Return the claims of a support vector machine: both values of its objective."""
    return {"objective": objective(data, asked, weights, bias, measured, alpha)}
