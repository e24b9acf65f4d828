"""One training run: a release of `charts/training-job` with an image that the harness builds."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import api, loading
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.cluster.errors import ClusterError

from . import namespace as namespaces
from .follow import Outcome, follow
from .helm import Helm, Settings
from .namespace import PYTORCHJOB, TRAINJOB, Kind

CHART = "training-job"
# Said by Trainer's webhook when its cache is behind: the README of the chart tells what to do then.
UNHEARD = "specified trainingRuntime must be created before the TrainJob is created"
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
    # The harness's image that it runs, by name; empty is the one that most runs of its kind use.
    made_of: str = ""

    @property
    def claim(self) -> str:
        """Name of the claim that the chart creates for checkpoints."""
        return f"{self.release}-checkpoints"

    @property
    def selector(self) -> str:
        """Label selector of the run's pods, of any kind that the training operator starts."""
        return f"training.kubeflow.org/job-name={self.release}"

    def image(self) -> str:
        """Reference of the run's image, loaded into the nodes when it is not there."""
        usual = "trainer" if self.kind in (PYTORCHJOB, TRAINJOB) else "frameworks"
        return loading.load(self.cluster, self.engine, self.made_of or usual)

    def settings(self) -> Settings:
        """What the chart has to be told on this cluster: kind, image, and a class that several nodes share."""
        repository, tag = self.image().rsplit(":", 1)
        version, kind = self.kind
        return {
            # The chart's first version, which an upgrade is tried from, knows no kinds.
            **({"kind": kind} if self.kind != PYTORCHJOB else {}),
            **({"mpi.apiVersion": version} if kind == "MPIJob" else {}),
            "image.repository": repository,
            "image.tag": tag,
            "checkpoints.storageClassName": "shared",
            "checkpoints.size": "1Gi",
        }

    def install(self, *, settings: Settings | None = None, values: Sequence[Path] = ()) -> str:
        """Install the release and return the chart's notes; nothing is left behind when Helm refuses it."""
        given = {**self.settings(), **(settings or {})}
        helm = Helm(self.cluster.kubeconfig, self.program)
        install = functools.partial(
            helm.install, self.release, CHART, namespace=self.namespace, settings=given, values=values
        )
        try:
            return install()
        except ClusterError as error:
            if UNHEARD not in str(error):
                raise
            return install(upgrade=True)

    def follow(self, *, seconds: float = 300, on_line: Callable[[str, str], None] | None = None) -> Outcome:
        """Follow the run to its end."""
        options = {} if on_line is None else {"on_line": on_line}
        return follow(self.cluster.kubeconfig, self.namespace, self.release, seconds=seconds, kind=self.kind, **options)

    def uninstall(self) -> None:
        """Remove the release, and raise `ClusterError` when something of it stays although it should not."""
        Helm(self.cluster.kubeconfig, self.program).uninstall(self.release, namespace=self.namespace)
        api.wait_until(
            lambda: not namespaces.leftovers(self.cluster.kubeconfig, self.namespace, self.release, self.kind),
            what=f"the pods, Services and ConfigMaps of {self.release} to be gone",
            seconds=60,
        )

    def require_success(self, outcome: Outcome) -> None:
        """Raise `ClusterError` when the run did not succeed: the reason, and what its pods say about it."""
        if not outcome.succeeded:
            # torchrun ends with a long report on its processes; the error itself stands well above it.
            said = [line for line in outcome.log if ERROR.search(line)][:12] or outcome.log[-12:]
            tail = "".join(f"\n    {line}" for line in said)
            raise ClusterError(f"run {self.release} did not succeed: {outcome.reason}{tail}")
