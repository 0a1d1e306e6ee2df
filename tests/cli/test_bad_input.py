"""What is wrong is said in one sentence that names it, with exit status 2, and nothing is written."""

from __future__ import annotations

import gzip
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROWS = "a,b,kind\n" + "".join(f"{k % 7},{(k * 5) % 11}.5,{'xy'[k % 2]}\n" for k in range(40))


@pytest.fixture
def refused(run, tmp_path):
    """Return what runs a command that must fail, and gives its sentence."""

    def refused(*arguments: object) -> str:
        before = sorted(tmp_path.rglob("*"))
        status, out, err = run(*arguments)
        assert (status, out) == (2, ""), (status, out, err)
        assert sorted(tmp_path.rglob("*")) == before
        lines = err.strip().splitlines()
        assert len(lines) == 1, err
        assert lines[0].startswith("separatrix: ")
        assert "Traceback" not in err
        return lines[0].removeprefix("separatrix: ")

    return refused


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def test_a_file_that_is_not_there(refused, tmp_path):
    write("data.csv", ROWS)
    assert refused("fit", "dta.csv", "--target", "kind") == "there is no file dta.csv; did you mean data.csv?"
    assert "nor a built-in data set of that name; those are penguins" in refused("fit", "pinguins", "--target", "y")
    assert refused("predict", "no.sx", "data.csv") == "no.sx: there is no such file"


def test_files_that_hold_nothing(refused, run):
    assert "is empty" in refused("fit", write("a.csv", ""), "--target", "y")
    assert "header line and no rows" in refused("fit", write("b.csv", "a,y\n"), "--target", "y")
    assert "blank lines only" in refused("fit", write("c.csv", "\n\n\n"), "--target", "y")
    assert "empty" in refused("fit", write("d.libsvm", ""))
    assert "empty" in refused("fit", write("e.parquet", ""), "--target", "y")


def test_a_ragged_row_is_named(refused):
    text = refused("fit", write("a.csv", ROWS + "1,2\n"), "--target", "kind")
    assert "a.csv, line 42" in text
    assert "2 cells" in text
    assert "3" in text


def test_a_binary_file_named_csv(refused):
    text = refused("fit", write("a.csv", bytes(range(256)) * 20), "--target", "y")
    assert text.startswith("a.csv")
    assert "text" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--target is missing: name the column of a.csv with the labels; its columns are a, b, kind; perhaps "
             "--target kind"),
        (["--target", "knid"], "a.csv has no column 'knid', which --target names (did you mean 'kind'?); its columns "
                               "are a, b, kind"),
        (["--target", "kind", "--features", "c"], "a.csv has no column 'c', which --features names"),
        (["--target", "kind", "--exclude", "a,b"], "no feature column is left"),
        (["--target", "kind", "--features", "a", "--exclude", "a"], "'a' is both in --features and in --exclude"),
        (["--target", "kind", "--weight", "kind"], "column 'kind' is VARCHAR; sample weights must be numbers"),
        (["--target", "kind", "--text", "a"], "--text is for text columns"),
        (["--target", "kind", "--features", "kind"], "--features names 'kind', which is the target"),
        (["--target", "kind", "--test", "1"], "--test must be at least 0 and below 1"),
        (["--target", "kind", "--epochs", "0"], "--epochs must be at least 1"),
        (["--target", "kind", "--time-limit", "0"], "--time-limit must be a positive number"),
        (["--target", "kind", "--seed", "-1"], "--seed must be from 0 to 2^32 - 1"),
        (["--target", "kind", "--memory", "lots"], "--memory must be a size such as 500MB"),
        (["--target", "kind", "--param", "C"], "--param must be NAME=VALUE"),
        (["--target", "kind", "--model", "averaged", "--param", "C=1"], "Perceptron has no parameter 'C'; it has "),
        (["--target", "kind", "--param", "eta0=1"], "LogisticRegression has no parameter 'eta0'; it has C, "),
        (["--target", "kind", "--model", "averaged", "--param", "eta0=-1"], "eta0 must be"),
        (["--target", "kind", "-o", "no/such/m.sx"], "cannot write no/such/m.sx: the folder"),
        (["--target", "kind", "-o", "."], "is a folder"),
        (["--target", "kind", "--model", "kernel-svm", "--time-limit", "1"], "--time-limit cannot end a kernel-svm"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant(refused, arguments, words):
    assert words in refused("fit", write("a.csv", ROWS), *arguments)


def test_a_very_long_name_is_not_repeated_whole(refused):
    assert len(refused("fit", write("a.csv", f"a,{'k' * 3000}\n1,x\n2,z\n"))) < 300


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,y\n1,x\n2,x\n", "column 'y' is constant: every row has 'x'; at least two classes are needed"),
        ("a,y\n" + "".join(f"{k},n{k}\n" for k in range(60)), "column 'y' has 60 distinct texts in 60 rows: it is "
                                                             "almost unique"),
        ("a,y\n" + "".join(f"{k},{k / 7}\n" for k in range(60)), "it is "),
        ("a,y\n1,\n2,\n", "have missing values"),
        ("a,y\n,x\n,z\n", "no feature column is left; its columns are a, y; left out: a (empty)"),
        ("a,y\n1,x\nnine,z\n2,x\n3,z\n", "column 'a' has numbers and also 'nine'"),
        ("a,y\n1,x\ninf,z\n2,x\n3,z\n", "row 2, column 'a': inf is not a finite number"),
        ("a,a,y\n1,1,x\n2,2,z\n", "two columns called 'a'"),
        ("1,2,3\n4,5,6\n", "has numbers only; give --no-header if it is data"),
        ("a,w,y\n1,-1,x\n2,1,z\n3,1,x\n4,1,z\n", None),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_learned_from(refused, rows, words):
    name = write("t.csv", rows)
    if words is None:
        assert "row 1, column 'w': the weight -1 is not a number of at least 0" in refused(
            "fit", name, "--target", "y", "--weight", "w", "--test", 0
        )
        return
    text = refused("fit", name, "--target", "y")
    assert words in text
    assert "t.csv" in text


def test_missing_values_can_be_refused(refused):
    name = write("t.csv", "a,y\n1,x\n,z\n3,x\n4,z\n")
    assert refused("fit", name, "--target", "y", "--missing", "fail").startswith(
        "t.csv, row 2, column 'a': missing value"
    )


def test_too_few_rows(refused):
    assert "too few for --test 0.2" in refused("fit", write("t.csv", "a,y\n1,x\n2,z\n"), "--target", "y")
    many = write("u.csv", "a,y\n" + "".join(f"{k},k{k % 20:02}\n" for k in range(40)))  # more classes than test rows
    assert "has no training row with --test 0.4" in refused("fit", many, "--target", "y", "--test", "0.4")


def test_rows_that_a_model_cannot_answer(refused, run):
    name = write("t.csv", "a,c,y\n" + "".join(f"{k % 7},{'rgb'[k % 3]},{'xz'[k % 2]}\n" for k in range(60)))
    assert run("fit", name, "--target", "y", "--model", "averaged", "--calibrate", "none", "-o", "m.sx")[0] == 0
    text = refused("predict", "m.sx", write("u.csv", "a,y\n1,x\n"))
    assert text == "u.csv has no column 'c', which the model was trained on; its columns are a, y"
    text = refused("predict", "m.sx", write("v.csv", "a,c\n1,r\n2,violet\n"), "-o", "out.csv", "--unknown", "fail")
    assert text.startswith(
        "v.csv, row 2, column 'c': the model was not trained on the category 'violet'; it knows 'b', 'g'"
    )
    assert not Path("out.csv").exists()
    assert run("predict", "m.sx", "v.csv")[0] == 0
    text = refused("predict", "m.sx", write("w.csv", "a,c\nq,r\n"))
    assert text.startswith("w.csv, line 2, column 'a': 'q' is not a number; fix the cell")
    assert "has no column names" in refused("predict", "m.sx", write("x.libsvm", "1 1:2\n"))
    assert "has no probabilities" in refused("predict", "m.sx", name, "--proba")
    assert "the file name must end in one of .csv" in refused("predict", "m.sx", name, "-o", "out.xlsx")
    assert "has no column 'q', which --keep names" in refused("predict", "m.sx", name, "--keep", "q")
    text = refused("update", "m.sx", write("z.csv", "a,c\n1,r\n"))
    assert "z.csv has no column 'y'" in text
    assert run("fit", name, "--target", "y", "-o", "k.sx", "--model", "svm")[0] == 0
    assert "is trained on all rows at once and cannot be updated" in refused("update", "k.sx", name)


def test_libsvm_lines_are_named(refused):
    for line, words in (
        ("1 3:1 2:1", "line 2: the index 2 follows 3"),
        ("1 -3:1", "line 2"),
        ("1 1:x", "line 2"),
        ("one 1:1", "line 2"),
        ("1 1", "line 2"),
    ):
        text = refused("fit", write("a.libsvm", f"-1 1:1\n{line}\n"))
        assert text.startswith("a.libsvm")
        assert words in text


def test_packed_files_that_end_early(refused):
    packed = gzip.compress(ROWS.encode() * 200)
    assert "a.csv.gz" in refused("fit", write("a.csv.gz", packed[: len(packed) // 2]), "--target", "kind")
    lines = gzip.compress("".join(f"{k % 2} 1:{k}\n" for k in range(5000)).encode())
    text = refused("fit", write("a.svm.gz", lines[: len(lines) // 2]))
    assert text.startswith("a.svm.gz")
    assert "end" in text


def test_models_that_are_none(refused, run):
    name = write("t.csv", ROWS)
    assert "is not a model file of separatrix" in refused("predict", write("p.sx", pickle.dumps({"a": 1})), name)
    assert "is not a model file of separatrix" in refused("inspect", name)
    assert run("fit", name, "--target", "kind", "-o", "m.sx")[0] == 0
    whole = Path("m.sx").read_bytes()
    assert "m2.sx" in refused("predict", write("m2.sx", whole[:-10]), name)
    assert "damaged" in refused("predict", write("m3.sx", whole[:-1] + bytes([whole[-1] ^ 1])), name)
    newer = whole.replace(b'"schema":"1"', b'"schema":"9"')
    assert "was written by a newer separatrix" in refused("inspect", write("m4.sx", newer))
    import separatrix as sx

    sx.save(sx.Perceptron().fit(np.eye(2), [0, 1]), "bare.sx")
    assert "bare.sx holds a Perceptron that was saved from Python" in refused("predict", "bare.sx", name)
    assert "m.sx" in refused("fit", "m.sx", "--target", "kind")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(refused):
    Path(write("t.csv", ROWS)).chmod(0)
    assert "t.csv" in refused("fit", "t.csv", "--target", "kind")


def test_databases_that_refuse(refused, postgres):
    address = postgres.replace("tester", "nobody", 1)
    text = refused("fit", "--db", address, "--sql", "select 1 as a", "--target", "a")
    assert "s3cret" not in text
    assert (
        "refused"
        in refused("fit", "--db", "postgresql://me@127.0.0.1:1/x", "--sql", "select 1 as a", "--target", "a").lower()
    )
    assert "give a query with --sql" in refused("fit", "--db", address, "--target", "a")
    assert "nosuch" in refused("fit", "--db", postgres, "--sql", "select * from nosuch", "--target", "a")
    assert refused("fit", "--db", postgres, "--sql", "create table t (a int)", "--target", "a")


def test_sql_that_cannot_be(refused):
    name = write("t.csv", ROWS)
    assert "nosuch" in refused("fit", name, "--sql", "select nosuch from data", "--target", "kind")
    assert refused("fit", name, "--sql", "select * from", "--target", "kind")
    assert "only one SELECT" in refused("fit", name, "--sql", "copy data to 'out.csv'", "--target", "kind")


@pytest.mark.skipif(sys.platform == "win32", reason="limits on files are those of POSIX")
@pytest.mark.parametrize("command", ["fit", "fit on disk", "predict", "update", "plot", "datasets", "trace"])
def test_a_full_disk_leaves_what_was_there(command, run, tmp_path):
    name = write("t.csv", ROWS * 1 + "".join(f"{k % 7},{k}.25,{'xy'[k % 2]}\n" for k in range(3000)))
    assert run("fit", name, "--target", "kind", "--model", "averaged", "-o", "m.sx")[0] == 0
    old = Path("m.sx").read_bytes()
    arguments = {
        "fit": ["fit", name, "--target", "kind", "-o", "m.sx", "--seed", "1"],
        "fit on disk": ["fit", name, "--target", "kind", "-o", "m.sx", "--seed", "1", "--memory", "1KB"],
        "predict": ["predict", "m.sx", name, "-o", "out.csv"],
        "update": ["update", "m.sx", name],
        "plot": ["plot", "m.sx", "--kind", "weights", "-o", "w.png"],
        "datasets": ["datasets", "penguins", "-o", "p.csv"],
        "trace": ["trace", name, "--target", "kind", "--max-iter", "1", "-o", "t.md"],
    }[command]
    before = sorted(tmp_path.iterdir())

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    code = "from separatrix.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, preexec_fn=limit, timeout=120
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "writ" in done.stderr
    assert Path("m.sx").read_bytes() == old
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_read_is_not_written_over(refused, run):
    name = write("t.csv", ROWS)
    assert "would overwrite the input t.csv" in refused("fit", name, "--target", "kind", "-o", "t.csv")
    assert run("fit", name, "--target", "kind", "-o", "m.sx")[0] == 0
    assert "would overwrite" in refused("predict", "m.sx", name, "-o", "t.csv")
    assert "does not fit --json" in refused("predict", "m.sx", name, "--json", "-o", "o.csv")


def test_parameters_with_options_of_their_own(refused):
    name = write("t.csv", ROWS)
    assert "--param max_iter: use --epochs" in refused("fit", name, "--target", "kind", "--param", "max_iter=3")


def test_settings_cannot_change_when_a_run_goes_on(refused, run):
    name = write("t.csv", ROWS)
    assert run("fit", name, "--target", "kind", "-o", "m.sx", "--epochs", 2)[0] == 0
    for option, value in (("--test", 0), ("--seed", 0), ("--missing", "mean")):
        assert f"{option} cannot be combined with --resume" in refused("fit", name, "--resume", "m.sx", option, value)


def test_a_typo_among_many_numbers_is_named(refused):
    rows = "".join(f"{k}.5,{'xy'[k % 2]}\n" for k in range(300))
    assert "column 'a' has numbers and also 'oops'" in refused(
        "fit", write("t.csv", "a,y\noops,x\n" + rows), "--target", "y"
    )


def test_curves_that_are_not_there(refused, run):
    name = write("t.csv", ROWS)
    assert run("fit", name, "--target", "kind", "--model", "svm", "-o", "m.sx")[0] == 0
    assert "has no loss per epoch" in refused("plot", "m.sx", "--kind", "loss")
    assert run("fit", name, "--target", "kind", "--model", "logistic", "-o", "m.sx")[0] == 0
    assert "logistic regression is solved to a duality gap" in refused("plot", "m.sx", "--kind", "loss")
