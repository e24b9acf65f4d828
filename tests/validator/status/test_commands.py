"""The commands `status`, `logs` and `top` on an API server: output, exit statuses, and what they may not read."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.validator.audit.api_server import KUBECONFIG, ApiServer
from tests.validator.status.status_cases import FOLDER, case
from trainyard.cli import main
from trainyard.commands.status.kinds import run_kinds
from trainyard.commands.status.snapshot import Snapshot

ROOT = Path(__file__).parents[3]


class Result(NamedTuple):
    """The exit status and the output of a command."""

    code: int
    out: str
    err: str


def objects(name: str) -> list[dict[str, Any]]:
    """Return the objects of a case."""
    found: list[dict[str, Any]] = yaml.load((FOLDER / f"{name}.yaml").read_text(), Loader=yaml.CSafeLoader)["objects"]
    return found


def texts(snapshot: Snapshot) -> dict[str, str]:
    """Return the paths of the logs and metrics of a case."""
    pods = "/api/v1/namespaces/demo/pods"
    logs = {f"{pods}/{pod}/log": log for pod, log in snapshot.logs.items()}
    return logs | {f"{pods}/{pod}:8000/proxy/metrics": page for pod, page in snapshot.metrics.items()}


def server(*names: str, **options: Any) -> ApiServer:
    """Return a server with the runs of some cases."""
    found = [tree for name in names for tree in objects(name)]
    every = {path: text for name in names for path, text in texts(case(name).snapshot).items()}
    return ApiServer(*found, **{"texts": every, **options})


class Commands:
    """Runs commands on a server, in the namespace of the cases."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._captured = captured

    def __call__(self, api: ApiServer, *words: str) -> Result:
        """Run a command and stop the server."""
        try:
            return self.on(api.kubeconfig(self.folder), words[0], "--namespace", "demo", *words[1:])
        finally:
            api.stop()

    def on(self, kubeconfig: str, *words: str) -> Result:
        """Run a command with a kubeconfig."""
        code = main.main([words[0], "--kubeconfig", kubeconfig, *words[1:]])
        out, err = self._captured.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """The commands; they use no proxy to reach this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return Commands(tmp_path, capfd)


def test_the_status_of_a_run_has_a_row_for_each_pod(run: Commands) -> None:
    code, out, err = run(server("running-metrics"), "status", "steps")
    assert (code, err) == (0, "")
    title, headline, *_ = out.splitlines()
    assert title == "PyTorchJob demo/steps"
    assert headline == "running: 2 of 2 pods, step 31,893 of 4,500,000"
    assert out.splitlines()[-1].split()[:3] == ["1", "steps-worker-0", "status-worker2"]


def test_a_run_that_cannot_start_ends_with_1_and_names_the_next_step(run: Commands) -> None:
    code, out, _ = run(server("claim-missing"), "status", "pytorchjob/noclaim")
    assert code == 1
    assert out.splitlines()[1] == "claim absent does not exist; 0 of 2 pods run"
    assert out.splitlines()[2].startswith("next: create the claim")


def test_the_json_has_the_run_its_pods_and_failures(run: Commands) -> None:
    code, out, _ = run(server("failed"), "status", "crash", "--output-format", "json")
    tree = json.loads(out)
    assert (code, tree["state"], tree["blocked"]) == (1, "failed", True)
    assert tree["run"] == {"kind": "PyTorchJob", "apiVersion": "kubeflow.org/v1", "namespace": "demo", "name": "crash"}
    assert [(pod["pod"], pod["ranks"]) for pod in tree["pods"]] == [
        ("crash-master-0", [0, 0]),
        ("crash-worker-0", [1, 1]),
    ]
    assert [(failure["pod"], failure["code"]) for failure in tree["failures"]] == [("crash-worker-0", 1)]


def test_the_runs_of_a_namespace_are_listed(run: Commands) -> None:
    code, out, _ = run(server("failed", "suspended", "trainjob"), "status")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()] == [
        "RUN",
        "pytorchjob/crash",
        "pytorchjob/paused",
        "trainjob/tj",
    ]
    assert "failed: rank 1 (crash-worker-0) failed first, exit code 1" in out


def test_an_empty_namespace_has_no_runs(run: Commands) -> None:
    assert run(ApiServer(), "status") == (0, "", "No runs in namespace demo.\n")


def test_a_run_is_found_by_its_release(run: Commands) -> None:
    job, *rest = objects("suspended")
    job["metadata"]["labels"] = {"app.kubernetes.io/instance": "release-7"}
    assert run(ApiServer(job, *rest), "status", "release-7").out.startswith("PyTorchJob demo/paused\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("pause", "there is no run `pause` in namespace demo; did you mean `paused`?"),
        ("another", "there is no run `another` in namespace demo; `trainyard status` lists those of a namespace"),
        ("pytorchjobz/paused", "`pytorchjobz` is no kind of runs; did you mean `pytorchjob`?"),
        ("trainjob/paused", "there is no run `trainjob/paused` in namespace demo"),
        ("../secrets/token", "`../secrets` is no kind of runs"),
        ("Paused!", "`Paused!` is not the name of a run"),
    ],
)
@pytest.mark.parametrize("command", ["status", "logs", "top"])
def test_an_unknown_run_ends_with_3_and_a_suggestion(run: Commands, command: str, words: str, message: str) -> None:
    code, out, err = run(server("suspended"), command, words)
    assert (code, out) == (3, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_name_of_two_runs_has_to_be_told_with_its_kind(run: Commands) -> None:
    job, *_ = objects("suspended")
    other = {**job, "apiVersion": "batch/v1", "kind": "Job", "metadata": {**job["metadata"], "uid": "2"}}
    assert "name one of job/paused, pytorchjob/paused" in run(ApiServer(job, other), "status", "paused").err


def test_events_of_a_run_whose_name_begins_alike_are_not_mistaken(run: Commands) -> None:
    job, *rest = objects("refused")
    other = {**job, "metadata": {**job["metadata"], "name": f"{job['metadata']['name']}-2", "uid": "2"}}
    for event in rest:
        if event["kind"] == "Event":
            event["involvedObject"]["name"] = other["metadata"]["name"]
    code, out, _ = run(ApiServer(job, other, *rest), "status", "privileged")
    assert (code, out.splitlines()[1]) == (0, "has no pods, and no controller says why")


def test_the_jobs_of_a_run_are_no_runs(run: Commands) -> None:
    owner = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "tj", "uid": "1"}
    part = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "tj", "namespace": "demo", "ownerReferences": [owner]},
    }
    out = run(ApiServer(*objects("trainjob"), part), "status").out
    assert [line.split()[1] for line in out.splitlines()[1:]] == ["trainjob/tj"]


def test_parts_that_the_user_may_not_read_are_left_out_with_one_line(run: Commands) -> None:
    closed = ("events", "persistentvolumeclaims", "pods/log", "pods/proxy", "workloads")
    code, out, err = run(server("running-metrics", closed=closed), "status", "steps")
    assert code == 0
    assert out.splitlines()[1] == "running: 2 of 2 pods"
    names = "events, persistentvolumeclaims, pods/log, pods/proxy, workloads.kueue.x-k8s.io"
    assert err == f"note: left out, because the user may not read it: {names}\n"


def test_pods_that_the_user_may_not_list_end_the_command(run: Commands) -> None:
    code, out, err = run(server("failed", closed=("pods",)), "status", "crash")
    assert (code, out, err) == (2, "", "Error: the user may not `list` `pods` in namespace demo\n")


def test_a_user_who_may_list_no_runs_learns_it(run: Commands) -> None:
    plurals = tuple({kind.resource.partition(".")[0] for kind in run_kinds()})
    code, _, err = run(ApiServer(closed=plurals), "status")
    assert code == 2
    assert err.startswith("Error: the user may not list runs in namespace demo")


def test_no_secret_is_read(run: Commands) -> None:
    api = server("failed")
    run(api, "status", "crash")
    assert not [path for path in api.requests if "secrets" in path]


def test_a_server_that_does_not_answer_is_one_line(run: Commands) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    kubeconfig = run.folder / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG.format(address=f"http://127.0.0.1:{port}"))
    code, out, err = run.on(str(kubeconfig), "status", "crash")
    assert (code, out) == (2, "")
    assert err == f"Error: the cluster at http://127.0.0.1:{port} does not answer: Connection refused\n"


def test_rejected_credentials_are_one_line(run: Commands) -> None:
    api = server("failed")
    kubeconfig = api.kubeconfig(run.folder)
    Path(kubeconfig).write_text(Path(kubeconfig).read_text().replace("token: mine", "token: expired"))
    code, _, err = run.on(kubeconfig, "status", "crash")
    api.stop()
    assert (code, err) == (2, f"Error: the cluster at {api.address} rejects the credentials: log in again\n")


def test_a_missing_kubeconfig_is_one_line(run: Commands) -> None:
    code, _, err = run.on("absent", "status")
    assert (code, err) == (2, "Error: there is no kubeconfig absent\n")


def test_the_namespace_is_that_of_the_context(run: Commands) -> None:
    api = server("suspended")
    kubeconfig = Path(api.kubeconfig(run.folder))
    kubeconfig.write_text(kubeconfig.read_text().replace("user: me}}]", "user: me, namespace: demo}}]"))
    code, out, _ = run.on(str(kubeconfig), "status", "paused")
    api.stop()
    assert (code, out.splitlines()[0]) == (0, "PyTorchJob demo/paused")


def test_without_the_kubernetes_client_the_error_names_the_package(
    run: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    assert "[status]'" in run.on("absent", "status").err


def test_logs_are_merged_by_time_with_the_ranks(run: Commands) -> None:
    code, out, _ = run(server("failed"), "logs", "crash")
    assert code == 0
    assert out == "[rank0] rank 0 starts\n[rank1] rank 1 starts\n[rank1] no data in /data\n"


def test_the_log_of_one_rank_has_times_on_request(run: Commands) -> None:
    out = run(server("failed"), "logs", "crash", "--rank", "0", "--timestamps").out
    assert out == "[rank0] 2026-11-25T09:48:58.752829551Z rank 0 starts\n"


def test_a_rank_that_the_run_does_not_have_is_wrong_usage(run: Commands) -> None:
    code, _, err = run(server("failed"), "logs", "crash", "--rank", "2")
    assert code == 2
    assert "--rank 2: the run has ranks 0 to 1" in err


def test_the_log_of_the_failed_rank_can_be_diagnosed(run: Commands) -> None:
    code, out, err = run(server("failed"), "logs", "crash", "--failed")
    assert (code, out) == (0, "[rank1] rank 1 starts\n[rank1] no data in /data\n")
    assert err == "note: rank 1 (crash-worker-0) failed first, exit code 1, 2026-11-25T09:49:03Z\n"


def test_a_container_that_started_again_has_the_log_of_its_predecessor(run: Commands) -> None:
    path = "/api/v1/namespaces/demo/pods/loop-worker-0/log"
    logs = {path: "2026-11-25T10:00:05Z starts again\n", f"{path}?previous=true": "2026-11-25T09:49:06Z it ended\n"}
    out = run(server("crash-loop", texts=logs), "logs", "loop", "--failed").out
    assert out == "[rank1] it ended\n"


def test_events_tell_about_a_failed_rank_whose_pod_is_gone(run: Commands) -> None:
    code, out, err = run(server("failed-pods-gone"), "logs", "crash", "--failed")
    assert code == 0
    assert out == "[pod/crash-worker-0/] rank 1 starts\n[pod/crash-worker-0/] no data in /data\n"
    assert "its log is gone" in err


def test_a_run_without_logs_ends_with_3(run: Commands) -> None:
    code, out, err = run(server("suspended"), "logs", "paused")
    assert (code, out) == (3, "")
    assert err == "Error: `paused` has no log; `trainyard status paused` tells why\n"


def test_a_run_without_a_failure_has_no_failed_rank(run: Commands) -> None:
    code, _, err = run(server("running"), "logs", "steps", "--failed")
    assert code == 3
    assert "no rank of PyTorchJob demo/steps has failed: running" in err


def test_log_lines_as_json_have_time_pod_and_ranks(run: Commands) -> None:
    first = run(server("failed"), "logs", "crash", "--output-format", "json").out.splitlines()[0]
    time = "2026-11-25T09:48:58.752829551Z"
    assert json.loads(first) == {"time": time, "pod": "crash-master-0", "ranks": [0, 0], "line": "rank 0 starts"}


def test_ranks_have_colours_on_request_and_control_characters_never_reach_the_terminal(run: Commands) -> None:
    path = "/api/v1/namespaces/demo/pods/crash-master-0/log"
    out = run(
        server("failed", texts={path: "2026-11-25T09:49:06Z a\x1b[2Jb\n"}), "logs", "crash", "--color", "always"
    ).out
    assert out.startswith("\x1b[36m[rank0]\x1b[0m a\\x1b[2Jb")


def test_the_log_of_a_run_that_has_ended_is_followed_to_its_end(run: Commands) -> None:
    out = run(server("failed"), "logs", "crash", "--follow").out
    assert sorted(out.splitlines()) == ["[rank0] rank 0 starts", "[rank1] no data in /data", "[rank1] rank 1 starts"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("logs", "crash", "--failed", "--follow"), "--failed chooses the rank"),
        (("logs", "crash", "--since", "soon"), "`soon` is no time; write it as 90s, 5m, 2h or 1d"),
        (("status", "crash", "--all-namespaces"), "--all-namespaces lists runs"),
    ],
)
def test_wrong_usage_ends_with_2(run: Commands, words: tuple[str, ...], message: str) -> None:
    code, _, err = run(server("failed"), *words)
    assert code == 2
    assert message in err


def test_top_prints_once_in_a_pipe(run: Commands) -> None:
    assert run(server("running-metrics"), "top", "steps").out.splitlines()[0] == "PyTorchJob demo/steps"


def test_top_on_a_terminal_ends_with_the_run(tmp_path: Path) -> None:
    api = server("failed")
    command = [
        sys.executable,
        "-m",
        "trainyard",
        "top",
        "crash",
        "-n",
        "demo",
        "--kubeconfig",
        api.kubeconfig(tmp_path),
    ]
    code, shown = _on_a_terminal(command, {"NO_PROXY": "127.0.0.1", "TERM": "xterm", "COLUMNS": "80", "LINES": "20"})
    api.stop()
    assert code == 1
    assert "failed: rank 1 (crash-worker-0) failed first, exit code 1" in shown


def _on_a_terminal(command: list[str], variables: dict[str, str]) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **variables}
    ) as child:
        os.close(theirs)
        shown = b"".join(_read(ours))
    os.close(ours)
    return child.returncode, shown.decode()


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        # Linux reports the end of a terminal as an error.
        except OSError:
            return
        if not data:
            return
        yield data


def test_kubectl_finds_the_plugin_by_its_name() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["kubectl-trainyard"] == scripts["trainyard"]


@pytest.mark.parametrize("command", ["plan", "doctor"])
@pytest.mark.parametrize("option", ["--output-format", "--format"])
def test_plan_and_doctor_take_the_format_by_both_names(
    command: str, option: str, run: Commands, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(run.folder)
    Path("run.log").write_text("step 1\n")
    words = {
        "plan": ["--nodes", "1", "--model", "mistral-7b", "--gpu", "h100-sxm", "--fabric", "8x400"],
        "doctor": ["run.log"],
    }[command]
    assert main.main([command, *words, option, "json"]) == 0
    json.loads(capfd.readouterr().out)
