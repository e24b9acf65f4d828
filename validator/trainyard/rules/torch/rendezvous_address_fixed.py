"""The rendezvous is an IP address written out, and no pod of the job is known to have it.

A pod gets its address when it starts, and a new one after a restart. An address in a command comes from another
cluster or from the documentation of a launcher: the nodes try to connect to it until their timeout.

The rule checks torchrun, its older forms, and Accelerate with more than one node, on the network of pods. It leaves out
pods with further networks or ports of the node, and an address that a Service or an annotation in the files has.

Name the first pod: `<job>-master-0` or `<job>-worker-0` in a PyTorchJob, `<job>-0.<subdomain>` in an indexed Job. With
a Master, remove the option: the operator sets the address.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.torchrun import node_range, torchrun_commands
from trainyard.analysis.network.addresses import address
from trainyard.document.document import Place
from trainyard.document.lookup import decimal, items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Project, Role, Run

NETWORKS = "k8s.v1.cni.cncf.io/networks"
# Kinds whose objects may give an address to a pod.
GIVING = ("Service", "Endpoints", "EndpointSlice")


@rule(
    code="TD045",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/pods: each Pod is assigned a unique IP address",
        "pytorch 2.15.0 torch/distributed/run.py: --master-addr, --rdzv-endpoint",
        "huggingface/accelerate 1.15.0 commands/launch.py: --main_process_ip",
        "github.com/pytorch/pytorch issue 49084",
    ),
    needs=("addr", "ADDR", "rdzv", "main-process-ip", "main_process_ip"),
)
def rendezvous_address_fixed(role: Role, context: Context) -> Iterator[Problem]:
    """Report addresses of the first node that are written out."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or _is_outside(role.pod):
        return
    for value, at in _addresses(container, run):
        host = value.rpartition(":")[0] if value.count(":") == 1 else value
        found = address(host)
        if found is None or found.is_loopback or found.is_unspecified or _is_given(host, context):
            continue
        yield Problem(
            at,
            f"no pod is known to have the address {host}, where the nodes are to meet: pods get their addresses when "
            "they start",
            "name the first pod of the job",
        )


def _is_outside(pod: Pod) -> bool:
    """True if other addresses than those of the network of pods may lead to the pod."""
    ports = (port for container in pod.containers for port in items(container.tree, "ports"))
    return pod.host_network or NETWORKS in pod.annotations or any("hostPort" in port for port in ports)


def _addresses(container: Container, run: Run) -> Iterator[tuple[str, Place]]:
    for launch in torchrun_commands(container):
        expected = node_range(launch, container, run)
        static = launch.option("--rdzv-backend") in (None, "static")
        told = launch.option_at("--rdzv-endpoint") or (launch.option_at("--master-addr") if static else None)
        if told is not None and expected is not None and expected[1] > 1:
            yield told
    for launch in accelerate_commands(container):
        told = launch.option_at("--main-process-ip")
        if told is not None and (decimal(launch.option("--num-machines") or "") or 0) > 1:
            yield told


def _is_given(host: str, context: Context) -> bool:
    """True if a Service or an annotation of a pod has the address."""
    return host in _giving.of(context.project)


def _find_giving(project: Project) -> str:
    given = [str(one.tree.get(part)) for one in project.of_kind(*GIVING) for part in ("spec", "subsets")]
    roles = (role for run in project.runs for role in run.roles)
    return "\n".join((*given, *(str(value) for role in roles for value in role.pod.annotations.values())))


# Each pod asks: reading all objects for each would take quadratic time.
_giving: LastIndex[Project, str] = LastIndex(_find_giving)
