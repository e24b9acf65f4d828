"""A kind cluster by name: its folder, its state, its creation and its removal."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import filelock
import yaml
from tenacity import (
    Retrying,
    retry_if_exception_type,
    retry_if_result,
    stop_after_attempt,
    stop_after_delay,
    wait_fixed,
)

from tests.harness.cluster import cache, host, progress
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.tools import binary

DEFAULT_NAME = "trainyard"
WORKERS = 2
# The host folder under the `shared` StorageClass, as every node sees it.
SHARED_PATH = "/srv/shared"
# The unpacked image layers of this machine, as every node sees them.
LAYERS_PATH = "/srv/layers"
LABEL = "io.x-k8s.kind.cluster"


@dataclass(frozen=True)
class Cluster:
    """The name of a cluster, which determines the folder of this machine that holds the cluster's files."""

    name: str = DEFAULT_NAME

    def __post_init__(self) -> None:
        # Nodes are named after the cluster, and a host name has at most 63 characters.
        if re.fullmatch(r"[a-z]([a-z0-9-]{0,28}[a-z0-9])?", self.name) is None:
            raise ClusterError(
                f"{self.name!r} cannot name a cluster",
                hint="write at most 30 lower-case letters, digits and dashes, such as --name trainyard-2",
            )

    @property
    def folder(self) -> Path:
        """The kubeconfig, the shared volumes and the completion record; `down` removes the whole folder."""
        return cache.root() / "clusters" / self.name

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig; the user's own file is never touched."""
        return self.folder / "kubeconfig"

    @property
    def loaded(self) -> Path:
        """A file for each image that a node has from unpacked layers; no such folder where nodes import images."""
        return self.folder / "loaded"

    @property
    def network(self) -> str:
        """The container engine's network of the nodes: one for each cluster, so that `down` can remove it."""
        return f"trainyard-{self.name}"

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the node containers, which are also the Kubernetes nodes' names: the control plane first."""
        workers = [f"{self.name}-worker{number if number > 1 else ''}" for number in range(1, WORKERS + 1)]
        return (f"{self.name}-control-plane", *workers)

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the nodes that run ordinary pods."""
        return self.node_names[1:]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the cluster against other processes that create, load or remove it."""
        lock = cache.lock(f"cluster-{self.name}")
        try:
            with lock.acquire(blocking=False):
                yield
        except filelock.Timeout as error:
            raise ClusterError(
                f"another process is working on cluster {self.name!r}", hint="wait for it to end, then run this again"
            ) from error

    def record(self, engine: Engine) -> None:
        """Record that creation has finished; without this file the nodes are leftovers of an interrupted run."""
        partial = self._record.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(engine)))
        partial.replace(self._record)

    def engine(self) -> Engine | None:
        """The engine that runs this cluster, or None when creation never finished."""
        try:
            return Engine(**json.loads(self._record.read_text()))
        except FileNotFoundError:
            return None

    @property
    def _record(self) -> Path:
        return self.folder / "engine.json"

    @property
    def _recreate_hint(self) -> str:
        return f"python -m tests.harness up --name {self.name} --renew (everything in the cluster is lost)"

    def states(self, engine: Engine) -> dict[str, str]:
        """State of each node container that exists, such as `running`, `exited` or `paused`."""
        nodes = engine.check("ps", "--all", "--quiet", "--filter", f"label={LABEL}={self.name}").split()
        if not nodes:
            return {}
        listed = engine.check("inspect", "--format", "{{.Name}} {{.State.Status}}", *nodes)
        return {name.lstrip("/"): state for name, state in (line.split() for line in listed.splitlines())}

    def volumes(self, engine: Engine) -> list[str]:
        """Return the volumes that the engine does not remove with the nodes: on Podman kind creates one for each."""
        listings = (engine.check("volume", "ls", "--quiet", "--filter", f"label={node}") for node in self.node_names)
        return [volume for listing in listings for volume in listing.split()]

    def start_stopped_nodes(self, engine: Engine) -> bool:
        """Start nodes that a reboot or a person has stopped, and return true if there were any.

        Raises `ClusterError` when a node does not exist any more.
        """
        states = self.states(engine)
        if missing := set(self.node_names) - set(states):
            raise ClusterError(
                f"cluster {self.name!r} has lost its nodes {', '.join(sorted(missing))}", hint=self._recreate_hint
            )
        for node, state in states.items():
            # Running nodes too: an engine that died together with its containers still reports them as running.
            command = {"running": ("exec", node, "true"), "paused": ("unpause", node)}.get(state, ("start", node))
            if engine.run(*command).returncode != 0:
                raise ClusterError(f"node {node} is {state} and cannot be started", hint=self._recreate_hint)
        return set(states.values()) != {"running"}

    def create(self, engine: Engine, *, image: str, published: bool, layers: Path | None, api_port: int) -> None:
        """Create the nodes with kind; leftovers of an interrupted run under this name are removed first.

        Nodes mount the folder `layers`, and then use the image layers that are unpacked there.
        """
        self.remove(engine)
        shared = self.folder / "shared"
        shared.mkdir(parents=True)
        # Pods of any user write here, as on a file server without root squash.
        shared.chmod(0o777)
        mounts: list[dict[str, Any]] = [{"hostPath": str(shared), "containerPath": SHARED_PATH}]
        if layers:
            self.loaded.mkdir()
            mounts.append({"hostPath": str(layers), "containerPath": LAYERS_PATH, "readOnly": True})
        config = self.folder / "kind.yaml"
        config.write_text(yaml.safe_dump(self._config(mounts, published=published, api_port=api_port), sort_keys=False))
        progress.run(
            [
                *(binary("kind"), "create", "cluster", "--name", self.name, "--image", image),
                *("--config", config, "--kubeconfig", self.kubeconfig, "--retain", "--verbosity", "1"),
            ],
            log=f"kind-{self.name}",
            environment=self._kind_environment(engine),
            hint="the nodes are kept for inspection; the next `up` creates them anew",
        )

    def remove(self, engine: Engine) -> None:
        """Remove the nodes, their volumes, their network and the cluster's folder; nothing else."""
        self._end_orphans(engine)
        # Podman times out on a node whose monitor process was killed, and removes it at the second attempt.
        twice = Retrying(stop=stop_after_attempt(2), retry=retry_if_exception_type(ClusterError), reraise=True)
        twice(self._remove_nodes, engine)
        if volumes := self.volumes(engine):
            engine.check("volume", "rm", "--force", *volumes)
        if engine.run("network", "inspect", self.network).returncode == 0:
            engine.check("network", "rm", self.network)
        if rails := engine.check("network", "ls", "--quiet", "--filter", f"label={LABEL}={self.name}").split():
            engine.check("network", "rm", *rails)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remove_nodes(self, engine: Engine) -> None:
        # By the engine, not by kind: an `up` that was killed early leaves containers that kind does not list.
        if nodes := engine.check("ps", "--all", "--quiet", "--filter", f"label={LABEL}={self.name}").split():
            engine.check("rm", "--force", "--volumes", *nodes)

    def _end_orphans(self, engine: Engine) -> None:
        """Kill what an interrupted `up` left running: a node that is starting would appear after the removal."""
        for pid, words in _processes("kind"):
            if self.name in words:
                os.kill(pid, signal.SIGKILL)
        # Starting a container takes seconds and is allowed to finish, so that the engine's records stay consistent. An
        # `exec`, such as kubeadm's, takes minutes and ends with its container.
        wait = Retrying(
            stop=stop_after_delay(30),
            wait=wait_fixed(0.2),
            retry=retry_if_result(bool),
            retry_error_callback=lambda _: None,
        )
        wait(lambda: [words for _, words in _processes(engine.command) if self._starts_node(words)])

    def _starts_node(self, words: list[str]) -> bool:
        return "exec" not in words and not set(self.node_names).isdisjoint(words)

    def exec(self, engine: Engine, node: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a node's container and return the finished process, whatever its exit status."""
        return engine.run("exec", node, *command)

    def check(self, engine: Engine, node: str, *command: str) -> str:
        """Run a command in a node's container and return its output; raise `ClusterError` when it fails."""
        finished = self.exec(engine, node, *command)
        if finished.returncode != 0:
            raise ClusterError(f"`{' '.join(command)}` failed on {node}: {finished.stderr.strip()}")
        return finished.stdout.strip()

    def _kind_environment(self, engine: Engine) -> dict[str, str]:
        name = f"KIND_EXPERIMENTAL_{engine.command.upper()}_NETWORK"
        return engine.kind_environment | {name: self.network}

    def _config(self, mounts: list[dict[str, Any]], *, published: bool, api_port: int) -> dict[str, object]:
        kubelet = {
            "kind": "KubeletConfiguration",
            # A changed Secret or ConfigMap reaches its pod within this time: for example a webhook's certificate.
            "syncFrequency": "5s",
            # cgroupfs works on cgroup v1 and v2; the published image configures containerd for systemd.
            **({} if published else {"cgroupDriver": "cgroupfs"}),
            # Kubernetes 1.30 and older do not know the field; kubeadm then drops it.
            **({"failCgroupV1": False} if host.has_cgroup_v1() else {}),
        }
        # Only the node image of the harness has these patches.
        patches = {"kind": "InitConfiguration", "patches": {"directory": "/etc/kubernetes/patches"}}
        roles = ["control-plane", *["worker"] * WORKERS]
        return {
            "kind": "Cluster",
            "apiVersion": "kind.x-k8s.io/v1alpha4",
            # Without CAP_SYS_RESOURCE the kubelet cannot lower oom_score_adj or set some sysctls; now it may go on.
            "featureGates": {"KubeletInUserNamespace": True},
            "networking": {"apiServerAddress": "127.0.0.1", "apiServerPort": api_port},
            "kubeadmConfigPatches": [
                yaml.safe_dump(patch, sort_keys=False) for patch in (kubelet, *(() if published else (patches,)))
            ],
            "nodes": [{"role": role, "extraMounts": mounts} for role in roles],
        }


def _processes(program: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the id and the arguments of every running process of `program`."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # the process has ended
            continue
        if Path(words[0]).name == program:
            yield int(file.parent.name), words
