"""Resources that cannot be overcommitted: devices and huge pages, whose request and limit must be equal.

Source: kubernetes v1.34.4 pkg/apis/core/helper/helpers.go (IsOvercommitAllowed, IsNativeResource) and
pkg/apis/core/validation/validation.go (validateResourceRequirements, ValidateResourceQuantityValue).
"""

from __future__ import annotations

from typing import Any

from trainyard.facts.kubernetes.quantities import parse_quantity

HUGE_PAGES = "hugepages-"


def is_exact(resource: Any) -> bool:
    """True if request and limit of the resource must be equal."""
    return isinstance(resource, str) and (is_device(resource) or resource.startswith(HUGE_PAGES))


def is_device(resource: Any) -> bool:
    """True if this is an extended resource, which exists in whole units only."""
    return isinstance(resource, str) and "/" in resource and "kubernetes.io/" not in resource


def is_whole(quantity: Any) -> bool:
    """True if a quantity is a whole number or cannot be parsed, which other rules report."""
    value = parse_quantity(quantity)
    return value is None or value == int(value)
