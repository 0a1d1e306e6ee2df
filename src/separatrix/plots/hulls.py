"""Two classes, their convex hulls, and what a certificate proves of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.data import Data, binary_data, read
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.plots.brackets import verdict
from separatrix.plots.canvas import MARKERS, colours_of, extent, legend_below, new_axes, plain_text

_FLAT = 1e-9  # a hull that is thinner than this part of its length is a segment
_SQUAREST = 0.8  # of the longer side of the picture, the shorter is at least this much, where one scale serves both
_MOST_ALIKE = 25.0  # features whose ranges differ by more cannot be drawn to one scale
_WITNESS, _PROOF = "#333333", "#111111"


def hulls(
    certificate: Certificate, X: Any, y: Any, ax: Axes | None = None, *, names: Sequence[str] | None = None
) -> Axes:
    """Draw two classes of two features, their convex hulls, and why a plane separates them, or why none can.

    A plane separates the classes strictly exactly if their hulls have no point in common. The nearest points of the two
    hulls are then twice the largest margin apart, and the plane runs half-way between them. If they have a point in
    common, it is a weighted mean of rows of either class: the circled rows are the witness, and thin lines lead from
    the common point to them. If the classes only touch, a plane goes between them through that point. Where planes must
    go through the origin, it is drawn too; then the classes' means need not be the same point, only lie in the same
    direction.

    Parameters
    ----------
    certificate : Certificate
        From :func:`separatrix.certify`; of more than two classes, one of ``certificates.pairs`` or ``.rest``.
    X : array, sparse matrix or frame of shape (n_samples, 2)
        The rows that it is about. Those of classes that it is not about are left out.
    y : sequence of labels
        Their classes.
    ax : Axes, optional
        Where.
    names : sequence of str, optional
        The features' names, where X does not carry them.

    Returns
    -------
    Axes
        Drawn to one scale, so that right angles look right, unless the features' ranges differ too much.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import certify, datasets
    >>> X, y = datasets.load("and")
    >>> hulls(certify(X, y), X, y).get_title()
    'strictly separable: largest margin 0.3536'
    >>> X, y = datasets.load("xor")
    >>> hulls(certify(X, y), X, y).get_title()
    'not separable: largest margin 0'
    """
    if not isinstance(certificate, Certificate):
        raise TypeError(f"hulls draws one Certificate, from sx.certify; found {type(certificate).__name__}")
    data = _certified(certificate, X, y)
    shown = list(names) if names is not None else data.rows.names or ["feature 0", "feature 1"]
    if len(shown) != 2:
        raise ValueError(f"names must hold one name for each of the 2 features; found {len(shown)}")
    ax = new_axes(ax)
    picture = _Picture(ax, certificate, data)
    picture.draw()
    ax.set(xlabel=shown[0], ylabel=shown[1])
    ax.set_title(verdict(certificate), fontsize="medium")
    legend_below(ax, handles=picture.signs)
    return plain_text(ax)


def _certified(certificate: Certificate, X: Any, y: Any) -> Data:
    """Return the rows that the certificate is about, or say that they are not among these."""
    rows, classes, codes = read(X, y)
    if rows.shape[1] != 2:
        raise ValueError(f"hulls can be drawn for two features; found {rows.shape[1]}")
    labels = classes.tolist()
    wanted = [label for label in (certificate.positive, certificate.negative) if label is not None]
    if not all(label in labels for label in wanted):
        raise ValueError(f"the certificate is about {certificate.names}, but y holds {labels}: pass the certified data")
    positive, *negative = (labels.index(label) for label in wanted)
    data = binary_data(rows, classes, codes, certificate.fit_intercept, positive, negative[0] if negative else None)
    if data.key != certificate.data:
        raise ValueError("the certificate is about other rows or labels: pass the data given to sx.certify")
    points, plane = certificate.witness.points, certificate.witness.plane
    if (points is not None and data.places(points.rows) is None) or (plane is not None and len(plane.weights) != 2):
        raise ValueError("the certificate's witness names rows or features that these data do not have")
    return data


class _Picture:
    """What is drawn, and the signs that explain it."""

    def __init__(self, ax: Axes, certificate: Certificate, data: Data) -> None:
        self._ax, self._certificate = ax, certificate
        values: Any = data.rows.values
        self._values: Floats = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
        self._sides = [data.signs < 0, data.signs > 0]
        self._colours = colours_of(2)
        points = certificate.witness.points
        self._held: NDArray[np.intp] | None = None if points is None else data.places(points.rows)
        self._shares = np.array([] if points is None else points.shares)
        negative = "other classes" if certificate.negative is None else str(certificate.negative)
        self._labels = [negative, str(certificate.positive)]
        self.signs: list[Any] = []

    def draw(self) -> None:
        """Draw the rows and hulls, then the witness, then the plane."""
        for code in range(2):
            self._class(code)
        self._frame()
        if self._held is not None:
            self._witness(self._held)
        self._plane()

    def _class(self, code: int) -> None:
        own, colour = self._values[self._sides[code]], self._colours[code]
        corners = _corners(own)
        if len(corners) > 2:
            inside, edge = to_rgba(colour, 0.13), to_rgba(colour, 0.7)
            self._ax.add_patch(Polygon(corners, facecolor=inside, edgecolor=edge, linewidth=1.1, zorder=1))
        elif len(corners) == 2:
            self._ax.plot(*corners.T, color=colour, alpha=0.7, linewidth=1.6, zorder=1)
        self._ax.scatter(
            own[:, 0], own[:, 1], s=24, color=colour, marker=MARKERS[code], edgecolor="white", linewidth=0.5, zorder=3,
        )  # fmt: skip
        self._sign(self._labels[code], marker=MARKERS[code], color=colour)

    def _frame(self) -> None:
        """Choose the part of the plane to show: all rows, and the origin where planes must go through it."""
        seen = self._values
        if not self._certificate.fit_intercept:
            seen = np.concatenate([seen, np.zeros((1, 2))])
            self._ax.scatter(0.0, 0.0, s=70, marker="+", color="black", linewidth=1.6, zorder=5)
            self._sign("origin", marker="+", color="black", markeredgecolor="black", markersize=8)
        low, high = extent(seen, 0.07)
        wide = high - low
        if wide.max() / _MOST_ALIKE <= wide.min():
            room = np.maximum(_SQUAREST * wide.max() - wide, 0.0) * 0.5
            low, high = low - room, high + room
            self._ax.set_aspect("equal", adjustable="box")
        self._low, self._high = low, high
        self._ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))

    def _witness(self, held: NDArray[np.intp]) -> None:
        """Circle the rows, and mark the points that their weights make of the two classes."""
        rows = self._values[held]
        self._ax.scatter(
            rows[:, 0], rows[:, 1], s=105, facecolor="none", edgecolor=_WITNESS, linewidth=1.0, zorder=4
        )  # fmt: skip
        self._sign("witness", marker="o", color="none", markeredgecolor=_WITNESS, markersize=9)
        means = [_mean(self._values, held[own[held]], self._shares[own[held]]) for own in self._sides]
        points = [mean for mean in means if mean is not None]
        free = self._certificate.fit_intercept and len(points) == 2
        if self._certificate.margin.upper > 0:
            if free:
                self._apart(points[0], points[1])
            return
        if free:
            points = points[:1]
        for own, mean in zip(self._sides, means, strict=True):
            if mean is not None:
                self._ways(points[0] if len(points) == 1 else mean, self._values[held[own[held]]])
        self._mark(points)
        if len(points) == 1:
            self._sign("common point", marker="X", color=_PROOF, markersize=8)
            return
        far = max(points, key=lambda mean: float(np.hypot(*mean)))
        self._ax.plot(*np.stack([np.zeros(2), far]).T, color=_PROOF, linewidth=1.2, zorder=2)
        self._sign("common direction", linestyle="solid", marker="X", color=_PROOF, markersize=8)

    def _apart(self, one: Floats, other: Floats) -> None:
        """Join a point of either hull, the nearest if the search was done, and say how far apart they are."""
        self._ax.plot(*np.stack([one, other]).T, color=_PROOF, linewidth=1.6, zorder=4)
        self._mark([one, other])
        length = float(np.hypot(*(other - one)))
        along = np.array([one[1] - other[1], other[0] - one[0]]) / (length or 1.0)
        if along[1] < 0:
            along = -along
        middle = one + 0.5 * (other - one)
        self._ax.annotate(
            f"{length:.4g}", tuple(middle), xytext=tuple(9.0 * along), textcoords="offset points",
            ha="left" if along[0] > 0 else "right", va="center", fontsize="small", zorder=6,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip
        label = "nearest points" if self._certificate.separable == "strict" else "near points"
        self._sign(label, linestyle="solid", marker="X", color=_PROOF, markersize=8, linewidth=1.6)

    def _ways(self, begin: Floats, ends: Floats) -> None:
        self._ax.add_collection(
            LineCollection([np.stack([begin, end]) for end in ends], colors=_WITNESS, linewidths=0.7, zorder=2)
        )

    def _mark(self, points: list[Floats]) -> None:
        places = np.stack(points)
        self._ax.scatter(
            places[:, 0], places[:, 1], s=60, marker="X", color=_PROOF, edgecolor="white", linewidth=0.8, zorder=5
        )  # fmt: skip

    def _plane(self) -> None:
        """Draw the plane, and around it the margin that is proved to be free of rows."""
        plane = self._certificate.witness.plane
        if plane is None or not any(plane.weights):
            return
        lower = self._certificate.margin.lower
        line, *edges = (
            _line(plane.weights, plane.bias, level, self._low, self._high) for level in (0.0, -lower, lower)
        )
        if lower > 0:
            band = np.concatenate([edges[0], edges[1][::-1]])
            self._ax.add_patch(Polygon(band, facecolor="#888888", alpha=0.14, linewidth=0, zorder=0.5))
            for edge in edges:
                self._ax.plot(*edge.T, color="black", linewidth=1.0, linestyle="dashed", zorder=2)
        self._ax.plot(*line.T, color="black", linewidth=1.6, zorder=2)
        self._sign("separating plane", linestyle="solid", color="black", linewidth=1.6)
        if lower > 0:
            self.signs.append(Patch(facecolor="#e4e4e4", edgecolor="black", linestyle="dashed", label="margin"))

    def _sign(self, label: str, **style: Any) -> None:
        style = {"linestyle": "none", "markeredgecolor": "white", "markersize": 6.5, **style}
        self.signs.append(Line2D([], [], label=label, **style))


def _corners(points: Floats) -> Floats:
    """Return the corners of the points' convex hull in order: two where it is a segment, one where it is a point.

    The points are first moved and stretched into the unit square, which changes no corner and spares the digits.
    """
    low = points.min(axis=0)
    wide = points.max(axis=0) - low
    if not wide.any():
        return points[:1]
    unit = (points - low) / np.where(wide > 0, wide, 1.0)
    try:
        order = ConvexHull(unit).vertices if len(points) > 2 and (wide > 0).all() else []
    except QhullError:  # all on one line
        order = []
    if len(order) < 3 or _thickness(unit[order]) < _FLAT:
        first = int(np.argmax(wide))
        order = [int(np.argmin(points[:, first])), int(np.argmax(points[:, first]))]
    return points[order]


def _thickness(points: Floats) -> float:
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1])


def _mean(values: Floats, rows: NDArray[np.intp], shares: Floats) -> Floats | None:
    """Return the weighted mean of these rows, seen from the first of them; None without any."""
    if not len(rows):
        return None
    first = values[rows[0]]
    return np.asarray(first + shares @ (values[rows] - first) / shares.sum())


def _line(weights: Sequence[float], bias: float, level: float, low: Floats, high: Floats) -> Floats:
    """Return two points of the line at this signed distance from a plane, one on either side of the box shown.

    The plane's numbers may be whole ones of any length, its features of any scale, and the box far from the origin: the
    line is moved into the unit square in exact numbers, and rounded only there.
    """
    exact, wide = [Fraction(weight) for weight in weights], high - low
    largest = max(abs(weight) for weight in exact)
    length = largest * Fraction(math.hypot(*(float(weight / largest) for weight in exact)))
    height = sum((w * Fraction(float(x)) for w, x in zip(exact, low, strict=True)), Fraction(bias))
    slopes = [w * Fraction(float(x)) for w, x in zip(exact, wide, strict=True)]
    steepest = max(abs(slope) for slope in slopes)
    normal = np.array([float(slope / steepest) for slope in slopes])
    level = float((Fraction(level) * length - height) / steepest)
    along, middle = np.array([-normal[1], normal[0]]), np.full(2, 0.5)
    foot = middle + normal * (level - normal @ middle) / (normal @ normal)
    return np.asarray(low + wide * np.stack([foot - 0.8 * along, foot + 0.8 * along]))
