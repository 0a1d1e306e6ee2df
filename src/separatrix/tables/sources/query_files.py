"""The files that a query of DuckDB reads, found in its syntax tree before a row is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from separatrix.tables.sources.duck import Duck, EngineError, literal

_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")
_QUERIES = ("query",)  # functions of which the argument is SQL


def files_of_query(duck: Duck, text: str) -> list[str]:
    """Return the files that a query names, in tables and in arguments of table functions, each once and sorted.

    Names that expressions make (``read_csv('part' || '*.csv')``) are computed, and patterns are expanded as DuckDB
    does it. A name is listed whether or not the query comes to read a row of it.
    """
    return sorted({path for name in _names(duck, text) for path in _expanded(duck, name)})


def _names(duck: Duck, text: str) -> Iterator[str]:
    """Yield whatever may name a file, or several."""
    tree = _tree(duck, text)
    if tree is None:  # a statement that DuckDB cannot write as a tree
        for single, double in _QUOTED.findall(text):
            yield single.replace("''", "'") or double.replace('""', '"')
        return
    for node in _nodes(tree):
        if node["type"] == "BASE_TABLE":
            name = ".".join(filter(None, (node.get(part) for part in ("catalog_name", "schema_name", "table_name"))))
            if "." in name:  # a table is taken for a file by its ending
                yield name
            continue
        function = node["function"]
        # the arguments of DuckDB 2 have names, those before were a plain list
        arguments = function.get("children") or [each["expression"] for each in function.get("arguments", ())]
        for value in (value for each in arguments for value in _strings(_value(duck, each))):
            if function["function_name"] in _QUERIES:
                yield from _names(duck, value)
            else:
                yield value


def _tree(duck: Duck, text: str) -> Any:
    tree = json.loads(duck.rows(f"select json_serialize_sql({literal(text)})")[0][0])
    return None if tree.get("error") else tree


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the tables and table functions of a syntax tree."""
    if isinstance(value, dict):
        if value.get("type") in ("BASE_TABLE", "TABLE_FUNCTION"):
            yield value
        for each in value.values():
            yield from _nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from _nodes(each)


def _value(duck: Duck, expression: Any) -> Any:
    """Return the value of an argument, None for one that is no value of its own, as ``delim = ';'``."""
    tree = _tree(duck, "select 1")
    tree["statements"][0]["node"]["select_list"] = [expression]
    try:
        return duck.rows(f"select * from json_execute_serialized_sql({literal(json.dumps(tree))})")[0][0]
    except EngineError:
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _expanded(duck: Duck, name: str) -> list[str]:
    """Return the files that DuckDB takes a name for; none if it is that of a table."""
    here = [name] if os.path.exists(name) and not os.path.isdir(name) else []  # perhaps with letters of patterns
    try:
        return here + [row[0] for row in duck.rows(f"select file from glob({literal(name)})")]
    except EngineError:  # an address of the network, which the query cannot read either
        return here
