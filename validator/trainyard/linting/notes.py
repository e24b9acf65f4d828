"""What a run of the linter did not check, as notes: a file without findings is clean only as far as it was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainyard.analysis.kubeflow import has_all_pods
from trainyard.loaders.manifests.shell import MAX_LENGTH

if TYPE_CHECKING:
    from trainyard.engine.finding import Finding
    from trainyard.engine.subjects import Reading
    from trainyard.model.run import Project, Run

# Frequent kinds that no rule is about.
_WITHOUT_RULES = frozenset(
    (
        *("ClusterRole", "ClusterRoleBinding", "HorizontalPodAutoscaler", "Ingress", "Namespace", "NetworkPolicy"),
        *("PodDisruptionBudget", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "StorageClass"),
    )
)


def of_files(readings: Iterable[Reading], findings: Iterable[Finding], project: Project) -> Iterator[str]:
    """Yields the files, or parts of them, that were not checked, unless a finding names them."""
    said = {finding.position.source.name for finding in findings if finding.rule.name == "nothing-linted"}
    kinds: dict[int, set[str]] = {}
    for resource in project.resources:
        kinds.setdefault(id(resource.at.document.source), set()).add(resource.kind)
    for known in readings:
        if known.note and not (known.chart and known.source.name in said):
            yield f"{known.source.name}: {known.note}"
        found = kinds.get(id(known.source))
        # In a folder such files are usual.
        if known.folder is None and found and found <= _WITHOUT_RULES:
            yield f"{known.source.name}: not checked: no rule is about {' or '.join(sorted(found))}"


def of_projects(projects: Iterable[Project]) -> Iterator[str]:
    """Yields the objects and scripts that were checked in part."""
    runs = [run for project in projects for run in project.runs]
    yield from _containers_alone(runs)
    yield from _long_scripts(runs)


def _containers_alone(runs: Iterable[Run]) -> Iterator[str]:
    """Yields the objects that train and whose controller is not known."""
    for run in runs:
        if run.training_roles and not run.is_job and not has_all_pods(run):
            position = run.at.document.locate(run.at)
            yield (
                f"{position.source.name}:{position.line}: only the containers of {run.kind} {run.name} were checked, "
                "because no rule knows its controller"
            )


def _long_scripts(runs: Iterable[Run]) -> Iterator[str]:
    """Yields the scripts that are not read to their end."""
    scripts = (script for run in runs for container in run.containers for script in container.scripts)
    found = (script.at.document.locate(script.at) for script in scripts if len(script.text) > MAX_LENGTH)
    for name, line in dict.fromkeys((position.source.name, position.line) for position in found):
        yield f"{name}:{line}: only the first {MAX_LENGTH >> 10} KiB of this script are checked"
