"""Runs one node on the terminal of this process, for a debugger."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping

from trainyard.commands.local.descendants import Descendants, follow_parent
from trainyard.commands.local.errors import MissingProgramError
from trainyard.commands.local.node import Node
from trainyard.commands.local.processes import Outcome, collected_signals

_TICK_SECONDS = 0.1


def run_attached(node: Node, environment: Mapping[str, str], grace_seconds: float) -> Outcome:
    """Runs a node with the standard streams of this process. When this returns or raises, no process is left.

    Ctrl-C reaches the node through the terminal, and a debugger there may go on. SIGTERM to this process ends the
    node, by SIGKILL after `grace_seconds`. Raises `MissingProgramError` if the program cannot be started.
    """
    with collected_signals() as received:
        family = Descendants()
        try:
            process = subprocess.Popen(node.argv, env={**environment, **node.environment}, preexec_fn=follow_parent)
        except OSError as error:
            raise MissingProgramError(f"{node.argv[0]} cannot be started: {error.strerror}") from None
        try:
            status = _wait(process, received, grace_seconds)
        finally:
            family.kill()
            process.wait()
            family.leave()
    if status and received:
        return Outcome({}, received[-1])
    return Outcome({node.name: status} if status else {}, None)


def _wait(process: subprocess.Popen[bytes], received: list[int], grace_seconds: float) -> int:
    while (status := process.poll()) is None:
        if any(number != signal.SIGINT for number in received):
            process.terminate()
            try:
                return process.wait(grace_seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()
        time.sleep(_TICK_SECONDS)
    return status
