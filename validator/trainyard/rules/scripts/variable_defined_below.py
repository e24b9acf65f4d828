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
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
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
        for name in references(text(entry, "value")):
            if name in known or last.get(name, index) <= index or has_unknown_variables(container, context):
                continue
            if not may_be_patched(at, context.run, context.project, name):
                yield Problem(
                    at,
                    f"`{name}` stands below, so `$({name})` is not replaced: the program gets it as literal text",
                    f"move `{name}` above `{text(entry, 'name')}`",
                    related=((container.at.child("env", last[name], "name"), "the variable"),),
                )
        known.add(text(entry, "name"))
