"""The encoding of a text file: detected by its first bytes or given by name, and the text in UTF-8.

UTF-16 and UTF-32 show by their byte order mark, UTF-16 without one by its zero bytes. Bytes that are not UTF-8 are
taken for windows-1252, which most old files in latin-1 are in; its five undefined bytes are those of latin-1.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

from separatrix.tables.sources.messages import path_text

UTF_8 = "utf-8"
FALLBACK = "windows-1252"
_SHOWN = 2000  # bytes that show whether a file is text
_NO_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "mbcs", "oem"}
_1252 = "".join(bytes([k]).decode("latin-1" if k in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "cp1252") for k in range(256))


class NotUtf8Error(ValueError):
    """A text that was taken for UTF-8 is not; ``path`` is the file."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


def not_utf8(at: str, path: str) -> NotUtf8Error:
    """Return the error for a line that is not UTF-8."""
    return NotUtf8Error(f"{at}: the text is not UTF-8; give its encoding, as in --encoding {FALLBACK}", path)


def check_encoding(name: str) -> str:
    """Return Python's name for an encoding, or say that there is none.

    Examples
    --------
    >>> check_encoding("Latin-1"), check_encoding("UTF8"), check_encoding("cp1252")
    ('iso8859-1', 'utf-8', 'windows-1252')
    """
    try:
        "a".encode(name)  # refuses what is no encoding of text, as base64
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        found = "undefined"
    if found in _NO_CHARSETS:
        raise ValueError(
            f"there is no encoding {name!r}; --encoding takes names such as utf-8, utf-16, latin-1, {FALLBACK} or cp437"
        )
    return {"utf-8-sig": UTF_8, "cp1252": FALLBACK}.get(found, found)


def detect(head: bytes, whole: bool) -> str:
    r"""Return the encoding of a text that begins with these bytes; what is not text counts as UTF-8.

    Examples
    --------
    >>> [detect(text, True) for text in ("x,é".encode(), "x,é".encode("utf-16"), "x,é".encode("latin-1"), b"a\0b")]
    ['utf-8', 'utf-16', 'windows-1252', 'utf-8']
    """
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    shown = head[:_SHOWN]
    if b"\0" in shown:
        even, odd = shown[::2].count(0), shown[1::2].count(0)
        return UTF_8 if max(even, odd) <= len(shown) * 0.4 else "utf-16-be" if even > odd else "utf-16-le"
    try:
        codecs.getincrementaldecoder(UTF_8)().decode(head, whole)
    except UnicodeDecodeError:
        return FALLBACK if is_text(head) else UTF_8
    return UTF_8


def is_text(head: bytes) -> bool:
    """Return whether few of the first bytes are control characters."""
    shown = head[:_SHOWN]
    return b"\0" not in head and sum(byte < 9 or 13 < byte < 27 for byte in shown) <= len(shown) * 0.05


def in_utf8(pieces: Iterator[bytes], encoding: str, name: str, *, whole: bool = True) -> Iterator[bytes]:
    """Yield a text in UTF-8; one that is in UTF-8 already as it is.

    Parameters
    ----------
    pieces : iterator of bytes
        The text in its encoding, cut anywhere.
    encoding : str
        As `check_encoding` or `detect` returns it.
    name : str
        What messages call the file.
    whole : bool
        Whether the last piece ends the text; else a character that is cut there is left out.
    """
    if encoding == UTF_8:
        yield from pieces
        return
    decoder: Any = _Windows1252() if encoding == FALLBACK else codecs.getincrementaldecoder(encoding)()
    line = 1
    for piece, last in _with_end(pieces, whole):
        try:
            text: str = decoder.decode(piece, last)
            raw = text.encode()  # fails for half of a surrogate pair
        except UnicodeError:
            raise ValueError(
                f"{path_text(name)}: the text is not {encoding}, from about line {line} on; give another --encoding"
            ) from None
        line += raw.count(b"\n")
        if raw:
            yield raw


def _with_end(pieces: Iterator[bytes], whole: bool) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    if whole:
        yield b"", True


class _Windows1252:
    """A decoder to which every byte is a character."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """Return the text."""
        return codecs.charmap_decode(data, "strict", _1252)[0]
