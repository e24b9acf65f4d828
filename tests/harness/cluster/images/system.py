"""Images of the cluster's own programs: one shared layer, one reference for each program.

The layer is a small Debian with iptables, iproute2 and a shell, and with every binary in PATH. Because they share it, a
node unpacks it once for the control plane, the network, the storage provisioner and the training operator.
"""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from tests.harness.cluster import cache, progress
from tests.harness.cluster.archive import Image, Layer, write_archive
from tests.harness.cluster.images.rootfs import Rootfs
from tests.harness.cluster.tools import binary, kubernetes, module_version

BASE = Rootfs("base", "bookworm", ("ca-certificates", "iproute2", "iptables", "libc-bin"))
# `kubectl-delivery` copies kubectl: the launcher of the training operator's MPIJob gets kubectl this way.
TOOLS = KUBECTL, LOCAL_PATH, OPERATOR, KUBECTL_DELIVERY = (
    "kubectl",
    "local-path-provisioner",
    "training-operator",
    "kubectl-delivery",
)
# Not preloaded on every node: only the tests of one kind of job, of monitoring, of gangs, or of autoscaling need these.
MPI_OPERATOR = "mpi-operator"
PROMETHEUS = "prometheus"
KUBE_STATE_METRICS = "kube-state-metrics"
SCHEDULER_PLUGINS = "scheduler-plugins"
METRICS_SERVER = "metrics-server"
VOLCANO = ("scheduler", "controller-manager")
KUBEFLOW_TRAINER = ("trainer-controller-manager", "jobset")
KUEUE = "kueue"
# Kueue's chart starts the program by this path, which no value changes.
PATHS = {KUEUE: "manager"}
CONTROL_PLANE = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "etcd",
    "coredns",
    "pause",
)


def reference(image: str) -> str:
    """Return the image reference of one of our programs; its tag is the hash of the binary."""
    return f"localhost/trainyard/{image}:{_program(image).parent.name.rsplit('-', 1)[-1]}"


@functools.cache
def control_plane_references() -> dict[str, str]:
    """Return the references that kubeadm expects for the control plane, from `kubeadm config images list`."""
    command = [str(binary("kubeadm")), "config", "images", "list", "--kubernetes-version", module_version(kubernetes())]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {name.rsplit("/", 1)[-1].split(":")[0]: name for name in listed}


def archive(names: tuple[str, ...]) -> Path:
    """Return an image archive that holds the images of these names."""
    references = {name: control_plane_references().get(name) or reference(name) for name in names}
    binaries = {_path(name): _program(name) for name in names}

    def build(folder: Path) -> None:
        base = BASE.tar()
        with progress.step(f"writing the images of {len(binaries)} cluster programs"):
            layer = Layer.create(folder / "layer.tar", binaries, base=base)
            images = [Image(ref, (layer,), entrypoint=_entrypoint(name)) for name, ref in references.items()]
            write_archive(folder / "images.tar", images)
            layer.path.unlink()

    key = cache.digest(BASE.key, *references.values(), *(path.parent.name for path in binaries.values()))
    return cache.cached("images", f"system-{names[0]}-{key}", build, keep_others=False) / "images.tar"


def _path(image: str) -> str:
    return PATHS.get(image, f"usr/local/bin/{_program(image).name}")


def _program(image: str) -> Path:
    return binary(KUBECTL if image == KUBECTL_DELIVERY else image)


def _entrypoint(image: str) -> tuple[str, ...]:
    program = f"/{_path(image)}"
    return ("cp", program, "/opt/kube/kubectl") if image == KUBECTL_DELIVERY else (program,)
