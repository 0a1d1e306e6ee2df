"""What can be fuzzed, by name."""

from __future__ import annotations

from typing import Any

from commands import Commands
from model_files import ModelFiles
from readers import READERS

from certificates import Certificates

TARGETS: dict[str, Any] = {each.name: each for each in (*READERS, ModelFiles(), Certificates(), Commands())}
