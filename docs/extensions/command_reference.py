"""The directive ``commands``: every command with its options, from the program itself, so that it is never old."""

from __future__ import annotations

import enum
import inspect
import re
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
    hints = typing.get_type_hints(function, include_extras=True)
    for parameter, declared in inspect.signature(function).parameters.items():
        hint = hints[parameter]
        if typing.get_origin(hint) is typing.Union:  # Python 3.10 makes what is None by default optional
            hint = typing.get_args(hint)[0]
        kind, info = typing.get_args(hint)
        if type(info).__name__ == "ArgumentInfo":
            shown = (info.metavar or parameter).upper()
            arguments.append((shown if declared.default is declared.empty else f"[{shown}]", prose(info.help)))
        else:
            given = [each for each in (info.default, *(info.param_decls or ())) if str(each).startswith("-")]
            flags = ", ".join(f"`{each}`" for each in given or flags_of(parameter, kind))
            shown = f" `{info.metavar or value(kind)}`" if info.metavar or value(kind) else ""
            choices = f"One of {', '.join(f'`{each}`' for each in chosen(kind))}. " if chosen(kind) else ""
            options.append((flags + shown, choices + prose(info.help) + default(declared.default, info.help)))
    usage = " ".join(["separatrix", name, *(shown for shown, _ in arguments), *(["[OPTIONS]"] if options else [])])
    rows = [f"| {left} | {right} |" for left, right in [(f"`{shown}`", text) for shown, text in arguments] + options]
    table = "\n".join(["| name | what it does |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join([f"## {name}", *described(function.__doc__), f"```text\n{usage}\n```", table])


def default(given: Any, text: str) -> str:
    """Return what an option is if nobody says, where that is anything and its help does not say so itself."""
    if given is None or isinstance(given, bool) or "default" in text:
        return ""
    return f" [default: {getattr(given, 'value', given)}]"


def flags_of(parameter: str, kind: Any) -> list[str]:
    """Return an option as it is typed, and its opposite where there is one."""
    dashed = parameter.replace("_", "-")
    return [f"--{dashed}", f"--no-{dashed}"] if kind is bool else [f"--{dashed}"]


def plain(kind: Any) -> Any:
    """Return the type of one value of an option: without None, and of a list that of its members."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) in (typing.Union, list):
        return plain(next(each for each in typing.get_args(kind) if each is not type(None)))
    return kind


def chosen(kind: Any) -> list[str]:
    """Return the names between which an option chooses; none where it takes any value."""
    kind = plain(kind)
    return [str(choice.value) for choice in kind] if isinstance(kind, type) and issubclass(kind, enum.Enum) else []


def value(kind: Any) -> str:
    """Return what stands for the value of an option; nothing for a flag."""
    return "NAME" if chosen(kind) else {bool: "", int: "N", float: "NUMBER", str: "TEXT"}.get(plain(kind), "PATH")


def described(text: str) -> list[str]:
    """Return the help of a command as paragraphs; its examples as code."""
    parts: list[str] = []
    for part in filter(None, map(str.strip, inspect.cleandoc(text).split("\n\n"))):
        if not part.startswith("separatrix "):
            parts.append(prose(part))
        elif parts[-1].startswith("```"):
            parts[-1] = parts[-1].removesuffix("```") + f"{part}\n```"
        else:
            parts.append(f"```sh\n{part}\n```")
    return parts


def prose(text: str | None) -> str:
    """Return a text on one line, with options as code and without what Markdown would read as signs of its own."""
    line = re.sub(r"([|*_<])", r"\\\1", " ".join((text or "").split()))
    return re.sub(r"(?<![\w`-])(--[a-z][a-z0-9-]*)", r"`\1`", line)


class Commands(SphinxDirective):
    """Puts the reference where it stands."""

    def run(self) -> list[nodes.Node]:
        """Return the reference as parsed text."""
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app: Any) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
