"""Why does gradient descent fail? Steps that are too small, right, and too large, in one variable and in two.

``python examples/step_sizes.py [folder]`` writes step_sizes.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"


def curve(x):
    return x * x


def bowl(p):
    return 0.5 * (p[0] ** 2 + 6.0 * p[1] ** 2)


def slope_of_bowl(p):
    return np.array([p[0], 6.0 * p[1]])


figure, rows = plt.subplots(2, 3, figsize=(10.5, 6.2), layout="constrained")
sx.plots.compare_steps(curve, lambda x: 2 * x, 2.0, steps=(0.02, 0.3, 1.04), axes=rows[0])
for ax, step in zip(rows[1], (0.02, 0.15, 0.345), strict=True):
    run = sx.descend(bowl, slope_of_bowl, (4.0, 1.0), step, max_steps=25)
    sx.plots.path(run, ax, window=((-3, 5), (-3, 3)))
    ax.set_title(f"step {step:g}: after {run.n_steps} steps f = {run.value:.2g}", fontsize="medium")
figure.savefig(folder / "step_sizes.png", dpi=80)

print(sx.descend(curve, lambda x: 2 * x, 2.0, step=1.04).status)
