"""The rendezvous endpoint is `localhost`, so every pod waits for the others in itself.

`--rdzv-endpoint` and `--master-addr` name the one address where all nodes of a run meet. `localhost` or 127.0.0.1 is a
different address in each pod. The first pod waits for others that never join; the others wait too, or fail to connect,
until the timeout of ten minutes. Such an address comes from scripts written for one machine, often as a default that
the manifest should override.

Without an address torchrun takes 127.0.0.1 too. The operator sets one in a TrainJob and in a PyTorchJob with a Master
or an elasticPolicy. In a PyTorchJob with Workers alone it sets the number of nodes and no address.

A script that falls back to localhost where a lookup fails (`$(... || echo localhost)`) hides the cause.

The rule ignores a role with one pod that hosts the rendezvous for the others, and pods that are each told one node.

Name the first pod: `<job>-master-0` or `<job>-worker-0` in a PyTorchJob, `<job>-0.<subdomain>` in an indexed Job. With
a Master, remove both options: the operator sets the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import (
    LOCAL,
    has_torch_policy,
    node_range,
    operator_variables,
    torchrun_commands,
)
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Role, Run
from trainyard.startup import pattern

# An assignment from a command that prints the loopback when another one fails.
FALLBACK = pattern(r"\b([A-Za-z_]\w*)=[\"']?\$\(.*\|\|\s*echo\s+[\"']?(?:localhost|127\.0\.0\.1)\b")


@rule(
    code="TD011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --rdzv-endpoint, --master-addr, get_rdzv_endpoint",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: PET_MASTER_ADDR only with a Master",
        "github.com/awslabs/awsome-distributed-ai pull 1150, github.com/mlc-ai/pith-train pull 91",
    ),
)
def torchrun_endpoint_localhost(role: Role, context: Context) -> Iterator[Problem]:
    """A rendezvous endpoint that is a different address in each pod."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or (role.replicas or 0) < 2:
        return
    for launch in torchrun_commands(container):
        expected = node_range(launch, container, run)
        if expected is None or expected[1] < 2 or launch.has("--standalone"):
            continue
        if (found := _local(launch)) is not None:
            option, value, at = found
            yield Problem(
                at,
                f"{option}={value} is a different address in each of the {role.replicas} pods: they never meet",
                "name the first pod of the job",
            )
        elif (fallback := _fallback(launch, container)) is not None:
            yield Problem(
                fallback,
                f"if the lookup fails, the rendezvous is localhost, a different address in each of the {role.replicas} "
                "pods",
                "let the script end if it does not find the first pod",
            )
        elif _has_no_address(launch, container, context):
            yield Problem(
                launch.word_at[0],
                f"torchrun waits for {expected[0]} nodes at 127.0.0.1, a different address in each pod: "
                "neither an option nor the operator names the rendezvous",
                f"add an elasticPolicy, or --rdzv-backend=c10d and --rdzv-endpoint={_first_pod(run, role)}:29400",
            )


def _fallback(launch: Command, container: Container) -> Place | None:
    """Returns the place where a script makes the address localhost if a command fails."""
    endpoint = launch.option("--rdzv-endpoint", "--master-addr") or ""
    for script in container.scripts if "$" in endpoint else ():
        for number, line in enumerate(script.text.split("\n")):
            found = FALLBACK.search(line)
            if found is not None and re.search(rf"\$\{{?{found[1]}\b", endpoint):
                return script.at.below(number)
    return None


def _first_pod(run: Run, role: Role) -> str:
    """Returns the name of the pod at which the others meet."""
    return f"{run.name}-{role.name.lower()}-0" if run.kind == "PyTorchJob" else "<first pod>"


def _has_no_address(launch: Command, container: Container, context: Context) -> bool:
    """True if torchrun certainly falls back to its default."""
    if context.run is None or launch.has("--rdzv-endpoint", "--master-addr", "--rdzv-conf"):
        return False
    given = {setting.name for setting in container.settings} | operator_variables(context.run)
    if given & {"PET_RDZV_ENDPOINT", "PET_MASTER_ADDR"} or has_unknown_variables(container, context):
        return False
    told = context.run.kind == "TrainJob" and has_torch_policy(context.run) is not False
    return not told and launch.option("--rdzv-backend") in (None, "static") and "PET_RDZV_BACKEND" not in given


def _local(launch: Command) -> tuple[str, str, Place] | None:
    endpoint = launch.option_at("--rdzv-endpoint")
    if endpoint is not None:
        host = endpoint[0] if endpoint[0] in LOCAL else endpoint[0].rpartition(":")[0]
        return ("--rdzv-endpoint", *endpoint) if host in LOCAL else None
    address = launch.option_at("--master-addr")
    if address is None or launch.option("--rdzv-backend") not in (None, "static") or address[0] not in LOCAL:
        return None
    return ("--master-addr", *address)
