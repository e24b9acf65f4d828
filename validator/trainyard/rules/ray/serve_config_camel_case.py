"""Ray Serve knows the fields of `serveConfigV2` in snake case only: `import_path`, not `importPath`.

The text of `serveConfigV2` goes to Serve as it is, while the older `serveConfig` was a part of the RayService, in camel
case. Serve rejects a field in camel case, or ignores it and misses the required `import_path`. The RayService stays
without applications.

Write the field in snake case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource

# Fields of Serve whose names have more than one word.
FIELDS = frozenset(
    (
        *("import_path", "route_prefix", "runtime_env", "proxy_location", "http_options", "grpc_options"),
        *("logging_config", "num_replicas", "max_concurrent_queries", "max_ongoing_requests", "max_queued_requests"),
        *("user_config", "autoscaling_config", "ray_actor_options", "graceful_shutdown_timeout_s"),
        *("graceful_shutdown_wait_loop_s", "health_check_period_s", "health_check_timeout_s"),
        *("placement_group_bundles", "placement_group_strategy", "max_replicas_per_node", "min_replicas"),
        *("max_replicas", "initial_replicas", "target_ongoing_requests", "upscale_delay_s", "downscale_delay_s"),
        *("num_cpus", "num_gpus", "accelerator_type", "working_dir", "env_vars", "py_modules"),
    )
)


@rule(
    code="RY003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/pull/1221: serveConfigV2 takes snake case, as the configuration of Serve",
        "ray-project/ray python/ray/serve/schema.py: ServeDeploySchema, ServeApplicationSchema, DeploymentSchema",
    ),
    needs=("serveConfigV2",),
)
def serve_config_camel_case(resource: Resource) -> Iterator[Problem]:
    """Report fields in camel case."""
    config = text(resource.tree, "spec", "serveConfigV2")
    if resource.kind != "RayService" or group_of(resource.api_version) != RAY or not re.search(r"[a-z][A-Z]", config):
        return
    at = resource.at.child("spec", "serveConfigV2")
    lines = config.split("\n")
    inner = embedded(at, config)
    for name in dict.fromkeys(_keys(inner.tree)) if not isinstance(inner, BrokenText) else ():
        meant = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if meant == name or meant not in FIELDS:
            continue
        line = next((number for number, line in enumerate(lines) if re.search(rf"\b{name}['\"]?\s*:", line)), None)
        yield Problem(
            at.below(line) if line is not None and len(lines) > 1 else at,
            f"Ray Serve has no field `{name}`",
            f"write {meant}",
        )


def _keys(tree: Any) -> Iterator[str]:
    """Yields the names of fields that Serve reads; `user_config` and `runtime_env` hold fields of others."""
    applications = items(tree, "applications")
    yield from map(str, mapping(tree))
    for application in applications:
        yield from map(str, mapping(application))
        for deployment in items(application, "deployments"):
            yield from map(str, mapping(deployment))
            for field in ("ray_actor_options", "rayActorOptions", "autoscaling_config", "autoscalingConfig"):
                yield from map(str, mapping(deployment, field))
