"""The lines, the summary and the picture of optimum.py's records."""

from __future__ import annotations

import math

import numpy as np

COLOURS = {"0.01": "#88bbdd", "0.0001": "#3377aa", "1e-06": "#113355", "done": "#aa5533"}
OFFSETS = {0.01: -0.25, 100.0: 0.25}


def lines(record, limit):
    """A line for each target: milliseconds and distance of both sides, and their ratio."""
    for target, found in record["targets"].items():
        mine, (theirs, side) = found["ours"], found["peer"]
        shown = [
            f"{run[0] * 1e3:9.1f} ms ({run[1]:7.1e})" if run else f" > {limit:g} s or never" for run in (mine, theirs)
        ]
        ratio = f"{theirs[0] / mine[0]:6.2f}x" if mine and theirs else ""
        C = "" if record["C"] is None else f"C={record['C']:<5g} "
        setting = f"{record['name']:21} {record['loss']:13} {C}to {target}"
        yield f"{setting:54} ours {shown[0]:>22}   best peer {shown[1]:>22} {side:16} {ratio}"


def summary(records):
    """The geometric mean of the ratios, and how often ours is slower, for each loss and target."""
    for loss in dict.fromkeys(r["loss"] for r in records):
        for target in dict.fromkeys(t for r in records if r["loss"] == loss for t in r["targets"]):
            each = [r["targets"][target] for r in records if r["loss"] == loss and target in r["targets"]]
            ratios = [t["peer"][0][0] / t["ours"][0] for t in each if t["ours"] and t["peer"][0]]
            alone = sum(bool(t["ours"]) and not t["peer"][0] for t in each)
            lost = sum(not t["ours"] and bool(t["peer"][0]) for t in each)
            if ratios:
                mean = math.exp(np.log(ratios).mean())
                yield (
                    f"{loss:18} to {target}: geometric mean {mean:.2f}x over {len(ratios)} rows, slower on "
                    f"{sum(r < 1.0 for r in ratios)}, worst {min(ratios):.2f}x; only ours arrives on {alone}, only a "
                    f"peer on {lost}"
                )


def _panel(record):
    """Which panel a record belongs to, and the label of its row there."""
    first, _, rest = record["loss"].partition(" ")
    return (first, f"{record['name']}, {rest}") if rest else (first, record["name"])


def draw(records, path):
    """Draw the ratio of every row, a panel for each loss, three side by side."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    labels = {}
    for panel, label in map(_panel, records):
        labels.setdefault(panel, {})[label] = None
    lines_of = [list(labels)[first : first + 3] for first in range(0, len(labels), 3)]
    heights = [max(len(labels[panel]) for panel in some) + 2 for some in lines_of]
    figure, axes = plt.subplots(
        len(lines_of), 3, figsize=(13, 0.36 * sum(heights) + 1.0), height_ratios=heights, sharex=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[len(labels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, labels, strict=False):
        names = list(labels[panel])
        for r in records:
            if _panel(r)[0] == panel:
                _draw_row(axis, r, names.index(_panel(r)[1]) + OFFSETS.get(r["C"], 0.0))
        axis.set_xscale("log")
        axis.set_xlim(0.05, 50.0)
        axis.set_xticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
        axis.tick_params(labelbottom=True)
        axis.axvline(1.0, color="0.6", linewidth=0.8)
        axis.set_title(panel.replace("_", " "))
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.4, -0.6)
    seen = [target for target in COLOURS if any(target in r["targets"] for r in records)]
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=COLOURS[t], label="whole task" if t == "done" else f"to {t}")
        for t in seen
    ]
    handles.append(plt.Line2D([], [], marker=">", linestyle="", color="0.3", label="no peer arrives"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle(
        "Time of the best peer / ours: right of the line ours is faster. In a row from top to bottom C = 0.01, 1, 100"
    )
    figure.savefig(path, dpi=90)


def _draw_row(axis, record, height):
    for target, found in record["targets"].items():
        mine, (theirs, _) = found["ours"], found["peer"]
        if mine and theirs:
            axis.plot(theirs[0] / mine[0], height, "o", color=COLOURS[target], markersize=4)
        elif mine:
            place = axis.get_yaxis_transform()
            axis.plot(0.97, height, ">", color=COLOURS[target], markersize=4, transform=place)
