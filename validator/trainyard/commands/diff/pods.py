"""Facts of pods and containers, without defaults that Kubernetes fills in.

Source of the defaults: kubernetes v1.34.4 pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trainyard.commands.diff.words import command_facts
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.images import pull_policy
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Mount, Pod


@dataclass(frozen=True)
class Quantity:
    """A quantity as written; another form of the same amount equals it."""

    written: str = field(compare=False)
    amount: float | str

    def __str__(self) -> str:
        return self.written


# Topic, name and value.
Fact = tuple[str, str, Any]

_DEFAULTS: dict[str, Any] = {
    "activeDeadlineSeconds": None, "automountServiceAccountToken": True, "defaultMode": 420,
    "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "failureThreshold": 3, "hostIPC": False,
    "hostNetwork": False, "hostPID": False, "medium": "", "optional": False, "periodSeconds": 10, "protocol": "TCP",
    "readOnly": False, "schedulerName": "default-scheduler", "shareProcessNamespace": False, "successThreshold": 1,
    "terminationGracePeriodSeconds": 30, "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File", "timeoutSeconds": 1,
}  # fmt: skip
_PLACEMENT = (
    "affinity", "nodeName", "nodeSelector", "preemptionPolicy", "priorityClassName", "runtimeClassName",
    "schedulerName", "schedulingGates", "tolerations", "topologySpreadConstraints",
)  # fmt: skip
# Fields with facts of their own. The job sets the restart policy of its pods.
_OF_POD = ("containers", "initContainers", "volumes", "restartPolicy", "serviceAccount")
_OF_CONTAINER = (
    "name", "image", "imagePullPolicy", "command", "args", "env", "envFrom", "resources", "volumeMounts", "ports",
)  # fmt: skip
_NCCL = ("NCCL_", "TORCH_NCCL_", "TORCH_FR_", "RCCL_", "FI_")
_QUANTITIES = ("sizeLimit", "storage")
# Written by Helm, kubectl and the charts for themselves.
_OF_TOOLS = ("app.kubernetes.io/", "helm.sh/", "meta.helm.sh/", "kubectl.kubernetes.io/", "trainyard/")


def pod_facts(pod: Pod, main: Container | None) -> Iterator[Fact]:
    """Yields the facts of a pod, with those of the container that trains."""
    for kind, tree in (("label", pod.labels), ("annotation", pod.annotations)):
        yield from (("pods", f"{kind} {name}", value) for name, value in own_labels(tree).items())
    for name, value in pod.tree.items():
        if name in _PLACEMENT:
            yield from _placement(name, value)
        elif name not in _OF_POD:
            yield from _flat("pods", name, value)
    for kind, containers in (("init container", pod.init_containers), ("container", pod.containers)):
        for container in containers:
            if container is not main:
                yield "pods", f"{kind} {container.name}", _whole(pod, container)
    if main is not None:
        yield from _container(pod, main)


def own_labels(tree: dict[str, Any]) -> dict[str, str]:
    """Returns labels or annotations that no tool has written for itself."""
    return {str(name): str(value) for name, value in tree.items() if not str(name).startswith(_OF_TOOLS)}


def plain(value: Any) -> Any:
    """Returns a tree without defaults, null and empty mappings, with quantities as numbers and sets in order."""
    if isinstance(value, dict):
        made = {str(key): quantity(inner) if key in _QUANTITIES else plain(inner) for key, inner in value.items()}
        return {key: inner for key, inner in made.items() if not (_is_empty(key, inner) or _is_default(key, inner))}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def _is_empty(key: str, value: Any) -> bool:
    # An empty selector selects everything, and an absent one nothing; an empty folder is a volume.
    return value in (None, []) or (value == {} and not key.endswith(("Selector", "emptyDir")))


def quantity(value: Any) -> Quantity:
    """Returns a quantity."""
    amount = parse_quantity(value)
    return Quantity(str(value), str(value) if amount is None else amount)


def _is_default(key: str, value: Any) -> bool:
    return key in _DEFAULTS and value == _DEFAULTS[key]


def _placement(field: str, value: Any) -> Iterator[Fact]:
    if isinstance(value, list):
        # The order of tolerations and constraints has no meaning.
        yield "placement", field, sorted((plain(one) for one in value), key=_sorted_text)
    else:
        yield from _flat("placement", field, value)


def _flat(topic: str, field: str, value: Any) -> Iterator[Fact]:
    """Yields one fact for each entry of a mapping."""
    if _is_default(field, value):
        return
    if isinstance(value, dict):
        yield from ((topic, f"{field}.{key}", inner) for key, inner in plain(value).items())
    else:
        yield topic, field, plain(value)


def _sorted_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _container(pod: Pod, container: Container) -> Iterator[Fact]:
    image = container.image or ""
    yield "image", "image", image
    yield "image", "pull policy", container.tree.get("imagePullPolicy") or pull_policy(image)
    for name, value in command_facts((*container.command, *container.args)):
        yield "program", name, value
    for name, value in container.tree.items():
        if name not in _OF_CONTAINER:
            yield from _flat("pods", name, value)
    for port in items(container.tree, "ports"):
        yield "pods", f"port {mapping(port).get('containerPort')}", text(port, "name") or "unnamed"
    yield from _resources(container)
    yield from _variables(container)
    yield from _mounts(pod, container)


def _resources(container: Container) -> Iterator[Fact]:
    for name, value in container.limits.items():
        yield "resources", f"limit of {name}", quantity(value)
    for name, value in {**container.limits, **container.requests}.items():
        yield "resources", f"request of {name}", quantity(value)
    yield "resources", "claims", plain(items(container.tree, "resources", "claims"))


def _variables(container: Container) -> Iterator[Fact]:
    sources = {text(entry, "name"): plain(mapping(entry, "valueFrom")) for entry in items(container.tree, "env")}
    # Of several settings of a variable, the last one counts.
    last = {setting.name: setting for setting in container.settings if setting.via in ("env", "envFrom", "mpirun")}
    for name, setting in last.items():
        value = setting.value if setting.value is not None else sources.get(name) or f"from {setting.via}"
        yield "NCCL" if name.startswith(_NCCL) else "environment", name, value
    for source in items(container.tree, "envFrom"):
        yield "environment", f"all of {_sorted_text(plain(source))}", "set"


def _mounts(pod: Pod, container: Container) -> Iterator[Fact]:
    for mount in container.mounts:
        yield "volumes", mount.mount_path.rstrip("/") or "/", _mount(pod, mount)


def _mount(pod: Pod, mount: Mount) -> Any:
    volume = pod.volume(mount.volume)
    source = {} if volume is None else {volume.kind: plain(volume.body)}
    written = _written(mount.at)
    rest = {key: value for key, value in written.items() if key not in ("name", "mountPath", "readOnly")}
    if mount.read_only or (volume is not None and volume.body.get("readOnly") is True):
        rest["readOnly"] = "yes"
    for body in source.values():
        body.pop("readOnly", None)
    return {**source, **plain(rest)}


def _written(at: Place) -> dict[str, Any]:
    """Returns the innermost mapping that holds a place."""
    node: Any = at.document.tree
    found: dict[str, Any] = {}
    for step in at.path:
        node = node[step]
        found = node if isinstance(node, dict) else found
    return found


def _whole(pod: Pod, container: Container) -> Any:
    """Returns a container as one fact, with the sources of its mounts in place of the names of volumes."""
    mounts = [{"path": mount.mount_path.rstrip("/"), **_mount(pod, mount)} for mount in container.mounts]
    own = {"imagePullPolicy": pull_policy(container.image or ""), **container.tree}
    return plain({**own, "volumeMounts": sorted(mounts, key=_sorted_text)})
