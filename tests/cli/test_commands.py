"""Every command on every kind of source."""

from __future__ import annotations

import doctest
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from table_files import as_csv, table, write_all, write_matrices

TABLES = [
    "csv", "tsv", "semicolons", "csv.gz", "csv.zst", "parquet", "parquet folder", "parquet pattern", "feather", "arrow",
    "json lines", "json lines.gz", "duckdb", "sqlite", "sql over files", "sql over a source", "sql over duckdb",
    "sql over sqlite", "standard input", "postgresql",
]  # fmt: skip
MATRICES = ["npy", "npz", "libsvm", "libsvm.gz"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    return write_all(folder, table()) | write_matrices(folder, table())


@pytest.fixture(scope="module")
def postgres_table(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("drop table if exists birds")
        cursor.adbc_ingest("birds", table(), mode="create")
        connection.commit()
    return ["--db", postgres, "--sql", "select * from birds"]


@pytest.fixture
def source(request, files, monkeypatch):
    """Return the arguments of a kind of source; standard input is filled each time a command asks for it."""

    def named(kind: str) -> list[str]:
        if kind == "standard input":
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_csv(table()))))
        if kind == "postgresql":
            return request.getfixturevalue("postgres_table")
        return files[kind]

    return named


def done(result: tuple[int, str, str]) -> str:
    status, out, err = result
    assert status == 0, err
    return out


def target_of(kind: str) -> list[str]:
    return [] if kind in MATRICES else ["--target", "label"]


def rows_only(arguments: list[str]) -> list[str]:
    """Return the arguments without a target, for commands that have none."""
    return arguments[:1] if arguments[1:2] == ["--target"] else arguments


@pytest.mark.parametrize("kind", TABLES + MATRICES)
def test_every_command_takes_every_source(kind, source, run, tmp_path):
    found = json.loads(done(run("fit", *source(kind), *target_of(kind), "-o", "m.sx", "--json", "--epochs", 20)))
    assert found["rows"]["train"] + found["rows"]["test"] > 100
    assert found["test"]["accuracy"] > 0.6
    assert found["certificate"] is not None
    answers = done(run("predict", "m.sx", *rows_only(source(kind)))).splitlines()
    assert answers[0] == "prediction"
    assert len(answers) - 1 == found["rows"]["read"]
    told = json.loads(done(run("update", "m.sx", *rows_only(source(kind)), "--json", "-o", "n.sx")))
    assert told["rows"] == found["rows"]["train"] + found["rows"]["test"]
    assert "weights" in json.loads(done(run("inspect", "n.sx", "--json")))
    done(run("certify", "m.sx", *rows_only(source(kind)), "--json", "p.json"))
    assert json.loads(done(run("verify", "p.json", *rows_only(source(kind)), "--model", "m.sx", "--json")))["verified"]
    whole = done(run("certify", *source(kind), *target_of(kind), "--json", "-"))
    assert json.loads(whole)
    Path("q.json").write_text(whole)
    assert "verified" in done(run("verify", "q.json", *source(kind), *target_of(kind)))
    steps = json.loads(done(run("trace", *source(kind), *target_of(kind), "--max-iter", 1, "--json")))
    incomplete = 0 if kind in MATRICES else table().column("length").null_count
    assert len(steps["steps"]) == told["rows"] - incomplete  # a trace imputes nothing
    for drawn in ("boundary", "margins"):
        done(run("plot", "m.sx", *rows_only(source(kind)), "--kind", drawn, "-o", f"{drawn}.png"))
        assert (tmp_path / f"{drawn}.png").read_bytes().startswith(b"\x89PNG")
    done(run("report", "m.sx", *rows_only(source(kind)), "-o", "page.html"))
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_all_sources_of_one_table_give_the_same_model(source, run):
    """The same rows in the same order, whatever they are written in: the same weights to the last bit."""
    weights = {}
    for kind in TABLES:
        found = json.loads(done(run("fit", *source(kind), "--target", "label", "-o", "m.sx", "--json")))
        weights[kind] = [each["scaled"] for each in found["weights"]["features"]]
        if kind in ("sqlite", "sql over sqlite"):  # which has no flags: 0 and 1 are numbers there
            del weights[kind]
    assert all(found == weights["csv"] for found in weights.values()), weights


@pytest.mark.parametrize(
    "model",
    ["averaged", "perceptron", "voted", "pocket", "neuron", "svm", "kernel-svm", "network", "kernel-perceptron"],
)
def test_every_model_fits_predicts_and_is_inspected(model, files, run):
    name = files["csv"][0]
    found = json.loads(
        done(run("fit", name, "--target", "label", "--model", model, "--epochs", 30, "-o", "m.sx", "--json"))
    )
    assert found["test"]["accuracy"] > 0.8
    assert len(done(run("predict", "m.sx", name, "--scores")).splitlines()) == 121
    assert model in json.dumps(json.loads(done(run("inspect", "m.sx", "--json"))))
    assert done(run("inspect", "m.sx"))
    done(run("plot", "m.sx", name, "-o", "b.svg"))
    done(run("plot", "m.sx", "--kind", "loss", "-o", "l.pdf")) if model not in ("svm", "kernel-svm") else None


def test_summary_for_people(files, run):
    out = done(run("fit", files["csv"][0], "--target", "label"))
    for words in ("rows", "missing values imputed: length 5.", "Training set", "test set", "Classes: no ",
                  "Logistic regression, converged", "Linear separability (scaled features; proved): ", "Test accuracy ",
                  "95% CI ", "majority class ", "actual \\ predicted", "Largest weights", "colour=red",
                  "Model written to t.sx", "Next: "):  # fmt: skip
        assert words in out, words
    assert Path("t.sx").exists()


def test_answers_in_every_form(files, run):
    import pyarrow.parquet as pq

    name = files["csv"][0]
    done(run("fit", name, "--target", "label", "--model", "neuron", "--missing", "drop", "-o", "m.sx"))
    kept = done(run("predict", "m.sx", name, "--keep", "colour,count", "--scores", "--proba")).splitlines()
    assert kept[0] == "colour,count,prediction,score,proba_no,proba_yes"
    status, _, err = run("predict", "m.sx", name, "-o", "a.parquet", "--keep", "all")
    assert status == 0
    assert "have missing values and no prediction" in err
    answers = pq.read_table("a.parquet")
    assert answers.column("colour").to_pylist() == table().column("colour").to_pylist()
    lacking = np.array(table().column("length").is_null())
    assert np.array_equal(np.array(answers.column("prediction").is_null()), lacking)
    lines = done(run("predict", "m.sx", name, "--json")).splitlines()
    assert [json.loads(line)["prediction"] for line in lines] == answers.column("prediction").to_pylist()
    done(run("predict", "m.sx", name, "-o", "a.csv"))
    import pandas as pd

    assert pd.read_csv("a.csv").prediction.isna().tolist() == lacking.tolist()
    done(run("fit", name, "--target", "label", "--model", "neuron", "-o", "m.sx"))
    status, out, err = run("predict", "m.sx", name)
    assert (status, err) == (0, "missing values imputed: length 5\n")
    assert len(out.split()) == 121  # every row has a prediction


def test_built_in_data_sets(run):
    listed = done(run("datasets"))
    assert "penguins" in listed
    assert "xor" in listed
    assert json.loads(done(run("datasets", "--json")))["penguins"].startswith("Palmer penguins")
    done(run("datasets", "penguins", "-o", "p.csv"))
    assert len(Path("p.csv").read_text().splitlines()) == 345
    assert done(run("datasets", "and")).splitlines()[0] == "x1,x2,label"
    out = done(run("fit", "penguins", "--target", "species"))
    assert "344 rows; missing values imputed: sex 11, bill_length_mm 2" in out
    assert "Classes: Adelie 122, Chinstrap 54, Gentoo 99." in out
    assert done(run("fit", "or", "--target", "label", "--test", 0))


def test_help_shows_an_example(run):
    for command in ("fit", "compare", "predict", "update", "inspect", "certify", "verify", "trace", "plot", "datasets"):
        assert f"  separatrix {command}" in done(run(command, "--help"))


def test_new_classes_are_learned(files, run):
    name = files["csv"][0]
    done(run("fit", name, "--target", "label", "--model", "averaged", "-o", "m.sx"))
    lines = Path(name).read_text().splitlines()
    Path("new.csv").write_text("\n".join([lines[0], *(line.replace('"yes"', '"maybe"') for line in lines[1:])]))
    told = json.loads(done(run("update", "m.sx", "new.csv", "--json")))
    assert told["new_classes"] == ["maybe"]
    assert json.loads(done(run("inspect", "m.sx", "--json")))["weights"]["classes"] == ["maybe", "no", "yes"]


def test_columns_can_be_chosen(files, run):
    name = files["csv"][0]
    found = json.loads(done(run("fit", name, "--target", "label", "--features", "length,width", "--json")))
    assert found["columns"]["used"] == ["length", "width"]
    found = json.loads(
        done(
            run(
                "fit",
                name,
                "--target",
                "label",
                "--exclude",
                "colour",
                "--exclude",
                "sold",
                "--weight",
                "count",
                "--json",
            )
        )
    )
    assert found["columns"]["used"] == ["length", "width"]
    found = json.loads(done(run("fit", name, "--target", "label", "--missing", "mean", "--scale", "minmax", "--json")))
    assert found["rows"]["dropped"] == 0
    assert found["missing"]["length"] > 0


def test_text_becomes_words(run):
    rng = np.random.default_rng(0)
    good, bad = ["free money now", "win a prize today"], ["see you at noon", "the report is attached"]
    rows = [(rng.choice(good), "spam") if rng.random() < 0.5 else (rng.choice(bad), "ham") for _ in range(60)]
    Path("mail.csv").write_text("body,kind\n" + "\n".join(f"{text} {k},{kind}" for k, (text, kind) in enumerate(rows)))
    out = done(run("fit", "mail.csv", "--target", "kind", "-o", "found.sx"))
    assert "Read as text (bag of words): body." in out
    for method in ("tfidf", "hashed"):
        found = json.loads(
            done(
                run(
                    "fit",
                    "mail.csv",
                    "--target",
                    "kind",
                    "--text",
                    "body",
                    "--text-method",
                    method,
                    "-o",
                    "m.sx",
                    "--json",
                )
            )
        )
        assert found["test"]["accuracy"] == 1.0
        assert done(run("predict", "m.sx", "mail.csv")).splitlines()[1:] == [kind for _, kind in rows]
    found = json.loads(done(run("fit", "mail.csv", "--target", "kind", "--text", "body", "--json")))
    by_name = {each["feature"]: each["weights"] for each in found["weights"]["features"]}
    for each in json.loads(done(run("inspect", "found.sx", "--json")))["weights"]["features"]:
        assert by_name[each["feature"]] == each["weights"]
    assert any(each["feature"] == "body: free money" for each in found["weights"]["features"])


def test_the_readme_shows_what_fit_prints(run, monkeypatch):
    from rich.console import Console

    from separatrix.cli import summary

    monkeypatch.setattr(
        summary, "new_console", lambda: Console(width=100, highlight=False, markup=False, emoji=False, file=sys.stdout)
    )
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"\$ separatrix fit penguins --target species\n(.*?)```", readme, re.DOTALL).group(1)
    printed = done(run("fit", "penguins", "--target", "species"))
    lenient = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert len(shown.splitlines()) > 10
    assert doctest.OutputChecker().check_output(shown, printed, lenient), printed
