"""A pod attaches a network that the site does not have, so the pod cannot be created.

Multus looks up the NetworkAttachmentDefinition in the namespace that the annotation names, or in that of the pod. If it
does not exist, the pod gets the event `NoNetworkFound` and stays in `ContainerCreating`; the other pods of the run hold
their GPUs and wait.

The rule reports only if the site creates networks or names them for its runs: `networks.networks`, `gpu.sriov.networks`
and `fabric.networks`. Add networks that exist independently of the site's values to the parameter `known_networks`, as
`name` or `namespace/name`. Networks in the linted files count too.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import sites
from trainyard.analysis.network import multus
from trainyard.analysis.network.networks import Name, advice, defined_networks, is_among, is_defined, parse_names
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Pod
from trainyard.startup import NamedTuple


class Parameters(NamedTuple):
    """`known_networks`: networks of the cluster that the site does not name, as `name` or `namespace/name`."""

    known_networks: tuple[str, ...] = ()


@rule(
    code="SI002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate",),
    parameters=Parameters(),
    needs=("k8s.v1.cni.cncf.io",),
    of_site=True,
)
def site_network_unknown(pod: Pod, context: Context) -> Iterator[Problem]:
    """Networks that the site does not have."""
    if context.site is None or context.run is None or not context.site.networks:
        return
    of_site = [Name(network.namespace, network.name) for network in context.site.networks]
    others = frozenset((*of_site, *parse_names(context.parameters.known_networks)))
    own = sites.namespace(context.run)
    for attachment in multus.attachments(pod):
        namespace, name = attachment.namespace or own, attachment.name
        if name and not is_defined(context.project, namespace, name) and not is_among(others, namespace, name):
            names = format_list(sorted("/".join(part for part in one if part) for one in of_site))
            yield Problem(
                sites.attachment_place(context.run, pod, name),
                f"the site has no network `{name}`" + (f" in namespace {namespace}" if namespace else ""),
                advice(name, others | defined_networks(context.project), f"use one of {names}"),
                related=((context.site.networks[0].at, f"the site's networks: {names}"),),
            )
