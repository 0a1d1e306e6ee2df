r"""Regular expressions from a model file: only such whose time grows no faster than the text that they search.

Backtracking makes other patterns take time without end: ``(\w+)+#`` never comes back from thirty letters. Here a
pattern is a row of single characters (letters, digits, ``\w``, ``[a-z]`` and the like), of which only the last may be
repeated, and nothing follows it but ``\b``, and that only where ``\b`` stands first as well: a try that fails has then
gone over characters at which no other begins.
"""

from __future__ import annotations

import re

_CHARACTER = r"(?:\\[wdsWDS.-]|\[\^?(?:\\[wdsWDS.\-\]]|[^\\\[\]&|~])+\]|\w|[ .#@'-])"
_REPEATED = r"(?:[+*?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})"
_TOKENS = re.compile(rf"(?:\(\?u\))?(\\b)?{_CHARACTER}{{0,32}}{_CHARACTER}{_REPEATED}?(?(1)(?:\\b)?)")
_NAMES = re.compile(rf"\^?{_CHARACTER}{{1,64}}(?:{_REPEATED}|\$)?")


def is_token_pattern(pattern: str) -> bool:
    r"""Whether this pattern of words is harmless.

    Examples
    --------
    >>> [is_token_pattern(each) for each in (r"(?u)\b\w\w+\b", r"\w+", r"\b[a-zA-Z]{3,}\b", r"(\w+)+#", r"\w+\w+#")]
    [True, True, True, False, False]
    """
    return bool(_TOKENS.fullmatch(pattern))


def is_name_pattern(pattern: str) -> bool:
    """Whether this pattern of column names is harmless.

    Examples
    --------
    >>> [is_name_pattern(each) for each in ("^num_", "_id$", "x.*", "(x+)+$")]
    [True, True, True, False]
    """
    return bool(_NAMES.fullmatch(pattern))
