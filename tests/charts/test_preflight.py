"""The preflight program with simulated nodes on this machine: its output, its failures, and missing nodes."""

from __future__ import annotations

import argparse
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import measuring
import preflight
import pytest
import roll_call
import transports

from tests.charts.helm import CHARTS
from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, torchrun

PROGRAM = CHARTS["training-job"] / "files" / "preflight" / "preflight.py"
LOG_LINE = "gpu-node-7:4121:4177 [0] NCCL INFO "


def run(nodes: int, *options: str, processes: int = 1) -> list[subprocess.CompletedProcess[str]]:
    """Run the program once for each node, started as in its pod, with gloo."""
    shared = [f"--nodes={nodes}", f"--port={free_port()}", *options]
    started = [
        fork(
            torchrun(processes, [str(PROGRAM), f"--index={index}", *shared]),
            {**ENVIRONMENT, "CUDA_VISIBLE_DEVICES": "", "NODE_NAME": f"node-{index}"},
        )
        for index in range(nodes)
    ]
    try:
        outputs = [node.communicate(TIMEOUT_SECONDS) for node in started]
    finally:
        for node in started:
            node.terminate()
    return [
        subprocess.CompletedProcess(["preflight"], node.wait(), *output)
        for node, output in zip(started, outputs, strict=True)
    ]


def report(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the JSON report, the last line that the first node prints."""
    printed: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return printed


def report_with(**found: Any) -> dict[str, Any]:
    """Return a report of two nodes without faults, updated with the given fields."""
    row = {"bytes": 8, "busbw": 400.0, "wrong": 0}
    return {"nodes": ["a", "b"], "rows": [row], "pairs": [], "slow": [], "unknown": []} | found


def test_three_nodes_report_each_size_the_transport_and_every_pair() -> None:
    first, *others = run(3, "--first-size=1048576", "--last-size=3145728", "--slow-ratio=0.01", processes=2)

    assert first.returncode == 0, first.stderr
    printed = report(first)
    assert (printed["nodes"], printed["world"]) == (["node-0", "node-1", "node-2"], 6)
    assert (printed["backend"], printed["transport"]) == ("gloo", ["tcp/lo"])
    assert [row["bytes"] for row in printed["rows"]] == [2**20, 2 * 2**20, 3 * 2**20]
    for row in printed["rows"]:
        assert row["wrong"] == 0
        assert row["algbw"] == pytest.approx(row["bytes"] / row["time_us"] / 1e3, abs=0.002)
        assert row["busbw"] == pytest.approx(row["algbw"] * 2 * 5 / 6, abs=0.002)
    assert [pair["nodes"] for pair in printed["pairs"]] == [
        ["node-0", "node-1"],
        ["node-0", "node-2"],
        ["node-1", "node-2"],
    ]
    assert all(pair["busbw"] > 0 for pair in printed["pairs"])
    assert (printed["slowest"], printed["verdict"]) == (None, "passed")
    # A table for readers of the log, with a header and a row for each size.
    assert [line.split()[0] for line in first.stdout.splitlines()[:-1]] == ["bytes", "1048576", "2097152", "3145728"]
    assert [(other.returncode, other.stdout) for other in others] == [(0, ""), (0, "")]


def test_two_nodes_that_are_too_slow_fail_and_neither_is_blamed() -> None:
    first, second = run(2, "--last-size=1048576", "--min-bus-bandwidth=100000")

    assert first.returncode != 0
    printed = report(first)
    assert (printed["verdict"], printed["threshold"], printed["slowest"]) == ("failed", 100000, None)
    assert "GB/s of bus bandwidth at 1048576 bytes is below 100000" in first.stderr
    assert "the cause is node-0 or node-1 or the path between them" in first.stderr
    # Only the pod that prints the reason fails.
    assert second.returncode == 0


def test_only_the_last_row_is_compared_with_the_minimum() -> None:
    slow = {"bytes": 1, "busbw": 0.5, "wrong": 0}
    fast = {"bytes": 2, "busbw": 400.0, "wrong": 0}

    assert preflight.judge(report_with(rows=[slow, fast]), 300) == []
    (fault,) = preflight.judge(report_with(rows=[fast, slow]), 300)
    assert fault.startswith("0.500 GB/s of bus bandwidth at 1 bytes is below 300")


def test_a_wrong_sum_fails_whatever_the_bandwidth() -> None:
    wrong = {"bytes": 8, "busbw": 400.0, "wrong": 3}

    assert preflight.judge(report_with(rows=[wrong]), 0) == ["an all-reduce of 8 bytes gave 3 wrong sums"]


def test_a_slow_node_is_named_with_its_measurements_and_fails_the_preflight() -> None:
    found = preflight.compare({(0, 1): 0.02, (0, 2): 0.03, (1, 2): 0.6}, ["a", "b", "c"], 0.5)

    assert found["slowest"]["node"] == "a"
    assert [entry["node"] for entry in found["slow"]] == ["a"]
    assert preflight.judge(report_with(**found), 0) == [
        "a is slow: 0.02 GB/s with b and 0.03 GB/s with c, where the best pair has 0.6 GB/s"
    ]


def test_no_single_node_is_blamed_when_all_are_slow() -> None:
    found = preflight.compare({(0, 1): 20.0, (0, 2): 21.0, (1, 2): 22.0}, ["a", "b", "c"], 0.8)

    (fault,) = preflight.judge(report_with(rows=[{"bytes": 8, "busbw": 19.0, "wrong": 0}], **found), 300)

    assert found["slowest"] is None
    assert "no node stands out, the pairs have 20 to 22 GB/s: check what all nodes share" in fault


@pytest.mark.parametrize(("given", "expected"), [(None, 0.8), (0.0, 0.0), (0.6, 0.6)])
def test_a_ratio_of_0_is_not_the_default(given: float | None, expected: float) -> None:
    assert preflight.slow_ratio(given, "nccl") == expected


@pytest.mark.parametrize(("processes", "expected"), [(1, 0), (2, 100), (8, 175), (16, 187.5)])
def test_bus_bandwidth_follows_the_formula_of_nccl_tests(processes: int, expected: float) -> None:
    assert measuring.bus_bandwidth(100, processes) == expected


@pytest.mark.parametrize(
    ("first", "last", "factor", "sizes"),
    [(1, 1, 2, [1]), (1, 6, 2, [1, 2, 4, 6]), (1, 8, 2, [1, 2, 4, 8]), (4, 100, 5, [4, 20, 100]), (8, 4, 2, [4])],
)
def test_sizes_grow_by_the_factor_up_to_the_last(first: int, last: int, factor: int, sizes: list[int]) -> None:
    assert measuring.sizes(first, last, factor) == sizes


def call(port: int, index: int, *, count: int, seconds: float, answered: Barrier | None = None) -> list[str]:
    """Do one node's part of the roll call; wait until all have `answered`, because the store ends with its host."""
    store = roll_call.meet("localhost", port, is_host=index == 0, seconds=seconds)
    try:
        return roll_call.names(store, index, f"node-{index}", count=count, is_host=index == 0, seconds=seconds)
    finally:
        if answered is not None:
            answered.wait(seconds)


def test_nodes_learn_each_others_names() -> None:
    port, answered = free_port(), Barrier(3)

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda index: call(port, index, count=3, seconds=20, answered=answered), range(3)))

    assert found == [["node-0", "node-1", "node-2"]] * 3


def test_a_missing_node_is_reported_by_all_others() -> None:
    port, answered = free_port(), Barrier(2)

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(call, port, index, count=4, seconds=3, answered=answered) for index in (0, 2)]
        missed = [call.exception() for call in calls]

    assert [(type(error), error.nodes, error.names) for error in missed if isinstance(error, roll_call.Absent)] == [
        (roll_call.Absent, [1, 3], {0: "node-0", 2: "node-2"})
    ] * 2


def test_a_node_with_fewer_gpus_is_reported() -> None:
    port, answered = free_port(), Barrier(2)
    names = ["a", "b"]

    def agree(index: int) -> str:
        store = roll_call.meet("localhost", port, is_host=index == 0, seconds=20)
        with pytest.raises(ValueError, match=r"^a has 8 GPUs; b has 0 GPUs$") as said:
            roll_call.agree(store, index, names, "0 GPUs" if index else "8 GPUs")
        answered.wait(20)
        return str(said.value)

    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(agree, range(2)))) == 2


def test_a_missing_first_node_is_reported_too() -> None:
    with pytest.raises(roll_call.Absent) as missed:
        call(free_port(), 1, count=2, seconds=1)

    assert missed.value.nodes == [0]


@pytest.mark.parametrize(
    ("expect", "names"),
    [
        ("gpu-1,gpu-2,gpu-3", ["gpu-2"]),
        # With more expected nodes than pods, the node of the missing pod is unknown.
        ("gpu-1,gpu-2,gpu-3,gpu-4", ["pod check-1"]),
        ("", ["pod check-1"]),
    ],
)
def test_missing_nodes_are_named_if_the_expected_nodes_are_listed(expect: str, names: list[str]) -> None:
    absent = roll_call.Absent([1], {0: "gpu-1", 2: "gpu-3"})

    assert preflight.absent_names(absent, argparse.Namespace(expect=expect, address="check-0.check")) == names


@pytest.mark.parametrize(("address", "name"), [("check-0.check", "pod check-12"), ("gpu-node-7", "node 12")])
def test_missing_pods_are_named_if_the_first_pod_has_a_name(address: str, name: str) -> None:
    absent = roll_call.Absent([12], {0: "gpu-1"})

    assert preflight.absent_names(absent, argparse.Namespace(expect="", address=address)) == [name]


def test_nccl_s_transports_are_read_from_its_channels(tmp_path: Path) -> None:
    lines = (
        "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.7<0>",
        "Channel 02/0 : 7[7] -> 8[0] [receive] via NET/IB/0(15)/GDRDMA/Shared",
        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA",
        "Channel 02/0 : 8[0] -> 9[1] via P2P/CUMEM",
        "Channel 01 : 0[0] -> 1[1] via SHM/direct/direct",
    )

    # Each process has its own log.
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.log").write_text(f"{LOG_LINE}{line}\n")

    assert transports.nccl_transports(tmp_path) == {"net/IB", "net/AWS-Libfabric", "p2p", "shm"}
