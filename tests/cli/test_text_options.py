"""Options of text files on the command line: every command that reads a source has them, and hints name them."""

from __future__ import annotations

import bz2
import lzma

import pytest
from typer.testing import CliRunner

from separatrix.cli.app import app
from separatrix.cli.program import COMMANDS

JOBS = ("Private", "State-gov", "Private")
ROWS = [(k % 7 / 2, JOBS[k % 3], k % 5, "<=50K" if k % 7 < 4 else ">50K") for k in range(60)]
TEXT = "".join(", ".join(map(str, row)) + "\n" for row in ROWS)
QUICK = ("--certify", "0", "--epochs", "2")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        return CliRunner().invoke(app, list(words))

    return invoke


def test_every_command_that_takes_a_delimiter_takes_these_options(run):
    named = [name for names in COMMANDS.values() for name in names]
    helps = {name: run(name, "--help").output for name in named}
    reading = {name for name, text in helps.items() if "--delimiter" in text}
    assert {"fit", "predict", "update", "certify", "verify", "trace", "compare", "report", "plot"} <= reading
    for name, text in helps.items():
        assert all((option in text) == (name in reading) for option in ("--no-header", "--no-quotes", "--encoding")), (
            name
        )


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_a_file_without_header_is_fitted_and_predicted_with_the_option_that_the_message_names(
    run, tmp_path, ending, pack
):
    name = f"adult.data{ending}"
    (tmp_path / name).write_bytes(pack(TEXT.encode()))
    refused = run("fit", name, "--target", "c4")
    assert refused.exit_code
    assert "looks like data, not like names of columns" in str(refused.exception)
    assert "give --no-header if it is data" in str(refused.exception)
    fitted = run("fit", name, "--target", "c4", "--no-header", *QUICK)
    assert fitted.exit_code == 0, fitted.output
    assert "60 rows" in fitted.output
    assert (tmp_path / "adult.sx").exists()
    assert run("predict", "adult.sx", name).exit_code
    predicted = run("predict", "adult.sx", name, "--no-header")
    assert predicted.exit_code == 0, predicted.output
    assert len(predicted.stdout.splitlines()) == 61


def test_a_model_of_a_file_without_header_says_so_when_names_are_expected(run, tmp_path):
    (tmp_path / "train.csv").write_text("red,a\nblue,b\n" * 20)
    (tmp_path / "new.csv").write_text("green,b\nblue,a\nred,b\n")
    assert run("fit", "train.csv", "--target", "c2", "--no-header", "-o", "m.sx", *QUICK).exit_code == 0
    message = str(run("predict", "m.sx", "new.csv").exception)
    assert message == (
        "new.csv has no column 'c1', which the model was trained on; its columns are green, b; if its first line is "
        "data, give --no-header"
    )
    assert run("predict", "m.sx", "new.csv", "--no-header", "--unknown", "zero").exit_code == 0
    message = str(run("fit", "new.csv", "--target", "c2").exception)
    assert message.endswith("; if its first line is data, give --no-header")


def test_a_guessed_encoding_is_told_on_standard_error_only(run, tmp_path):
    text = "größe,stadt\n" + "1,Köln\n2,Bonn\n" * 20
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    note = "a.csv: read as windows-1252; give --encoding if that is wrong\n"
    fitted = run("fit", "a.csv", "--target", "stadt", "--json", *QUICK)
    assert fitted.exit_code == 0, fitted.output
    assert note in fitted.stderr
    assert note not in fitted.stdout
    given = run("fit", "a.csv", "--target", "stadt", "--encoding", "latin-1", *QUICK)
    assert "windows-1252" not in given.stderr
    assert "Köln" in given.stdout
    query = run("predict", "a.sx", "a.csv", "--sql", "select * from data", "--keep", "stadt")
    assert note in query.stderr
    assert "Köln" in query.stdout


def test_plain_quotes_are_read_with_the_option_that_the_message_names(run, tmp_path):
    (tmp_path / "sms.tsv").write_text("kind\ttext\n" + 'ham\t"so he said\nspam\tbuy 5" tape\n' * 20)
    assert "give --no-quotes" in str(run("fit", "sms.tsv", "--target", "kind").exception)
    fitted = run("fit", "sms.tsv", "--target", "kind", "--no-quotes", *QUICK)
    assert fitted.exit_code == 0, fitted.output
    assert "40 rows" in fitted.output


def test_an_arff_file_is_fitted_and_predicted(run, tmp_path):
    rows = "".join(f"{k % 7}, {'?' if k % 9 == 0 else k % 3}, '{'a b' if k % 7 < 3 else 'c'}'\n" for k in range(60))
    head = "@relation r\n@attribute x numeric\n@attribute y {0,1,2}\n@attribute 'the class' {'a b', c}\n@data\n"
    (tmp_path / "r.arff").write_text(head + rows)
    fitted = run("fit", "r.arff", "--target", "the class", *QUICK)
    assert fitted.exit_code == 0, fitted.output
    assert "60 rows" in fitted.output
    assert set(run("predict", "r.sx", "r.arff").stdout.split("\n")[1:]) <= {"a b", "c", "", '""'}


def test_opening_a_file_moves_the_bar(tmp_path, monkeypatch):
    from separatrix.cli.options import open_named

    monkeypatch.setattr("separatrix.tables.sources.csv_rows._PIECE", 1000)
    plain = tmp_path / "a.csv"
    plain.write_text("a,b\n" + "1,2\n" * 2000)
    packed = tmp_path / "b.csv.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    for path in (plain, packed):
        told = []
        with open_named(str(path), bar=lambda stage, part, told=told: told.append((stage, part))):
            assert {stage for stage, _ in told} == {"read"}
            assert told[-1][1] == pytest.approx(1.0, abs=0.01)
