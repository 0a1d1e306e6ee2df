"""Model files: fitted models on the disk, read without running anything from the file."""

from __future__ import annotations

from separatrix.models.model_file import load, read_facts, save

__all__ = ["load", "read_facts", "save"]
