"""The check of the nodes that charts/training-runtimes starts before the program of a TrainJob."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.charts.helm import CHARTS
from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, torchrun

PROGRAM = CHARTS["training-runtimes"] / "files" / "preflight" / "node_check.py"


def run(*options: str, processes: int = 1) -> tuple[int, str]:
    """Run the program as in its pod, with gloo; returns its exit status and what it prints."""
    environment = {**ENVIRONMENT, "CUDA_VISIBLE_DEVICES": "", "NODE_NAME": "node-7"}
    started = fork(torchrun(processes, [str(PROGRAM), *options]), environment)
    try:
        printed, _ = started.communicate(TIMEOUT_SECONDS)
    finally:
        started.terminate()
    return started.wait(), printed


def test_a_good_node_is_named_with_the_bandwidth_between_its_processes(tmp_path: Path) -> None:
    status, printed = run(f"--folder={tmp_path}", processes=2)

    assert status == 0
    (bandwidth,) = re.findall(
        r"^preflight: node=node-7 processes=2 backend=gloo bus_bandwidth=(\S+) GB/s$", printed, re.M
    )
    assert float(bandwidth) > 0
    assert list(tmp_path.iterdir()) == []


def test_two_nodes_are_also_checked_together() -> None:
    port = free_port()
    pods = [
        fork(
            ["tests.harness.trainer.torchrun", "--nproc-per-node=1", str(PROGRAM)],
            {
                **ENVIRONMENT,
                "CUDA_VISIBLE_DEVICES": "",
                "NODE_NAME": f"node-{number}",
                # As Trainer sets them.
                "PET_NNODES": "2",
                "PET_NODE_RANK": str(number),
                "PET_MASTER_ADDR": "127.0.0.1",
                "PET_MASTER_PORT": str(port),
            },
        )
        for number in range(2)
    ]
    try:
        printed = [pod.communicate(TIMEOUT_SECONDS)[0] for pod in pods]
    finally:
        for pod in pods:
            pod.terminate()

    assert [pod.wait() for pod in pods] == [0, 0]
    for number, text in enumerate(printed):
        assert f"preflight: node=node-{number} processes=1 backend=gloo\n" in text
    network = re.compile(r"^preflight: nodes=2 processes=2 backend=gloo bus_bandwidth=(\S+) GB/s$", re.M)
    assert [len(network.findall(text)) for text in printed] == [1, 0]


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ("--gpus=8", "the pod requests 8 GPUs, PyTorch sees 0: check the driver of the node"),
        ("--folder=/proc/1", "/proc/1 is not writable for user"),
    ],
)
def test_a_fault_is_named_with_its_node(option: str, fault: str) -> None:
    status, printed = run(option)

    assert status == 1
    assert f"preflight: node=node-7 fault: {fault}" in printed
