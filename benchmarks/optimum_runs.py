"""One row of optimum.py: its sides are run at several tolerances, each run in a process of its own."""

from __future__ import annotations

import math
import os
import pickle
import threading
import time
import warnings

TARGETS = (1e-2, 1e-4, 1e-6)


def timed(model, X, y):
    """Return the processor time of a fit, and the weights: those of the one plane, or of all classes."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - began, model.coef_[0] if len(model.coef_) == 1 else model.coef_


def ended_after(seconds):
    """End this process once it has used this much processor time."""
    while time.process_time() < seconds:
        time.sleep(0.05)
    os._exit(1)


def in_child(work, limit):
    """Return what ``work`` returns, from a process of its own; None if it takes more processor time than the limit."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            threading.Thread(target=ended_after, args=(limit,), daemon=True).start()
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(work(), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(answer) if answer else None


class Problem:
    """One data set, loss and C.

    ``sides`` has tolerances, from loose to tight, and what runs a side at one: it returns seconds and weights. Ours is
    the side "ours". ``reference`` is given a limit of seconds and returns a lower bound on the optimum, and a value.
    """

    def __init__(self, name, shape, loss, C, sides, objective, reference, targets=TARGETS):
        self.name, self.shape, self.loss, self.C = name, shape, loss, C
        self.sides, self.objective, self.reference, self.targets = sides, objective, reference, targets
        self.runs = {side: {} for side in sides}  # tolerance: (seconds, objective)
        self.optimum = math.inf

    def measure(self, repeats, limit):
        best = in_child(lambda: self.reference(limit), 4 * limit)
        lower, value = best if best is not None else (-math.inf, math.inf)
        late = {}  # the tightest tolerance of each side that is worth another try
        for repeat in range(repeats):
            for side, (tolerances, work) in self.sides.items():
                for tolerance in tolerances:
                    if tolerance < late.get(side, 0.0):
                        break
                    run = in_child(lambda work=work, tolerance=tolerance: self.valued(work, tolerance), limit)
                    if run is None:
                        late[side] = 1.001 * tolerance
                        break
                    known = self.runs[side].get(tolerance, (math.inf, math.inf))
                    self.runs[side][tolerance] = (min(run[0], known[0]), run[1])
                    value = min(value, run[1])
                    if repeat == 0 and run[1] <= (1.0 + 0.5 * min(self.targets)) * max(lower, 0.0):
                        late[side] = tolerance
                        break
        self.optimum = lower if lower > (1.0 - 1e-7) * value else value
        return self

    def valued(self, work, tolerance):
        """The least processor time of a few runs that together take no longer than a moment, and the objective."""
        seconds, w = work(tolerance)
        total, runs = seconds, 1
        while total < 0.1 and runs < 5:  # the first pays for pages of memory that the process sees for the first time
            again, w = work(tolerance)
            seconds, total, runs = min(seconds, again), total + again, runs + 1
        return seconds, self.objective(w)

    def fastest(self, side, target):
        """The fastest run within the target: seconds and distance from the optimum; None if there is none."""
        good = [
            (seconds, max(value / self.optimum - 1.0, 0.0))
            for seconds, value in self.runs[side].values()
            if value <= (1.0 + target) * self.optimum
        ]
        return min(good, default=None)

    def best_peer(self, target):
        reached = [(run, side) for side in self.sides if side != "ours" and (run := self.fastest(side, target))]
        return min(reached, default=(None, ""))

    def record(self):
        return {
            "name": self.name, "n": self.shape[0], "d": self.shape[1], "loss": self.loss, "C": self.C,
            "optimum": self.optimum,
            "runs": {side: [[t, *run] for t, run in runs.items()] for side, runs in self.runs.items()},
            "targets": {
                str(target): {"ours": self.fastest("ours", target), "peer": self.best_peer(target)}
                for target in self.targets
            },
        }  # fmt: skip


def whole_task(name, shape, loss, works, repeats, limit):
    """Return the record of a task that each side does as a whole, such as a path or a search: no tolerances."""
    seconds = {}
    for _ in range(repeats):
        for side, work in works.items():
            taken = in_child(lambda work=work: seconds_of(work), limit)
            if taken is not None:
                seconds[side] = min(taken, seconds.get(side, math.inf))
    peers = [((seconds[side], 0.0), side) for side in seconds if side != "ours"]
    mine = (seconds["ours"], 0.0) if "ours" in seconds else None
    return {
        "name": name, "n": shape[0], "d": shape[1], "loss": loss, "C": None, "runs": seconds,
        "targets": {"done": {"ours": mine, "peer": min(peers, default=(None, ""))}},
    }  # fmt: skip


def seconds_of(work):
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
    return time.process_time() - began
