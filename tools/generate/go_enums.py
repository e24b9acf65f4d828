"""The fields of Kubernetes' own kinds and the values that they take, from the Go source of its API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# By definition (`core.v1.PodSpec`) and field.
Enums = dict[str, dict[str, list[str]]]

_MARKED = re.compile(r"^// \+enum\n(?://.*\n)*type (\w+) string$", re.MULTILINE)
_CONSTANT = re.compile(r'^\s+\w+\s+(\w+)\s+= "([^"]*)"', re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t\w+\s+(\S+)\s+`json:"(\w+)', re.MULTILINE)
# Types of these packages stand in others.
_SHARED = ("core/v1",)


def enums(module: Path) -> Enums:
    """Return the values of each field whose Go type is marked as an enumeration, in all packages of k8s.io/api."""
    texts = _texts(module)
    known = {package: dict(_values(text)) for package, text in texts.items()}
    shared = {name: values for package in _SHARED for name, values in known[package].items()}
    found: Enums = {}
    for package, text in texts.items():
        for struct, kind, field in _fields(text):
            values = (shared if "." in kind else known[package]).get(re.split(r"[\]*.]", kind)[-1])
            if values and "map" not in kind:
                found.setdefault(f"{package.replace('/', '.')}.{struct}", {})[field] = values
    return found


def fields(module: Path) -> dict[str, list[str]]:
    """Return the names of all fields of each definition."""
    found: dict[str, list[str]] = {}
    for package, text in _texts(module).items():
        for struct, _, field in _fields(text):
            found.setdefault(f"{package.replace('/', '.')}.{struct}", []).append(field)
    return found


def joined(first: Enums, second: Enums) -> Enums:
    """Return the fields of the first with the values of both."""
    return {
        struct: {field: sorted({*values, *second.get(struct, {}).get(field, ())}) for field, values in known.items()}
        for struct, known in first.items()
    }


def _texts(module: Path) -> dict[str, str]:
    return {str(file.parent.relative_to(module)): file.read_text() for file in sorted(module.glob("*/*/types.go"))}


def _fields(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield struct, Go type and name of each field."""
    for struct, body in _STRUCT.findall(text):
        for kind, field in _FIELD.findall(body):
            yield struct, kind, field


def _values(text: str) -> Iterator[tuple[str, list[str]]]:
    constants = _CONSTANT.findall(text)
    for name in _MARKED.findall(text):
        yield name, sorted(value for kind, value in constants if kind == name and value)
