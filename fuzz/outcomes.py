"""What may come of a case: a result, or a refusal in one clean sentence. Anything else is a failure."""

from __future__ import annotations

import re
import unicodedata

_INTERNAL = re.compile(
    r"INTERNAL Error|[Aa]ssert|Traceback|std::|object at |at 0x[0-9a-f]{6,}|NoneType|unexpected error|please report",
    re.ASCII,
)


class CaseError(Exception):
    """What must hold does not: the kind of failure, and the details."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


def check_sentence(text: str) -> str:
    """Hold what must be true of a message; return it without its details, as the name of an outcome."""
    odd = [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    if odd:
        raise CaseError("message", f"has the control character {odd[0]!r}: {text!r}")
    if not text.strip():
        raise CaseError("message", "is empty")
    if len(text) > 1200:
        raise CaseError("message", f"has {len(text)} characters: {text[:300]!r}")
    if _INTERNAL.search(text):
        raise CaseError("message", f"is not for users: {text!r}")
    return "refused: " + re.sub(r"'[^']*'|\"[^\"]*\"|[0-9.]+", "*", text)[:80]
