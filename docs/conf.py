"""Settings of the documentation; ``python scripts/docs`` builds it. Nothing here or in the pages needs the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from separatrix import __version__
from separatrix.studio.page import html

project = "separatrix"
copyright = "the separatrix developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "command_reference", "formulas"]
exclude_patterns = ["extensions"]
nitpicky = True
default_role = "literal"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"separatrix {release}"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_static_path = ["pages.css"]
html_css_files = ["pages.css"]

# The docstrings name types in words ("array of shape (n,)"), which are no references.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]


def without_aliases(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples, of which Python can only say that they are fields."""
    return True if type(member).__name__ == "_tuplegetter" else None


def write_studio(app: Any, problem: Exception | None) -> None:
    """Put the studio beside the pages, which link to it; not where the page about it is."""
    if problem is None and app.builder.format == "html":
        page = Path(app.outdir) / "page" / "studio.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(html(), encoding="utf-8")


def setup(app: Any) -> None:
    """Tell autodoc, and write what is no page of the documentation."""
    app.connect("autodoc-skip-member", without_aliases)
    app.connect("build-finished", write_studio)
