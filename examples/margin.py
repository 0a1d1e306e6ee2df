"""What is a margin, and what is slack? A linear machine on the wines of two growers, a Gaussian one on two rings.

``python examples/margin.py [folder]`` writes margin.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine, make_circles
from sklearn.preprocessing import scale

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
wine = load_wine()
two = wine.target != 2
wines, grower = scale(wine.data[two][:, [0, 12]]), np.array(["first grower", "second grower"])[wine.target[two]]
rings, side = make_circles(120, noise=0.14, factor=0.45, random_state=1)

linear = sx.LinearSVM(C=0.5).fit(wines, grower)
gaussian = sx.KernelSVM(C=1.0, gamma=1.0).fit(rings, side)
for name, model, X, y in (("linear", linear, wines, grower), ("gaussian", gaussian, rings, side)):
    print(f"{name}: {len(model.support_)} of {len(X)} examples are support vectors; {model.score(X, y):.3f} right")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 5.2), layout="compressed")
sx.plots.margin(linear, wines, grower, left, names=["alcohol, scaled", "proline, scaled"])
left.set_title(f"linear, C = 0.5: {left.get_title()}", fontsize="medium")
sx.plots.margin(gaussian, rings, side, right)
right.set_title(f"Gaussian kernel, C = 1: {right.get_title()}", fontsize="medium")
figure.savefig(folder / "margin.png", dpi=80)
