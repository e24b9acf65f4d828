"""Tells objects from the patches of objects, in which required fields may be missing."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from trainyard.document import opening
from trainyard.document.disk_answers import remembered
from trainyard.document.lookup import items

if TYPE_CHECKING:
    from trainyard.document.document import Document

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
# Chainsaw merges a file that it applies with the object of an earlier step.
_MERGING = (*KUSTOMIZATIONS, "chainsaw-test.yaml")
# With one of these, a kustomization changes its resources.
_CHANGING = re.compile(rb"^(?:patches\w*|vars|replacements|components|transformers):", re.MULTILINE)
_WORDS = ("patch", "overlay", "override", "merge")
# kuttl and Chainsaw compare such files with objects of a cluster, field by field.
# Sources: kuttl.dev, "Test assertions"; kyverno.github.io/chainsaw, "Operations".
_COMPARED = re.compile(r"(?:(?:[0-9]+-+)?assert|[0-9]+-+errors?|(?:.+[-_.])?expected)(?:[-_][\w-]+)?\.(?:ya?ml|json)")
_ASSERTED = re.compile(rb"^[ \t-]*(?:assert|error):\s+file:[ \t]*['\"]?([\w./-]+)", re.MULTILINE)
_ASSERTION = re.compile(r"(?:(?:[0-9]+-+)?assert|[0-9]+-+errors?|chainsaw-test)(?:-[\w-]+)?\.ya?ml")
_FIXTURES = frozenset(("fixtures", "testdata"))


def is_partial(document: Document) -> bool:
    """True if the document may be a patch: by its name, by a file beside it that merges, or without an image."""
    if is_named_patch(document) or _is_beside(_MERGING, os.path.dirname(document.source.name)):
        return True
    containers = items(document.tree, "spec", "template", "spec", "containers")
    return bool(containers) and not any(isinstance(one, dict) and "image" in one for one in containers)


def is_named_patch(document: Document) -> bool:
    """True if the path of the document says that it changes another one."""
    name = document.source.name.lower()
    return any(word in name for word in _WORDS)


def is_assertion(document: Document) -> bool:
    """True if tests read the document and never create it.

    Test tools compare it with an object of a cluster, or it is a recorded answer: JSON below a folder of fixtures.
    """
    folder, name = os.path.split(document.source.name)
    is_answer = name.endswith(".json") and not _FIXTURES.isdisjoint(folder.split(os.sep))
    return is_answer or _ASSERTION.fullmatch(name) is not None


def is_compared(path: str) -> bool:
    """True if a test compares the whole file with what it finds, and nothing creates the objects in it.

    Assertions of kuttl and Chainsaw have such names, or a test of Chainsaw in their folder names them. Programs that
    write manifests are tested with files of their expected output.
    """
    folder, name = os.path.split(path)
    return _COMPARED.fullmatch(name) is not None or name in _asserted(folder)


def is_patched(document: Document) -> bool:
    """True if a kustomization beside the document changes its resources: with patches, vars or components."""
    return _is_changed(os.path.dirname(document.source.name))


@remembered
def _is_beside(names: tuple[str, ...], folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


@remembered
def _is_changed(folder: str) -> bool:
    for name in KUSTOMIZATIONS:
        with suppress(OSError):
            return _CHANGING.search(opening.read_found(os.path.join(folder, name), folder or ".")) is not None
    return False


@remembered
def _asserted(folder: str) -> frozenset[str]:
    """Returns the files that a test of Chainsaw in a folder compares with objects of the cluster."""
    with suppress(OSError):
        text = opening.read_found(os.path.join(folder, "chainsaw-test.yaml"), folder or ".")
        return frozenset(os.path.basename(found.decode()) for found in _ASSERTED.findall(text))
    return frozenset()
