"""The parts of a status: progress, reasons of the scheduler, order of logs, and rows of pods."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.validator.status.status_cases import StatusCase, case, cases
from trainyard.commands.status import report
from trainyard.commands.status.kinds import run_kinds
from trainyard.commands.status.logs import merged
from trainyard.commands.status.obstacles import ORDER
from trainyard.commands.status.progress import Progress, from_log, from_metrics, from_train_job
from trainyard.commands.status.scheduling import refusal
from trainyard.commands.status.shape import shape
from trainyard.commands.status.snapshot import Snapshot, moment
from trainyard.commands.status.verdict import judge

PAGE = Path(__file__).parents[3] / "docs" / "status.md"
EXPECTED = [case for case in cases() if "rows" in case.expect]


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.name)
def test_the_rows_of_pods_are_those_that_a_person_expects(case: StatusCase) -> None:
    found = [
        [one.rank, one.name, one.phase, one.restarts, one.progress.step, report.speed(one.progress) or None]
        for one in judge(case.snapshot).replicas
    ]
    assert found == case.expect["rows"]


def test_the_page_shows_the_report_of_a_recorded_run() -> None:
    shown = PAGE.read_text().split("```text\n")[1].split("\n```")[0]
    snapshot = case("running-metrics").snapshot
    assert shown.splitlines() == list(report.lines(judge(snapshot), snapshot.now))


def test_the_page_explains_each_state() -> None:
    page = PAGE.read_text()
    states = {*ORDER, *(case.expect["state"] for case in cases()), "absent", "ending", "starting"}
    assert [state for state in sorted(states) if f"`{state}`" not in page] == []


def test_the_role_of_the_page_lists_each_kind_of_runs() -> None:
    role = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    for kind in run_kinds():
        assert kind.resource.partition(".")[0] in role
        assert kind.kind.group in role


def test_a_narrow_terminal_gets_fewer_columns() -> None:
    snapshot = case("running-metrics").snapshot
    lines = list(report.lines(judge(snapshot), snapshot.now, width=100))
    assert max(map(len, lines)) <= 100
    assert lines[-3].split() == ["RANK", "POD", "PHASE", "RESTARTS", "STEP", "SPEED", "PACE", "CHECKPOINT"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (7.9, "7s"), (61, "1m1s"), (3600, "1h"), (98_000, "1d3h"), (86_400 + 59, "1d"), (-5, "0s")],
)
def test_a_duration_has_its_two_largest_units(seconds: float, words: str) -> None:
    assert report.duration(seconds) == words


def test_the_metrics_give_a_score_for_each_rank_and_the_remaining_time() -> None:
    found = from_metrics(case("running-metrics").snapshot.metrics["steps-master-0"], now=0.0)
    assert (found.step, found.steps, found.unit) == (31893, 4_500_000, "samples")
    assert dict(found.scores) == {0: pytest.approx(0.821, abs=1e-3), 1: 1.0}
    assert found.seconds_left == pytest.approx(98_809, rel=1e-3)


def test_the_effective_share_is_that_of_now_in_metrics_and_of_the_newest_line_in_a_log() -> None:
    page = "trainer_productive_seconds 540.0\ntrainer_first_start_timestamp_seconds 1.0e+03\n"
    from_page = from_metrics(page, now=1600.0)
    line = "2026-11-25T09:52:51Z step=5/360 loss=2.2 samples_per_second=72 eta=0:00:05 ettr=0.9"
    assert from_page.ettr == pytest.approx(0.9)
    assert from_log(f"{line}10\n{line}34").ettr == 0.934
    now = datetime.datetime.fromtimestamp(1600.0, datetime.UTC)
    assert report.progress_words(from_page, now) == "90% of the time effective"


def test_a_log_of_another_program_has_no_progress() -> None:
    assert from_log("2026-11-25T09:52:51Z Epoch 3: 12/100 loss=0.5\nstep 5\n\n") == Progress()


def test_a_train_job_without_a_status_has_no_progress() -> None:
    assert from_train_job({"status": {"trainerStatus": {"metrics": [{"name": "step", "value": "many"}]}}}) == Progress()


def test_the_status_of_a_train_job_tells_its_progress() -> None:
    found = from_train_job(case("trainjob").snapshot.job)
    assert (found.step, found.rate, found.seconds_left) == (18283, 743.85, 192560)


def test_logs_are_merged_by_time_although_nanoseconds_lose_their_zeros() -> None:
    first = ["2026-11-25T09:00:00.5Z a", "without a time", "2026-11-25T09:00:02Z d"]
    second = ["2026-11-25T09:00:00.51Z b", "2026-11-25T10:00:01+01:00 c"]
    found = [(line.pod, line.text) for line in merged({"0": first, "1": second})]
    assert found == [("0", "a"), ("0", "without a time"), ("1", "b"), ("1", "c"), ("0", "d")]


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        ("0/8 nodes are available: 3 Insufficient cpu, 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are "
         "available: 8 No preemption victims found for incoming pod.", "resources", "cpu, nvidia.com/gpu"),
        ("0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node "
         "affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
         "selector", ""),
        ("0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: none",
         "other", "didn't match pod anti-affinity rules"),
        ("pod group is not ready, 4 minAvailable", "gang", "pod group is not ready, 4 minAvailable"),
        ("Pod demo/llm-0 can possibly be assigned to node-1, once minAvailable is satisfied", "gang",
         "Pod demo/llm-0 can possibly be assigned to node-1, once minAvailable is satisfied"),
        ("0/3 nodes are available: resource gap: map[nvidia.com/gpu:{{8 0} {<nil>}  DecimalSI} memory:{{1073741824 0} "
         "{<nil>}  BinarySI}]. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
         "gang", "not enough memory, nvidia.com/gpu for all of its pods"),
        ("0/3 nodes are available: pre-filter pod llm-node-0-0 cannot find enough sibling pods, current pods number: 1,"
         " minMember of group: 2. no new claims to deallocate.", "gang", "its other pods are not created yet"),
        ('pod "llm-node-0-1" rejected while waiting on permit: optimistic rejection in PostFilter', "gang",
         'pod "llm-node-0-1" rejected while waiting on permit: optimistic rejection in PostFilter'),
        ('0/3 nodes are available: persistentvolumeclaim "data" not found. not found', "claim", "data"),
        ("0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.", "other",
         "0/1 nodes are available: 1 node(s) had untolerated taint {a: b}."),
    ],
)  # fmt: skip
def test_a_message_of_the_scheduler_is_shortened(message: str, kind: str, words: str) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    assert refusal({"status": {"conditions": [condition]}}) == (kind, words)


CONTAINERS = [{"name": "main", "image": "registry.example.com/llm:1", "command": ["torchrun", "train.py"]}]
TEMPLATE = {"spec": {"containers": CONTAINERS}}
LWS = "leaderworkerset.sigs.k8s.io"


def job(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a run of another kind."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm", "namespace": "demo"}, "spec": spec}


def pod(name: str, **labels: str) -> dict[str, Any]:
    """Return a running pod; labels have dots and slashes as the kinds define them."""
    found = {
        "name": name,
        "namespace": "demo",
        "labels": {key.replace("__", "/"): text for key, text in labels.items()},
    }
    return {"metadata": found, "spec": {"containers": CONTAINERS}, "status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("tree", "labels", "count"),
    [
        (
            job("batch/v1", "Job", {"completions": 2, "parallelism": 2, "template": TEMPLATE}),
            [{"batch.kubernetes.io/job-completion-index": "1"}, {"batch.kubernetes.io/job-completion-index": "0"}],
            2,
        ),
        (
            job(
                "batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "worker", "replicas": 3, "template": TEMPLATE}]}
            ),
            [{"volcano.sh/task-spec": "worker", "volcano.sh/task-index": str(index)} for index in (1, 0)],
            3,
        ),
        (
            job(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                {"replicatedJobs": [{"name": "node", "replicas": 2, "template": {"spec": {"template": TEMPLATE}}}]},
            ),
            [
                {
                    "jobset.sigs.k8s.io/replicatedjob-name": "node",
                    "jobset.sigs.k8s.io/job-index": index,
                    "batch.kubernetes.io/job-completion-index": "0",
                }
                for index in ("1", "0")
            ],
            2,
        ),
        (
            job(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
            ),
            [{f"{LWS}/group-index": "0", f"{LWS}/worker-index": index} for index in ("1", "0")],
            2,
        ),
    ],
    ids=["Job", "Volcano", "JobSet", "LeaderWorkerSet"],
)
def test_pods_of_other_kinds_are_numbered_by_their_labels(
    tree: dict[str, Any], labels: list[dict[str, str]], count: int
) -> None:
    now = moment("2026-11-25T10:00:00Z")
    assert now is not None
    pods = []
    for name, found in zip(("second", "first"), labels, strict=True):
        one = pod(name)
        one["metadata"]["labels"] = found
        pods.append(one)
    snapshot = Snapshot(tree, now, pods=tuple(pods))
    assert shape(snapshot).pods == count
    verdict = judge(snapshot)
    assert [(one.name, one.rank) for one in verdict.replicas] == [("first", "0"), ("second", "1")]
    assert verdict.headline == f"running: 2 of {count} pods"
