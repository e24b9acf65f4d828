"""The names of variables in a build of NCCL, and their comparison with the validator's registry.

`python -m tools.gpu.nccl_library libnccl.so.2` prints the names.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.facts.nccl.names import is_foreign
from trainyard.facts.nccl.registry import Variable, Version

DESCRIPTION = "Print the names of the environment variables in a build of NCCL, one a line."
# A string of its own. The linker may place it directly after bytes that are not text, or after a string without an end.
# After a space or a quote it is the end of a sentence.
_NAME = re.compile(rb"""(?<![A-Z_ '"(])NCCL_[A-Z0-9_]+(?=\0)""")
_VERSION = re.compile(rb"NCCL version (\d+)\.(\d+)\.(\d+)\+cuda")
# https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html and ch4.sheader.html, 64 bits
_MAGIC = b"\x7fELF\x02\x01"
_SECTION = struct.Struct("<IIQQQQ")
_SECTION_TABLE, _SECTION_COUNTS = struct.Struct("<Q"), struct.Struct("<HHH")
_PLACE_OF_TABLE, _PLACE_OF_COUNTS = 0x28, 0x3A


@dataclass(frozen=True)
class Library:
    """The release of a build of NCCL, none if it does not say, and the `NCCL_` names in its read-only data."""

    version: Version | None
    names: frozenset[str]


@dataclass(frozen=True)
class Comparison:
    """Names in the library that the registry lacks, and names that the registry says this release reads in vain."""

    lacking: tuple[str, ...]
    in_vain: tuple[str, ...]


def read(path: Path) -> Library:
    """Reads a shared library.

    Raises:
        ValueError: The file is not a 64-bit ELF file with read-only data.
    """
    data = path.read_bytes()
    # The names of enumerators are only in the debug sections.
    text = next((part for name, part in _sections(data) if name == ".rodata"), None)
    if text is None:
        raise ValueError(f"{path} is not a shared library of Linux: it has no section .rodata")
    match = _VERSION.search(text)
    version = tuple(int(number) for number in match.groups()) if match else None
    return Library(version, frozenset(name.decode() for name in _NAME.findall(text)))


def compare(library: Library, registry: Mapping[str, Variable]) -> Comparison:
    """Compares the names of a library with those that the registry knows for its release."""
    expected = {name for name, variable in registry.items() if _is_read_by(variable, library.version)}
    lacking = sorted(name for name in library.names if name not in registry and not is_foreign(name))
    return Comparison(tuple(lacking), tuple(sorted(expected - library.names)))


def _is_read_by(variable: Variable, version: Version | None) -> bool:
    if version is None or variable.first is None or variable.last is None:
        return False
    return variable.first <= version <= variable.last


def _sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    if not data.startswith(_MAGIC):
        return
    (table,) = _SECTION_TABLE.unpack_from(data, _PLACE_OF_TABLE)
    size, count, names = _SECTION_COUNTS.unpack_from(data, _PLACE_OF_COUNTS)
    headers = [_SECTION.unpack_from(data, table + number * size) for number in range(count)]
    strings = headers[names][4]
    for name, _kind, _flags, _address, offset, length in headers:
        end = data.index(b"\0", strings + name)
        yield data[strings + name : end].decode(), data[offset : offset + length]


def main(arguments: Sequence[str]) -> int:
    """Prints the names in a library."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.nccl_library", description=DESCRIPTION)
    parser.add_argument("library", metavar="FILE", type=Path, help="libnccl.so.2, such as that of nvidia-nccl-cu13")
    path = parser.parse_args(arguments).library
    try:
        names = read(path).names
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(sorted(names)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
