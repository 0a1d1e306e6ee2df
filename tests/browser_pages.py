"""Chromium, node and Java, for tests that look at pages as a reader does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "browser"
_VALIDATOR = FOLDER / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"


def chromium() -> str | None:
    """Return the browser's path, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


def lacking() -> str | None:
    """Return what is not there to look at pages with, None if all is."""
    for what, there in (
        ("chromium", chromium()),
        ("node", shutil.which("node")),
        ("java", shutil.which("java")),
        ("the packages of tests/browser (npm install there)", _VALIDATOR.exists()),
    ):
        if not there:
            return f"{what} is not found" if " " not in what else f"{what} are not found"
    return None


def seen(pages: Iterable[Path], output: Path | None = None) -> dict[str, list[str]]:
    """Return what is wrong with each page in a browser, at three widths, in light and dark, and on paper."""
    browser = chromium()
    assert browser is not None
    command = ["node", str(FOLDER / "look.mjs"), browser, "-" if output is None else str(output), *map(str, pages)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "DISPLAY": ""}
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def invalid(pages: Iterable[Path]) -> list[str]:
    """Return what the Nu validator says about the HTML of pages."""
    command = ["java", "-jar", str(_VALIDATOR), "--format", "json", "--exit-zero-always", *map(str, pages)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [f"{each['url']}: {each['message']}" for each in json.loads(done.stderr)["messages"]]
