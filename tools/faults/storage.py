"""Faults of the volume with the checkpoints."""

from __future__ import annotations

from tests.harness.cluster.cluster import SHARED_PATH
from tools.faults.injection import Injection, lasting, temporary
from tools.faults.pods import kill_rank
from tools.faults.runners import Runner
from tools.faults.sandbox import CHECKPOINTS, Sandbox

BALLAST = "ballast"
# Like a program that writes more than the volume holds: space that becomes free is used within a millisecond.
FILL = """
open(F, ">>", $ARGV[0]); $zeros = "\\0" x 65536; $end = time + $ARGV[1];
while (time < $end) { defined(syswrite(F, $zeros)) or select(undef, undef, undef, 0.001) }
"""


def fill_volume(seconds: float) -> Injection:
    """Fill the volume of the checkpoints for a while."""

    def inject(sandbox: Sandbox, _runner: Runner) -> float:
        ballast = f"{sandbox.local_folder}/{BALLAST}"
        with temporary(
            lambda: sandbox.on_node(sandbox.local_node, "perl", "-e", FILL, ballast, str(seconds)),
            lambda: sandbox.on_node(sandbox.local_node, "rm", "-f", ballast),
        ) as injected:
            return injected

    return inject


def freeze_volume(seconds: float) -> Injection:
    """Let each write to the volume of the checkpoints wait, also for SIGKILL, as a server of files that hangs does."""

    def inject(sandbox: Sandbox, _runner: Runner) -> float:
        def fsfreeze(option: str) -> None:
            sandbox.on_node(sandbox.local_node, "fsfreeze", option, sandbox.local_folder)

        return lasting(seconds, lambda: fsfreeze("--freeze"), lambda: fsfreeze("--unfreeze"))

    return inject


def tear_checkpoint(sandbox: Sandbox, runner: Runner) -> float:
    """Cut the newest checkpoint in half, as a file system that loses its last writes does, and kill a rank."""
    folder = sandbox.host_folder(CHECKPOINTS)
    torn = runner.newest_checkpoint(folder)
    # On a node, where root may write files of the pods' user.
    path = f"{SHARED_PATH}/{folder.name}/{torn.relative_to(folder)}"
    sandbox.on_node(sandbox.cluster.workers[0], "truncate", f"--size={torn.stat().st_size // 2}", path)
    return kill_rank(sandbox, runner)
