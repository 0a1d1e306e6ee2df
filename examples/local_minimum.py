"""Where does batch descent get stuck? The loss of a neuron on twelve real wines, from the same start in two ways.

The squared loss of a sigmoid neuron is not convex. On the alcohol of the first four wines of each of three growers
(scikit-learn's wine data), batch descent from zero ends in a local minimum; stochastic descent, whose steps are noisy,
leaves it. ``python examples/local_minimum.py [folder]`` writes local_minimum.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import separatrix as sx
from separatrix.rules.losses import Squared

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
wine = load_wine()
first_four = np.concatenate([np.flatnonzero(wine.target == grower)[:4] for grower in range(3)])
x = scale(wine.data[first_four, 0])
y = np.where(wine.target[first_four] == 0, 1, -1)


def loss(p):
    return Squared.value(y * (p[0] * x + p[1])).mean()


def slope(p):
    each = Squared.slope(y * (p[0] * x + p[1])) * y
    return np.array([(each * x).mean(), each.mean()])


batch = sx.descend(loss, slope, (0.0, 0.0), step=4.0)
stochastic = sx.trace(x[:, None], y, rule="sigmoid_neuron", eta0=4, order="shuffled", max_iter=60, random_state=0)
print(f"batch:      {batch.status}; loss {batch.value:.4f} at w = {batch.x[0]:.2f}, b = {batch.x[1]:.2f}")
end = stochastic.path[-1]
print(f"stochastic: {stochastic.n_updates} steps; loss {loss(end):.4f} at w = {end[0]:.2f}, b = {end[1]:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
runs = {f"batch: stuck at {batch.value:.4f}": batch, f"stochastic: {loss(end):.4f}": stochastic}
sx.plots.loss_surface(x, y, left, paths=runs, w=(-3, 11), b=(-6, 5))
left.set_title("one neuron, one feature: alcohol of twelve wines")
sx.plots.loss_surface(x, y, right, paths=runs, w=(0.8, 3.4), b=(-1.3, 0.1))
right.set_title("around the local minimum")
right.get_legend().remove()
figure.savefig(folder / "local_minimum.png", dpi=80)
