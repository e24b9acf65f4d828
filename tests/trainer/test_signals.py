"""SIGTERM, which Kubernetes sends to stop a pod."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from select import select

import torch

from tests.harness.ports import free_port
from tests.harness.trainer.launch import start, wait_until
from trainer.checkpoint.catalog import list_checkpoints
from trainer.data.batch import Batch, Indices
from trainer.data.loader import BatchLoader
from trainer.data.sampler import GlobalSampler


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_sigterm_ends_a_rank_at_once_during_the_rendezvous(tmp_path: Path) -> None:
    port = free_port()
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    # Threads that a library starts must not receive the signal: its default action has no effect on PID 1.
    waiting = start(tmp_path, environment=launch | {"OMP_NUM_THREADS": "4"}, anew=True)
    waiting.wait_for(lambda: is_listening(port))
    waiting.process.terminate()
    finished = waiting.finish()
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.stderr == ""


def test_sigterm_reaches_a_rank_that_its_supervisor_has_just_forked(tmp_path: Path) -> None:
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    run = start(tmp_path, fault="terminated-as-rank-starts", environment=launch)
    assert run.finish().returncode == 128 + signal.SIGTERM


def test_the_grace_period_does_not_cut_off_a_save_that_has_begun(tmp_path: Path) -> None:
    finished = start(tmp_path, "--grace-seconds=1", fault="terminated-before-slow-save").finish()
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.lines[-1] == "stopped by SIGTERM: step=25 is saved"
    assert [step for step, _ in list_checkpoints(tmp_path)] == [25]


def test_a_save_after_sigterm_that_fails_is_the_error_of_the_run(tmp_path: Path) -> None:
    finished = start(tmp_path, fault="terminated-on-full-disk").finish()
    assert finished.returncode == 1
    assert finished.errors == [
        f"trainer: error: cannot write checkpoint {tmp_path}/step-00000025: File too large",
    ]


class BlockedSignals:
    """Samples that tell whether SIGTERM is blocked where they are read."""

    def __len__(self) -> int:
        return 1

    def take(self, indices: Indices) -> Batch:
        """Returns one sample."""
        blocked = signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        return Batch(torch.tensor([float(blocked)]), torch.zeros(len(indices)))


def test_sigterm_is_blocked_in_loader_workers_before_they_start() -> None:
    loader = BatchLoader(BlockedSignals(), 1, torch.device("cpu"))
    sampler = GlobalSampler(num_samples=1, batch_size=1, seed=0, rank=0, world_size=1)
    _, read = next(loader.load(sampler.rest_of_epoch(0)))
    loader.close()
    assert isinstance(read, Batch)
    assert read.inputs.tolist() == [1]


def test_loader_workers_end_with_a_rank_that_is_killed(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    flags = ("--epochs=100", "--batch-size=1", "--loader-workers=2", f"--events-file={events}")
    run = start(tmp_path / "checkpoints", *flags)
    run.wait_for(lambda: events.exists() and '"event": "step"' in events.read_text())
    # Handles, because the kernel may give the numbers of ended processes to others.
    handles = [os.pidfd_open(process) for process in run.process.family()]
    run.process.send_signal(signal.SIGKILL)
    run.finish()
    wait_until(lambda: len(select(handles, [], [], 0)[0]) == len(handles))
    for handle in handles:
        os.close(handle)


def test_loader_workers_outlive_sigterm_until_the_rank_has_saved(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    # On a busy machine a step and its save can take longer than the default grace period.
    flags = ("--epochs=100", "--batch-size=1", "--loader-workers=2", "--grace-seconds=300", f"--events-file={events}")
    run = start(tmp_path / "checkpoints", *flags)
    run.wait_for(lambda: events.exists() and '"event": "step"' in events.read_text())
    # torchrun's signal reaches the rank, the fork server and its workers.
    processes = run.process.family()
    for process in processes:
        os.kill(process, signal.SIGTERM)
    finished = run.finish()

    assert len(processes) >= 4
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.errors == []
    steps = [event["step"] for event in map(json.loads, events.read_text().splitlines()) if event["event"] == "step"]
    assert [step for step, _ in list_checkpoints(run.directory)] == [steps[-1]]
    wait_until(lambda: not run.process.family())
