"""From scores to probabilities, in C: the function ``@_probabilities``."""

from __future__ import annotations

import numpy as np

from separatrix.tables.calibration import Calibration, IsotonicCalibration, SigmoidCalibration
from separatrix.tables.export.c_words import numbers

_LOGISTIC = """static inline double @_logistic(double value) {
    const double tail = exp(value < 0.0 ? value : -value);
    return (value < 0.0 ? tail : 1.0) / (1.0 + tail);
}"""
_INTERPOLATED = """/* Linear between knots, from first to last, and constant beyond. */
static inline double @_interpolated(double score, int first, int last) {
    int k = first;
    if (score <= @_knots[first]) return @_values_at[first];
    if (score >= @_knots[last]) return @_values_at[last];
    while (score >= @_knots[k + 1]) ++k;
    return @_values_at[k]
        + (score - @_knots[k]) * (@_values_at[k + 1] - @_values_at[k]) / (@_knots[k + 1] - @_knots[k]);
}"""


def c_probabilities(calibration: Calibration, row: str, n_classes: int) -> str:
    """Return the C that writes the probability of each class; ``row`` declares the argument."""
    n = calibration.n_scores
    parts, output = _outputs(calibration)
    if n == 1:
        body = f"""    probabilities[1] = {output.replace("[k]", "[0]").replace("k + 1", "1")};
    probabilities[0] = 1.0 - probabilities[1];"""
    elif isinstance(calibration, SigmoidCalibration | IsotonicCalibration):
        body = f"""    for (k = 0; k < {n}; ++k) {{
        probabilities[k] = {output};
        total += probabilities[k];
    }}
    for (k = 0; k < {n}; ++k) probabilities[k] = total > 0.0 ? probabilities[k] / total : 1.0 / {n}.0;"""
    else:
        body = f"""    for (k = 1; k < {n}; ++k)
        if (scores[k] > most) most = scores[k];
    for (k = 0; k < {n}; ++k) {{
        probabilities[k] = exp((scores[k] - most) * {output});
        total += probabilities[k];
    }}
    for (k = 0; k < {n}; ++k) probabilities[k] /= total;"""
    softmax = n > 1 and not isinstance(calibration, SigmoidCalibration | IsotonicCalibration)
    total = "\n    double total = 0.0;" if n > 1 else ""
    most = "\n    double most;" if softmax else ""
    first = "\n    most = scores[0];" if softmax else ""
    function = f"""/* Writes the probability of each class; 0 if the row has no prediction. */
static inline int @_probabilities({row}, double *probabilities) {{
    double scores[{n}];{total}{most}
    int k;
    if (!@_scores(row, scores)) {{
        for (k = 0; k < {n_classes}; ++k) probabilities[k] = (double)NAN;
        return 0;
    }}{first}
{body}
    return 1;
}}"""
    return "\n\n".join([*parts, function])


def _outputs(calibration: Calibration) -> tuple[list[str], str]:
    """Return arrays and functions, and the output for score k (of a softmax its inverse temperature)."""
    if isinstance(calibration, SigmoidCalibration):
        arrays = f"{numbers('@_slope', calibration.slope)}\n{numbers('@_intercept', calibration.intercept)}"
        return [arrays, _LOGISTIC], "@_logistic(-(@_slope[k] * scores[k] + @_intercept[k]))"
    if isinstance(calibration, IsotonicCalibration):
        ends = np.cumsum([0, *(len(each) for each in calibration.knots)])
        arrays = "\n".join(
            [
                numbers("@_knots", np.concatenate(calibration.knots)),
                numbers("@_values_at", np.concatenate(calibration.values)),
                numbers("@_knot_ends", ends),
            ]
        )
        return [arrays, _INTERPOLATED], "@_interpolated(scores[k], @_knot_ends[k], @_knot_ends[k + 1] - 1)"
    if calibration.n_scores > 1:
        return [], repr(calibration.beta)
    return [_LOGISTIC], f"@_logistic({2.0 * calibration.beta!r} * scores[k])"
