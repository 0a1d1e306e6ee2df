"""Fuzz the command line: any arguments end with a status and a sentence, and no input file is ever changed."""

from __future__ import annotations

import fnmatch
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mutation import changed_bytes
from outcomes import CaseError, check_sentence
from written_files import csv_text, json_text, libsvm_text, npy, parquet, sqlite

OUTPUTS = ("-o", "--output", "--report", "--json", "--plot", "--scaling", "--cache")
ODD = (
    "",
    "-1",
    "0",
    "1",
    "2",
    "1e308",
    "nan",
    "inf",
    "x",
    "é",
    "\x1b[31mred",
    "a" * 300,
    "../x",
    ".",
    "/",
    "-",
    "--",
    "\n",
    "'",
    '"',
    "*",
    "[",
    "%s",
    "{}",
    "label",
    "n0",
    "n1",
    "n0,n1",
    "data.csv",
    "m.sx",
    "C=10",
    "C=nan",
    "hidden=[4]",
    "alpha",
    "500MB",
    "1",
    "1KB",
    "0.5",
    "select 1",
    ";",
    "\ud800",
)
VALUES: dict[str, tuple[str, ...]] = {
    "--target": ("label", "n0", "n1", "y", "nothing"),
    "--test": ("0", "0.3", "1", "-1", "nan"),
    "--scale": ("standard", "minmax", "none"),
    "--missing": ("impute", "drop", "mean", "fail"),
    "--model": (
        "averaged",
        "perceptron",
        "voted",
        "pocket",
        "neuron",
        "logistic",
        "svm",
        "online-svm",
        "pa",
        "arow",
        "scw",
        "nherd",
        "romma",
        "alma",
        "sop",
        "kernel-svm",
        "network",
        "kernel-perceptron",
    ),
    "--epochs": ("1", "3", "0"),
    "--memory": ("1KB", "100KB", "1MB", "x"),
    "--seed": ("0", "1", "-1"),
    "--certify": ("0", "0.1", "-1"),
    "--time-limit": ("0.05", "0"),
    "--features": ("n0", "n0,n1", "label"),
    "--exclude": ("n0", "label"),
    "--weight": ("n0", "n1"),
    "--text": ("label", "n1"),
    "--param": ("C=10", "C=-1", "eta0=0.1", "max_iter=2", "x=1", "C", "shuffle=false", "multi_class=joint", "budget=3"),
    "-o": (
        "out.sx",
        "out.csv",
        "out.parquet",
        "out.jsonl",
        "data.csv",
        "m.sx",
        "sub/out.sx",
        ".",
        "out.svg",
        "other.csv",
    ),
    "--report": ("out.html", "data.csv"),
    "--sql": (
        "select * from data",
        "select * from 'data.csv'",
        "select 1 as label, 2 as n0",
        "delete from data",
        "select * from nothing",
        "select",
    ),
    "--delimiter": (",", ";", "\\t", "ab"),
    "--encoding": ("latin-1", "utf-16", "x"),
    "--unknown": ("fail", "zero", "x"),
    "--to": ("sql", "c", "json", "onnx"),
    "--keep": ("n0", "nothing"),
    "--top": ("3", "-1"),
    "--kind": ("weights",),
    "--tol": ("0.1", "nan"),
    "--folds": ("2", "1"),
    "--models": ("perceptron", "averaged,svm", "x"),
    "--resume": ("m.sx", "data.csv"),
    "--cache": ("kept", "data.csv"),
    "--json": ("out.json", "-", "data.csv"),
    "--rule": ("perceptron", "pegasos", "x"),
    "--max-iter": ("3", "0"),
    "--format": ("table", "csv", "latex"),
    "--table": ("t", "a.b", "'"),
    "--name": ("m", "1"),
    "--split": ("time:n0", "group:n1", "group:label", "time:nothing", "n0"),
    "--max-levels": ("1", "2", "0"),
    "--category": ("n0", "label", "nothing"),
    "--number": ("n0", "label"),
    "--date": ("n0", "n1"),
    "--dates": ("parts", "seconds", "drop"),
    "--target-encode": ("n0", "n1", "label"),
    "--text-method": ("tfidf", "hashed"),
    "--class-weight": ("balanced", "x=2", "x=2,y=1", "x=-1", "z=1"),
    "--calibrate": ("sigmoid", "isotonic", "temperature", "none"),
    "--threshold": ("0.3", "max-f1", "recall=0.9", "precision=2", "cost=5:1", "cost=1:0"),
    "--positive": ("x", "y", "z"),
    "--cv": ("2", "3", "1", "100"),
    "--stop": ("no-mistakes", "epochs:2", "loss<=0.1@hinge/2 | flat:2", "time:0.05", "validation", "x"),
    "--record": ("zero_one", "hinge", "x"),
    "--every": ("1", "2", "0"),
    "--metric": ("accuracy", "f1_macro", "log_loss", "x"),
    "--weights": ("1,-2", "1/2", "0,0", "1e308,1"),
    "--bias": ("1", "1/3", "x"),
    "--point": ("1,2", "0,0", "1", "x,y"),
    "--only": ("all", "impossible"),
    "--start": ("0", "4,1", "x"),
    "--step": ("0.1", "0.1,1.1", "0", "1e308"),
    "--digits": ("3", "0"),
}
FUNCTIONS = ("(x-3)^2", "x^2 + 6*y^2", "exp(x)", "1/x", "log(x)*y", "9^9^9", "x" * 50, "(", "")
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    # the files it takes, its options with a value, its flags
    "fit": (
        ("data",),
        (
            "--target",
            "--test",
            "--scale",
            "--missing",
            "--model",
            "--epochs",
            "--memory",
            "--seed",
            "--certify",
            "--features",
            "--exclude",
            "--weight",
            "--text",
            "--param",
            "-o",
            "--report",
            "--sql",
            "--delimiter",
            "--encoding",
            "--resume",
            "--cache",
            "--split",
            "--max-levels",
            "--category",
            "--number",
            "--date",
            "--dates",
            "--target-encode",
            "--text-method",
            "--class-weight",
            "--calibrate",
            "--threshold",
            "--positive",
            "--cv",
            "--stop",
            "--record",
            "--every",
        ),
        ("--json", "--no-header", "--no-quotes", "--tune"),
    ),
    "compare": (
        ("data",),
        (
            "--target",
            "--test",
            "--folds",
            "--models",
            "--param",
            "--missing",
            "--max-levels",
            "--category",
            "--date",
            "--target-encode",
            "--metric",
            "--certify",
            "--sql",
        ),
        ("--json",),
    ),
    "plane": (
        ("data",),
        ("--target", "--weights", "--bias", "--threshold", "--positive", "--point", "--format", "-o", "--top", "--sql"),
        ("--json", "--decimals"),
    ),
    "labellings": (
        ("data",),
        ("--target", "--point", "--only", "--format", "-o", "--top"),
        ("--json", "--no-intercept"),
    ),
    "descend": (("function",), ("--start", "--step", "--max-iter", "--tol", "--digits", "--format", "-o"), ("--json",)),
    "predict": (
        ("m.sx", "data"),
        ("-o", "--keep", "--unknown", "--sql", "--delimiter", "--encoding"),
        ("--scores", "--proba", "--json", "--no-header"),
    ),
    "evaluate": (("m.sx", "data"), ("--unknown", "--sql", "--delimiter"), ("--json",)),
    "update": (("m.sx", "data"), ("-o", "--unknown", "--sql", "--delimiter"), ("--json",)),
    "inspect": (("m.sx",), ("--top",), ("--json",)),
    "report": (("m.sx", "data"), ("-o", "--unknown", "--sql"), ("--json",)),
    "export": (("m.sx",), ("--to", "-o", "--table", "--name", "--unknown"), ()),
    "certify": (
        ("data",),
        ("--target", "--model", "--tol", "--time-limit", "--seed", "--json", "--features", "--exclude", "--sql"),
        ("--explain", "--no-intercept"),
    ),
    "verify": (("proof.json", "data"), ("--target", "--features", "--exclude", "--sql"), ("--json",)),
    "trace": (("data",), ("--target", "--rule", "--max-iter", "--format", "-o", "--seed"), ("--json", "--decimals")),
    "datasets": ((), (), ()),
}
PLAIN = "n0,n1,label\n" + "".join(f"{k % 5},{k * 3 % 7}.5,{'xy'[k % 2]}\n" for k in range(12))


@cache
def _made() -> dict[str, str]:
    """Return a model and a certificate of the plain table, as text of one byte a letter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data.csv").write_text(PLAIN)
        for argv in (
            ["fit", "data.csv", "--target", "label", "-o", "m.sx"],
            ["certify", "data.csv", "--target", "label", "--json", "proof.json"],
        ):
            status, _, problem = run(argv, Path(folder), b"")
            if status:
                raise AssertionError(problem)
        return {name: Path(folder, name).read_bytes().decode("latin-1") for name in ("m.sx", "proof.json")}


@cache
def _build_commands_once() -> None:
    """Let typer build the commands once, not for every case: that takes longer than most commands."""
    import typer.main

    typer.main.get_command = cache(typer.main.get_command)


def run(argv: Sequence[str], folder: Path, stdin: bytes) -> tuple[Any, str, str]:
    """Run a command inside this process; return its status, standard output and standard error."""
    from separatrix.cli import main

    _build_commands_once()
    spare = Path(tempfile.mkdtemp(dir=folder.parent))
    (spare / "in").write_bytes(stdin)
    kept = sys.argv, sys.stdin, sys.stdout, sys.stderr, os.getcwd()
    status: Any = 0
    try:
        with (
            (spare / "in").open(encoding="utf-8") as given,
            (spare / "out").open("w", encoding="utf-8") as out,
            (spare / "err").open("w", encoding="utf-8", errors="backslashreplace") as err,
        ):
            os.chdir(folder)
            sys.argv, sys.stdin, sys.stdout, sys.stderr = ["separatrix", *argv], given, out, err
            try:
                main()
            except SystemExit as end:
                status = end.code
        return status or 0, *((spare / name).read_bytes().decode("utf-8", "replace") for name in ("out", "err"))
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = kept[:4]
        os.chdir(kept[4])
        shutil.rmtree(spare)


class Commands:
    """A command with options and small files. A case is JSON: the arguments, the files and standard input.

    A model and a certificate, m.sx and proof.json, are there too, unless the case has its own.
    """

    name = "command"

    def seeds(self, chance: random.Random) -> list[bytes]:
        """Return none: cases are made from the commands' own options."""
        return [json.dumps({"argv": ["datasets"], "files": {}, "stdin": ""}).encode()]

    def case(self, chance: random.Random, pool: Sequence[bytes]) -> bytes:
        """Return a command."""
        command = chance.choice(("fit", "fit", "fit", "predict", "update", *COMMANDS))
        given, options, flags = COMMANDS[command]
        files: dict[str, str] = {"data.csv": PLAIN, "other.csv": "a\n1\n"}
        source = "data.csv"
        if chance.random() < 0.5:
            source, write = chance.choice(
                (
                    ("data.csv", csv_text),
                    ("data.jsonl", json_text),
                    ("data.libsvm", libsvm_text),
                    ("data.npy", npy),
                    ("data.parquet", parquet),
                    ("data.sqlite", sqlite),
                )
            )
            files[source] = write(chance).decode("latin-1")
        elif chance.random() < 0.2:
            source = chance.choice(("-", "dat*.csv", "da*", "penguins", "xor", "sub", "nothing.csv", "other.csv"))
        if chance.random() < 0.1:
            name = chance.choice(("m.sx", "proof.json"))
            files[name] = changed_bytes(_made()[name].encode("latin-1"), chance, ()).decode("latin-1")
        argv = [command, *(source if name == "data" else name for name in given)]
        argv = [chance.choice(FUNCTIONS) if word == "function" else word for word in argv]
        argv += ["--max-iter", "3"] if command in ("trace", "descend") else []
        argv += ["--models", "perceptron,averaged", "--certify", "0"] if command == "compare" else []
        if "--target" in options and chance.random() < 0.9:
            argv += ["--target", "label"]
        for option in chance.sample(options, min(len(options), chance.choice((0, 1, 1, 2, 4)))):
            argv += [option, chance.choice(VALUES[option]) if chance.random() < 0.9 else chance.choice(ODD)]
        argv += [flag for flag in flags if chance.random() < 0.15]
        if chance.random() < 0.1:
            at = chance.randrange(len(argv) + 1)
            argv[at : at + chance.randrange(2)] = [chance.choice((*ODD, *VALUES))]
        stdin = PLAIN if chance.random() < 0.7 else csv_text(chance).decode("latin-1")
        return json.dumps({"argv": argv, "files": files, "stdin": stdin}).encode()

    def check(self, raw: bytes, folder: Path) -> str:
        """Run it, and look at what it left."""
        case = json.loads(raw)
        argv = [each.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for each in case["argv"]]
        here = folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        (here / "sub").mkdir(parents=True)
        for name, text in (_made() | case["files"]).items():
            (here / name).write_bytes(text.encode("latin-1"))
        before = _content(here)
        try:
            status, out, problem = run(argv, here, case["stdin"].encode("latin-1"))
            after = _content(here)
        finally:
            shutil.rmtree(here)
            (folder / "x").unlink(missing_ok=True)  # an output that was asked for as ../x
        if status not in (0, 1, 2):
            raise CaseError("status", f"{status!r}: {problem[-300:]}")
        changed = [name for name in before if after.get(name) != before[name] and _is_read(name, argv)]
        if changed:
            raise CaseError("property", f"the input {changed[0]} was changed (status {status})")
        new = sorted(set(after) - set(before))
        if [name for name in new if name.endswith(".part")] or (status == 2 and new):
            raise CaseError("property", f"left {new} (status {status}): {problem[-200:]}")
        for line in [
            *problem.splitlines(),
            *([] if "--json" in argv or argv[0] in ("predict", "export", "trace") else out.splitlines()),
        ]:
            if any(letter < " " and letter != "\t" for letter in line):
                raise CaseError("message", f"prints a control character: {line!r}")
        if status == 2:
            return f"{argv[0]} {check_sentence(problem.strip().splitlines()[-1] if problem.strip() else '')}"
        return f"{argv[0] if argv else ''} {status} {len(new)}"


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _is_read(name: str, argv: Sequence[str]) -> bool:
    """Return whether a command with these arguments reads the file, so that it must not change it."""
    if argv and argv[0] == "update" and name == "m.sx":  # which is replaced by default, or by its name after -o
        return False
    given = [each for before, each in zip(["", *argv], argv, strict=False) if before not in OUTPUTS]
    return any(name in each or fnmatch.fnmatch(name, each) for each in given) or name not in argv
