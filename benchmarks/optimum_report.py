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


def draw(records, path):
    """Draw the ratio of every row, a panel for each loss."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    losses = list(dict.fromkeys(r["loss"] for r in records))
    names = list(dict.fromkeys(r["name"] for r in records))
    figure, axes = plt.subplots(
        1, len(losses), figsize=(3.0 * len(losses) + 2.0, 0.42 * len(names) + 2.2), sharex=True, sharey=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for axis, loss in zip(axes[0], losses, strict=True):
        for r in (r for r in records if r["loss"] == loss):
            height = names.index(r["name"]) + OFFSETS.get(r["C"], 0.0)
            for target, found in r["targets"].items():
                mine, (theirs, _) = found["ours"], found["peer"]
                if mine and theirs:
                    axis.plot(theirs[0] / mine[0], height, "o", color=COLOURS[target], markersize=4)
                elif mine:
                    place = axis.get_yaxis_transform()
                    axis.plot(0.97, height, ">", color=COLOURS[target], markersize=4, transform=place)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(FixedLocator([10.0**p for p in range(-3, 4)]))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.axvline(1.0, color="0.6", linewidth=0.8)
        axis.set_title(loss.replace("_", " "))
        axis.set_xlabel("time of the best peer / ours")
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    seen = [target for target in COLOURS if any(target in r["targets"] for r in records)]
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=COLOURS[t], label="whole task" if t == "done" else f"to {t}")
        for t in seen
    ]
    handles.append(plt.Line2D([], [], marker=">", linestyle="", color="0.3", label="no peer arrives"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle("Right of the line: ours is faster. In each row from top to bottom C = 0.01, 1, 100")
    figure.savefig(path, dpi=110)
