"""The job selects the provider `efa` of libfabric, but its pods request no EFA device.

`FI_PROVIDER=efa` restricts libfabric to Elastic Fabric Adapters. Only a pod that requests `vpc.amazonaws.com/efa` gets
their devices below `/dev/infiniband`. Without them the provider is not available: the NCCL plugin of AWS finds no
device, and NCCL uses TCP on the first interface, at a fraction of the bandwidth. The job runs, so nothing reports it.

The rule checks runs of several pods, of which some request GPUs. It ignores privileged pods and those that mount
`/dev/infiniband` of the node, which see all devices.

Request the adapters of the instance type, such as 32 for p5.48xlarge, or remove the variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.pods.mounts import mounts_devices
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod, Role, Run

EFA = "vpc.amazonaws.com/efa"


@rule(
    code="RD018",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "ofiwg/libfabric man/fabric.7.md: FI_PROVIDER",
        "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html: vpc.amazonaws.com/efa in limits",
        "github.com/awslabs/ai-on-sagemaker-hyperpod pull 134, github.com/aws/sagemaker-hyperpod-cli issue 306",
    ),
    needs=("FI_PROVIDER",),
)
def efa_device_not_requested(role: Role, context: Context) -> Iterator[Problem]:
    """Pods without the adapters that the job is restricted to."""
    run = context.run
    if run is None or not wants_gpu(role.pod) or not _has_devices(run) or (run.nodes or 2) < 2:
        return
    if (
        _selects_efa(run, context)
        and not any(map(_sees_adapters, role.pod.containers))
        and not mounts_devices(role.pod, "/dev/infiniband")
    ):
        yield Problem(
            _gpus_at(role.pod, run),
            f"FI_PROVIDER is efa, but pods of {role.name or run.kind} request no EFA device: NCCL falls back to TCP",
            f"request `{EFA}` beside the GPUs, or remove FI_PROVIDER",
        )


def _has_devices(run: Run) -> bool:
    """True if the files show all devices of the pods. Those of a TrainJob replace those of its runtime."""
    limits = mapping(run.spec, "trainer", "resourcesPerNode", "limits")
    return has_all_pods(run) or (run.kind == "TrainJob" and any(map(_is_gpu, limits)))


def _selects_efa(run: Run, context: Context) -> bool:
    settings = [(one, one.setting("FI_PROVIDER")) for one in run.containers]
    return any(
        setting is not None and setting.value == "efa" and not has_unknown_variables(container, context)
        for container, setting in settings
    )


def _sees_adapters(container: Container) -> bool:
    return container.privileged or any(
        name.startswith(EFA) or "claims" in container.tree.get("resources", {})
        for name in chain(container.limits, container.requests)
    )


def _gpus_at(pod: Pod, run: Run) -> Place:
    container = next(one for one in pod.containers if one.gpus)
    field = "limits" if any(map(_is_gpu, container.limits)) else "requests"
    if run.kind == "TrainJob" and mapping(run.spec, "trainer", "resourcesPerNode"):
        return run.at.child("spec", "trainer", "resourcesPerNode", field).key()
    return container.at.child("resources", field).key()


def _is_gpu(name: str) -> bool:
    return name.endswith("/gpu")
