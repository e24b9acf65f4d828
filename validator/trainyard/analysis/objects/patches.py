"""Tells whole pods from those of a patch, and what patches change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.loaders.schemas.partial import CHANGES, SELECTING, is_patched
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project

if TYPE_CHECKING:
    from trainyard.document.document import Place
    from trainyard.model.run import Pod, Run


def is_patch(pod: Pod) -> bool:
    """True if a container has no image: another file has it, as in a patch of a kustomization."""
    return any("image" not in container.tree for container in pod.containers)


def is_base(run: Run | None) -> bool:
    """True if the workload needs a selector and has none: kustomizations in other folders complete it."""
    return run is not None and run.kind in SELECTING and "selector" not in run.spec


def may_be_patched(at: Place, run: Run | None, project: Project, *names: str) -> bool:
    """True if a kustomization may change what has one of these names, in the object of a place.

    The kustomization stands beside the object, or in any folder: then its own text, or another file of an object with
    this kind and name, contains the name.
    """
    if is_patched(at.document, *names):
        return True
    texts = [_written_in_kustomizations.of(project)]
    if run is not None:
        specs = _specs.of(project).get((run.kind, run.name), {})
        texts += [spec for spec, documents in specs.items() if documents != {id(run.at.document)}]
    return any(name in one for one in texts for name in names)


def _changes(project: Project) -> str:
    """Returns the text of the patches, vars and replacements that stand in kustomizations themselves."""
    trees = [document.tree for document in project.documents]
    return "\n".join(
        str(tree[field])
        for tree in trees
        if isinstance(tree, dict) and ("resources" in tree or "bases" in tree) and "spec" not in tree
        for field in CHANGES
        if field in tree
    )


def _find_specs(project: Project) -> dict[tuple[str, str], dict[str, set[int]]]:
    """Returns the specs of each kind and name as texts, with the documents that have each."""
    found: dict[tuple[str, str], dict[str, set[int]]] = {}
    for one in project.resources:
        documents = found.setdefault((one.kind, one.name), {}).setdefault(str(one.tree.get("spec")), set())
        documents.add(id(one.at.document))
    return found


_written_in_kustomizations: LastIndex[Project, str] = LastIndex(_changes)
_specs: LastIndex[Project, dict[tuple[str, str], dict[str, set[int]]]] = LastIndex(_find_specs)
