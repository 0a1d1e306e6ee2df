"""Plain help with options and commands in groups: the group is the ``rich_help_panel`` of an option or command."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

OPTIONS = "Options"


class GroupedCommand(TyperCommand):
    """A command whose help lists its options by group."""

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
