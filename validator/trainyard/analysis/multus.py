"""Networks that pods request from Multus, in the annotation of their template.

Source: k8snetworkplumbingwg/multus-cni v4.3.0, pkg/k8sclient/k8sclient.go (parsePodNetworkAnnotation).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.model.run import Network, Pod

ANNOTATION = "k8s.v1.cni.cncf.io/networks"


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


def parse_annotation(annotation: str) -> tuple[Attachment, ...] | Malformed:
    """Returns the attachments in an annotation: a list of names, or JSON if it contains `[`, `{` or `"`."""
    if not annotation.strip():
        return ()
    if not any(sign in annotation for sign in '[{"'):
        return tuple(_short(item.strip()) for item in annotation.split(","))
    import json

    try:
        listed = json.loads(annotation)
    except (ValueError, RecursionError) as error:
        return Malformed(f"it is read as JSON and is invalid: {str(error).split(':')[0]}")
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        return Malformed("its JSON is not a list of objects")
    return tuple(
        Attachment(_text(item, "namespace"), _text(item, "name"), _text(item, "interface"), item) for item in listed
    )


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
    for candidate in networks:
        if candidate.name == attachment.name and (not wanted or candidate.namespace in ("", wanted)):
            return candidate
    return None
