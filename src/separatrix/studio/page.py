"""The studio as one HTML file, which needs neither a server nor the network.

The page's sources are ES modules, a style sheet and the compiled core beside this file. :func:`html` joins them: each
module becomes a function that returns its exports, in an order in which every module comes after those that it
imports. The policy of the page allows these texts, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("web")
CORE = Path(__file__).with_name("core.wasm")
_IMPORT = re.compile(r'^import \{([\w$,\s]+)\} from "\./(\w+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const) ([\w$]+))", re.MULTILINE)


def html(begins: dict[str, Any] | None = None, *, served: bool = False) -> str:
    """Return the page as one file, which begins with these points; one that is served may ask its server.

    Examples
    --------
    >>> page = html()
    >>> page.startswith("<!doctype html>"), len(page) < 1_000_000
    (True, True)
    """
    page, style = bundle("main"), _read("studio.css")
    core = base64.b64encode(gzip.compress(CORE.read_bytes(), 9, mtime=0)).decode()
    texts = {
        "STYLE": style,
        "CORE": core,
        "SERVED": json.dumps({"served": served, **(begins or {})}).replace("<", "\\u003c"),  # names may hold anything
        "WORKER": bundle("worker_start"),
        "PAGE": page,
        "POLICY": policy(page, style, connects=served),
    }
    for name, text in texts.items():
        if re.search(r"</(script|style)", text, re.IGNORECASE):
            raise ValueError(f"the {name.lower()} of the page would end its element")
    places = re.compile(rf"(?<=[>\"])({'|'.join(texts)})(?=[<\"])")
    return places.sub(lambda place: texts[place[1]], _read("index.html"))


def policy(page: str, style: str, *, connects: bool = False) -> str:
    """Return the content security policy of a page with these texts, which may or may not ask its server."""
    return "; ".join(
        (
            "default-src 'none'", f"script-src {_hash(page)} 'wasm-unsafe-eval'", f"style-src {_hash(style)}",
            "worker-src blob:", "img-src data: blob:", "base-uri 'none'", "form-action 'none'",
            *(("connect-src 'self'",) if connects else ()),
        )
    )  # fmt: skip


def bundle(name: str) -> str:
    """Return a module and all that it imports as one script."""
    parts: dict[str, str] = {}
    _add(name, parts)
    return "".join(parts.values())


def _add(name: str, parts: dict[str, str]) -> None:
    if name in parts:
        return
    source = _read(f"{name}.mjs")
    for _, other in _IMPORT.findall(source):
        _add(other, parts)
    exported = ", ".join(_EXPORT.findall(source))
    body = _EXPORT.sub("", _IMPORT.sub(r"const {\1} = \2_module;\n", source))
    parts[name] = f"const {name}_module = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
