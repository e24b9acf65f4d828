"""Live objects of a cluster as the manifests that a user may have written."""

from __future__ import annotations

from typing import Any

import yaml

from gotemplate.scalars import resolve_scalar
from trainyard.commands.audit.defaults import without_defaults
from trainyard.commands.audit.kinds import Kind
from trainyard.document.files import File
from trainyard.document.lookup import mapping, text
from trainyard.document.source import Source

METADATA = ("name", "namespace", "labels", "annotations")
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Writer(_Dumper):  # type: ignore[misc]
    """Writes scripts as block scalars, so that line numbers hold, and quotes strings that the linter might misread."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(writer: Any, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None if resolve_scalar(value) == value else '"'
    node: yaml.ScalarNode = writer.represent_scalar("tag:yaml.org,2002:str", value, style)
    return node


_Writer.add_representer(str, _text)


def file(tree: dict[str, Any]) -> File:
    """Returns the object as a text under its name, such as `pytorchjob/team/llm`."""
    written = yaml.dump(manifest(tree), Dumper=_Writer, width=1 << 30, allow_unicode=True)
    return File(Source(name(tree), written))


def name(tree: dict[str, Any]) -> str:
    """Returns kind, namespace if it has one, and name."""
    group, _, version = tree["apiVersion"].rpartition("/")
    parts = (
        Kind(group, version, tree["kind"]).title.lower(),
        text(tree, "metadata", "namespace"),
        text(tree, "metadata", "name"),
    )
    return "/".join(part for part in parts if part)


def manifest(tree: dict[str, Any]) -> dict[str, Any]:
    """Returns the object without the fields that only the API server and the operators set."""
    kept = mapping(tree, "metadata")
    annotations = {key: value for key, value in mapping(kept, "annotations").items() if key != APPLIED}
    metadata = {key: value for key, value in {**kept, "annotations": annotations}.items() if key in METADATA and value}
    rest = {key: value for key, value in tree.items() if key not in ("metadata", "status")}
    result = {**rest, "metadata": metadata}
    return without_defaults(result) if tree["kind"] == "Job" and tree["apiVersion"] == "batch/v1" else result
