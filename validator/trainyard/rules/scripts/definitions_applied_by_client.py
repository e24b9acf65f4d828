"""`kubectl apply` installs resource definitions that are too long for it, so the API server refuses them.

Without `--server-side`, kubectl writes the whole object into one of its annotations. Annotations have at most 256 KiB,
and the definition of a kind with a pod template is longer: "metadata.annotations: Too long: must have at most 262144
bytes". The other objects of the file are created, so the operator runs and finds no API for its kind.

The rule knows the addresses of KubeRay, Kueue, JobSet, LeaderWorkerSet, the MPI operator, and Kubeflow Trainer, with
the release from which each is too long. It says nothing of a release that a variable holds.

Add `--server-side`. `kubectl create` works as well, but not for an upgrade.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.large_definitions import too_long
from trainyard.model.run import Command

_FILES = ("-f", "--filename", "-k", "--kustomize")


@rule(
    code="SC036",
    severity="error",
    confidence="high",
    since="0.5.0",
    sources=(
        "facts/kubernetes/large_definitions.py: the length of the definitions of each release",
        "github.com/ray-project/kuberay issues 271 and 504",
    ),
    needs=("kubectl",),
)
def definitions_applied_by_client(command: Command) -> Iterator[Problem]:
    """Report definitions that are applied from the client."""
    words = command.words
    if command.program != "kubectl" or "apply" not in words or command.has("--dry-run"):
        return
    if command.has("--server-side") and "--server-side=false" not in words:
        return
    for address, at in _files(command):
        known = too_long(address)
        if known is not None:
            name = known.repository.partition("/")[2]
            yield Problem(
                at,
                f"the resource definitions of {name} are too long for an apply from the client: they are refused",
                "add `--server-side`",
            )


def _files(command: Command) -> Iterator[tuple[str, Place]]:
    """Yields the addresses that the command applies."""
    for index, word in enumerate(command.words):
        name, equals, value = word.partition("=")
        if name in _FILES and equals:
            yield value, command.word_at[index]
        elif word in _FILES and index + 1 < len(command.words):
            yield command.words[index + 1], command.word_at[index + 1]
