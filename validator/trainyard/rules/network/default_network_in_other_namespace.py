"""The first network of the pod is defined in the pod's namespace, but Multus looks for it in its own.

The annotation `v1.multus-cni.io/default-network` replaces the network behind `eth0`. In contrast to the annotation for
additional networks, a name without a namespace means a NetworkAttachmentDefinition in the namespace of Multus:
`kube-system`, or what `multusNamespace` says. Multus then looks for a file of the node with this name, finds none, and
the pod stays in `ContainerCreating`.

The rule applies if the files define the network in the namespace of the pod alone, and no file has `multusNamespace`.

Write the namespace before the name, as in `training/fast`, or define the network in `kube-system`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import multus
from trainyard.analysis.network.multus import Malformed
from trainyard.analysis.objects.known_objects import Known, everywhere
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

_ANNOTATION = "v1.multus-cni.io/default-network"
_KIND = "NetworkAttachmentDefinition"
# Where Multus looks by default; an object without a namespace may be applied there.
_OWN = ("", "kube-system", "openshift-multus")


@rule(
    code="NT063",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.2.2 pkg/k8sclient/k8sclient.go: tryLoadK8sPodDefaultNetwork; "
        "pkg/types/conf.go: defaultMultusNamespace",
        "github.com/k8snetworkplumbingwg/multus-cni issue 1291",
    ),
    needs=(_ANNOTATION,),
)
def default_network_in_other_namespace(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report first networks that the namespace of the pod has, and that of Multus lacks."""
    written = pod.annotations.get(_ANNOTATION)
    run = context.run
    if not isinstance(written, str) or run is None or run.namespace in _OWN:
        return
    found = multus.parse_annotation(written)
    for attachment in () if isinstance(found, Malformed) else found:
        if attachment.namespace or not attachment.name:
            continue
        network = _only(context.project, attachment.name, run.namespace)
        if network is not None and not _told.of(context.project):
            yield Problem(
                pod.template_at.child("metadata", "annotations", _ANNOTATION),
                f"network `{attachment.name}` is in namespace `{run.namespace}`, but Multus looks for default "
                "networks in its own, which is `kube-system`",
                f"write `{run.namespace}/{attachment.name}`",
                related=((network.at.child("metadata", "namespace"), "the namespace of the network"),),
            )


def _only(project: Project, name: str, namespace: str) -> Known | None:
    """Returns the network of this name in the namespace, None if the namespace of Multus may have one as well."""
    named = everywhere(project, _KIND, name)
    if any(one.namespace in _OWN for one in named):
        return None
    return next((one for one in named if one.namespace == namespace), None)


_told: LastIndex[Project, bool] = LastIndex(
    lambda project: any("multusNamespace" in source.text for source in project.sources)
)
