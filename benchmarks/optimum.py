"""Time to the optimum of linear SVMs and of logistic regression, as ratios to LIBLINEAR and scikit-learn.

For every data set, loss and C each side is run at several tolerances, from loose to tight. For each target (the part
of the optimum by which the objective may be above it) the fastest run that reaches it counts. Processor time, one
thread; the sides take turns and the best of several repeats counts. Every run has a process of its own, which ends when
its time is over (Unix only), so that a side that does not arrive is said to be above its limit. LIBLINEAR (``pip
install liblinear-official``) is given its problem ready made, so that only its ``train`` is timed; ours is the whole
``fit``, checks of the data included. No intercept, which is what LIBLINEAR solves. Objectives are computed from the
weights in double precision, for every side alike.

``--data FOLDER`` measures real sets instead of generated ones; ``--json FILE`` keeps every run, ``--plot FILE`` draws
the ratios; ``--intercepts`` compares the kinds of intercept of ours; ``--memory`` measures the memory of a fit.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import resource
import sys
import threading
import time
import warnings
from pathlib import Path

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from optimum_data import GENERATED, REAL  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

import separatrix as sx  # noqa: E402

LOSSES = ("hinge", "squared_hinge", "log")
COSTS = (0.01, 1.0, 100.0)
TARGETS = (1e-2, 1e-4, 1e-6)
OURS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LIBLINEAR = {"hinge": (3,), "squared_hinge": (1, 2), "log": (0, 7)}
DUAL = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
PRIMAL = (0.3, 0.03, 3e-3, 3e-4, 3e-5, 3e-6)
SKLEARN = {"lbfgs": (1e-1, 1e-2, 1e-3, 1e-4, 1e-6), "newton-cholesky": (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)}
REFERENCE = 1e-9


def objective(X, signs, C, loss, w, bias=0.0):
    """The value of these weights, in double precision."""
    margins = signs * (X @ np.asarray(w, dtype=np.float64) + bias)
    if loss == "log":
        each = np.logaddexp(0.0, -margins)
    else:
        each = np.maximum(1.0 - margins, 0.0)
        each = each * each if loss == "squared_hinge" else each
    return 0.5 * float(w @ w) + C * float(each.sum())


def estimator(loss, C, tolerance, **others):
    others = {"fit_intercept": False, "max_iter": 10**6, **others}
    if loss == "log":
        return sx.LogisticRegression(C=C, tol=tolerance, **others)
    return sx.LinearSVM(loss=loss, C=C, tol=tolerance, random_state=0, **others)


class Liblinear:
    """LIBLINEAR on a problem that is made once."""

    def __init__(self, X, signs):
        from liblinear.liblinear import liblinear, parameter, problem

        self._library, self._parameter = liblinear, parameter
        self._problem = problem(signs, sparse.csr_matrix(X).astype(np.float64))
        self._problem.set_bias(-1)
        self._width = X.shape[1]

    def train(self, solver, C, tolerance):
        options = self._parameter(f"-s {solver} -c {C} -B -1 -e {tolerance} -q")
        began = time.process_time()
        model = self._library.train(self._problem, options)
        seconds = time.process_time() - began
        w = np.ctypeslib.as_array(model.contents.w, (self._width,)).copy()
        return seconds, w if model.contents.label[0] > 0 else -w


def timed(model, X, signs):
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, signs)
    return time.process_time() - began, model.coef_[0]


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
    """One data set, loss and C: the sides, their tolerances, and what their runs have given."""

    def __init__(self, name, X, signs, peer, loss, C, peers):
        self.name, self.X, self.signs, self.loss, self.C = name, X, signs, loss, C
        self.sides = {"ours": (OURS, lambda tol: timed(estimator(loss, C, tol), X, signs))}
        if peers and peer is not None:
            for solver in LIBLINEAR[loss]:
                tolerances = PRIMAL if solver in (0, 2) else DUAL
                self.sides[f"s{solver}"] = (tolerances, lambda tol, solver=solver: peer.train(solver, C, tol))
        if peers and loss == "log":
            double = X.astype(np.float64)
            for solver, tolerances in SKLEARN.items():
                if solver == "newton-cholesky" and X.shape[1] > 3000:
                    continue
                self.sides[solver] = (
                    tolerances,
                    lambda tol, solver=solver: timed(
                        LogisticRegression(C=C, tol=tol, solver=solver, fit_intercept=False, max_iter=10**5),
                        double, signs,
                    ),
                )  # fmt: skip
        self.runs = {side: {} for side in self.sides}  # tolerance: (seconds, objective)
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
                    if repeat == 0 and run[1] <= (1.0 + 0.5 * min(TARGETS)) * max(lower, 0.0):
                        late[side] = tolerance
                        break
        self.optimum = lower if lower > (1.0 - 1e-7) * value else value
        return self

    def reference(self, limit):
        model = estimator(self.loss, self.C, REFERENCE, stop=sx.TimeLimit(3 * limit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.X, self.signs)
        return float(model.objective_ - model.duality_gap_), float(model.objective_)

    def valued(self, work, tolerance):
        """The least processor time of a few runs that together take no longer than a moment, and the objective."""
        seconds, w = work(tolerance)
        total, runs = seconds, 1
        while total < 0.1 and runs < 5:  # the first pays for pages of memory that the process sees for the first time
            again, w = work(tolerance)
            seconds, total, runs = min(seconds, again), total + again, runs + 1
        return seconds, objective(self.X, self.signs, self.C, self.loss, w)

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
            "name": self.name, "n": self.X.shape[0], "d": self.X.shape[1], "loss": self.loss, "C": self.C,
            "optimum": self.optimum,
            "runs": {side: [[t, *run] for t, run in runs.items()] for side, runs in self.runs.items()},
            "targets": {
                str(target): {"ours": self.fastest("ours", target), "peer": self.best_peer(target)}
                for target in TARGETS
            },
        }  # fmt: skip

    def lines(self, limit):
        """A line for each target: milliseconds and distance of both sides, and their ratio."""
        for target in TARGETS:
            mine, (theirs, side) = self.fastest("ours", target), self.best_peer(target)
            shown = [
                f"{run[0] * 1e3:9.1f} ms ({run[1]:7.1e})" if run else f" > {limit:g} s or never"
                for run in (mine, theirs)
            ]
            ratio = f"{theirs[0] / mine[0]:6.2f}x" if mine and theirs else ""
            setting = f"{self.name:21} {self.loss:13} C={self.C:<5g} to {target:g}"
            yield f"{setting:50} ours {shown[0]:>22}   best peer {shown[1]:>22} {side:16} {ratio}"


def summary(records):
    """The geometric mean of the ratios, and how often ours is slower, for each loss and target."""
    for loss in LOSSES:
        for target in TARGETS:
            each = [r["targets"][str(target)] for r in records if r["loss"] == loss]
            ratios = [t["peer"][0][0] / t["ours"][0] for t in each if t["ours"] and t["peer"][0]]
            alone = sum(bool(t["ours"]) and not t["peer"][0] for t in each)
            lost = sum(not t["ours"] and bool(t["peer"][0]) for t in each)
            if ratios:
                mean = math.exp(np.log(ratios).mean())
                yield (
                    f"{loss:13} to {target:g}: geometric mean {mean:.2f}x over {len(ratios)} rows, slower on "
                    f"{sum(r < 1.0 for r in ratios)}; only ours arrives on {alone}, only a peer on {lost}"
                )


def draw(records, path):
    """Draw the ratio of every row, a panel for each loss."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    names = list(dict.fromkeys(r["name"] for r in records))
    figure, axes = plt.subplots(
        1, len(LOSSES), figsize=(13, 0.42 * len(names) + 1.8), sharex=True, sharey=True, layout="constrained"
    )
    colours = dict(zip(TARGETS, ("#88bbdd", "#3377aa", "#113355"), strict=True))
    for axis, loss in zip(axes, LOSSES, strict=True):
        for r in (r for r in records if r["loss"] == loss):
            height = names.index(r["name"]) + 0.25 * (COSTS.index(r["C"]) - 1 if r["C"] in COSTS else 0)
            for target, colour in colours.items():
                mine, (theirs, _) = r["targets"][str(target)].values()
                if mine and theirs:
                    axis.plot(theirs[0] / mine[0], height, "o", color=colour, markersize=4)
                elif mine:
                    axis.plot(0.97, height, ">", color=colour, markersize=4, transform=axis.get_yaxis_transform())
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(FixedLocator([k * 10.0**p for p in range(-3, 4) for k in (1, 2, 5)]))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.axvline(1.0, color="0.6", linewidth=0.8)
        axis.set_title(loss.replace("_", " "))
        axis.set_xlabel("time of the best peer / ours")
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    handles = [plt.Line2D([], [], marker="o", linestyle="", color=c, label=f"to {t:g}") for t, c in colours.items()]
    handles.append(plt.Line2D([], [], marker=">", linestyle="", color="0.3", label="no peer arrives"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle("Right of the line: ours is faster. In each row from top to bottom C = 0.01, 1, 100")
    figure.savefig(path, dpi=110)


def intercepts(name, X, signs, loss, C, repeats, limit):
    """Print the time of each kind of intercept to a gap of 1e-4."""
    kinds = {
        "none": {},
        "penalised": {"fit_intercept": True, "intercept_scaling": 1.0},
        "free": {"fit_intercept": True},
    }
    times = dict.fromkeys(kinds, math.inf)
    for _ in range(repeats):
        for kind, how in kinds.items():
            run = in_child(lambda how=how: timed(estimator(loss, C, 1e-4, **how), X, signs)[0], limit)
            times[kind] = min(times[kind], run if run is not None else math.inf)
    shown = ", ".join(f"{kind} {1e3 * t:.1f} ms" for kind, t in times.items())
    print(f"{name:21} {loss:13} C={C:<5g} {shown}; free / none {times['free'] / times['none']:.2f}", flush=True)


def memory(name, X, signs, loss):
    """Print how far the memory rises during one fit."""

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def ours():
        before = peak()
        estimator(loss, 1.0, 1e-4).fit(X, signs)
        return peak() - before

    def theirs():
        before = peak()
        Liblinear(X, signs).train(LIBLINEAR[loss][0], 1.0, 0.01)
        return peak() - before

    mine, others = in_child(ours, 600), in_child(theirs, 600)
    print(f"{name:21} {loss:13} a fit takes {mine:.0f} MiB at its peak, LIBLINEAR {others:.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with real data sets, measured instead of generated ones")
    parser.add_argument("--only", action="append", help="part of the name of a data set; may be repeated")
    parser.add_argument("--losses", nargs="+", default=LOSSES, choices=LOSSES)
    parser.add_argument("--costs", nargs="+", type=float, default=COSTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that one run may take")
    parser.add_argument("--alone", action="store_true", help="measure ours only")
    parser.add_argument("--intercepts", action="store_true", help="compare the kinds of intercept")
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    parser.add_argument("--json", type=Path, help="file for every run")
    parser.add_argument("--plot", type=Path, help="file for a picture of the ratios")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="draw the picture of an earlier --json file")
    options = parser.parse_args()
    if options.draw:
        draw(json.loads(options.draw.read_text()), options.plot or options.draw.with_suffix(".png"))
        return
    timed(estimator("log", 1.0, 1e-2), np.eye(4), [1, -1, 1, -1])  # imports are nobody's time
    timed(estimator("hinge", 1.0, 1e-2), np.eye(4), [1, -1, 1, -1])
    chosen = REAL if options.data else GENERATED
    wanted = [n for n in chosen if not options.only or any(part in n for part in options.only)]
    records = []
    for name in wanted:
        X, y = chosen[name](*([options.data] if options.data else []))
        signs = np.where(y > 0, 1.0, -1.0)
        stored = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
        print(f"# {name}: {X.shape[0]:,} x {X.shape[1]:,}, {stored:.0f} a row", flush=True)
        peer = None if options.alone or options.intercepts or options.memory else Liblinear(X, signs)
        for loss in options.losses:
            if options.memory:
                memory(name, X, signs, loss)
                continue
            for C in options.costs:
                if options.intercepts:
                    intercepts(name, X, signs, loss, C, options.repeats, options.limit)
                    continue
                problem = Problem(name, X, signs, peer, loss, C, not options.alone)
                problem.measure(options.repeats, options.limit)
                records.append(problem.record())
                for line in problem.lines(options.limit):
                    print(line, flush=True)
                if options.json:
                    options.json.write_text(json.dumps(records, indent=1))
    for line in summary(records):
        print(line)
    if options.plot and records:
        draw(records, options.plot)


if __name__ == "__main__":
    sys.exit(main())
