"""A new version of the chart leaves a run alone that an earlier one has started."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.cluster import api
from tests.jobs.helm import Helm
from tests.jobs.run import CHART, Run

# The chart as it was first published, packed by Helm.
FIRST = Path(__file__).parent / "charts" / "training-job-0.1.0.tgz"


def test_an_upgrade_from_the_first_version_keeps_the_running_pods(digits: Run, connection: Any) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "older")
    settings = {
        **run.settings(),
        "train.args": ["--epochs", "100", "--checkpoint-dir", "/checkpoints"],
        "checkpoints.keep": False,
    }
    helm = Helm(run.cluster.kubeconfig)
    helm.install(run.release, str(FIRST), namespace=run.namespace, settings=settings)

    def pods() -> dict[str, str]:
        selector = f"training.kubeflow.org/job-name={run.release}"
        found = api.objects(connection, "v1", "Pod", namespace=run.namespace, label_selector=selector)
        return {pod.metadata.uid: pod.status.phase for pod in found}

    api.wait_until(lambda: sorted(pods().values()) == ["Running", "Running"], what="both pods to run", seconds=120)
    before = pods()

    helm.install(run.release, CHART, namespace=run.namespace, settings=settings, upgrade=True)

    outcome = run.follow()
    run.require_success(outcome)
    assert pods().keys() == before.keys()
    assert any(re.match(r"epoch=100/100 ", line) for line in outcome.log)
    run.uninstall()
