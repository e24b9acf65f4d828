"""A control plane of the components of a kind node, as plain processes of this machine."""

from __future__ import annotations

import json
import secrets
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.response import addinfourl as Answer  # noqa: N812

from tests.harness.cluster import api
from tests.harness.cluster.tools import binary
from tests.harness.ports import free_port
from tools.scale.processes import Processes

START_SECONDS = 120
# Each has its own token, and with it its own place in the API server's priority and fairness.
USERS = {
    "admin": "system:masters",
    # KWOK stands for a thousand kubelets, each of which has a client of its own.
    "kwok": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
}


@dataclass(frozen=True)
class Limits:
    """The limits of the clients of a control plane, in requests per second and as the largest burst."""

    name: str
    controllers: tuple[int, int]
    scheduler: tuple[int, int]


# Sources: `kube-controller-manager --help` and KubeSchedulerConfiguration v1, `clientConnection`.
STOCK = Limits("stock", controllers=(20, 30), scheduler=(50, 100))
RAISED = Limits("raised", controllers=(500, 1000), scheduler=(500, 1000))

# Nodes of the simulation never fall silent, but on few processors their heartbeats come late. Kueue gives the runs of a
# node that is not ready to another node, although the pods run on.
SILENT_SECONDS = 600


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane. `addresses` are those of the metrics of each program, and of the API server."""

    folder: Path
    processes: Processes
    addresses: dict[str, str]
    tokens: dict[str, str]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "admin.kubeconfig"

    @property
    def certificate(self) -> Path:
        """The certificate of the API server, which is also its authority."""
        return self.folder / "certificates/apiserver.crt"

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """Run kubectl as the administrator and return its output."""
        return api.kubectl(self.kubeconfig, *arguments, stdin=stdin)

    def create(self, objects: Sequence[object]) -> None:
        """Create objects as the administrator."""
        self.kubectl("create", "--filename=-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, name: str, path: str, *, accept: str = "*/*") -> str:
        """Return the answer of a component to a GET as the administrator."""
        with self.open(name, path, accept=accept) as answer:
            return str(answer.read().decode())

    def open(self, name: str, path: str, *, accept: str = "*/*", seconds: float = 30) -> Answer:
        """Send a GET as the administrator to a component and return the open answer."""
        headers = {"Authorization": f"Bearer {self.tokens['admin']}", "Accept": accept}
        request = urllib.request.Request(self.addresses[name] + path, headers=headers)  # noqa: S310
        # Each component signs its own certificate, and no request leaves this machine.
        context = ssl._create_unverified_context()  # noqa: S323
        answer: Answer = urllib.request.urlopen(request, timeout=seconds, context=context)  # noqa: S310
        return answer


def start(folder: Path, processes: Processes, limits: Limits) -> ControlPlane:
    """Start etcd, the API server, the controllers and the scheduler, and wait until the API server answers."""
    addresses = {"etcd": f"http://127.0.0.1:{free_port()}", "kube-apiserver": f"https://127.0.0.1:{free_port()}"}
    plane = ControlPlane(folder, processes, addresses, {user: secrets.token_hex(16) for user in USERS})
    _write_identities(plane)
    _start_etcd(plane)
    _start_api_server(plane)
    api.wait_until(lambda: _answers(plane), what="the API server to answer", seconds=START_SECONDS)
    start_clients(plane, limits)
    return plane


def start_clients(plane: ControlPlane, limits: Limits) -> None:
    """Start the controllers and the scheduler with these limits; if they run, they start again."""
    for name in ("kube-controller-manager", "kube-scheduler"):
        if name in plane.processes.names:
            plane.processes.stop(name)
        plane.addresses[name] = f"https://127.0.0.1:{free_port()}"
    _start_controllers(plane, limits)
    _start_scheduler(plane, limits)


def kubeconfig(plane: ControlPlane, user: str) -> Path:
    """Write the kubeconfig of a user and return its path."""
    path = plane.folder / f"{user.removeprefix('system:')}.kubeconfig"
    cluster = {
        "server": plane.addresses["kube-apiserver"],
        "certificate-authority": str(plane.certificate),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "scale",
        "clusters": [{"name": "scale", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": plane.tokens[user]}}],
        "contexts": [{"name": "scale", "context": {"cluster": "scale", "user": user}}],
    }
    path.write_text(json.dumps(document))
    return path


def _write_identities(plane: ControlPlane) -> None:
    lines = [f'{plane.tokens[user]},{user},{user},"{group}"' for user, group in USERS.items()]
    (plane.folder / "tokens.csv").write_text("\n".join(lines) + "\n")
    for user in USERS:
        kubeconfig(plane, user)


def _start_etcd(plane: ControlPlane) -> None:
    clients, peers = plane.addresses["etcd"], f"http://127.0.0.1:{free_port()}"
    plane.processes.start(
        "etcd",
        [
            binary("etcd"),
            f"--data-dir={plane.folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            f"--quota-backend-bytes={8 << 30}",
            # The disk of the machine is none of an API server.
            "--unsafe-no-fsync",
            "--log-level=warn",
        ],
    )


def _start_api_server(plane: ControlPlane) -> None:
    # The API server writes its certificate before it reads the key of tokens: one pair serves both.
    key = plane.certificate.with_suffix(".key")
    plane.processes.start(
        "kube-apiserver",
        [
            binary("kube-apiserver"),
            f"--etcd-servers={plane.addresses['etcd']}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            # Endpoints of the Service `kubernetes` cannot have a loopback address, and no pod would use them.
            "--endpoint-reconciler-type=none",
            f"--secure-port={port_of(plane.addresses['kube-apiserver'])}",
            f"--cert-dir={plane.folder / 'certificates'}",
            f"--token-auth-file={plane.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/12",
            # Trainer asks the issuer for the keys of tokens.
            f"--service-account-issuer={plane.addresses['kube-apiserver']}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
        ],
    )


def _start_controllers(plane: ControlPlane, limits: Limits) -> None:
    name = "kube-controller-manager"
    qps, burst = limits.controllers
    plane.processes.start(
        name,
        [
            binary(name),
            *_client_flags(plane, name),
            "--use-service-account-credentials",
            f"--service-account-private-key-file={plane.certificate.with_suffix('.key')}",
            f"--root-ca-file={plane.certificate}",
            "--controllers=*,-node-ipam-controller",
            f"--kube-api-qps={qps}",
            f"--kube-api-burst={burst}",
            "--leader-elect=false",
            f"--node-monitor-grace-period={SILENT_SECONDS}s",
        ],
    )


def _start_scheduler(plane: ControlPlane, limits: Limits) -> None:
    name = "kube-scheduler"
    qps, burst = limits.scheduler
    path = plane.folder / "scheduler.json"
    client = {"kubeconfig": str(plane.folder / f"{name}.kubeconfig"), "qps": qps, "burst": burst}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": client,
        "leaderElection": {"leaderElect": False},
    }
    path.write_text(json.dumps(document))
    plane.processes.start(name, [binary(name), f"--config={path}", *_client_flags(plane, name)[1:]])


def _client_flags(plane: ControlPlane, name: str) -> list[str]:
    own = plane.folder / f"{name}.kubeconfig"
    return [
        f"--kubeconfig={own}",
        f"--authentication-kubeconfig={own}",
        f"--authorization-kubeconfig={own}",
        "--authentication-tolerate-lookup-failure",
        "--bind-address=127.0.0.1",
        f"--secure-port={port_of(plane.addresses[name])}",
        f"--cert-dir={plane.folder / f'{name}-certificates'}",
    ]


def port_of(address: str) -> int:
    """Returns the port of a URL."""
    return int(address.rpartition(":")[2])


def _answers(plane: ControlPlane) -> bool:
    plane.processes.check()
    try:
        return plane.get("kube-apiserver", "/readyz") == "ok"
    except urllib.error.URLError:
        return False


def versions() -> list[str]:
    """Return the versions of the components."""
    server = subprocess.run([binary("kube-apiserver"), "--version"], capture_output=True, text=True, check=True)
    return [server.stdout.strip()]
