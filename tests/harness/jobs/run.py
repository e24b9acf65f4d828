"""A training run: a release of `charts/training-job` with an image that the harness builds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.follow import Outcome, follow
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind

CHART = "training-job"
ERROR = re.compile(r"\b\w*error\b", re.IGNORECASE)


@dataclass(frozen=True)
class Run:
    """A release name in a namespace of a cluster."""

    cluster: Cluster
    engine: Engine
    namespace: str
    release: str
    program: str = "helm"
    kind: Kind = PYTORCHJOB
    # Name of the harness's image; empty selects the default image of the kind.
    image_name: str = ""

    @property
    def claim(self) -> str:
        """The name of the PersistentVolumeClaim that the chart creates for checkpoints."""
        return f"{self.release}-checkpoints"

    @property
    def selector(self) -> str:
        """The label selector of the run's pods."""
        return namespaces.pods_of(self.kind, self.release)

    def pods(self, connection: Any) -> list[Any]:
        """Return the run's pods."""
        return api.objects(connection, "v1", "Pod", namespace=self.namespace, label_selector=self.selector)

    def image(self) -> str:
        """Return the reference of the run's image, loaded into nodes that lack it."""
        usual = "trainer" if self.kind in (PYTORCHJOB, TRAINJOB) else "frameworks"
        return loading.load(self.cluster, self.engine, self.image_name or usual)

    def settings(self) -> Settings:
        """Return the values that the chart needs on this cluster: kind, image, and a storage class that nodes share."""
        repository, tag = self.image().rsplit(":", 1)
        version, kind = self.kind
        return {
            # The chart's first version, from which upgrades are tested, has no such value.
            **({"kind": kind} if self.kind != PYTORCHJOB else {}),
            **({"mpi.apiVersion": version} if kind == "MPIJob" else {}),
            "image.repository": repository,
            "image.tag": tag,
            "checkpoints.storageClassName": "shared",
            "checkpoints.size": "1Gi",
            # The runs of several tests share two small nodes, and none of them computes all the time.
            "resources.requests": {"cpu": "100m"},
        }

    def install(self, *, settings: Settings | None = None, values: Sequence[Path] = ()) -> str:
        """Install the release and return the chart's notes; nothing is left behind when Helm fails."""
        given = {**self.settings(), **(settings or {})}
        helm = Helm(self.cluster.kubeconfig, self.program)
        return helm.install(self.release, CHART, namespace=self.namespace, settings=given, values=values)

    def follow(self, *, seconds: float = 300, **options: Any) -> Outcome:
        """Follow the run to its end, with options of `follow.follow`."""
        return follow(self.cluster.kubeconfig, self.namespace, self.release, seconds=seconds, kind=self.kind, **options)

    def uninstall(self, *, cascade: str = "foreground") -> None:
        """Remove the release; raise `ClusterError` when objects that should be removed remain."""
        Helm(self.cluster.kubeconfig, self.program).uninstall(self.release, namespace=self.namespace, cascade=cascade)
        api.wait_until(
            lambda: not namespaces.leftovers(self.cluster.kubeconfig, self.namespace, self.release, self.kind),
            what=f"the pods, Services and ConfigMaps of {self.release} to be gone",
            seconds=60,
        )

    def require_success(self, outcome: Outcome) -> None:
        """Raise `ClusterError` when the run did not succeed, with the reason and the errors in its pods' logs."""
        if not outcome.succeeded:
            # torchrun ends with a long report on its processes; the error is well above it.
            said = [line for line in outcome.log if ERROR.search(line)][:12] or outcome.log[-12:]
            tail = "".join(f"\n    {line}" for line in said)
            raise ClusterError(f"run {self.release} did not succeed: {outcome.reason}{tail}")
