"""The first error of a failed run, in what the nodes write to stderr in this order."""

from __future__ import annotations

import pytest

from trainyard.commands.local.first_error import ErrorLog

NOTICED = (
    "E1126 16:36:39.601000 11206 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank"
)
LOST = "[rank0]: RuntimeError: [torch/gloo/transport/tcp/pair.cc:525] Connection closed by peer [127.0.0.1]:17017"
TORCHRUN = f"""\
{NOTICED}
Traceback (most recent call last):
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 12)
  error_file: <N/A>
"""
KILLED = TORCHRUN.replace(": 1 (pid", ": -9 (pid")
RAISED = (
    "Exception raised from sendBytes at /pytorch/torch/csrc/distributed/c10d/Utils.hpp:757 (most recent call first):"
)
CHAINED = "The above exception was the direct cause of the following exception:"
UNREACHABLE = (
    "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the store has failed."
)


def first(*written: tuple[str, str]) -> str | None:
    """Return the node and the text of the first error in texts of nodes."""
    log = ErrorLog()
    for node, text in written:
        for line in text.splitlines():
            log.add(node, line)
    found = log.first()
    return f"{found.node} {found.text}" if found else None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ((("a", f"usage: train\ntrainer: error: --epochs is 0\n{TORCHRUN}"),), "a trainer: error: --epochs is 0"),
        ((("a", f"{LOST}\n{TORCHRUN}"), ("b", f"[rank1]: ValueError: no\n{TORCHRUN}")), "b [rank1]: ValueError: no"),
        ((("b", "gives up"), ("a", f"[rank0]:   File 'a.py'\n[rank0]:     wait()\n{LOST}\n{TORCHRUN}")), "b gives up"),
        ((("a", f"no data here\n[W1126 12:00:00 ProcessGroup.cpp] late\n{TORCHRUN}"),), "a no data here"),
        ((("a", f"KeyError: 'old'\n{NOTICED}\nKeyError: 'new'\n{TORCHRUN}"),), "a KeyError: 'new'"),
        ((("a", f"{LOST}\n{KILLED}"),), "a rank 1: Signal 9 (SIGKILL) received by PID 12"),
        ((("a", "torch.OutOfMemoryError: CUDA out of memory"),), "a torch.OutOfMemoryError: CUDA out of memory"),
        (
            (
                ("b", f"gives up\n{TORCHRUN}"),
                ("a", f"{RAISED}\nframe #3: _start\n<omitting python frames>\n{CHAINED}\n{UNREACHABLE}"),
            ),
            "b gives up",
        ),
        ((("a", UNREACHABLE),), f"a {UNREACHABLE}"),
        ((("a", ""),), None),
    ],
    ids=[
        "argument",
        "lost peer",
        "message beside a lost peer",
        "message",
        "last attempt",
        "killed",
        "without a launcher",
        "launcher beside a message",
        "launcher",
        "silent",
    ],
)
def test_the_error_of_the_rank_that_failed_first_is_found(
    written: tuple[tuple[str, str], ...], expected: str | None
) -> None:
    assert first(*written) == expected


def test_an_error_long_before_the_end_is_not_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    log, clock = ErrorLog(), iter([0.0, 60.0, 61.0])
    monkeypatch.setattr("trainyard.commands.local.first_error.time.monotonic", lambda: next(clock))
    for line in ("OSError: no space, tries again", "gives up", NOTICED):
        log.add("a", line)
    found = log.first()
    assert found is not None
    assert found.text == "gives up"
