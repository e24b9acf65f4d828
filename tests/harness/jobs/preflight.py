"""A preflight: a release of `charts/training-preflight` on nodes of the cluster, and its result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm, Settings

CHART = "training-preflight"
JOB = ("batch/v1", "Job")
# Images are preloaded, and the measurements are small.
SECONDS = 180


@dataclass(frozen=True)
class Result:
    """The end of the first pod: its exit status, its termination message, its log and the report in it."""

    status: int
    message: str
    log: str
    report: dict[str, Any]


@dataclass(frozen=True)
class Preflight:
    """A release name in a namespace of a cluster, and the nodes to measure."""

    cluster: Cluster
    engine: Engine
    namespace: str
    release: str
    nodes: tuple[str, ...]

    def job(self, revision: int = 1) -> str:
        """Return the name of a revision's Job."""
        return self.release if revision == 1 else f"{self.release}-{revision}"

    def install(self, settings: Settings, *, chart: str = CHART, upgrade: bool = False) -> None:
        """Install or upgrade the release; the image is loaded into nodes that lack it.

        `chart` is the name of one of our charts, or the path of a package.
        """
        repository, tag = loading.load(self.cluster, self.engine, "trainer", self.nodes).rsplit(":", 1)
        given = {
            "image.repository": repository,
            "image.tag": tag,
            "nodes": len(self.nodes),
            "placement.nodes.allow": list(self.nodes),
            **settings,
        }
        helm = Helm(self.cluster.kubeconfig)
        helm.install(self.release, chart, namespace=self.namespace, settings=given, upgrade=upgrade)

    def result(self, revision: int = 1) -> Result:
        """Wait for the end of a revision's first pod and return its result."""
        connection = api.connect(self.cluster.kubeconfig)
        labels = {"job-name": self.job(revision), "job-completion-index": "0"}
        selector = ",".join(f"batch.kubernetes.io/{name}={value}" for name, value in labels.items())

        def ended() -> Any:
            for pod in api.objects(connection, "v1", "Pod", namespace=self.namespace, label_selector=selector):
                for status in pod.status.containerStatuses or []:
                    if status.state.terminated:
                        return pod.metadata.name, status.state.terminated
            return None

        pod, end = api.wait_until(ended, what=f"the first pod of {self.job(revision)} to end", seconds=SECONDS)
        log = api.kubectl(self.cluster.kubeconfig, "logs", "--namespace", self.namespace, pod)
        (line,) = [line for line in log.splitlines() if line.startswith('{"nodes"')]
        return Result(end.exitCode, end.message or "", log, json.loads(line))

    def uninstall(self) -> None:
        """Remove the release and wait until all its objects are gone."""
        Helm(self.cluster.kubeconfig).uninstall(self.release, namespace=self.namespace)
        api.wait_until(
            lambda: not namespaces.leftovers(self.cluster.kubeconfig, self.namespace, self.release, JOB),
            what=f"all objects of {self.release} to be gone",
            seconds=60,
        )
