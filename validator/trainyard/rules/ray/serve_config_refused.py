"""Ray Serve refuses the runtime environment of an application, or the replicas of a deployment.

The values of `env_vars` are texts: YAML reads `false` and `1` as other types, and Ray raises `runtime_env['env_vars']
must be of type Dict[str, str]`. `working_dir` and `py_modules` are remote URIs, such as an archive at `https://` or
`s3://`: the controller has no folder of the user. The application does not start.

A deployment has `num_replicas` or `autoscaling_config`. Beside the latter, `num_replicas` may only be `auto`. Its
`min_replicas` is at most `max_replicas`.

Quote the values, and upload the folder or put it into the image.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.serve_config import applications
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY020",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/ray python/ray/serve/schema.py: runtime_env_contains_remote_uris, "
        "num_replicas_and_autoscaling_config_mutually_exclusive",
        "ray-project/ray python/ray/_private/runtime_env/validation.py: parse_and_validate_env_vars",
        "github.com/masumi-network/kodosumi issue 82, github.com/ray-project/ray pull 34212",
    ),
    needs=("serveConfigV2",),
)
def serve_config_refused(resource: Resource) -> Iterator[Problem]:
    """Report values that Serve refuses."""
    for application, at in applications(resource):
        environment = mapping(application, "runtime_env")
        place = at.child("runtime_env")
        for name, value in mapping(environment, "env_vars").items():
            if not isinstance(value, str):
                message = f"the value of `{name}` in env_vars is not a text: Ray refuses the application"
                yield Problem(place.child("env_vars", str(name)), message, "quote it")
        folder = environment.get("working_dir")
        if isinstance(folder, str) and folder and "://" not in folder and "$" not in folder:
            message = f"working_dir `{folder}` is not a remote URI: Ray Serve refuses the application"
            yield Problem(place.child("working_dir"), message, "upload an archive and write its URI")
        for index, deployment in enumerate(items(application, "deployments")):
            yield from _replicas(mapping(deployment), at.child("deployments", index))


def _replicas(deployment: dict[str, Any], at: Place) -> Iterator[Problem]:
    scaling = deployment.get("autoscaling_config")
    if not isinstance(scaling, dict) or not scaling:
        return
    if integer(deployment, "num_replicas") is not None:
        message = "`num_replicas` is a number beside `autoscaling_config`: Ray Serve refuses the deployment"
        yield Problem(at.child("num_replicas"), message, "write `num_replicas: auto`, or remove one of the two")
    least, most = integer(scaling, "min_replicas"), integer(scaling, "max_replicas")
    if least is not None and most is not None and least > most:
        message = f"`min_replicas` is {least}, above `max_replicas`, {most}: Ray Serve refuses the deployment"
        yield Problem(at.child("autoscaling_config", "min_replicas"), message, f"write at most {most}")
