"""A variable that has to differ between pods has one value for all of them, so they take each other for one host.

vLLM registers each worker by `VLLM_HOST_IP`, the address of its own node: with one address on several nodes it stops
with "Every node should have a unique IP address", or waits for workers. `SGLANG_HOST_IP` is the same for SGLang. NCCL
takes GPUs whose processes have the same `NCCL_HOSTID` for those of one machine, opens shared memory and CUDA IPC
between them, and its initialization fails.

Take the address from `status.podIP`, and leave out `NCCL_HOSTID`, or take it from `spec.nodeName`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Role, Setting, Workload

# What each variable names, and the field of the pod that has it.
_OWN = {
    "VLLM_HOST_IP": ("the address of its own node", "status.podIP"),
    "SGLANG_HOST_IP": ("the address of its own node", "status.podIP"),
    "NCCL_HOSTID": ("the name of its own machine", "spec.nodeName"),
}


@rule(
    code="TD085",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "vllm-project/vllm vllm/executor/ray_distributed_executor.py: Every node should have a unique IP address; "
        "pull 7756, issue 7699",
        "NVIDIA/nccl v2.30.7 src/misc/utils.cc:125: getHostHash; issue 879",
    ),
    needs=tuple(_OWN),
)
def own_address_shared(run: Workload) -> Iterator[Problem]:
    """Report values that several pods have."""
    if not run.is_job and run.kind != "LeaderWorkerSet":
        return
    for name, (what, field) in _OWN.items():
        found = [one for role in run.roles for one in _settings(role, name)]
        for setting, _ in found:
            pods = sum(replicas for other, replicas in found if other.value == setting.value) // max(run.groups, 1)
            if pods > 1:
                yield Problem(
                    setting.at,
                    f"{pods} pods have the same {name} `{setting.value}`, which must be {what} in each pod",
                    f"take it from the field `{field}` of the pod, with `valueFrom`",
                )


def _settings(role: Role, name: str) -> Iterator[tuple[Setting, int]]:
    """Yields the variable of one container of the role, if its value is written, and the number of the pods."""
    settings = (container.setting(name) for container in role.pod.containers)
    setting = next((one for one in settings if one is not None), None)
    value = setting.value if setting is not None else None
    if setting is not None and value and not any(mark in value for mark in "$`{<") and not has_parameter(value):
        yield setting, role.replicas or 0
