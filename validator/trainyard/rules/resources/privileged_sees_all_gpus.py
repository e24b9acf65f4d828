"""A privileged container requests one or two GPUs, and sees all GPUs of its node.

A privileged container has every device of the node. The limit `nvidia.com/gpu` then only counts: the program finds
all GPUs, and programs of several pods take the same first one, or run out of memory because of each other.
`CUDA_VISIBLE_DEVICES` is not set, so PyTorch and `device_map: auto` use GPUs of other pods.

The rule applies to workloads that request one or two GPUs, which is less than most nodes have. On nodes with no more
GPUs, suppress the finding. It leaves out DaemonSets and pods of the namespace `kube-system`.

Remove `privileged`, and add the capabilities that the program needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Workload

MOST = 2
CHOSEN = "CUDA_VISIBLE_DEVICES"


@rule(
    code="RS020",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/security/pod-security-standards: privileged containers",
        "NVIDIA/gpu-operator issue 1502, skypilot-org/skypilot issue 2721",
    ),
    needs=("privileged: true", '"privileged"'),
)
def privileged_sees_all_gpus(run: Workload) -> Iterator[Problem]:
    """Report privileged containers with a part of the GPUs."""
    if run.kind == "DaemonSet" or run.namespace == "kube-system":
        return
    for role in run.roles:
        for container in role.pod.containers:
            found = whole_gpus(container)
            if not container.privileged or found is None or found[1] > MOST or container.setting(CHOSEN):
                continue
            yield Problem(
                container.at.child("securityContext", "privileged"),
                f"container `{container.name}` requests {found[1]} {found[0]}, and sees all GPUs of its node because "
                "it is privileged",
                "remove `privileged`, and add the capabilities that it needs",
                related=((container.at.child("resources", "limits", found[0]), "the requested GPUs"),),
            )
