"""How much memory there is for rows."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from separatrix.text import byte_size

_CONTROL = Path("/sys/fs/cgroup")
_PLAIN = (".csv", ".tsv", ".txt", ".psv", ".jsonl", ".ndjson", ".json", ".npy", ".libsvm", ".svm", ".svmlight")
_PACKED = 4  # how much larger the text is than a packed file, about
_OF_ROWS, _OF_TASKS = 10, 15  # numbers for each column at the peak of a fit, as measured: of scaling, of each task
_UNKNOWN = 4 << 30  # where the system does not say
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}


def available() -> int:
    """Return about how many bytes this process can still take: of the machine, its container and its own limits."""
    return max(0, min([_of_machine(), *_of_container(), *_of_process()]))


def check_columns_fit(where: str, width: int, classes: int) -> None:
    """Refuse rows of so many columns that the weights of a model would not fit into half of the free memory.

    Sparse rows are as wide as their largest index, however few columns occur; weights, averages and the model that is
    written are not sparse.
    """
    tasks = classes if classes > 2 else 1
    needed, free = 8 * width * (_OF_ROWS + _OF_TASKS * tasks), available()
    if needed > free // 2:
        raise ValueError(
            f"{where} has {width:,} columns (the largest index counts, though most may be empty): a model of "
            f"{max(classes, 2)} classes would take about {byte_size(needed)} of memory, and "
            f"{byte_size(free)} are free; number the columns that occur from 1 without gaps"
        )


def size_of_files(where: str | None) -> int:
    """Return about how many bytes of text a path, a folder or a pattern stands for; 0 if that cannot be told."""
    if where is None or where == "-":
        return 0
    path = Path(where)
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    if not path.exists():
        files = [Path(each) for each in glob.glob(where, recursive=True)]
    try:
        return sum(each.stat().st_size * (1 if each.suffix.lower() in _PLAIN else _PACKED) for each in files)
    except OSError:
        return 0


def parse_size(text: str) -> int:
    """Return the bytes that ``500MB`` or ``2G`` stand for.

    Examples
    --------
    >>> parse_size("500MB"), parse_size("2g")
    (524288000, 2147483648)
    """
    cleaned = text.strip().lower().replace("ib", "b")
    digits = cleaned.rstrip("bkmg")
    try:
        size = float(digits) * _UNITS[cleaned[len(digits) :].strip()]
    except (ValueError, KeyError):
        raise ValueError(f"--memory must be a size such as 500MB or 2GB; found {text!r}") from None
    if not 0 < size < 2**60:
        raise ValueError(f"--memory must be a size such as 500MB or 2GB; found {text!r}")
    return int(size)


def _of_machine() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _of_container() -> list[int]:
    """Return what a control group leaves, where it sets a limit; copies of files that it can drop are free."""
    out = []
    for folder, limit, used, dropped in (
        (_CONTROL, "memory.max", "memory.current", "inactive_file"),
        (_CONTROL / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            taken = int((folder / used).read_text())
            out.append(int((folder / limit).read_text()) - taken + min(taken, _statistic(folder, dropped)))
        except (OSError, ValueError):
            continue
    return out


def _statistic(folder: Path, name: str) -> int:
    try:
        pairs = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return next((int(pair[1]) for pair in pairs if pair[0] == name), 0)
    except (OSError, ValueError, IndexError):
        return 0


def _of_process() -> list[int]:
    """Return what limits set on this process leave of address space and data."""
    try:
        import resource

        pages = Path("/proc/self/statm").read_text().split()
    except (ImportError, OSError):
        return []
    page = os.sysconf("SC_PAGE_SIZE")
    used = {resource.RLIMIT_AS: int(pages[0]) * page, resource.RLIMIT_DATA: int(pages[5]) * page}
    limits = [(resource.getrlimit(kind)[0], taken) for kind, taken in used.items()]
    return [limit - taken for limit, taken in limits if limit != resource.RLIM_INFINITY]
