"""Which rows hold the boundary? Alpha against margin: outside the margin 0, inside C, between only on it (Lecture 003).

``python examples/support.py [folder]`` writes support.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
figure, axes = plt.subplots(1, 2, figsize=(13.0, 4.8), layout="constrained")
for ax, C in zip(axes, (0.02, 0.5), strict=True):
    model = sx.LinearSVM(C=C).fit(X, y)
    sx.plots.support(model, X, y, ax)
    ax.set_title(f"C = {C:g}: {ax.get_title()}", fontsize="medium")
    ax.set_xlim(-3.5, 9)
    print(f"C = {C:g}: {sx.kkt(model, X, y)}")
figure.savefig(folder / "support.png", dpi=80)
