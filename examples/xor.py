"""What can a network do that a perceptron cannot? Exclusive or, and two rings.

``python examples/xor.py [folder]`` writes xor.png (default folder: docs/pictures).
"""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
X, y = sx.datasets.load("xor")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    perceptron = sx.Perceptron(random_state=0).fit(X, y)
network = sx.Network(hidden=(4,), random_state=0).fit(X, y)
print("perceptron:", perceptron.status_)
print("network:   ", network.status_)

rings, side = make_circles(200, noise=0.08, factor=0.5, random_state=0)
ringed = sx.Network(hidden=(6,), random_state=0, max_iter=500).fit(rings, side)

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
sx.plots.decision_boundary(perceptron, X, y, axes[0]).set_title("perceptron on XOR")
sx.plots.decision_boundary(network, X, y, axes[1]).set_title("network 2-4-1 on XOR")
sx.plots.decision_boundary(ringed, rings, side, axes[2]).set_title("network 2-6-1 on two rings")
for ax in axes[:2]:
    ax.legend(loc="center")
figure.savefig(folder / "xor.png", dpi=80)
