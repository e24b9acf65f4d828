"""The transport in the log is the one that carries the collectives."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
import torch

from trainer.runtime.distributed import World
from trainer.runtime.interfaces import interfaces_of_connections
from trainer.runtime.launch import Launch
from trainer.runtime.transport import nccl_transports, transport_advice

CONNECTED = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
    print("connected", flush=True)
    sys.stdin.read()
"""
NODE = "gpu-node-7:4121:4177 [0] NCCL INFO "


@pytest.mark.parametrize(
    ("lines", "transports"),
    [
        (["Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"], {"p2p"}),
        (["Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"], {"p2p"}),
        (["Channel 01 : 0[0] -> 1[1] via SHM/direct/direct"], {"shm"}),
        (["Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0"], {"net/Socket"}),
        (["Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(0)/GDRDMA"], {"net/IB"}),
        (["Channel 00/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/2/GDRDMA"], {"net/IBext_v8"}),
        (["Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA"], {"net/AWS-Libfabric"}),
        (
            [
                "Channel 02/0 : 7[7] -> 8[0] [receive] via NET/IB/0(15)/GDRDMA/Shared",
                "Channel 02/0 : 8[0] -> 9[1] via P2P/CUMEM",
            ],
            {"net/IB", "p2p"},
        ),
        (
            [
                "NCCL version 2.27.5+cuda12.9",
                "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.7<0>",
                "Using network IB",
                "ncclCommInitRank comm 0x55d1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 - Init COMPLETE",
            ],
            set(),
        ),
    ],
)
def test_nccl_s_log_shows_the_transport_of_each_channel(lines: list[str], transports: set[str]) -> None:
    assert nccl_transports("".join(f"{NODE}{line}\n" for line in lines)) == transports


@pytest.mark.parametrize(
    ("backend", "size", "log", "advised"),
    [
        ("nccl", 2, None, True),
        ("nccl", 2, Path("nccl.log"), False),
        ("nccl", 1, None, False),
        ("gloo", 2, None, False),
    ],
)
def test_an_unknown_transport_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, backend: str, size: int, log: Path | None, advised: bool
) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "WARN")
    world = World(launch=Launch(size=size), backend=backend, device=torch.device("cpu"))
    advice = transport_advice(world, log)
    assert (advice is not None) == advised
    if advice:
        assert "because NCCL_DEBUG is set (WARN): unset NCCL_DEBUG, or set NCCL_DEBUG=INFO" in advice


def test_a_connection_is_traced_to_its_interface() -> None:
    before = interfaces_of_connections(excluded_port=0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            assert interfaces_of_connections(excluded_port=0) == before | {"lo"}
            assert interfaces_of_connections(excluded_port=port) == before


def test_connections_of_other_processes_do_not_count() -> None:
    before = interfaces_of_connections(excluded_port=0)
    with subprocess.Popen([sys.executable, "-c", CONNECTED], stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "connected\n"
        assert interfaces_of_connections(excluded_port=0) == before
        other.communicate()
