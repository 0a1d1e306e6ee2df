"""How fast is the largest margin known? 50,000 rows of 100 features, between two bounds that close.

``python examples/bracket.py [folder]`` writes bracket.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
data = sx.datasets.separable(50_000, 100, margin=0.02, random_state=0)
certificate = sx.certify(data.X, data.y, tol=1e-6, random_state=0)
for seconds, lower, upper in certificate.history:
    print(f"{seconds:7.3f} s: between {lower:.9f} and {upper:.9f}")
print(certificate)

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
sx.plots.bracket(certificate, ax)
ax.set_title(f"50,000 rows of 100 features, {ax.get_title()}", fontsize="medium")
figure.savefig(folder / "bracket.png", dpi=80)
