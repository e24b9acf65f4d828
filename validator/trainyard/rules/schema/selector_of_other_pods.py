"""The selector does not match the labels of the pod template, so the API server refuses the object.

A Deployment, StatefulSet, DaemonSet or ReplicaSet manages the pods that its selector finds, and its own must be among
them: "`selector` does not match template `labels`".

The labels of a chart must fit for each name of a release. Those that fit only where the release has the name of its
chart are left alone: many charts are installed under no other name.

Write the same labels in `spec.selector.matchLabels` and in `spec.template.metadata.labels`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import is_patch
from trainyard.document.document import Document
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.origins import RenderedDocument
from trainyard.loaders.schemas.partial import is_named_patch
from trainyard.model.run import Pod

KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")


@rule(
    code="SM010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 pkg/apis/apps/validation/validation.go: selector does not match template labels",),
    needs=KINDS,
)
def selector_of_other_pods(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report selectors that miss their own pods."""
    run = context.run
    if run is None or run.kind not in KINDS or not run.api_version.startswith("apps/"):
        return
    if not pod.containers or is_patch(pod) or is_named_patch(pod.at.document):
        return
    for name, value in mapping(run.spec, "selector", "matchLabels").items():
        own = pod.labels.get(name)
        if str(own) == str(value) or "{" in f"{own}{value}" or "$" in f"{own}{value}":
            continue
        if own is None or not _depends_on_release(str(own), str(value), pod.at.document):
            said = "has no such label" if own is None else f"has `{own}`"
            yield Problem(
                run.at.child("spec", "selector", "matchLabels", name),
                f"the selector wants `{name}: {value}`, and the pod template {said}: the API server refuses it",
                f"write `{name}: {value}` into the labels of the template",
            )


def _depends_on_release(label: str, selected: str, document: Document) -> bool:
    """True if the two are the same in a release that has the name of its chart."""
    names = document.release_and_chart if isinstance(document, RenderedDocument) else None
    if names is None:
        return False
    release, chart = names

    def named_alike(text: str) -> str:
        renamed = "-".join(chart if part == release else part for part in text.split("-"))
        # Most helpers write the name once where a release has that of its chart.
        return renamed.replace(f"{chart}-{chart}", chart)

    return named_alike(label) == named_alike(selected)
