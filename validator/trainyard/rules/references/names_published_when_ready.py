"""The pods of a model server meet by names that DNS has only for ready pods, and they get ready after they have met.

A headless Service publishes the names of ready pods, unless it has `publishNotReadyAddresses: true`. SGLang and vLLM on
several nodes answer `/health` after all nodes have joined. So the name of the first pod does not resolve, and the
others wait for it until the time for the start is over.

The rule applies to StatefulSets whose Service is in the files, with a readiness probe by HTTP, and the name of their
own first pod in `--dist-init-addr`, `--master-addr` or the address of `ray start`.

Write `publishNotReadyAddresses: true` in the Service.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import may_match, subdomain
from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

KIND = "StatefulSet"
ADDRESSES = ("--dist-init-addr", "--nccl-init-addr", "--master-addr")
PUBLISH = "publishNotReadyAddresses"


@rule(
    code="RF042",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/dns-pod-service: publishNotReadyAddresses",
        "sgl-project/sglang v0.5 python/sglang/srt/server_args.py: dist_init_addr, nnodes",
        "docs.vllm.ai/en/latest/serving/parallelism_scaling: multi-node with Ray, and --master-addr",
        "github.com/vllm-project/aibrix pull 1441",
    ),
    needs=(KIND,),
)
def names_published_when_ready(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report Services without the names of pods that are not ready."""
    run, role = context.run, context.role
    if run is None or role is None or run.kind != KIND or (role.replicas or 1) < 2:
        return
    name = subdomain(run, role)
    found = fitting(context.project, "Service", name, run.namespace, pod.at) if name else []
    spec = mapping(found[0].tree, "spec") if len(found) == 1 else {}
    selector = mapping(spec, "selector")
    if spec.get("clusterIP") != "None" or PUBLISH in spec or not selector or not may_match(selector, role):
        return
    for container in pod.containers:
        at = _rendezvous(container, f"{run.name}-0.{name}")
        if at is not None and mapping(container.tree, "readinessProbe", "httpGet"):
            yield Problem(
                found[0].at.child("spec").key(),
                f"Service `{name}` publishes the names of ready pods only, but the pods of {run.kind} {run.name} "
                f"become ready only after they have met by the name `{run.name}-0.{name}`",
                f"write `{PUBLISH}: true`",
                related=((at, "where they meet"),),
            )
            return


def _rendezvous(container: Container, host: str) -> Place | None:
    """Returns the place of the address at which a server meets its other nodes, if the host is in it."""
    starts = server_starts(container)
    told = [start.command.option_at(*ADDRESSES) for start in starts]
    if starts:
        told += [one.option_at("--address") for one in container.commands if one.words[:2] == ("ray", "start")]
    return next((one[1] for one in told if one is not None and one[0].startswith((f"{host}:", f"{host}."))), None)
