"""Size limits of Kubernetes objects.

Source: etcd v3.6.5 server/embed/config.go (DefaultMaxRequestBytes); kubernetes v1.34.4 pkg/apis/core/types.go
(MaxSecretSize) and pkg/apis/core/validation/validation.go (ValidateConfigMap).
"""

from __future__ import annotations

from typing import Any

# Bytes of a request to etcd, and so of an object.
MAX_OBJECT = 1536 * 1024
# Bytes of all values of a ConfigMap.
MAX_CONFIG_MAP = 1024 * 1024


def least_size(tree: Any, enough: int) -> int:
    """Returns a lower bound of an object's bytes as JSON. Counting ends above `enough`."""
    size, nodes = 0, [tree]
    while nodes and size <= enough:
        node = nodes.pop()
        if isinstance(node, dict):
            # Quotes, a colon and a comma; the braces balance the comma that the last field lacks.
            size += 1 + 4 * len(node) + sum(map(len, node))
            nodes.extend(node.values())
        elif isinstance(node, list):
            size += 1 + len(node)
            nodes.extend(node)
        else:
            size += len(node) + 2 if isinstance(node, str) else 1
    return size
