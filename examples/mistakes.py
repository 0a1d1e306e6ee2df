"""How many mistakes can a perceptron make? Three margins, and the bound that each of them sets.

``python examples/mistakes.py [folder]`` writes mistakes.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
models = {}
for margin in (0.2, 0.05, 0.01):
    data = sx.datasets.separable(400, 5, margin=margin, random_state=0)
    model = sx.Perceptron(random_state=0).fit(data.X, data.y)
    models[f"margin {margin}"] = model
    print(f"margin {margin}: {model.certificate_}; {model.status_}")

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
sx.plots.mistakes(models, ax)
figure.savefig(folder / "mistakes.png", dpi=80)
