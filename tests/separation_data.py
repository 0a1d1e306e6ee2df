"""Two data sets of the statistics literature on separation in logistic regression, as facts with their sources."""

from __future__ import annotations

import numpy as np

# Neovasculation, pulsatility index, endometrium height, and histology grade of 79 cases of endometrial cancer: Heinze
# and Schemper, "A solution to the problem of separation in logistic regression", Statistics in Medicine 21 (2002),
# as printed with Agresti, "Foundations of Linear and Generalized Linear Models" (2015). Written here as
# (index, height) by neovasculation and grade.
_LOW_ABSENT = """
13 1.64 16 2.26 8 3.14 34 2.68 20 1.28 5 2.31 17 1.80 10 1.68 26 1.56 17 2.31 8 2.01 7 1.89 20 3.15 10 1.23 18 1.27
16 1.76 18 2.00 28 1.50 11 1.33 19 2.37 10 1.82 10 3.13 18 1.31 14 1.92 21 1.64 11 2.01 17 1.88 25 1.93 16 2.11
19 1.29 15 1.72 33 0.75 24 1.92 29 2.02 15 2.29 12 2.33 3 2.90 20 1.70 23 1.41 12 2.25 22 1.54 42 1.97 15 1.75
13 2.16 14 2.57 19 1.37 12 3.61 13 2.04 10 2.17
"""
_HIGH_ABSENT = """
8 2.64 29 0.88 12 1.27 20 1.37 7 0.97 48 1.84 12 1.11 19 1.61 2 1.18 21 1.19 15 1.06 12 1.69 6 1.84 5 1.30 17 0.96
5 0.35 33 0.85
"""
_HIGH_PRESENT = "38 0.97 22 1.14 7 0.88 25 0.91 15 0.58 22 1.44 40 1.18 5 0.93 0 1.17 49 0.27 11 1.01 21 0.98 19 1.02"


def endometrial() -> tuple[np.ndarray, np.ndarray]:
    """Return neovasculation, index, height; and the grade."""
    X, y = [], []
    for text, present, grade in ((_LOW_ABSENT, 0, 0), (_HIGH_ABSENT, 0, 1), (_HIGH_PRESENT, 1, 1)):
        numbers = [float(word) for word in text.split()]
        for index, height in zip(numbers[::2], numbers[1::2], strict=True):
            X.append([present, index, height])
            y.append(grade)
    return np.array(X), np.array(y)


# Perches on which two species of lizards were seen, grahami and opalinus: Schoener, "Nonsynchronous spatial overlap of
# lizards in patchy habitats", Ecology 51 (1970), as in McCullagh and Nelder, "Generalized Linear Models" (1989), page
# 129. For each of sun or shade, diameter up to or above 2 inches, height below or from 5 feet: early, mid-day, late.
_PERCHES = {
    (0, 0, 0): ((20, 2), (8, 1), (4, 4)),
    (0, 0, 1): ((13, 0), (8, 0), (12, 0)),
    (0, 1, 0): ((8, 3), (4, 1), (5, 3)),
    (0, 1, 1): ((6, 0), (0, 0), (1, 1)),
    (1, 0, 0): ((34, 11), (69, 20), (18, 10)),
    (1, 0, 1): ((31, 5), (55, 4), (13, 3)),
    (1, 1, 0): ((17, 15), (60, 32), (8, 8)),
    (1, 1, 1): ((12, 1), (21, 5), (4, 4)),
}


def lizards() -> tuple[np.ndarray, np.ndarray]:
    """Return shade, diameter, height, mid-day, late of each lizard; and its species."""
    X, y = [], []
    for perch, counts in _PERCHES.items():
        for time, (grahami, opalinus) in enumerate(counts):
            X += [[*perch, time == 1, time == 2]] * (grahami + opalinus)
            y += ["grahami"] * grahami + ["opalinus"] * opalinus
    return np.array(X, dtype=float), np.array(y)
