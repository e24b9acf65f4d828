"""Pods and their containers: the fields that a value takes, and the rest in `podTemplate`."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.roles import Part, Tree
from trainyard.commands.convert.tables import (
    CONTAINER_DEFAULTS,
    DECLARED_PORTS,
    GANG_SCHEDULERS,
    POD_DEFAULTS,
    POD_FIELDS,
    PORTS,
    SLICES,
    WRITTEN_BY_TOOLS,
)
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.images import pull_policy
from trainyard.facts.jobs.kueue import GROUP, PREFERRED, REQUIRED, UNCONSTRAINED

_USER = (
    "The image's own user and a writable root, as in the job. Remove podSecurityContext and securityContext for those "
    "of the chart, which pass the Pod Security level restricted"
)
_TOPOLOGY = {REQUIRED: "required", PREFERRED: "preferred"}


def put_pod(draft: Draft, part: Part, names: Mapping[str, str]) -> None:
    """Writes everything of a part's pods but the program, its variables and its volumes."""
    spec = mapping(part.template, "spec")
    for field, value in spec.items():
        if field in POD_FIELDS:
            draft.put(POD_FIELDS[field], value)
        elif field not in _OWN and value not in (None, *POD_DEFAULTS.get(field, ())):
            draft.put_pod(field, deepcopy(value))
    _put_scheduling(draft, spec)
    draft.put("image.pullSecrets", [text(one, "name") for one in items(spec, "imagePullSecrets")])
    if spec.get("terminationGracePeriodSeconds") is not None:
        draft.put("terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"])
    token = spec.get("automountServiceAccountToken")
    if token is True or (token is None and text(spec, "serviceAccountName")):
        draft.put_pod("automountServiceAccountToken", value=True)
    _put_metadata(draft, mapping(part.template, "metadata"))
    _put_security(draft, spec, part.container)
    _put_others(draft, part, names)
    put_container(draft, part)


def _put_scheduling(draft: Draft, spec: Tree) -> None:
    affinity = mapping(spec, "affinity")
    draft.put("placement.affinity", affinity)
    if (draft.values.get("nodes", 2) or 2) > 1 or "elastic" in draft.values:
        reason = "The scheduler decides, as in the job. Remove this line for one pod on each node"
        draft.put("placement.spread", "none", reason)
    scheduler = text(spec, "schedulerName")
    if scheduler not in ("", "default-scheduler", *GANG_SCHEDULERS):
        draft.put("placement.schedulerName", scheduler)
    if spec.get("hostNetwork") is True:
        draft.put("fabric.hostNetwork", True)
        if spec.get("dnsPolicy", "ClusterFirst") != "ClusterFirstWithHostNet":
            draft.put_pod("dnsPolicy", spec.get("dnsPolicy", "ClusterFirst"))
    elif spec.get("dnsPolicy", "ClusterFirst") != "ClusterFirst":
        draft.put_pod("dnsPolicy", spec["dnsPolicy"])


def _put_metadata(draft: Draft, metadata: Tree) -> None:
    labels = mapping(metadata, "labels")
    draft.put("podLabels", {key: str(value) for key, value in labels.items() if not key.startswith(WRITTEN_BY_TOOLS)})
    annotations = {}
    for key, value in mapping(metadata, "annotations").items():
        if key in _TOPOLOGY:
            draft.put("scheduling.queue.topology.mode", _TOPOLOGY[key])
            draft.put("scheduling.queue.topology.level", value)
        elif key == UNCONSTRAINED:
            draft.put("scheduling.queue.topology.mode", "unconstrained")
        elif key in SLICES:
            draft.put(SLICES[key], int(value) if key.endswith("size") else value)
        elif key != GROUP and not key.startswith(WRITTEN_BY_TOOLS):
            annotations[key] = str(value)
    draft.put("podAnnotations", annotations)


def _put_security(draft: Draft, spec: Tree, container: Tree) -> None:
    pod, own = mapping(spec, "securityContext"), mapping(container, "securityContext")
    comment = "" if pod or own else _USER
    draft.put_exactly("podSecurityContext", pod, comment, nullable=True)
    draft.put_exactly("securityContext", own, nullable=True)


def _put_others(draft: Draft, part: Part, names: Mapping[str, str]) -> None:
    """Writes the init containers, the sidecars and further containers."""
    initial, sidecars = [], []
    for container in items(part.template, "spec", "initContainers"):
        own = _with_names(container, names)
        if text(own, "name") in _TAKEN:
            draft.changes.append(
                f"the container {own['name']} is called own-{own['name']}: the chart has one of this name"
            )
            own["name"] = f"own-{own['name']}"
        if own.pop("restartPolicy", "") == "Always":
            sidecars.append(own)
        else:
            initial.append(own)
    draft.put("initContainers", initial)
    draft.put("sidecars", sidecars)
    if sidecars and initial:
        draft.changes.append("sidecars start before the init containers")
    for container in items(part.template, "spec", "containers"):
        if container is not part.container:
            draft.program()
            draft.add_pod("containers", _with_names(container, names))


def _with_names(container: Tree, names: Mapping[str, str]) -> Tree:
    own = deepcopy(container)
    own.setdefault("securityContext", {})
    for mount in items(own, "volumeMounts"):
        mount["name"] = names.get(text(mount, "name"), text(mount, "name"))
    own.setdefault("imagePullPolicy", pull_policy(text(own, "image")))
    return own


def put_container(draft: Draft, part: Part) -> None:
    """Writes the fields of the program's container that have nothing to do with the program."""
    container = part.container
    put_image(draft, container)
    for port in items(container, "ports"):
        _put_port(draft, port)
    hook = mapping(container, "lifecycle")
    command = items(hook, "preStop", "exec", "command")
    if command and set(hook) == {"preStop"} and set(hook["preStop"]) == {"exec"}:
        draft.put("preStop.command", command)
    elif hook:
        draft.program()["lifecycle"] = hook
    for field, value in container.items():
        if field not in _CONTAINER_OWN and value not in (None, *CONTAINER_DEFAULTS.get(field, ())):
            draft.program()[field] = deepcopy(value)


def put_image(draft: Draft, container: Tree) -> None:
    """Writes the image of a container."""
    image = text(container, "image")
    if not image:
        draft.lost.append("image: the files do not name it; set image.repository and image.tag")
        return
    for part, value in image_values(image).items():
        draft.put(f"image.{part}", value)
    draft.put("image.pullPolicy", text(container, "imagePullPolicy") or pull_policy(image))


def image_values(image: str) -> dict[str, str]:
    """Returns the repository, the tag and the digest of an image."""
    name, at, digest = image.partition("@")
    last = name.rsplit("/", 1)[-1]
    tag = last.partition(":")[2]
    found = {"repository": name.removesuffix(f":{tag}") if tag else name}
    if at:
        found["digest"] = digest
    return {**found, "tag": tag or ("" if at else "latest")}


def _put_port(draft: Draft, port: Tree) -> None:
    name, number, declared = text(port, "name"), port.get("containerPort"), DECLARED_PORTS[draft.kind].number
    if name in PORTS:
        if draft.kind in ("PyTorchJob", "TrainJob"):
            draft.put("torchrun.port", number)
        elif number != declared:
            draft.lost.append(f"port {name}: the chart declares {declared}, the operator's default, and not {number}")
        return
    if draft.values.get("torchrun", {}).get("port") == number:
        return
    draft.program().setdefault("ports", []).append(port)


def put_resources(draft: Draft, path: str, resources: Tree) -> None:
    """Writes limits and requests below a path. A limit that the chart would add is removed by null."""
    limits: dict[str, Any] = {name: _quantity(value) for name, value in mapping(resources, "limits").items()}
    requests = {name: _quantity(value) for name, value in mapping(resources, "requests").items()}
    requests = {name: value for name, value in requests.items() if limits.get(name) != value}
    if path == "resources":
        limits |= {name: None for name in ("cpu", "memory") if name not in limits}
    draft.put_exactly(f"{path}.limits", limits)
    draft.put(f"{path}.requests", requests)


def _quantity(value: Any) -> Any:
    """Returns a quantity; digits as a number, as people write them."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else value


def put_claims(draft: Draft, part: Part) -> None:
    """Writes the devices that the pods claim."""
    used = {text(claim, "name"): text(claim, "request") for claim in items(part.container, "resources", "claims")}
    claims = []
    for claim in items(part.template, "spec", "resourceClaims"):
        request = used.get(text(claim, "name"))
        claims.append({**claim, **({"request": request} if request else {})})
    draft.put("resourceClaims", claims)


# Names of containers that the chart has itself.
_TAKEN = frozenset(("dataset", "tensorboard", "tcpxo-daemon"))
_OWN = frozenset((
    "affinity", "automountServiceAccountToken", "containers", "dnsPolicy", "hostNetwork", "imagePullSecrets",
    "initContainers", "resourceClaims", "restartPolicy", "schedulerName", "securityContext",
    "terminationGracePeriodSeconds", "volumes",
))  # fmt: skip
_CONTAINER_OWN = frozenset((
    "args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "name", "ports", "resources",
    "securityContext", "volumeMounts",
))  # fmt: skip
