r"""Regular expressions from a model file: only such whose time grows no faster than the text that they search.

Backtracking makes other patterns take time without end: ``(\w+)+#`` never comes back from thirty letters. Here a
pattern is a row of single characters (letters, digits, ``\w``, ``[a-z]`` and the like), of which the first may be
optional and only the last may be repeated. Behind that may stand a part that can be left out, as in ``\w+(?:'\w+)?``:
it never makes a match fail. ``\b`` may end it where ``\b`` stands first as well, or behind ``\w``: a try that fails has
then gone over characters at which no other begins. Several such patterns may be alternatives.
"""

from __future__ import annotations

import re

_INSIDE = r"(?:\\[wdsWDSntr.\-\]]|&(?!&)|\|(?!\|)|~(?!~)|[^\\\[\]&|~])"  # no && in a class
_CHARACTER = rf"(?:\\[wdsWDSntr.?!$*+|-]|\[\^?{_INSIDE}+\]|\w|[ !#@'-]|\.)"
_REPEATED = r"(?:[+*?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})"
_TAIL = rf"(?:\(\?:{_CHARACTER}{{1,4}}{_REPEATED}?\)[?*])?"
_BODY = rf"(?:{_CHARACTER}\?)?{_CHARACTER}{{0,32}}{_CHARACTER}{_REPEATED}?"
_BRANCH = rf"(?:\\b{_BODY}(?:\\b)?|{_CHARACTER}{{0,32}}\\w{_REPEATED}?\\b|{_BODY}{_TAIL})"
_BRANCHES = rf"{_BRANCH}(?:\|{_BRANCH}){{0,7}}"  # compiled when used: few models have words
_GROUPED = rf"(\\b)?\((?:\?:)?{_BODY}\)(?(1)(?:\\b)?)"  # one group around all
_FLAGS = re.compile(r"\(\?[iu]{1,2}\)")
_LONGEST = 500


def is_token_pattern(pattern: str) -> bool:
    r"""Whether this pattern of words is harmless.

    Examples
    --------
    >>> [is_token_pattern(each) for each in (r"(?u)\b\w\w+\b", r"\w+", r"\b[a-zA-Z]{3,}\b", r"(\w+)+#", r"\w+\w+#")]
    [True, True, True, False, False]
    """
    body = _FLAGS.sub("", pattern, count=1) if _FLAGS.match(pattern) else pattern
    return len(body) <= _LONGEST and bool(re.fullmatch(_BRANCHES, body) or re.fullmatch(_GROUPED, body))
