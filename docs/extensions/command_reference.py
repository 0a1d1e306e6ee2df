"""The directive ``commands``: every command with its options, from the program itself, so that it is never old."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def reference() -> str:
    """Return the commands as Markdown: what each does, how it is called, its options."""
    from separatrix.cli.app import app

    return "\n\n".join(section(each.name or each.callback.__name__, each.callback) for each in app.registered_commands)


def section(name: str, function: Any) -> str:
    """Return one command as Markdown."""
    arguments, options = [], []
    for parameter, hint in typing.get_type_hints(function, include_extras=True).items():
        if parameter != "return":
            kind, info = typing.get_args(hint)
            required = inspect.signature(function).parameters[parameter].default is inspect.Parameter.empty
            if type(info).__name__ == "ArgumentInfo":
                called = (info.metavar or parameter).upper()
                arguments.append((called if required else f"[{called}]", info.help))
            else:
                given = [each for each in (info.default, *(info.param_decls or ())) if str(each).startswith("-")]
                flags = ", ".join(given) or flag(parameter, kind)
                options.append((f"{flags} {info.metavar or value(kind)}".strip(), info.help))
    usage = " ".join(["separatrix", name, *(called for called, _ in arguments), *(["[OPTIONS]"] if options else [])])
    rows = [f"| `{left}` | {cell(right)} |" for left, right in arguments + options]
    table = "\n".join(["| argument or option | what it does |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join([f"## {name}", *described(function.__doc__), f"```text\n{usage}\n```", table])


def flag(parameter: str, kind: Any) -> str:
    """Return an option as it is typed."""
    dashed = parameter.replace("_", "-")
    return f"--{dashed}, --no-{dashed}" if kind is bool else f"--{dashed}"


def value(kind: Any) -> str:
    """Return what stands for the value of an option; nothing for a flag."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) in (typing.Union, list):
        kinds = [each for each in typing.get_args(kind) if each is not type(None)]
        return value(kinds[0])
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "\\|".join(str(choice.value) for choice in kind)
    return {bool: "", int: "N", float: "NUMBER", str: "TEXT"}.get(kind, "PATH")


def described(text: str) -> list[str]:
    """Return the help of a command as paragraphs; its examples as code."""
    parts: list[str] = []
    for part in filter(None, map(str.strip, inspect.cleandoc(text).split("\n\n"))):
        if not part.startswith("separatrix "):
            parts.append(part)
        elif parts[-1].startswith("```"):
            parts[-1] = parts[-1].removesuffix("```") + f"{part}\n```"
        else:
            parts.append(f"```sh\n{part}\n```")
    return parts


def cell(text: str | None) -> str:
    """Return a text that fits into a table."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("*", "\\*")


class Commands(SphinxDirective):
    """Puts the reference where it stands."""

    def run(self) -> list[nodes.Node]:
        """Return the reference as parsed text."""
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app: Any) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
