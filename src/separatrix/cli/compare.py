"""``separatrix compare``: every model on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import (
    Db,
    Delimiter,
    Exclude,
    Features,
    Json,
    Lacking,
    MaxLevels,
    ScaledBy,
    Source,
    Sql,
    Target,
    Text,
    WordsBy,
    asked_of,
    check_writable,
    open_named,
    refuse_same,
)
from separatrix.cli.pictures import check_picture, new_figure, write_picture


def compare(
    source: Source = None,
    target: Target = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only these (again for each, or a,b) of averaged, perceptron, voted, pocket, neuron, svm, "
            "kernel-svm, network, kernel-perceptron; k-nn, tree, sk-perceptron, sk-linear-svc. [default: all]"
        ),
    ] = None,
    test: Annotated[
        float | None, typer.Option(help="The share of rows to hold out and compare on. [default: 0.2]")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Part the rows into so many folds and hold out each in turn, instead of --test.")
    ] = None,
    scale: ScaledBy = None,
    epochs: Annotated[
        int | None, typer.Option(help="The most passes over the rows, for all that pass; each has its own default.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(help="Seconds for each model, all folds together; one that takes longer to fit is left out."),
    ] = 30.0,
    seed: Annotated[int, typer.Option(help="Where the split and the orders come from.")] = 0,
    features: Features = None,
    exclude: Exclude = None,
    text: Text = None,
    text_method: WordsBy = None,
    missing: Lacking = None,
    max_levels: MaxLevels = None,
    certify: Annotated[float, typer.Option(help="Seconds to look for a proof of (in)separability; 0 for none.")] = 5.0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw accuracy with interval and time to predict here (.png, .svg or .pdf).")
    ] = None,
    scaling: Annotated[
        Path | None,
        typer.Option(help="Measure and draw here how the time to predict grows with the rows learned from."),
    ] = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Compare every model of the family, k-NN, a tree and scikit-learn's linear models on the same held-out rows.

    The split and what is done to the columns are those of fit with the same --seed; with --folds, the rows of all folds
    are counted together. Each model runs in a process of its own, with one thread. Its training time is one fit on
    prepared rows, its time to predict that of all held-out rows together, divided by their number; of short runs the
    fastest counts. Memory is how much the process grows at most while it fits; it is blank on Windows, which does not
    tell. Size is that of the model file, and for models of scikit-learn that of a pickle. The intervals are Wilson's,
    at 95%. The order is that of accuracy; equally accurate models keep the order of --models. p is how likely so large
    a difference to the best, the first, would be between equally good models (McNemar's exact test on the same rows,
    with Holm's correction). A model that is too slow to predict all held-out rows in its time predicts some at random:
    it is marked, comes last, and its interval and p are for these rows. Certified is what is proved from the model and
    its rows, without trust in how it was found: separates, if its planes part the classes of all rows it learned from;
    gap, if no model of its kind can have an objective that is smaller by more than this share of it (for kernel-svm
    where that takes 10 seconds at most). Ctrl-C shows what is done so far.

      separatrix compare penguins --target species

      separatrix compare mails.csv --target spam --text subject --folds 5 --plot mails.png

      separatrix compare penguins --target species --models svm,k-nn --scaling growth.png

    Exit status: 0 done; 2 bad input; 130 interrupted.
    """
    from separatrix.cli.comparison import show_comparison
    from separatrix.cli.progress import Bar
    from separatrix.tables.compare.comparison import compare as run
    from separatrix.tables.compare.contenders import chosen
    from separatrix.tables.compare.plan import Plan

    if test is not None and folds is not None:
        raise ValueError("--test and --folds cannot both be given: hold out one part of the rows, or each in turn")
    plan = Plan(
        chosen(models or ()), 0.2 if test is None else test, folds, epochs, seed, time_limit, certify,
        scaling is not None,
    )  # fmt: skip
    if plot is not None and scaling is not None and plot.resolve() == scaling.resolve():
        raise ValueError(f"--plot and --scaling both name {plot}; each needs a file of its own")
    asked = asked_of(target, features, exclude, None, text, text_method, missing, scale, max_levels)
    for path, option in ((plot, "--plot"), (scaling, "--scaling")):
        if path is not None:
            check_picture(path, option)
            check_writable(path, option)
            refuse_same(path, source)
            new_figure()
    with Bar() as bar, open_named(source, sql, db, delimiter) as opened:
        found = run(opened, asked, plan, bar)
    pictures = _draw(found, plot, scaling)
    if json:
        import json as to_text

        typer.echo(to_text.dumps(found.as_dict() | {"pictures": [str(path) for path in pictures]}))
    else:
        show_comparison(found, pictures)
    if found.interrupted:
        raise typer.Exit(130)


def _draw(found: Any, plot: Path | None, scaling: Path | None) -> list[Path]:
    """Draw what there is to draw; return what was drawn."""
    out: list[Path] = []
    if plot is None and scaling is None:
        return out
    from separatrix import plots  # which needs matplotlib

    rows = found.facts["rows"]
    if plot is not None and found.standings:
        standings = found.standings
        figure = new_figure(7.2, 1.6 + 0.32 * len(standings))
        plots.comparison(
            [each.name + f" ({each.scores.n:,} rows)" * each.sampled for each in standings],
            [each.scores.accuracy for each in standings],
            [each.scores.interval() for each in standings], [each.predict for each in standings],
            [each.family for each in standings], figure.subplots(), baseline=found.baseline.baseline,
        )  # fmt: skip
        figure.suptitle(f"{found.facts['source']}: {rows['held_out']:,} held-out rows", fontsize="medium")
        write_picture(figure, plot)
        out.append(plot)
    if scaling is not None and found.growth:
        figure = new_figure()
        ax = plots.growth({each.name: (each.rows, each.predict) for each in found.growth}, figure.subplots())
        own = f"rows of {found.facts['source']}, {found.facts['numbers']:,} numbers each"
        most = max(max(each.rows) for each in found.growth)
        noise = "" if found.facts["sparse"] else " with some noise"
        again = "" if most <= rows["train"] else f"; beyond {rows['train']:,} they come again{noise}"
        ax.set_title(own + again, fontsize="small")
        write_picture(figure, scaling)
        out.append(scaling)
    return out
