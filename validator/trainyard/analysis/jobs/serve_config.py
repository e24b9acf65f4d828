"""The configuration of Ray Serve in a RayService.

Source: ray-project/ray python/ray/serve/schema.py (ServeDeploySchema, ServeApplicationSchema, DeploymentSchema).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource


def applications(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the applications of a RayService, each with its place."""
    raw = text(resource.tree, "spec", "serveConfigV2")
    if resource.kind != "RayService" or group_of(resource.api_version) != RAY or not raw:
        return
    inner = embedded(resource.at.child("spec", "serveConfigV2"), raw)
    if isinstance(inner, BrokenText):
        return
    for index, application in enumerate(items(inner.tree, "applications")):
        if isinstance(application, dict):
            yield application, Place(inner).child("applications", index)
