"""The studio's page in a browser: claims.mjs does what a person does there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from browser_pages import chromium, invalid, lacking
from separatrix.studio.page import html

SCRIPT = Path(__file__).with_name("claims.mjs")


def test_the_page_is_valid_and_every_claim_about_it_holds_in_chromium(tmp_path: Path) -> None:
    reason = lacking()
    if reason and os.environ.get("SEPARATRIX_TEST_BROWSER") != "required":
        pytest.skip(reason)
    assert reason is None, reason
    page = tmp_path / "studio.html"
    page.write_text(html(), encoding="utf-8")
    assert [fault for fault in invalid([page]) if "Content Security Policy" not in fault] == []  # it knows no hashes
    done = subprocess.run(
        ["node", str(SCRIPT), str(chromium()), str(page)], capture_output=True, text=True, timeout=400, check=False,
        env={**os.environ, "DISPLAY": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) >= 14
    assert {claim: problem for claim, problem in found.items() if problem} == {}
