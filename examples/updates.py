"""How does the boundary move? The run of Lecture 000, the line after each update.

``python examples/updates.py [folder]`` writes updates.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"

example = sx.datasets.example("lecture-000")
run = sx.trace(example.X, example.y, **example.options, **example.view)
axes = sx.plots.updates(run)
axes[0].figure.savefig(folder / "updates.png", dpi=80)

for ax in axes:
    print(ax.get_title().replace("\n", ": "))
