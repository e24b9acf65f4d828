"""The site: what it offers to its runs. `loaders/site` reads it from the values of charts/training-platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainyard.document.document import Document, Place

# The name of a LocalQueue if a site gives none.
QUEUE = "training"


class SiteNetwork(NamedTuple):
    """A network that pods may join; `namespace` is empty if it is that of the platform's release.

    `resource` is the device resource of its interfaces, empty if they are not devices.
    """

    namespace: str
    name: str
    resource: str
    at: Place


class SiteQueue(NamedTuple):
    """A LocalQueue. `quotas` are the maximum of each resource for a run, None for as much as the cohort lends."""

    namespace: str
    name: str
    cluster_queue: str
    quotas: Mapping[str, float | None]
    at: Place


class SiteOperator(NamedTuple):
    """The training operator: its kinds, its namespace (empty: all), and its gang scheduler (empty: none).

    `brings_definitions` is true if its chart installs the CustomResourceDefinitions of all six kinds.
    """

    kinds: frozenset[str]
    brings_definitions: bool
    namespace: str
    gang: str


class SiteMonitoring(NamedTuple):
    """The site's monitoring: enabled or not, and true if it scrapes all runs without further configuration."""

    enabled: bool
    runs: bool


class Site(NamedTuple):
    """A site. Anything that others install is None, and no rule checks it.

    `resources` are the devices that its device plugins offer, each with its place in the values. `levels` are the
    topology labels of nodes that Kueue uses. `run_values` are the values of charts/training-job that every run on the
    site is installed with, below its own. `trainer_gangs` are the gang schedulers whose PodGroups its Trainer may
    create.
    """

    document: Document
    profile: str | None
    networks: tuple[SiteNetwork, ...]
    resources: Mapping[str, Place]
    queues: tuple[SiteQueue, ...] | None
    levels: tuple[str, ...]
    operator: SiteOperator | None
    trainer_gangs: frozenset[str] | None
    monitoring: SiteMonitoring | None
    run_values: Document

    def place(self, *path: str | int) -> Place:
        """Returns the place of a value of the site, or of its nearest ancestor in the file."""
        return Place(self.document, path)

    def note(self, words: str, *path: str | int) -> tuple[tuple[Place, str], ...]:
        """Returns a value of the site as a note that explains a fault."""
        return ((self.place(*path), words),)
