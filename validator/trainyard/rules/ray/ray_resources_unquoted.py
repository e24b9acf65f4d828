r"""The shell removes the quotes in the JSON of the custom resources, so `ray start` fails.

KubeRay puts each of the `rayStartParams` into the text of a shell command, as `--resources=VALUE`. Of the value
`{"NPU": 1}`, `ray start` gets the two words `{NPU:` and `1}`, and ends with `Got unexpected extra argument` or
`is not a valid JSON string`. The pod restarts repeatedly.

With the annotation `ray.io/overwrite-container-cmd`, KubeRay leaves the command of the container, which starts Ray by
`$KUBERAY_GEN_RAY_START_CMD`. The shell splits the value of a variable at each space, and does not read quotes in it: a
JSON with spaces arrives in pieces. Write it without spaces and quotes around it, or `eval` the variable.

Otherwise the value needs quotes of its own, inside those of YAML: `resources: '''{"NPU": 1}'''` or
`resources: '"{\"NPU\": 1}"'`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of, keeps_command, words_of
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource
from trainyard.startup import pattern

COMMAND = "KUBERAY_GEN_RAY_START_CMD"
# The variable at the start of a command, without `eval` and without quotes around it.
_PLAIN = pattern(r"(?:^|[;&|\n(]|\b(?:exec|then|do))\s*\$\{?KUBERAY_GEN_RAY_START_CMD\b")


@rule(
    code="RY001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/1984: the value of resources without quotes for the shell",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: convertParamMap, BuildPod",
        "github.com/ray-project/kuberay/issues/3756: a variable with spaces",
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
        at = group.at.child("rayStartParams", "resources")
        if _is_split(value, words_of(group)):
            yield Problem(
                at,
                f"the shell splits ${COMMAND} at the spaces of `resources`, whose quotes it does not read: "
                "`ray start` fails",
                f"write the JSON without spaces, or `eval` ${COMMAND}",
                related=((group.container_at, "the command of the container"),),
            )
        if not _is_json(value) or keeps_command(cluster, group) or _reaches_ray(value):
            continue
        yield Problem(
            at,
            "the shell removes the quotes in the JSON of `resources`: `ray start` fails",
            f"quote the JSON for the shell: '''{value.strip()}'''",
        )


def _is_split(value: str, command: list[str]) -> bool:
    """True if the command of the container starts Ray by a variable whose words the shell separates."""
    script = " ".join(command)
    return any(sign.isspace() for sign in value.strip()) and _PLAIN.search(script) is not None


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
