"""A run beside the site that it is to run on."""

from __future__ import annotations

from validator.aspects import multus
from validator.fields import items, text
from validator.model import Pod, Run
from validator.roads.origins import Layers, Origin
from validator.roads.values import NAMESPACE
from validator.source import Document, Place


def namespace(run: Run) -> str:
    """The namespace of a run, empty where it is not known: values say none, and are read as if in the default one."""
    return "" if run.namespace == NAMESPACE and comes_of_values(run) else run.namespace


def comes_of_values(run: Run) -> bool:
    """Whether a chart makes the run."""
    return hasattr(run.at.document, "layers")


def value_place(document: Document, *path: str) -> Place | None:
    """Where values say what an object is made of; None where no values do."""
    layers: Layers | None = getattr(document, "layers", None)
    return layers.place(Origin(path)) if layers is not None else None


def attachment_place(run: Run, pod: Pod, name: str) -> Place:
    """Where a run asks for a network: in the list of its values, or in the annotation of its pods."""
    layers: Layers | None = getattr(run.at.document, "layers", None)
    for document in reversed(layers.files) if layers is not None else ():
        for index, entry in enumerate(items(document.tree, "fabric", "networks")):
            if text(entry, "name") == name:
                return Place(document, ("fabric", "networks", index, "name"))
    return multus.place(pod)
