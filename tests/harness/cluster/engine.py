"""The container engine of kind's nodes: Docker or Podman, the first that can start a privileged container."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.tools import binary

PROBE_REFERENCE = "localhost/trainyard/probe:1"

# Podman's defaults (crun, systemd cgroups, limits above the host's) fail on hosts with cgroup v1 or without
# CAP_SYS_RESOURCE; these settings work there. They are in a file of the harness; the user's configuration is untouched.
CONSTRAINED_PODMAN = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32000:32000"]

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""


@dataclass(frozen=True)
class Engine:
    """The command of a container engine, and the environment in which it and kind must run."""

    command: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind_environment(self) -> dict[str, str]:
        """The environment for `kind`, which names this engine as its provider."""
        return os.environ | self.environment | {"KIND_EXPERIMENTAL_PROVIDER": self.command}

    def run(self, *arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run one engine command and return the finished process, whatever its exit status.

        Ctrl-C waits for its end and does not reach it: a Podman that is killed while it starts or removes a container
        leaves mounts, addresses and names behind that break the next container.
        """
        command = [self.command, *arguments]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | self.environment,
            start_new_session=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=timeout)
            except KeyboardInterrupt:
                process.communicate()
                raise
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def check(self, *arguments: str) -> str:
        """Run one engine command and return its output; raise `ClusterError` with its message when it fails."""
        finished = self.run(*arguments)
        if finished.returncode != 0:
            raise ClusterError(f"`{self.command} {' '.join(arguments)}` failed: {finished.stderr.strip()}")
        return finished.stdout.strip()

    def run_logged(self, *arguments: str, log: str) -> None:
        """Run one long engine command with its output in the log called `log`."""
        progress.run([self.command, *arguments], log=log, environment=os.environ | self.environment)

    def has_image(self, reference: str) -> bool:
        """Returns true if the engine's store holds this image."""
        return self.run("image", "inspect", reference).returncode == 0


def choose() -> Engine:
    """Return the first engine that starts a privileged container; raise `ClusterError` with all reasons if none."""
    refusals = []
    for candidate in _candidates():
        reason = _refusal(candidate)
        if reason is None:
            return candidate
        refusals.append(f"{candidate.command}{' (constrained)' if candidate.environment else ''}: {reason}")
    raise ClusterError(
        "no container engine can start a privileged container\n" + "\n".join(f"    {line}" for line in refusals),
        hint="start Docker, or install Podman: on Debian or Ubuntu `apt-get install podman runc netavark aardvark-dns`",
    )


def _candidates() -> list[Engine]:
    return [Engine("docker"), Engine("podman"), Engine("podman", {"CONTAINERS_CONF": str(_constrained_podman())})]


def _constrained_podman() -> Path:
    path = cache.root() / "containers.conf"
    if not path.exists() or path.read_text() != CONSTRAINED_PODMAN:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONSTRAINED_PODMAN)
    return path


def _refusal(engine: Engine) -> str | None:
    """Return the reason why this engine cannot run a privileged container, or None if it just did."""
    try:
        loaded = engine.run("load", "--input", str(_probe_archive()), timeout=60)
        if loaded.returncode != 0:
            return _last_line(loaded.stderr)
        started = engine.run("run", "--rm", "--privileged", "--network=none", PROBE_REFERENCE, "-probe", timeout=60)
    except FileNotFoundError:
        return "not installed"
    except subprocess.TimeoutExpired:
        return "did not answer within 60 s"
    return None if started.returncode == 0 else _last_line(started.stderr)


def _probe_archive() -> Path:
    pause = binary("pause")

    def build(folder: Path) -> None:
        layer = Layer.create(folder / "layer.tar", {"pause": pause, "tmp/": None})
        write_archive(folder / "image.tar", [Image(PROBE_REFERENCE, (layer,), entrypoint=("/pause",))])

    return cache.cached("images", f"probe-{cache.digest(pause)}", build) / "image.tar"


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
