"""What ``separatrix plot`` draws, kind by kind: what each needs of a model and of rows, and the picture."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.cli.training_path import check_path, training_path

_MOST_NUMBERS = 30_000_000  # that a boundary is drawn from
_MOST_ROWS = 20_000  # that hulls, balls and margins are drawn from
_SVM = ("LinearSVM", "KernelSVM")


class Kind(str, enum.Enum):
    """What is drawn."""

    boundary = "boundary"
    margins = "margins"
    margin = "margin"
    support = "support"
    hulls = "hulls"
    ball = "ball"
    path = "path"
    weights = "weights"
    loss = "loss"
    mistakes = "mistakes"


def _any(model: Any) -> None:
    """Accept every model."""


def _two_features(kind: str) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        width = model.preparation.width
        if width != 2:
            gaps = " --missing drop" if any(feature.gaps for feature in model.preparation.features) else ""
            raise ValueError(
                f"--kind {kind} draws two features, but rows become {width:,} numbers in this model: fit one with "
                f"--features A,B{gaps}, or try --kind boundary or support"
            )
        if kind != "ball":
            _two_classes(kind)(model)

    return check


def _two_classes(kind: str) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        if len(model.classes_) != 2:
            raise ValueError(
                f"--kind {kind} draws two classes, but this model has {len(model.classes_)}: try --kind boundary"
            )

    return check


def _svm(model: Any) -> None:
    name = type(model.estimator).__name__
    if name not in _SVM:
        raise ValueError(
            f"--kind support draws a support vector machine, but this is a {name}: fit with --model svm or kernel-svm"
        )
    _two_classes("support")(model)


def _margin(model: Any) -> None:
    if getattr(model.estimator, "readout", None) == "voted" or not hasattr(model.estimator, "decision_function"):
        raise ValueError("--kind margin draws one decision function, but this model votes: try --kind boundary")
    _two_features("margin")(model)


NEEDS: dict[Kind, Callable[[Any], None]] = {
    Kind.boundary: _any,
    Kind.margins: _any,
    Kind.margin: _margin,
    Kind.support: _svm,
    Kind.hulls: _two_features("hulls"),
    Kind.ball: _two_features("ball"),
    Kind.path: check_path,
}
"""The kinds that draw rows, and what refuses a model that cannot be drawn so, before any row is read."""


def read_rows(model: Any, source: Any, kind: Kind) -> Any:
    """Return the rows as the model sees them, with labels and weights: those trained on, where the kind needs them."""
    from separatrix.tables.whole import read_prepared, read_training

    if kind is Kind.path or (kind in (Kind.margin, Kind.support) and type(model.estimator).__name__ in _SVM):
        rows = read_training(model, source)
        X, y, weights = rows.X, rows.y, rows.weights
    else:
        X, y = read_prepared(model, source)
        weights = None
    if kind in (Kind.margin, Kind.hulls, Kind.ball) and len(y) > _MOST_ROWS:
        raise ValueError(
            f"--kind {kind.value} draws at most {_MOST_ROWS:,} rows; {source.name} has {len(y):,}: try --kind margins"
        )
    return X, y, weights


def draw(model: Any, kind: Kind, rows: Any, top: int, ax: Any) -> None:
    """Draw one kind of picture of a model."""
    from separatrix import plots
    from separatrix.cli.summary import features_of

    scaled = "" if model.preparation.scale == "none" else " (scaled)"
    names = [name + scaled for name in model.preparation.names]
    if kind is Kind.loss:
        _loss(model, ax)
    elif kind is Kind.mistakes:
        _mistakes(model, ax)
    elif kind is Kind.weights:
        from separatrix.tables.weights import weights_of

        weights = weights_of(model)
        if weights is None:
            raise ValueError(f"this {type(model.estimator).__name__} has no weights to draw")
        plots.weights(weights.names, weights.per_deviation, weights.titles, ax, most=top)
    elif kind is Kind.path:
        plots.weight_path(training_path(model, *rows), model.preparation.names, ax, most=top)
        ax.set_ylabel(f"weight ({features_of(model)})")
    elif kind is Kind.margins:
        plots.margin_histogram(model.estimator, rows[0], rows[1], ax)
    elif kind is Kind.support:
        plots.support(model.estimator, rows[0], rows[1], ax, sample_weight=rows[2])
    elif kind is Kind.margin:
        plots.margin(model.estimator, rows[0], rows[1], ax, names=names)
    elif kind is Kind.hulls:
        from separatrix.certificates.certificate import Certificate
        from separatrix.certificates.certifying import certify

        if len(np.unique(rows[1])) != 2:
            raise ValueError("--kind hulls needs rows of both classes")
        X = _dense(rows[0])
        certificate = certify(X, rows[1])
        assert isinstance(certificate, Certificate)
        plots.hulls(certificate, X, rows[1], ax, names=names)
    elif kind is Kind.ball:
        from separatrix.insight.enclosing_ball import enclosing_ball

        X = _dense(rows[0])
        plots.ball(enclosing_ball(X), X, ax)
        ax.set(xlabel=names[0], ylabel=names[1])
    else:
        _boundary(model, rows[0], rows[1], names, ax)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _boundary(model: Any, X: Any, y: Any, names: list[str], ax: Any) -> None:
    from separatrix import plots

    if X.shape[0] * X.shape[1] > _MOST_NUMBERS:
        raise ValueError(f"a boundary in {X.shape[1]:,} dimensions cannot be drawn; try --kind margins")
    X = _dense(X)
    plots.decision_boundary(model.estimator, X, y, ax, names=names)
    if X.shape[1] > 2 and not (len(model.classes_) == 2 and hasattr(model.estimator, "coef_")):
        ax.set_title("projection of the rows; colours: predictions on the plane through their mean", fontsize="small")


def _loss(model: Any, ax: Any) -> None:
    from separatrix import plots

    if model.facts.progress is not None:  # streamed from disk
        made = model.facts.mistakes
        if not made:
            raise ValueError("training was interrupted in the first epoch: there is no curve to draw")
        ax.plot(range(1, len(made) + 1), made, marker="o" if len(made) < 3 else None)
        ax.set_xlabel("epoch")
        ax.set_ylabel("mistakes")
        ax.grid(alpha=0.25)
        return
    kind = type(model.estimator).__name__
    if kind in (*_SVM, "LogisticRegression"):
        what = "a support vector machine" if kind in _SVM else "logistic regression"
        raise ValueError(f"{what} is solved to a duality gap and has no loss per epoch; try another --kind")
    plots.loss_curve(model.estimator, ax)


def _mistakes(model: Any, ax: Any) -> None:
    """Draw the cumulative mistakes of a perceptron, and their bound where the model's certificate proves one."""
    from matplotlib.ticker import MaxNLocator

    from separatrix.tables.report.context import ReportContext
    from separatrix.tables.report.training import mistake_bound

    name = type(model.estimator).__name__
    if name != "Perceptron":
        raise ValueError(
            f"--kind mistakes draws a perceptron, but this is a {name}: fit with --model perceptron, averaged, voted "
            "or pocket, or try --kind loss"
        )
    history = model.estimator.history_
    made = list(model.facts.mistakes) if model.facts.progress is not None else [epoch.updates for epoch in history]
    total = np.cumsum(made) if model.facts.progress is not None else np.array(made)
    if not len(total):
        raise ValueError("training was interrupted in the first epoch: there is nothing to draw")
    epochs = np.arange(len(total) + 1)
    ax.plot(epochs, [0, *total], marker="." if len(total) <= 40 else None, label=f"{int(total[-1]):,} mistakes")
    bound = mistake_bound(ReportContext(model, model.certificate, None))
    text = "cumulative mistakes"
    if isinstance(bound, str):
        text = bound.rstrip(".")
        ax.set_ylim(bottom=0)
    else:
        ax.axhline(bound.allowed, color="#d9822b", linestyle="dashed", label=f"bound: at most {bound.allowed:,}")
        if bound.allowed > 12 * max(float(total[-1]), 1.0):
            ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(0, 1.6 * bound.allowed if ax.get_yscale() == "symlog" else 1.12 * bound.allowed)
    ax.set_title(text, fontsize="medium")
    ax.set(xlabel="epoch", ylabel="cumulative mistakes")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False)
