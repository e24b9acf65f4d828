"""The container names no memory, so the LimitRange of its namespace gives it a limit that is too small for a GPU.

The API server writes the `default` of the LimitRange into each container without a limit. Such a default is meant for
small helpers: a process that trains takes gigabytes for PyTorch, the CUDA context and the data loader.
The container ends with `OOMKilled`, although nobody wrote a limit for it.

The rule reports defaults below 4 GiB for each GPU of a container that trains. It skips containers that list devices or
wait, and pods with resources of their own.

Write `limits.memory` in the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import starts_no_ranks
from trainyard.analysis.objects.folders import of_namespace
from trainyard.analysis.resources.requests import written
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role

LEAST = 4 * 2**30


@rule(
    code="SH019",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34 plugin/pkg/admission/limitranger: mergePodResourceRequirements writes the default limits",
        "github.com/kubeflow/kale issue 368",
    ),
    needs=("LimitRange",),
)
def memory_limit_from_range(role: Role, context: Context) -> Iterator[Problem]:
    """Report GPU containers that get the default memory of a LimitRange."""
    run, container = context.run, role.container
    if run is None or run.kind in RUNTIMES or container is None or not role.trains or container.gpus < 1:
        return
    if "memory" in container.limits or mapping(role.pod.tree, "resources") or starts_no_ranks(container):
        return
    for found in of_namespace(context.project, "LimitRange", run.namespace, run.at):
        for index, limit in enumerate(items(found.tree, "spec", "limits")):
            default = parse_quantity(mapping(limit, "default").get("memory"))
            if text(limit, "type") != "Container" or default is None or default >= LEAST * container.gpus:
                continue
            yield Problem(
                container.at.child("resources", "limits").key(),
                f"container {container.name} gets the default limit of LimitRange `{found.name}`: "
                f"{written(default, 'memory')} of memory for {container.gpus} GPU{'s' * (container.gpus > 1)}",
                "write `limits.memory`",
                related=((found.at.child("spec", "limits", index, "default", "memory"), "the default"),),
            )
