"""From scores to probabilities, as SQL: ``exp`` within the range that PostgreSQL takes, CASE for an isotonic map."""

from __future__ import annotations

from separatrix.tables.calibration import Calibration, IsotonicCalibration, SigmoidCalibration

_LONGEST = 1_000_000  # characters of all probabilities


def sql_probabilities(calibration: Calibration | None, scores: list[str]) -> list[str]:
    """Return an expression for the probability of each class, given those of the scores; none where too long.

    Examples
    --------
    >>> from separatrix.tables.calibration import TemperatureCalibration
    >>> sql_probabilities(TemperatureCalibration(0.5, 1), ["s"])[1]
    '1e0 / (1e0 + exp(CASE WHEN s * -1.0e0 > 7e2 THEN 7e2 WHEN s * -1.0e0 < -7e2 THEN -7e2 ELSE s * -1.0e0 END))'
    """
    if calibration is None:
        return []
    if isinstance(calibration, SigmoidCalibration):
        lines = zip(scores, calibration.slope.tolist(), calibration.intercept.tolist(), strict=True)
        outputs = [_logistic(f"({score} * {double(a)} + {double(b)})") for score, a, b in lines]
    elif isinstance(calibration, IsotonicCalibration):
        maps = zip(scores, calibration.knots, calibration.values, strict=True)
        outputs = [_interpolated(score, knots.tolist(), values.tolist()) for score, knots, values in maps]
    elif len(scores) == 1:
        outputs = [_logistic(f"{scores[0]} * {double(-2.0 * calibration.beta)}")]
    else:
        return _softmax(scores, calibration.beta)
    if len(outputs) == 1:
        return [f"(1e0 - {outputs[0]})", outputs[0]]
    if sum(map(len, outputs)) * len(outputs) > _LONGEST:
        return []
    total, equal = " + ".join(outputs), double(1.0 / len(outputs))
    return [
        f"CASE WHEN {score} IS NOT NULL THEN COALESCE({output} / NULLIF({total}, 0e0), {equal}) END"
        for score, output in zip(scores, outputs, strict=True)
    ]


def double(value: float) -> str:
    """Return a number that all databases take for a double; without the exponent some would take it for a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _exp(value: str) -> str:
    return f"exp(CASE WHEN {value} > 7e2 THEN 7e2 WHEN {value} < -7e2 THEN -7e2 ELSE {value} END)"


def _logistic(negative: str) -> str:
    """Return ``1 / (1 + exp(x))``."""
    return f"1e0 / (1e0 + {_exp(negative)})"


def _softmax(scores: list[str], beta: float) -> list[str]:
    every = []
    for own in scores:
        others = " + ".join(_exp(f"({other} - {own}) * {double(beta)}") for other in scores if other != own)
        every.append(f"1e0 / (1e0 + {others})")
    return every if sum(map(len, every)) <= _LONGEST else []


def _interpolated(score: str, knots: list[float], values: list[float]) -> str:
    """Return a map that is linear between knots and constant beyond."""
    cases = [f"WHEN {score} <= {double(knots[0])} THEN {double(values[0])}"]
    for k in range(1, len(knots)):
        low, high, slope = knots[k - 1], values[k - 1], (values[k] - values[k - 1]) / (knots[k] - knots[k - 1])
        rise = f" + ({score} - {double(low)}) * {double(slope)}" if slope else ""
        cases.append(f"WHEN {score} < {double(knots[k])} THEN {double(high)}{rise}")
    last = f"WHEN {score} >= {double(knots[-1])} THEN {double(values[-1])}"
    return f"CASE {' '.join([*cases, last])} END"
