"""Help of commands: options stand in groups, and every option of the table of groups exists."""

from __future__ import annotations

import re

import pytest

from separatrix.cli.grouped_help import GROUPS


@pytest.mark.parametrize("command", ["compare", "report", "export"])
def test_options_stand_in_groups_with_one_example(command, run):
    status, shown, _ = run(command, "--help")
    assert status == 0
    sections = re.findall(r"(?m)^([A-Z]\w+):$", shown)
    assert [title for title in sections if title in GROUPS] == [title for title in GROUPS if title in sections]
    assert (sections[0], sections[-1]) == ("Arguments", "Options")
    others = shown.split("\nOptions:\n")[1]
    assert re.findall(r"--[\w-]+", others) == ["--help"]
    assert len(re.findall(rf"(?m)^\s+separatrix {command} ", shown)) == 1


def test_every_option_of_the_groups_is_one_of_a_command(run):
    commands = ("fit", "predict", "update", "inspect", "report", "compare", "export", "certify", "trace", "plot")
    every = " ".join(run(command, "--help")[1] for command in commands)
    for options in GROUPS.values():
        for option in options:
            assert f"--{option.replace('_', '-')}" in every, option
