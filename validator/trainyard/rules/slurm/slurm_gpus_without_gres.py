"""Nodes of Slurm have GPUs, and the configuration of Slurm names none, so it refuses every job that asks for one.

slurmctld counts what the node's line names: without `Gres=gpu:8` a node has no GPUs, also where its pod has some and
`gres.conf` finds them. Without `GresTypes=gpu` in `slurm.conf` it manages no generic resources at all. `sbatch --gres`
and `--gpus` then end with "Invalid generic resource (gres) specification" or "Requested node configuration is not
available".

The operator of Slinky takes neither from the pod. The rule compares the pods of a NodeSet with its `extraConf`, and
those of the chart `slurm` with `extraConf` or `extraConfMap` of the nodes and of the controller. A NodeSet has no field
`gres`.

Write `extraConfMap: {Gres: ["gpu:8"]}` for the nodes, and `extraConfMap: {GresTypes: [gpu]}` for the controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import gpus
from trainyard.model.run import Project, Resource

_GROUP = "slinky.slurm.net"
_CHART = "slurm"
_GRES = re.compile(r"(?im)(?:^|\s)gres=")
_TYPES = re.compile(r"(?im)^\s*(?:grestypes=|include\s)")
# Names that users write for the resources of the nodes.
_NO_FIELDS = ("gres", "Gres", "nodeGres", "gresTypes")


@rule(
    code="SL023",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/gres.html: GresTypes and Gres in slurm.conf",
        "SlinkyProject/slurm-operator v1.2.1 helm/slurm/templates/nodeset, api/v1beta1/nodeset_types.go: NodeSetSpec",
        "github.com/SlinkyProject/slurm-operator issues 57 and 106",
    ),
    needs=(_GROUP, "nodesets"),
)
def slurm_gpus_without_gres(project: Project) -> Iterator[Problem]:
    """Report nodes with GPUs that Slurm does not know."""
    for resource in project.of_kind("NodeSet"):
        if resource.api_version.startswith(f"{_GROUP}/"):
            yield from _of_node_set(resource)
    for release in releases(project):
        if release.chart == _CHART and not release.is_open and isinstance(release.values.get("nodesets"), dict):
            yield from _of_values(release)


def _of_node_set(resource: Resource) -> Iterator[Problem]:
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    count = _gpus(mapping(spec, "slurmd"))
    if not count or _GRES.search(text(spec, "extraConf")):
        return
    wrong = next((name for name in _NO_FIELDS if name in spec), "")
    known = wrong or next((name for name in ("extraConf", "slurmd") if name in spec), "")
    message = f"the pods have {count} GPUs, and no `Gres` in `extraConf` names them: Slurm knows none"
    if wrong:
        message = f"a NodeSet has no field `{wrong}`: Slurm does not know the GPUs of its pods"
    yield Problem(at.child(known).key(), message, f'write `extraConf: "Gres=gpu:{count}"`')


def _of_values(release: DeclaredRelease) -> Iterator[Problem]:
    defaults = mapping(release.values, "nodesetDefaults")
    found = list[tuple[Place, int]]()
    for name, node_set in release.values["nodesets"].items():
        known = {**defaults, **node_set} if isinstance(node_set, dict) else defaults
        slurmd = {**mapping(defaults, "slurmd"), **mapping(known, "slurmd")}
        count, at = _gpus(slurmd), release.place("nodesets", name)
        if not count or known.get("enabled") is False:
            continue
        found.append((at, count))
        if not _has(known, "gres", _GRES):
            yield Problem(
                at if release.values_at is None else at.key(),
                f"the pods of these nodes have {count} GPUs, and no `Gres` names them: Slurm knows none",
                f'write `extraConfMap: {{Gres: ["gpu:{count}"]}}` for the nodes',
            )
    controller = mapping(release.values, "controller")
    if found and not _has(controller, "grestypes", _TYPES):
        at = release.place("controller") if controller else found[0][0]
        yield Problem(
            at if release.values_at is None else at.key(),
            "nodes have GPUs, and `GresTypes` is not in the configuration of the controller: Slurm manages none",
            "write `extraConfMap: {GresTypes: [gpu]}` for the controller",
        )


def _has(values: dict[str, Any], name: str, form: re.Pattern[str]) -> bool:
    """True if the extra configuration has a setting; the text replaces the mapping."""
    told = text(values, "extraConf")
    return bool(form.search(told)) if told else any(key.lower() == name for key in mapping(values, "extraConfMap"))


def _gpus(slurmd: dict[str, Any]) -> int:
    return gpus(mapping(slurmd, "resources", "limits"), mapping(slurmd, "resources", "requests"))
