"""ARFF and KEEL files as tables: the header gives names and types, and the core reads a copy of the data as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from separatrix.tables.sources.arff_text import ArffText
from separatrix.tables.sources.base import TableSource
from separatrix.tables.sources.cells import NUMBER, TEXT, WHOLE
from separatrix.tables.sources.copies import Copies, text_of
from separatrix.tables.sources.csv_files import CsvSource, asked
from separatrix.tables.sources.dialect import Dialect
from separatrix.tables.sources.duck import Duck, on_duck
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text
from separatrix.tables.sources.peeking import PEEK, Peek, longer
from separatrix.tables.sources.spool import SpooledTable
from separatrix.tables.sources.text_encoding import UTF_8


class ArffSource(CsvSource):
    """The data of an ARFF file.

    Parameters
    ----------
    duck : Duck
        A connection for queries and dates, closed with the source.
    request : Request
        The copy of the data.
    header : ArffText
        The attributes.
    """

    typed = True
    empty = "has no rows below @data"

    def __init__(self, duck: Duck, request: Request, header: ArffText) -> None:
        self._header = header
        super().__init__(duck, request)
        self.mark = "arff"

    def _dialects(self, request: Request) -> tuple[list[Peek], list[Dialect]]:
        head, names = request.peeks[0], [each.name for each in self._header.attributes]
        blank = len(head.head) - len(head.head.lstrip(b"\n"))
        if blank == len(head.head):
            raise ValueError(f"{path_text(request.name)} {self.empty}")
        row = len(head.head) / max(1, head.head.count(b"\n"))
        header = b",".join(b"c" for _ in names) + b"\n"
        return [head], [Dialect(names, ",", blank, blank, row, header, before=self._header.line)]

    def _set_types(self, types: Sequence[str]) -> None:
        """Read columns as the header says: whole numbers are numbers, a date is whatever its cells are."""
        super()._set_types([_type(each.kind, kind) for each, kind in zip(self._header.attributes, types, strict=True)])

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Do nothing: the columns have types of their own."""
        return None


def _type(kind: str, cells: str) -> str:
    if kind == "number":
        return cells if cells in (WHOLE.name, NUMBER.name) else NUMBER.name
    return cells if kind == "date" else TEXT


def open_arff(request: Request) -> TableSource:
    """Open an ARFF or KEEL file as a table."""
    file, name, head = request.files[0], request.name, request.peeks[0]
    copies = Copies(request.files)
    try:
        text = ArffText(text_of(file, name, head, request.watch), name)
        path = copies.write(text.rows(), name)
        head = longer(replace(head, compression="none", encoding=UTF_8), path, name, PEEK)
        csv = replace(request, files=[path], peeks=[head], header=False, delimiter=",")
        source = on_duck(request.frugal, lambda duck: asked(ArffSource(duck, csv, text), request.sql))
        return SpooledTable(source, copies)
    except BaseException:
        copies.close()
        raise
