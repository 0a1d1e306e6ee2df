"""Is it separable? Petals of iris that are, rounded wines that touch, petals that are not.

``python examples/separable.py [folder]`` writes separable.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, load_wine

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
iris, wine = load_iris(as_frame=True), load_wine(as_frame=True)
petals, kind = iris.data.iloc[:, 2:], iris.target_names[iris.target]
halves = (2 * wine.data[["color_intensity", "flavanoids"]]).round() / 2
grower = "grower " + wine.target.astype(str)
small, large, old = kind != "virginica", kind != "setosa", wine.target > 0

figure, axes = plt.subplots(1, 3, figsize=(14.5, 4.8), layout="compressed")
data = (petals[small], kind[small]), (halves[old], grower[old]), (petals[large], kind[large])
for ax, (X, y) in zip(axes, data, strict=True):
    certificate = sx.certify(X, y, random_state=0)
    print(certificate)
    sx.plots.hulls(certificate, X, y, ax)
figure.savefig(folder / "separable.png", dpi=80)
