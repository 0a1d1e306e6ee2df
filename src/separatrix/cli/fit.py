"""``separatrix fit``: from a source to a model file."""

from __future__ import annotations

import enum
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
    parameters,
    refuse_same,
)


class Model(str, enum.Enum):
    """What can be fitted."""

    averaged = "averaged"
    perceptron = "perceptron"
    voted = "voted"
    pocket = "pocket"
    neuron = "neuron"
    svm = "svm"
    kernel_svm = "kernel-svm"
    network = "network"


def fit(
    source: Source = None,
    target: Target = None,
    model: Annotated[
        Model | None,
        typer.Option(
            help="averaged, perceptron, voted and pocket are perceptrons; neuron is a sigmoid unit; svm has the "
            "largest margin; kernel-svm and network are not linear. [default: averaged]"
        ),
    ] = None,
    test: Annotated[
        float | None, typer.Option(help="The share of rows to hold out and score on; 0 for none. [default: 0.2]")
    ] = None,
    scale: ScaledBy = None,
    epochs: Annotated[
        int | None, typer.Option(help="The most passes over the rows; each model has its own default.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Stop learning after this many seconds.")] = None,
    seed: Annotated[int | None, typer.Option(help="Where the split and the orders come from. [default: 0]")] = None,
    features: Features = None,
    exclude: Exclude = None,
    weight: Annotated[str | None, typer.Option(help="The column that says how often a row counts.")] = None,
    text: Text = None,
    text_method: WordsBy = None,
    missing: Lacking = None,
    max_levels: MaxLevels = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the model, as in C=10; again for each.")
    ] = None,
    certify: Annotated[
        float | None, typer.Option(help="Seconds to look for a proof of (in)separability; 0 for none. [default: 5]")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="How much memory rows may take, as 500MB; beyond it they go to disk. By default most of what is free."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Learn from rows on disk (float32, no certificate) and keep them in this folder for the next run."
        ),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with a model that was cut short, on the same rows.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The model file; by default the source's name with .sx.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Also write a page about the model and these rows, as separatrix report does; ends in .html."
        ),
    ] = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Fit a model to a table, certify it, score it on held-out rows, and write it to a file.

    Numbers are scaled, texts and flags become one number for each value, and all of it is kept in the model, so that
    predict takes raw files. Ctrl-C keeps the model so far, and --resume goes on with it.

      separatrix fit penguins --target species --report penguins.html

      separatrix fit mails.csv --target spam --text subject --model svm -o mails.sx

      separatrix fit --sql "select * from 'a.parquet' join 'b.csv' using (id)" --target label

    Exit status: 0 done; 2 bad input, nothing written; 130 interrupted (with a model file if learning had begun).
    """
    from separatrix.cli.progress import Bar
    from separatrix.cli.report import check_page
    from separatrix.cli.summary import fitted_as_dict, show_fitted
    from separatrix.models.model_file import save
    from separatrix.tables.fit import MemoryBudget, Settings
    from separatrix.tables.fit import fit as run_fit
    from separatrix.tables.memory import parse_size

    before: Any = None
    if resume is not None:
        from separatrix.cli.models import load_table_model

        before = load_table_model(resume)
        asked, settings = _as_before(before, resume, epochs, time_limit, certify)
        refused = {
            "--model": model, "--target": target if target != before.target else None, "--test": test, "--seed": seed,
            "--scale": scale, "--features": features, "--exclude": exclude, "--text": text, "--param": param,
            "--weight": weight, "--missing": missing, "--text-method": text_method, "--max-levels": max_levels,
        }  # fmt: skip
        for option, value in refused.items():
            if value is not None:
                raise ValueError(f"{option} cannot be given with --resume: the model keeps the settings it began with")
    else:
        asked = asked_of(target, features, exclude, weight, text, text_method, missing, scale, max_levels)
        settings = Settings(
            "averaged" if model is None else model.value, 0.2 if test is None else test, epochs, time_limit, seed or 0,
            parameters(param or []), 5.0 if certify is None else certify,
        )  # fmt: skip
    path = output or resume or _default_path(source, sql)
    check_writable(path)
    refuse_same(path, source)
    page = None if report is None else check_page(report)
    refuse_same(page, source, path)
    room = MemoryBudget(None if memory is None else parse_size(memory), cache)
    with Bar() as bar, open_named(source, sql, db, delimiter, frugal=room.is_tight(source)) as opened:
        verbose = 1 if bar.visible else 0
        found = run_fit(opened, asked, settings, room, before=before, watch=bar, verbose=verbose)
        save(found.model, path)
        problem = None
        if page is not None and not found.interrupted:
            problem = _write_report(found, opened, page, bar)
    if json:
        import json as to_text

        written = {} if page is None else {"report": None if problem or found.interrupted else str(page)}
        typer.echo(to_text.dumps({**fitted_as_dict(found, path), **written}))
    else:
        show_fitted(found, path)
        if page is not None and problem is None:
            typer.echo(f"Report written to {page}." if not found.interrupted else _later(path, source, page))
    if found.interrupted:
        raise typer.Exit(130)
    if problem is not None:
        raise ValueError(f"the model is in {path}, but there is no report: {problem}")


def _later(path: Path, source: str | None, page: Path) -> str:
    """Return how to have the report of a model that was interrupted."""
    import shlex

    rows = "SOURCE" if source is None or source == "-" else shlex.quote(source)
    return (
        "No report was written; this writes it for the model so far: "
        f"separatrix report {shlex.quote(str(path))} {rows} -o {shlex.quote(str(page))}"
    )


def _write_report(found: Any, opened: Any, page: Path, bar: Any) -> ValueError | None:
    """Write the report of a model that is in its file already; return what went wrong."""
    from separatrix.tables.report.page import write_report
    from separatrix.tables.report.rows import look

    try:
        seen = look(found.model, opened, trained_on=True, watch=lambda rows, part: bar("answer", rows=rows, part=part))
        write_report(found.model, page, seen, found.certificate)
    except ValueError as problem:
        return problem
    return None


def _as_before(
    before: Any, path: Path, epochs: int | None, time_limit: float | None, certify: float | None
) -> tuple[Any, Any]:
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.fit import Settings

    try:
        kept: dict[str, Any] = before.facts["asked"]
        changed: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in kept.items()}
        asked = ColumnOptions(**changed)
        settings = dict(before.facts["settings"])
        settings["time_limit"] = time_limit
        if epochs is not None:
            settings["epochs"] = epochs
        if certify is not None:
            settings["certify"] = certify
        return asked, Settings(**settings)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} does not say how it was fitted, so it cannot be resumed") from None


def _default_path(source: str | None, sql: str | None) -> Path:
    """Return the source's own name with .sx, in the folder where the command runs."""
    if source is None or source == "-" or sql is not None or any(sign in source for sign in "*?["):
        return Path("model.sx")
    stem = Path(source).name
    for ending in (".gz", ".zst"):
        stem = stem.removesuffix(ending)
    return Path((Path(stem).stem or "model") + ".sx")
