"""A traced run as an animation: a GIF, or a page with buttons that loads nothing. The one plot that writes a file."""

from __future__ import annotations

import base64
import html
import io
import json
import os
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, BinaryIO

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from separatrix.files import write_text, write_whole
from separatrix.insight.trace import Trace
from separatrix.plots.updates import Moment, Scene
from separatrix.text import times

ENDINGS = (".gif", ".html")
_MOST_STEPS = 60  # of a longer run only the updates are shown
_MOST_FRAMES = 150
_COLOURS = 64  # of a picture
_DOTS = 100  # an inch


def animation(
    run: Trace, path: str | os.PathLike[str], *, names: Sequence[str] | None = None, seconds: float = 1.0
) -> int:
    """Write an animation of a traced run: every step, with the boundary before and after it.

    Of a run of more than 60 steps only the updates are shown, and of more than 150 updates some of them, evenly chosen;
    the text of each picture says which it is.

    Parameters
    ----------
    run : Trace
        From :func:`separatrix.trace`, with two features.
    path : path
        Where to write: ``.gif``, or ``.html`` for one page with play, pause, step and a slider, which loads nothing
        from elsewhere and works from the keyboard.
    names : sequence of str, optional
        The features' names.
    seconds : float, default=1.0
        How long a GIF shows each picture.

    Returns
    -------
    int
        The number of pictures.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import trace
    >>> run = trace([[1, 1], [-1, 0]], [1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animation(run, f"{folder}/run.gif")
    5
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"an animation is written to a file that ends in {' or '.join(ENDINGS)}; found {os.fspath(path)}"
        )
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds must be between 0.02 and 60; found {seconds!r}")
    scene = Scene(run, names)
    moments = _chosen(scene.moments)
    texts = [_text(scene, moment) for moment in moments]
    pictures = _pictures(scene, moments, texts)
    if ending == ".html":
        frames = [{"text": text, "png": _png(picture)} for text, picture in zip(texts, pictures, strict=True)]
        write_text(path, _page(run, frames))
    else:
        every = list(pictures)
        lasting = [round(1000 * seconds)] * (len(every) - 1) + [round(3000 * seconds)]

        def write(file: BinaryIO) -> None:
            every[0].save(file, format="GIF", save_all=True, append_images=every[1:], duration=lasting, loop=0)

        write_whole(path, write)
    return len(moments)


def _chosen(moments: list[Moment]) -> list[Moment]:
    """Return every step of a short run, the updates of a longer one, some of them of a very long one."""
    if len(moments) > _MOST_STEPS + 1:
        moments = [moment for moment in moments if moment.step is None or moment.changed]
    if len(moments) > _MOST_FRAMES:
        moments = [moments[k] for k in np.unique(np.linspace(0, len(moments) - 1, _MOST_FRAMES).round().astype(int))]
    return moments


def _text(scene: Scene, moment: Moment) -> str:
    step = moment.step
    if step is None:
        return f"start: {scene.state(moment.after)}"
    where = f"epoch {step.epoch}, {moment.examples}"
    seen = f"activation {float(step.activation) + 0.0:.4g}, class {scene.run.classes[int(step.y > 0)]}"
    what = f"update to {scene.state(moment.after)}" if moment.changed else f"no update, {scene.state(moment.after)}"
    return f"{where}: {seen}; {what}" if len(moment.seen) == 1 else f"{where}; {what}"


def _pictures(scene: Scene, moments: list[Moment], texts: list[str]) -> Iterator[Any]:
    figure = Figure(figsize=(6.0, 5.7), dpi=_DOTS)
    canvas = FigureCanvasAgg(figure)
    for moment, text in zip(moments, texts, strict=True):
        figure.clear()
        ax = figure.add_axes((0.12, 0.17, 0.85, 0.72))  # the same place in every picture
        scene.draw(ax, moment)
        first, _, rest = text.partition("; ")
        ax.set_title(f"{first}\n{rest}" if rest else first, fontsize="medium", parse_math=False)
        scene.legend(figure, "lower center")
        canvas.draw()
        picture = Image.frombuffer("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()), "raw", "RGBA", 0, 1)
        yield picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)


def _png(picture: Any) -> str:
    file = io.BytesIO()
    picture.save(file, format="PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _page(run: Trace, frames: list[dict[str, str]]) -> str:
    title = f"{times(run.n_updates, 'update')} in {times(run.n_epochs, 'epoch')}: {run.status}"
    template = Template((resources.files("separatrix.plots") / "animation.html").read_text(encoding="utf-8"))
    data = json.dumps(frames).replace("<", "\\u003c")  # which could end the script
    return template.substitute(title=html.escape(title), frames=data, count=len(frames))
