"""Run a page of the documentation from top to bottom in one folder: its files, its commands, its lines of Python.

A ``text`` block after a line that ends in `points.csv` is that file. A ``console`` block holds
commands after ``$ separatrix`` and what they print; output that begins with ``separatrix:`` is an error message, with
exit status 2. A ``python`` block holds ``>>>`` lines. An ellipsis stands for anything. A command between backticks in
the text is run too, unless it has an ellipsis or a word in capitals in place of a name.
"""

from __future__ import annotations

import doctest
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
Run = Callable[..., tuple[int, str, str]]


class Block(NamedTuple):
    """A part of a page that runs: where it begins, its kind, its text, and the line before it."""

    line: int
    kind: str
    text: str
    before: str


_PARTS = re.compile(
    r"^```(?P<kind>text|console|python)\n(?P<block>.*?)^```$|^```.*?^```$|`(?P<inline>separatrix [^`]+)`",
    re.DOTALL | re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"\.\.\.|\b[A-Z]{3,}\b")


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks and commands of a page that something can be done with, in order."""
    for found in _PARTS.finditer(page):
        line = page.count("\n", 0, found.start()) + 1
        if found["kind"]:
            before = page[: found.start()].rstrip().rpartition("\n")[2]
            yield Block(line, found["kind"], found["block"], before)
        elif found["inline"] and not _PLACEHOLDER.search(found["inline"]):
            yield Block(line, "inline", " ".join(found["inline"].split()), "")


def commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what the page shows below it."""
    return re.findall(r"^\$ separatrix (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


def run_page(path: Path, folder: Path, run: Run) -> list[str]:
    """Run a page in a folder, which ``run`` must have made the current one, and return what went wrong."""
    names: dict[str, object] = {"__name__": "page"}
    faults: list[str] = []
    for block in blocks(path.read_text(encoding="utf-8")):
        where = f"{path.name}:{block.line}"
        if block.kind == "text":
            if name := re.search(r"`([\w-]+\.csv)`:?$", block.before):
                (folder / name[1]).write_text(block.text, encoding="utf-8")
        elif block.kind == "inline":
            status, _, messages = run(*shlex.split(block.text)[1:])
            faults += [f"{where}: {block.text}\nexit status {status}\n{messages}"] * bool(status)
        elif block.kind == "console":
            faults += _commands(where, block.text, run)
        else:
            names = _python(where, block.text, names, faults)
        faults += [f"{where}: {fault}" for fault in _pictures(block.text, folder)]
    return faults


def _commands(where: str, block: str, run: Run) -> list[str]:
    faults, checker = [], doctest.OutputChecker()
    for command, shown in commands(block):
        status, printed, messages = run(*shlex.split(command))
        refused = shown.startswith("separatrix:")
        expected = 2 if refused else 1 if shown.startswith("rejected") else 0
        if status != expected:
            faults.append(f"{where}: separatrix {command}\nexit status {status}\n{messages}")
        elif not checker.check_output(shown, messages if refused else printed, LENIENT):
            faults.append(f"{where}: separatrix {command}\n{printed}{messages}")
    return faults


def _python(where: str, block: str, names: dict[str, object], faults: list[str]) -> dict[str, object]:
    test = doctest.DocTestParser().get_doctest(block, names, where, where, 0)
    if not test.examples:
        faults.append(f"{where}: no >>>")
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LENIENT)
    if runner.run(test, out=report.append, clear_globs=False).failed:
        faults.append(f"{where}\n{''.join(report)}")
    return test.globs


def _pictures(block: str, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pictures that a block names."""
    for name in dict.fromkeys(re.findall(r"(?<![\w/.])[\w-]+\.(?:png|svg|gif)\b", block)):
        path = folder / name
        if not path.exists():
            yield f"{name} was not written"
        elif path.suffix == ".svg":
            if not ET.parse(path).getroot().tag.endswith("svg"):
                yield f"{name} is no SVG image"
        else:
            try:
                with Image.open(path) as image:
                    sides, frames = image.size, getattr(image, "n_frames", 1)
                    plain = len(image.convert("L").resize((64, 64)).getcolors() or []) < 8
            except UnidentifiedImageError:
                yield f"{name} is no image"
                continue
            if not all(200 <= side <= 4000 for side in sides) or plain:
                yield f"{name} is empty, too small or too large: {sides}"
            if path.suffix == ".gif" and frames < 2:
                yield f"{name} does not move"


def shown_pictures(page: str) -> list[str]:
    """Return the pictures that a page shows, as it names them."""
    return re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", page, re.MULTILINE)
