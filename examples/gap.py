"""How far from the optimum is the model? The duality gap of LinearSVM on the pixels of 8,000 noisy digits.

Primal and dual objective enclose the optimum. Coordinate ascent is fast at first and slow at the end, where the
interior-point method takes over. ``python examples/gap.py [folder]`` writes gap.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
digits, number = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
drawn = rng.integers(0, len(digits), 8000)
X, even = scale(digits[drawn] + rng.normal(0, 4, (8000, 64))), number[drawn] % 2 == 0

runs = {f"C = {C:g}": sx.LinearSVM(C=C, tol=1e-8, random_state=0).fit(X, even) for C in (0.1, 0.2, 0.3)}
for name, model in runs.items():
    print(f"{name}: {model.objective_:.9g}, at most {model.duality_gap_:.1e} above the optimum; {model.status_}")

figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7.2, 5.8), layout="constrained")
sx.plots.gap(runs, axes)
axes[1].set_xscale("log")
axes[0].set_title("even digits from odd: the optimum lies between primal and dual objective", fontsize="medium")
figure.savefig(folder / "gap.png", dpi=80)
