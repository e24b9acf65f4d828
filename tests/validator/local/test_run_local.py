"""`trainyard run --local`: its errors, its output, and runs of a few seconds with the real torchrun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.processes import left_behind
from trainyard.cli import main

ROOT = Path(__file__).parents[3]
MARK = "TRAINYARD_TEST_RUN"
# A run takes seconds, or minutes beside the tests on a cluster; after this time it hangs.
TIMEOUT_SECONDS = 400

SUM = """
import json, os, sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
with open(os.path.join(sys.argv[2], f"rank-{dist.get_rank()}.json"), "w") as file:
    json.dump({"total": total.item(), "size": dist.get_world_size(), "cache": os.environ["CACHE"]}, file)
print("total", total.item())
dist.destroy_process_group()
"""
FAIL = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 1:
    raise SystemExit("rank 1 gives up")
dist.all_reduce(torch.zeros(1))
"""
WAIT = """
import time
import torch.distributed as dist

dist.init_process_group("gloo")
# In one write: the processes of a node share a pipe, and the output is not buffered.
print("ready\\n", end="")
time.sleep(600)
"""

Result = tuple[int, str, str]
Command = Callable[..., Result]


@pytest.fixture
def trainyard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command in this process, in an empty folder, for tests that start no run."""
    monkeypatch.chdir(tmp_path)

    def call(values: str, *arguments: str) -> Result:
        Path("run.yaml").write_text(values)
        capfd.readouterr()
        code = main.main(["run", "-f", "run.yaml", *arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


class Runs:
    """Runs the command in its own process, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **texts: str) -> subprocess.Popen[str]:
        """Start the command, with these texts as files."""
        for name, text in texts.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "trainyard", "run", "-f", "run.yaml", "--local", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'validator'}", MARK: str(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def __call__(self, *arguments: str, **texts: str) -> Result:
        """Run the command to its end, and assert that no process is left."""
        return self.finish(self.start(*arguments, **texts))

    def finish(self, process: subprocess.Popen[str]) -> Result:
        """Wait for the end of a command, and assert that no process is left."""
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        assert left_behind(MARK, str(self.folder)) == []
        return process.returncode, out, err

    def stop(self) -> None:
        """Stop processes that a test has not waited for."""
        for process in self._started:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=TIMEOUT_SECONDS)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Runs]:
    """The command in an empty folder."""
    runs = Runs(tmp_path)
    yield runs
    runs.stop()


def test_two_nodes_train_together_with_folders_instead_of_volumes(run: Runs) -> None:
    values = """
    train: {script: sum.py, args: [--out, /checkpoints]}
    env: {CACHE: /scratch/cache}
    scratch: {enabled: true}
    """
    code, out, err = run(run_yaml=values, sum_py=SUM)
    assert code == 0, err
    assert sorted(out.splitlines()) == ["[node-0] total 3.0", "[node-1] total 3.0"]
    for rank in range(2):
        told = json.loads((run.folder / f"runs/run/checkpoints/rank-{rank}.json").read_text())
        assert told == {"total": 3.0, "size": 2, "cache": str(run.folder / f"runs/run/node-{rank}/scratch/cache")}


def test_a_failing_program_fails_the_run_and_its_node_is_named(run: Runs) -> None:
    code, _, err = run(run_yaml="train: {script: fail.py, args: []}", fail_py=FAIL)
    assert code == 1
    assert "[node-1] rank 1 gives up\n" in err
    *_, outcome, last = err.splitlines()
    assert "node-1 ended with status 1" in outcome
    assert last == "first error: [node-1] rank 1 gives up"


def test_the_output_of_one_rank_is_shown_and_that_of_all_ranks_is_kept(run: Runs) -> None:
    values = "{processesPerNode: 2, train: {script: where.py, args: []}}"
    code, out, err = run("--only-rank", "2", run_yaml=values, where_py="import os; print('rank', os.environ['RANK'])")
    assert (code, out) == (0, "[node-1] [rank2] rank 2\n"), err
    written = sorted(path.read_text() for path in run.folder.glob("runs/run/logs/*/*/attempt_0/*/stdout.log"))
    assert written == [f"rank {rank}\n" for rank in range(4)]


def test_a_debugged_program_reads_from_the_terminal(run: Runs) -> None:
    program = """
import os
import torch.distributed as dist

dist.init_process_group("gloo")
size = dist.get_world_size()
breakpoint()
print("end of", os.environ["RANK"], flush=True)
"""
    process = run.start(
        "--debug", run_yaml="{nodes: 2, processesPerNode: 4, train: {script: a.py, args: []}}", a_py=program
    )
    out, err = process.communicate("p 'size', size\nc\n", timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, err
    assert "('size', 1)" in out
    assert out.endswith("end of 0\n")


def test_sigterm_ends_all_processes_of_all_nodes(run: Runs) -> None:
    process = run.start(run_yaml="{processesPerNode: 2, train: {script: wait.py, args: []}}", wait_py=WAIT)
    assert process.stdout is not None
    ready = [process.stdout.readline() for _ in range(4)]
    assert sorted(ready) == ["[node-0] ready\n"] * 2 + ["[node-1] ready\n"] * 2
    process.send_signal(signal.SIGTERM)
    code, _, err = run.finish(process)
    assert code == 128 + signal.SIGTERM
    assert "SIGTERM to all nodes, SIGKILL in 60 s" in err


def test_the_reference_trainer_trains_with_the_chart_s_defaults(run: Runs) -> None:
    code, out, err = run("--set", "train.args=[--epochs, 1, --checkpoint-dir, /checkpoints]", run_yaml="{}")
    assert code == 0, err
    assert "[node-0] finished: epochs=1" in out
    assert any((run.folder / "runs/run/checkpoints").iterdir())


def test_a_closed_output_ends_the_run(run: Runs) -> None:
    values = (
        "{launcher: command, nodes: 1, train: {module: '', command: [python3, -c, 'while True: print(1)'], args: []}}"
    )
    process = run.start(run_yaml=values)
    assert process.stdout is not None
    assert process.stdout.readline() == "[node-0] 1\n"
    process.stdout.close()
    assert process.wait(timeout=TIMEOUT_SECONDS) == 130
    assert left_behind(MARK, str(run.folder)) == []


def test_without_local_the_error_shows_how_to_install_the_run_on_a_cluster(trainyard: Command) -> None:
    code, out, err = trainyard("{}")
    assert (code, out) == (2, "")
    assert "`helm install NAME charts/training-job -f run.yaml`; add --local" in err


def test_a_dry_run_starts_nothing_and_prints_a_shell_script(trainyard: Command, tmp_path: Path) -> None:
    fake = tmp_path / "fake python"
    fake.write_text('#!/bin/sh\necho "$LOG $*" >> "$0.log"\n')
    fake.chmod(0o755)
    values = "{env: {LOG: it's $x}, train: {args: [a b], config: {epochs: 2}}}"
    code, out, err = trainyard(values, "--local", "--dry-run", "--python", str(fake))
    assert code == 0, err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fake python", "run.yaml"]
    subprocess.run(["sh", "-eu", "-c", out], check=True, timeout=TIMEOUT_SECONDS)
    first, second = sorted((tmp_path / "fake python.log").read_text().splitlines())
    assert first.startswith("it's $x -m torch.distributed.run --nnodes=2 --nproc-per-node=1 ")
    config = tmp_path / "runs/run/node-0/etc/trainyard/trainer.json"
    assert first.endswith(f"-m trainer --config {config} a b")
    assert second == first.replace("node-0", "node-1")
    assert json.loads(config.read_text()) == {"epochs": 2}


def test_values_that_the_schema_refuses_are_a_usage_error_with_their_places(trainyard: Command) -> None:
    code, out, err = trainyard("nodes: four\nenv:\n  A: 1\n", "--local", "--set", "trian.args=[]")
    assert (code, out) == (2, "")
    assert "run.yaml:1:8: error HV010 values-refused: `nodes` takes an integer of at least 1" in err
    assert "--set trian.args:1:2: error HV005 values-unknown-key" in err
    assert err.endswith("Error: the chart refuses these values, so there is nothing to run\n")


def test_values_that_a_template_refuses_are_a_usage_error_despite_suppressions(trainyard: Command) -> None:
    code, _, err = trainyard("env:\n  RANK: 1  # trainyard: allow values-refused: it is mine\n", "--local")
    assert code == 2
    assert "run.yaml:2:" in err
    assert "env.RANK: the training operator sets it in every pod" in err


def test_invalid_yaml_is_a_usage_error(trainyard: Command) -> None:
    code, _, err = trainyard("nodes: [", "--local")
    assert code == 2
    assert "run.yaml:1:" in err


def test_findings_for_a_cluster_are_reported_but_do_not_stop_the_run(trainyard: Command) -> None:
    code, out, err = trainyard("nccl:\n  NCCL_SHM_DISABLE: 'true'\n", "--local", "--dry-run")
    assert code == 0
    assert "run.yaml:2:21: error NC005 nccl-word-boolean" in err
    assert "this run would fail on a cluster, with 1 error; `trainyard lint run.yaml` shows the details" in err
    assert "NCCL_SHM_DISABLE=true" in out


def test_later_files_override_earlier_ones_and_set_overrides_files(trainyard: Command) -> None:
    Path("more.yaml").write_text("{nodes: 3, processesPerNode: 3}")
    _, out, err = trainyard("nodes: 4", "-f", "more.yaml", "--set", "processesPerNode=2", "--local", "--dry-run")
    assert "--nnodes=3 --nproc-per-node=2" in out
    assert "run: 3 x 2 processes, volumes in runs/run" in err


@pytest.mark.parametrize(
    ("setting", "reason"),
    [("nodes", "write NAME=VALUE"), ("=1", "write NAME=VALUE"), ("train.args=[", "is not valid YAML")],
)
def test_an_invalid_setting_is_a_usage_error(trainyard: Command, setting: str, reason: str) -> None:
    code, _, err = trainyard("{}", "--local", "--set", setting)
    assert code == 2
    assert reason in err


def test_a_dot_in_a_key_of_a_setting_is_escaped_by_a_backslash(trainyard: Command) -> None:
    setting = r"resources.limits.nvidia\.com/gpu=2"
    _, _, err = trainyard("{}", "--local", "--dry-run", "--set", setting)
    assert "values-unknown-key" not in err


def test_another_kind_is_a_usage_error_that_names_the_supported_kinds(trainyard: Command) -> None:
    code, _, err = trainyard("{kind: MPIJob, train: {command: [train]}}", "--local")
    assert code == 2
    assert "PyTorchJob or TrainJob" in err


def test_the_release_is_named_like_its_file_and_names_its_folder(trainyard: Command) -> None:
    Path("7 My_Run.yaml").write_text("{}")
    code = main.main(["run", "-f", "7 My_Run.yaml", "--local", "--dry-run"])
    assert code == 0
    assert "runs/my-run/checkpoints" in trainyard("{}", "--local", "--dry-run", "--release", "my-run")[1]
    assert "--rdzv-id=run " in trainyard("{}", "--local", "--dry-run")[1]


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without packages."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def test_the_error_without_torch_names_the_command_that_installs_it(trainyard: Command, bare_python: Path) -> None:
    code, _, err = trainyard("train: {script: run.yaml}", "--local", "--python", str(bare_python))
    assert code == 3
    assert f"{bare_python} has no torch: `{bare_python} -m pip install torch` installs it" in err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("values", "arguments", "reason"),
    [
        ("{}", ["--python", "/no/python"], "/no/python cannot be started"),
        ("{}", ["--python", "/bin/false"], "/bin/false does not work as a Python interpreter"),
        ("train: {module: no_such_module.train}", [], "finds no module no_such_module from here"),
        ("train: {script: /app/train.py}", [], "--set train.script=train.py"),
        ("{launcher: command, train: {command: [/opt/train]}}", [], "/opt/train is in the image"),
        (
            "{scratch: {enabled: true}, dataset: {source: s3, volume: scratch, path: a, s3: {url: 's3://b/a'}}}",
            [],
            "put s3://b/a into runs/run/scratch/a",
        ),
    ],
    ids=["no Python", "no Python that works", "module", "script", "program", "data"],
)
def test_a_missing_requirement_has_exit_status_3_and_names_the_remedy(
    trainyard: Command, values: str, arguments: list[str], reason: str
) -> None:
    code, out, err = trainyard(values, "--local", *arguments)
    assert (code, out) == (3, "")
    assert reason in err


def test_existing_data_are_used(trainyard: Command) -> None:
    values = "{scratch: {enabled: true}, dataset: {source: s3, volume: scratch, path: a, s3: {url: 's3://b/a'}}}"
    Path("runs/run/scratch/a").mkdir(parents=True)
    Path("runs/run/scratch/a/1.tar").touch()
    code, _, err = trainyard(values, "--local", "--python", "/no/python")
    assert code == 3
    assert "dataset" not in err


def test_a_folder_that_cannot_be_created_is_a_usage_error(trainyard: Command) -> None:
    values = "{launcher: command, train: {module: '', command: [python3, -c, pass], args: []}}"
    code, _, err = trainyard(values, "--local", "--directory", "run.yaml/x")
    assert code == 2
    assert "--directory:" in err
