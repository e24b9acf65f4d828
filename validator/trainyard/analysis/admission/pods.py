"""Conditions of the Kubernetes API server on pods, in the form of a table.

Source: kubernetes v1.37.2 pkg/apis/core/validation/validation.go: the function that a row names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import (
    DNS_1123,
    LABEL,
    PORT_NAME,
    Check,
    Refused,
    Row,
    asking_for,
    excluding,
    filled,
    is_known,
    named,
    requiring,
    unique,
    within,
)
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text

PORT = "use at most 15 lower case letters, digits and single dashes, and one letter at least"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
FROM_FILES = ("configMap", "secret")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
RESOURCES = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
# The largest mode of a file.
FILE = 0o777


@asking_for(*PROBES, "lifecycle")
def _init(container: Any, at: Place) -> Iterator[Refused]:
    if not isinstance(container, dict) or container.get("restartPolicy") == "Always":
        return
    for name in (*PROBES, "lifecycle"):
        if container.get(name) is not None:
            fault = f"an init container takes no `{name}` without `restartPolicy: Always`"
            yield Refused(at.child(name).key(), fault, "remove it, or make the container a sidecar")


@asking_for(*PROBES)
def _handler(container: Any, at: Place) -> Iterator[Refused]:
    for name in PROBES:
        probe = mapping(container).get(name)
        if isinstance(probe, dict) and probe and not set(probe) & {"exec", "httpGet", "tcpSocket", "grpc"}:
            told = "add `exec`, `httpGet`, `tcpSocket` or `grpc`"
            yield Refused(at.child(name).key(), f"`{name}` says no action", told, True)


@asking_for("name", "valueFrom")
def _variable(variable: Any, at: Place) -> Iterator[Refused]:
    name, given = text(variable, "name"), mapping(variable).get("valueFrom")
    if "=" in name:
        yield Refused(at.child("name"), f"`{name}` is not the name of a variable", "write the value into `value`")
    if not isinstance(given, dict):
        return
    yield from excluding(*SOURCES)(given, at.child("valueFrom"))
    field, resource = text(given, "fieldRef", "fieldPath"), text(given, "resourceFieldRef", "resource")
    is_part = field.startswith(("metadata.labels['", "metadata.annotations['"))
    if field and field not in FIELDS and not is_part and is_known(field.replace("[", "").replace("]", "")):
        place = at.child("valueFrom", "fieldRef", "fieldPath")
        yield Refused(place, f"a variable cannot have the field `{field}`", f"write one of {', '.join(FIELDS)}")
    if resource and resource not in RESOURCES and ".hugepages-" not in resource and is_known(resource):
        place = at.child("valueFrom", "resourceFieldRef", "resource")
        yield Refused(place, f"a variable cannot have `{resource}`", f"write one of {', '.join(RESOURCES)}")


@asking_for("subPath", "subPathExpr")
def _mount(mount: Any, at: Place) -> Iterator[Refused]:
    yield from excluding("subPath", "subPathExpr")(mount, at)
    for name in ("subPath", "subPathExpr"):
        value = text(mount, name)
        if value.startswith("/") or ".." in value.split("/"):
            yield Refused(
                at.child(name), f"`{value}` is not a path within the volume", "write a relative path without `..`"
            )


@asking_for("volumeMounts")
def _propagation(container: Any, at: Place) -> Iterator[Refused]:
    if mapping(container, "securityContext").get("privileged") is True:
        return
    for index, mount in enumerate(items(container, "volumeMounts")):
        if text(mount, "mountPropagation") == "Bidirectional":
            place = at.child("volumeMounts", index, "mountPropagation")
            yield Refused(place, "`Bidirectional` needs a privileged container", "write `HostToContainer`")


@asking_for("dnsPolicy", "dnsConfig")
def _dns(pod: Any, at: Place) -> Iterator[Refused]:
    servers = items(pod, "dnsConfig", "nameservers")
    if text(pod, "dnsPolicy") == "None" and not servers:
        yield Refused(at.child("dnsPolicy"), "`dnsPolicy: None` needs `dnsConfig.nameservers`", "add one", True)
    elif len(servers) > 3:
        yield Refused(at.child("dnsConfig", "nameservers"), "a pod has at most 3 name servers", "remove the others")


def _spread(one: Any, at: Place) -> Iterator[Refused]:
    yield from within("maxSkew", 1)(one, at)
    yield from requiring("minDomains", "whenUnsatisfiable", "DoNotSchedule")(one, at)
    yield from requiring("matchLabelKeys", "labelSelector")(one, at)


@asking_for("shareProcessNamespace")
def _shared(pod: Any, at: Place) -> Iterator[Refused]:
    pod = mapping(pod)
    if pod.get("shareProcessNamespace") is True and pod.get("hostPID") is True:
        yield Refused(at.child("shareProcessNamespace"), "`hostPID` excludes `shareProcessNamespace`", "remove one")


def _profile(profile: Any, at: Place) -> Iterator[Refused]:
    profile = mapping(profile)
    kind = profile.get("type")
    if kind == "Localhost" and not profile.get("localhostProfile"):
        yield Refused(at.child("type"), "`type: Localhost` needs `localhostProfile`", "add it, or RuntimeDefault", True)
    yield from requiring("localhostProfile", "type", "Localhost")(profile, at)


_CONTAINER: tuple[tuple[str, Check, str], ...] = (
    ("", named("name", DNS_1123, LABEL), "validateContainerCommon"),
    ("ports[]", named("name", PORT_NAME, PORT), "validateContainerPorts"),
    ("ports[]", within("containerPort", 1, 65535), "validateContainerPorts"),
    ("ports[]", within("hostPort", 0, 65535), "validateContainerPorts"),
    ("env[]", _variable, "ValidateEnv, validateEnvVarValueFrom"),
    ("env[]", filled("name"), "ValidateEnv"),
    ("env[].valueFrom.configMapKeyRef", filled("name", "key"), "validateConfigMapKeySelector"),
    ("env[].valueFrom.secretKeyRef", filled("name", "key"), "validateSecretKeySelector"),
    ("env[].valueFrom.fieldRef", filled("fieldPath"), "validateObjectFieldSelector"),
    ("env[].valueFrom.resourceFieldRef", filled("resource"), "validateContainerResourceFieldSelector"),
    ("envFrom[]", excluding("configMapRef", "secretRef"), "ValidateEnvFrom"),
    ("envFrom[].configMapRef", filled("name"), "validateConfigMapEnvSource"),
    ("envFrom[].secretRef", filled("name"), "validateSecretEnvSource"),
    ("securityContext.seccompProfile", _profile, "validateSeccompProfileField"),
    ("volumeMounts[]", _mount, "ValidateVolumeMounts"),
    ("volumeMounts[]", filled("name", "mountPath"), "ValidateVolumeMounts"),
    ("volumeDevices[]", filled("name", "devicePath"), "ValidateVolumeDevices"),
    ("", _propagation, "validateMountPropagation"),
    ("", _handler, "validateHandler"),
    ("lifecycle.preStop", excluding("exec", "httpGet", "sleep", "tcpSocket"), "validateHandler"),
    ("lifecycle.postStart", excluding("exec", "httpGet", "sleep", "tcpSocket"), "validateHandler"),
)

# Fields of the sources of volumes that have a value.
_OF_VOLUMES = (
    ("configMap", filled("name"), "validateConfigMapVolumeSource"),
    ("secret", filled("secretName"), "validateSecretVolumeSource"),
    ("persistentVolumeClaim", filled("claimName"), "validatePersistentClaimVolumeSource"),
    ("hostPath", filled("path"), "validateHostPathVolumeSource"),
    ("nfs", filled("server", "path"), "validateNFSVolumeSource"),
    ("csi", filled("driver"), "ValidateCSIDriverName"),
    ("projected.sources[].configMap", filled("name"), "validateProjectionSources"),
    ("projected.sources[].secret", filled("name"), "validateProjectionSources"),
    ("projected.sources[].serviceAccountToken", filled("path"), "validateProjectionSources"),
    *((f"{kind}.items[]", filled("key", "path"), "validateKeyToPath") for kind in FROM_FILES),
)
_BY_TOPOLOGY = (
    "topologySpreadConstraints[]",
    *(
        f"affinity.{kind}.{term}"
        for kind in ("podAffinity", "podAntiAffinity")
        for term in (f"{REQUIRED}[]", f"{PREFERRED}[].podAffinityTerm")
    ),
)

ROWS = (
    *(
        Row(f"{field}[].{path}".rstrip("."), check, source)
        for field in ("containers", "initContainers")
        for path, check, source in _CONTAINER
    ),
    Row("initContainers[]", _init, "validateInitContainers"),
    Row("volumes[]", named("name", DNS_1123, LABEL), "ValidateVolumes"),
    Row("volumes[]", filled("name"), "ValidateVolumes"),
    *(Row(f"volumes[].{path}", check, source) for path, check, source in _OF_VOLUMES),
    *(Row(path, filled("topologyKey"), "ValidateTopologyKey, validatePodAffinityTerm") for path in _BY_TOPOLOGY),
    *(Row(f"volumes[].{kind}", within("defaultMode", 0, FILE), "fileModeErrorMsg") for kind in FROM_FILES),
    *(Row(f"volumes[].{kind}.items[]", within("mode", 0, FILE), "validateKeyToPath") for kind in FROM_FILES),
    Row(
        "volumes[].projected.sources[]",
        excluding("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"),
        "validateProjectionSources",
    ),
    Row("securityContext.seccompProfile", _profile, "validateSeccompProfileField"),
    Row("", _dns, "validatePodDNSConfig"),
    Row("", _shared, "validateShareProcessNamespace"),
    Row("", named("hostname", DNS_1123, LABEL), "ValidateDNS1123Label"),
    Row("", named("subdomain", DNS_1123, LABEL), "ValidateDNS1123Label"),
    Row("", within("activeDeadlineSeconds", 1), "ValidatePodSpec"),
    Row("", within("terminationGracePeriodSeconds", 0), "ValidatePodSpec"),
    Row("topologySpreadConstraints[]", _spread, "validateTopologySpreadConstraints"),
    Row("topologySpreadConstraints", unique("topologyKey", "whenUnsatisfiable"), "ValidateSpreadConstraintNotRepeat"),
    *(
        Row(
            f"affinity.{kind}.{PREFERRED}[]",
            within("weight", 1, 100),
            "validateAffinity",
        )
        for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity")
    ),
)
