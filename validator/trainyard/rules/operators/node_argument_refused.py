"""A tool that makes clusters starts a component of Kubernetes with a flag that it lacks, or a value that it refuses.

K3s, RKE2, Talos, k0s and the agents of EKS hand arguments of their configuration to the kubelet, the API server, the
controller manager and the scheduler as they are. A component with one that it does not know exits: the log says
`unknown flag: --single-process-oom-kill`, and the node stays NotReady or never joins. Fields of a
KubeletConfiguration are no flags: `protectKernelDefaults` is `protect-kernel-defaults`, and newer fields have none.

The release is that of the image of Talos, or of the object of cluster-api. Without one, the rule reports flags that no
release from 1.20 to 1.37 has, and values.

Remove the argument, write the flag of the message, or put the field into a file for `config`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.gates.setting import of_image, release
from trainyard.analysis.pods.daemon_flags import flag_fault, value_fault
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.daemons import KUBERNETES, Daemon, Minor, flags, library_flags
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple, pattern

_NAME = pattern(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_CAPITAL = pattern(r"(?<=[a-z])(?=[A-Z])")
_API, _MANAGER, _SCHEDULER, _KUBELET = "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"
# Keys of the configuration of K3s and RKE2. A plus adds to the values of another file.
_KEYS = {f"{name}-arg{plus}": name for name in (_API, _MANAGER, _SCHEDULER, _KUBELET) for plus in ("", "+")}
_OF_TALOS = {"apiServer": _API, "controllerManager": _MANAGER, "scheduler": _SCHEDULER}
_OF_K0S = {"api": _API, "controllerManager": _MANAGER, "scheduler": _SCHEDULER}
# Where the objects of cluster-api for RKE2 have their lists, below the specification.
_OF_RKE2 = (
    (("agentConfig", "kubelet", "extraArgs"), _KUBELET),
    (("serverConfig", "kubeAPIServer", "extraArgs"), _API),
    (("serverConfig", "kubeControllerManager", "extraArgs"), _MANAGER),
    (("serverConfig", "kubeScheduler", "extraArgs"), _SCHEDULER),
)
_RKE2 = {
    "RKE2ControlPlane": ("spec",),
    "RKE2Config": ("spec",),
    "RKE2ConfigTemplate": ("spec", "template", "spec"),
}


class _Argument(NamedTuple):
    """An argument of a component; `release` is None if the files do not tell it."""

    program: str
    release: Minor | None
    name: str
    value: str
    at: Place


@rule(
    code="GO103",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/daemons.py: the source of each component",
        "k3s-io/k3s 0aa32d56 pkg/util/args.go: GetArgs, for K3s and RKE2",
        "siderolabs/talos pkg/machinery/config/types/v1alpha1; k0sproject/k0s pkg/apis/k0s/v1beta1: extraArgs",
        "rancher/cluster-api-provider-rke2 bootstrap/api/v1beta1/rke2config_types.go; awslabs/amazon-eks-ami nodeadm",
        "github.com/k3s-io/k3s issue 11781, issue 8266",
    ),
    needs=("-arg", "extraArgs", "NodeConfig"),
)
def node_argument_refused(project: Project) -> Iterator[Problem]:
    """Report arguments of nodes that the component does not have, or refuses."""
    for one in _arguments(project):
        daemon, plain = KUBERNETES[one.program], one.name.replace("_", "-")
        if not _NAME.match(one.name) or plain in library_flags(daemon):
            continue
        known = one.release if one.release is not None and daemon.has(one.release) else None
        fault = flag_fault(daemon, known, plain, one.name) if known is not None else None
        fault = fault or value_fault(daemon, known, plain, one.value)
        if fault is not None:
            yield Problem(one.at, fault.message, fault.help)
        elif known is None and plain not in flags(daemon) and plain.removeprefix("no-") not in flags(daemon):
            first, last = (f"{major}.{minor}" for major, minor in daemon.releases[0])
            said = f"{daemon.title} has no flag `{plain}` in any release from {first} to {last}: it exits"
            yield Problem(one.at, said, _told(daemon, plain))


def _told(daemon: Daemon, name: str) -> str:
    spelt = _CAPITAL.sub("-", name).lower()
    known = flags(daemon)
    near = spelt if spelt in known else closest_match(spelt, list(known), 0.8)
    if near is not None:
        return f"did you mean `{near}`?"
    of_file = "; a field of a KubeletConfiguration needs a file for `config`"
    return f"remove it{of_file if daemon.table == _KUBELET else ''}"


def _arguments(project: Project) -> Iterator[_Argument]:
    for document in project.documents:
        if isinstance(document.tree, dict) and "kind" not in document.tree:
            yield from _of_file(document.tree, Place(document))
    for resource in project.of_kind("ClusterConfig", "NodeConfig", *_RKE2):
        if resource.kind in _RKE2:
            yield from _of_rke2(resource)
        elif resource.api_version.startswith("k0s."):
            for field, program in _OF_K0S.items():
                at = resource.at.child("spec", field, "extraArgs")
                yield from _mapped(program, None, mapping(resource.tree, "spec", field, "extraArgs"), at)
        elif resource.api_version.startswith("node.eks.aws/"):
            path = ("spec", "kubelet", "flags")
            yield from _listed(_KUBELET, None, items(resource.tree, *path), resource.at.child(*path))


def _of_file(tree: dict[str, Any], at: Place) -> Iterator[_Argument]:
    for key, program in _KEYS.items():
        if key in tree:
            yield from _listed(program, None, tree[key], at.child(key))
    if "machine" in tree and "cluster" in tree:
        yield from _of_talos(tree, at)


def _of_talos(tree: dict[str, Any], at: Place) -> Iterator[_Argument]:
    kubelet = mapping(tree, "machine", "kubelet")
    place = at.child("machine", "kubelet", "extraArgs")
    yield from _mapped(_KUBELET, _minor(of_image(kubelet.get("image"))), mapping(kubelet, "extraArgs"), place)
    for field, program in _OF_TALOS.items():
        component = mapping(tree, "cluster", field)
        own = _minor(of_image(component.get("image")))
        yield from _mapped(program, own, mapping(component, "extraArgs"), at.child("cluster", field, "extraArgs"))


def _of_rke2(resource: Resource) -> Iterator[_Argument]:
    path = _RKE2[resource.kind]
    version = text(resource.tree, "spec", "version").partition("+")[0]
    for below, program in _OF_RKE2:
        listed = items(resource.tree, *path, *below)
        yield from _listed(program, _minor(release(version)), listed, resource.at.child(*path, *below))


def _listed(program: str, known: Minor | None, tree: Any, at: Place) -> Iterator[_Argument]:
    """Yields arguments of a list, or of a single text, each as `name=value`."""
    listed = tree if isinstance(tree, list) else ()
    entries = [(tree, at)] if isinstance(tree, str) else [(one, at.child(number)) for number, one in enumerate(listed)]
    for entry, place in entries:
        if isinstance(entry, str) and "$" not in entry and "{" not in entry:
            name, _, value = entry.strip().removeprefix("--").partition("=")
            yield _Argument(program, known, name.rstrip("+-"), value, place)


def _mapped(program: str, known: Minor | None, tree: dict[str, Any], at: Place) -> Iterator[_Argument]:
    for name, value in tree.items():
        if isinstance(name, str):
            yield _Argument(program, known, name, value if isinstance(value, str) else "", at.child(name).key())


def _minor(version: Any) -> Minor | None:
    return (version[0], version[1]) if version is not None and len(version) > 1 else None
