"""``compare`` says which missing values were imputed, as ``fit`` does."""

from __future__ import annotations

import json

OPTIONS = ("--target", "sex", "--models", "averaged", "--certify", "0")


def test_imputed_values_are_counted_by_column(run):
    status, out, err = run("compare", "penguins", *OPTIONS)
    assert status == 0, err
    assert out.splitlines()[1].startswith("Missing values imputed: bill_length_mm 2, bill_depth_mm 2,")
    status, out, err = run("compare", "penguins", *OPTIONS, "--json")
    assert status == 0, err
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    assert json.loads(out)["imputed"] == dict.fromkeys(names, 2)  # sex, the target, is dropped where it is missing


def test_dropped_rows_are_not_imputed(run):
    status, out, err = run("compare", "penguins", *OPTIONS, "--missing", "drop")
    assert status == 0, err
    assert "imputed" not in out
