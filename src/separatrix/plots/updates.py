"""The boundary of a traced run after each update, as small multiples; animations.py shows the same as a film."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.insight.trace import Trace
from separatrix.plots.canvas import MARKERS, colours_of, extent

_MOST_ALIKE = (
    4.0  # features whose ranges differ by less are drawn to one scale, so that w is at right angles to its line
)
_NEW, _OLD, _SEEN = "black", "#777777", "#111111"


class Moment(NamedTuple):
    """The run at one moment: weights and bias before and after a step, and the step, None at the start."""

    number: int
    before: Floats
    after: Floats
    step: Any
    seen: tuple[Any, ...] = ()  # the steps that caused the change: several in a fold

    @property
    def examples(self) -> str:
        """The examples by number, as text."""
        numbers = [str(step.index + 1) for step in self.seen]
        return f"example{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"

    @property
    def changed(self) -> bool:
        """Whether the weights or the bias changed."""
        return not np.array_equal(self.before, self.after)


def updates(
    run: Trace, axes: Any = None, *, figure: Any = None, names: Sequence[str] | None = None, most: int = 12
) -> list[Axes]:
    """Draw the boundary of a traced run at the start and after each update, side by side.

    The dashed line is the boundary before the update, the solid one after it; the arrow is the direction of the new
    weights; the example that caused the update has a ring.

    Parameters
    ----------
    run : Trace
        From :func:`separatrix.trace`, with two features.
    axes : sequence or array of Axes, optional
        At least one for each; by default in a figure of their own.
    figure : Figure, optional
        An empty figure to fill instead; its size is set.
    names : sequence of str, optional
        The features' names.
    most : int, default=12
        How many to draw at most: the start, the first updates and the last one.

    Returns
    -------
    list of Axes
        Those drawn on.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import trace
    >>> run = trace([[1, 1], [-1, 0]], [1, -1])
    >>> print(updates(run)[2].get_title())
    update 2: epoch 1, example 2
    w = (2, 1), b = 0
    """
    scene = Scene(run, names)
    if isinstance(most, bool) or not isinstance(most, int) or most < 2:
        raise ValueError(f"most must be a whole number, at least 2; found {most!r}")
    shown = [moment for moment in scene.moments if moment.step is None or moment.changed]
    numbers = list(range(len(shown)))
    if len(shown) > most:
        numbers = [*range(most - 1), len(shown) - 1]
    if axes is None:
        axes = _new_axes(len(numbers), scene, figure)
    places: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))[: len(numbers)]
    if len(places) < len(numbers):
        raise ValueError(f"axes must hold one Axes for each of the {len(numbers)} states; found {len(places)}")
    for ax, number in zip(places, numbers, strict=True):
        moment = shown[number]
        scene.draw(ax, moment)
        title = "start"
        if moment.step is not None:
            title = f"update {number}: epoch {moment.step.epoch}, {moment.examples}"
        ax.set_title(f"{title}\n{scene.state(moment.after)}", fontsize="small")
    return places


def _new_axes(n: int, scene: Scene, figure: Any) -> NDArray[Any]:
    rows, columns = -(-n // 4), min(n, 4)
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(layout="constrained")
    figure.set_size_inches(max(2.7 * columns, 4.0), 2.85 * rows + 0.85)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax in axes.ravel()[n:]:
        ax.remove()
    scene.legend(figure, loc="outside lower center")
    return np.asarray(axes.ravel()[:n])


class Scene:
    """The examples of a traced run with two features, and how the run is drawn among them."""

    def __init__(self, run: Any, names: Sequence[str] | None = None) -> None:
        if not isinstance(run, Trace):
            raise TypeError(
                f"the boundary after each update is drawn from what sx.trace returns; found {type(run).__name__}"
            )
        d = len(run.start[0])
        if d != 2:
            raise ValueError(f"the boundary after each update can be drawn for two features; found {d}")
        self.names = ["x1", "x2"] if names is None else [str(name) for name in names]
        if len(self.names) != 2:
            raise ValueError(f"names must hold one name for each of the 2 features; found {len(self.names)}")
        self.run = run
        examples = {step.index: (step.x, step.y) for step in run.steps}
        self.points = np.array([[float(value) for value in x] for x, _ in examples.values()]).reshape(-1, 2)
        self.signs_of = np.array([y for _, y in examples.values()])
        self.low, self.high = extent(self.points, 0.22)
        self._box = np.stack([self.low, [self.high[0], self.low[1]], self.high, [self.low[0], self.high[1]]])
        wide = self.high - self.low
        self._to_scale = bool(max(wide) < _MOST_ALIKE * min(wide))
        self.colours = colours_of(2)
        self.moments = self._moments()

    def _moments(self) -> list[Moment]:
        def numbers(weights: Any, bias: Any) -> Floats:
            return np.array([*map(float, weights), float(bias)])

        now = numbers(*self.run.start)
        moments = [Moment(0, now, now, None)]
        for number, step in enumerate(self.run.steps, start=1):
            after = numbers(step.weights, step.bias)
            seen = self._caused(number - 1) if not np.array_equal(now, after) else [step]
            moments.append(Moment(number, now, after, step, tuple(seen)))
            now = after
        return moments

    def _caused(self, place: int) -> list[Any]:
        """Return the steps that caused the change at this one; the steps of a fold all hold the weights after it."""
        first, seen = self.run.steps[place], []
        for step in self.run.steps[place:]:
            if (step.epoch, step.weights, step.bias) != (first.epoch, first.weights, first.bias):
                break
            if step.updated:
                seen.append(step)
        return seen or [first]

    def state(self, values: Floats) -> str:
        """Return weights and bias as text, as the trace's view has them."""
        vector, *bias = self.run.shown_state(tuple(values[:-1].tolist()), float(values[-1]))
        name = "theta" if self.run.view.threshold else "b"
        weights = ", ".join(f"{value + 0.0:.4g}" for value in vector)
        return f"w = ({weights})" + "".join(f", {name} = {value + 0.0:.4g}" for value in bias)

    def draw(self, ax: Axes, moment: Moment) -> None:
        """Draw the examples, the lines before and after, and the direction of the weights."""
        for sign, colour in ((-1.0, self.colours[0]), (1.0, self.colours[1])):
            side = half(self._box, sign * moment.after)
            if len(side) and np.any(moment.after):
                ax.fill(side[:, 0], side[:, 1], color=colour, alpha=0.13, linewidth=0, zorder=0)
        if moment.changed:
            self._line(ax, moment.before, color=_OLD, linestyle="dashed", linewidth=1.2)
        self._line(ax, moment.after, color=_NEW, linewidth=1.7)
        self._arrow(ax, moment.after)
        for sign, code in ((-1, 0), (1, 1)):
            own = self.points[self.signs_of == sign]
            ax.scatter(
                own[:, 0], own[:, 1], s=44, color=self.colours[code], marker=MARKERS[code], edgecolor="white",
                linewidth=0.5, zorder=3,
            )  # fmt: skip
        for step in moment.seen:
            across, up = (float(value) for value in step.x)
            ax.scatter(across, up, s=150, facecolor="none", edgecolor=_SEEN, linewidth=1.5, zorder=4)
        ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        place = ax.get_subplotspec()  # in a grid, axes are named at its edges only
        ax.set_xlabel(self.names[0] if place is None or place.is_last_row() else "", parse_math=False)
        ax.set_ylabel(self.names[1] if place is None or place.is_first_col() else "", parse_math=False)
        if self._to_scale:
            ax.set_aspect("equal", adjustable="box")

    def _line(self, ax: Axes, values: Floats, **style: Any) -> None:
        ends = crossing(self._box, values)
        if ends is not None:
            ax.plot(ends[:, 0], ends[:, 1], zorder=2, **style)

    def _arrow(self, ax: Axes, values: Floats) -> None:
        """Draw the direction of the weights, at the middle of the part of the line that is seen."""
        w, b = values[:2], values[2]
        ends = crossing(self._box, values) if self._to_scale else None
        if ends is None:
            return
        foot = ends.mean(axis=0) - w * ((w @ ends.mean(axis=0) + b) / (w @ w))
        tip = foot + 0.17 * float(min(self.high - self.low)) * w / np.linalg.norm(w)
        style = {"arrowstyle": "-|>", "color": _NEW, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=(tip[0], tip[1]), xytext=(foot[0], foot[1]), arrowprops=style, zorder=4)

    def legend(self, figure: Any, loc: str) -> None:
        """Put a legend below; labels are shown as they are, not read as formulas."""
        legend = figure.legend(handles=self._signs(), loc=loc, ncols=5, frameon=False, fontsize="small")
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _signs(self) -> list[Line2D]:
        points: dict[str, Any] = {"linestyle": "none", "markersize": 6}
        shapes: list[tuple[str, dict[str, Any]]] = [
            *((str(label), {"marker": MARKERS[code], "color": self.colours[code], **points})
              for code, label in enumerate(self.run.classes)),
            ("example", {**points, "marker": "o", "color": "none", "markeredgecolor": _SEEN, "markersize": 10}),
            ("before", {"color": _OLD, "linestyle": "dashed"}),
            ("after, with w", {"color": _NEW}),
        ]  # fmt: skip
        return [Line2D([], [], label=label, **style) for label, style in shapes]


def half(box: Floats, values: Floats) -> Floats:
    """Return the part of a polygon where ``w . x + b >= 0``, as its corners."""
    heights = box @ values[:2] + values[2]
    corners: list[Floats] = []
    for k in range(len(box)):
        here, there = heights[k], heights[(k + 1) % len(box)]
        if here >= 0:
            corners.append(box[k])
        if here * there < 0:
            corners.append(box[k] + here / (here - there) * (box[(k + 1) % len(box)] - box[k]))
    return np.array(corners).reshape(-1, 2)


def crossing(box: Floats, values: Floats) -> Floats | None:
    """Return the two points where the line ``w . x + b = 0`` enters and leaves a polygon, None if it does not."""
    heights = box @ values[:2] + values[2]
    ends: list[Floats] = []
    for k in range(len(box)):
        here, there = heights[k], heights[(k + 1) % len(box)]
        if here == 0 and np.any(values[:2]):
            ends.append(box[k])
        elif here * there < 0:
            ends.append(box[k] + here / (here - there) * (box[(k + 1) % len(box)] - box[k]))
    return np.array([ends[0], ends[-1]]) if len(ends) >= 2 else None
