"""``separatrix inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import Json


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    top: Annotated[int, typer.Option(help="How many weights to show.")] = 20,
    json: Json = False,
) -> None:
    """Show a model: weights in the units of the table, what is done to each column, certificate, where it comes from.

    separatrix inspect penguins.sx --top 5
    """
    from separatrix.cli import summary
    from separatrix.cli.writing import console as new_console
    from separatrix.models.model_file import load
    from separatrix.tables.model import TableModel

    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    found = load(model)
    console = new_console()
    if not isinstance(found, TableModel):
        if json:
            import json as to_text

            typer.echo(to_text.dumps({"kind": type(found).__name__}))
            return
        console.print(f"{model}: {found!r}, saved from Python.")
        return
    if json:
        import json as to_text

        facts = summary.fitted_as_dict(_Shown(found), model)
        facts["weights"] = summary.weights_as_dict(found, top)
        facts["preparation"] = _preparation(found.preparation)
        typer.echo(to_text.dumps(facts))
        return
    try:
        _show(found, top, console)
    except (AttributeError, LookupError, TypeError) as problem:
        raise ValueError(f"{model} does not tell what fit writes about a model ({problem!r:.60})") from None


def _show(found: Any, top: int, console: Any) -> None:
    from separatrix.cli import summary
    from separatrix.tables.model import stored_certificate

    facts = found.facts
    console.print(summary.model_line(facts))
    summary.show_rows(facts, console)
    console.print()
    for line in _described(found.preparation):
        console.print(line)
    certificate = stored_certificate(facts)
    if certificate is not None:
        console.print()
        summary.show_separability(certificate, console)
    if "held_out" in facts:
        console.print()
        summary.show_scores(found, console)
    summary.show_weights(found, console, top)
    console.print()
    for change in facts.get("updates", []):
        console.print(f"Updated with {change['rows']:,} rows of {change['source']} ({change['mistakes']:,} mistakes).")
    settings = ", ".join(f"{name}={value!r}" for name, value in facts["settings"].items() if value not in (None, {}))
    console.print(f"Settings: {settings}.")
    console.print(
        f"Written by separatrix {facts['separatrix']}; fingerprint of the source {str(facts.get('fingerprint'))[:16]}, "
        f"of the rows {str(facts.get('data'))[:16]}.",
    )


class _Shown:
    def __init__(self, model: Any) -> None:
        self.model = model


def _described(preparation: Any) -> list[str]:
    """Return what is done to each row, in sentences."""
    from separatrix.tables.preparation import LACKING, SCALING

    lines = []
    scaling = SCALING[preparation.scale]
    if preparation.anonymous:
        return [f"Numbers: {preparation.width:,} without names, {scaling}."]
    numbers = [feature.name for feature in preparation.role("number")]
    if numbers:
        lines.append(f"Numbers, {scaling}: {', '.join(numbers[:20])}{' ...' if len(numbers) > 20 else ''}.")
    for feature in preparation.role("category"):
        levels = ", ".join(feature.levels[:12]) + (" ..." if len(feature.levels) > 12 else "")
        lines.append(f"One number for each value of {feature.name}: {levels}.")
    for feature in preparation.role("text"):
        how = "hashed" if feature.words is None else f"{len(feature.words):,} of them, weighed by rarity"
        lines.append(f"Words and pairs of words of {feature.name}: {how}.")
    lines.append(LACKING[preparation.missing])
    return lines


def _preparation(preparation: Any) -> dict[str, Any]:
    return {
        "missing": preparation.missing,
        "scale": preparation.scale,
        "features": [
            {"name": f.name, "role": f.role, **({"levels": list(f.levels)} if f.levels else {})}
            for f in preparation.features
        ],
    }
