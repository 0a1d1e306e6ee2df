"""Prepared rows on disk that are kept for the next run: files beside a JSON record of what they are."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from separatrix import __version__
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.facts import Facts
from separatrix.tables.preparation import Preparation
from separatrix.tables.prepare import PreparedTable
from separatrix.text import read_json


def cache_key(source: Any, options: ColumnOptions, test: float, seed: int, *, solved: bool = False) -> str | None:
    """Return a key of all that the rows of a source depend on; None if a change of the source could go unnoticed."""
    fingerprint = source.fingerprint()
    if fingerprint is None:
        return None
    kind = ["solved"] if solved else []  # which says how rows are prepared
    text = json.dumps([__version__, fingerprint, asdict(options), test, seed, *kind], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@contextlib.contextmanager
def unless_failed(folder: Path, key: str) -> Iterator[None]:
    """Remove the rows under this key, and the folders that were made for them, if the fit fails; Ctrl-C keeps them."""
    new = list(itertools.takewhile(lambda path: not path.exists(), (folder / key, folder, *folder.parents)))
    try:
        yield
    except Exception:
        if new:
            shutil.rmtree(new[0], ignore_errors=True)
        with contextlib.suppress(OSError):  # others have put something there
            for path in new[1:]:
                path.rmdir()
        raise


def keep(table: PreparedTable, work: Path, folder: Path, key: str) -> PreparedTable:
    """Move rows from the folder where they were made to one where another run finds them; return them there.

    Until then they are in a folder of their own, so that two runs at the same time do not meet.
    """
    from separatrix.models.model_file import save

    save(table.preparation, work / "preparation.sx")
    for rows in (table.train, table.test):
        if isinstance(rows, RowFile):
            rows.seal()
    about = {
        "key": key,
        "classes": table.classes,
        "target": table.target,
        "facts": table.facts.to_dict(),
        "test": table.test is not None,
    }
    temporary = work / "about.part"
    temporary.write_text(json.dumps(about), encoding="utf-8")
    os.replace(temporary, work / "about.json")
    if reopen(folder, key) is not None:  # another run was faster
        return table
    try:
        shutil.rmtree(folder, ignore_errors=True)  # what is there is damaged
        os.rename(work, folder)
    except OSError:
        return table
    return reopen(folder, key) or table


def reopen(folder: Path, key: str) -> PreparedTable | None:
    """Return the rows that an earlier run kept under this key; None if there are none."""
    from separatrix.models.model_file import load

    try:
        about = read_json((folder / "about.json").read_text(encoding="utf-8"), "about.json")
        if about["key"] != key:
            return None
        preparation = load(folder / "preparation.sx")
        facts = Facts.from_dict(about["facts"])
        train = RowFile.reopen(folder / "train")
        test = RowFile.reopen(folder / "test") if about["test"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if train is None or (about["test"] and test is None) or not isinstance(preparation, Preparation):
        return None
    return PreparedTable(train, test, preparation, about["classes"], about["target"], facts)
