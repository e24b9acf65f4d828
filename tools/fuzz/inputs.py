"""Inputs: files of this repository, changed at random."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (
    "validator/trainyard/rules/*/cases/*.yaml",
    "charts/*/ci/*.yaml",
    "charts/*/values.yaml",
    "charts/*/templates/**/*.yaml",
    "recipes/*/values.yaml",
)
# The linter reads longer files too, but the budget of one second is for each MiB.
MOST_BYTES = 1 << 20
# What scalars of YAML, shell scripts, annotations and quantities have choked on.
NASTY = (
    b"", b"~", b"null", b"{}", b"[]", b"0", b"-1", b"1e999", b".nan", b"0x1F", b"1_000", b"99999999999999999999",
    b"true", b"on", b"2001-01-01", b"!!binary x", b"!tag", b"&a", b"*a", b"<<: *a", b"|", b">-", b"'", b'"', b"\\",
    b"{{ .Values.x }}", b"$(", b"$((", b"`", b"<<EOF", b"&&", b"%", b"@", b"#", b": ", b"- ", b"---", b"...", b"\t",
    b"\r\n", b"\x00", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf", "\u2028".encode(), "\U0001f600".encode(), b"::error::",
)  # fmt: skip
_SCALAR = re.compile(rb"(?<=[:\-] )[^\n#&*{\[|>]+")


def draw(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yields `count` inputs, each with words on how it was made."""
    files = sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)})
    chance = random.Random(seed)  # noqa: S311 - the draws must be repeatable
    for _ in range(count):
        path = chance.choice(files)
        content, made = path.read_bytes(), [str(path.relative_to(ROOT))]
        for change in chance.choices(CHANGES, weights=WEIGHTS, k=chance.randint(1, 4)):
            content = change(content, chance)[:MOST_BYTES]
            made.append(change.__name__)
        yield " ".join(made), content


def flip(content: bytes, chance: random.Random) -> bytes:
    """Changes a few bytes."""
    changed = bytearray(content or b"\n")
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(content: bytes, chance: random.Random) -> bytes:
    """Removes a range of bytes."""
    begin, end = _range(len(content), chance)
    return content[:begin] + content[end:]


def replace_scalars(content: bytes, chance: random.Random) -> bytes:
    """Replaces some scalars by nasty ones."""
    share = chance.choice((0.02, 0.1, 0.5))
    return _SCALAR.sub(lambda match: chance.choice(NASTY) if chance.random() < share else match[0], content)


def insert(content: bytes, chance: random.Random) -> bytes:
    """Inserts a nasty text, once or often."""
    place = chance.randint(0, len(content))
    return content[:place] + chance.choice(NASTY) * chance.choice((1, 1, 3, 1000)) + content[place:]


def shuffle_lines(content: bytes, chance: random.Random) -> bytes:
    """Moves and repeats lines."""
    lines = content.splitlines(keepends=True) or [b"\n"]
    for _ in range(chance.randint(1, 10)):
        lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
        del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def indent(content: bytes, chance: random.Random) -> bytes:
    """Indents a range of lines."""
    lines = content.splitlines(keepends=True)
    begin, end = _range(len(lines), chance)
    spaces = b" " * chance.randint(1, 4)
    return b"".join(spaces + line if begin <= number < end else line for number, line in enumerate(lines))


def repeat_lines(content: bytes, chance: random.Random) -> bytes:
    """Repeats a range of lines up to a large size."""
    lines = content.splitlines(keepends=True) or [b"\n"]
    begin, end = _range(len(lines), chance)
    part = b"".join(lines[begin:end]) or lines[0]
    times = chance.choice((20, 500, MOST_BYTES // len(part)))
    numbered = (re.sub(rb"(name: \S+)", rb"\1-%d" % number, part) for number in range(times))
    return b"".join((*lines[:begin], *numbered, *lines[end:]))


def repeat_scalar(content: bytes, chance: random.Random) -> bytes:
    """Makes one scalar very long."""
    found = list(_SCALAR.finditer(content))
    if not found:
        return content
    match = chance.choice(found)
    word = chance.choice((match[0], *NASTY)) or b"x"
    long = word * (chance.choice((1 << 10, 1 << 16, MOST_BYTES)) // len(word))
    return content[: match.start()] + long + content[match.end() :]


def repeat_documents(content: bytes, chance: random.Random) -> bytes:
    """Makes a stream of the same document."""
    times = chance.choice((2, 50, 2000))
    return b"\n---\n".join([content] * min(times, MOST_BYTES // (len(content) + 5) + 1))


def nest(content: bytes, chance: random.Random) -> bytes:
    """Nests a value deeply."""
    deep = chance.choice((10, 200, 100_000))
    opening, closing = chance.choice(((b"[", b"]"), (b"{a: ", b"}")))
    return _SCALAR.sub(lambda _: opening * deep + b"1" + closing * deep, content, count=1)


def alias(content: bytes, chance: random.Random) -> bytes:
    """Makes one value an alias of another one."""
    found = list(_SCALAR.finditer(content))
    if len(found) < 2:
        return content
    first, second = sorted(chance.sample(found, 2), key=lambda match: match.start())
    between = content[first.start() : second.start()]
    return content[: first.start()] + b"&anchor " + between + b"*anchor" + content[second.end() :]


def _range(length: int, chance: random.Random) -> tuple[int, int]:
    begin = chance.randint(0, length)
    return begin, chance.randint(begin, min(length, begin + max(1, length // chance.choice((2, 20, 200)))))


Change = Callable[[bytes, random.Random], bytes]
CHANGES: Sequence[Change] = (
    flip, cut, replace_scalars, insert, shuffle_lines, indent,
    repeat_lines, repeat_scalar, repeat_documents, nest, alias,
)  # fmt: skip
# Large inputs take most of the time, and few of them find as much.
WEIGHTS = (6, 4, 8, 6, 6, 4, 2, 1, 1, 1, 3)
