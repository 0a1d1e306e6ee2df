"""Can it learn spam from raw text, batch by batch, in constant memory? Averaged and last weights on one stream.

The mail is made here: 5,000 made-up words, few of them common and most rare, each somewhat likelier in spam or in
honest mail. Every batch is answered before it is learned from (progressive validation), so that all figures are about
unseen text. ``python examples/spam.py [folder]`` writes spam.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
rng = np.random.default_rng(0)
syllables = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
words = np.array(["".join(rng.choice(syllables, size=rng.integers(2, 5))) for _ in range(5000)])
leaning = rng.normal(0, 1, len(words))
common = 1 / np.arange(10, len(words) + 10)  # Zipf's law, without its steepest part
tilted = [common * np.exp(sign * leaning / 2) for sign in (-1, 1)]  # in honest mail, in spam
chances = [each / each.sum() for each in tilted]


def mail(n):
    """Return n texts, and which of them are spam: a third."""
    spam = rng.random(n) < 1 / 3
    draws = [rng.choice(words, rng.integers(10, 60), p=chances[kind]) for kind in spam.astype(int)]
    return [" ".join(draw) for draw in draws], spam


hashing = HashingVectorizer(n_features=2**18, alternate_sign=False)  # no list of words to keep: new ones need no room
models = {readout: sx.Perceptron(readout=readout, random_state=0) for readout in ("averaged", "last")}
right = {readout: [] for readout in models}
for batch in range(101):
    texts, spam = mail(100)
    rows = hashing.transform(texts)
    for readout, model in models.items():
        if batch:
            right[readout].append(model.score(rows, spam))
        model.partial_fit(rows, spam)

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
seen = 100 * np.arange(1, 101)
for (readout, shares), colour in zip(right.items(), ("#3b6fb6", "#d9822b"), strict=True):
    print(f"{readout} weights: of the last 2,000 messages {np.mean(shares[-20:]):.1%} right")
    ax.plot(seen, shares, "o", color=colour, alpha=0.3, markersize=4)
    ax.plot(seen[9:], np.convolve(shares, np.ones(10) / 10, "valid"), color=colour, label=f"{readout} weights")
ax.axhline(2 / 3, color="#777777", linestyle=":", linewidth=1.2, label='answering always "honest"')
ax.set(xlabel="messages learned from", ylabel="share right of the next 100")
ax.set_title("spam, answered before it is learned from (lines: mean of ten batches)", fontsize="medium")
ax.legend(frameon=False, loc="lower right")
figure.savefig(folder / "spam.png", dpi=80)
