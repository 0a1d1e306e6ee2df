"""Charts as SVG elements: text stays text, and colours are classes of the style sheet, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.elements import Content, Element, element

COLOURS = 8  # c0 to c7 of the style sheet
WIDTH = 400.0
_LETTER = 7.6  # about the width of a digit
_SIZE, _LARGE = 3.1, 4.6  # of a marker, in a chart and in its legend
# Markers about (0, 0), so that classes differ in shape too.
_SHAPES = (
    "m-{s},0a{s},{s} 0 1 0 {d},0a{s},{s} 0 1 0 -{d},0z",
    "m-{t},-{t}h{u}v{u}h-{u}z",
    "m0,-{h}l{h},{h}l-{h},{h}l-{h},-{h}z",
    "m0,-{h}l{h},{v}h-{w}z",
)


def colour_of(code: int) -> str:
    """Return the class of the style sheet in which something of this class of rows is drawn."""
    return f"c{code % COLOURS}"


class Chart:
    """A frame with two axes, into which lines, areas and points are drawn."""

    def __init__(self, x: Axis, y: Axis | None, height: float = 270.0) -> None:
        self._x, self._y = x, y
        longest = max((len(text) for _, text in y.ticks()), default=0) if y is not None else 0
        self.left = 32.0 + _LETTER * longest if y is not None else 8.0
        self.right, self.top, self.bottom = WIDTH - 12.0, 10.0, height - 44.0
        self._height = height
        self._drawn: list[Element] = []

    def across(self, values: Floats) -> Floats:
        """Return where numbers of the x axis are."""
        return np.asarray(self.left + self._x.share(values) * (self.right - self.left))

    def up(self, values: Floats) -> Floats:
        """Return where numbers of the y axis are."""
        assert self._y is not None
        return np.asarray(self.bottom - self._y.share(values) * (self.bottom - self.top))

    def add(self, *drawn: Element) -> None:
        """Draw something in the chart's own coordinates."""
        self._drawn += drawn

    def line(self, x: Floats, y: Floats, colour: str, *, dashed: bool = False, dots: bool = False) -> None:
        """Draw a line through points; where one is not finite it is broken."""
        across, up = self.across(x), self.up(y)
        path, pen = [], "M"
        for a, b in zip(across.tolist(), up.tolist(), strict=True):
            if not (np.isfinite(a) and np.isfinite(b)):
                pen = "M"
                continue
            path.append(f"{pen}{a:.1f},{b:.1f}")
            pen = "L"
        if path:
            kind = f"line {colour}" + (" dashed" if dashed else "")
            self._drawn.append(element("path", class_=kind, d="".join(path)))
        if dots:
            self.points(x, y, colour, 0)

    def level(self, y: float, colour: str) -> None:
        """Draw a dashed line across at one height."""
        ends = np.array([self._x.low, self._x.high])
        self.line(ends, np.array([y, y]), colour, dashed=True)

    def points(self, x: Floats, y: Floats, colour: str, shape: int, *, marked: bool = False) -> None:
        """Draw a marker at each point."""
        finite = np.isfinite(x) & np.isfinite(y)
        across, up = self.across(x[finite]), self.up(y[finite])
        if not len(across):
            return
        sign = _marker(shape, _SIZE)
        path = "".join(f"M{a:.1f},{b:.1f}{sign}" for a, b in zip(across.tolist(), up.tolist(), strict=True))
        self._drawn.append(element("path", class_=f"points {colour}" + (" marked" if marked else ""), d=path))

    def band(self, low: float, high: float, colour: str) -> None:
        """Tint the part between two numbers of the x axis."""
        ends = np.clip(self.across(np.array([low, high])), self.left, self.right)
        self._drawn.append(_rect(ends[0], self.top, ends[1], self.bottom, f"band {colour}"))

    def upright(self, x: float) -> None:
        """Draw a line from bottom to top."""
        place = float(self.across(np.array([x]))[0])
        self._drawn.append(element("path", class_="edge", d=f"M{place:.1f},{self.top:.1f}V{self.bottom:.1f}"))

    def svg(self, description: str) -> Element:
        """Return the chart; the description is for screen readers."""
        return element(
            "svg", self._frame(), self._drawn, viewBox=f"0 0 {WIDTH:.0f} {self._height:.0f}", class_="chart",
            role="img", aria_label=description,
        )  # fmt: skip

    def _frame(self) -> Content:
        grid, texts = [], []
        for value, text in self._x.ticks():
            at = float(self.across(np.array([value]))[0])
            grid.append(f"M{at:.1f},{self.top:.1f}V{self.bottom:.1f}")
            texts.append(_text(text, at, self.bottom + 16.0, "middle"))
        if self._y is not None:
            for value, text in self._y.ticks():
                at = float(self.up(np.array([value]))[0])
                grid.append(f"M{self.left:.1f},{at:.1f}H{self.right:.1f}")
                texts.append(_text(text, self.left - 6.0, at + 4.0, "end"))
            middle = 0.5 * (self.top + self.bottom)
            texts.append(
                element(
                    "text", self._y.label, class_="label", x="13", y=f"{middle:.1f}", text_anchor="middle",
                    transform=f"rotate(-90 13 {middle:.1f})",
                )
            )  # fmt: skip
        centre = 0.5 * (self.left + self.right)
        texts.append(_text(self._x.label, centre, self._height - 6.0, "middle", "label"))
        return [element("path", class_="grid", d="".join(grid)), *texts]


def bars(chart: Chart, edges: Floats, heights: Floats, base: float, room: float, colour: str) -> Element | None:
    """Return bars of the given heights (shares of ``room``) that stand on ``base``, between edges of the x axis."""
    ends = chart.across(edges)
    path = "".join(
        f"M{ends[k]:.1f},{base:.1f}V{base - room * share:.1f}H{ends[k + 1]:.1f}V{base:.1f}z"
        for k, share in enumerate(heights.tolist())
        if share > 0
    )
    return element("path", class_=f"bars {colour}", d=path) if path else None


def legend(entries: Sequence[tuple[str, str, str]]) -> Element:
    """Return what the signs mean: for each the kind of sign (line, dashed, or a marker's number), colour and text."""
    signs = [element("li", _sign(kind, colour), " ", element("bdi", text)) for kind, colour, text in entries]
    return element("ul", signs, class_="legend")


def _sign(kind: str, colour: str) -> Element:
    if kind in ("line", "dashed"):
        drawn = element("path", class_=f"line {colour}" + (" dashed" if kind == "dashed" else ""), d="M0,7H22")
    else:
        sign = _marker(int(kind[0]), _LARGE)
        drawn = element("path", class_=f"points {colour}" + (" marked" if kind.endswith("!") else ""), d=f"M11,7{sign}")
    return element("svg", drawn, viewBox="0 0 22 14", class_="sign", aria_hidden="true")


def _marker(shape: int, size: float) -> str:
    """Return the path of a marker about the point where the pen is."""
    parts = {"s": 1.0, "d": 2.0, "t": 0.88, "u": 1.76, "h": 1.25, "v": 2.1, "w": 2.5}
    sizes = {name: f"{part * size:.2f}".rstrip("0").rstrip(".") for name, part in parts.items()}
    return _SHAPES[shape % len(_SHAPES)].format(**sizes)


def _text(text: str, x: float, y: float, anchor: str, kind: str = "tick") -> Element:
    return element("text", text, class_=kind, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _rect(x0: float, y0: float, x1: float, y1: float, kind: str) -> Element:
    return element(
        "rect", class_=kind, x=f"{x0:.1f}", y=f"{y0:.1f}", width=f"{max(x1 - x0, 0):.1f}", height=f"{y1 - y0:.1f}"
    )
