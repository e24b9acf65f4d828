"""Tells objects from the patches of objects, in which required fields may be missing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from trainyard.document import fast_yaml, opening, reading
from trainyard.document.disk_answers import remembered
from trainyard.document.lookup import items, mapping
from trainyard.document.source import Source
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.document.document import Document

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
# Chainsaw merges a file that it applies with the object of an earlier step.
_MERGING = (*KUSTOMIZATIONS, "chainsaw-test.yaml")
# With one of these, a kustomization changes its resources.
_CHANGING = pattern(rb"^(?:patches\w*|vars|replacements|components|transformers):", re.MULTILINE)
# The fields that say how. Source: kubernetes-sigs/kustomize api/types/kustomization.go.
CHANGES = ("patches", "patchesStrategicMerge", "patchesJson6902", "vars", "replacements")
# A patch that replaces a whole container, a list of containers, or a whole pod.
_WHOLE = pattern(r"\$patch\W|path\W{1,4}/(?:[\w~-]+/)*(?:spec|template|(?:initC|c)ontainers(?:/\d+)?)(?![\w/-])")
_COMMENT = pattern(r"^[^\S\n]*#.*$", re.MULTILINE)
_PATCH = pattern(r"(?:^|[-_.])patch(?:es)?(?:[-_.]|$)")
_WORDS = ("patch", "overlay", "override", "merge")
# kuttl and Chainsaw compare such files with objects of a cluster, field by field.
# Sources: kuttl.dev, "Test assertions"; kyverno.github.io/chainsaw, "Operations".
_ASSERTION = pattern(r"(?:(?:[0-9]+-+)?assert|[0-9]+-+errors?)(?:[-_][\w-]+)?\.(?:ya?ml|json)")
_STEPS = pattern(r"chainsaw-test(?:-[\w-]+)?\.ya?ml")
_EXPECTED = pattern(r"(?:.+[-_.])?expected(?:[-_][\w-]+)?\.(?:ya?ml|json)")
# Go ignores folders of this name: what is in them is for tests. Source: cmd/go, "Package lists and patterns".
_TEST_DATA = pattern(r"(?:^|/)test_?data/(?:.+/)?[^/]+\.ya?ml")
_EXPECTED_IN = pattern(r"(?:^|/)tests?/(?:.+/)?(?:expected(?:[-_][\w-]+)?|fixtures|samples)/")
_ASSERTED = pattern(rb"^[ \t-]*(?:assert|error):\s+file:[ \t]*['\"]?([\w./-]+)", re.MULTILINE)
# Kinds that need a selector and containers.
SELECTING = frozenset(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"))
# How many folders above may hold the kustomization of a patch.
_LEVELS = 2
_BROKEN = frozenset(("broken", "invalid", "malformed"))
_FIXTURES = frozenset(("fixtures", "testdata"))


def is_partial(document: Document) -> bool:
    """True if the document may be a patch: by its name, by a file beside or above that merges, or without an image.

    A Deployment without a selector and without containers is one, too.
    """
    name = document.source.name
    if is_named_patch(document) or _is_beside(_MERGING, os.path.dirname(name)) or _is_patch_from_above(name):
        return True
    spec = mapping(document.tree, "spec")
    pod = mapping(spec, "template", "spec")
    if pod and document.tree.get("kind") in SELECTING and "selector" not in spec and "containers" not in pod:
        # Nobody forgets both.
        return True
    containers = items(pod, "containers")
    return bool(containers) and not any(isinstance(one, dict) and "image" in one for one in containers)


def is_named_patch(document: Document) -> bool:
    """True if the path of the document says that it changes another one."""
    name = document.source.name.lower()
    return any(word in name for word in _WORDS)


def is_unused_patch(path: str) -> bool:
    """True if a file has the name of a patch, and no kustomization in its folder or in two above names it.

    Scaffolds keep patches in a folder of this name.
    """
    folder, name = os.path.split(path)
    if _PATCH.search(name) is None and os.path.basename(folder) != "patches":
        return False
    folders = [folder, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))]
    return not any(name in _active_text(one) for one in folders)


def is_built_by_kustomize(document: Document) -> bool:
    """True if a kustomization in the folder of the document, or in two above, names its file."""
    folder, name = os.path.split(document.source.name)
    folders = [folder, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))]
    return any(name in _active_text(one) for one in folders)


def is_assertion(document: Document) -> bool:
    """True if test tools compare the document with an object of a cluster, and never create it."""
    name = os.path.basename(document.source.name)
    return _ASSERTION.fullmatch(name) is not None or _STEPS.fullmatch(name) is not None


def is_recorded(path: str) -> bool:
    """True for JSON below a folder of fixtures: tests of programs keep answers of an API server there.

    Tests of Java have such a folder, too.
    """
    folder, name = os.path.split(path)
    is_resource = f"{os.sep}src/test/resources{os.sep}" in f"{os.sep}{folder}{os.sep}"
    return name.endswith(".json") and (is_resource or not _FIXTURES.isdisjoint(folder.split(os.sep)))


def is_broken_on_purpose(path: str, top: str) -> bool:
    """True below a folder whose name says that its files are broken, for a lesson or a test."""
    return not _BROKEN.isdisjoint(os.path.dirname(path.removeprefix(top)).split(os.sep))


def is_compared(path: str, top: str) -> bool:
    """True if a test compares the whole file with what it finds, and nothing creates the objects in it.

    Assertions of kuttl and Chainsaw have such names, or a test of Chainsaw in their folder names them. Programs that
    write manifests are tested with files of their expected output, and programs that judge objects with fixtures and
    samples, which a folder of the tests may hold, and with `testdata`. Folders above `top`, the one that is linted, say
    nothing.
    """
    folder, name = os.path.split(path)
    below = path.removeprefix(top)
    named = _ASSERTION.fullmatch(name) or _EXPECTED.fullmatch(name) or _EXPECTED_IN.search(below)
    named = named or _TEST_DATA.search(below)
    return named is not None or name in _asserted(folder)


def is_patched(document: Document, *names: str) -> bool:
    """True if a kustomization beside the document may change what has one of these names.

    Its patches, vars and replacements contain the name, replace a whole container or more, or are not all known.
    """
    changes = _changes(os.path.dirname(document.source.name))
    return changes is None or any(name in changes for name in names)


@remembered
def _is_beside(names: tuple[str, ...], folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


def _is_patch_from_above(name: str) -> bool:
    """True if a kustomization in one of the folders above names the file among its patches."""
    folder, rest = os.path.split(name)
    for _ in range(_LEVELS):
        folder, own = os.path.split(folder)
        if own in ("", os.curdir, os.pardir):
            return False
        rest = os.path.join(own, rest)
        if rest in _patch_files(folder):
            return True
    return False


@remembered
def _kustomization(folder: str) -> tuple[str, bytes]:
    """Returns the path and the text of the kustomization in a folder, empty without one."""
    for name in KUSTOMIZATIONS:
        path = os.path.join(folder, name)
        with suppress(OSError):
            return path, opening.read_found(path, folder or ".")
    return "", b""


@remembered
def _patch_files(folder: str) -> frozenset[str]:
    """Returns the files that the kustomization in a folder names as patches."""
    path, text = _kustomization(folder)
    return frozenset(map(os.path.normpath, _named_files(_tree(path, text)))) if path else frozenset()


@remembered
def _active_text(folder: str) -> str:
    """Returns the text of the kustomization in a folder without its comments, empty without a kustomization.

    Scaffolds name the patches that nobody has turned on in comments.
    """
    return _COMMENT.sub("", _kustomization(folder)[1].decode(errors="replace"))


@remembered
def _changes(folder: str) -> str | None:
    """Returns the text of all changes of the kustomization in a folder; None if they are not known."""
    path, text = _kustomization(folder)
    return _changes_in(folder, path, text) if _CHANGING.search(text) is not None else ""


def _changes_in(folder: str, path: str, text: bytes) -> str | None:
    tree = _tree(path, text)
    if not isinstance(tree, dict) or tree.get("components") or tree.get("transformers"):
        return None
    texts = [str(tree.get(field, "")) for field in CHANGES]
    for name in _named_files(tree):
        if ".." in name or os.path.isabs(name):
            return None
        try:
            texts.append(opening.read_found(os.path.join(folder, name), folder or ".").decode(errors="replace"))
        except OSError:
            return None
    return None if any(_WHOLE.search(one) for one in texts) else "\n".join(texts)


def _tree(path: str, text: bytes) -> Any:
    """Returns the first document of a kustomization; None if there is none."""
    source = Source(path, text.decode(errors="replace"))
    found = fast_yaml.read_plain(source) or reading.read(source)[0]
    return found[0].tree if found else None


def _named_files(tree: Any) -> Iterator[str]:
    """Yields the files that a kustomization names for its changes, and not the changes that it holds itself."""
    for entry in (entry for field in CHANGES for entry in items(tree, field)):
        name = entry.get("path") if isinstance(entry, dict) else entry
        if isinstance(name, str) and "\n" not in name:
            yield name


@remembered
def _asserted(folder: str) -> frozenset[str]:
    """Returns the files that a test of Chainsaw in a folder compares with objects of the cluster."""
    with suppress(OSError):
        text = opening.read_found(os.path.join(folder, "chainsaw-test.yaml"), folder or ".")
        return frozenset(os.path.basename(found.decode()) for found in _ASSERTED.findall(text))
    return frozenset()
