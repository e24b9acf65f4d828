"""Tables of the fields of configurations of components: files that a kubelet or a scheduler reads, and no API server.

They are made from the Go types of the oldest and the newest Kubernetes that are pinned: a field of either is known.
Those of Kueue are of the newest release: since 0.4 no version has lost a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.harness.cluster.modules import source
from tools.generate import type_tables
from tools.generate.type_tables import Table

FOLDER = type_tables.FOLDER / "components"
FILES = f"{FOLDER}/*.txt"
_OLDEST, _NEWEST = "kubernetes-oldest", "kubernetes"
_KUBEADM = "cmd/kubeadm/app/apis/kubeadm"


class Package(NamedTuple):
    """A Go package with configurations of a group and version, in modules that the folders of tools pin."""

    api_version: str
    module: str
    folder: str
    tools: tuple[str, ...] = (_OLDEST, _NEWEST)


PACKAGES = (
    Package("kubelet.config.k8s.io/v1beta1", "k8s.io/kubelet", "config/v1beta1"),
    Package("kubescheduler.config.k8s.io/v1", "k8s.io/kube-scheduler", "config/v1"),
    Package("kubeadm.k8s.io/v1beta3", "k8s.io/kubernetes", f"{_KUBEADM}/v1beta3", (_OLDEST,)),
    Package("kubeadm.k8s.io/v1beta4", "k8s.io/kubernetes", f"{_KUBEADM}/v1beta4", (_NEWEST,)),
    Package("config.kueue.x-k8s.io/v1beta1", "sigs.k8s.io/kueue", "apis/config/v1beta1", ("kueue",)),
    Package("config.kueue.x-k8s.io/v1beta2", "sigs.k8s.io/kueue", "apis/config/v1beta2", ("kueue",)),
)
# The structures that configurations take over, written with a dot in their package.
_SHARED = Package("", "k8s.io/component-base", "config/v1alpha1")

_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t(?:\w+\s+)?(\S+)\s+`json:"([^"]*)"', re.MULTILINE)
_NAMED = re.compile(r"^type (\w+) (string|bool|int32|int64|map\[string\]\w+)$", re.MULTILINE)
_ENUM = re.compile(r'^\t\w+\s+(\w+) = "([^"]*)"', re.MULTILINE)
_SCALARS = {
    "string": "s", "bool": "b", "int": "i", "int32": "i", "int64": "i", "uint": "i", "uint32": "i", "uint64": "i",
    "float32": "n", "float64": "n", "resource.Quantity": "q", "[]byte": "s",
}  # fmt: skip
_META = "metav1.TypeMeta"


def write(root: Path) -> None:
    """Write one table for each group."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Table] = {}
    shared = _Types([_text(tool, _SHARED) for tool in _SHARED.tools], Table(), None)
    for package in PACKAGES:
        table = tables.setdefault(package.api_version.partition("/")[0], Table())
        types = _Types([_text(tool, package) for tool in package.tools], table, shared)
        for kind in types.kinds():
            table.add_root(package.api_version, kind, types.of(kind))
    for group, table in tables.items():
        (folder / f"{group}.txt").write_text(table.text(), encoding="utf-8")


def _text(tool: str, package: Package) -> str:
    folder = source(tool, package.module) / package.folder
    files = {*folder.glob("types*.go"), *folder.glob("*_types.go")}
    return "\n".join(file.read_text() for file in sorted(files))


class _Types:
    """The structures of a package in several releases; a field of any release is known."""

    def __init__(self, texts: list[str], table: Table, shared: _Types | None) -> None:
        self._table, self._shared = table, shared
        self.fields: dict[str, dict[str, str]] = {}
        self._named: dict[str, str] = {}
        for text in texts:
            self._named |= dict(_NAMED.findall(text))
            for struct, body in _STRUCT.findall(text):
                self.fields.setdefault(struct, {}).update(
                    {_name(tag, kind): kind for kind, tag in _FIELD.findall(body)}
                )
        self._known: dict[str, str] = {}

    def kinds(self) -> Iterator[str]:
        """Yield the structures that are whole files."""
        yield from (name for name, fields in self.fields.items() if _META in fields)

    def of(self, struct: str) -> str:
        """Return the name of the type of a structure in the table."""
        if struct not in self._known:
            parts = self._parts(struct)
            body = " ".join(sorted(f"{name}={reference}" for name, reference in parts.items()))
            self._known[struct] = self._table.intern(body, struct)
        return self._known[struct]

    def _parts(self, struct: str) -> dict[str, str]:
        parts: dict[str, str] = {}
        for name, kind in self.fields[struct].items():
            if kind == _META:
                parts |= {"apiVersion": "a", "kind": "a", "metadata": "a"}
            elif name != kind:
                parts[name] = self.reference(kind)
            elif kind in self.fields:
                parts |= self._parts(kind)
            elif self._shared is not None and (inner := kind.rpartition(".")[2]) in self._shared.fields:
                parts |= {one: self.reference(two) for one, two in self._shared.fields[inner].items()}
            else:
                parts["*"] = "a"
        return parts

    def reference(self, kind: str) -> str:
        """Return the reference to the type of a field; anything fits a type of another package."""
        kind = kind.removeprefix("*")
        if kind in _SCALARS:
            return _SCALARS[kind]
        if kind.startswith("[]"):
            return "[" + self.reference(kind[2:])
        if kind.startswith("map[string]"):
            return "{" + self.reference(kind.removeprefix("map[string]"))
        if kind in self.fields:
            return self.of(kind)
        return self.reference(self._named[kind]) if kind in self._named else "a"


def _name(tag: str, kind: str) -> str:
    """Return the name of a field in a file: the type itself if its fields stand in those of the structure."""
    name, *options = tag.split(",")
    return kind if "inline" in options or not name else name
