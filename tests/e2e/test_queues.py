"""The platform chart's queues with Kueue: runs wait for quota, share one topology domain, borrow, and are preempted."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.e2e import diagnosing
from tests.e2e.conftest import SERVES_TRAINER
from tests.e2e.user import User
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kueue, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB
from tests.harness.jobs.run import Run

# Where no cache has it, Kueue is built meanwhile.
pytestmark = pytest.mark.timeout(1200)

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "training"
LEVEL = "kubernetes.io/hostname"
RACK = "topology.example.com/rack"
# The quota has room for the two pods of one run.
POD = {"cpu": "400m", "memory": "1Gi"}
SHARE = {"cpu": "1", "memory": "2Gi"}
# Of a team that has to borrow for a run.
HALF = {"cpu": "400m", "memory": "1Gi"}
FLAVOR = "workers"
STARTED_SECONDS = 120
ENDLESS_SECONDS = 600
# Not even an empty queue has room for three pods.
NEVER = "insufficient quota for cpu in flavor workers"
# In the foreground, the TrainJob would have to outlive its runtime, without which Kueue refuses to change it.
CASCADE = "background"
TRAINJOBS = ("low", "waiting", "huge", "high")
PRIORITIES = {"low": 1, "high": 1000}


def site(*teams: dict[str, object]) -> Settings:
    """Return the values of a platform with nothing but the queues of these teams."""
    return {
        "operator.enabled": False,
        "queues.enabled": True,
        "queues.name": QUEUE,
        "queues.topologyLevels": [RACK, LEVEL],
        "queues.flavors": [{"name": FLAVOR, "nodeLabels": {"kubernetes.io/os": "linux"}}],
        "queues.clusterQueues": list(teams),
    }


def team(name: str, namespace: str, share: dict[str, str], **options: object) -> dict[str, object]:
    """Return a ClusterQueue for the runs of one namespace."""
    quota = {"flavor": FLAVOR, "resources": share}
    return {"name": name, "namespaces": [namespace], "quotas": [quota], **options}


@pytest.fixture(scope="module")
def lender(cluster: Cluster, training_operator: None) -> Iterator[str]:
    """The namespace of a second team."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def queues(
    cluster: Cluster, engine: Engine, namespace: str, lender: str, request: pytest.FixtureRequest
) -> Iterator[Cluster]:
    """A release of the platform with the queue of one team.

    Trainer is there before Kueue, which otherwise refuses each TrainJob with `unsupported runtime` for a while.
    """
    if SERVES_TRAINER:
        request.getfixturevalue("trainer")
    helm = Helm(cluster.kubeconfig)
    for worker in cluster.workers:
        api.kubectl(cluster.kubeconfig, "label", "node", worker, f"{RACK}=rack-of-{worker}", "--overwrite")
    with kueue.installed(cluster, engine, namespace, lender):
        vision = team("vision", namespace, SHARE, preemption={"withinClusterQueue": "LowerPriority"})
        helm.install("queues", platform.CHART, namespace=namespace, settings=site(vision))
        yield cluster
        helm.uninstall("queues", namespace=namespace)
    api.kubectl(cluster.kubeconfig, "label", "node", *cluster.workers, f"{RACK}-")


@pytest.fixture
def cohort(queues: Cluster, namespace: str, lender: str) -> None:
    """Two teams that lend each other their quota: one has too little for a run, the other takes its own back."""
    vision = team("vision", namespace, HALF, cohort="lab")
    speech = team("speech", lender, SHARE, cohort="lab", preemption={"reclaimWithinCohort": "Any"})
    settings = site(vision, speech)
    Helm(queues.kubeconfig).install("queues", platform.CHART, namespace=namespace, settings=settings, upgrade=True)


@pytest.fixture
def borrower(cohort: None, queues: Cluster, engine: Engine, namespace: str) -> Iterator[Run]:
    """A PyTorchJob of the team that borrows, not installed yet."""
    run = Run(queues, engine, namespace, "borrower")
    yield run
    run.uninstall()


@pytest.fixture
def owner(cohort: None, queues: Cluster, engine: Engine, lender: str) -> Iterator[Run]:
    """A PyTorchJob of the team that lends, not installed yet."""
    run = Run(queues, engine, lender, "owner")
    yield run
    run.uninstall()


@pytest.fixture
def runs(queues: Cluster, engine: Engine, namespace: str) -> Iterator[tuple[Run, Run]]:
    """Two runs that are not installed yet; uninstalled at the end, because a queue in use cannot be deleted."""
    first, second = (Run(queues, engine, namespace, name) for name in ("first", "second"))
    yield first, second
    first.uninstall()
    second.uninstall()


@pytest.fixture(scope="module")
def priorities(queues: Cluster) -> Iterator[None]:
    """A low and a high WorkloadPriorityClass."""
    classes = [
        {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in PRIORITIES.items()
    ]
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": classes})
    api.kubectl(queues.kubeconfig, "apply", "--filename=-", stdin=manifest)
    yield
    api.kubectl(queues.kubeconfig, "delete", "--filename=-", stdin=manifest)


@pytest.fixture
def trainjobs(
    queues: Cluster, engine: Engine, namespace: str, priorities: None, trainer: None
) -> Iterator[dict[str, Run]]:
    """TrainJobs that are not installed yet, by name."""
    runs = {name: Run(queues, engine, namespace, name, kind=TRAINJOB) for name in TRAINJOBS}
    yield runs
    for run in runs.values():
        run.uninstall(cascade=CASCADE)


def install_queued(run: Run, *, epochs: int, priority: str = "", nodes: int = 2, **topology: str) -> None:
    """Install a run that waits in the queue."""
    run.install(
        settings={
            "nodes": nodes,
            "scheduling.queue.name": QUEUE,
            "scheduling.queue.topology": topology,
            "scheduling.queue.priorityClassName": priority,
            "resources": {"limits": POD},
            # Kueue considers free capacity but not affinity: with `required` the pods would stay Pending.
            "placement.spread": "none",
            "train.args": ["--epochs", str(epochs), "--checkpoint-dir", "/checkpoints"],
            "checkpoints.keep": False,
        }
    )


@contextmanager
def following(run: Run) -> Iterator[list[str]]:
    """Follow an endless run, also through pods that replace others; yields the lines of their logs."""
    lines: list[str] = []
    options = {"seconds": ENDLESS_SECONDS, "on_line": lambda _, line: lines.append(line)}
    reader = threading.Thread(target=run.follow, kwargs=options, daemon=True)
    reader.start()
    yield lines


def found(pattern: str, lines: Sequence[str]) -> str | None:
    """Return the first group of a pattern in the first line with it."""
    return next((match[1] for line in list(lines) if (match := re.search(pattern, line))), None)


def decision(connection: Any, run: Run) -> str:
    """Wait for the reason why Kueue does not admit a run that was just installed, and return it."""
    connection.resources.invalidate_cache()
    return api.wait_until(
        lambda: pending_reason(connection, run), what=f"Kueue's decision on {run.release}", seconds=STARTED_SECONDS
    )


def suspended(connection: Any, run: Run) -> bool:
    """Return true if a TrainJob exists and is suspended."""
    found = api.find(connection, *TRAINJOB, run.release, run.namespace)
    return found is not None and bool(found.spec.suspend)


def pending_reason(connection: Any, run: Run) -> str | None:
    """Return the reason why Kueue has not admitted a run; None before it has decided, and after admission."""
    owned = [
        workload
        for workload in api.objects(connection, API, "Workload", namespace=run.namespace)
        if any(owner.name == run.release for owner in workload.metadata.ownerReferences or [])
    ]
    conditions = owned[0].status.conditions if owned and owned[0].status else None
    return next(
        (str(one.message) for one in conditions or [] if one.type == "QuotaReserved" and one.status == "False"), None
    )


def test_a_run_waits_for_quota_and_then_trains_within_one_domain(runs: tuple[Run, Run], connection: Any) -> None:
    first, second = runs
    install_queued(first, epochs=1_000_000)
    api.wait_until(
        lambda: [pod.status.phase for pod in first.pods(connection)] == ["Running"] * 2,
        what="Kueue to admit the first run",
        seconds=STARTED_SECONDS,
    )
    # Kueue assigns each pod to a node, even unasked, if the flavor's topology ends in nodes.
    assert all(pod.spec.nodeSelector[LEVEL] == pod.spec.nodeName for pod in first.pods(connection))

    install_queued(second, epochs=1, mode="required", level=LEVEL)
    reason = decision(connection, second)
    assert "insufficient unused quota" in reason
    job = api.find(connection, *PYTORCHJOB, second.release, second.namespace)
    assert job is not None
    assert job.spec.runPolicy.suspend
    assert second.pods(connection) == []

    first.uninstall()
    outcome = second.follow()
    second.require_success(outcome)
    assert len(outcome.nodes) == 2
    assert len(set(outcome.nodes.values())) == 1


def test_a_trainjob_waits_for_quota_and_is_preempted_by_one_of_higher_priority(
    trainjobs: dict[str, Run], queues: Cluster, connection: Any, tmp_path: Path
) -> None:
    low, waiting, huge, high = (trainjobs[name] for name in TRAINJOBS)
    install_queued(low, epochs=1_000_000, priority="low")
    with following(low) as lines:
        api.wait_until(lambda: found(r"(epoch=1/)", lines), what="the run of low priority", seconds=STARTED_SECONDS)

        install_queued(waiting, epochs=1, priority="low")
        assert "insufficient unused quota for cpu in flavor workers" in decision(connection, waiting)
        assert suspended(connection, waiting)
        assert waiting.pods(connection) == []

        install_queued(huge, epochs=1, priority="high", nodes=3)
        assert NEVER in decision(connection, huge)
        diagnosing.require(queues, huge.namespace, huge.release, frozenset({"kueue-waiting"}), tmp_path, seconds=60)
        user = User(low.cluster.kubeconfig, low.namespace)
        # By priority, not by age.
        user.says(huge.release, "place 1 of 2; ")
        user.says(waiting.release, "place 2 of 2; ")
        for run in (waiting, huge):
            run.uninstall(cascade=CASCADE)

        install_queued(high, epochs=1, priority="high", mode="required", level=RACK)
        stopped = r"stopped by SIGTERM: step=(\d+) is saved"
        step = api.wait_until(lambda: found(stopped, lines), what="the preemption", seconds=STARTED_SECONDS)
        outcome = high.follow()
        high.require_success(outcome)
        assert len(outcome.nodes) == 2
        assert len(set(outcome.nodes.values())) == 1

        resumed = api.wait_until(
            lambda: found(r"resumed: epoch=\d+ step=(\d+)", lines), what="the resumption", seconds=STARTED_SECONDS
        )
        assert resumed == step


def test_a_run_on_borrowed_quota_gives_it_back_and_resumes(borrower: Run, owner: Run, connection: Any) -> None:
    user = User(borrower.cluster.kubeconfig, borrower.namespace)
    install_queued(borrower, epochs=1_000_000)
    with following(borrower) as lines:
        api.wait_until(lambda: found(r"(epoch=1/)", lines), what="the run on borrowed quota", seconds=STARTED_SECONDS)

        install_queued(owner, epochs=1)
        stopped = r"stopped by SIGTERM: step=(\d+) is saved"
        step = api.wait_until(lambda: found(stopped, lines), what="the preemption", seconds=STARTED_SECONDS)
        user.says(borrower.release, f"queued in {QUEUE}: place 1 of 1; ")
        owner.require_success(owner.follow())

        resumed = api.wait_until(
            lambda: found(r"resumed: epoch=\d+ step=(\d+)", lines), what="the resumption", seconds=STARTED_SECONDS
        )
        assert resumed == step


def test_uninstall_removes_the_queues(queues: Cluster, namespace: str, connection: Any) -> None:
    Helm(queues.kubeconfig).uninstall("queues", namespace=namespace)

    for kind in ("LocalQueue", "ClusterQueue", "ResourceFlavor", "Topology"):
        assert api.objects(connection, API, kind) == []
