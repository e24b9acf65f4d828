"""The networks that pods ask Multus for, in the annotation of their template.

Source: k8snetworkplumbingwg/multus-cni v4.3.0, pkg/k8sclient/k8sclient.go (parsePodNetworkAnnotation).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from validator.model import Network, Pod
from validator.source import Place

ANNOTATION = "k8s.v1.cni.cncf.io/networks"


class Attachment(NamedTuple):
    """One network that a pod asks for; `namespace` is empty where the annotation leaves it to the pod's."""

    namespace: str
    name: str
    interface: str
    tree: Any


class Malformed(NamedTuple):
    """Why an annotation's value cannot be read."""

    reason: str


def place(pod: Pod) -> Place:
    """Where the annotation is, or would be."""
    return pod.template_at.child("metadata", "annotations", ANNOTATION)


def value(pod: Pod) -> str:
    """The annotation's text, empty where a pod has none."""
    found = pod.annotations.get(ANNOTATION)
    return found if isinstance(found, str) else ""


def attachments(pod: Pod) -> tuple[Attachment, ...]:
    """The networks of a pod; none where the annotation cannot be read."""
    found = parse(value(pod))
    return () if isinstance(found, Malformed) else found


def parse(annotation: str) -> tuple[Attachment, ...] | Malformed:
    """The attachments in an annotation: a list of names, or JSON as soon as it holds one of `[`, `{` and `"`."""
    if not annotation.strip():
        return ()
    if not any(sign in annotation for sign in '[{"'):
        return tuple(_short(item.strip()) for item in annotation.split(","))
    import json

    try:
        listed = json.loads(annotation)
    except (ValueError, RecursionError) as error:
        return Malformed(f"it is read as JSON and is none: {str(error).split(':')[0]}")
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


def network(attachment: Attachment, namespace: str, networks: tuple[Network, ...]) -> Network | None:
    """The definition that an attachment of a pod in this namespace means; a namespace not in the files fits any."""
    wanted = attachment.namespace or namespace
    for candidate in networks:
        if candidate.name == attachment.name and (not wanted or candidate.namespace in ("", wanted)):
            return candidate
    return None
