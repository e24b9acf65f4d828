"""The value of a variable has a reference that nobody replaces, so the program gets the reference as text.

In `env`, the kubelet replaces `$(NAME)` by a variable of the same container. It leaves another reference as it is, and
runs no command: `$(hostname -i)` stays literal too. The program takes the text for a host, a folder or a name.

The rule reports names in capitals, and values that are one command such as `hostname` or `nproc`. It leaves out names
that the controller sets or a kustomization replaces, service links, and containers with an unknown `envFrom`. For a
variable further down, there is `variable-defined-below`. A variable that refers to itself has nothing to refer to
either: the kubelet knows neither the variables of the image nor those of the node.

Set the variable above, as `POD_NAME` from the field `metadata.name`, or compute the value in a script.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import may_be_patched
from trainyard.analysis.pods.environment import SERVICE_LINK, has_unknown_variables, references
from trainyard.analysis.pods.injected import injected
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container
from trainyard.startup import pattern

_SUBSTITUTED = pattern(r"\$\((?:hostname|nproc|date|whoami|pwd|cat|nvidia-smi|ip|id|uname|getent|curl)(?:\s[^()]*)?\)")
_CAPITALS = pattern(r"[A-Z][A-Z0-9_]{2,}")


@rule(
    code="SC047",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes/api v0.34.4 core/v1/types.go: EnvVar.Value, references that cannot be resolved stay unchanged",
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables",
    ),
    needs=("$(",),
)
def value_refers_to_nothing(container: Container, context: Context) -> Iterator[Problem]:
    """Report values whose reference stays as it is."""
    run = context.run
    if run is None or not has_all_pods(run) or has_unknown_variables(container, context):
        return
    entries = items(container.tree, "env")
    known = {text(entry, "name") for entry in entries}
    known |= {setting.name for setting in container.settings if setting.via == "envFrom"}
    operator = injected(run)
    above = {setting.name for setting in container.settings if setting.via == "envFrom"}
    for index, entry in enumerate(entries):
        value, own = text(entry, "value"), text(entry, "name")
        if "$(" not in value:
            above.add(own)
            continue
        at = container.at.child("env", index, "value")
        if _SUBSTITUTED.fullmatch(value):
            advice = "compute it in a script, or take a field of the pod with `valueFrom`"
            yield Problem(at, f"no shell reads this: the program gets the literal text `{value}`", advice)
            continue
        for name in references(value):
            # Another rule tells about paths.
            is_itself = name == own and name not in above and "PATH" not in name
            if (name in known and not is_itself) or not _CAPITALS.fullmatch(name) or SERVICE_LINK.match(name):
                continue
            if operator.has(name) or may_be_patched(at, run, context.project, name):
                continue
            if is_itself:
                yield Problem(
                    at,
                    f"{name} refers to itself, and nothing above sets it: the program gets the text `$({name})`",
                    "write the value, or take it from a field of the pod with `valueFrom`",
                )
            else:
                yield Problem(
                    at,
                    f"container {container.name} has no variable {name}: the program gets the literal text `$({name})`",
                    f"set {name} above in `env`",
                )
        above.add(own)
