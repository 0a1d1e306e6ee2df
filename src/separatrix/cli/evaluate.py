"""``separatrix evaluate``: how good a model is on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import Db, Delimiter, Json, Source, Sql, Unknown, UnknownCategories, open_named
from separatrix.cli.writing import say_unknown
from separatrix.text import listed


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Source = None,
    unknown: Unknown = UnknownCategories.zero,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Score a model on labelled rows; tests hold the metrics equal to scikit-learn's.

    Use rows that the model was not trained on: on training rows all scores are too good. Rows without a label are
    skipped and counted, as are labels that the model does not know.

    accuracy: fraction of correct predictions, with Wilson's 95% interval, beside that of always predicting the majority
    class. balanced accuracy: mean recall of the classes; 1/k by chance. For two classes, one of them with less than 20%
    of the rows, balanced accuracy and ROC AUC come first: there accuracy says little.

    macro F1: mean F1 of the classes. ROC AUC and average precision: how well the scores rank rows, whatever the
    threshold; of more than two classes the mean over classes, each against the rest. log loss and Brier score: how good
    the probabilities are (less is better), for models that have them.

    precision, recall, F1 and rows are given for each class beside the confusion matrix; of more than 12 classes the
    weakest five and the most frequent errors.

    For example:

      separatrix evaluate penguins.sx new-penguins.csv

      separatrix evaluate bank.sx bank.parquet --sql "select * from data where year = 2024" --json

    Exit status: 0 success; 2 invalid input.
    """
    from separatrix.cli.models import load_table_model
    from separatrix.cli.progress import Bar
    from separatrix.tables.evaluate import evaluate as run_evaluate

    loaded = load_table_model(model)
    with Bar() as bar, open_named(source, sql, db, delimiter) as opened:
        evaluation = run_evaluate(
            loaded, opened, unknown=unknown.value, watch=lambda rows, part: bar("predict", rows=rows, part=part)
        )
    say_unknown(evaluation.unknown_categories, unknown.value)
    if json:
        import json as to_text

        classes = loaded.classes_.tolist()
        typer.echo(to_text.dumps({**evaluation.to_dict(), "classes": classes, "model_file": str(model)}))
        return
    _show(evaluation, loaded, unknown.value)


def _show(evaluation: Any, model: Any, unknown: str) -> None:
    from separatrix.cli.scores import show_scores
    from separatrix.cli.summary import times_of
    from separatrix.cli.writing import console as new_console

    console = new_console()
    skipped = [
        f"{count:,} {why}"
        for count, why in (
            (evaluation.unlabelled, "without a label"),
            (evaluation.incomplete, "with missing values" + " or unknown categories" * (unknown == "null")),
            (evaluation.unknown_labels.total(), "with unknown labels"),
        )
        if count
    ]
    left_out = f"; skipped: {', '.join(skipped)}" if skipped else ""
    console.print(f"{evaluation.source}: {times_of(evaluation.rows, 'row')}{left_out}.")
    if evaluation.unknown_labels:
        names = listed(f"{label!r} ({rows:,})" for label, rows in evaluation.unknown_labels.most_common())
        console.print(f"Labels that the model does not know: {names}.")
    if evaluation.same_source:
        console.print("The model was fitted on this source: training rows are among these, so the scores are too good.")
    console.print()
    show_scores(evaluation.scores, model.classes_.tolist(), console, what="")
