"""The beginning of a file: whether it is there, what it holds, and how it is packed."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from separatrix.tables.sources.messages import short, shown

PEEK = 1 << 20  # bytes

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".psv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".npy": "npy",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
    ".lsvm": "libsvm",
    ".duckdb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}  # .txt and .db can be several things: what they hold decides
_PACKED = {".gz": "gzip", ".zst": "zstd"}
_LIBSVM = re.compile(
    rb"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:,[+-]?[0-9.]+)*(?:[ \t]+qid:[0-9]+)?"  # labels
    rb"(?:[ \t]+[0-9]+:[^\s:]+)*[ \t]*(?:#.*)?\r?"  # pairs
)


@dataclass(frozen=True)
class Peek:
    """What the beginning of a file tells.

    Parameters
    ----------
    kind : str
        ``"csv"``, ``"parquet"``, ``"arrow"``, ``"json"``, ``"npy"``, ``"npz"``, ``"libsvm"``, ``"duckdb"`` or
        ``"sqlite"``.
    packing : str
        ``"none"``, ``"gzip"`` or ``"zstd"``.
    head : bytes
        The first bytes, unpacked.
    whole : bool
        Whether that is all.
    share : float
        The part of the file's own bytes that hold ``head``.
    """

    kind: str
    packing: str
    head: bytes
    whole: bool
    share: float


def must_be_there(path: str) -> None:
    """Raise a sentence where no file or folder is, with the nearest name there is."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path):
        raise ValueError(f"{shown(path)} is an address; only files on this machine are read")
    if os.path.lexists(path):
        return
    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), n=1)
    except OSError:
        near = []
    hint = f"; is {shown(os.path.join(folder, near[0]))} meant?" if near else ""
    raise ValueError(f"there is no file {shown(path)}{hint}")


def peek(path: str, name: str, size: int = PEEK) -> Peek:
    """Read the beginning of a file and recognise it by its ending, else by what it holds.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it; its ending counts.
    size : int
        How many unpacked bytes to read.
    """
    try:
        with open(path, "rb") as file:
            total = os.fstat(file.fileno()).st_size
            raw = file.read(size)
    except IsADirectoryError:
        raise ValueError(f"{shown(name)} is a folder; a file is needed") from None
    except PermissionError:
        raise ValueError(f"{shown(name)} may not be read: permission denied") from None
    except OSError as problem:
        raise ValueError(f"{shown(name)} cannot be read: {short(problem.strerror)}") from None
    if not raw:
        raise ValueError(f"{shown(name)} is empty")
    packing = "gzip" if raw[:2] == b"\x1f\x8b" else "zstd" if raw[:4] == b"\x28\xb5\x2f\xfd" else "none"
    stem, ending = os.path.splitext(name.lower())
    if ending in _PACKED:
        if packing == "none":
            raise ValueError(f"{shown(name)} is not {ending[1:]}: its first bytes are others")
        ending = os.path.splitext(stem)[1]
    share = len(raw) / max(total, 1)
    whole = len(raw) == total
    if packing != "none":
        raw, whole, used = _unpacked(path, name, packing, size)
        share = min(1.0, used / max(total, 1))
        if not raw:
            raise ValueError(f"{shown(name)} is empty")
        if packing == "zstd" and not _ends_well(path):  # engines do not always notice
            raise ValueError(cut_short(name, packing))
    kind = _ENDINGS.get(ending) or _by_content(raw, name, ending)
    if packing != "none" and kind not in ("csv", "json", "libsvm"):
        raise ValueError(f"{shown(name)} is {kind} inside {packing}; unpack it first")
    return Peek(kind, packing, raw, whole, share)


def _unpacked(path: str, name: str, packing: str, size: int) -> tuple[bytes, bool, int]:
    import pyarrow as pa

    parts, got, whole, used = [], 0, False, 0
    try:
        with pa.OSFile(path) as below, pa.CompressedInputStream(below, packing) as file:
            while got < size:
                part = file.read(min(65536, size - got))
                if not part:
                    whole = True
                    break
                parts.append(part)
                got += len(part)
            used = below.tell()
    except OSError as problem:
        if "runcated" in str(problem) or "end of" in str(problem):
            raise ValueError(cut_short(name, packing)) from None
        raise ValueError(f"{shown(name)} is damaged: {short(problem)}") from None
    return b"".join(parts), whole, used


def _ends_well(path: str) -> bool:
    """Walk over the blocks of a zstd file without unpacking them, and tell whether the last one is there."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        while file.tell() < size:
            magic = int.from_bytes(file.read(4), "little")
            if magic & 0xFFFFFFF0 == 0x184D2A50:  # a frame to skip
                file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
                continue
            first = file.read(1)
            if magic != 0xFD2FB528 or not first:
                return False
            single, checksum = first[0] >> 5 & 1, first[0] >> 2 & 1
            counted = (single, 2, 4, 8)[first[0] >> 6]  # bytes of the size of the content
            file.seek((not single) + (0, 1, 2, 4)[first[0] & 3] + counted, os.SEEK_CUR)
            last = 0
            while not last:
                head = file.read(3)
                if len(head) < 3:
                    return False
                number = int.from_bytes(head, "little")
                last, kind, length = number & 1, number >> 1 & 3, number >> 3
                file.seek(1 if kind == 1 else length, os.SEEK_CUR)
            file.seek(4 * checksum, os.SEEK_CUR)
        return file.tell() == size


def cut_short(name: str, packing: str) -> str:
    """Return the sentence for a packed file whose end is missing."""
    return f"{shown(name)} is cut short: its {'gz' if packing == 'gzip' else 'zst'} data end too early"


def _by_content(raw: bytes, name: str, ending: str) -> str:
    if raw[:4] == b"PAR1":
        return "parquet"
    if raw[:6] == b"ARROW1" or raw[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    if raw[:6] == b"\x93NUMPY":
        return "npy"
    if raw[:16] == b"SQLite format 3\x00":
        return "sqlite"
    if raw[8:12] == b"DUCK":
        return "duckdb"
    if raw[:4] == b"PK\x03\x04":
        if b".npy" in raw[:200]:
            return "npz"
        hint = "save the sheet as CSV" if ending in (".xlsx", ".xlsm", ".ods") else "unpack it first"
        raise ValueError(f"{shown(name)} is a zip archive; {hint}")
    if ending == ".db":
        raise ValueError(f"{shown(name)} is neither a SQLite nor a DuckDB database")
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return "json"
    return "libsvm" if looks_like_libsvm(raw) else "csv"


def looks_like_libsvm(raw: bytes) -> bool:
    """Tell whether the first lines read ``label index:value ...``."""
    lines = [line for line in raw[:65536].split(b"\n")[:20] if line.strip() and not line.startswith(b"#")]
    if len(raw) > 65536 and len(lines) > 1:
        lines = lines[:-1]  # the last may be cut
    pairs = any(re.search(rb"[ \t][0-9]+:[^\s:]+", line) for line in lines)
    return pairs and all(_LIBSVM.fullmatch(line) for line in lines)


def ending_of(path: str) -> str:
    """Return a file's ending in small letters, that of packing taken off."""
    stem, ending = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if ending in _PACKED else ending


def parquet_files(folder: str) -> list[str]:
    """Return every Parquet file below a folder, in order; hidden ones are left out."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder).parts
        if path.suffix.lower() in (".parquet", ".pq") and path.is_file() and not any(p[0] in "._" for p in inside):
            found.append(str(path))
    return found
