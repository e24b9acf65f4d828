"""The container toolkit changes a file that the distribution of Kubernetes writes again, so its change is lost.

K3s, RKE2 and MicroK8s create the configuration of containerd from a template each time that they start. The toolkit of
the GPU operator adds the runtime `nvidia` to the file that `CONTAINERD_CONFIG` names. In the created file it lasts
until the next start of the service, or is not read at all, and pods then run without the libraries of the driver.

Write the path of the template. A K3s or RKE2 with containerd 2 reads `config-v3.toml.tmpl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.analysis.objects.releases import KINDS, releases_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_AGENT = "/var/lib/rancher/{}/agent/etc/containerd/config.toml"
# The created file, the distribution, and its template.
CREATED = {
    _AGENT.format("k3s"): ("K3s", f"{_AGENT.format('k3s')}.tmpl"),
    _AGENT.format("rke2"): ("RKE2", f"{_AGENT.format('rke2')}.tmpl"),
    "/var/snap/microk8s/current/args/containerd.toml": (
        "MicroK8s",
        "/var/snap/microk8s/current/args/containerd-template.toml",
    ),
}


@rule(
    code="GO024",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://docs.k3s.io/advanced#configuring-containerd: config.toml is created from config.toml.tmpl",
        "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html: MicroK8s and RKE2",
        "github.com/rancher/rke2-docs issue 263; github.com/NVIDIA/gpu-operator issue 473",
    ),
    needs=("CONTAINERD_CONFIG",),
)
def runtime_config_written_again(resource: Resource) -> Iterator[Problem]:
    """Report configurations that the distribution creates."""
    if resource.kind == "ClusterPolicy" and resource.api_version.startswith("nvidia.com/"):
        yield from _faults(resource.tree, ("spec", "toolkit", "env"), lambda *path: resource.at.child(*path))
    elif resource.kind in KINDS:
        for release in releases_of(resource):
            if release.chart == "gpu-operator":
                yield from _faults(release.values, ("toolkit", "env"), release.place)


def _faults(tree: object, path: tuple[str, ...], place: Callable[..., Place]) -> Iterator[Problem]:
    for index, entry in enumerate(items(tree, *path)):
        named = text(entry, "value") if isinstance(entry, dict) and entry.get("name") == "CONTAINERD_CONFIG" else ""
        if named in CREATED:
            title, template = CREATED[named]
            yield Problem(
                place(*path, index, "value"),
                f"{title} writes {named.rpartition('/')[2]} again at each start, so the toolkit's change of it is lost",
                f"write {template}",
            )
