"""A pod without a restart policy starts its program again each time that it has ended.

The default of a Pod is `restartPolicy: Always`, also after success. A test such as nccl-tests shows `CrashLoopBackOff`
although it passed, and a training that has ended starts from the beginning and holds the GPU.

The rule looks at pods that no controller owns, with one container whose last command is a benchmark of NCCL,
`nvidia-smi`, or a launcher with a script that trains. It ignores loops, and scripts that wait at their end.

Write `restartPolicy: Never` or `OnFailure`, or make it a Job.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import starts_launcher
from trainyard.analysis.objects.patches import is_patch
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Pod
from trainyard.startup import pattern

_BENCHMARK = pattern(
    r"(?:all_reduce|all_gather|alltoall|alltoallv|broadcast|gather|reduce|reduce_scatter|sendrecv)_perf"
)
_TRAINS = pattern(r"(?i)(?:^|[_/.-])(?:pre|post)?(?:train|finetune|sft|dpo|grpo)")
# With these, nvidia-smi goes on for ever.
_WATCHING = ("-l", "-lms", "--loop", "--loop-ms", "dmon", "pmon", "daemon")
_LOOPS = pattern(r"\b(?:while|until|for)\b|\bsleep\b|\btail\b|\bwait\b|\btrap\b")


@rule(
    code="WL029",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle: restart policy, the default is Always",
        "github.com/NVIDIA/k8s-device-plugin issue 106, github.com/kubernetes/kubernetes issue 53125",
    ),
    needs=("_perf", "nvidia-smi", "train", "tune", "sft", "dpo", "grpo"),
)
def pod_starts_again(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods whose program ends and is started again."""
    run = context.run
    if run is None or (run.kind, run.api_version) != ("Pod", "v1") or "restartPolicy" in pod.tree or is_patch(pod):
        return
    if len(pod.containers) == 1 and (what := _ending(pod.containers[0])):
        yield Problem(
            pod.at.key(),
            f"without `restartPolicy` the kubelet starts `{what}` again each time that it has ended",
            "write `restartPolicy: Never` or `OnFailure`",
        )


def _ending(container: Container) -> str:
    """Returns the program of a container that is certain to end; empty if it is not."""
    if not container.commands or any(_LOOPS.search(script.text) for script in container.scripts):
        return ""
    last = container.commands[-1]
    return last.program if _ends(last) else ""


def _ends(command: Command) -> bool:
    if command.program == "nvidia-smi":
        return not any(word.partition("=")[0] in _WATCHING for word in command.words)
    if _BENCHMARK.fullmatch(command.program):
        return True
    return starts_launcher(command.words) and any(
        word.endswith(".py") and _TRAINS.search(word) for word in command.words
    )
