"""Conditions on the objects of node groups, autoscalers, secrets and Flux, in the form of a table.

Source: aws/karpenter-provider-aws v1.9.2 and main 1d927085 pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml;
eksctl-io/eksctl main 99984adb pkg/apis/eksctl.io/v1alpha5/validation.go; external-secrets/external-secrets main
cc5bfbc2 runtime/esutils/utils.go: ValidateSecretSelector, and the providers that call it; kedacore/keda main 8b4f083c
pkg/scalers: fields with `order=triggerMetadata` that are neither optional nor have a default; fluxcd/helm-controller
v1.6.3 api: the kinds of a chart's source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.analysis.admission.constraints import Check, Refused, Row, excluding, is_known
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text

# The families of images that an alias names, and the value of `amiFamily` for each.
_FAMILIES = {
    "al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket", "windows2019": "Windows2019",
    "windows2022": "Windows2022", "windows2025": "Windows2025",
}  # fmt: skip
_SELECTORS = ("amiSelectorTerms", "securityGroupSelectorTerms", "subnetSelectorTerms")
_TERM = ("alias", "id", "name", "ssmParameter", "tags")
# Families whose images start without a command of the user.
_STARTS_ITSELF = ("AmazonLinux2023", "Bottlerocket", "Windows")
# References of a store for the whole cluster whose provider asks for a namespace, by the provider.
_SECRETS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "doppler": (("auth", "secretRef", "dopplerToken"),),
    "gitlab": (("auth", "SecretRef", "accessToken"),),
    "ibm": (("auth", "secretRef", "secretApiKeySecretRef"),),
    "keepersecurity": (("authRef",),),
    "onepassword": (("auth", "secretRef", "connectTokenSecretRef"),),
    "onepasswordSDK": (("auth", "serviceAccountSecretRef"),),
    "oracle": (("auth", "secretRef", "fingerprint"), ("auth", "secretRef", "privatekey")),
}
# What the metadata of a trigger must have, by its type: those of servers of metrics, schedules and queues.
_TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "azure-log-analytics": ("query", "threshold"),
    "cron": ("timezone", "start", "end", "desiredReplicas"),
    "etcd": ("endpoints", "watchKey", "value"),
    "external": ("scalerAddress",),
    "external-push": ("scalerAddress",),
    "graphite": ("serverAddress", "query", "queryTime"),
    "kubernetes-workload": ("podSelector",),
    "loki": ("serverAddress", "query", "threshold"),
    "metrics-api": ("url", "valueLocation"),
    "nats-jetstream": ("stream", "consumer"),
    "postgresql": ("query",),
    "prometheus": ("serverAddress", "query", "threshold"),
    "rabbitmq": ("queueName",),
    "redis": ("listName",),
    "redis-cluster": ("listName",),
    "redis-sentinel": ("listName",),
    "redis-streams": ("stream",),
}
_CHARTS = ("HelmRepository", "GitRepository", "Bucket")
_OCI = "OCIRepository"


def _node_class(tree: Any, at: Place) -> Iterator[Refused]:
    """Yields what the CRD of v1 refuses: v1beta1 required neither images nor a family that fits them."""
    if not text(tree, "apiVersion").endswith("/v1"):
        return
    spec, place = mapping(tree, "spec"), at.child("spec")
    for name in _SELECTORS:
        if not spec.get(name):
            fault = f"`{name}` is missing"
            yield Refused(place.child(name) if name in spec else place.key(), fault, f"add `{name}`", True)
    yield from excluding("role", "instanceProfile")(spec, place)
    if spec.get("role") is None and spec.get("instanceProfile") is None:
        yield Refused(place.key(), "one of `role`, `instanceProfile` is missing", "add one of them", True)
    family, terms = text(spec, "amiFamily"), items(spec, "amiSelectorTerms")
    aliases = [text(term, "alias") for term in terms if text(term, "alias")]
    for index, term in enumerate(terms):
        yield from _image(term, place.child("amiSelectorTerms", index), len(terms))
    named = aliases[0].partition("@")[0] if aliases else ""
    if family == "Ubuntu":
        told = "write `AL2` or `Custom`, and name the images in `amiSelectorTerms`"
        yield Refused(place.child("amiFamily"), "v1 has no `amiFamily` Ubuntu", told)
    elif not family and terms and not aliases:
        yield Refused(place.key(), "images without an alias need `amiFamily`", "add `amiFamily`", True)
    elif family in _FAMILIES.values() and _FAMILIES.get(named, family) != family:
        fault = f"`amiFamily` is {family}, and the alias names {_FAMILIES[named]}"
        yield Refused(place.child("amiFamily"), fault, f"write `{_FAMILIES[named]}`, or remove `amiFamily`")


def _image(term: Any, at: Place, count: int) -> Iterator[Refused]:
    term = mapping(term)
    alias = text(term, "alias")
    if term and not any(term.get(name) for name in _TERM):
        yield Refused(at, "the term selects no image", "add `alias`, `id`, `name` or `tags`")
    if not alias or "$" in alias or "{" in alias:
        return
    family, _, version = alias.partition("@")
    if not version or family not in _FAMILIES:
        listed = ", ".join(_FAMILIES)
        yield Refused(at.child("alias"), f"`{alias}` is not an alias", f"write FAMILY@VERSION with one of {listed}")
    elif count > 1 or any(term.get(name) for name in (*_TERM[1:], "owner")):
        yield Refused(at.child("alias").key(), "an alias stands alone", "remove the other fields and terms")


def _node_pool(tree: Any, at: Place) -> Iterator[Refused]:
    """Yields fields that v1 requires in all releases up to 1.14, and the former name of a policy."""
    if text(tree, "apiVersion") != "karpenter.sh/v1":
        return
    spec, place = mapping(tree, "spec"), at.child("spec")
    node = mapping(spec, "template", "spec")
    inner = place.child("template", "spec")
    if node:
        for name in ("nodeClassRef", "requirements"):
            if node.get(name) is None:
                yield Refused(inner.key(), f"`{name}` is missing", f"add `{name}`", True)
    reference = mapping(node, "nodeClassRef")
    # A reference with `apiVersion` is one of v1beta1, which another rule reports.
    for name in ("group", "kind", "name") if reference and "apiVersion" not in reference else ():
        if not reference.get(name):
            fault = f"`{name}` of `nodeClassRef` is missing"
            yield Refused(inner.child("nodeClassRef").key(), fault, f"add `{name}`", True)
    disruption = mapping(spec, "disruption")
    if disruption and disruption.get("consolidateAfter") is None:
        fault = "`consolidateAfter` is missing, which Karpenter 1.0 to 1.14 demands beside other fields of `disruption`"
        yield Refused(place.child("disruption").key(), fault, "write `consolidateAfter: 0s`, or a longer time", True)
    if text(disruption, "consolidationPolicy") == "WhenUnderutilized":
        yield Refused(
            place.child("disruption", "consolidationPolicy"),
            "v1 has no policy `WhenUnderutilized`",
            "write `WhenEmptyOrUnderutilized`",
        )


def _node_group(group: Any, at: Place) -> Iterator[Refused]:
    """Yields a node group with an image of its own that eksctl does not know how to start."""
    group = mapping(group)
    image, family = text(group, "ami"), text(group, "amiFamily")
    if not image.startswith("ami-") or group.get("launchTemplate") is not None:
        return
    if not family:
        yield Refused(at.child("ami"), "an image of your own needs `amiFamily`", "add `amiFamily`")
    elif group.get("overrideBootstrapCommand") is None and not family.startswith(_STARTS_ITSELF) and is_known(family):
        fault = f"an image of your own of the family {family} needs `overrideBootstrapCommand`"
        yield Refused(at.child("ami"), fault, "add it with a script that calls /etc/eks/bootstrap.sh")


def _store(tree: Any, at: Place) -> Iterator[Refused]:
    provider = mapping(tree, "spec", "provider")
    for name in provider:
        for path in _SECRETS.get(str(name), ()):
            reference = mapping(provider, name, *path)
            if reference.get("name") and not reference.get("namespace"):
                place = at.child("spec", "provider", name, *path)
                fault = "a store for the whole cluster needs the `namespace` of the Secret"
                yield Refused(place.child("name"), fault, "add `namespace` to the reference")


def _trigger(trigger: Any, at: Place) -> Iterator[Refused]:
    kind, given = text(trigger, "type"), mapping(trigger, "metadata")
    missing = [name for name in _TRIGGERS.get(kind, ()) if given.get(name) in (None, "")]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        fault = f"the trigger {kind} needs {listed} in its metadata, without which KEDA makes no scaler"
        yield Refused(at.child("metadata").key() if given else at.child("type"), fault, f"add {listed}", True)


def _chart(tree: Any, at: Place) -> Iterator[Refused]:
    spec, place = mapping(tree, "spec"), at.child("spec")
    kind = text(spec, "chart", "spec", "sourceRef", "kind")
    if kind and kind not in _CHARTS and is_known(kind):
        told = "write `chartRef` in place of `chart`" if kind == _OCI else f"write one of {', '.join(_CHARTS)}"
        yield Refused(place.child("chart", "spec", "sourceRef", "kind"), f"no chart comes from the kind `{kind}`", told)
    if spec.get("chartRef") is not None and text(tree, "apiVersion").endswith("/v2beta1"):
        fault = "`chartRef` is a field of v2, and v2beta1 requires `chart`"
        yield Refused(place.child("chartRef").key(), fault, "write the version `helm.toolkit.fluxcd.io/v2`")
    yield from excluding("chart", "chartRef")(spec, place)


def _services(tree: Any, at: Place) -> Iterator[Refused]:
    """Yields names of variables that no pod may have: the operator makes no pods, and the status names no cause."""
    spec, place = mapping(tree, "spec"), at.child("spec")
    services = mapping(spec, "services")
    holders = [(spec, place), *((mapping(services, one), place.child("services", one)) for one in services)]
    for holder, where in holders:
        for index, variable in enumerate(items(holder, "envs")):
            name = text(variable, "name")
            if "=" in name:
                told = f"write `{name.partition('=')[0]}`, and the value into `value`"
                yield Refused(where.child("envs", index, "name"), f"`{name}` is not the name of a variable", told)


def _each(name: str, check: Check, source: str) -> tuple[Row, ...]:
    return (Row(f"{name}[]", check, source),)


ROWS: Mapping[tuple[str, str], tuple[Row, ...]] = {
    ("karpenter.k8s.aws", "EC2NodeClass"): (Row("", _node_class, "EC2NodeClass CRD"),),
    ("eksctl.io", "ClusterConfig"): (
        *_each("managedNodeGroups", _node_group, "validation.go: ValidateManagedNodeGroup"),
        *_each("nodeGroups", _node_group, "validation.go: ValidateNodeGroup"),
    ),
    ("external-secrets.io", "ClusterSecretStore"): (Row("", _store, "utils.go: ValidateSecretSelector"),),
    ("keda.sh", "ScaledObject"): _each("spec.triggers", _trigger, "scalersconfig/typed_config.go: setValue"),
    ("keda.sh", "ScaledJob"): _each("spec.triggers", _trigger, "scalersconfig/typed_config.go: setValue"),
    ("nvidia.com", "DynamoGraphDeployment"): (Row("", _services, "kubernetes validation.go: ValidateEnv"),),
    ("helm.toolkit.fluxcd.io", "HelmRelease"): (Row("", _chart, "HelmRelease CRD"),),
}
NODE_POOL = (Row("", _node_pool, "NodePool CRD, v1.0.0 to v1.14.1"),)
