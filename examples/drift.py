"""What if the world changes? A boundary that turns by half a circle, a frozen model and three that go on learning.

Each window of 200 rows is answered first and learned from afterwards; one label in twenty is wrong. Averaged weights
remember all they ever were, which helps while nothing changes and hurts now; a neuron with a constant rate forgets.
``python examples/drift.py [folder]`` writes drift.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
rng, windows = np.random.default_rng(0), 60


def window(turned, n=200):
    """Return rows and labels while the boundary has turned by this part of half a circle."""
    X = rng.standard_normal((n, 2))
    y = X @ [np.cos(np.pi * turned), np.sin(np.pi * turned)] > 0
    return X, y ^ (rng.random(n) < 0.05)


models = {
    "neuron, updated": sx.Neuron(loss="log", eta0=0.3, random_state=0),
    "perceptron, last weights, updated": sx.Perceptron(random_state=0),
    "perceptron, averaged weights, updated": sx.Perceptron(readout="averaged", random_state=0),
    "perceptron, frozen": sx.Perceptron(readout="averaged", random_state=0),
}
X, y = window(0, n=500)
right = {name: [] for name in models}
for model in models.values():
    model.partial_fit(X, y)
for step in range(windows):
    X, y = window(step / windows)
    for name, model in models.items():
        right[name].append(model.score(X, y))
        if "updated" in name:
            model.partial_fit(X, y)

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
degrees = 180 * np.arange(windows) / windows
for colour, (name, shares) in enumerate(right.items()):
    print(f"{name}: {np.mean(shares[:5]):.0%} right at first, {np.mean(shares[-5:]):.0%} at the end")
    ax.plot(degrees, shares, "o", color=f"C{colour}", alpha=0.25, markersize=4)
    ax.plot(degrees[4:], np.convolve(shares, np.ones(5) / 5, "valid"), color=f"C{colour}", label=name)
ax.axhline(0.95, color="#777777", linestyle=":", linewidth=1.2, label="what the noise allows")
ax.set(xlabel="turn of the boundary (degrees)", ylabel="share right of the next 200 rows", xticks=range(0, 181, 30))
ax.set_title("answered before learned from (lines: mean of five windows)", fontsize="medium")
ax.legend(frameon=False, fontsize="small", loc="lower left")
figure.savefig(folder / "drift.png", dpi=80)
