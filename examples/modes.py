"""Stochastic, fold or batch? The mean loss of one neuron against epochs, with the same data and the same budget.

``python examples/modes.py [folder]`` writes modes.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import separatrix as sx
from separatrix.stops import MaxEpochs

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
for name, batch_size, eta0 in (("stochastic", 1, 0.01), ("folds of 16", 16, 0.05), ("batch", "all", 0.3)):
    model = sx.Neuron(
        loss="log", batch_size=batch_size, eta0=eta0, alpha=0.01, max_iter=200, stop=MaxEpochs(200), random_state=0
    ).fit(X, y)
    sx.plots.loss_curve(model, ax, label=f"{name}, eta0 = {eta0:g}")
    print(f"{name}: mean loss {model.loss_curve_[-1]:.4f} after {model.n_updates_:,} steps")
ax.set(xscale="log", title="one neuron on 569 tumours: the three modes of descent")
figure.savefig(folder / "modes.png", dpi=80)
