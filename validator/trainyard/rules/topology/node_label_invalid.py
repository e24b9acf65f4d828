"""A key of the node selector is no label, so the API server refuses the pod.

A key is a name of at most 63 letters, digits, `-`, `_` and `.`, which may have a DNS name and `/` before it. A space, a
second `/` or an empty part makes it invalid: "Invalid value: name part must consist of alphanumeric characters". A job
of Kubeflow is accepted, and its operator fails to create each pod.

Correct the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod

_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_NAME}").fullmatch


@rule(
    code="TP021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 apimachinery pkg/util/validation/validation.go: IsQualifiedName",
        "github.com/GoogleCloudPlatform/ai-on-gke pull 393",
    ),
    needs=("nodeSelector",),
)
def node_label_invalid(pod: Pod) -> Iterator[Problem]:
    """Report a node selector with an invalid key."""
    for key in mapping(pod.tree, "nodeSelector"):
        if isinstance(key, str) and not _KEY(key) and not has_parameter(key) and not re.search(r"[<>${}]", key):
            at = pod.at.child("nodeSelector", key).key()
            yield Problem(
                at, f"`{key}` is no label key: Kubernetes refuses the pod", "write `domain/name` without spaces"
            )
