r"""The text of ARFF and KEEL files: the attributes of the header, and the data as lines of CSV.

Every line of data becomes one line of CSV and a comment a blank one, so that lines keep their numbers. Values may be in
single or double quotes, with escapes such as ``\'``; ``?`` and KEEL's ``<null>`` are missing unless they are in quotes.
Lines without quotes are rewritten many at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from separatrix.tables.sources.messages import path_text, quoted
from separatrix.tables.sources.text_encoding import not_utf8

_LONGEST = 64_000_000  # bytes of a line
_QUOTED = r"'(?:[^'\\]|\\.)*'|" + r'"(?:[^"\\]|\\.)*"'
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{}}'\"][^\s{{}}]*)\s*(.*)", re.IGNORECASE | re.DOTALL)
_LEVEL = re.compile(rf"\s*(?:({_QUOTED})\s*|([^,]*))(,|\Z)", re.DOTALL)
_TYPE = re.compile(r"(numeric|real|integer|string|date|relational)\b", re.IGNORECASE)
_KINDS = {"numeric": "number", "real": "number", "integer": "number", "string": "text", "date": "date"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_NEEDS_QUOTES = re.compile(rb'[",\r\n]|\A[ \t]|[ \t]\Z|\A\Z')
_MISSING = b"NA"  # as CSV has it; an empty line would be no row
_EDGES = [bytes(pair) for gap in b" \t" for end in b",\n" for pair in ((gap, end), (end, gap))]  # spaces around a value
_ABSENT = rb"\?(?<![^,\n]\?)(?![^,\n])|<null>(?<![^,\n]<null>)(?![^,\n])"  # each tried only where its letter is found
_MARKS = re.compile(_ABSENT)
_SIMPLE = re.compile(rb"'(?<![^,\n]')(?:((?:[^'\\\n]|\\.)*)'(?![^,\n])|())|" + _ABSENT)
_ROW_OF_ITS_OWN = re.compile(rb"^[ \t]*[%{]", re.MULTILINE)
_ODD = re.compile(rb"^((?:[ \t]*[%{]|[^\n]*['\"])[^\n]*)$", re.MULTILINE)
_CELL = re.compile(rb"[ \t]*(?:('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[ \t]*|([^,]*))(,|\Z)", re.DOTALL)
_SPACED_CELL = re.compile(rb"[ \t,]*(?:('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|([^ \t,]+))()", re.DOTALL)
_PAIR = re.compile(rb"[ \t]*([0-9]+)[ \t]+(?:('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[ \t]*|([^,]*))(,|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Attribute:
    """A column of an ARFF file.

    Parameters
    ----------
    name : str
        As the header writes it, without quotes.
    kind : str
        ``"number"``, ``"category"``, ``"text"`` or ``"date"``.
    first : str
        The first value of a category, which sparse rows leave out.
    """

    name: str
    kind: str
    first: str = ""


class ArffText:
    r"""An ARFF file that is read line by line.

    Parameters
    ----------
    pieces : iterable of bytes
        Its text in UTF-8, cut anywhere.
    name : str
        What messages call it.

    Attributes
    ----------
    attributes : list of Attribute
        The columns.
    line : int
        The number of the line ``@data``.

    Examples
    --------
    >>> text = ArffText([b"@relation r\n@attribute 'a b' numeric\n@attribute c {x, y}\n@data\n1.5, ?\n{0 2}\n"], "r")
    >>> [(each.name, each.kind) for each in text.attributes], text.line
    ([('a b', 'number'), ('c', 'category')], 4)
    >>> b"".join(text.rows())
    b'1.5,NA\n2,x\n\n'
    """

    def __init__(self, pieces: Iterable[bytes], name: str) -> None:
        self.name = path_text(name)
        self.attributes: list[Attribute] = []
        self.line = 0
        self._blocks = _whole_lines(pieces, self.name)
        self._rest = self._read_header()
        self._zeros = [_csv_cell("0" if each.kind == "number" else each.first) for each in self.attributes]
        self._spaced = False
        self._row = self.line

    def _read_header(self) -> bytes:
        """Read the attributes and return the lines behind ``@data`` that have been read with them."""
        known: set[str] = set()
        for block in self._blocks:
            start = 0
            while start < len(block):
                stop = block.find(b"\n", start)
                line = block[start:stop].strip()
                start = stop + 1
                self.line += 1
                if self._is_data(line, known):
                    return block[start:]
        raise ValueError(f"{self.name} has no line @data; an ARFF file has its rows below it")

    def _is_data(self, raw: bytes, known: set[str]) -> bool:
        """Read one line of the header; return whether the data follow."""
        if raw.startswith(b"%"):
            return False
        try:
            line = raw.decode().removeprefix("\ufeff").strip()
        except UnicodeDecodeError:
            raise not_utf8(self._at(), "") from None
        if not line or line.startswith("%"):
            return False
        if "\0" in line:
            raise ValueError(f"{self._at()}: a zero byte; an ARFF file is text")
        word = line.split(None, 1)[0].lower()
        if word == "@attribute":
            attribute = self._attribute(line)
            if attribute.name in known:
                raise ValueError(f"{self.name} has two columns called {attribute.name!r}")
            known.add(attribute.name)
            self.attributes.append(attribute)
        elif word == "@data":
            if not self.attributes:
                raise ValueError(f"{self._at()}: no @attribute line is before @data, so there are no columns")
            return True
        elif word not in ("@relation", "@inputs", "@input", "@outputs", "@output"):
            raise ValueError(
                f"{self._at()}: {quoted(line)} is not a line of an ARFF header, which has @relation, @attribute and "
                "@data"
            )
        return False

    def _attribute(self, line: str) -> Attribute:
        parts = _ATTRIBUTE.fullmatch(line)
        name = _unquoted(parts.group(1)).strip() if parts else ""
        if parts is None or not name:
            raise ValueError(f"{self._at()}: {quoted(line)} is not '@attribute NAME TYPE'")
        kind = parts.group(2)
        if kind.startswith("{"):
            return Attribute(name, "category", self._first_level(kind))
        word = _TYPE.match(kind)
        if word is None or word.group(1).lower() not in _KINDS:
            raise ValueError(
                f"{self._at()}: the type {quoted(kind)} of attribute {name!r} cannot be read; types are numeric, real, "
                "integer, string, date and {A, B}"
            )
        return Attribute(name, _KINDS[word.group(1).lower()])

    def _first_level(self, kind: str) -> str:
        """Return the first value of a category."""
        end = kind.rfind("}")
        if end < 0:
            raise ValueError(f"{self._at()}: {quoted(kind)} has no closing brace")
        level = _LEVEL.match(kind[1:end])
        return "" if level is None else _unquoted(level.group(1) or level.group(2).strip())

    def _at(self, line: int | None = None) -> str:
        return f"{self.name}, line {self.line if line is None else line}"

    def rows(self) -> Iterator[bytes]:
        """Yield the data as lines of CSV with commas, without a header."""
        first = True
        for block in chain((self._rest,), self._blocks):
            if first and (line := _first_line(block)):
                first = False
                self._spaced = b"," not in line and not line.startswith(b"{") and len(self.attributes) > 1
            text = self._simple(block) if self._is_simple(block) else self._any(block)
            if len(self.attributes) == 1:  # a blank line would be a row
                text = re.sub(rb"\n{2,}", b"\n", text).removeprefix(b"\n")
            if text:
                yield text

    def _is_simple(self, block: bytes) -> bool:
        """Return whether values are in single quotes or none, without spaces around them, in dense rows only."""
        if self._spaced or b"'" not in block or b'"' in block or any(edge in block for edge in _EDGES):
            return False
        return block[:1] not in (b" ", b"\t") and _ROW_OF_ITS_OWN.search(block) is None

    def _simple(self, block: bytes) -> bytes:
        """Rewrite such lines: only values in quotes and missing ones change."""
        known: dict[bytes, bytes] = {}

        def changed(found: re.Match[bytes]) -> bytes:
            value = found.group(1)
            if value is None:
                if found.group(2) is None:
                    return _MISSING
                self._row += block.count(b"\n", 0, found.start())
                raise self._unclosed(block[found.start() : block.find(b"\n", found.start())])
            cell = known.get(value)
            if cell is None:
                cell = known[value] = self._value(found.group(), None)
            return cell

        text = _SIMPLE.sub(changed, block)
        self._row += block.count(b"\n")
        return text

    def _any(self, block: bytes) -> bytes:
        """Rewrite lines of any kind: those with quotes, sparse rows and comments one by one."""
        parts = _ODD.split(block)
        for k in range(1, len(parts), 2):
            parts[k - 1] = self._plain(parts[k - 1])
            self._row += parts[k - 1].count(b"\n")
            parts[k] = self._odd(parts[k].strip(b" \t"))
        parts[-1] = self._plain(parts[-1])
        self._row += parts[-1].count(b"\n")
        return b"".join(parts)

    def _plain(self, lines: bytes) -> bytes:
        """Rewrite lines without quotes."""
        if not self._spaced:
            lines = lines.replace(b", ", b",")
        if self._spaced or lines[:1] in (b" ", b"\t") or any(edge in lines for edge in _EDGES):
            lines = re.sub(rb"(?<![ \t])[ \t]+$", b"", re.sub(rb"^[ \t]+", b"", lines, flags=re.M), flags=re.M)
            if self._spaced:
                lines = re.sub(rb"[ \t]+", b",", lines)
            else:
                lines = re.sub(rb"(?<![ \t])[ \t]+,", b",", re.sub(rb",[ \t]+", b",", lines))
        return _MARKS.sub(_MISSING, lines)

    def _odd(self, line: bytes) -> bytes:
        """Rewrite a comment, a sparse row, or a row with quotes."""
        if line.startswith(b"%"):
            return b""
        if line.startswith(b"{"):
            return self._sparse(line)
        cells, place = [], 0
        pattern = _SPACED_CELL if self._spaced else _CELL
        while cell := pattern.match(line, place):
            cells.append(self._value(cell.group(1), cell.group(2)))
            place = cell.end()
            if not cell.group(3) and not self._spaced:
                break
        return b",".join(cells)

    def _sparse(self, line: bytes) -> bytes:
        """Return all cells of a row such as ``{1 3, 4 yes}``."""
        row = self._row + 1
        if not line.endswith(b"}"):
            raise ValueError(f"{self._at(row)}: the sparse row has no closing brace, or something follows it")
        inside, cells, place, last = line[1:-1].strip(b" \t"), list(self._zeros), 0, -1
        while inside:
            pair = _PAIR.match(inside, place)
            at = int(pair.group(1)) if pair and len(pair.group(1)) < 10 else len(cells)
            if pair is None or not last < at < len(cells):
                raise ValueError(
                    f"{self._at(row)}: a sparse row must have pairs 'INDEX VALUE' with indices that rise from 0 to "
                    f"{len(cells) - 1}; found {quoted(inside[place:].decode(errors='replace'))}"
                )
            cells[at], last, place = self._value(pair.group(2), pair.group(3)), at, pair.end()
            if not pair.group(4):
                break
        return b",".join(cells)

    def _value(self, in_quotes: bytes | None, plain: bytes | None) -> bytes:
        """Return a value as a cell of CSV."""
        if in_quotes is not None:
            return _csv_cell(_unquoted(in_quotes.decode(errors="surrogateescape")))
        value = (plain or b"").strip(b" \t")
        if value in (b"?", b"<null>"):
            return _MISSING
        if value.startswith((b"'", b'"')):
            raise self._unclosed(value)
        return _csv_cell(value.decode(errors="surrogateescape"))

    def _unclosed(self, value: bytes) -> ValueError:
        text = quoted(value.decode(errors="replace"))
        return ValueError(f"{self._at(self._row + 1)}: the quote of {text} is not closed, or text follows it")


def _csv_cell(text: str) -> bytes:
    """Return a value as a cell of CSV, in quotes if it needs them."""
    raw = text.encode(errors="surrogateescape")
    return b'"' + raw.replace(b'"', b'""') + b'"' if _NEEDS_QUOTES.search(raw) else raw


def _unquoted(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape.group(1), escape.group(1)), text[1:-1])


def _first_line(block: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment."""
    lines = (line.strip() for line in block.split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"%")), b"")


def _whole_lines(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield blocks of whole lines that end with LF each, whatever ends them in the text."""
    held: list[bytes] = []
    length = 0
    for piece in chain(pieces, (b"\n",)):
        stop = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1  # behind a CR at the end there may be an LF
        length += len(piece)
        if not stop:
            held.append(piece)
            if length > _LONGEST:
                raise ValueError(f"{name} has a line longer than {_LONGEST:,} bytes, the most that can be read")
            continue
        text = b"".join([*held, piece[:stop]])
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
        held, length = [piece[stop:]], len(piece) - stop
