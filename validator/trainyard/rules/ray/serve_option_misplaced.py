"""An option of a deployment of Ray Serve is below `autoscaling_config`, where Serve ignores it.

`max_ongoing_requests`, `max_queued_requests` and `num_replicas` belong to the deployment itself. Below
`autoscaling_config` they have no effect, and the deployment has the defaults, such as five ongoing requests.

Write the option beside `autoscaling_config`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.serve_config import applications
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

OPTIONS = ("max_ongoing_requests", "max_queued_requests", "max_concurrent_queries", "num_replicas")


@rule(
    code="RY021",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/ray python/ray/serve/config.py: AutoscalingConfig; schema.py: DeploymentSchema",
        "github.com/ray-project/ray issue 61439",
    ),
    needs=("autoscaling_config",),
)
def serve_option_misplaced(resource: Resource) -> Iterator[Problem]:
    """Report options of a deployment among those of its autoscaling."""
    for application, at in applications(resource):
        for index, deployment in enumerate(items(application, "deployments")):
            place = at.child("deployments", index, "autoscaling_config")
            for name in OPTIONS:
                if name in mapping(deployment, "autoscaling_config"):
                    message = f"Ray Serve ignores {name} below autoscaling_config: it is an option of the deployment"
                    yield Problem(place.child(name), message, "write it beside autoscaling_config")
