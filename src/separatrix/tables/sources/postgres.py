"""Queries to a PostgreSQL server, streamed through ADBC in a read-only transaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from separatrix.tables.sources.arrow_files import column_of, standard_array, unique_names
from separatrix.tables.sources.base import ROWS, Column, TableSource
from separatrix.tables.sources.messages import interrupted, short
from separatrix.tables.sources.statements import only_reading

_WORDS = ("select", "with", "values", "table")
_BATCH = 8 << 20  # bytes of a batch from the server
_FRUGAL_BATCH = 1 << 20
_WAIT = 15  # seconds for a connection
_HOST = r"(?:\[[^]@/]*\]|[^][@/:,?]*)(?::\d*)?"
_PLACE = re.compile(rf"(?:([^@/]*)@)?({_HOST}(?:,{_HOST})*/[^@?]*\?(.*))", re.DOTALL)
_OPTION = re.compile(  # the driver quotes the name of any other, which may be part of a password
    r"(?:(?:fallback_)?application_name|channel_binding|client_encoding|connect_timeout|dbname|gss(?:delegation|encmode"
    r"|lib)|host(?:addr)?|keepalives(?:_count|_idle|_interval)?|krbsrvname|load_balance_hosts|options|passfile|password"
    r"|port|replication|require_auth|requirepeer|service|ssl(?:cert|certmode|compression|crl|crldir|key|mode|negotiation"
    r"|password|rootcert|sni|_(?:min|max)_protocol_version)|target_session_attrs|tcp_user_timeout|user)=.*",
    re.DOTALL,
)


class PostgresSource(TableSource):
    """The rows of one query.

    Parameters
    ----------
    address : str
        ``postgresql://user:password@host:port/database``; messages never show the user or the password.
    sql : str
        One SELECT statement.
    frugal : bool
        Request smaller batches.
    """

    def __init__(self, address: str, sql: str, *, frugal: bool = False) -> None:
        self.name = "the query"
        if not re.match(r"postgres(?:ql)?://", address):
            raise ValueError("the address of a database must begin with postgresql://")
        self._sql = only_reading(sql, _WORDS)
        self._hidden = _secrets(address)
        if "connect_timeout" not in address:
            address += ("&" if "?" in _parts(address)[1] else "?") + f"connect_timeout={_WAIT}"
        self._address = address
        self._batch = _FRUGAL_BATCH if frugal else _BATCH
        with self._explained(), self._cursor() as cursor:
            schema = cursor.adbc_execute_schema(self._sql)
        self.columns = tuple(_column(field) for field in schema)
        unique_names([column.name for column in self.columns], self.name)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        try:
            from adbc_driver_postgresql import StatementOptions, dbapi
        except ImportError:
            raise ValueError("PostgreSQL needs a driver; install it with: pip install 'separatrix[postgres]'") from None
        with dbapi.connect(self._address) as connection, connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{StatementOptions.BATCH_SIZE_HINT_BYTES.value: str(self._batch)})
            cursor.execute("set transaction read only")
            yield cursor

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, KeyboardInterrupt, GeneratorExit) as problem:
            if isinstance(problem, pa.ArrowException):  # some of which are ValueErrors
                raise ValueError(self._explain(str(problem))) from None
            raise
        except Exception as problem:
            if interrupted(problem) or "CANCELLED" in str(problem):
                raise KeyboardInterrupt from None
            raise ValueError(self._explain(str(problem))) from None

    def _explain(self, message: str) -> str:
        for secret in self._hidden:
            message = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", message)
        message = re.sub(r'\b(user|role) "[^"]*"', r'\1 "***"', message)
        error = re.search(r"(?:ERROR|FATAL):\s+(.*)", message)
        reason = short(error.group(1) if error else re.sub(r"^.*Failed to connect: ", "", message))
        if "Failed to connect" in message:
            return f"cannot connect to the database: {reason}"
        if "read-only transaction" in message:
            return f"the query writes; only one SELECT statement is accepted: {reason}"
        return f"the database rejected the query: {reason}"

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        places, read = self.places(names), 0
        with self._explained(), self._cursor() as cursor:
            cursor.execute(self._sql)
            for large in cursor.fetch_record_batch():
                for start in range(0, large.num_rows, rows):
                    batch = large.slice(start, rows)
                    arrays = [_standard_array(batch.column(k), self.columns[k]) for k in places]
                    read += batch.num_rows
                    yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        if not read:
            raise ValueError("the query returns no rows")


def _parts(address: str) -> tuple[str, str]:
    """Return the user part of an address, and what comes behind it.

    A ``/`` or ``@`` in the password ends it too early: the driver would take the rest for a host or a database, and
    quote it. So such an address is refused here. An ``@`` in an option that the driver knows is another matter, where
    a whole host comes before the first ``/`` and no further ``/`` behind the ``@``.
    """
    rest = re.sub(r"^\w+://", "", address)
    whole = _PLACE.fullmatch(rest)
    options = whole.group(3).split("&") if whole and "/" not in whole.group(3).partition("@")[2] else []
    if whole and options and all(map(_OPTION.fullmatch, options)):
        return whole.group(1) or "", whole.group(2)
    user, _, place = rest.rpartition("@")
    if re.search(r"[/@]", user):
        raise ValueError(
            "the address of the database has / or @ in its user part, which must be encoded: write %2F for /, %40 for "
            "@ in the password"
        )
    return user, place


def _secrets(address: str) -> list[str]:
    """Return what must not be shown, the longest first: the user part, the password, and passwords among options."""
    user, place = _parts(address)
    secrets = [user, user.partition(":")[2]]
    secrets += re.findall(r"[?&](?:ssl)?password=([^&]*)", place, re.IGNORECASE)
    known = {text for secret in secrets for text in (secret, unquote(secret), quote(secret, safe="")) if text}
    return sorted(known, key=len, reverse=True)


def _column(field: Any) -> Column:
    metadata = field.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type") or metadata.get(b"ADBC:postgresql:typname") or str(field.type).encode()
    kind = kind.decode()
    if kind == "numeric":
        return Column(field.name, "number", False, kind)
    if kind == "uuid":
        return Column(field.name, "text", False, kind)
    return replace(column_of(field), type=kind)


def _standard_array(values: Any, column: Column) -> Any:
    if column.type == "uuid":
        return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
    return standard_array(values, column)
