"""A TrainJob of Kubeflow Trainer, and the chart of Trainer: the values of a PyTorchJob give the same run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import checkpoint, kubeflow_trainer
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.helm import CHARTS, Helm
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import CHART, Run
from trainyard.cli.main import main

pytestmark = pytest.mark.usefixtures("trainer")

PYTORCHJOB_FILE = Path(__file__).parent / "converted" / "pytorchjob.yaml"
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
# Two nodes of two processes each.
VALUES = """\
nodes: 2
processesPerNode: 2
train:
  args: [--epochs, {epochs}, --checkpoint-dir, /checkpoints]
preflight:
  enabled: true
  maxMebibytes: 8
"""
POD_GROUP = ("scheduling.x-k8s.io/v1alpha1", "PodGroup")
RUNNING = ["Running", "Running"]
UPGRADE = ("upgrade", "--reuse-values")
EPOCH = re.compile(r"epoch=(\d+)/\d+ loss=([\d.]+) test_loss=[\d.]+ test_accuracy=([\d.]+)")


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The values of all runs in this file: two epochs."""
    file = tmp_path_factory.mktemp("values") / "run.yaml"
    file.write_text(VALUES.format(epochs=2))
    return file


def epochs(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return number, loss and test accuracy of each epoch in the log."""
    return [match.groups() for line in outcome.log if (match := EPOCH.search(line))]  # type: ignore[misc]


def follow(run: Run) -> Outcome:
    """Follow a run to its end, which must be a success."""
    outcome = run.follow()
    run.require_success(outcome)
    return outcome


def trainjob(run: Run) -> dict[str, Any]:
    """Return the TrainJob of a run."""
    shown = api.kubectl(run.cluster.kubeconfig, "get", "trainjob", run.release, "-n", run.namespace, "-o", "json")
    return dict(json.loads(shown))


@pytest.fixture(scope="module")
def before(digits: Run, values: Path) -> Outcome:
    """The run as a PyTorchJob; its checkpoints are kept."""
    digits.install(values=[values])
    outcome = follow(digits)
    digits.uninstall()
    return outcome


def of(digits: Run, release: str, program: str = "helm") -> Run:
    """Return a TrainJob in the namespace of the run."""
    return Run(digits.cluster, digits.engine, digits.namespace, release, program, TRAINJOB)


def test_changing_only_the_kind_to_trainjob_gives_the_same_losses(before: Outcome, digits: Run, values: Path) -> None:
    run = of(digits, "same", program="helm4")
    assert run.settings() == {**digits.settings(), "kind": "TrainJob"}
    run.install(values=[values])
    after = follow(run)

    assert any("backend=gloo world_size=4 transport=tcp/eth0" in line for line in after.log)
    assert set(after.nodes.values()) == set(run.cluster.workers)
    assert [number for number, _, _ in epochs(after)] == ["1", "2"]
    assert epochs(after) == epochs(before)
    # Only rank 0 logs this, in the pod of index 0.
    (first,) = (pod for pod, lines in after.lines.items() if any("checkpoint saved" in line for line in lines))
    assert first.startswith("same-node-0-0-")
    read = checkpoint.read(run.cluster.kubeconfig, run.namespace, run.claim, run.image())
    assert read.startswith("checkpoint: epoch=2 ")
    assert f"test_accuracy={epochs(after)[-1][2]}" in read
    progress = trainjob(run)["status"]["trainerStatus"]
    metrics = {metric["name"]: float(metric["value"]) for metric in progress["metrics"]}
    assert (progress["progressPercentage"], progress["estimatedRemainingSeconds"]) == (100, 0)
    assert metrics["epoch"] == 2
    assert metrics["test_accuracy"] == pytest.approx(float(epochs(after)[-1][2]), abs=0.001)

    run.uninstall()
    assert namespaces.leftovers(run.cluster.kubeconfig, run.namespace, run.release, TRAINJOB) == []


def test_a_pytorchjob_that_is_converted_to_a_trainjob_trains(digits: Run, tmp_path: Path) -> None:
    run = of(digits, "moved")
    text = PYTORCHJOB_FILE.read_text().replace("digits", run.release).replace("IMAGE", run.image())
    manifest, values = tmp_path / "job.yaml", tmp_path / "run.yaml"
    manifest.write_text(text)
    assert main(["convert", str(manifest), "--to", "TrainJob", "-o", str(values)]) == 0
    claim, _ = yaml.safe_load_all(text)
    claim["metadata"]["namespace"] = run.namespace
    api.apply(run.cluster.kubeconfig, claim)

    Helm(run.cluster.kubeconfig).install(run.release, CHART, namespace=run.namespace, values=[values])
    outcome = follow(run)
    assert any("backend=gloo world_size=4" in line for line in outcome.log)
    assert [number for number, _, _ in epochs(outcome)] == ["1", "2"]
    run.uninstall()


def test_a_trainjob_tests_its_network_and_resumes_from_the_pytorchjob_s_checkpoint(
    before: Outcome,
    digits: Run,
    values: Path,
) -> None:
    run = of(digits, digits.release)
    helm = Helm(run.cluster.kubeconfig)
    values.write_text(VALUES.format(epochs=3))
    run.install(values=[values], settings={"runPolicy.suspend": True})

    tested = helm.run("test", run.release, "--namespace", run.namespace, "--timeout", "180s")
    assert "Phase:          Succeeded" in tested

    def upgrade(**settings: object) -> None:
        given = {**run.settings(), **settings}
        helm.install(run.release, CHART, namespace=run.namespace, values=[values], settings=given, upgrade=True)

    with pytest.raises(ClusterError, match=r"its pods cannot change: env \(pod\.node\.env\)\. Uninstall it"):
        upgrade(**{"env.LEVEL": "debug"})
    upgrade()

    outcome = follow(run)
    assert any(re.match(r"resumed: epoch=2 step=\d+ path=/checkpoints/", line) for line in outcome.log)
    assert [number for number, _, _ in epochs(outcome)] == ["3"]
    run.uninstall()


def test_a_failing_program_fails_its_trainjob(digits: Run) -> None:
    run = of(digits, "wrong")
    run.install(
        settings={
            "checkpoints.enabled": False,
            "train.args": ["--epochs", "none", "--checkpoint-dir", "/checkpoints"],
            "runPolicy.restartsPerNode": 0,
        }
    )
    outcome = run.follow()
    assert not outcome.succeeded
    assert outcome.reason == "jobset failed due to one or more job failures (first failed job: wrong-node-0)"
    assert any("--epochs" in line and "none" in line for line in outcome.log)
    job = trainjob(run)
    assert [condition["type"] for condition in job["status"]["conditions"]] == ["Failed"]
    run.uninstall()


def test_a_running_trainjob_is_suspended_and_resumes_from_what_it_has_saved(digits: Run, connection: Any) -> None:
    run = of(digits, "paused")
    helm = Helm(run.cluster.kubeconfig)
    endless = {"train.args": ["--epochs", "1000000", "--checkpoint-dir", "/checkpoints"], "checkpoints.keep": False}

    def log() -> str:
        words = ("logs", "--namespace", run.namespace, "--selector", run.selector, "--tail=-1")
        running = [pod.status.phase for pod in run.pods(connection)] == RUNNING
        return api.kubectl(run.cluster.kubeconfig, *words) if running else ""

    run.install(settings=endless)
    api.wait_until(lambda: "epoch=2/" in log(), what="the second epoch", seconds=60)
    helm.run(*UPGRADE, run.release, str(CHARTS / CHART), "-n", run.namespace, "--set", "runPolicy.suspend=true")
    api.wait_until(lambda: not run.pods(connection), what="the pods to be gone", seconds=60)
    helm.run(*UPGRADE, run.release, str(CHARTS / CHART), "-n", run.namespace, "--set", "runPolicy.suspend=false")
    api.wait_until(lambda: re.search(r"resumed: epoch=\d+", log()), what="the run to resume", seconds=60)
    run.uninstall()


def test_a_gang_has_a_pod_group_of_all_pods_before_it_starts(digits: Run, connection: Any) -> None:
    run = of(digits, "gang")
    run.install(
        settings={
            "checkpoints.enabled": False,
            "runPolicy.suspend": True,
            "scheduling.gang": {"scheduler": "scheduler-plugins", "timeoutSeconds": 90},
            "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
        }
    )
    group = api.wait_until(
        lambda: api.find(connection, *POD_GROUP, run.release, run.namespace), what="the PodGroup", seconds=30
    )
    assert (group.spec.minMember, group.spec.scheduleTimeoutSeconds) == (2, 90)
    assert group.spec.minResources.to_dict() == {"cpu": "200m", "memory": "2Gi"}
    jobset = api.wait_until(
        lambda: api.find(connection, "jobset.x-k8s.io/v1alpha2", "JobSet", run.release, run.namespace),
        what="the JobSet",
        seconds=30,
    )
    pod = jobset.spec.replicatedJobs[0].template.spec.template
    assert pod.metadata.labels["scheduling.x-k8s.io/pod-group"] == run.release
    assert pod.spec.schedulerName == "scheduler-plugins-scheduler"
    run.uninstall()
    assert api.find(connection, *POD_GROUP, run.release, run.namespace) is None


def test_a_trainjob_without_its_runtime_is_refused_with_the_reason(digits: Run) -> None:
    job = f"""
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: early, namespace: {digits.namespace}}}
spec: {{runtimeRef: {{apiGroup: trainer.kubeflow.org, kind: TrainingRuntime, name: later}}}}
"""
    with pytest.raises(ClusterError, match="specified trainingRuntime must be created before the TrainJob is created"):
        api.kubectl(digits.cluster.kubeconfig, "apply", "--dry-run=server", "-f", "-", stdin=job)


def certificates(cluster: Cluster) -> dict[str, object]:
    """Return the certificates of both controllers, and the authorities that the API server trusts."""
    secrets = [f"secret/{name}-webhook-cert" for name in (kubeflow_trainer.TRAINER, kubeflow_trainer.JOBSET)]
    own = api.kubectl(cluster.kubeconfig, "get", *secrets, "-n", kubeflow_trainer.NAMESPACE, "-o", "json")
    shown = api.kubectl(cluster.kubeconfig, "get", WEBHOOKS, "-o", "json")
    return {
        **{secret["metadata"]["name"]: secret["data"] for secret in json.loads(own)["items"]},
        **{
            hook["name"]: hook["clientConfig"]["caBundle"]
            for item in json.loads(shown)["items"]
            if item["metadata"]["labels"].get("app.kubernetes.io/name") == kubeflow_trainer.CHART
            for hook in item["webhooks"]
        },
    }


def test_an_upgrade_of_trainer_keeps_the_certificates(cluster: Cluster, engine: Engine) -> None:
    found = certificates(cluster)
    # Of two controllers with two and three, and two and two, webhooks.
    assert len(found) == 2 + 4 + 4
    kubeflow_trainer.install(cluster, engine, program="helm4", settings={"controllerThreads": 11})
    assert certificates(cluster) == found


def test_trainjobs_outlive_trainer_and_go_on_with_the_next_one(digits: Run) -> None:
    run = of(digits, "outlives")
    cluster = run.cluster
    given = {"train.args": ["--epochs", "1", "--checkpoint-dir", "/checkpoints"]}
    run.install(settings={**given, "runPolicy.suspend": True})

    def jobset() -> str:
        return api.kubectl(cluster.kubeconfig, "get", "jobset", "-n", run.namespace, "-o", "name", "--ignore-not-found")

    api.wait_until(lambda: bool(jobset()), what="the JobSet of the run", seconds=30)
    Helm(cluster.kubeconfig).uninstall(kubeflow_trainer.RELEASE, namespace=kubeflow_trainer.NAMESPACE)
    assert trainjob(run)["spec"]["suspend"] is True
    assert jobset().strip() == f"jobset.jobset.x-k8s.io/{run.release}"

    kubeflow_trainer.install(cluster, run.engine)
    settings = {**run.settings(), **given}
    Helm(cluster.kubeconfig).install(run.release, CHART, namespace=run.namespace, settings=settings, upgrade=True)
    follow(run)
    run.uninstall()
