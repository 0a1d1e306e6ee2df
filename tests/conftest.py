"""Settings for every test."""

from __future__ import annotations

import os
import signal
import sys

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips one of its checks without it

import pytest
from hypothesis import settings

import browser_pages
from postgres_server import binaries, server
from separatrix import _core

# Tests press Ctrl-C. A parent that ignores SIGINT (nohup, a job in the background) hands that down to this process and
# to the commands it starts; with a handler here, both behave as in the foreground.
if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# At exit nanobind lists the core's objects that are still alive: rows that fixtures, caches and kept exceptions of this
# process hold until its end. That is no leak (tests/test_core.py shows that the core lets go of what it was given).
_core.leak_warnings(False)

settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")


@pytest.fixture(scope="session")
def postgres():
    """Yield the address of a PostgreSQL server that lives as long as the tests."""
    programs = binaries()
    if programs is None:
        if os.environ.get("SEPARATRIX_TEST_POSTGRES") == "required":
            pytest.fail("initdb and pg_ctl of PostgreSQL are not found")
        pytest.skip("initdb and pg_ctl of PostgreSQL are not found")
    with server(programs) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """Make sure that there is a browser to look at pages with, and what checks them."""
    lacking = browser_pages.lacking()
    if lacking is not None:
        if os.environ.get("SEPARATRIX_TEST_BROWSER") == "required":
            pytest.fail(lacking)
        pytest.skip(lacking)


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Return what runs a command in an empty folder and gives its exit status, output and messages."""
    from separatrix.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["separatrix", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        out = capfd.readouterr()
        return status, out.out, out.err

    return run


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with one table in every format of ``source_tables``."""
    from source_tables import WRITERS

    folder = tmp_path_factory.mktemp("tables")
    for name, write in WRITERS.items():
        write(folder / name)
    return folder


@pytest.fixture
def small_shards(monkeypatch):
    """Let shards have 64 rows, and even few rows be trained on in shards."""
    from separatrix.svm.rowblocks import tree

    monkeypatch.setattr(tree, "_LEAST_NUMBERS", 1000)
    monkeypatch.setattr(tree, "_TALL", 1)
    monkeypatch.setattr(tree, "_NUMBERS", 1)
    monkeypatch.setattr(tree, "_LEAST_ROWS", 64)
