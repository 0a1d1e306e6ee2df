"""Help of commands: options are in groups, and each command has an example."""

from __future__ import annotations

import re

import pytest

from separatrix.cli import options
from separatrix.cli.program import COMMANDS

GROUPS = (options.DATA, options.FEATURES, options.MODEL, options.DECISIONS, options.LIMITS, options.OUTPUT)
NAMES = [name for names in COMMANDS.values() for name in names]


@pytest.mark.parametrize("command", [name for name in NAMES if name != "demo"])
def test_every_option_is_in_a_group_and_there_is_an_example(command, run):
    status, shown, _ = run(command, "--help")
    assert status == 0
    sections = re.findall(r"(?m)^([A-Z]\w+):$", shown)
    assert sections[0] == "Arguments"
    assert sections[-1] == "Options"
    assert set(sections[1:-1]) <= set(GROUPS)
    assert re.findall(r"(?m)^  (--[\w-]+)", shown.split("\nOptions:\n")[1]) == ["--help"]
    assert re.search(rf"(?m)^    separatrix {command}", shown)


def test_the_program_lists_every_command_in_its_group(run):
    _, shown, _ = run("--help")
    for group, names in COMMANDS.items():
        section = shown.split(f"\n{group}:\n")[1].split("\n\n")[0]
        assert re.findall(r"(?m)^  (\w+) ", section) == list(names)
