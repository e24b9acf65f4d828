"""An object of a cluster as the manifest that somebody may have written for it."""

from __future__ import annotations

from typing import Any

import yaml

from validator.audit.defaults import without_defaults
from validator.fields import mapping, text
from validator.files import File
from validator.scalars import scalar
from validator.source import Source

METADATA = ("name", "namespace", "labels", "annotations")
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Writer(_Dumper):  # type: ignore[misc]
    """Writes scripts as blocks, so that their lines are lines, and quotes what the validator would not read as text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(writer: Any, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None if scalar(value) == value else '"'
    node: yaml.ScalarNode = writer.represent_scalar("tag:yaml.org,2002:str", value, style)
    return node


_Writer.add_representer(str, _text)


def file(tree: dict[str, Any]) -> File:
    """The object as a text under its name, such as `pytorchjob/team/llm`."""
    written = yaml.dump(manifest(tree), Dumper=_Writer, width=1 << 30, allow_unicode=True)
    return File(Source(name(tree), written))


def name(tree: dict[str, Any]) -> str:
    """Kind, namespace if it has one, and name."""
    parts = (tree["kind"].lower(), text(tree, "metadata", "namespace"), text(tree, "metadata", "name"))
    return "/".join(part for part in parts if part)


def manifest(tree: dict[str, Any]) -> dict[str, Any]:
    """The object without what only the API server and the operators have to say about it."""
    kept = mapping(tree, "metadata")
    annotations = {key: value for key, value in mapping(kept, "annotations").items() if key != APPLIED}
    metadata = {key: value for key, value in {**kept, "annotations": annotations}.items() if key in METADATA and value}
    rest = {key: value for key, value in tree.items() if key not in ("metadata", "status")}
    result = {**rest, "metadata": metadata}
    return without_defaults(result) if tree["kind"] == "Job" else result
