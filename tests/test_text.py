"""Cells of tables as text: what a name or label holds cannot change the table."""

from __future__ import annotations

import time

import pytest

from separatrix.text import latex, latex_cell, markdown


def test_a_markdown_cell_stays_one_cell():
    table = markdown(["a|b"], [["one\ntwo"], ["<b>\\"]])
    assert table.splitlines() == ["| a\\|b    |", "|---------|", "| one two |", "| \\<b>\\\\  |"]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("-1/2", "$-1/2$"),
        ("(0, 2.5, -1e-05)", "$(0, 2.5, -1 \\cdot 10^{-5})$"),
        ("2020-01-01", "2020-01-01"),
        ("[a]", "{[}a{]}"),
        ("*", "{*}"),
        ("()", "$()$"),
    ],
)
def test_only_numbers_and_vectors_are_mathematics(cell, written):
    assert latex_cell(cell) == written
    assert latex(["h"], [[cell]]).splitlines()[4] == written + r" \\"


def test_a_long_cell_takes_no_time():
    begun = time.process_time()
    assert latex_cell("(" + "1" * 50_000 + "x")[:3] == "(11"
    assert time.process_time() - begun < 1.0
