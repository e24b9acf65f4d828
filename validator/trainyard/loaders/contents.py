"""Says which objects and fields hold what something creates, rather than patterns and parts of it."""

from __future__ import annotations

import functools
from typing import Any

# Pods in objects of these groups are patterns and schemas: nothing creates them.
_DESCRIBING_GROUPS = frozenset(
    ("apiextensions.k8s.io", "kustomize.config.k8s.io", "kyverno.io", "policies.kyverno.io", "templates.gatekeeper.sh")
)
# Fields with parts of an object, which something merges into another one, or compares with it.
_PARTIAL = ("patch", "override", "assert")


def describes(api_version: str) -> bool:
    """True for the kinds that hold patterns and schemas of objects."""
    return api_version.partition("/")[0] in _DESCRIBING_GROUPS


def may_hold(key: str, value: Any) -> bool:
    """True if a field may hold whole parts of objects, rather than what something merges into them."""
    return isinstance(value, dict | list) and not _is_partial(key)


# Files have few names of fields.
@functools.lru_cache(maxsize=1024)
def _is_partial(key: str) -> bool:
    return any(word in key.lower() for word in _PARTIAL)
