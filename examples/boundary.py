"""What does the boundary look like? In two dimensions, and where there are thirty.

``python examples/boundary.py [folder]`` writes boundary.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
iris, cancer = load_iris(), load_breast_cancer()
petals, species = iris.data[50:, 2:], iris.target_names[iris.target[50:]]
tumours, kind = scale(cancer.data), cancer.target_names[cancer.target]

flowers = sx.Neuron(loss="log", eta0=0.1, random_state=0).fit(petals, species)
doctor = sx.Neuron(loss="log", alpha=0.01, random_state=0).fit(tumours, kind)
print(f"iris: {flowers.score(petals, species):.3f} right; tumours: {doctor.score(tumours, kind):.3f} right")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
sx.plots.decision_boundary(flowers, petals, species, left, names=iris.feature_names[2:])
left.set_title("one neuron, two features")
sx.plots.decision_boundary(doctor, tumours, kind, right)
right.set_title("one neuron, thirty features")
figure.savefig(folder / "boundary.png", dpi=80)
