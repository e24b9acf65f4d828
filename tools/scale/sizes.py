"""Sizes of the objects of a run, and of the release that Helm stores."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.harness.jobs.helm import CHARTS, Helm
from tools.scale.control_plane import ControlPlane
from tools.scale.workloads import NAMESPACE, PYTORCHJOB, TRAINJOB, WHOLE_NODE

Size = tuple[str, int]
RELEASE = "sizes"


def sizes(plane: ControlPlane, nodes: int) -> Iterator[Size]:
    """Install a run of each kind, and yield the bytes of its objects as the API server returns them."""
    for kind in (PYTORCHJOB, TRAINJOB):
        # Paused, the run has no pods.
        settings = {**WHOLE_NODE, "kind": kind, "nodes": nodes, "runPolicy.suspend": True}
        helm = Helm(plane.kubeconfig)
        helm.install(RELEASE, str(CHARTS / "training-job"), namespace=NAMESPACE, settings=settings)
        names = {kind: f"{kind.lower()}/{RELEASE}", "release Secret": f"secret/sh.helm.release.v1.{RELEASE}.v1"}
        if kind == TRAINJOB:
            names["TrainingRuntime"] = f"trainingruntime/{RELEASE}"
            names["JobSet"] = f"jobset/{RELEASE}"
        for what, name in names.items():
            text = plane.kubectl("get", name, f"--namespace={NAMESPACE}", "--output=json")
            yield (
                f"{what} of a {kind}" if what != kind else what,
                len(json.dumps(json.loads(text), separators=(",", ":"))),
            )
        helm.uninstall(RELEASE, namespace=NAMESPACE)
