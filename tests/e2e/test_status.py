"""`trainyard status` and `logs` on live runs: what they wait for, how far they are, and the rank that failed first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.user import STATE_SECONDS, User
from tests.harness.cluster import api, tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import account
from tests.harness.jobs.run import Run

PAGE = Path(__file__).parents[2] / "docs" / "status.md"
# Rank 1 fails at once, and rank 0 waits for it until it is stopped with the run.
CRASH = "import os, sys, time; rank = int(os.environ['RANK']); print('rank', rank, 'starts', flush=True); "
CRASH += "time.sleep(1 if rank else 600); sys.exit('no data in /data')"
RUNS: dict[str, dict[str, object]] = {
    # It trains until it is suspended, so that a limit saves the processor for others.
    "steps": {
        "resources.limits.cpu": "300m",
        "metrics.enabled": True,
        "train.config": {
            "epochs": 100_000,
            "checkpoint_dir": "/checkpoints",
            "log_steps": 20,
            "metrics_port": 8000,
            "events_file": "/checkpoints/events.jsonl",
        },
    },
    "crash": {"train.command": ["python3", "-c", CRASH], "restartPolicy": "Never"},
    "finished": {"train.command": ["python3", "-c", "print('done')"], "nodes": 1},
    "image": {"image.repository": "127.0.0.1:1/trainyard/absent", "image.pullPolicy": "IfNotPresent", "nodes": 1},
    "room": {"resources.limits": {"cpu": "64", "memory": "1Gi"}, "resources.requests": None, "nodes": 1},
    "claim": {"checkpoints.enabled": True, "checkpoints.existingClaim": "absent", "nodes": 1},
}
# The reference trainer needs checkpoints and its own launcher; the other programs need neither.
PLAIN = {
    "launcher": "command",
    "train.command": ["python3", "-c", "pass"],
    "train.args": [],
    "checkpoints.enabled": False,
}


@pytest.fixture(scope="module")
def admin(cluster: Cluster, engine: Engine, namespace: str) -> User:
    """The administrator, in a namespace with all runs."""
    for name, settings in RUNS.items():
        given = settings if name == "steps" else {**PLAIN, **settings}
        Run(cluster, engine, namespace, name).install(settings=given)
    return User(cluster.kubeconfig, namespace)


@pytest.fixture
def reader(cluster: Cluster, namespace: str, admin: User, tmp_path: Path) -> Iterator[User]:
    """A ServiceAccount with the documented Role and nothing else."""
    kubeconfig = account.create(cluster.kubeconfig, "reader", namespace, tmp_path)
    role = yaml.safe_load(PAGE.read_text().split("```yaml\n")[1].split("```")[0])
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": "RoleBinding",
        "metadata": {"name": "reader", "namespace": namespace},
        "subjects": [subject],
        "roleRef": reference,
    }
    role["metadata"]["namespace"] = namespace
    api.apply(cluster.kubeconfig, role, binding)
    yield User(kubeconfig, namespace)
    api.kubectl(cluster.kubeconfig, "delete", "serviceaccount/reader", "rolebinding/reader", "--namespace", namespace)


def test_a_running_run_shows_steps_speed_and_pace_of_each_rank(admin: User) -> None:
    def steps() -> dict[str, Any] | None:
        found = admin.status("steps")
        return found if len(found["pods"]) == 2 and all(pod["step"] and pod["pace"] for pod in found["pods"]) else None

    found = api.wait_until(steps, what="both ranks to report steps", seconds=STATE_SECONDS)
    assert found["state"] == "running"
    assert found["headline"].startswith("running: 2 of 2 pods, step ")
    assert [(pod["pod"], pod["ranks"], pod["phase"]) for pod in found["pods"]] == [
        ("steps-master-0", [0, 0], "Running"),
        ("steps-worker-0", [1, 1], "Running"),
    ]
    assert len({pod["node"] for pod in found["pods"]}) == 2
    assert found["progress"]["rate"] > 0
    assert found["progress"]["seconds_left"] > 0
    assert found["progress"]["checkpoint_age_seconds"] < STATE_SECONDS
    assert 0 < found["progress"]["ettr"] <= 1


def test_the_report_of_a_running_run_has_its_curves_and_pods(admin: User, tmp_path: Path) -> None:
    file = tmp_path / "steps.html"
    code, out, err = admin("report", "steps", "-o", str(file))
    assert (code, out) == (0, "")
    assert f"wrote {file}: PyTorchJob " in err
    page = file.read_text()
    assert "<title>Training loss: " in page
    assert "steps-worker-0" in page
    assert "<td>Scheduled" in page


def test_top_prints_once_in_a_pipe(admin: User) -> None:
    code, out, _ = admin("top", "steps")
    assert code == 0
    assert out.startswith("PyTorchJob ")
    assert "steps-worker-0" in out


def test_the_documented_role_is_enough(admin: User, reader: User) -> None:
    seen, known = reader("status", "steps"), admin("status", "steps")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.splitlines()[0] == known.out.splitlines()[0]
    assert "steps-worker-0" in seen.out
    assert reader("logs", "steps", "--tail", "1").code == 0
    elsewhere = reader("status", "--all-namespaces")
    assert (elsewhere.code, elsewhere.out) == (2, "")
    assert elsewhere.err.startswith("Error: the user may not list runs in all namespaces")


def test_a_suspended_run_says_so(admin: User, cluster: Cluster, namespace: str) -> None:
    """It also ends the training, which no later test needs."""
    suspend = '--patch={"spec": {"runPolicy": {"suspend": true}}}'
    words = ("patch", "pytorchjob", "steps", "--namespace", namespace, "--type=merge", suspend)
    api.kubectl(cluster.kubeconfig, *words)
    assert admin.reaches("steps", "suspended")["headline"].startswith("suspended: ")


@pytest.mark.parametrize(
    ("run", "state", "words", "code"),
    [
        ("image", "image", "image 127.0.0.1:1/trainyard/absent", 1),
        ("room", "resources", "no node has enough cpu free", 0),
        ("claim", "claim", "claim absent does not exist", 1),
        ("finished", "succeeded", "succeeded", 0),
        ("crash", "failed", "rank 1 (crash-worker-0) failed first, exit code 1", 1),
    ],
)
def test_the_headline_says_what_a_run_waits_for_or_how_it_ended(
    admin: User, run: str, state: str, words: str, code: int
) -> None:
    assert words in admin.reaches(run, state)["headline"]
    found = admin("status", run)
    assert found.code == code
    assert words in found.out


def test_the_list_names_all_runs(admin: User) -> None:
    code, out, _ = admin("status")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[1:]] == sorted(f"pytorchjob/{name}" for name in RUNS)


def test_logs_have_the_ranks_of_their_pods(admin: User) -> None:
    admin.reaches("crash", "failed")
    code, out, _ = admin("logs", "crash")
    assert code == 0
    assert set(out.splitlines()) >= {"[rank0] rank 0 starts", "[rank1] rank 1 starts", "[rank1] no data in /data"}
    assert admin("logs", "crash", "--rank", "0").out == "[rank0] rank 0 starts\n"
    assert admin("logs", "crash", "--rank", "2").code == 2


def test_the_log_of_the_failed_rank_is_known_also_when_its_pod_is_gone(
    admin: User, cluster: Cluster, connection: Any, namespace: str
) -> None:
    admin.reaches("crash", "failed")
    code, out, err = admin("logs", "crash", "--failed")
    assert (code, out) == (0, "[rank1] rank 1 starts\n[rank1] no data in /data\n")
    assert "rank 1 (crash-worker-0) failed first" in err
    api.kubectl(cluster.kubeconfig, "delete", "pod", "--namespace", namespace, "crash-master-0", "crash-worker-0")
    code, out, err = admin("logs", "crash", "--failed")
    assert code == 0
    assert "crash-worker-0 failed first, exit code 1" in err
    assert "its log is gone" in err
    # The operator tells the last words only if it sees the pod after its container has ended and before the pod has:
    # `RecordAbnormalPods` of version 1.9 looks at active pods.
    events = api.objects(connection, "v1", "Event", namespace=namespace, field_selector="involvedObject.name=crash")
    told = any("no data in /data" in event.message for event in events)
    assert ("no data in /data" in out) == told


def test_the_log_is_followed_to_the_end_of_the_run(admin: User) -> None:
    admin.reaches("finished", "succeeded")
    assert admin("logs", "finished", "--follow").out == "[rank0] done\n"


def test_the_status_is_a_plugin_of_kubectl(admin: User, cluster: Cluster, namespace: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = ["trainyard", "status", "finished", "--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace]
    finished = subprocess.run(
        [tools.binary("kubectl"), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert finished.stdout.startswith(f"PyTorchJob {namespace}/finished\n"), finished.stderr


def test_an_unknown_run_has_a_suggestion(admin: User) -> None:
    code, out, err = admin("status", "step")
    assert (code, out) == (3, "")
    assert "there is no run `step`" in err
    assert "did you mean `steps`?" in err
