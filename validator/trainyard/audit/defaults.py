"""What the API server adds to a Job: no rule must take it for somebody's decision.

Other kinds come back with a field or two, none of which means anything else than its absence.
"""

from __future__ import annotations

from typing import Any

from validator.fields import mapping

# Read back from Kubernetes 1.34, where the Jobs that were applied had none of these.
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
    """The Job as it was before the API server completed it."""
    spec = _bare(mapping(job, "spec"))
    if spec.get("manualSelector") is True:
        # The selector and its labels are the user's own.
        return {**job, "spec": spec}
    template = _unlabelled(mapping(spec, "template"))
    return _unlabelled({**job, "spec": {**_but(spec, "selector"), "template": template}})


def _bare(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_bare(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    # In metadata the names are free.
    return {
        key: value if key == "metadata" else _bare(value)
        for key, value in tree.items()
        if key not in _ADDED or value != _ADDED[key]
    }


def _unlabelled(tree: dict[str, Any]) -> dict[str, Any]:
    """An object or a template without the labels by which the controller finds its pods."""
    metadata = _but(mapping(tree, "metadata"), "creationTimestamp")
    labels = _but(mapping(metadata, "labels"), *_LABELS)
    metadata = {**metadata, "labels": labels} if labels else _but(metadata, "labels")
    return {**tree, "metadata": metadata} if metadata else _but(tree, "metadata")


def _but(tree: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if key not in names}
