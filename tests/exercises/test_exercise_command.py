"""The command ``separatrix exercise``, and the page that shows a sheet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import separatrix as sx
from separatrix.exercises.sheet import listing

PAGE = Path(__file__).parents[2] / "docs" / "exercises.md"


def test_without_a_topic_the_topics_are_listed(run):
    status, printed, messages = run("exercise")
    assert (status, messages) == (0, "")
    for name, sentence in listing().items():
        assert re.search(rf"^{name} +{re.escape(sentence)}", printed, re.MULTILINE)
    assert run("exercise", "--list")[1] == run("exercise", "trace", "--list")[1] == printed


def test_a_sheet_is_printed_as_markdown(run):
    status, printed, messages = run("exercise", "update", "--seed", 5, "--count", 2)
    assert (status, messages) == (0, "")
    assert printed == sx.exercise("update", seed=5, count=2).to_markdown()
    assert run("exercise", "update")[1] == sx.exercise("update", seed=7, count=10).to_markdown()
    assert run("exercise", "trace", "--tie", "--count", 1)[1] == sx.exercise("trace", count=1, tie=True).to_markdown()


@pytest.mark.parametrize(
    ("name", "form"), [("a.md", "markdown"), ("a.tex", "latex"), ("a.html", "html"), ("A.HTM", "html")]
)
def test_the_ending_of_the_file_says_the_format(run, tmp_path, name, form):
    status, printed, messages = run("exercise", "margin", "--count", 2, "--solution", "-o", name)
    assert (status, printed, messages) == (0, "", f"2 exercises written to {name}\n")
    sheet = sx.exercise("margin", count=2)
    assert (tmp_path / name).read_text(encoding="utf-8") == getattr(sheet, f"to_{form}")(solution=True)
    assert run("exercise", "margin", "--count", 2, "--solution", "--format", form)[1] == getattr(sheet, f"to_{form}")(
        solution=True
    )


def test_a_format_goes_before_an_ending(run, tmp_path):
    assert run("exercise", "gate", "--count", 1, "--format", "latex", "-o", "a.txt")[0] == 0
    assert (tmp_path / "a.txt").read_text(encoding="utf-8").startswith(r"\documentclass")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "topic must be one of descent, dual, gate, kkt, margin, scale, separable, trace, update, mixed"),
        (("gate", "--seed", -1), "seed must be a whole number, at least 0; got -1"),
        (("gate", "--seed", "x"), "--seed"),
        (("gate", "--count", 0), "count must be a whole number, at least 1; got 0"),
        (("gate", "--count", 1000), "count must be at most 100; got 1000"),
        (("gate", "--tie"), "tie is an option of the topic trace"),
        (("gate", "--format", "pdf"), "--format"),
        (
            ("gate", "-o", "a.pdf"),
            "-o a.pdf: the ending must be one of .md, .markdown, .tex, .html, .htm, .txt, or give --format",
        ),
        (("gate", "-o", "nowhere/a.md"), "cannot write nowhere/a.md"),
    ],
)
def test_bad_requests_end_with_a_sentence_and_no_file(run, tmp_path, arguments, message):
    status, printed, messages = run("exercise", *arguments)
    assert (status, printed) == (2, "")
    assert message in messages
    assert "Traceback" not in messages
    assert not list(tmp_path.iterdir())


def test_the_page_shows_what_the_command_prints(run):
    text = PAGE.read_text(encoding="utf-8")
    command = re.search(r"<!-- the sheet of: separatrix (.*) -->\n\n", text)
    shown = text[command.end() :]
    status, printed, _ = run(*command[1].split())
    assert status == 0
    assert shown == re.sub(r"^#", "##", printed, flags=re.MULTILINE)
    assert shown.count("### Exercise ") == shown.count("#### Solution") == 10
