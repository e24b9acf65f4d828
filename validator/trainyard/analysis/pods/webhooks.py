"""Webhooks that may complete a pod: those of the files that choose pods by a label which the pod has.

Source: Kubernetes documentation, Dynamic Admission Control: `objectSelector`. Knative fills in the rules of its
webhooks at run time.
"""

from __future__ import annotations

import itertools
from typing import Any

from trainyard.document.lookup import items, mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project

_KIND = "MutatingWebhookConfiguration"
# Each mount without a volume is compared with all of them.
_MOST = 64


def is_completed_by_webhook(pod: Pod, project: Project) -> bool:
    """True if a webhook of the files changes pods with the labels of this one."""
    return any(chosen.items() <= pod.labels.items() for chosen in _chosen.of(project))


def _find(project: Project) -> list[dict[str, Any]]:
    """Returns the labels by which webhooks choose pods."""
    webhooks = (one for resource in project.of_kind(_KIND) for one in items(resource.tree, "webhooks"))
    labels = (mapping(one, "objectSelector", "matchLabels") for one in webhooks if _is_for_pods(one))
    chosen = (one for one in labels if one and all(isinstance(value, str) for value in one.values()))
    return list(itertools.islice(chosen, _MOST))


def _is_for_pods(webhook: Any) -> bool:
    resources = [str(name) for one in items(webhook, "rules") for name in items(one, "resources")]
    return not resources or any(name in ("pods", "*", "*/*") for name in resources)


_chosen: LastIndex[Project, list[dict[str, Any]]] = LastIndex(_find)
