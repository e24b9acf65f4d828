"""What a site offers to the runs on it. `validator/roads/site` reads it from the values of charts/training-platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from validator.source import Document, Place

# Name of a LocalQueue where a site says none.
QUEUE = "training"


class SiteNetwork(NamedTuple):
    """A network that pods may join; `namespace` is empty where it is that of the platform's release.

    `resource` is what its interfaces are taken from, empty where they are no devices.
    """

    namespace: str
    name: str
    resource: str
    at: Place


class SiteQueue(NamedTuple):
    """A LocalQueue. `quotas` say how much of each resource a run can get, None for as much as the cohort lends."""

    namespace: str
    name: str
    cluster_queue: str
    quotas: Mapping[str, float | None]
    at: Place


class SiteOperator(NamedTuple):
    """The training operator: the kinds that it serves, in which namespace, and its gang scheduler; empty: all, none.

    `brings_definitions` is whether its chart installs the CustomResourceDefinitions of all six kinds.
    """

    kinds: frozenset[str]
    brings_definitions: bool
    namespace: str
    gang: str


class SiteMonitoring(NamedTuple):
    """Whether the site has its monitoring on, and whether that scrapes all runs by itself."""

    enabled: bool
    runs: bool


class Site(NamedTuple):
    """A site. What it leaves to others to install is None, and nothing is said about it.

    `resources` are the devices that its device plugins offer, each with the place that says so. `levels` are the labels
    by which Kueue knows where nodes are. `run_values` are the values of charts/training-job that every run on the site
    is installed with, below its own.
    """

    document: Document
    profile: str | None
    networks: tuple[SiteNetwork, ...]
    resources: Mapping[str, Place]
    queues: tuple[SiteQueue, ...] | None
    levels: tuple[str, ...]
    operator: SiteOperator | None
    monitoring: SiteMonitoring | None
    run_values: Document

    def place(self, *path: str | int) -> Place:
        """The place of a value of the site, or of the nearest one above it that is written."""
        return Place(self.document, path)

    def note(self, words: str, *path: str | int) -> tuple[tuple[Place, str], ...]:
        """A value of the site as something that explains a fault."""
        return ((self.place(*path), words),)
