"""``separatrix studio``: the studio in the browser, with the rows of a source."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from separatrix.cli.labelled_rows import read_labelled
from separatrix.cli.options import DATA, MODEL, OUTPUT, Db, Delimiter, Source, Sql, Target
from separatrix.cli.report import check_page
from separatrix.cli.writing import say
from separatrix.files import write_text


def studio(
    source: Source = None,
    target: Target = None,
    x: Annotated[
        str | None, typer.Option("--x", help="Column that runs across. [default: the first]", rich_help_panel=DATA)
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", help="Column that runs up. [default: the second]", rich_help_panel=DATA)
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Label of class 1; the others are class 0. [default: the last]", rich_help_panel=DATA),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Model file: begin with its algorithm and parameters.", rich_help_panel=MODEL),
    ] = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 is a free one.", rich_help_panel=OUTPUT)] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.", rich_help_panel=OUTPUT)] = True,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the page to this HTML file, and serve nothing.", rich_help_panel=OUTPUT
        ),
    ] = None,
) -> None:
    """Open the studio: linear classifiers that learn on two columns, one example at a time, forwards and backwards.

    The page runs the compiled core. It is served to this machine alone, under a random address, until Ctrl-C; what only
    Python does, exact certificates and model files, it asks the server for. With -o it becomes one HTML file that needs
    no server and no network.

    For example:

      separatrix studio penguins --target species --x bill_length_mm --y bill_depth_mm --positive Gentoo

      separatrix studio -o studio.html

    Serving needs Starlette and uvicorn: pip install 'separatrix[studio]'.
    """
    from separatrix.studio.page import html

    state = None
    if source is not None or sql is not None or db is not None:
        state = _state(source, target, sql, db, delimiter, x, y, positive)
    elif any(option is not None for option in (target, x, y, positive, model)):
        raise ValueError("--target, --x, --y, --positive and --model are about a source of rows: name one")
    if state is not None and model is not None:
        state["model"] = _algorithm(model)
    if output is not None:
        write_text(check_page(output), html(state))
        say(f"Page written to {output}.")
        return
    if not 0 <= port < 65536:
        raise ValueError(f"--port must be from 0 to 65535; found {port}")
    try:
        from separatrix.studio.server import serve
    except ImportError as problem:
        raise ValueError(
            f"serving the studio needs {problem.name}: pip install 'separatrix[studio]', or write the page to a file "
            "with -o studio.html"
        ) from None

    def ready(address: str) -> None:
        say(f"The studio is at {address}\nCtrl-C ends it.")
        if browser:
            webbrowser.open(address)

    with suppress(KeyboardInterrupt):  # the end of a server, not an accident
        serve(state, port=port, ready=ready)


def _state(
    source: str | None, target: str | None, sql: str | None, db: str | None, delimiter: str | None, x: str | None,
    y: str | None, positive: str | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the two chosen columns of the complete rows."""
    from separatrix.studio.points import state_of

    rows = read_labelled(source, target, sql, db, delimiter, [x, y] if x and y else None, None)
    chosen: list[int] = []
    for place, name in ((0, x), (1, y)):
        if name is not None and name not in rows.names:
            raise ValueError(f"--{'xy'[place]} {name}: no such column of numbers; there are {', '.join(rows.names)}")
        if name is None and len(rows.names) <= place:
            raise ValueError(f"two columns of numbers are needed; there is {', '.join(rows.names) or 'none'}")
        chosen.append(rows.names.index(name if name is not None else rows.names[place]))
    if chosen[0] == chosen[1]:
        raise ValueError(f"--x and --y are the same column, {rows.names[chosen[0]]}")
    X = (
        rows.X.tocsc()[:, chosen].toarray()
        if hasattr(rows.X, "tocsc")
        else [[row[k] for k in chosen] for row in rows.X]
    )
    pairs = [[float(value) for value in row] for row in X]
    return state_of(pairs, rows.y, [rows.names[place] for place in chosen], positive)


def _algorithm(path: Path) -> dict[str, Any]:
    """Return the estimator in a model file by its name, with those of its parameters that JSON can hold."""
    from separatrix.cli.models import load_model
    from separatrix.studio.points import ESTIMATORS

    loaded: Any = load_model(path)
    estimator = getattr(loaded, "estimator", loaded)
    name = type(estimator).__name__
    if name not in ESTIMATORS:
        raise ValueError(f"{path} holds a {name}; the studio has {', '.join(ESTIMATORS)}")
    parameters = estimator.get_params(deep=False).items()
    plain: dict[str, Any] = {key: value for key, value in parameters if isinstance(value, bool | int | float | str)}
    if isinstance(init := estimator.get_params(deep=False).get("init"), tuple | list):
        plain["init"] = [np.ravel(part).tolist() for part in init]
    return {"estimator": name, "parameters": plain}
