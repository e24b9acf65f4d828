"""Resources that cannot be overcommitted: devices and huge pages, whose request and limit are one number.

Source: kubernetes v1.34.4 pkg/apis/core/helper/helpers.go (IsOvercommitAllowed, IsNativeResource) and
pkg/apis/core/validation/validation.go (validateResourceRequirements, ValidateResourceQuantityValue).
"""

from __future__ import annotations

from typing import Any

from validator.facts.quantities import number
from validator.fields import mapping
from validator.model import Container, Role, Run
from validator.source import Place

HUGE_PAGES = "hugepages-"


def is_exact(resource: Any) -> bool:
    """Whether request and limit of the resource have to be equal."""
    return isinstance(resource, str) and (is_device(resource) or resource.startswith(HUGE_PAGES))


def is_device(resource: Any) -> bool:
    """Whether this is an extended resource, of which there are only whole ones."""
    return isinstance(resource, str) and "/" in resource and "kubernetes.io/" not in resource


def is_whole(quantity: Any) -> bool:
    """Whether a quantity is a whole number; so is what cannot be read, of which other rules speak."""
    value = number(quantity)
    return value is None or value == int(value)


def quantity_at(run: Run | None, role: Role | None, container: Container, field: str, resource: str) -> Place:
    """Where a quantity is written, in `limits` or `requests`: a TrainJob has its own beside those of its runtime."""
    own = container.at.child("resources", field, resource)
    if run is None or role is None or run.kind != "TrainJob" or container is not role.container:
        return own
    if run.runtime is not None and resource not in mapping(run.spec, "trainer", "resourcesPerNode", field):
        return own
    return run.at.child("spec", "trainer", "resourcesPerNode", field, resource)
