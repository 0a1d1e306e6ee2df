"""The three budgeted perceptrons in plain NumPy, written from the papers: lists of examples, nothing cached."""

from __future__ import annotations

import numpy as np

MASK = (1 << 64) - 1


def mixed(v):
    """Return the number that SplitMix64 makes of v."""
    v = (v + 0x9E3779B97F4A7C15) & MASK
    v = ((v ^ (v >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    v = ((v ^ (v >> 27)) * 0x94D049BB133111EB) & MASK
    return v ^ (v >> 31)


class Oracle:
    """One binary task. ``K`` is the kernel matrix with the square of the bias constant added to each value."""

    def __init__(self, K, signs, budget, forget, seed=0):
        self.K, self.signs, self.budget, self.forget, self.seed = K, signs, budget, forget, seed
        self.held = {}  # example: coefficient, the least recently moved first
        self.places = []  # the same examples, each where the first of its place was
        self.base = []  # those of a projection that are linearly independent
        self.steps, self.mistakes, self.cost, self.shrinkage = 0, 0.0, 0.0, 0.0
        self.radius_square = K.diagonal().max()

    def activation(self, i):
        return sum(c * self.K[j, i] for j, c in self.held.items())

    def show(self, i, weight=1.0):
        """Present an example as often as it weighs; return how many mistakes it made."""
        wrong = 0
        while weight > 0 and self.signs[i] * self.activation(i) <= 0:
            share = min(weight, 1.0)
            self.learn(i, share * self.signs[i])
            weight -= share
            wrong += 1
        return wrong

    def learn(self, i, step):
        self.mistakes += abs(step)
        full = i not in self.held and len(self.held) == self.budget
        if full and self.forget == "projected":
            self.project(i, step)
        else:
            gone = None
            if full:
                place = (mixed((self.seed + self.steps) & MASK) >> 32) * self.budget >> 32
                gone = self.places[place] if self.forget == "random" else next(iter(self.held))
                self.places[self.places.index(gone)] = i
            elif i not in self.held:
                self.places.append(i)
            self.held[i] = self.held.pop(i, 0.0) + step
            if gone is not None:
                phi = self.shrink(gone) if self.forget == "oldest" else 1.0
                self.held = {j: phi * c for j, c in self.held.items() if j != gone}
        self.steps += 1

    def shrink(self, gone):
        """Return the factor before an example is removed; by bisection where it is not 1, with no formula for roots."""
        c = self.held[gone]
        s, m = abs(c), np.sign(c) * self.activation(gone) / self.radius_square

        def cost(phi):
            return (s * phi) ** 2 + 2 * s * phi - 2 * s * phi * (m * phi)

        left = 15 / 32 * self.mistakes - self.cost
        low, high = 0.0, 1.0
        if cost(1.0) <= left:
            low = 1.0
        else:
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (middle, high) if cost(middle) <= left else (low, middle)
        self.cost += cost(low)
        self.shrinkage += (1 - low) / (1 + low)
        return low

    def project(self, i, step):
        """Project i, or one that the others span, by least squares in the space of the kernel."""
        if not self.base:
            for p, j in enumerate(self.places):
                if self.rest(j) > 1e-9:
                    m = len(self.base)
                    self.places[p], self.places[m] = self.places[m], j
                    self.base.append(j)
        m = len(self.base)
        if m < len(self.places) and self.rest(i) > 1e-9:
            self.spread(self.places[m], self.held.pop(self.places[m]))
            self.held[i] = step
            self.places[m] = i
            self.base.append(i)
        else:
            self.spread(i, step)

    def solution(self, i):
        K = self.K[np.ix_(self.base, self.base)]
        return np.linalg.lstsq(K, self.K[self.base, i], rcond=1e-12)[0] if self.base else np.zeros(0)

    def rest(self, i):
        """Return the share of the square of i that the base does not span."""
        return 1 - self.solution(i) @ self.K[self.base, i] / self.K[i, i]

    def spread(self, i, coef):
        for j, d in zip(self.base, self.solution(i), strict=True):
            self.held[j] += coef * d
