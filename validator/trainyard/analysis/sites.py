"""Runs and the site that they run on."""

from __future__ import annotations

from trainyard.analysis.network import multus
from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, text
from trainyard.loaders.training_job.values import NAMESPACE
from trainyard.model.run import Pod, Run


def namespace(run: Run) -> str:
    """Returns the namespace of a run, empty if unknown: values give none and are read as if in the default one."""
    return "" if run.namespace == NAMESPACE and comes_from_values(run) else run.namespace


def comes_from_values(run: Run) -> bool:
    """True if the run is rendered from a chart's values."""
    return bool(run.at.document.values_files)


def value_place(document: Document, *path: str) -> Place | None:
    """Returns the place of a chart value; None if the document does not come from values."""
    return document.value_place(path)


def attachment_place(run: Run, pod: Pod, name: str) -> Place:
    """Returns the place where a run requests a network: the list in its values, or the annotation of its pods."""
    for document in reversed(run.at.document.values_files):
        for index, entry in enumerate(items(document.tree, "fabric", "networks")):
            if text(entry, "name") == name:
                return Place(document, ("fabric", "networks", index, "name"))
    return multus.annotation_place(pod)
