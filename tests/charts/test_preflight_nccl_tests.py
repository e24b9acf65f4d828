"""nccl-tests in the preflight: parsing of their JSON, commands on other nodes, and error messages."""

from __future__ import annotations

import errno
import json
import os
import shlex
import socket
import struct
import subprocess
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from threading import Thread
from typing import Any

import nccl_tests
import pytest
import remote

from tests.harness.ports import free_port

# As multiprocessing sends a message: its length, then its bytes.
LONGEST_ANSWER = struct.pack("!i", 256) + b"x" * 256
SUMS = nccl_tests.Sums(first=8, last=32, factor=2, warm_up=1, iterations=2)


def result(size: int, *, busbw: float, nwrong: float = 0) -> dict[str, Any]:
    """Return a row as src/util.cu of nccl-tests v2.19.6 writes it, with a faster out-of-place result."""
    place = {"time": 20.5, "alg_bw": busbw / 1.5, "bus_bw": busbw, "nwrong": nwrong}
    return {
        "size": size,
        "count": size // 4,
        "type": "float",
        "redop": "sum",
        "root": "    -1",
        "out_of_place": {**place, "bus_bw": 2 * busbw, "nwrong": 0.0},
        "in_place": place,
        "actual_iterations": 2,
        "experiment_name": "AllReduce",
    }


def mpirun(folder: Path, *results: dict[str, Any], status: int = 0) -> nccl_tests.Meter:
    """Return a meter whose mpirun prints these results, whatever its arguments."""
    report = folder / "report.json"
    report.write_text(json.dumps({"version": 3, "results": results}))
    return meter("sh", "-c", f"echo of the program >&2; cat {report}; exit {status}")


def meter(*words: str) -> nccl_tests.Meter:
    """Return a meter of two nodes with two processes each, which runs this command."""
    programs = nccl_tests.Programs([*words], ["all_reduce_perf"], 29401, Path("key"))
    return nccl_tests.Meter(programs, ["check-0.check", "check-1.check"], 2)


def test_rows_are_read_from_the_in_place_results(tmp_path: Path) -> None:
    rows = list(mpirun(tmp_path, result(16, busbw=100.0), result(32, busbw=300.0)).sweep(SUMS))

    assert rows == [
        {"bytes": size, "time_us": 20.5, "algbw": round(busbw / 1.5, 3), "busbw": busbw, "wrong": 0}
        for size, busbw in ((16, 100.0), (32, 300.0))
    ]


def test_wrong_sums_are_reported_although_the_program_fails(tmp_path: Path) -> None:
    (row,) = mpirun(tmp_path, result(32, busbw=300.0, nwrong=5.0), status=1).sweep(SUMS)

    assert row["wrong"] == 5


def test_results_that_end_before_the_last_size_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"measures at most 16 bytes .* and the last size is 32: set sizes\.end"):
        list(mpirun(tmp_path, result(16, busbw=300.0)).sweep(SUMS))


def test_the_error_of_a_failing_program_is_quoted() -> None:
    with pytest.raises(RuntimeError, match=r"in check-0 and check-1 ended with status 3 .* v2\.18\.5 .*: no GPU here"):
        list(meter("sh", "-c", "echo no GPU here >&2; exit 3").sweep(SUMS))


@pytest.mark.parametrize("report", ["", '{"version": 3}', '{"version": 3, "results": [{"size": 8,'])
def test_a_truncated_report_has_no_rows(report: str) -> None:
    assert nccl_tests.read(report) == []


def test_an_image_without_mpirun_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"no-mpirun cannot be started in this image"):
        list(meter("no-mpirun").sweep(SUMS))


def test_pairs_are_reported_by_node_and_not_by_position_in_the_order(tmp_path: Path) -> None:
    order = [1, 0]

    assert mpirun(tmp_path, result(32, busbw=300.0)).pairs([(0, 1)], order, SUMS) == {(0, 1): 300.0}


def test_a_command_runs_on_the_node_and_its_output_is_returned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, key = free_port(), tmp_path / "key"
    key.write_bytes(b"of this preflight")
    remote.serve(port, key)

    assert remote.call("localhost", port, key.read_bytes(), 'echo "it\'s here"; exit 3') == 3
    assert capsys.readouterr().err == "it's here\n"


def test_an_unreachable_node_is_named(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"of this preflight")
    agent = shlex.split(remote.agent(free_port(), key))

    finished = subprocess.run([*agent, "localhost", "true"], capture_output=True, text=True, check=False)

    assert finished.returncode == 255
    assert finished.stderr == "preflight: error: localhost cannot run a command: [Errno 111] Connection refused\n"


def test_a_command_without_the_key_is_not_run(tmp_path: Path) -> None:
    port, key, proof = free_port(), tmp_path / "key", tmp_path / "proof"
    key.write_bytes(b"of this preflight")
    remote.serve(port, key)

    with pytest.raises(AuthenticationError):
        remote.call("localhost", port, b"of another", f"touch {proof}")
    # The next caller with the key is served.
    assert remote.call("localhost", port, key.read_bytes(), "true") == 0
    assert not proof.exists()


def test_strangers_neither_end_nor_delay_the_agent(tmp_path: Path) -> None:
    port, key = free_port(), tmp_path / "key"
    key.write_bytes(b"of this preflight")
    remote.serve(port, key)

    with socket.create_connection(("localhost", port)), socket.create_connection(("localhost", port)) as browser:
        browser.sendall(b"GET / HTTP/1.1\r\n\r\n")
        # The agent has read the request when it closes the connection.
        with suppress(ConnectionResetError):
            while browser.recv(1024):
                pass
        # The other stranger is connected and still silent.
        assert remote.call("localhost", port, key.read_bytes(), "true") == 0


def test_a_stranger_that_sends_a_byte_now_and_then_loses_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MOST_STRANGERS", 1)
    monkeypatch.setattr(remote, "AUTHENTICATION_SECONDS", 1)
    port, key = free_port(), tmp_path / "key"
    key.write_bytes(b"of this preflight")
    remote.serve(port, key)

    def trickle(stranger: socket.socket) -> None:
        with suppress(OSError):
            for byte in LONGEST_ANSWER:
                stranger.sendall(bytes([byte]))
                time.sleep(0.05)

    with socket.create_connection(("localhost", port)) as slow:
        Thread(target=trickle, args=(slow,), daemon=True).start()
        begun = time.monotonic()
        assert remote.call("localhost", port, key.read_bytes(), "true") == 0

    assert time.monotonic() - begun < len(LONGEST_ANSWER) * 0.05 / 2


def test_the_agent_goes_on_after_a_connection_that_it_could_not_accept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remote, "PAUSE_SECONDS", 0.01)
    failures = [OSError(errno.EMFILE, os.strerror(errno.EMFILE)), ConnectionAbortedError()]

    class Failing(Listener):
        def accept(self) -> Any:
            if failures:
                raise failures.pop()
            return super().accept()

    monkeypatch.setattr(remote, "Listener", Failing)
    port, key = free_port(), tmp_path / "key"
    key.write_bytes(b"of this preflight")
    remote.serve(port, key)

    assert remote.call("localhost", port, key.read_bytes(), "true") == 0
    assert "preflight: cannot accept a connection: [Errno 24] Too many open files" in capsys.readouterr().err
