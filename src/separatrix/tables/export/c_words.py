"""C literals: names, strings, numbers, arrays and comments that every compiler reads alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

_OF_C = """alignas alignof auto bool break case char const constexpr continue default do double else enum extern false
float for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct
switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while"""
_OF_CPP = """and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor catch char8_t char16_t char32_t
class co_await co_return co_yield compl concept const_cast consteval constinit decltype delete dynamic_cast explicit
export friend mutable namespace new noexcept not not_eq operator or or_eq private protected public reinterpret_cast
requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq"""
_OF_MACROS = """NULL NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL EOF DOMAIN OVERFLOW UNDERFLOW SING PLOSS TLOSS I RAND_MAX
TRUE FALSE assert complex errno imaginary offsetof stdin stdout stderr linux unix i386 arm vax near far huge small
interface min max math_errhandling"""  # names that headers or compilers give to something else
_KEYWORDS = frozenset((*_OF_C.split(), *_OF_CPP.split()))
_RESERVED = _KEYWORDS | frozenset(_OF_MACROS.split())
_LIKE_MACROS = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")  # M_PI, FP_NAN, LONG_MAX
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LONGEST_NAME = 48  # C promises to tell names apart by their first 63 letters, and ours get longer
_LONGEST_TEXT = 4000  # bytes; C99 promises 4,095 for one literal
_LINE = 116


def check_name(name: str) -> str:
    """Return the prefix of all names in a header, or refuse it.

    Examples
    --------
    >>> check_name("penguins")
    'penguins'
    >>> check_name("2nd")
    Traceback (most recent call last):
    ...
    ValueError: '2nd' is not a prefix for C names: use letters, digits and _, a letter first, at most 48 characters
    """
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise ValueError(
            f"{name!r} is not a prefix for C names: use letters, digits and _, a letter first, at most {_LONGEST_NAME} "
            "characters"
        )
    if name in _KEYWORDS:
        raise ValueError(f"{name!r} is not a prefix for C names: it is a keyword of C or C++")
    return name


def members(names: Iterable[str]) -> list[str]:
    """Return for each column a name that C can have for it, no two the same.

    Examples
    --------
    >>> members(["age", "größe (cm)", "class", "1st", "日本", "AGE", "age", "M_PI"])
    ['age', 'gr_e_cm', 'class_', 'column_1st', 'column_5', 'AGE', 'age_2', 'M_PI_']
    """
    taken: set[str] = set()
    identifiers = []
    for place, name in enumerate(names, start=1):
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:_LONGEST_NAME].rstrip("_")
        plain = plain if plain[:1].isalpha() else f"column_{plain or place}"
        plain = f"{plain}_" if plain in _RESERVED or _LIKE_MACROS.fullmatch(plain) else plain
        own, count = plain, 1
        while own in taken:
            count += 1
            own = f"{plain.rstrip('_')}_{count}"
        taken.add(own)
        identifiers.append(own)
    return identifiers


def text(value: str, what: str) -> str:
    r"""Return a text in UTF-8 as C writes it; one that is too long for a literal as the letters between braces.

    Examples
    --------
    >>> print(text('say "é1"??/', "a label"))
    "say \"\303\2511\"\?\?/"
    """
    if "\0" in value:
        raise ValueError(f"{what} contains a null character, which ends a string in C: {value!r}")
    letters = [_letter(byte) for byte in value.encode("utf-8")]
    if len(letters) > _LONGEST_TEXT:
        return "{" + ",".join("'\\''" if each == "'" else f"'{each}'" for each in letters) + ",0}"
    return '"' + "".join(letters) + '"'


def _letter(byte: int) -> str:
    letter = chr(byte)
    if letter in '"\\?':
        return f"\\{letter}"
    return letter if 32 <= byte < 127 else f"\\{byte:03o}"


def number(value: Any) -> str:
    """Return a double that reads back as the same bits."""
    if not math.isfinite(value):
        raise ValueError(f"cannot export a model with a weight that is {float(value)}")
    return repr(float(value))


def numbers(name: str, values: Any) -> str:
    """Return an array of doubles, or of whole numbers as int; one of no numbers gets a 0 that nobody reads.

    Examples
    --------
    >>> print(numbers("a", [[1.0, 0.1]]))
    static const double a[1][2] = {
        {1.0, 0.1}};
    """
    values = np.asarray(values)
    kind = "int" if values.dtype.kind in "iu" else "double"
    if not values.size:
        wide = "".join(f"[{max(size, 1)}]" for size in values.shape[1:])
        return f"static const {kind} {name}[1]{wide} = {'{' * values.ndim}0{'}' * values.ndim};"
    shape = "".join(f"[{size}]" for size in values.shape)
    words = [str(each) if kind == "int" else number(each) for each in values.ravel().tolist()]
    head = f"static const {kind} {name}{shape} = "
    if values.ndim == 1:
        return f"{in_lines(words, head + '{', '    ')}}};"
    width = values.shape[1]
    rows = [in_lines(words[begin : begin + width], "    {", "     ") for begin in range(0, len(words), width)]
    return head + "{\n" + "},\n".join(rows) + "}};"


def texts(name: str, values: Sequence[str], what: str) -> str:
    """Return an array of texts."""
    lines, cells = [], []
    for place, value in enumerate(values):
        literal = text(value, what)
        if literal.startswith("{"):
            lines.append(f"static const char {name}_{place}[] = {literal};")
            literal = f"{name}_{place}"
        cells.append(literal)
    lines.append(in_lines(cells, f"static const char *const {name}[{len(cells)}] = {{", "    ") + "};")
    return "\n".join(lines)


def in_lines(words: Sequence[str], first: str, later: str) -> str:
    """Return the words with commas between them, in lines of some length: one that begins so, and later ones."""
    lines, line, empty = [], first, True
    for place, word in enumerate(words):
        piece = word + ("," if place < len(words) - 1 else "")
        if len(line) + len(piece) > _LINE and (line != later or not empty):
            lines.append(line)
            line, empty = later, True
        line += piece if empty else f" {piece}"
        empty = False
    return "\n".join([*lines, line])


def quoted(value: str) -> str:
    r"""Return a text between quotes for a comment, which it cannot end, nor join to another line.

    Examples
    --------
    >>> print(quoted('a */ ??/ /* "b"\n'))
    "a * / ? ?/ / * \"b\"\n"
    """
    shown = "".join(
        f"\\{each}" if each in '"\\' else each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in value
    )
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return '"' + re.sub(r"\?(?=\?)|\*(?=/)|/(?=\*)", r"\g<0> ", shown) + '"'
