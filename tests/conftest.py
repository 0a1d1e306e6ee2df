"""Settings for every test."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips one of its checks without it

from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")
