"""How do I get the table of a run into my lecture? Every step with exact numbers, as LaTeX and as a picture.

The worked example of Lecture 000: six points, the bias as first coordinate, negative patterns with their sign turned,
so that every product must be positive. ``python examples/lecture_table.py [folder]`` writes lecture_table.png (default
folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
example = sx.datasets.example("lecture-000")  # or your own rows and labels
run = sx.trace(example.X, example.y, **example.options, **example.view)
print(run.to_latex())
print(f"% {run.status}: {run.n_updates} updates, {run.final()}")
assert (run.bias, *run.weights) == (0, 2, -1)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=(1.75, 1))
left.axis("off")
table = left.table(run.rows(), colLabels=run.header(), cellLoc="center", bbox=(0, -0.3, 1, 1.3))
table.auto_set_font_size(False)
table.set_fontsize(9)
table.auto_set_column_width(range(len(run.header())))
for (row, _), cell in table.get_celld().items():
    updated = row > 0 and run[row - 1].updated
    cell.set(edgecolor="#cccccc", facecolor="#fbe8c8" if updated else "#eeeeee" if row == 0 else "white")

X, y = np.array(example.X), np.array(example.y)
for label, marker, colour in ((1, "o", "#3b6fb6"), (-1, "s", "#d9822b")):
    right.plot(*X[y == label].T, marker, color=colour, markersize=9, label=f"class {label:+d}", zorder=3)
changes = [step for step in run if step.updated]
for k, (step, style) in enumerate(zip(changes, ((":", "0.6"), ("--", "0.4"), ("-", "0")), strict=True)):
    weights, (linestyle, colour) = np.array(step.weights), style
    ends = -step.bias * weights / (weights @ weights) + np.outer([-4, 4], [-weights[1], weights[0]])
    name = f"after update {k + 1}: ({step.bias}, {weights[0]}, {weights[1]})"
    right.plot(*ends.T, linestyle=linestyle, color=colour, label=name)
right.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal", xlabel="x1", ylabel="x2")
right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize="small")
figure.savefig(folder / "lecture_table.png", dpi=80)
