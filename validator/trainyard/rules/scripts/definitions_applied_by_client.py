"""`kubectl apply` installs resource definitions that are too long for it, so the API server refuses them.

Without `--server-side`, kubectl writes the whole object into one of its annotations. Annotations have at most 256 KiB,
and the definition of a kind with a pod template is longer: "metadata.annotations: Too long: must have at most 262144
bytes". The other objects of the file are created, so the operator runs and finds no API for its kind.

The rule knows the addresses of KubeRay, Kueue, JobSet, LeaderWorkerSet, the MPI operator, and Kubeflow Trainer, with
the release from which each is too long. A variable of the script may hold the release.

Add `--server-side`. `kubectl create` works as well, but not for an upgrade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.large_definitions import too_long
from trainyard.loaders.manifests.shell import MAX_LENGTH
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

_VARIABLE = pattern(r"\$(?:(\w+)|\{(\w+)(?::?-([^{}]*))?\})")
_ASSIGNMENT = pattern(r"(?m)^[ \t]*(?:(?:export|readonly|local)[ \t]+)?(\w+)=[\"']?(?:\$\{\w+:?-)?([\w.-]+)")
_FILES = ("-f", "--filename", "-k", "--kustomize")


@rule(
    code="SC036",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/kubernetes/large_definitions.py: the length of the definitions of each release",
        "github.com/ray-project/kuberay issues 271 and 504",
    ),
    needs=("kubectl",),
)
def definitions_applied_by_client(command: Command, context: Context) -> Iterator[Problem]:
    """Report definitions that are applied from the client."""
    words = command.words
    if command.program != "kubectl" or "apply" not in words or command.has("--dry-run"):
        return
    if command.has("--server-side") and "--server-side=false" not in words:
        return
    for address, at in _files(command):
        known = too_long(_VARIABLE.sub(lambda match: _release(match, context), address))
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


def _release(match: re.Match[str], context: Context) -> str:
    """Returns the value of a variable: the only one that the scripts give it, or its default."""
    values = _assigned.of(context.container).get(match[1] or match[2], set()) if context.container is not None else ()
    return next(iter(values)) if len(values) == 1 else match[3] or match[0]


def _find_assigned(container: Container) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for script in container.scripts:
        for name, value in _ASSIGNMENT.findall(script.text[:MAX_LENGTH]):
            found.setdefault(name, set()).add(value)
    return found


# The texts that the scripts of a container give their variables, a default included.
_assigned: LastIndex[Container, dict[str, set[str]]] = LastIndex(_find_assigned)
