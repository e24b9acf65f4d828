"""The value of a variable refers to another one that stands below it, so the reference is never replaced.

The kubelet goes through `env` from the top. In a value it replaces `$(NAME)` by a variable that it knows by then: one
above, or one of `envFrom`. Another reference stays as it is, without an event: the program gets the literal text
`$(NAME)`, for example as the name of a host.

Move the variable above those that refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import may_be_patched
from trainyard.analysis.pods.environment import has_unknown_variables, references
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Container


@rule(
    code="SC042",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables",
        "kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables: order matters",
        "github.com/kubernetes/kubernetes issue 90466, github.com/newrelic/helm-charts pull 1479",
    ),
    needs=("$(",),
)
def variable_defined_below(container: Container, context: Context) -> Iterator[Problem]:
    """Report references to variables that come later."""
    entries = [mapping(entry) for entry in items(container.tree, "env")]
    last = {text(entry, "name"): index for index, entry in enumerate(entries)}
    if len(last) < 2 or context.run is None or not has_all_pods(context.run):
        return
    known = {setting.name for setting in container.settings if setting.via == "envFrom"}
    for index, entry in enumerate(entries):
        at = container.at.child("env", index, "value")
        below = [name for name in references(text(entry, "value")) if name not in known and last.get(name, 0) > index]
        if below and has_unknown_variables(container, context):
            return
        names = [one for one in dict.fromkeys(below) if not may_be_patched(at, context.run, context.project, one)]
        if names:
            yield _problem(at, names, text(entry, "name"), container, last)
        known.add(text(entry, "name"))


def _problem(at: Place, names: list[str], variable: str, container: Container, last: dict[str, int]) -> Problem:
    listed, stand = format_list(f"`{name}`" for name in names), "stands" if len(names) == 1 else "stand"
    forms, are = format_list(f"`$({name})`" for name in names), "is" if len(names) == 1 else "are"
    its = "it" if len(names) == 1 else "them"
    return Problem(
        at,
        f"{listed} {stand} below, so {forms} {are} not replaced: the program gets {its} as literal text",
        f"move {listed} above `{variable}`",
        related=tuple((container.at.child("env", last[name], "name"), "the variable") for name in names),
    )
