"""Which rows hold the smallest ball around the data? Two flowers of iris, three of a rounder cloud.

``python examples/ball.py [folder]`` writes ball.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
petals = load_iris(as_frame=True).data.iloc[:, 2:]
cloud = np.random.default_rng(4).standard_normal((400, 2))

figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.9), layout="constrained")
for ax, rows, name in zip(axes, (petals, cloud), ("petals of 150 flowers", "400 normal points"), strict=True):
    ball = sx.enclosing_ball(rows)
    print(f"{name}: radius between {ball.lower:.9f} and {ball.upper:.9f}, support rows {ball.support.tolist()}")
    sx.plots.ball(ball, rows, ax)
    ax.set_title(f"{name}: {ax.get_title()}", fontsize="medium")
figure.savefig(folder / "ball.png", dpi=80)
