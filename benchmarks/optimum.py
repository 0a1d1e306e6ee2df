"""Time to the optimum of linear SVMs and of logistic regression, as ratios to LIBLINEAR, scikit-learn, celer and skglm.

For every data set, loss and C each side is run at several tolerances, from loose to tight. For each target (the part
of the optimum by which the objective may be above it) the fastest run that reaches it counts. Processor time, one
thread; the sides take turns and the best of several repeats counts. Every run has a process of its own, which ends when
its time is over (Unix only), so that a side that does not arrive is said to be above its limit. LIBLINEAR (``pip
install liblinear-official``) is given its problem ready made, so that only its ``train`` is timed; ours is the whole
``fit``, checks of the data included. No intercept, which is what LIBLINEAR solves. Objectives are computed from the
weights in double precision, for every side alike.

``--losses`` chooses among the parts: one plane with an L2 penalty (``optimum_binary``), with an L1 penalty and along a
path of C (``optimum_l1``), several classes together and the choice of C (``optimum_joint``). ``--data FOLDER`` measures
real sets instead of generated ones; ``--json FILE`` keeps every run, ``--plot FILE`` draws the ratios;
``--intercepts`` compares the kinds of intercept of ours; ``--memory`` measures the memory of a fit.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import sys
from pathlib import Path

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import optimum_binary  # noqa: E402
import optimum_joint  # noqa: E402
import optimum_l1  # noqa: E402
from optimum_binary import LIBLINEAR, Liblinear, estimator  # noqa: E402
from optimum_data import GENERATED, REAL  # noqa: E402
from optimum_report import draw, lines, summary  # noqa: E402
from optimum_runs import in_child, timed  # noqa: E402
from scipy import sparse  # noqa: E402

LOSSES = (*optimum_binary.LOSSES, *optimum_l1.LOSSES, "L1 path", "multinomial", "tune")
COSTS = (0.01, 1.0, 100.0)


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


def of_one_set(name, X, signs, options):
    """Yield the records of one data set with two classes."""
    peers = not options.alone
    ready = Liblinear(X, signs) if peers else None
    for loss in options.losses:
        for C in options.costs:
            if loss in optimum_binary.LOSSES:
                row = optimum_binary.problem(name, X, signs, ready, loss, C, peers)
            elif loss in optimum_l1.LOSSES:
                row = optimum_l1.problem(name, X, signs, loss, C, peers)
            else:
                break
            yield row.measure(options.repeats, options.limit).record()
    if "L1 path" in options.losses:
        yield optimum_l1.path(name, X, signs, options.repeats, 5 * options.limit)


def wanted(names, options):
    """Return those of the names that were asked for."""
    return [name for name in names if not options.only or any(part in name for part in options.only)]


def of_small_sets(options):
    """Yield the records of sets that are the same whatever the folder: several classes, and the choice of C."""
    for name in wanted(optimum_joint.TUNED, options) if "tune" in options.losses else ():
        yield from optimum_joint.choices_of_cost(name, *optimum_joint.TUNED[name](), options.repeats, 5 * options.limit)
    for name in wanted(optimum_joint.CLASSES, options) if "multinomial" in options.losses else ():
        X, y = optimum_joint.CLASSES[name]()
        for C in options.costs:
            yield (
                optimum_joint.problem(name, X, y, C, not options.alone).measure(options.repeats, options.limit).record()
            )


def of_all(options):
    """Yield all records, or print what else was asked for."""
    chosen = REAL if options.data else GENERATED
    for name in wanted(chosen, options):
        X, y = chosen[name](*([options.data] if options.data else []))
        signs = np.where(y > 0, 1.0, -1.0)
        stored = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
        print(f"# {name}: {X.shape[0]:,} x {X.shape[1]:,}, {stored:.0f} a row", flush=True)
        if not (options.intercepts or options.memory):
            yield from of_one_set(name, X, signs, options)
            continue
        for loss in (loss for loss in options.losses if loss in optimum_binary.LOSSES):
            if options.memory:
                memory(name, X, signs, loss)
                continue
            for C in options.costs:
                intercepts(name, X, signs, loss, C, options.repeats, options.limit)
    if not (options.data or options.intercepts or options.memory):
        yield from of_small_sets(options)


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
    parser.add_argument("--draw", nargs="+", type=Path, metavar="JSON", help="sum up and draw earlier --json files")
    options = parser.parse_args()
    if options.draw:
        records = [record for file in options.draw for record in json.loads(file.read_text())]
    else:
        timed(estimator("log", 1.0, 1e-2), np.eye(4), [1, -1, 1, -1])  # imports are nobody's time
        timed(estimator("hinge", 1.0, 1e-2), np.eye(4), [1, -1, 1, -1])
        records = []
        for record in of_all(options):
            records.append(record)
            print(*lines(record, options.limit), sep="\n", flush=True)
            if options.json:
                options.json.write_text(json.dumps(records, indent=1))
    for line in summary(records):
        print(line)
    if options.plot and records:
        draw(records, options.plot)


if __name__ == "__main__":
    sys.exit(main())
