"""The merge of a patch into a pod template, as Trainer and the chart's `podTemplate` do it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

# The lists whose items are merged by a key; any other list is replaced. As in common.overlay of the charts.
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Returns a mapping with another one merged into it; null removes a field."""
    result = deepcopy(base)
    for field, value in over.items():
        own = result.get(field)
        if value is None:
            result.pop(field, None)
        elif isinstance(value, dict) and isinstance(own, dict):
            result[field] = merged(own, value)
        elif field in _KEYS and isinstance(value, list) and isinstance(own, list):
            result[field] = _items(own, value, _KEYS[field])
        else:
            result[field] = deepcopy(value)
    return result


def _items(own: list[Any], over: list[Any], key: str) -> list[Any]:
    result = list(own)
    for item in over:
        same = [index for index, known in enumerate(result) if _key(known, key) == _key(item, key)]
        if same and isinstance(item, dict):
            result[same[0]] = merged(result[same[0]], item)
        else:
            result.append(deepcopy(item))
    return result


def _key(item: Any, key: str) -> Any:
    return str(item.get(key)) if isinstance(item, dict) else None
