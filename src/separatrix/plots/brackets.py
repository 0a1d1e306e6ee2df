"""How a certificate's bracket of the largest margin closes."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from separatrix.certificates.certificate import Certificate
from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import COLOURS, new_axes

_LONG = 20.0  # a search that lasts this many times as long as its first look is drawn over the logarithm of time
_SHORT = 0.1  # seconds; a shorter search is drawn in thousandths
_LOWER, _UPPER = COLOURS[0], COLOURS[1]


def bracket(certificate: Certificate, ax: Axes | None = None) -> Axes:
    """Draw how the search for a certificate closes in on the largest margin, from below and from above, over time.

    Every plane that separates gives a lower bound, its own margin; every pair of points, one in each class's hull, an
    upper bound, half their distance. The largest margin lies between the two lines. A lower bound of 0 says that no
    plane that separates was known yet.

    Parameters
    ----------
    certificate : Certificate
        From :func:`separatrix.certify`. One that was read from a file has no history.
    ax : Axes, optional
        Where.

    Returns
    -------
    Axes
        The last bounds are proved; those before are what the search saw in floating point.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import certify, datasets
    >>> bracket(certify(*datasets.load("and"))).get_title()
    'strictly separable: largest margin 0.3536'
    """
    if not isinstance(certificate, Certificate):
        raise TypeError(f"bracket draws one Certificate, from sx.certify; found {type(certificate).__name__}")
    if not certificate.history:
        raise ValueError("the certificate has no history, since files do not store it: run sx.certify again")
    seconds, lower, upper = np.array(certificate.history, dtype=np.float64).T
    unit = "seconds"
    if seconds[-1] < _SHORT:
        seconds, unit = 1e3 * seconds, "milliseconds"
    ax = new_axes(ax)
    first, top = _beginning(seconds), _top(lower, upper)
    # What is not known yet is above the picture.
    high = np.where(np.isfinite(upper), upper, 10.0 * top)
    ax.fill_between(seconds, lower, high, step="post", color="#888888", alpha=0.15, linewidth=0)
    marker = "." if len(seconds) <= 40 else None
    for values, colour, label in ((high, _UPPER, "upper bound"), (lower, _LOWER, "lower bound")):
        ax.plot(seconds, values, color=colour, linewidth=1.8, drawstyle="steps-post", marker=marker, label=label)
    ends = [float(end) for end in (lower[-1], upper[-1]) if np.isfinite(end)]
    ax.plot(
        [seconds[-1]] * len(ends), ends, color="black", marker="o", markersize=4.5, linestyle="none", label="proved"
    )
    if seconds[-1] > _LONG * first:
        ax.set(xscale="log", xlim=(first / 1.15, seconds[-1] * 1.15))
    ax.set(xlabel=unit, ylabel="margin", ylim=(-0.04 * top, top))
    ax.set_title(verdict(certificate), fontsize="medium")
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False)
    return ax


def verdict(certificate: Certificate) -> str:
    """Return what a certificate proves in a few words: the verdict and the bracket."""
    low, high = (f"{bound:.4g}" for bound in certificate.margin)
    known = "not strictly separable" if certificate.separable is None and high == "0" else certificate.facts()[0]
    if np.isinf(certificate.margin.upper):
        return f"{known}: largest margin not bounded"
    return f"{known}: largest margin {low if low == high else f'{low} to {high}'}"


def _beginning(seconds: Floats) -> float:
    """Return the time of the first look."""
    later = seconds[seconds > 0]
    return float(later[0]) if len(later) else 1.0


def _top(lower: Floats, upper: Floats) -> float:
    """Return the height to show: from where the upper bound comes near to where it ends."""
    known = upper[np.isfinite(upper)]
    if not len(known):
        return 1.0
    end = max(float(known[-1]), float(lower[-1]))
    first = float(known.max())
    return 1.08 * (min(first, 4.0 * end) if end > 0 else first or 1.0)
