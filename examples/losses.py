"""What does each classifier minimise? The losses against the margin, in one picture.

``python examples/losses.py [folder]`` writes losses.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import separatrix as sx
from separatrix.rules.losses import Log, PerceptronCriterion, Squared, ZeroOne

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"

figure, ax = plt.subplots(figsize=(7.6, 4.8), layout="constrained")
sx.plots.losses(ax).set_title("losses against the margin: left of 0 are the mistakes")
figure.savefig(folder / "losses.png", dpi=80)

for loss in (ZeroOne, PerceptronCriterion, Log, Squared):
    print(f"{loss.name:10} at margin -2: {float(loss.value(-2.0)):.3f}, at 0.5: {float(loss.value(0.5)):.3f}")
