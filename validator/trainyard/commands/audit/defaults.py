"""Removes the defaults that the API server adds to a Job: no rule may take them for the user's choice.

Other kinds come back with one or two such fields, which mean the same as if they were absent.
"""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import mapping

# Read back from Kubernetes 1.34. The Jobs that were applied had none of these.
_ADDED: dict[str, Any] = {
    "completionMode": "NonIndexed",
    "dnsPolicy": "ClusterFirst",
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "suspend": False,
    "terminationGracePeriodSeconds": 30,
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")


def without_defaults(job: dict[str, Any]) -> dict[str, Any]:
    """Returns the Job as it was before the API server added defaults."""
    spec = _bare(mapping(job, "spec"))
    if spec.get("manualSelector") is True:
        # The selector and its labels are the user's own.
        return {**job, "spec": spec}
    template = _unlabelled(mapping(spec, "template"))
    return _unlabelled({**job, "spec": {**_without(spec, "selector"), "template": template}})


def _bare(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_bare(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    # Names in metadata are free.
    return {
        key: value if key == "metadata" else _bare(value)
        for key, value in tree.items()
        if key not in _ADDED or value != _ADDED[key]
    }


def _unlabelled(tree: dict[str, Any]) -> dict[str, Any]:
    """Returns an object or a template without the labels by which the controller finds its pods."""
    metadata = _without(mapping(tree, "metadata"), "creationTimestamp")
    labels = _without(mapping(metadata, "labels"), *_LABELS)
    metadata = {**metadata, "labels": labels} if labels else _without(metadata, "labels")
    return {**tree, "metadata": metadata} if metadata else _without(tree, "metadata")


def _without(tree: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if key not in names}
