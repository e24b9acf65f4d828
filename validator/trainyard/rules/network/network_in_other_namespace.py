"""The pod requests a network that these files define in another namespace only, so Multus does not find it.

Multus looks up a NetworkAttachmentDefinition in the namespace of the pod unless the annotation has another one before
a `/`. The pod gets the event `NoNetworkFound` and stays in `ContainerCreating`.

The rule applies if both namespaces are written in the files. NT013 reports names that no file defines.

Write the namespace into the annotation, as in `networks/roce`, or define the network in the namespace of the pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.analysis.objects.known_objects import only_elsewhere
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod

KIND = "NetworkAttachmentDefinition"


@rule(
    code="NT031",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: parsePodNetworkAnnotation",
        "github.com/k8snetworkplumbingwg/multus-cni issue 337",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def network_in_other_namespace(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report networks that only another namespace has."""
    run = context.run
    for attachment in multus.attachments(pod) if run is not None and run.namespace else ():
        if run is None or attachment.namespace:
            continue
        at = multus.annotation_place(pod)
        found = only_elsewhere(context.project, KIND, attachment.name, run.namespace, at)
        if found:
            yield Problem(
                at,
                f"network `{attachment.name}` is in namespace `{found[0].namespace}`, but Multus looks for it in "
                f"`{run.namespace}`, the namespace of the pod",
                f"write `{found[0].namespace}/{attachment.name}`",
                related=((found[0].at.child("metadata", "namespace"), "the namespace of the network"),),
            )
