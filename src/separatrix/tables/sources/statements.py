"""The text of queries: only one SELECT statement is accepted, and an error is one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from separatrix.tables.sources.messages import csv_problem, quoted, short
from separatrix.text import listed

_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*.*?\*/", re.DOTALL)
_READING = ("select", "with", "from", "values", "table")


def first_word(sql: str) -> str:
    """Return the first word of a query in lower case, after comments.

    Examples
    --------
    >>> first_word("/* all */ SELECT 1")
    'select'
    """
    at = 0
    while comment := _COMMENT.match(sql, at):
        at = comment.end()
    word = re.match(r"\(*\s*([a-z]+)", sql[at:], re.IGNORECASE)
    return word.group(1).lower() if word else ""


def only_reading(sql: str, words: Iterable[str] = _READING) -> str:
    """Return the query without its last semicolon; a ValueError if it is not a query."""
    word = first_word(sql)
    if not word:
        raise ValueError("the query is empty")
    if word not in words:
        raise ValueError(f"the query begins with {word.upper()}; only one SELECT statement is accepted")
    return sql.strip().rstrip(";").rstrip()


def other_file(message: str) -> str | None:
    """Return the end of a sentence if DuckDB was not allowed to read a file, as in a query over a database."""
    refused = re.search(r'Cannot access (?:file|directory) "(.*?)".*disabled by configuration', message)
    if refused is None:
        return None
    return f"reads {quoted(refused.group(1))}; of a database, only the tables in its own file can be read"


def query_problem(message: str, tables: Iterable[str] = (), columns: Iterable[str] = ()) -> str:
    """Return the reason why DuckDB rejects a query as one sentence.

    Parameters
    ----------
    message : str
        The message of DuckDB.
    tables, columns : iterable of str
        The names that exist.
    """
    table = re.search(r"Table with name (.*?) does not exist", message)
    if table:
        known = listed(tables)
        hint = f"the tables are {known}" if known else "name a file in quotes, as in: select * from 'data.csv'"
        return f"the query names an unknown table {table.group(1)}; {hint}"
    column = re.search(r'Referenced (?:column|table) "(.*?)" not found', message)
    if column:
        near = re.search(r"Candidate (?:bindings|tables): (.*)", message)
        known = listed(columns) or (short(near.group(1).replace('"', "")) if near else "")
        return f"the query names an unknown column {column.group(1)}" + (f"; the columns are {known}" if known else "")
    if re.search(r"httpfs|requires the extension", message):
        return "the query reads from the network or in a format that is not built in; only local files can be read"
    missing = re.search(r'No files found that match the pattern "(.*?)"', message)
    if missing:
        return f"the query reads a file {missing.group(1)} that does not exist"
    if (other := other_file(message)) is not None:
        return f"the query, or a view that it names, {other}"
    if "Parser Error" in message:
        return f"the query is not valid SQL: {short(message)}"
    if "data-modifying" in message:
        return "the query writes; only one SELECT statement is accepted"
    line = re.search(r"CSV Error on Line: (\d+)", message)
    cell = re.search(r'Could not convert string "(.*?)" to \'(\w+)\'', message, re.DOTALL)
    if line and cell:
        return (
            f"the query fails on line {line.group(1)} of a file: {quoted(cell.group(1))} is not of type {cell.group(2)}"
        )
    if line:
        return csv_problem("a file of the query", message, str) or f"the query fails: {short(message)}"
    return f"the query fails: {short(message)}"
