"""A container that ships logs, syncs files or waits requests GPUs beside the one that trains.

The GPUs of all containers of a pod add up, and each GPU belongs to one container. A copied `resources` block thus takes
GPUs that nothing uses, and often more than a node has: the pod stays pending with "Insufficient nvidia.com/gpu".

The rule knows helpers by the names of their images, such as `fluent-bit`, `git-sync` and `busybox`.

Remove the GPUs from the helper.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.images import short_name
from trainyard.model.run import Pod

_HELPERS = frozenset(
    (
        *("alpine", "aws-cli", "busybox", "curl", "envoy", "filebeat", "fluent-bit", "fluentd", "git-sync", "logstash"),
        *("node-exporter", "oauth2-proxy", "otel-collector", "proxyv2", "promtail", "rclone", "vector"),
    )
)


@rule(
    code="RS013",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/scheduler/framework/plugins/noderesources: the requests of all containers add up",
        "github.com/determined-ai/determined pull 1755",
    ),
    needs=tuple(sorted(_HELPERS)),
)
def gpu_for_helper(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report GPUs of a helper beside a container with GPUs."""
    asking = [container for container in pod.containers if container.gpus]
    helpers = [container for container in asking if short_name(container.image) in _HELPERS]
    for container in helpers if len(helpers) < len(asking) else ():
        field, quantities = ("limits", container.limits) if container.limits else ("requests", container.requests)
        name = next((one for one in quantities if is_accelerator(one)), None)
        if name is not None:
            total = sum(one.gpus for one in asking)
            message = f"{container.name} uses no GPU and requests {container.gpus}: the pod needs {total} of one node"
            at = quantity_at(context.run, context.role, container, field, name)
            yield Problem(at, message, f"remove {name} from {container.name}")
