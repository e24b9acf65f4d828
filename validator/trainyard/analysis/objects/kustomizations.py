"""Kustomizations whose resources are all in the files, and the objects that their patches change.

Sources: kubernetes-sigs/kustomize api/types/kustomization.go (Kustomization, Patch, Selector),
api/resmap/reswrangler.go (ApplySmPatch matches any id that an object had, GetMatchingResourcesByAnyId),
kyaml/resid/resid.go (IsNsEquals: no namespace is `default`, and nothing for kinds without namespaces),
fluxcd/kustomize-controller docs/spec/v1/kustomizations.md: Components, Post build variable substitution.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.loaders.schemas.partial import KUSTOMIZATIONS
from trainyard.model.run import Project
from trainyard.startup import NamedTuple

# With one of these, objects come from elsewhere or change in other ways.
_OPAQUE = (
    "components", "helmCharts", "helmChartInflationGenerator", "generators", "transformers", "configMapGenerator",
    "secretGenerator", "replacements", "openapi", "configurations", "vars", "crds",
)  # fmt: skip
# Options of a patch that may give an object another name or kind: the patches after it find the object by both.
_RENAMING = ("allowNameChange", "allowKindChange")
_DEEPEST = 8
# More steps in all take longer than a linter may; a step reads an object or compares it with a patch.
_MOST = 50_000
_CLUSTER_WIDE = re.compile(
    r"Namespace|Node|PersistentVolume|.*Cluster.*|.*Class|CustomResourceDefinition|.*WebhookConfiguration"
    r"|APIService|ValidatingAdmissionPolicy.*"
)
_PLAIN = re.compile(r"\^?[\w.-]+\$?")
_OF_FLUX = "kustomize.toolkit.fluxcd.io/"


class Named(NamedTuple):
    """An object of a kustomization, or one that a patch wants; `names` and `namespaces` are all that it ever had."""

    kind: str
    name: str
    names: tuple[str, ...]
    namespaces: tuple[str, ...]

    def __str__(self) -> str:
        place = f" in namespace `{self.namespaces[0]}`" if self.namespaces and self.namespaces[0] else ""
        words = (self.kind, f"`{self.name}`" if self.name else "")
        return " ".join(word for word in words if word) + place


class Wanted(NamedTuple):
    """The target of a patch; an empty kind or name fits all, and so does the namespace None."""

    kind: str
    name: str
    namespace: str | None

    def __str__(self) -> str:
        return str(Named(self.kind, self.name, (), (self.namespace or "",)))

    def fits(self, one: Named) -> bool:
        """True if the patch changes this object."""
        if self.kind not in ("", one.kind) or (self.name and self.name not in one.names):
            return False
        if self.namespace is None or _CLUSTER_WIDE.fullmatch(one.kind):
            return True
        return (self.namespace or "default") in {found or "default" for found in one.namespaces}


class PatchOf(NamedTuple):
    """A patch, the objects among which it looks, and its place; `selects` is true if it has a target."""

    wants: Wanted
    among: tuple[Named, ...]
    at: Place
    written_at: Place | None
    selects: bool


def patches(project: Project) -> Iterator[PatchOf]:
    """Yields the patches of all kustomizations whose objects are known."""
    tree = _Tree(project)
    enlarged = _enlarged(project)
    for path, document in tree.kustomizations():
        if f"/{posixpath.dirname(path)}".endswith(enlarged):
            continue
        entries = [
            (field, index) for field in ("patches", "patchesStrategicMerge") for index in range(_count(document, field))
        ]
        among = tree.objects(path, 0) if entries else None
        if not among or not tree.has_time(len(entries) * len(among)):
            continue
        objects = tuple(among)
        for field, index in entries:
            yield from tree.patch(path, document, (field, index), objects)


def _enlarged(project: Project) -> tuple[str, ...]:
    """Returns the folders to which a Kustomization of Flux adds components, whose objects the folder does not have."""
    return tuple(
        posixpath.normpath(posixpath.join("/", text(one.tree, "spec", "path")))
        for one in project.of_kind("Kustomization")
        if one.api_version.startswith(_OF_FLUX) and items(one.tree, "spec", "components")
    )


def _count(document: Document, field: str) -> int:
    return len(items(document.tree, field))


class _Tree:
    """The documents by their paths."""

    def __init__(self, project: Project) -> None:
        self._documents: dict[str, list[Document]] = {}
        for document in project.documents:
            name = posixpath.normpath(document.source.name.replace("\\", "/"))
            self._documents.setdefault(name, []).append(document)
        self._known: dict[str, list[Named] | None] = {}
        self._steps = 0
        self._unread = {posixpath.normpath(at.document.source.name) for at in project.unread}

    def has_time(self, steps: int) -> bool:
        """Counts steps; false if there were too many."""
        self._steps += steps
        return self._steps <= _MOST

    def kustomizations(self) -> Iterator[tuple[str, Document]]:
        """Yields every kustomization with its path."""
        for path in self._documents:
            document = self._kustomization(path)
            if document is not None:
                yield path, document

    def _kustomization(self, path: str) -> Document | None:
        is_named = path.rpartition("/")[2] in KUSTOMIZATIONS
        for document in self._documents.get(path, ()):
            if isinstance(document.tree, dict) and (is_named or _is_kustomization(document)):
                # The patches of a component change objects of the kustomization that includes it.
                return document if text(document.tree, "kind") in ("", "Kustomization") else None
        return None

    def objects(self, path: str, depth: int) -> list[Named] | None:
        """Returns the objects of a kustomization; None if they are not all known."""
        if path not in self._known:
            # One that contains itself is not known either.
            self._known[path] = None
            self._known[path] = self._find(path, depth)
        return self._known[path]

    def _find(self, path: str, depth: int) -> list[Named] | None:
        document = self._kustomization(path)
        tree = document.tree if document is not None else None
        if not isinstance(tree, dict) or depth > _DEEPEST or any(tree.get(field) for field in _OPAQUE):
            return None
        if any(mapping(patch, "options").get(option) for patch in items(tree, "patches") for option in _RENAMING):
            return None
        found: list[Named] = []
        for entry in (*items(tree, "resources"), *items(tree, "bases")):
            below = self._of_entry(posixpath.dirname(path), entry, depth)
            if below is None or not self.has_time(1 + len(below)):
                return None
            found += below
        renamed = text(tree, "namePrefix") or "", text(tree, "nameSuffix") or ""
        return [_changed(one, renamed, text(tree, "namespace")) for one in found]

    def _of_entry(self, folder: str, entry: Any, depth: int) -> list[Named] | None:
        if not isinstance(entry, str) or "://" in entry or entry.startswith(("github.com", "git@")) or "?ref=" in entry:
            return None
        path = posixpath.normpath(posixpath.join(folder, entry))
        for name in KUSTOMIZATIONS:
            if posixpath.join(path, name) in self._documents:
                return self.objects(posixpath.join(path, name), depth + 1)
        documents = self._documents.get(path)
        if documents is None or path in self._unread or not self.has_time(len(documents)):
            return None
        objects = (document for document in documents if document.tree is not None and not _is_kustomization(document))
        found = [_of_document(document) for document in objects]
        return None if any(one is None for one in found) else [one for one in found if one is not None]

    def patch(
        self, path: str, document: Document, field: tuple[str, int], among: tuple[Named, ...]
    ) -> Iterator[PatchOf]:
        """Yields what an entry of a kustomization patches, if that is certain."""
        entry = items(document.tree, field[0])[field[1]]
        at = Place(document).child(*field)
        target = mapping(entry, "target") if isinstance(entry, dict) else {}
        if target:
            wants = _selected(target)
            if wants is not None:
                yield PatchOf(wants, among, at.child("target").key(), None, selects=True)
            return
        name = entry if isinstance(entry, str) else text(entry, "path")
        if not name or "\n" in name:
            return
        for one in self._documents.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)), ()):
            named = _of_document(one)
            if named is not None:
                wants = Wanted(named.kind, named.name, named.namespaces[0])
                yield PatchOf(wants, among, at, Place(one), selects=False)


def _is_kustomization(document: Document) -> bool:
    return text(document.tree, "kind") == "Kustomization" and "kustomize.config" in text(document.tree, "apiVersion")


def _of_document(document: Document) -> Named | None:
    tree = document.tree
    kind, name = text(tree, "kind"), text(tree, "metadata", "name")
    if not kind or not name or kind.endswith("List"):
        return None
    return Named(kind, name, (name,), (text(tree, "metadata", "namespace"),))


def _changed(one: Named, renamed: tuple[str, str], namespace: str) -> Named:
    names = tuple(dict.fromkeys((*one.names, *(f"{renamed[0]}{name}{renamed[1]}" for name in one.names))))
    spaces = (*one.namespaces, namespace) if namespace else one.namespaces
    return Named(one.kind, one.name, names, spaces)


def _selected(target: dict[str, Any]) -> Wanted | None:
    """Returns what a target selects; None if that is no plain name."""
    if any(target.get(field) for field in ("labelSelector", "annotationSelector")):
        return None
    kind, name, space = (text(target, field) for field in ("kind", "name", "namespace"))
    if any(word and not _PLAIN.fullmatch(word) for word in (kind, name, space)) or not (kind or name):
        return None
    bare = [word.removeprefix("^").removesuffix("$") for word in (kind, name, space)]
    return Wanted(bare[0], bare[1], bare[2] or None)
