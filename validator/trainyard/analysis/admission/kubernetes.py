"""Conditions of the Kubernetes API server on its own kinds, without their pods.

Source: kubernetes v1.37.2 pkg/apis/*/validation/validation.go and, for omitted fields, pkg/apis/*/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainyard.analysis.admission.constraints import (
    DNS_1123,
    LABEL,
    Check,
    Refused,
    Row,
    amount,
    excluding,
    is_known,
    named,
    needing,
    ordered,
    requiring,
    unique,
    within,
)
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.kubernetes.quantities import parse_quantity

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

EXTERNAL = ("NodePort", "LoadBalancer")
QUOTAS = frozenset(
    (
        *("cpu", "memory", "ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers"),
        *("secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers"),
        *("requests.storage",),
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in ("cpu", "memory", "ephemeral-storage")),
    )
)
# The highest priority of a class that is not part of Kubernetes.
HIGHEST = 1_000_000_000
SYSTEM = ("system-node-critical", "system-cluster-critical")
# Digits that the name of a CronJob leaves for those of its Jobs.
CRON_NAME = 52
HOST_NAME = 63


def _port_names(spec: Any, at: Place) -> Iterator[Refused]:
    ports = items(spec, "ports")
    unnamed = [index for index, port in enumerate(ports) if isinstance(port, dict) and not port.get("name")]
    if len(ports) > 1 and unnamed:
        count = "a port" if len(unnamed) == 1 else f"{len(unnamed)} ports"
        message = f"a Service with several ports has {count} without a name"
        yield Refused(at.child("ports", unnamed[0]), message, "give each port a name", True)


def _service(spec: Any, at: Place) -> Iterator[Refused]:
    spec = mapping(spec)
    kind, is_headless = spec.get("type", "ClusterIP"), spec.get("clusterIP") == "None"
    if not is_known(kind):
        return
    for index, port in enumerate(items(spec, "ports")):
        if kind == "ClusterIP" and mapping(port).get("nodePort"):
            place = at.child("ports", index, "nodePort")
            yield Refused(place, "`nodePort` needs `type: NodePort`", "write `type: NodePort`, or remove it", True)
    if is_headless and kind in EXTERNAL:
        yield Refused(at.child("clusterIP"), f"a {kind} Service cannot have `clusterIP: None`", "remove one of the two")
    if kind == "ExternalName" and not spec.get("externalName"):
        yield Refused(at.child("type"), "`type: ExternalName` needs `externalName`", "add it", True)
    if kind not in EXTERNAL and not spec.get("externalIPs") and spec.get("externalTrafficPolicy"):
        place = at.child("externalTrafficPolicy").key()
        yield Refused(place, "`externalTrafficPolicy` needs a Service that is reached from outside", "remove it", True)
    for name in ("loadBalancerSourceRanges", "allocateLoadBalancerNodePorts", "loadBalancerClass"):
        if spec.get(name) not in (None, [], "") and kind != "LoadBalancer":
            yield Refused(at.child(name).key(), f"`{name}` needs `type: LoadBalancer`", "remove it", True)
    if not items(spec, "ports") and not is_headless and kind != "ExternalName" and "clusterIP" not in spec:
        yield Refused(at, "a Service without `ports` needs `clusterIP: None`", "add `ports`", True)


def _claim(spec: Any, at: Place) -> Iterator[Refused]:
    if not isinstance(spec, dict):
        return
    yield from needing("accessModes")(spec, at)
    asked = mapping(spec, "resources", "requests").get("storage")
    size = parse_quantity(asked)
    if asked is None:
        place = at.child("resources").key() if spec.get("resources") else at
        yield Refused(place, "the claim requests no `storage`", "add `resources.requests.storage`", True)
    elif size is not None and size <= 0:
        place = at.child("resources", "requests", "storage")
        yield Refused(place, f"the claim requests {asked}", "write the size of the volume")


def _limit_type(limit: Any, at: Place) -> Iterator[Refused]:
    kind = text(limit, "type")
    for name in ("default", "defaultRequest"):
        if kind == "Pod" and mapping(limit, name):
            yield Refused(at.child(name).key(), f"a limit of type Pod takes no `{name}`", "write `type: Container`")
    bounds = [mapping(limit, name).get("storage") for name in ("min", "max")]
    if kind == "PersistentVolumeClaim" and bounds == [None, None]:
        yield Refused(at, "a limit of claims needs `max` or `min` of storage", "add one of them", True)


def _quota_names(hard: Any, at: Place) -> Iterator[Refused]:
    for name in mapping(hard):
        word = str(name).removeprefix("requests.").removeprefix("limits.")
        if "/" not in str(name) and name not in QUOTAS and not word.startswith("hugepages-") and is_known(name):
            told = "write `requests.DOMAIN/NAME` for a device, or `count/NAME.GROUP` for a number of objects"
            yield Refused(at.child(name).key(), f"a quota cannot limit `{name}`", told)


def _priority(tree: Any, at: Place) -> Iterator[Refused]:
    name = text(tree, "metadata", "name")
    if name.startswith("system-") and name not in SYSTEM:
        yield Refused(at.child("metadata", "name"), "`system-` names the classes of Kubernetes", "write another name")
    elif name not in SYSTEM and (integer(tree, "value") or 0) > HIGHEST:
        told = "write at most 1000000000"
        yield Refused(at.child("value"), f"the value is above {HIGHEST}, which only Kubernetes itself uses", told)


def _peer(peer: Any, at: Place) -> Iterator[Refused]:
    if not isinstance(peer, dict):
        return
    given = [name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None]
    block = peer.get("ipBlock")
    if block is not None and given:
        yield Refused(at.child(given[0]).key(), f"`ipBlock` and `{given[0]}` exclude each other", "make two items")
    elif block is None and not given:
        yield Refused(at, "the peer is empty", "remove the whole `from` or `to` to allow all peers", True)


def _block(block: Any, at: Place) -> Iterator[Refused]:
    network = _network(mapping(block).get("cidr"))
    if network is None and is_known(cidr := text(block, "cidr")) and cidr:
        yield Refused(at.child("cidr"), f"`{cidr}` is not a network in CIDR form", "write ADDRESS/LENGTH")
    for index, one in enumerate(items(block, "except")):
        inner = _network(one)
        if network is None or inner is None or network.version != inner.version:
            continue
        if inner.prefixlen <= network.prefixlen or inner.network_address not in network:
            yield Refused(
                at.child("except", index), f"`{one}` is not a part of {network}", "write a smaller network in it"
            )


def _network(value: Any) -> IPv4Network | IPv6Network | None:
    import ipaddress

    try:
        return ipaddress.ip_network(value, strict=False) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None


def _end_port(port: Any, at: Place) -> Iterator[Refused]:
    last, first = mapping(port).get("endPort"), mapping(port).get("port")
    if last is not None and isinstance(first, str) and not first.isdigit():
        yield Refused(at.child("endPort"), "`endPort` needs a number as `port`", "write the number of the port")
    elif last is not None and first is None:
        yield Refused(at.child("endPort"), "`endPort` needs `port`", "add the first port", True)
    else:
        yield from ordered("port", "endPort")(port, at)


def _percent(name: str, most: int | None = 100) -> Check:
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        value = mapping(tree).get(name)
        if isinstance(value, str) and value.isdigit():
            yield Refused(at.child(name), f'`"{value}"` is a text: {name} takes a number or a percentage', "no quotes")
        elif most is not None and isinstance(value, str) and (amount(value) or 0) > most:
            yield Refused(at.child(name), f"`{name}` is above {most}%", f"write at most {most}%")

    return check


def _standstill(tree: Any, at: Place) -> Iterator[Refused]:
    given = {name: amount(mapping(tree).get(name)) for name in ("maxSurge", "maxUnavailable")}
    if set(given.values()) == {0}:
        told = "write 1 for one of them"
        yield Refused(at.child("maxUnavailable"), "`maxSurge` and `maxUnavailable` are both 0: nothing can move", told)


def _daemon_update(tree: Any, at: Place) -> Iterator[Refused]:
    tree = mapping(tree)
    surge, gone = amount(tree.get("maxSurge", 0)), amount(tree.get("maxUnavailable", 1))
    if surge and gone:
        yield Refused(at.child("maxSurge"), "`maxSurge` needs `maxUnavailable: 0`", "add `maxUnavailable: 0`")
    elif surge == 0 and gone == 0:
        yield Refused(at.child("maxUnavailable"), "`maxUnavailable` cannot be 0 without `maxSurge`", "write 1")


def _empty_selector(spec: Any, at: Place) -> Iterator[Refused]:
    selector = mapping(spec).get("selector")
    # Another field of a selector is a misspelt one, which the schema check reports.
    if (
        isinstance(selector, dict)
        and not any(selector.values())
        and set(selector) <= {"matchLabels", "matchExpressions"}
    ):
        yield Refused(at.child("selector"), "the selector is empty", "write `matchLabels` of the pods", True)


def _deadline_of_server(spec: Any, at: Place) -> Iterator[Refused]:
    if mapping(spec, "template", "spec").get("activeDeadlineSeconds") is not None:
        place = at.child("template", "spec", "activeDeadlineSeconds").key()
        yield Refused(place, "pods that are restarted forever take no `activeDeadlineSeconds`", "remove it")


def _progress(spec: Any, at: Place) -> Iterator[Refused]:
    limit, ready = integer(spec, "progressDeadlineSeconds"), integer(spec, "minReadySeconds") or 0
    if limit is not None and limit <= ready:
        place = at.child("progressDeadlineSeconds")
        yield Refused(
            place, f"`progressDeadlineSeconds` is {limit}, and `minReadySeconds` {ready}", "write a larger one"
        )


def _utilization(resource: Any, at: Place) -> Iterator[Refused]:
    target = mapping(resource).get("target")
    if not isinstance(target, dict):
        return
    given = [name for name in ("averageUtilization", "averageValue") if target.get(name) is not None]
    if len(given) != 1:
        fault = "exclude each other" if given else "are both missing"
        told = "write one of them"
        yield Refused(at.child("target"), f"`averageUtilization` and `averageValue` {fault}", told, not given)


def _metric(metric: Any, at: Place) -> Iterator[Refused]:
    kind = text(metric, "type")
    field = kind[:1].lower() + kind[1:]
    if kind in ("Resource", "Pods", "Object", "External", "ContainerResource") and not mapping(metric, field):
        yield Refused(at, f"a metric of type {kind} needs `{field}`", f"add `{field}`", True)


def _failure_rule(rule: Any, at: Place) -> Iterator[Refused]:
    if not isinstance(rule, dict):
        return
    given = [name for name in ("onExitCodes", "onPodConditions") if rule.get(name)]
    if len(given) != 1:
        fault = "exclude each other" if given else "are both missing"
        told = "write one of them in each rule"
        yield Refused(at, f"`onExitCodes` and `onPodConditions` {fault}", told, not given)
    codes = mapping(rule, "onExitCodes")
    if codes.get("operator") == "In" and 0 in items(codes, "values"):
        place = at.child("onExitCodes", "values", items(codes, "values").index(0))
        yield Refused(place, "0 is the exit code of success", "remove it")
    if "onExitCodes" in given and not items(codes, "values"):
        yield Refused(at.child("onExitCodes"), "`onExitCodes` needs `values`", "add the exit codes", True)


def _failure_policy(spec: Any, at: Place) -> Iterator[Refused]:
    spec = mapping(spec)
    pod = mapping(spec, "template", "spec")
    names = [text(one, "name") for field in ("containers", "initContainers") for one in items(pod, field)]
    rules, place = items(spec, "podFailurePolicy", "rules"), at.child("podFailurePolicy", "rules")
    for index, rule in enumerate(rules):
        name = text(rule, "onExitCodes", "containerName")
        if name and names and name not in names and is_known(name):
            told = f"write one of {', '.join(names)}"
            fault = f"the pod has no container `{name}`"
            yield Refused(place.child(index, "onExitCodes", "containerName"), fault, told, True)
        if text(rule, "action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            fault = "`action: FailIndex` needs `backoffLimitPerIndex`"
            yield Refused(place.child(index, "action"), fault, "add it to the Job", True)
    if rules and spec.get("podReplacementPolicy", "Failed") != "Failed":
        told = "write `Failed`"
        yield Refused(
            at.child("podReplacementPolicy"), "a `podFailurePolicy` needs `podReplacementPolicy: Failed`", told
        )


def _indexes(spec: Any, at: Place) -> Iterator[Refused]:
    if mapping(spec).get("completionMode") == "Indexed":
        yield from ordered("maxFailedIndexes", "completions")(spec, at)
        yield from within("parallelism", 0, 100_000)(spec, at)


def _own_selector(spec: Any, at: Place) -> Iterator[Refused]:
    selector = mapping(spec).get("selector")
    labels = mapping(selector, "matchLabels")
    generated = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")
    if selector and mapping(spec).get("manualSelector") is not True and not set(generated) & set(labels):
        told = "remove it: Kubernetes writes it"
        yield Refused(at.child("selector").key(), "a Job takes no selector without `manualSelector: true`", told)


def _indexed_name(tree: Any, at: Place) -> Iterator[Refused]:
    name, count = text(tree, "metadata", "name"), integer(tree, "spec", "completions")
    if mapping(tree, "spec").get("completionMode") == "Indexed" and count and is_known(name):
        longest = f"{name}-{count - 1}"
        if len(longest) > HOST_NAME or "." in name:
            told = f"use at most {HOST_NAME - len(longest) + len(name)} letters, and no dot"
            yield Refused(at.child("metadata", "name"), f"`{longest}` is not a valid host name", told)


def _cron_name(tree: Any, at: Place) -> Iterator[Refused]:
    name = text(tree, "metadata", "name")
    if len(name) > CRON_NAME and is_known(name):
        told = f"use at most {CRON_NAME}"
        yield Refused(at.child("metadata", "name"), f"the name of the CronJob has {len(name)} characters", told)


_CORE = "core/validation/validation.go"
_JOB_BOUNDS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")


def job_rows(path: str) -> tuple[Row, ...]:
    """Returns the conditions on the spec of a Job at a path."""
    checks: tuple[tuple[str, Check, str], ...] = (
        *(("", within(name, 0), "validateJobSpec") for name in (*_JOB_BOUNDS, "backoffLimitPerIndex")),
        ("", _indexes, "validateJobSpec"),
        ("", _own_selector, "validateGeneratedSelector"),
        ("", _failure_policy, "validatePodFailurePolicyRule, validatePodReplacementPolicy"),
        ("podFailurePolicy.rules[]", _failure_rule, "validatePodFailurePolicyRule"),
    )
    return tuple(Row(".".join(filter(None, (path, below))), check, source) for below, check, source in checks)


def claim_rows(path: str) -> tuple[Row, ...]:
    """Returns the conditions on the spec of a claim at a path."""
    return (Row(path, _claim, f"{_CORE}: ValidatePersistentVolumeClaimSpec"),)


_PEERS = tuple(f"spec.{way}[].{side}[]" for way, side in (("ingress", "from"), ("egress", "to")))
_LIMITS = (
    *(("min", "max"), ("min", "default"), ("min", "defaultRequest")),
    *(("default", "max"), ("defaultRequest", "max"), ("defaultRequest", "default")),
)
_SERVERS = (
    Row("spec", _empty_selector, "apps/validation/validation.go: empty selector"),
    Row("spec", _deadline_of_server, "apps/validation/validation.go: activeDeadlineSeconds"),
    Row("spec", within("replicas", 0), "apps/validation/validation.go: ValidateNonnegativeField"),
)

# By the kind, with the group of its API.
ROWS: Mapping[tuple[str, str], tuple[Row, ...]] = {
    ("", "Service"): (
        Row("spec", _port_names, f"{_CORE}: validateServicePort"),
        Row("spec", _service, f"{_CORE}: validateService"),
        Row("spec.ports", unique("name"), f"{_CORE}: validateServicePort"),
        Row("spec.ports", unique("nodePort", "protocol"), f"{_CORE}: validateService"),
        Row("spec.ports", unique("port", "protocol"), f"{_CORE}: validateService"),
        Row("spec.ports[]", named("name", DNS_1123, LABEL), f"{_CORE}: validateServicePort"),
        Row("spec.ports[]", within("port", 1, 65535), f"{_CORE}: validateServicePort"),
        Row("spec", requiring("sessionAffinityConfig", "sessionAffinity", "ClientIP"), f"{_CORE}: validateService"),
    ),
    ("", "PersistentVolumeClaim"): claim_rows("spec"),
    ("", "LimitRange"): (
        Row("spec.limits", unique("type"), f"{_CORE}: ValidateLimitRange"),
        Row("spec.limits[]", _limit_type, f"{_CORE}: ValidateLimitRange"),
        *(Row("spec.limits[]", ordered(low, high), f"{_CORE}: ValidateLimitRange") for low, high in _LIMITS),
    ),
    ("", "ResourceQuota"): (Row("spec.hard", _quota_names, f"{_CORE}: ValidateResourceQuotaResourceName"),),
    ("scheduling.k8s.io", "PriorityClass"): (
        Row("", _priority, "scheduling/validation/validation.go: ValidatePriorityClass"),
    ),
    ("networking.k8s.io", "NetworkPolicy"): (
        *(Row(path, _peer, "networking/validation/validation.go: ValidateNetworkPolicyPeer") for path in _PEERS),
        *(Row(f"{path}.ipBlock", _block, "networking/validation/validation.go: ValidateIPBlock") for path in _PEERS),
        *(
            Row(f"spec.{way}[].ports[]", _end_port, "networking/validation/validation.go: ValidateNetworkPolicyPort")
            for way in ("ingress", "egress")
        ),
    ),
    ("policy", "PodDisruptionBudget"): (
        Row("spec", excluding("minAvailable", "maxUnavailable"), "policy/validation/validation.go"),
        *(Row("spec", _percent(name), "policy/validation") for name in ("minAvailable", "maxUnavailable")),
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        Row("spec", ordered("minReplicas", "maxReplicas"), "autoscaling/validation/validation.go"),
        Row("spec", within("maxReplicas", 1), "autoscaling/validation/validation.go"),
        Row("spec.metrics[]", _metric, "autoscaling/validation/validation.go: validateMetricSpec"),
        Row("spec.metrics[].resource", _utilization, "autoscaling/validation/validation.go: validateResourceSource"),
    ),
    ("apps", "Deployment"): (
        *_SERVERS,
        Row("spec", _progress, "apps/validation/validation.go: ValidateDeploymentSpec"),
        Row("spec.strategy.rollingUpdate", _standstill, "apps/validation: ValidateRollingUpdateDeployment"),
        Row("spec.strategy.rollingUpdate", _percent("maxSurge", None), "apps/validation: ValidatePositiveIntOrPercent"),
        Row("spec.strategy.rollingUpdate", _percent("maxUnavailable"), "apps/validation: IsNotMoreThan100Percent"),
    ),
    ("apps", "ReplicaSet"): _SERVERS,
    ("apps", "StatefulSet"): (
        *_SERVERS,
        Row(
            "spec.updateStrategy",
            requiring("rollingUpdate", "type", "RollingUpdate", default="RollingUpdate"),
            "apps/validation/validation.go: ValidateStatefulSetSpec",
        ),
        *claim_rows("spec.volumeClaimTemplates[].spec"),
    ),
    ("apps", "DaemonSet"): (
        *_SERVERS[:2],
        Row("spec.updateStrategy.rollingUpdate", _daemon_update, "apps/validation: ValidateRollingUpdateDaemonSet"),
    ),
    ("batch", "Job"): (*job_rows("spec"), Row("", _indexed_name, "batch/validation: validateNameAllowsCompletions")),
    ("batch", "CronJob"): (
        *job_rows("spec.jobTemplate.spec"),
        Row("", _cron_name, "batch/validation/validation.go: ValidateCronJobCreate"),
        *(
            Row("spec", within(name, 0), "batch/validation/validation.go: validateCronJobSpec")
            for name in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
        ),
    ),
}
