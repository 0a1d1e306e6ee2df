"""Commands with plain help in groups: the group is the ``rich_help_panel`` of an option or command."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

OPTIONS = "Options"


class GroupedCommand(TyperCommand):
    """A command whose help lists its options by group."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters and --help."""
        return _taking_plain_values(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each group, in the order in which groups first appear."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            argument = parameter.param_type_name == "argument"
            group = "Arguments" if argument else getattr(parameter, "rich_help_panel", None) or OPTIONS
            groups.setdefault(group, []).append(record)
        if OPTIONS in groups:  # last, as they hold --help
            groups[OPTIONS] = groups.pop(OPTIONS)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class GroupedCommands(TyperGroup):
    """The program, whose help lists its commands by group."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters and --help."""
        return _taking_plain_values(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each group, then the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        for name, command in commands:
            if command is not None and not command.hidden:
                group = getattr(command, "rich_help_panel", None)
                text = command.get_short_help_str(200)
                groups.setdefault(group if isinstance(group, str) else "Commands", []).append((name, text))
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)
        records = [record for p in self.get_params(ctx) if (record := p.get_help_record(ctx)) is not None]
        with formatter.section(OPTIONS):
            formatter.write_dl(records)


def _taking_plain_values(parameters: list[Any]) -> list[Any]:
    """Let parameters take what needs no conversion as it is: recent versions of typer load pydantic for any other."""
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
            parameter.process_value = functools.partial(_processed, parameter, parameter.process_value)
    return parameters


def _processed(parameter: Any, convert: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    kind, several = parameter.type_descriptor.annotation, parameter.multiple or parameter.nargs == -1
    if parameter.required if value is None else several or not _is_plain(value, kind):
        try:
            return convert(ctx, value)
        except BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's word before its message
            raise
    if value is None:
        value = () if several else None
    elif kind is Path:
        value = Path(value)
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)


def _is_plain(value: Any, kind: Any) -> bool:
    """Return whether a value is of its type already, or the name of a file that typer would not refuse."""
    return type(value) is kind or (kind is Path and (os.access(value, os.R_OK) or not os.path.exists(value)))
