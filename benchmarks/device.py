"""Linear models on a GPU, with rows that are there already: time to a proven duality gap, against torch's LBFGS.

    python benchmarks/device.py [--sizes 4000000x256 10000000x128] [--gap 1e-6] [--costs 1] [--classes 10 100] [--cupy]

Rows are Gaussian, in float32; labels follow a plane with noise. "even" features are all of one size, the easiest case
for a method that sees gradients only; "uneven" ones fall like 8 / k, as principal components do. The time is that
of the whole ``fit``: checks of the rows, labels, and what comes back to memory. LBFGS (strong Wolfe conditions, 400
iterations) minimises the same objective of the log loss, bias included; its time counts up to where it is as near as
asked, else "never" with the distance that is left. ``--classes`` fits so many classes together instead. Needs PyTorch
with CUDA.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import torch

import separatrix as sx


def data(n: int, d: int, classes: int = 2, uneven: bool = False):
    """Rows on the GPU and their labels."""
    torch.manual_seed(0)
    X = torch.randn(n, d, device="cuda")
    if uneven:
        X *= 8.0 / torch.arange(1, d + 1, device="cuda")
    if classes > 2:
        W = torch.randn(d, classes, device="cuda") / d**0.5 * 4
        y = torch.cat(
            [(part @ W + torch.randn(len(part), classes, device="cuda")).argmax(1) for part in X.split(1 << 18)]
        )
        return X, y
    w = torch.randn(d, device="cuda") / d**0.5 * 2
    return X, (X @ w + 0.5 + torch.randn(n, device="cuda") > 0).long()


def model(loss: str, C: float, gap: float):
    """An estimator for this loss."""
    if loss == "log":
        return sx.LogisticRegression(C=C, tol=gap, multi_class="ovr")
    return sx.LinearSVM(loss=loss, C=C, tol=gap)


def fitted_to(X, y, loss: str, C: float, gap: float):
    """Return an estimator fitted to these rows."""
    return model(loss, C, gap).fit(X, y)


def timed(work):
    """Return seconds of the work on the GPU, and what it returns."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    value = work()
    torch.cuda.synchronize()
    return time.perf_counter() - began, value


def lbfgs(X, y, C: float, optimum: float, gap: float):
    """Return the seconds until the objective is within the gap, None if never, and the distance at the end."""
    signs = (2 * y - 1).float()
    w, b = (
        torch.zeros(X.shape[1], device="cuda", requires_grad=True),
        torch.zeros((), device="cuda", requires_grad=True),
    )
    optimiser = torch.optim.LBFGS(
        [w, b], max_iter=20, history_size=10, line_search_fn="strong_wolfe", tolerance_grad=0, tolerance_change=0
    )
    scale = C * len(signs)

    def value():
        optimiser.zero_grad()
        loss = (0.5 * (w @ w) + C * torch.nn.functional.softplus(-signs * (X @ w + b)).sum(dtype=torch.float64)) / scale
        loss.backward()
        return loss

    spent, reached = 0.0, None
    for _ in range(20):  # 400 iterations
        seconds, _ = timed(lambda: optimiser.step(value))
        spent += seconds
        with torch.no_grad():
            margins = signs.double() * (X @ w + b).double()
            now = 0.5 * float(w.double() @ w.double()) + C * float(torch.nn.functional.softplus(-margins).sum())
        if reached is None and now <= (1.0 + gap) * optimum:
            reached = spent
            break
    return reached, spent, now / optimum - 1.0


def joint_lbfgs(X, y, classes: int, C: float, optimum: float, gap: float):
    """Do the same for several classes together."""
    W = torch.zeros(classes, X.shape[1], device="cuda", requires_grad=True)
    b = torch.zeros(classes, device="cuda", requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [W, b], max_iter=20, history_size=10, line_search_fn="strong_wolfe", tolerance_grad=0, tolerance_change=0
    )
    scale, sum_of = C * len(y), partial(torch.nn.functional.cross_entropy, reduction="sum")

    def value():
        optimiser.zero_grad()
        loss = (0.5 * (W * W).sum() + C * sum_of(X @ W.T + b, y)) / scale
        loss.backward()
        return loss

    spent = 0.0
    for _ in range(20):  # 400 iterations
        spent += timed(lambda: optimiser.step(value))[0]
        with torch.no_grad():
            parts = zip(X.split(1 << 18), y.split(1 << 18), strict=True)
            now = 0.5 * float((W.double() ** 2).sum()) + C * sum(
                float(sum_of((part @ W.T + b).double(), codes)) for part, codes in parts
            )
        if now <= (1.0 + gap) * optimum:
            return spent, spent, now / optimum - 1.0
    return None, spent, now / optimum - 1.0


def together(size: str, kind: str, classes: int, C: float, gap: float, repeats: int) -> None:
    """Fit several classes together and print how long that took."""
    n, d = map(int, size.split("x"))
    X, y = data(n, d, classes, uneven=kind == "uneven")

    def fitted():
        return sx.LogisticRegression(C=C, tol=gap, multi_class="multinomial").fit(X, y)

    seconds, model = min((timed(fitted) for _ in range(repeats)), key=lambda run: run[0])
    reached, spent, left = joint_lbfgs(X, y, classes, C, model.objective_ - model.duality_gap_, 2 * gap)
    peer = f"{reached:.2f} s ({reached / seconds:.1f}x)" if reached else f"never in {spent:.2f} s ({left:.1e})"
    print(
        f"{size:>14} {kind:6} {classes} classes C={C:<6g} fit {seconds:6.3f} s, {model.n_iter_} iterations, proven gap "
        f"{model.duality_gap_ / model.objective_:.1e}; torch LBFGS {peer}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["200000x256", "4000000x256", "10000000x128", "1000000x1024"])
    parser.add_argument("--gap", type=float, default=1e-6)
    parser.add_argument("--costs", nargs="+", type=float, default=[1.0])
    parser.add_argument("--classes", nargs="+", type=int, default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cupy", action="store_true", help="rows as CuPy arrays")
    asked = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, relative gap {asked.gap:g}")
    cases = [(size, kind) for size in asked.sizes for kind in ("even", "uneven")]
    for classes in asked.classes:
        for size, kind in cases:
            together(size, kind, classes, asked.costs[0], asked.gap, asked.repeats)
            torch.cuda.empty_cache()
    for size, kind in [] if asked.classes else cases:
        n, d = map(int, size.split("x"))
        X, y = data(n, d, uneven=kind == "uneven")
        rows, labels = X, y
        if asked.cupy:
            import cupy

            rows, labels = cupy.asarray(X), cupy.asarray(y)
        for loss in ("log", "squared_hinge", "hinge"):
            for C in asked.costs:
                runs = [timed(partial(fitted_to, rows, labels, loss, C, asked.gap)) for _ in range(asked.repeats)]
                seconds, fitted = min(runs, key=lambda run: run[0])
                same = len({run[1].coef_.tobytes() + run[1].intercept_.tobytes() for run in runs}) == 1
                solver = fitted.history_.seconds[-1]
                line = (
                    f"{size:>14} {kind:6} {loss:14} C={C:<6g} fit {seconds:6.3f} s, of it the solver {solver:6.3f} s, "
                    f"{fitted.n_iter_} iterations, proven gap {fitted.duality_gap_ / fitted.objective_:.1e}, "
                    f"{'the same bits' if same else 'OTHER BITS'} in {len(runs)} runs"
                )
                if loss == "log":
                    reached, spent, left = lbfgs(X, y, C, fitted.objective_ - fitted.duality_gap_, 2 * asked.gap)
                    peer = (
                        f"{reached:.2f} s ({reached / seconds:.1f}x)"
                        if reached
                        else f"never in {spent:.2f} s ({left:.1e})"
                    )
                    line += f"; torch LBFGS {peer}"
                print(line, flush=True)
                del runs, fitted
        rows = labels = X = y = None
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
