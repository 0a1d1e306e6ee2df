"""Why does an update help, and what is a projection? Both as arrows (Lectures 001, 003 and 004).

``python examples/vectors.py [folder]`` writes vectors.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 5.3), layout="constrained")
sx.plots.update_vectors([1, -1], [1, 2], 1, left)
sx.plots.update_vectors([2, 1], [1.5, 2], -1, middle, eta=0.5)
sx.plots.projection([3, 4], [3, 1], right, theta=5)
figure.savefig(folder / "vectors.png", dpi=80)

for ax in (left, middle, right):
    print(ax.get_title().replace("\n", ": "))
