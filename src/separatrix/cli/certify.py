"""``separatrix certify`` and ``separatrix verify``: proofs about data and models, and their check."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import (
    DATA,
    LIMITS,
    MODEL,
    OUTPUT,
    Db,
    Delimiter,
    Exclude,
    Features,
    Source,
    Sql,
    Target,
    open_named,
    target_of,
)
from separatrix.cli.writing import read_text, say, show_certificate, show_check, waiting
from separatrix.files import write_text


class Model(str, enum.Enum):
    """Which model is certified."""

    perceptron = "perceptron"
    neuron = "neuron"
    svm = "svm"


def certify(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A source as for fit, or a model file (.sx) whose rows are then certified as the model scales them."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Argument(help="Rows for a model file; without them the certificate in it is shown.")
    ] = None,
    target: Target = None,
    model: Annotated[
        Model | None,
        typer.Option(help="Fit this model with its defaults and certify it, not the data.", rich_help_panel=MODEL),
    ] = None,
    intercept: Annotated[bool, typer.Option(help="Allow an intercept.", rich_help_panel=MODEL)] = True,
    tol: Annotated[
        float | None,
        typer.Option(help="Relative width of the bracket of the margin. [default: 0.001]", rich_help_panel=LIMITS),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds; what is not decided by then stays undecided.", rich_help_panel=LIMITS),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", rich_help_panel=MODEL)] = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the proof in words instead of a table.", rich_help_panel=OUTPUT)
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="Write the certificate to this file ('-': print only the certificate).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
) -> None:
    """Decide whether the classes are linearly separable, and prove it.

    The verdict is "strictly separable", "weakly separable" (every row on its side or on the plane), "not separable",
    or "not decided". Rows are counted from 0, without the header and without rows with missing values. Numbers in a
    file are read as the nearest 64-bit floats, and the proof is about these; categories are one-hot encoded.

    For example:

      separatrix certify xor

      separatrix certify points.csv --target class --json proof.json

      separatrix certify points.csv --target class --model perceptron

      separatrix certify penguins.sx penguins
    """
    from separatrix.certificates.certifying import certify as run_certify

    if model is not None and (tol is not None or time_limit is not None):
        raise ValueError("--tol and --time-limit are for certificates of data; they cannot be combined with --model")
    if json is not None and str(json) != "-":
        guard().writes(json, "--json")
    if data is not None and data.lower().endswith(".sx"):
        if model is not None or target is not None or features or exclude:
            raise ValueError(
                "--model, --target, --features and --exclude are for data; a model file has its own target and features"
            )
        certificate: Any = _of_model(Path(data), source, sql, db, delimiter, tol, time_limit, seed)
    else:
        if source is not None:
            raise ValueError(f"{data} is not a model file (.sx); a second source is only for model files")
        X, y = _read(data, target, sql, db, delimiter, features, exclude)
        with waiting("searching for a proof"):
            if model is None:
                given: dict[str, Any] = {} if tol is None else {"tol": tol}
                certificate = run_certify(
                    X, y, time_limit=time_limit, fit_intercept=intercept, random_state=seed, **given
                )
            else:
                certificate = _fitted(model, X, y, intercept, seed).certificate_
    if json is not None:
        from separatrix.certificates.model import all_to_json

        text = all_to_json(certificate) if isinstance(certificate, dict) else certificate.to_json()
        if str(json) == "-":
            typer.echo(text)
            return
        write_text(json, text + "\n")
    show_certificate(certificate, explain=explain)
    if json is not None:
        say(f"Certificate written to {json}.", err=True)


def verify(
    certificate: Annotated[Path, typer.Argument(help="Certificate (JSON), as certify writes it.")],
    data: Source = None,
    target: Target = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Model file: check the rows as it scales them, as certify MODEL does.", rich_help_panel=DATA),
    ] = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Check every claim of a certificate against the data.

    For example:

      separatrix verify proof.json points.csv --target class

    Exit status: 0 every claim holds; 1 a claim does not hold; 2 invalid input.
    """
    from separatrix.certificates.multiclass import from_json

    claims = from_json(read_text(certificate))
    if model is not None:
        if target is not None or features or exclude:
            raise ValueError(
                "--target, --features and --exclude cannot be combined with --model: the model has its own"
            )
        X, y = _prepared(model, data, sql, db, delimiter)
    else:
        X, y = _read(data, target, sql, db, delimiter, features, exclude)
    with waiting("checking"):
        check = claims.verify(X, y)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"verified": bool(check), "problems": list(check.problems)}))
    else:
        show_check(claims, check)
    raise typer.Exit(0 if check else 1)


def _of_model(
    path: Path, source: str | None, sql: str | None, db: str | None, delimiter: str | None, tol: float | None,
    time_limit: float | None, seed: int,
) -> Any:  # fmt: skip
    from separatrix.certificates.certifying import certify as run_certify
    from separatrix.cli.models import load_table_model

    if source is None and sql is None:
        certificate = load_table_model(path).certificate
        if certificate is None:
            raise ValueError(f"{path} has no certificate; name its rows to certify them")
        say(f"The certificate stored in {path}, not checked here: name its rows to certify them again.", err=True)
        return certificate
    X, y = _prepared(path, source, sql, db, delimiter)
    given: dict[str, Any] = {} if tol is None else {"tol": tol}
    with waiting("searching for a proof"):
        return run_certify(X, y, time_limit=time_limit, random_state=seed, **given)


def _prepared(
    path: Path, source: str | None, sql: str | None, db: str | None, delimiter: str | None
) -> tuple[Any, Any]:
    """Return all complete rows of a source as a model sees them, and their labels."""
    from separatrix.cli.models import load_table_model
    from separatrix.tables.whole import read_prepared

    model = load_table_model(path)
    with open_named(source, sql, db, delimiter) as opened:
        return read_prepared(model, opened)


def _fitted(model: Model, X: Any, y: Any, intercept: bool, seed: int) -> Any:
    import warnings

    import separatrix
    from separatrix.estimators.contract import ConvergenceWarning

    kinds = {Model.perceptron: "Perceptron", Model.neuron: "Neuron", Model.svm: "LinearSVM"}
    estimator = getattr(separatrix, kinds[model])(fit_intercept=intercept, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says how good the model is
        return estimator.fit(X, y)


def _read(
    data: str | None, target: str | None, sql: str | None, db: str | None, delimiter: str | None,
    features: list[str] | None, exclude: list[str] | None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the rows of a source as floats, and their labels."""
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.whole import read_whole

    options = ColumnOptions(
        target_of(data, target), tuple(features or ()), tuple(exclude or ()), missing="drop", detect=False
    )
    with open_named(data, sql, db, delimiter) as opened:
        whole = read_whole(opened, options, exact=True)
    if whole.dropped:
        say(f"{whole.dropped:,} rows dropped (missing values)", err=True)
    return whole.X, whole.y
