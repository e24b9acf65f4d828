"""Networks that pods request from Multus, in the annotation of their template.

Source: k8snetworkplumbingwg/multus-cni v4.3.0, pkg/k8sclient/k8sclient.go (parsePodNetworkAnnotation).
"""

from __future__ import annotations

import functools
from typing import Any

from trainyard.document.document import Place
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Network, Pod
from trainyard.startup import NamedTuple

ANNOTATION = "k8s.v1.cni.cncf.io/networks"
# The bytes of all annotations of an object. Source: apimachinery/pkg/api/validation/objectmeta.go.
MAX_ANNOTATIONS = 256 * 1024


class Attachment(NamedTuple):
    """A network that a pod requests; `namespace` is empty if the annotation leaves it to the pod's."""

    namespace: str
    name: str
    interface: str
    tree: Any


class Malformed(NamedTuple):
    """The reason why an annotation's value is invalid."""

    reason: str


def annotation_place(pod: Pod) -> Place:
    """Returns the place of the annotation, present or not."""
    return pod.template_at.child("metadata", "annotations", ANNOTATION)


def annotation_text(pod: Pod) -> str:
    """Returns the annotation's text, empty if a pod has none."""
    found = pod.annotations.get(ANNOTATION)
    return found if isinstance(found, str) else ""


def attachments(pod: Pod) -> tuple[Attachment, ...]:
    """Returns the networks of a pod; none if the annotation is invalid."""
    found = parse_annotation(annotation_text(pod))
    return () if isinstance(found, Malformed) else found


@functools.lru_cache(maxsize=64)
def parse_annotation(annotation: str) -> tuple[Attachment, ...] | Malformed:
    """Returns the attachments in an annotation: a list of names, or JSON if it contains `[`, `{` or `"`."""
    if not annotation.strip():
        return ()
    if len(annotation) > MAX_ANNOTATIONS:
        return Malformed(f"it has more than {MAX_ANNOTATIONS:,} characters, which Kubernetes refuses")
    if not any(sign in annotation for sign in '[{"'):
        return tuple(_short(item.strip()) for item in annotation.split(","))
    import json

    try:
        listed = json.loads(annotation)
    except (ValueError, RecursionError) as error:
        return Malformed(f"it is not valid JSON: {_fault(error)}")
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        return Malformed("its JSON is not a list of objects")
    return tuple(
        Attachment(_text(item, "namespace"), _text(item, "name"), _text(item, "interface"), item) for item in listed
    )


def _fault(error: Exception) -> str:
    """Returns the fault in plain words: the JSON reader says `Expecting ',' delimiter`."""
    said = str(error).split(":")[0]
    return said.replace("Expecting", "missing").removesuffix(" delimiter")


def _short(item: str) -> Attachment:
    namespace, slash, rest = item.partition("/")
    name, _, interface = (rest if slash else namespace).partition("@")
    return Attachment(namespace.strip() if slash else "", name.strip(), interface.strip(), item)


def _text(tree: dict[str, Any], name: str) -> str:
    found = tree.get(name)
    return found if isinstance(found, str) else ""


def find_network(attachment: Attachment, namespace: str, networks: tuple[Network, ...]) -> Network | None:
    """Returns the network of an attachment in this namespace; a network fits any namespace if its file gives none."""
    wanted = attachment.namespace or namespace
    found = _networks_by_name.of(networks).get(attachment.name, {})
    fitting = [found[one] for one in ("", wanted) if one in found] if wanted else list(found.values())
    return networks[min(fitting)] if fitting else None


def _by_name(networks: tuple[Network, ...]) -> dict[str, dict[str, int]]:
    """Returns the number of the first network of each name and namespace."""
    found: dict[str, dict[str, int]] = {}
    for number, network in enumerate(networks):
        found.setdefault(network.name, {}).setdefault(network.namespace, number)
    return found


_networks_by_name: LastIndex[tuple[Network, ...], dict[str, dict[str, int]]] = LastIndex(_by_name)
