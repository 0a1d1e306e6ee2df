"""Sheets: the same seed makes the same, all exercises differ, the formats are well formed, bad requests are refused."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import separatrix as sx
from separatrix.exercises.content import Table, linear
from separatrix.exercises.draws import Draws
from separatrix.exercises.formulas import html_formula, html_text, latex_formula, latex_text
from separatrix.exercises.sheet import listing
from separatrix.exercises.topic import CheckError, Topic, check
from separatrix.exercises.topics import topics

TOPICS = [*topics(), "mixed"]

# The first 16 digits of the SHA-256 of ten exercises with solutions, seed 7, as Markdown. They change only when an
# exercise changes; a sheet that a teacher printed can then not be printed again.
PINNED = {
    "descent": "078980fc6357b412",
    "dual": "ee20102281137474",
    "gate": "ceffc9b7f7d7623d",
    "kkt": "04b9fc2046666ce3",
    "margin": "5fb7f0631ec9b75f",
    "scale": "0f2ee3aca256c87d",
    "separable": "55734d0d3c2d7033",
    "trace": "177654d17101e4e3",
    "update": "06147fda1cc9661d",
    "mixed": "d4c8bd6db7824b21",
}


@pytest.fixture(scope="module")
def sheets():
    return {topic: sx.exercise(topic) for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS)
def test_seed_7_makes_the_sheet_that_it_made(topic, sheets):
    text = sheets[topic].to_markdown(solution=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED[topic]


def test_the_sheets_do_not_depend_on_the_process():
    script = "import separatrix as sx; print(ascii(sx.exercise('update').to_html(solution=True)))"
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    assert made.stdout.strip() == ascii(sx.exercise("update").to_html(solution=True))


@pytest.mark.parametrize("topic", TOPICS)
def test_no_two_exercises_of_a_sheet_are_the_same(topic, sheets):
    statements = [exercise.to_markdown().split("\n", 1)[1] for exercise in sheets[topic]]
    assert len(set(statements)) == 10
    assert [exercise.number for exercise in sheets[topic]] == list(range(1, 11))


@pytest.mark.parametrize("topic", ["gate", "update", "descent", "trace", "margin"])
def test_a_hundred_exercises_are_distinct_and_begin_with_the_ten(topic, sheets):
    many = sx.exercise(topic, count=100)
    assert len({repr(exercise.statement) for exercise in many}) == 100
    assert [exercise.statement for exercise in many[:10]] == [exercise.statement for exercise in sheets[topic]]


@pytest.mark.parametrize("topic", ["trace", "update", "margin", "descent", "dual"])
def test_other_seeds_make_other_sheets(topic):
    made = {repr([exercise.data for exercise in sx.exercise(topic, seed=seed, count=3)]) for seed in range(40)}
    assert len(made) == 40


def test_a_mixed_sheet_takes_every_topic_in_turn(sheets):
    assert [exercise.topic for exercise in sheets["mixed"]] == [*topics(), next(iter(topics()))]
    first = next(iter(topics()))
    assert sheets["mixed"][0].data == sheets[first][0].data


def test_ties_are_there_when_asked_for_and_only_then(sheets):
    for tie, sheet in ((True, sx.exercise("trace", tie=True)), (False, sheets["trace"])):
        for exercise in sheet:
            table = next(block for block in exercise.solution if isinstance(block, Table))
            rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
            product = next(name for name in ("`w . x`", "`a`", "`h`") if name in table.head)
            assert any(row[product] == row.get("`theta`", "0") for row in rows) == tie


# ---------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("topic", TOPICS)
def test_markdown_tables_have_as_many_cells_in_every_row(topic, sheets):
    text = sheets[topic].to_markdown(solution=True)
    assert text.count("### Solution") == text.count("## Exercise ") == 10
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert "\\|" not in text
    assert all(len(line) <= 120 for line in re.findall(r"^\|.*$", text, re.MULTILINE))


@pytest.mark.parametrize("topic", TOPICS)
def test_latex_is_a_whole_document(topic, sheets):
    text = sheets[topic].to_latex(solution=True)
    assert text.isascii()
    assert text.startswith(r"\documentclass")
    assert text.endswith("\\end{document}\n")
    assert r"\usepackage" not in text
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    body = text.split(r"\begin{document}")[1]
    assert not re.search(r"(?<!\\)[%#_](?!\{)", body)
    for paragraph in body.split("\n\n"):  # no mathematics goes over a blank line
        assert paragraph.count("$") % 2 == 0
        assert paragraph.count("{") == paragraph.count("}")
        outside = re.sub(r"\$[^$]*\$", "", paragraph)
        assert not re.search(r"[<>^]|\\(?:theta|alpha|cdot|le|sqrt)", outside)
    for columns, rows in re.findall(r"\\begin\{tabular\}\{(l+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        assert {line.count("&") for line in rows.splitlines() if r"\\" in line} == {len(columns) - 1}
    commands = set(re.findall(r"\\([a-zA-Z]+)", body))
    assert commands <= {
        "begin", "end", "Large", "small", "texttt", "section", "subsection", "hline", "theta", "alpha", "beta", "eta",
        "gamma", "cdot", "le", "ge", "leftarrow", "infty", "min", "max", "sqrt",
    }  # fmt: skip


@pytest.mark.parametrize("topic", TOPICS)
def test_html_is_one_file_that_loads_nothing(topic, sheets):
    text = sheets[topic].to_html(solution=True)
    page = ET.fromstring(re.sub(r"<meta[^>]*>", "", text.removeprefix("<!DOCTYPE html>\n")))
    assert len(page.findall(".//section")) == len(page.findall(".//div[@class='solution']")) == 10
    assert not re.search(r"<script|<link|<img|https?:|url\(|@import", text)
    assert "@media print" in text
    assert "`" not in text
    assert not page.findall(".//solution")
    assert "Solution" not in sheets[topic].to_html()


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_solutions_are_there_only_when_asked_for(form, sheets):
    sheet = sheets["trace"]
    assert "Solution" not in getattr(sheet, f"to_{form}")()
    assert getattr(sheet, f"to_{form}")(solution=True).count("Solution") == 10
    one = getattr(sheet[3], f"to_{form}")
    assert "Exercise 4" in one()
    assert one(solution=True).startswith(one()[:20])
    assert one(solution=True) in getattr(sheet, f"to_{form}")(solution=True)


def test_the_sheet_says_how_to_make_it_again(sheets):
    assert sheets["gate"].command == "separatrix exercise gate --seed 7 --count 10"
    assert (
        sx.exercise("trace", seed=3, count=1, tie=True).command == "separatrix exercise trace --seed 3 --count 1 --tie"
    )
    assert (
        r"made by \texttt{separatrix exercise gate -{}-seed 7" in sheets["gate"].to_latex()
    )  # else LaTeX joins the hyphens
    assert repr(sheets["gate"]) == "<Sheet: 10 exercises on gate, seed 7>"
    assert repr(sheets["gate"][1]) == "<Exercise 2: gate>"
    assert sheets["gate"][1]._repr_html_() == sheets["gate"][1].to_html(solution=True)


@pytest.mark.parametrize(
    ("formula", "in_latex", "in_html"),
    [
        ("w . x + b <= 0", r"w \cdot x + b \le 0", "<i>w</i> · <i>x</i> + <i>b</i> ≤ 0"),
        ("theta <- theta - eta (t - y)", r"\theta \leftarrow \theta - \eta (t - y)",
         "<i>θ</i> ← <i>θ</i> \u2212 <i>η</i>\u202f(<i>t</i> \u2212 <i>y</i>)"),
        ("w1' = -1/2", "w_{1}' = -1/2", "<i>w</i><sub>1</sub>\u2032 = \u22121/2"),
        ("|x|^2 = 2.5 * 3", r"|x|^{2} = 2.5 \cdot 3", "|<i>x</i>|<sup>2</sup> = 2.5 · 3"),
        ("1 / |w| = sqrt(5/4)", r"1 / |w| = \sqrt{5/4}", "1 / |<i>w</i>| = √(5/4)"),
        ("max(0, 1 - y a) != inf", r"\max (0, 1 - y a) \ne \infty", "max(0, 1 \u2212 <i>y</i>\u202f<i>a</i>) ≠ ∞"),
        ("2 x1 > 3", "2 x_{1} > 3", "2\u202f<i>x</i><sub>1</sub> &gt; 3"),
    ],
)  # fmt: skip
def test_formulas_in_latex_and_html(formula, in_latex, in_html):
    assert latex_formula(formula) == in_latex
    assert html_formula(formula) == in_html


def test_texts_are_escaped_outside_formulas():
    assert latex_text("50% of A_1 & {B} < `x`") == r"50\% of A\_1 \& \{B\} $<$ $x$"
    assert html_text("a < b & `x`") == 'a &lt; b &amp; <span class="f short"><i>x</i></span>'
    with pytest.raises(ValueError, match="has no end"):
        latex_text("a `b")


def test_linear_expressions_read_as_one_writes_them():
    assert linear((-1, 1), -1) == "-x1 + x2 - 1"
    assert linear((0, 0), 3) == "3"


# ---------------------------------------------------------------------------------------------- draws and errors


def test_draws_are_splitmix64_and_never_change():
    draws = Draws("x")
    draws._state = 1234567
    assert [draws._next() for _ in range(3)] == [  # the reference values of SplitMix64
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip


def test_draws_are_in_range_and_even():
    draws = Draws("even")
    counts = np.bincount([draws.between(-3, 3) + 3 for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 1000).max() < 150
    assert sorted(draws.shuffled(range(20))) == list(range(20))
    assert len(set(draws.points(9, 0, 2))) == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topic": "xor"}, r"topic must be one of descent, dual, .*, update, mixed; got 'xor'"),
        ({"topic": ""}, "topic must be one of"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
        ({"seed": 1.5}, "seed must be a whole number, at least 0; got 1.5"),
        ({"seed": True}, "seed must be a whole number"),
        ({"seed": None}, "seed must be a whole number, at least 0; got None"),
        ({"seed": "7"}, "seed must be a whole number, at least 0; got '7'"),
        ({"count": 0}, "count must be a whole number, at least 1; got 0"),
        ({"count": 101}, "count must be at most 100; got 101"),
        ({"tie": True}, "tie is an option of the topic trace; got the topic gate"),
        ({"topic": "mixed", "tie": True}, "tie is an option of the topic trace; got the topic mixed"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        sx.exercise(**{"topic": "gate", **arguments})


def test_numpy_numbers_are_numbers():
    sheet = sx.exercise("gate", seed=np.int64(3), count=np.int32(2))
    assert sheet.to_markdown() == sx.exercise("gate", seed=3, count=2).to_markdown()


def test_a_solution_whose_check_fails_is_not_shown(monkeypatch):
    class Wrong:
        activation, updated, weights, bias = 99, True, (0, 0), 0

    monkeypatch.setattr("separatrix.insight.trace.trace", lambda *_, **__: [Wrong()])
    with pytest.raises(CheckError, match="its check failed: the decision of"):
        sx.exercise("update", count=1)
    check(True, "nothing")


def test_a_topic_that_runs_dry_says_so():
    dry = Topic("dry", "", "", lambda draws: {"same": 1}, lambda data: None)
    seen: set[str] = set()
    assert dry.suitable(Draws("x"), seen, 5) == {"same": 1}
    with pytest.raises(RuntimeError, match="no new exercise on dry in 5 draws"):
        dry.suitable(Draws("x"), seen, 5)


def test_every_topic_has_a_name_like_its_file_and_a_sentence():
    for name, topic in topics().items():
        assert topic.name == name
        assert topic.draw.__module__ == f"separatrix.exercises.topics.{name}"
        assert topic.sentence.endswith((".", "?"))
    assert list(listing()) == TOPICS
