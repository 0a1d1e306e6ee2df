"""``separatrix fit``: from a source to a model file."""

from __future__ import annotations

import enum
import shlex
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.fit_options import (
    Calibrate,
    ClassWeight,
    Folds,
    Positive,
    Split,
    Test,
    ThresholdText,
    Tune,
    Within,
    as_before,
    share_or_file,
    with_record,
)
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
    open_named,
    parameters,
    target_of,
)
from separatrix.cli.text_options import words_for
from separatrix.cli.writing import pasted, say
from separatrix.rules.losses import LOSSES
from separatrix.stops.text import FORMS, SCHEDULE
from separatrix.tables.kinds import DEFAULT, MODELS, ONLINE

Model = enum.Enum("Model", {name: name for name in MODELS}, type=str)  # type: ignore[misc]
_LATER = "for the model so far"


def fit(
    source: Source = None,
    target: Target = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    weight: Annotated[str | None, typer.Option(help="Column with the sample weights.", rich_help_panel=DATA)] = None,
    test: Test = None,
    split: Split = None,
    features: Features = None,
    exclude: Exclude = None,
    scale: ScaledBy = None,
    missing: Lacking = None,
    text: Text = None,
    text_method: WordsBy = None,
    max_levels: MaxLevels = None,
    category: Category = None,
    number: Number = None,
    date: Date = None,
    decimal: Decimal = None,
    dates: DatesBy = None,
    target_encode: TargetEncode = None,
    model: Annotated[
        Model | None,
        typer.Option(
            help="Perceptrons: averaged, perceptron (last weights), voted, pocket. logistic: logistic regression; "
            "neuron: sigmoid unit by gradient descent on the log loss (--param loss=squared: Lecture 002). svm: "
            "maximum margin; online-svm: the same, row by row; pa: passive-aggressive, averaged; arow, scw, "
            "nherd: confidence-weighted, row by row; romma, alma: towards a large margin, row by row; sop: "
            "second-order perceptron. Not linear: kernel-svm, network, kernel-perceptron. "
            "[default: logistic; averaged with --epochs, --stop or --record, and where rows do not fit into memory]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(help="Parameter of the estimator, such as C=10; may be repeated.", rich_help_panel=MODEL),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="Maximum number of epochs. [default: depends on the model]", rich_help_panel=MODEL),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            help=f"When to stop training, besides the limits: one or more of {FORMS}, joined with |; {SCHEDULE} (LOSS: "
            f"{', '.join(LOSSES)}). [default: depends on the model; epochs and time alone are added to it]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            help=f"Record this loss of the training rows after each epoch, for plot --kind loss: {', '.join(LOSSES)}.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    every: Annotated[
        int | None, typer.Option(help="Record it every so many epochs. [default: 1]", rich_help_panel=MODEL)
    ] = None,
    class_weight: ClassWeight = None,
    calibrate: Calibrate = None,
    threshold: ThresholdText = None,
    positive: Positive = None,
    tune: Tune = False,
    within: Within = None,
    cv: Folds = None,
    seed: Annotated[int | None, typer.Option(help="Random seed. [default: 0]", rich_help_panel=MODEL)] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Resume an interrupted model on the same rows.", rich_help_panel=MODEL)
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Stop training after this many seconds, each fit where there are several.", rich_help_panel=LIMITS
        ),
    ] = None,
    certify: Annotated[
        float | None,
        typer.Option(
            help="Seconds for the certificate of linear separability; 0 for none. [default: a tenth of the fit's time, "
            "at least 0.2 and at most 5]",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory for rows, such as 500MB; beyond it they are kept on disk. [default: most of what is free]",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Train on rows on disk (no certificate) and keep them in this folder for the next run.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Train svm or logistic on the workers of this Dask scheduler (tcp://host:8786), whose machines share "
            "the folder of --cache.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="The same, on so many Dask workers on this machine.", rich_help_panel=LIMITS),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Model file. [default: the source's name with .sx]", rich_help_panel=OUTPUT
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML report (see separatrix report).", rich_help_panel=OUTPUT)
    ] = None,
    json: Json = False,
) -> None:
    """Fit a model to a table: train, score on a test set, certify.

    Numbers are scaled and categories one-hot encoded. The model file holds these steps, so predict reads raw files.
    Ctrl-C keeps the model trained so far; --resume continues it.

    For example:

      separatrix fit penguins --target species --report penguins.html

      separatrix fit mails.csv --target spam --text subject --model svm -o mails.sx

      separatrix fit points.csv --target class --model perceptron --stop "no-mistakes | flat:5 | time:10"

      separatrix fit claims.csv --target fraud --model svm --tune --threshold cost=20:1 --split time:date

      separatrix fit --sql "select * from 'a.parquet' join 'b.csv' using (id)" --target label

    Exit status: 0 success; 2 invalid input, nothing written; 130 interrupted (a model file is written if training had
    begun).
    """
    from separatrix.cli.progress import Bar
    from separatrix.cli.report import check_page
    from separatrix.cli.summary import model_as_dict, show_fit
    from separatrix.models.model_file import save
    from separatrix.tables.fit import fit as run_fit
    from separatrix.tables.memory import parse_size
    from separatrix.tables.settings import MemoryBudget, Settings

    before: Any = None
    if resume is not None:
        from separatrix.cli.models import load_table_model, replacing

        if output is None or output.resolve() == resume.resolve():
            replacing(resume)
        before = load_table_model(resume)
        options, settings = as_before(before, resume, epochs, time_limit, certify, stop)
        refused = {
            "--model": model, "--target": target if target != before.target else None, "--test": test, "--seed": seed,
            "--scale": scale, "--features": features, "--exclude": exclude, "--text": text, "--param": param,
            "--record": record, "--every": every,
            "--weight": weight, "--missing": missing, "--text-method": text_method, "--max-levels": max_levels,
            "--category": category, "--number": number, "--date": date, "--dates": dates,
            "--target-encode": target_encode, "--decimal": decimal,
            "--split": split, "--class-weight": class_weight, "--calibrate": calibrate, "--threshold": threshold,
            "--positive": positive, "--tune": tune or None, "--within": within, "--cv": cv,
        }  # fmt: skip
        for option, value in refused.items():
            if value is not None:
                raise ValueError(f"{option} cannot be combined with --resume: the model keeps its settings")
    else:
        options = asked_of(
            target_of(source, target),
            features,
            exclude,
            weight,
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
        share, file = share_or_file(test, split)
        online = any(value is not None for value in (epochs, stop, record))
        settings = Settings(
            model.value if model is not None else ONLINE if online else DEFAULT, share, epochs, time_limit, seed or 0,
            with_record(parameters(param or []), record, every), certify, stop, class_weight,
            None if calibrate is None else calibrate.value, threshold, positive, cv, file, tune, within,
        )  # fmt: skip
    path = output or resume or _default_path(source, sql)
    guard().writes(path)
    page = None if report is None else check_page(report, "--report")
    budget = MemoryBudget(None if memory is None else parse_size(memory), cache, _cluster(cluster, workers))
    with ExitStack() as stack:
        bar = stack.enter_context(Bar())
        opened = stack.enter_context(open_named(source, sql, db, delimiter, frugal=budget.is_tight(source), bar=bar))
        tested = None
        if settings.test_file is not None:
            tested = stack.enter_context(open_named(settings.test_file, delimiter=delimiter, bar=bar))
        verbose = 1 if bar.visible else 0
        result = run_fit(
            opened,
            options,
            settings,
            budget,
            test_source=tested,
            before=before,
            on_disk_model=ONLINE if model is None and before is None else None,
            watch=bar,
            verbose=verbose,
        )
        save(result.model, path)
        problem = None
        if page is not None and not result.interrupted:
            problem = _write_report(result, opened, page, bar)
    if json:
        import json as to_text

        written = {} if page is None else {"report": None if problem or result.interrupted else str(page)}
        typer.echo(to_text.dumps({**model_as_dict(result.model, path), **written}))
    else:
        words = words_for(source, sql, db, delimiter)
        kept = {"--memory": memory, "--cache": cache}
        limits = [word for option, value in kept.items() if value is not None for word in (option, str(value))]
        again = ["separatrix", "fit", *words, *limits, "--resume", pasted(path)]
        show_fit(result, path, shlex.join(again))
        if page is not None and problem is None:
            later = shlex.join(["separatrix", "report", pasted(path), *words, "-o", pasted(page)])
            say(f"Report written to {page}." if not result.interrupted else f"No report written; {_LATER}: {later}")
    if result.interrupted:
        raise typer.Exit(130)
    if problem is not None:
        raise ValueError(f"the model is in {path}, but there is no report: {problem}")


def _cluster(address: str | None, workers: int | None) -> Any:
    if address is None and workers is None:
        return None
    from separatrix.tables.disk.cluster import Cluster

    return Cluster(address, workers or 0)


def _write_report(result: Any, opened: Any, page: Path, bar: Any) -> ValueError | None:
    """Write the report of a model that is in its file already; return what went wrong."""
    from separatrix.tables.report.page import write_report
    from separatrix.tables.report.rows import inspect_rows

    try:
        seen = inspect_rows(
            result.model, opened, trained_on=True, watch=lambda rows, part: bar("predict", rows=rows, part=part)
        )
        write_report(result.model, page, seen, result.certificate)
    except ValueError as problem:
        return problem
    return None


def _default_path(source: str | None, sql: str | None) -> Path:
    """Return the source's name with .sx, in the current folder."""
    if source is None or source == "-" or sql is not None or any(sign in source for sign in "*?["):
        return Path("model.sx")
    stem = Path(source).name
    for ending in (".gz", ".zst", ".bz2", ".xz"):
        stem = stem.removesuffix(ending)
    return Path((Path(stem).stem or "model") + ".sx")
