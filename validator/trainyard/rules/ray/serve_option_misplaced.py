"""An option is below `autoscaling_config` of a deployment of Ray Serve, where Serve ignores it.

`max_ongoing_requests`, `max_queued_requests` and `num_replicas` belong to the deployment itself. Below
`autoscaling_config` they have no effect, and the deployment has the defaults, such as five ongoing requests.

Serve does not check the other names either: a misspelt `max_replica` leaves one replica, and
`target_num_ongoing_requests_per_replica`, which Ray 2.35 and later no longer know, leaves a target of two requests.

Write options of the deployment beside `autoscaling_config`, and those of the autoscaling with their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.analysis.jobs.serve_config import applications
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Resource

OPTIONS = ("max_ongoing_requests", "max_queued_requests", "max_concurrent_queries", "num_replicas")
KNOWN = (
    "min_replicas", "initial_replicas", "max_replicas", "target_ongoing_requests", "metrics_interval_s",
    "look_back_period_s", "smoothing_factor", "upscale_smoothing_factor", "downscale_smoothing_factor",
    "upscaling_factor", "downscaling_factor", "downscale_delay_s", "downscale_to_zero_delay_s", "upscale_delay_s",
    "policy", "aggregation_function",
)  # fmt: skip
_RENAMED, _NEW, _REMOVED = "target_num_ongoing_requests_per_replica", "target_ongoing_requests", (2, 35)


@rule(
    code="RY021",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/ray python/ray/serve/config.py: AutoscalingConfig; schema.py: DeploymentSchema",
        "github.com/ray-project/ray issue 61439",
        "github.com/ray-project/ray pull 46392: target_num_ongoing_requests_per_replica is removed",
        "github.com/docling-project/docling-jobkit pull 173",
    ),
    needs=("autoscaling_config",),
)
def serve_option_misplaced(resource: Resource) -> Iterator[Problem]:
    """Report options that Serve ignores among those of the autoscaling."""
    cluster = cluster_of(resource)
    release = cluster.release if cluster is not None else None
    for application, at in applications(resource):
        for index, deployment in enumerate(items(application, "deployments")):
            place = at.child("deployments", index, "autoscaling_config")
            for name in map(str, mapping(deployment, "autoscaling_config")):
                if name in OPTIONS:
                    message = f"Ray Serve ignores {name} below autoscaling_config: it is an option of the deployment"
                    yield Problem(place.child(name), message, "write it beside autoscaling_config")
                    continue
                right = _right_name(name, release)
                if right is not None:
                    message = f"Ray Serve ignores {name}: {right} keeps its default"
                    yield Problem(place.child(name), message, f"write `{right}`")


def _right_name(name: str, release: tuple[int, int] | None) -> str | None:
    """Returns the name that was certainly meant, if Serve ignores the given one."""
    if name == _RENAMED:
        return _NEW if release is not None and release >= _REMOVED else None
    return closest_match(name, KNOWN, 0.9) if name not in KNOWN else None
