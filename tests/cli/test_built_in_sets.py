"""Built-in data sets as sources: columns can be chosen, and queries see them as the table data."""

from __future__ import annotations

import json

import pytest

from separatrix import datasets


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def failed(result):
    status, _, err = result
    assert status == 2
    return err


CHOICES = [
    ["--features", "x1"],
    ["--exclude", "x2"],
    ["--sql", "select x1, label from data"],
    ["--sql", "select * from data", "--features", "x1"],
]


@pytest.mark.parametrize("choice", CHOICES)
def test_one_column_of_lecture_000_is_only_weakly_separable(run, choice):
    assert done(run("certify", "lecture-000", *choice)).startswith("-1 vs 1: weakly separable")


@pytest.mark.parametrize("name", ["lecture-001", "xor"])
@pytest.mark.parametrize("choice", [[], ["--features", "x2"]])
def test_a_built_in_set_and_its_file_have_the_same_certificate(run, tmp_path, name, choice):
    (tmp_path / "rows.csv").write_text(datasets.as_csv(name), encoding="utf-8")
    own = done(run("certify", name, *choice, "--json", "-"))
    assert own == done(run("certify", "rows.csv", "--target", "label", *choice, "--json", "-"))


def test_a_proof_about_some_columns_is_verified_with_the_same_columns(run):
    done(run("certify", "lecture-000", "--exclude", "x2", "--json", "p.json"))
    done(run("verify", "p.json", "lecture-000", "--features", "x1"))
    done(run("verify", "p.json", "lecture-000", "--sql", "select x1, label from data"))
    assert run("verify", "p.json", "lecture-000")[0] == 1


def test_a_query_over_a_built_in_set_is_fitted_predicted_and_learned(run):
    query = ("--sql", "select x1 + x2 as total, label from data")
    fitted = json.loads(done(run("fit", "OR", *query, "--model", "averaged", "--test", "0", "-o", "m.sx", "--json")))
    assert fitted["columns"]["used"] == ["total"]
    assert fitted["rows"]["train"] == 4
    assert done(run("predict", "m.sx", "or", *query)).split() == ["prediction", "0", "1", "1", "1"]
    assert json.loads(done(run("update", "m.sx", "or", *query, "--json")))["rows"] == 4
    assert "the query: 4 rows" in done(run("compare", "xor", *query, "--models", "perceptron", "--folds", "2"))


def test_the_labels_of_a_lecture_are_found_and_another_column_may_be_named(run):
    assert json.loads(done(run("fit", "and", "--test", "0", "-o", "m.sx", "--json")))["columns"]["used"] == ["x1", "x2"]
    other = json.loads(done(run("fit", "and", "--target", "x1", "--test", "0", "-o", "m.sx", "--json")))
    assert other["columns"]["used"] == ["x2", "label"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["certify", "and", "--features", "x9"], "and has no column 'x9', which --features names"),
        (["fit", "and", "--exclude", "x1,x2"], "no feature column is left"),
        (["fit", "and", "--sql", "select x1 from data"], "the query has no column 'label', which --target names"),
        (["fit", "and", "--sql", "select * from table1"], "data"),
        (
            ["fit", "and", "--model", "averaged", "--param", "shuffle=no"],
            "--param shuffle must be true, false or random; found 'no'",
        ),
        (
            ["fit", "and", "--model", "averaged", "--param", "fit_intercept=random"],
            "--param fit_intercept must be true or false; found 'random'",
        ),
    ],
)
def test_a_wrong_choice_is_named(run, arguments, message):
    assert message in failed(run(*arguments))


def test_a_model_file_has_its_own_columns(run):
    done(run("fit", "and", "--test", "0", "-o", "m.sx"))
    for option in (["--features", "x1"], ["--exclude", "x1"], ["--target", "x1"]):
        assert "are for data" in failed(run("certify", "m.sx", "and", *option))
    done(run("certify", "m.sx", "and", "--json", "p.json"))
    assert "cannot be combined with --model" in failed(
        run("verify", "p.json", "and", "--model", "m.sx", "--features", "x1")
    )


@pytest.mark.parametrize("command", [["update"], ["predict"], ["evaluate"], ["report", "-o", "r.html"]])
def test_unknown_is_checked_before_anything_is_read(run, command):
    done(run("fit", "and", "--test", "0", "-o", "m.sx"))
    told = failed(run(command[0], "m.sx", "nowhere.csv", "--unknown", "typo", *command[1:]))
    assert "Invalid value for '--unknown': 'typo' is not one of 'zero', 'null', 'fail'" in told


def test_examples_can_be_drawn_at_random(run):
    fit = ["fit", "and", "--model", "perceptron", "--param", "shuffle=random", "--test", "0", "-o", "m.sx"]
    assert "no mistakes" in done(run(*fit))
    assert '"shuffle": "random"' in done(run("inspect", "m.sx", "--json"))
    shown = done(run("trace", "and", "--order", "random", "--seed", "1"))
    epoch = [line.split()[1] for line in shown.splitlines() if line.startswith("1 ")]
    assert len(epoch) == 4 > len(set(epoch))


def test_examples_on_disk_cannot_be_drawn_at_random(run, tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 64)
    (tmp_path / "rows.csv").write_text("a,b,y\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(200)))
    options = ["--target", "y", "--model", "averaged", "--memory", "1kB", "-o", "m.sx"]
    assert "must fit into memory" in failed(run("fit", "rows.csv", *options, "--param", "shuffle=random"))
    assert not (tmp_path / "m.sx").exists()
    done(run("fit", "rows.csv", *options))
