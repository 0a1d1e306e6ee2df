"""The command line as a person uses it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from separatrix import __version__, cli, datasets, trace
from separatrix.cli.app import app

COMMAND = [sys.executable, "-c", "from separatrix.cli import main; main()"]


def separatrix(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, **options)


def invoke(*arguments):
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_trace_lecture_000_shows_the_lectures_table():
    shown = invoke("trace", "lecture-000").stdout
    example = datasets.example("lecture-000")
    rows = trace(example.X, example.y, **example.options, **example.view).rows()
    printed = [re.split(r"\s{2,}", line.strip()) for line in shown.splitlines() if re.match(r"\d+ ", line)]
    assert printed == rows
    assert "converged: no mistakes (epoch 3); 3 updates in 3 epochs." in shown
    assert "Final weight (0, 2, -1)." in shown


@pytest.mark.parametrize("name", datasets.names())
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "csv"])
def test_every_example_prints_in_every_format(name, format):
    shown = invoke("trace", name, "--format", format)
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) > 8


def test_a_csv_file_is_traced_exactly(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("a,class,b\n0.1,yes,1\n1/3,no,-2\n", encoding="utf-8")
    shown = invoke("trace", str(file), "--target", "class", "--format", "markdown", "--start", "0,0,1/7").stdout
    assert "(1/10, 1) | yes | (0, 0)" in " ".join(shown.split())
    assert "(1/3, -2) | no |" in " ".join(shown.split())
    assert "| 1/7 | 1/7 | No |" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("delimiter", "options"),
    [(";", []), ("\t", []), ("|", []), (";", ["--delimiter", ";"]), (" ", ["--delimiter", "space"])],
)
def test_the_trace_of_a_file_does_not_depend_on_its_delimiter(tmp_path, delimiter, options):
    rows = [
        ["a", "class", "b", "c"],
        ["0.1", "yes", "1", "1/3"],
        ["1/7", "no", "-2.50", "1e-3"],
        ["3", "yes", "0", "+.5"],
    ]
    traces = []
    for name, mark, more in (("comma.csv", ",", []), ("other.csv", delimiter, options)):
        file = tmp_path / name
        file.write_text("".join(mark.join(row) + "\n" for row in rows), encoding="utf-8")
        traces.append(json.loads(invoke("trace", str(file), "--target", "class", "--json", *more).stdout))
    assert traces[0] == traces[1]
    assert traces[0]["steps"][1]["pattern"] == "(1/7, -5/2, 1/1000)"


def test_chosen_columns_and_standard_input_are_traced_exactly(tmp_path):
    text = "id;a;class;b\n007;0.1;yes;1\n008;1/3;no;-2\n"
    file = tmp_path / "points.csv"
    file.write_text(text, encoding="utf-8")
    for options in (["--exclude", "id"], ["--features", "a,b"]):
        steps = json.loads(invoke("trace", str(file), "--target", "class", "--json", *options).stdout)["steps"]
        assert [step["pattern"] for step in steps[:2]] == ["(1/10, 1)", "(1/3, -2)"]
        ran = subprocess.run(
            [*COMMAND, "trace", "-", "--target", "class", "--json", *options],
            input=text, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(ran.stdout)["steps"] == steps


def test_labels_sort_as_numbers_and_may_look_like_markup(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("a,y\n1,9.0\n-1,10.0\n", encoding="utf-8")
    shown = invoke("trace", str(file), "--target", "y", "--labels", "+-", "--format", "csv").stdout
    assert [line.split(",")[3] for line in shown.splitlines()] == ["y", "-1", "1", "-1", "1"]
    file.write_text("a,y\n1,[/b]\n1e400,[red]\n", encoding="utf-8")
    assert "[/b]" in invoke("trace", str(file), "--target", "y").stdout


def test_the_ending_of_the_output_chooses_the_format(tmp_path):
    for ending, start in ((".html", "<table"), (".tex", "\\begin"), (".csv", "epoch,example"), (".md", "| epoch")):
        file = tmp_path / f"table{ending}"
        invoke("trace", "lecture-004", "--output", str(file))
        assert file.read_text(encoding="utf-8").startswith(start)


def test_output_goes_to_a_file_whole(tmp_path):
    file = tmp_path / "table.tex"
    said = invoke("trace", "lecture-001", "--format", "latex", "--output", str(file))
    assert f"steps written to {file}" in said.stderr
    assert file.read_text(encoding="utf-8").startswith("\\begin{tabular}")
    assert os.listdir(tmp_path) == ["table.tex"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, ["--target", "y"], "there is no file"),
        (None, [], "there is no file"),
        ("", ["--target", "y"], "is empty"),
        ("a,y\n", ["--target", "y"], "has a header line and no rows"),
        ("a,y\n1,2\n", ["--target", "z"], "has no column 'z', which --target names; its columns are a, y"),
        ("a,y\n1,2\n", [], "--target is missing: name the column of .* with the labels"),
        ("a,y\n1,2\nx,3\n", ["--target", "y"], "data.csv, row 2, column 'a': 'x' is not a number"),
        ("a,y\n1,2\n,3\n", ["--target", "y"], "data.csv, row 2, column 'a': the value is missing"),
        ("a,y\n1,2\n1,2,3\n", ["--target", "y"], "data.csv, line 3: 3 cells where the header has 2"),
        ("a,y\n1,\n", ["--target", "y"], "data.csv, row 1, column 'y': the label is missing"),
        ("y\n1\n", ["--target", "y"], "no feature column is left; its columns are y"),
        ("a,y\n1,2\n2,2\n", ["--target", "y"], "examples of two classes are needed; found 1"),
        ("a,y\nnan,2\n2,1\n", ["--target", "y"], "row 1, column 'a': the value is missing"),
        ("a,y\n1,2\n2,1\n", ["--target", "y", "--rule", "adaline"], "rule must be one of"),
        ("a,y\n1,2\n2,1\n", ["--target", "y", "--eta0", "-1"], "eta0 must be a positive finite number; found -1"),
        (
            "a,y\n1,2\n2,1\n",
            ["--target", "y", "--start", "1"],
            r"the start needs 2 numbers in this view \(the weights, then the bias\); found 1",
        ),
        (
            "a,y\n1,2\n2,1\n",
            ["--target", "y", "--eta0", "abc"],
            "--eta0 must be a number such as 1, 0.5 or 1/2; got 'abc'",
        ),
        (
            "a,y\n1,2\n2,1\n",
            ["--target", "y", "--seed", "-1", "--order", "shuffled"],
            "the seed must be a whole number",
        ),
        (b"\xff\xfe\x00", ["--target", "y"], "the text is not utf-16, from about line 1 on; give another --encoding"),
        ('a,y\n"1,2\n', ["--target", "y"], "data.csv, line 2: unclosed quote"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_status_2(tmp_path, content, arguments, message):
    file = tmp_path / "data.csv"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = separatrix("trace", str(file), *arguments)
    assert ran.returncode == 2
    assert re.search(message, ran.stderr), ran.stderr
    assert ran.stderr.startswith("separatrix: ")
    assert ran.stderr.count("\n") == 1
    assert "Traceback" not in ran.stderr


def test_a_folder_and_an_unwritable_place_are_said(tmp_path):
    assert "is a folder" in separatrix("trace", str(tmp_path), "--target", "y").stderr
    ran = separatrix("trace", "lecture-000", "--format", "csv", "--output", str(tmp_path / "no" / "file.csv"))
    assert ran.returncode == 2
    assert "cannot write" in ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_is_said_and_leaves_nothing():
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [*COMMAND, "trace", "lecture-000", "--format", "csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert ran.returncode == 1
    assert ran.stderr == "separatrix: cannot write the output: No space left on device\n"


def test_demo_shows_head_tail_status_and_the_bound():
    shown = invoke("demo").stdout
    made, bound = re.search(r"Mistakes made: (\d+)\. .* = ([\d,]+):", shown).groups()
    assert 0 < int(made) <= int(bound.replace(",", ""))
    assert f"{made} updates in" in shown
    assert "converged: no mistakes (epoch" in shown
    assert "..." in shown


def test_help_and_version_are_there():
    assert "trace" in invoke("--help").stdout
    assert "separatrix trace lecture-000" in invoke("trace", "--help").stdout
    assert invoke("--version").stdout.strip() == f"separatrix {__version__}"
    assert invoke("nonsense").exit_code == 2
    assert callable(cli.main)


# ------------------------------------------------------------------------------------------------ certify, verify


def table(tmp_path, text, name="points.csv"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return str(file)


SEPARABLE = "a,b,class\n0,0,no\n1,0,no\n3,3,yes\n4,2,yes\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("xor", ["not separable", "4 rows 0, 1, 2, 3", "largest margin   none"]),
        ("and", ["strictly separable", "0.353553 to 0.353554", "Lecture 003", "3 rows 1, 2, 3"]),
        ("OR", ["strictly separable", "mistake bound", "27"]),
    ],
)
def test_certify_knows_boolean_functions_by_name(name, words):
    shown = invoke("certify", name)
    assert shown.exit_code == 0
    for word in words:
        assert word in shown.stdout


def test_a_certificate_goes_through_a_file_and_is_checked(tmp_path):
    data, proof = table(tmp_path, SEPARABLE), tmp_path / "proof.json"
    shown = invoke("certify", data, "--target", "class", "--json", str(proof), "--explain")
    assert "strictly separable" in shown.stdout
    assert "No plane has a margin above" in " ".join(shown.stdout.split())
    assert "Certificate written to" in shown.stderr
    checked = invoke("verify", str(proof), data, "--target", "class")
    assert checked.exit_code == 0
    assert checked.stdout.startswith("verified: ")
    other = table(tmp_path, SEPARABLE.replace("4,2", "4,3"), "other.csv")
    rejected = invoke("verify", str(proof), other, "--target", "class")
    assert rejected.exit_code == 1
    assert rejected.stdout.startswith("rejected: ")
    forged = json.loads(proof.read_text())
    forged["margin"]["lower"] *= 1.01
    proof.write_text(json.dumps(forged))
    assert invoke("verify", str(proof), data, "--target", "class").exit_code == 1


def test_json_on_the_screen_is_json_alone(tmp_path):
    data = table(tmp_path, SEPARABLE + "9,9,maybe\n")
    found = json.loads(invoke("certify", data, "--target", "class", "--json", "-").stdout)
    assert [part["positive"] for part in found["rest"]] == ["maybe", "no", "yes"]
    assert len(found["pairs"]) == 3
    model = json.loads(invoke("certify", data, "--target", "class", "--model", "svm", "--json", "-").stdout)
    assert [part["model"] for part in model] == ["LinearSVM"] * 3


@pytest.mark.parametrize("model", ["perceptron", "neuron", "svm"])
@pytest.mark.parametrize("data", ["and", "xor"])
def test_certify_fits_and_certifies_a_model(model, data):
    shown = invoke("certify", data, "--model", model)
    assert shown.exit_code == 0
    assert "training margin" in shown.stdout
    if model == "perceptron":
        assert ("; bound " if data == "and" else "no bound: not strictly separable") in shown.stdout
    if model == "svm":
        assert "above the optimum" in shown.stdout


def test_verify_says_that_a_models_certificate_is_another_thing(tmp_path):
    proof = tmp_path / "model.json"
    invoke("certify", "and", "--model", "svm", "--json", str(proof))
    refused = separatrix("verify", str(proof), "and")
    assert refused.returncode == 2
    assert "certificate of a model" in refused.stderr


def test_several_classes_are_a_table(tmp_path):
    data = table(tmp_path, SEPARABLE + "9,9,maybe\n")
    shown = invoke("certify", data, "--target", "class").stdout
    assert "'yes' vs the rest" in shown
    assert "'no' vs 'yes'" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (
            ["nowhere"],
            "there is no file nowhere, nor a built-in data set of that name; those are penguins, lecture-000, ",
        ),
        (["xor", "--target", "y"], "xor has no column 'y', which --target names; its columns are x1, x2, label"),
        (["DATA"], "--target is missing"),
        (["DATA", "--target", "x"], "no column 'x', which --target names; its columns are a, b, class"),
        (["EMPTY", "--target", "x"], "is empty"),
        (
            ["ONE", "--target", "class"],
            "column 'class' is constant: every row has 'no'; at least two classes are needed",
        ),
        (["TEXT", "--target", "class"], "column 'a' has numbers and also 'x', which is not a number"),
        (["TWICE", "--target", "class"], "two columns called 'a'"),
        (["HUGE", "--target", "class"], "row 1, column 'a': inf is not a finite number"),
        (["UNDERSCORE", "--target", "class"], "column 'a' has numbers and also '1_0'"),
        (["WHOLE", "--target", "class"], "row 1, column 'a': no 64-bit float equals 9007199254740993"),
        (["xor", "--model", "svm", "--tol", "0.1"], "cannot be combined with --model"),
        (["xor", "--tol", "2"], "tol must be"),
        (["xor", "--time-limit", "0"], "time_limit must be"),
        (["xor", "--json", "no/such/folder/proof.json"], "cannot write"),
    ],
)
def test_certify_refuses_with_a_sentence(run, tmp_path, arguments, message):
    files = {
        "DATA": SEPARABLE,
        "EMPTY": "",
        "ONE": "a,class\n1,no\n2,no\n",
        "TEXT": "a,class\nx,no\n1,yes\n2,no\n",
        "TWICE": "a,a,class\n1,2,no\n2,1,yes\n",
        "HUGE": "a,class\n1e400,no\n1,yes\n",
        "UNDERSCORE": "a,class\n1_0,no\n1,yes\n2,no\n",
        "WHOLE": "a,class\n9007199254740993,no\n1,yes\n",
    }
    given = [table(tmp_path, files[word], f"{word}.csv") if word in files else word for word in arguments]
    status, _, messages = run("certify", *given)
    assert status == 2
    assert message in messages
    assert len(messages.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not JSON"), ("[1]", "not a separatrix certificate"), ("\xff", "not JSON")]
)
def test_verify_refuses_what_is_no_certificate(tmp_path, text, message):
    refused = separatrix("verify", table(tmp_path, text, "proof.json"), "xor")
    assert refused.returncode == 2
    assert message in refused.stderr
    missing = separatrix("verify", str(tmp_path / "none.json"), "xor")
    assert missing.returncode == 2
    assert "there is no file" in missing.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_links_are_followed_and_pipes_are_written_to(tmp_path):
    file, link, pipe = tmp_path / "proof.json", tmp_path / "link.json", tmp_path / "pipe"
    file.write_text("old", encoding="utf-8")
    link.symlink_to(file)
    assert invoke("certify", "xor", "--json", str(link)).exit_code == 0
    assert link.is_symlink()
    file.chmod(0o600)
    assert invoke("certify", "xor", "--json", str(link)).exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text(encoding="utf-8"))["separable"] == "none"
    os.mkfifo(pipe)
    with subprocess.Popen([*COMMAND, "certify", "xor", "--json", str(pipe)], stdout=subprocess.DEVNULL) as writing:
        read = subprocess.run(["cat", str(pipe)], capture_output=True, timeout=60)  # open() would wait without end
        assert json.loads(read.stdout)["separable"] == "none"
        assert writing.wait(60) == 0
    assert pipe.is_fifo()


def test_labels_stay_as_they_are_written(tmp_path):
    data = table(tmp_path, "a,class\n0,007\n1,seven\n2,0.5\n")
    found = json.loads(invoke("certify", data, "--target", "class", "--json", "-").stdout)
    assert [part["positive"] for part in found["rest"]] == ["0.5", "007", "seven"]
    fractions = table(tmp_path, "a,class\n0,7\n1,0.5\n", "fractions.csv")
    assert json.loads(invoke("certify", fractions, "--target", "class", "--json", "-").stdout)["positive"] == "7"
    whole = table(tmp_path, "a,class\n0,9\n1,10\n", "whole.csv")
    assert json.loads(invoke("certify", whole, "--target", "class", "--json", "-").stdout)["positive"] == 10
