"""The program of `helm test`, with two processes on this machine: what it prints, and when it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import preflight
import pytest

from tests.trainer.launch import ENVIRONMENT, TIMEOUT_SECONDS

from .helm import CHARTS

PROGRAM = CHARTS["training-job"] / "files" / "preflight.py"
NODE = "gpu-node-7:4121:4177 [0] NCCL INFO "


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program under torchrun, with two processes on gloo."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.run(
        [sys.executable, *torchrun, str(PROGRAM), *arguments],
        env={**ENVIRONMENT, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def report(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one line that the program prints."""
    (line,) = finished.stdout.splitlines()
    printed: dict[str, Any] = json.loads(line)
    return printed


def test_it_reports_both_bandwidths_of_each_size_and_the_transport() -> None:
    finished = run("--max-mebibytes=3")

    assert finished.returncode == 0, finished.stderr
    printed = report(finished)
    assert (printed["worldSize"], printed["backend"], printed["transport"]) == (2, "gloo", ["tcp/lo"])
    assert [row["bytes"] for row in printed["rows"]] == [2**20, 2 * 2**20, 3 * 2**20]
    assert all(row["correct"] for row in printed["rows"])
    # Between two processes the bus carries what the algorithm does.
    assert all(row["busBandwidth"] == row["algorithmBandwidth"] > 0 for row in printed["rows"])
    assert printed["passed"]


def test_it_fails_when_the_last_size_is_too_slow_and_prints_what_it_measured() -> None:
    finished = run("--max-mebibytes=1", "--min-bus-bandwidth=100000")

    assert finished.returncode != 0
    assert not report(finished)["passed"]
    assert "preflight: error: " in finished.stderr
    assert "GB/s of bus bandwidth at 1048576 bytes is below 100000" in finished.stderr


def test_only_the_last_row_is_held_against_the_minimum() -> None:
    slow: dict[str, Any] = {"bytes": 1, "busBandwidth": 0.5, "correct": True}
    fast: dict[str, Any] = {"bytes": 2, "busBandwidth": 400.0, "correct": True}

    assert preflight.judge([slow, fast], 300) == []
    assert preflight.judge([fast, slow], 300) == ["0.500 GB/s of bus bandwidth at 1 bytes is below 300"]


def test_a_wrong_sum_fails_whatever_the_bandwidth() -> None:
    wrong: dict[str, Any] = {"bytes": 8, "busBandwidth": 400.0, "correct": False}

    assert preflight.judge([wrong], 0) == ["an all-reduce of 8 bytes gave a wrong sum"]


@pytest.mark.parametrize(("processes", "expected"), [(1, 0), (2, 100), (8, 175), (16, 187.5)])
def test_the_bus_carries_twice_the_data_but_for_a_share(processes: int, expected: float) -> None:
    assert preflight.bus_bandwidth(100, processes) == expected


@pytest.mark.parametrize(("largest", "sizes"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_sizes_double_up_to_the_largest(largest: int, sizes: list[int]) -> None:
    assert preflight.sizes(largest) == sizes


def test_the_transports_of_nccl_are_those_of_its_channels() -> None:
    lines = (
        "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.7<0>",
        "Channel 02/0 : 7[7] -> 8[0] [receive] via NET/IB/0(15)/GDRDMA/Shared",
        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA",
        "Channel 02/0 : 8[0] -> 9[1] via P2P/CUMEM",
        "Channel 01 : 0[0] -> 1[1] via SHM/direct/direct",
    )

    found = preflight.nccl_transports("".join(f"{NODE}{line}\n" for line in lines))

    assert found == {"net/IB", "net/AWS-Libfabric", "p2p", "shm"}
