"""No command writes over a file that it reads, however either is named."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROWS = "a,b,kind\n" + "".join(f"{k % 7},{(k * 5) % 11}.5,{'xy'[k % 2]}\n" for k in range(40))
MAIN = "from separatrix.cli import main; main()"


@pytest.fixture
def files(run):
    """Return the content of a folder with data, a model, a certificate, a picture and Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    Path("v.csv").write_text(ROWS)
    Path("v.svg").write_text(ROWS)
    Path("v.html").write_text(ROWS)
    Path("folder").mkdir()
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0] * 5, "kind": ["x", "y", "y", "x"] * 5})
    parquet.write_table(table, "folder/x.parquet")
    os.link("v.csv", "hard.csv")
    os.symlink("v.csv", "soft.csv")
    assert run("fit", "v.csv", "--target", "kind", "--model", "averaged", "-o", "m.sx", "--certify", "0")[0] == 0
    assert run("certify", "v.csv", "--target", "kind", "--json", "c.json", "--time-limit", "2")[0] == 0
    return contents()


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        "fit v.csv --target kind -o v.csv",
        "fit ./v.csv --target kind -o hard.csv",
        "fit v.csv --target kind -o soft.csv",
        "fit soft.csv --target kind -o v.csv",
        "fit v.cs* --target kind -o v.csv",
        "fit v.[c]sv --target kind -o v.csv",
        "fit v.html --target kind --report v.html",
        "fit v.csv --target kind --sql SELECT_DATA -o v.csv",
        "fit --target kind --sql SELECT_FILE -o v.csv",
        "fit --target kind --sql READ_CSV -o v.csv",
        "fit --target kind --sql JOINED -o hard.csv",
        "fit folder --target kind -o folder/x.parquet",
        "fit folder --target kind -o folder/new.parquet",
        "fit folder/*.parquet --target kind -o folder/new.parquet",
        "predict m.sx v.csv -o v.csv",
        "predict m.sx v.csv -o hard.csv",
        "predict m.sx --sql SELECT_FILE -o v.csv",
        "update m.sx v.csv -o v.csv",
        "update m.sx --sql SELECT_FILE -o v.csv",
        "certify v.csv --target kind --json v.csv",
        "certify m.sx v.csv --json m.sx",
        "certify m.sx v.csv --json v.csv",
        "certify m.sx --json m.sx",
        "certify --sql SELECT_FILE --target kind --json v.csv",
        "trace v.csv --target kind --max-iter 1 -o v.csv",
        "trace --sql SELECT_FILE --target kind --max-iter 1 -o v.csv",
        "plot m.sx v.svg -o v.svg",
        "report m.sx v.html -o v.html",
        "compare v.svg --target kind --models tree --certify 0 --plot v.svg",
        "export m.sx --to json -o m.sx",
        "export m.sx --to sql -o m.sx",
    ],
)
def test_an_output_that_is_an_input_is_refused_and_nothing_changes(files, run, command):
    queries = {
        "SELECT_DATA": "select * from data",
        "SELECT_FILE": "select * from 'v.csv'",
        "READ_CSV": "select * from read_csv('v.cs' || '*')",
        "JOINED": "select l.* from 'folder/x.parquet' l cross join (from 'v.csv' limit 1) r",
    }
    status, out, err = run(*(queries.get(word, word) for word in command.split()))
    assert (status, out) == (2, ""), err
    assert "overwrite the input" in err or "one of the files of the input" in err, err
    assert len(err.strip().splitlines()) == 1
    assert contents() == files


@pytest.mark.skipif(os.name == "nt", reason="opens standard input by a shell's redirection")
@pytest.mark.parametrize(
    ("arguments", "into"),
    [
        (["fit", "-", "--target", "kind", "-o", "v.csv"], None),
        (["fit", "-", "--target", "kind", "-o", "hard.csv"], None),
        (["predict", "m.sx", "-", "-o", "v.csv"], None),
        (["predict", "m.sx", "v.csv"], "v.csv"),  # as in >> v.csv
        (["export", "m.sx", "--to", "c"], "m.sx"),
    ],
)
def test_standard_input_and_output_are_files_like_others(files, arguments, into):
    with open("v.csv", "rb") as given, open(into or os.devnull, "ab") as out:
        done = subprocess.run([sys.executable, "-c", MAIN, *arguments], stdin=given, stdout=out, stderr=-1, text=True)
    assert done.returncode == 2
    assert "would overwrite the input standard input" in done.stderr or "standard output is the input" in done.stderr
    assert contents() == files


def test_a_model_may_be_replaced_by_its_own_update(files, run):
    assert run("update", "m.sx", "v.csv")[0] == 0
    assert run("update", "m.sx", "v.csv", "-o", "./m.sx")[0] == 0
    assert run("fit", "v.csv", "--target", "kind", "-o", "m.sx")[0] == 0  # an old output is no input


def test_two_options_cannot_name_one_file(files, run):
    arguments = ["compare", "v.csv", "--target", "kind", "--models", "tree", "--plot", "n.png", "--scaling", "./n.png"]
    assert "--plot and --scaling both name n.png" in run(*arguments)[2]
    assert "-o and --report both name n.html" in run(
        "fit", "v.csv", "--target", "kind", "-o", "n.html", "--report", "n.html"
    )[2]  # fmt: skip


def test_a_model_that_changed_since_it_was_read_is_not_replaced(files, run, monkeypatch):
    import separatrix.tables.update as updating

    new, usual = Path("n.sx"), updating.update

    def meanwhile(*arguments, **options):
        new.write_bytes(Path("m.sx").read_bytes())
        os.replace(new, "m.sx")
        return usual(*arguments, **options)

    monkeypatch.setattr(updating, "update", meanwhile)
    status, _, err = run("update", "m.sx", "v.csv")
    assert (status, err) == (
        2, "separatrix: m.sx has changed since it was read and is not replaced; run the command again\n",
    )  # fmt: skip
    assert contents() == files


@pytest.mark.skipif(os.name == "nt", reason="nothing is locked there")
def test_updates_at_the_same_time_wait_for_each_other_and_none_is_lost(files, run):
    import separatrix as sx

    with open("m.sx", "rb") as model:
        import fcntl

        fcntl.flock(model, fcntl.LOCK_EX)  # as another update holds it
        starting = [
            subprocess.Popen([sys.executable, "-c", MAIN, "update", "m.sx", "v.csv"], stderr=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        said = [each.stderr.readline() for each in starting]
    assert said == ["waiting for another process that writes m.sx\n"] * 3
    assert [each.wait(60) for each in starting] == [0, 0, 0]
    for each in starting:
        each.stderr.close()
    assert [change.rows for change in sx.load("m.sx").facts.updates] == [40, 40, 40]


@pytest.mark.skipif(os.name == "nt", reason="nothing is locked there")
def test_a_wait_for_a_lock_ends_when_the_file_is_replaced(tmp_path):
    from separatrix.files import locked, write_text

    path = tmp_path / "f"
    write_text(path, "old")
    order = []

    def second() -> None:
        with locked(path, lambda: order.append("waits")):
            order.append(path.read_text())

    with locked(path):
        other = threading.Thread(target=second)
        other.start()
        while not order:
            time.sleep(0.01)
        write_text(path, "new")
    other.join(10)
    assert order == ["waits", "new"]


def test_outputs_that_a_pattern_does_not_find_are_written(files, run):
    Path("out").mkdir()
    assert run("predict", "m.sx", "*.csv", "-o", "out/p.csv")[0] == 0
    Path("out/p.csv").unlink()
    assert run("predict", "m.sx", "[v].csv", "-o", "p.txt.csv")[0] == 0
    Path("p.txt.csv").unlink()
    assert "one of the files of the input **/*.csv" in run("predict", "m.sx", "**/*.csv", "-o", "out/q.csv")[2]


def test_a_fit_that_ends_while_an_update_is_written_is_not_lost(files, run, monkeypatch):
    from separatrix import files as writing

    usual = writing._tidy

    def meanwhile(target):
        usual(target)
        Path("other.sx").write_bytes(Path("m.sx").read_bytes() + b"")
        os.replace("other.sx", "m.sx")

    monkeypatch.setattr(writing, "_tidy", meanwhile)
    status, _, err = run("update", "m.sx", "v.csv")
    assert status == 2
    assert "m.sx has changed since it was read and is not replaced" in err
    assert contents() == files


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no such device")
def test_a_device_is_written_to_where_its_folder_may_not_be(files, run, monkeypatch):
    usual = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != "/dev" and usual(path, mode))
    assert run("trace", "lecture-000", "-o", "/dev/null")[0] == 0
