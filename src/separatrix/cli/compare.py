"""``separatrix compare``: every model on the same test rows."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.fit_options import Split, Test, share_or_file
from separatrix.cli.guard import guard
from separatrix.cli.options import (
    DATA,
    LIMITS,
    MODEL,
    OUTPUT,
    Category,
    Date,
    DatesBy,
    Db,
    Decimal,
    Delimiter,
    Exclude,
    Features,
    Json,
    Lacking,
    MaxLevels,
    Number,
    ScaledBy,
    Source,
    Sql,
    Target,
    TargetEncode,
    Text,
    WordsBy,
    asked_of,
    contender_parameters,
    open_named,
    target_of,
)
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.tables.kinds import MODELS


def compare(
    source: Source = None,
    target: Target = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Models to compare, separated by commas (may be repeated): {', '.join(MODELS)}, k-nn, tree, "
            "sk-perceptron, sk-linear-svc, sk-logistic, sk-boosting (gradient-boosted trees: what a model that is not "
            "linear gains). [default: all]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter of one model, such as svm:C=10, or of every model of separatrix that has it, such as C=10; "
            "may be repeated.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    test: Test = None,
    split: Split = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of cross-validation folds, instead of --test.", rich_help_panel=DATA)
    ] = None,
    scale: ScaledBy = None,
    epochs: Annotated[
        int | None, typer.Option(help="Maximum number of epochs. [default: that of each model]", rich_help_panel=MODEL)
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            help="Seconds for each model, all folds together; a model that takes longer to fit is skipped.",
            rich_help_panel=LIMITS,
        ),
    ] = 30.0,
    seed: Annotated[int, typer.Option(help="Random seed.", rich_help_panel=MODEL)] = 0,
    features: Features = None,
    exclude: Exclude = None,
    text: Text = None,
    text_method: WordsBy = None,
    missing: Lacking = None,
    max_levels: MaxLevels = None,
    category: Category = None,
    number: Number = None,
    date: Date = None,
    decimal: Decimal = None,
    dates: DatesBy = None,
    target_encode: TargetEncode = None,
    certify: Annotated[
        float,
        typer.Option(help="Seconds for the certificate of linear separability; 0 for none.", rich_help_panel=LIMITS),
    ] = 5.0,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot accuracy with its interval and prediction time (.png, .svg or .pdf).", rich_help_panel=OUTPUT
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Order the models by accuracy, balanced_accuracy, f1_macro, roc_auc, average_precision, log_loss or "
            "brier. [default: accuracy; balanced_accuracy for two classes, one below 20%]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    scaling: Annotated[
        Path | None,
        typer.Option(
            help="Measure and plot prediction time against the number of training rows.", rich_help_panel=OUTPUT
        ),
    ] = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Compare models on the same test rows.

    Runs every model of separatrix, k-NN, a decision tree and scikit-learn's linear models. The test set and the
    preprocessing are those of fit with the same --seed; with --folds, the rows of all folds are counted together. Each
    model runs in a separate process with one thread. Ctrl-C shows the results so far.

    accuracy and 95% CI: on the test rows, with Wilson's interval. The best model by --metric comes first; ties keep the
    order of --models. ROC AUC (of more than two classes the mean of one-vs-rest), average precision, log loss and Brier
    score are means over --folds; a model without scores or probabilities has none and comes last. A model too slow to
    predict all test rows in its time predicts a random sample: it is marked with *, listed last, and scored on these
    rows. Of the best model the scores by class are shown, and a remark where it is no better than always predicting the
    majority class.

    p: p-value of the difference in accuracy from the first model (McNemar's exact test on the same rows, Holm's
    correction).

    train and predict/row: seconds to fit the prepared rows, and to predict all test rows divided by their number; short
    runs are repeated and the fastest counts.

    memory and size: peak memory growth while fitting (blank on Windows), and the size of the model file, or of a pickle
    for models of scikit-learn.

    certified: what is proved from the model and its training rows, without trusting the solver. "separates": its planes
    separate the classes of all training rows; "gap": no model of its kind has an objective smaller by more than this
    fraction (for kernel-svm if that takes at most 10 seconds).

    For example:

      separatrix compare penguins --target species --models averaged,svm,k-nn

    Exit status: 0 success; 2 bad input; 130 interrupted.
    """
    from separatrix.cli.comparison import show_comparison
    from separatrix.cli.progress import Bar
    from separatrix.cli.summary import plain_values
    from separatrix.tables.compare.comparison import compare as run
    from separatrix.tables.compare.contenders import chosen, parameters_by_model
    from separatrix.tables.compare.plan import ComparisonPlan

    if test is not None and folds is not None:
        raise ValueError("--test and --folds cannot both be given; choose one")
    share, file = share_or_file(test, split)
    compared = chosen(models or ())
    plan = ComparisonPlan(
        compared, share, folds, epochs, seed, time_limit, certify,
        scaling is not None, metric, parameters_by_model(contender_parameters(param or []), compared), file,
    )  # fmt: skip
    options = asked_of(
        target_of(source, target),
        features,
        exclude,
        None,
        text,
        text_method,
        missing,
        scale,
        max_levels,
        category,
        number,
        date,
        dates,
        target_encode,
        decimal,
    )
    options = replace(options, split=split)
    for path, option in ((plot, "--plot"), (scaling, "--scaling")):
        if path is not None:
            check_picture(path, option)
            guard().writes(path, option)
            new_figure()
    with ExitStack() as stack:
        bar = stack.enter_context(Bar())
        opened = stack.enter_context(open_named(source, sql, db, delimiter, bar=bar))
        tested = None
        if file is not None:
            tested = stack.enter_context(open_named(file, delimiter=delimiter, bar=bar))
        comparison = run(opened, options, plan, bar, tested)
    pictures = _draw(comparison, plot, scaling)
    if json:
        import json as to_text

        typer.echo(to_text.dumps(plain_values(comparison.as_dict()) | {"pictures": [str(path) for path in pictures]}))
    else:
        show_comparison(comparison, pictures)
    if comparison.interrupted:
        raise typer.Exit(130)


def _draw(comparison: Any, plot: Path | None, scaling: Path | None) -> list[Path]:
    """Draw the plots that were asked for; return the files written."""
    out: list[Path] = []
    if plot is None and scaling is None:
        return out
    from separatrix import plots  # which needs matplotlib

    data, standings = comparison.data, comparison.standings
    rows = data["rows"]
    if plot is not None and standings:
        figure = new_figure(7.2, 1.6 + 0.32 * len(standings))
        plots.comparison(
            [each.name + f" ({each.scores.n:,} rows)" * each.sampled for each in standings],
            [each.scores.accuracy for each in standings],
            [each.scores.interval() for each in standings], [each.predict for each in standings],
            [each.family for each in standings], figure.subplots(), baseline=comparison.baseline.baseline,
        )  # fmt: skip
        figure.suptitle(f"{data['source']}: {rows['held_out']:,} test rows", fontsize="medium")
        write_picture(figure, plot)
        out.append(plot)
    if scaling is not None and comparison.scaling:
        figure = new_figure()
        ax = plots.growth({each.name: (each.rows, each.predict) for each in comparison.scaling}, figure.subplots())
        most = max(max(each.rows) for each in comparison.scaling)
        noise = "" if data["sparse"] else " with noise"
        repeated = "" if most <= rows["train"] else f"; beyond {rows['train']:,}, rows are repeated{noise}"
        ax.set_title(f"{data['source']}, {data['numbers']:,} features{repeated}", fontsize="small")
        write_picture(figure, scaling)
        out.append(scaling)
    return out
