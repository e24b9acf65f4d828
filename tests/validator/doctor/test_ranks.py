"""The first failure of a run of four ranks on two nodes, in each form that its logs have.

Rank 2 may not write a checkpoint; the others lose it and fail seconds later. torchrun wrote the logs, with gloo.
`by-node` is the output of both pods (`--tee 3`), and `by-rank` has the files of `--log-dir`. `merged` mixes both pods
line by line, with the prefix of `kubectl logs --prefix`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose

RANKS = Path(__file__).parent / "ranks"


def _names(result: Diagnosis) -> list[str]:
    return [evidence.cause.name for evidence in result.causes]


@pytest.mark.parametrize("form", ["by-node", "by-rank", "merged"])
def test_the_rank_that_failed_first_is_told_apart_from_those_it_took_down(form: str) -> None:
    result = diagnose([str(RANKS / form)])
    assert _names(result) == ["permission-denied"]
    assert [evidence.cause.name for evidence in result.consequences] == ["gloo-peer-closed"]
    assert result.first is not None
    assert result.first.origin == "rank 2"
    assert sorted(result.taken_down) == ["rank 0", "rank 1"]


def test_a_report_of_a_node_that_lost_its_peers_does_not_win(tmp_path: Path) -> None:
    lines = (RANKS / "by-node" / "llm-worker-0.log").read_text().splitlines()
    (tmp_path / "worker.log").write_text("\n".join(line for line in lines if "[rank2]" in line))
    result = diagnose([str(tmp_path), str(RANKS / "by-node" / "llm-master-0.log")])
    assert result.first is not None
    assert result.first.origin == "rank 2"


def test_the_report_of_a_node_alone_is_not_certain() -> None:
    result = diagnose([str(RANKS / "by-node" / "llm-master-0.log")])
    assert _names(result) == ["gloo-peer-closed"]
    assert result.first is not None
    assert (result.first.origin, result.first.confidence) == ("rank 1", "medium")
    assert "of its node, and the logs show no cause" in result.first.reason


def _lines(folder: Path, **logs: str) -> Diagnosis:
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    return diagnose([str(folder)])


_LOST = "[rank9]: ncclRemoteError: A call failed possibly due to a network error\n"
_OUT_OF_MEMORY = "[rank3]: torch.OutOfMemoryError: CUDA out of memory.\n"
_CLOSED = "NCCL WARN NET/IB : Connection closed by remote peer llm-0\n"


@pytest.mark.parametrize(
    "worker",
    [
        f"[pod/llm-worker-1/pytorch] {_LOST}[pod/llm-worker-1/pytorch] {_CLOSED}",
        f"{_LOST}llm-worker-1:52:61 [1] {_CLOSED}",
        f"{_LOST}llm-worker-1.llm.demo.svc:52:61 [1] {_CLOSED}llm-worker-1:52:61 [1] {_CLOSED}",
    ],
    ids=["prefixed", "own-log", "with-domain"],
)
def test_a_pod_whose_rank_is_named_is_not_named_again(worker: str, tmp_path: Path) -> None:
    result = _lines(tmp_path, master=_OUT_OF_MEMORY, worker=worker)
    assert result.first is not None
    assert result.first.origin == "rank 3"
    assert result.taken_down == ["rank 9"]


_INIT = (
    "{host}:{process}:61 [1] NCCL INFO comm 0x55 rank {rank} nranks 4 cudaDev 1 nvmlDev 1 busId {bus} - Init COMPLETE\n"
)
_XID = "[373871.35] NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


def _started(*ranks: tuple[str, int, int, str]) -> str:
    return _LOST + "".join(
        _INIT.format(host=host, process=process, rank=rank, bus=bus) for host, process, rank, bus in ranks
    )


def test_a_gpu_of_the_kernels_log_leads_to_the_rank_that_nccl_started_on_it(tmp_path: Path) -> None:
    result = _lines(tmp_path, dmesg=_XID, worker=_started(("gpu-a", 52, 1, "41000"), ("gpu-a", 53, 2, "c1000")))
    assert _names(result) == ["xid-off-bus"]
    assert result.first is not None
    assert (result.first.origin, result.first.file) == ("rank 1", str(tmp_path / "dmesg.log"))


def test_a_gpu_that_several_nodes_have_is_told_apart_by_the_host(tmp_path: Path) -> None:
    worker = _started(("gpu-a", 52, 1, "41000"), ("gpu-b", 52, 5, "41000"))
    first = _lines(tmp_path, dmesg=f"Dec  2 11:38:47 gpu-b kernel: {_XID}", worker=worker).first
    assert first is not None
    assert first.origin == "rank 5"


def test_a_gpu_of_no_known_rank_is_named_itself(tmp_path: Path) -> None:
    first = _lines(tmp_path, dmesg=f"Dec  2 11:38:47 gpu-b kernel: {_XID}", worker=_LOST).first
    assert first is not None
    assert first.origin == "GPU 0000:41:00 of gpu-b"


def test_a_process_that_the_kernel_killed_leads_to_its_rank(tmp_path: Path) -> None:
    dmesg = "[Wed Jul 31 23:14:18 2024] Memory cgroup out of memory: Killed process 14750 (python3) total-vm:9kB\n"
    report = (
        "Root Cause (first observed failure):\n[0]:\n  time      : 2024-07-31_23:14:19\n"
        "  rank      : 6 (local_rank: 6)\n  exitcode  : -9 (pid: 14750)\n"
    )
    result = _lines(tmp_path, dmesg=dmesg, worker=_LOST + report)
    assert _names(result) == ["host-out-of-memory"]
    assert result.causes[0].origins == ["rank 6"]
