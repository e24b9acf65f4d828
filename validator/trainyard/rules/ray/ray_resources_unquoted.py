r"""The shell removes the quotes in the JSON of the custom resources, so `ray start` fails.

KubeRay puts each of the `rayStartParams` into the text of a shell command, as `--resources=VALUE`. Of the value
`{"NPU": 1}`, `ray start` gets the two words `{NPU:` and `1}`, and ends with `Got unexpected extra argument` or
`is not a valid JSON string`. The pod restarts repeatedly.

The value needs quotes of its own, inside those of YAML: `resources: '''{"NPU": 1}'''` or
`resources: '"{\"NPU\": 1}"'`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of, keeps_command
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/1984: the value of resources without quotes for the shell",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: convertParamMap, BuildPod",
    ),
    needs=("rayStartParams",),
)
def ray_resources_unquoted(resource: Resource) -> Iterator[Problem]:
    """Report JSON that does not reach `ray start`."""
    cluster = cluster_of(resource)
    for group in cluster.groups if cluster is not None else ():
        value = group.start.get("resources")
        # A variable may hold the quotes.
        if cluster is None or not isinstance(value, str) or "$" in value or "{{" in value:
            continue
        if not _is_json(value) or keeps_command(cluster, group) or _reaches_ray(value):
            continue
        yield Problem(
            group.at.child("rayStartParams", "resources"),
            "the shell removes the quotes in the JSON of `resources`: `ray start` fails",
            f"quote the JSON for the shell: '''{value.strip()}'''",
        )


def _is_json(value: str) -> bool:
    """True for a mapping in JSON; a value that is broken in another way gets no advice on quotes."""
    try:
        return isinstance(json.loads(value), dict)
    except ValueError:
        return False


def _reaches_ray(value: str) -> bool:
    try:
        words = shlex.split(f"--resources={value}")
    except ValueError:
        return False
    return len(words) == 1 and _is_json(words[0].partition("=")[2])
