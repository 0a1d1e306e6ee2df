"""Which classes can planes separate? All pairs, and each class from the rest: penguins, irises and handwritten digits.

Every verdict is proved, and proved again by ``verify``. ``python examples/separable_or_not.py [folder]``
writes separable_or_not.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from sklearn.datasets import load_digits, load_iris

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
birds, iris, digits = pd.read_csv(sx.datasets.path("penguins")).dropna(), load_iris(), load_digits()
data = {
    "penguins, four measures": (birds.filter(regex="_mm|_g"), birds["species"]),
    "irises, four measures": (iris.data, iris.target_names[iris.target]),
    "digits, 64 pixels": (digits.data, digits.target),
}
verdicts = {"none": "not separable", "weak": "weakly separable", "strict": "strictly separable"}
colours = ListedColormap(["#f3b8b0", "#fae39b", "#b9dcc4"])

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.9), layout="constrained")
for ax, (title, (X, y)) in zip(axes, data.items(), strict=True):
    proof = sx.certify(X, y, random_state=0)
    found = [certificate.separable for certificate in proof.all]
    counts = ", ".join(f"{found.count(verdict)} {words}" for verdict, words in verdicts.items())
    print(f"{title}: {len(found)} questions, {counts}; {proof.verify(X, y)}")

    names = list(proof.rest)
    cells = {(name, name): certificate for name, certificate in proof.rest.items()} | proof.pairs
    shown = np.full((len(names), len(names)), np.nan)
    for (first, second), certificate in cells.items():
        row, column = names.index(second), names.index(first)
        shown[row, column] = list(verdicts).index(certificate.separable)
        size, weight = (11 if len(names) < 5 else 7), ("bold" if first == second else "normal")
        ax.text(column, row, f"{certificate.margin.lower:.2g}", ha="center", va="center", size=size, weight=weight)
    ax.imshow(shown, cmap=colours, vmin=0, vmax=2)
    ax.set(title=title, xticks=range(len(names)), yticks=range(len(names)), xticklabels=names, yticklabels=names)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
key = [Patch(color=colours(code), label=words) for code, words in enumerate(verdicts.values())]
figure.legend(handles=key, loc="outside lower center", ncols=3, frameon=False)
figure.suptitle("largest margin of each pair; in bold, of each class from all the others", fontsize="medium")
figure.savefig(folder / "separable_or_not.png", dpi=80)
