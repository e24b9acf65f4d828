"""KubeRay joins the words of this command with spaces in front of `ray start`, where they mean something else.

The first container of a group runs `COMMAND ARGS && ulimit ...; ray start ...` in one shell: the words of `command` and
`args` become shell text without quotes. Of `[bash, -c, "pip list && date"]` the inner shell gets only the word `pip`.
`[bash, -c]` alone gets `&&`, and ends with `option requires an argument`.

KubeRay leaves the command as it is if it contains `ray start`, or if the object has the annotation
`ray.io/overwrite-container-cmd: "true"`. The command then starts Ray itself, with `$KUBERAY_GEN_RAY_START_CMD`.

Remove the command, write it as shell text without a shell (`command: ["pip list; date"]`), or add the annotation.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import OVERWRITE, cluster_of, keeps_command, words_of
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

SHELLS = ("bash", "sh", "dash", "zsh")


@rule(
    code="RY002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/2767: `bash -c` in front of `&& ray start`",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: BuildPod, convertCmdToString",
        "docs.ray.io/en/latest/cluster/kubernetes/user-guides/pod-command.html",
    ),
    needs=("headGroupSpec",),
)
def ray_command_torn(resource: Resource) -> Iterator[Problem]:
    """Report shell commands that KubeRay takes apart."""
    cluster = cluster_of(resource)
    for group in cluster.groups if cluster is not None else ():
        words = words_of(group)
        if cluster is None or not words or keeps_command(cluster, group) or words[0].split("/")[-1] not in SHELLS:
            continue
        option = next((index for index, word in enumerate(words) if _runs_text(word)), None)
        script = [word for word in words[option + 1 :] if word != "--"] if option is not None else None
        # A script of one word, such as a path, survives.
        if script is None or (len(script) == 1 and len(script[0].split()) == 1):
            continue
        field = "command" if "command" in group.container else "args"
        fault = "the shell gets only the first word of its script" if script else "the shell gets `&&` as its script"
        yield Problem(
            group.container_at.child(field),
            f"KubeRay puts this command in front of `ray start` without quotes: {fault}",
            f'remove the command, or add the annotation `{OVERWRITE}: "true"` and start Ray in it',
        )


def _runs_text(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and word.endswith("c")
