"""An operator of a chart as a process: what its Deployment would run in a pod, with its arguments, files and rights."""

from __future__ import annotations

import base64
import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api
from tests.harness.cluster.tools import binary
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.ports import free_port
from tools.scale.control_plane import ControlPlane, port_of

Object = dict[str, Any]
START_SECONDS = 180
# Binaries by the name of the container.
BINARIES = {"trainer": "trainer-controller-manager"}
CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108
# A process sees its own folders here, as in a container.
ENTER = 'mount --bind "$1" /tmp && mount --bind "$2" /run && shift 2 && exec "$@"'
SECURE_METRICS = 8443
# Ports that only flags set.
FLAGS = {
    "training-operator": {
        "metrics": "--metrics-bind-address=127.0.0.1:{}",
        "probes": "--health-probe-bind-address=127.0.0.1:{}",
        "webhook": "--webhook-server-port={}",
    }
}


@dataclass(frozen=True)
class Release:
    """A release of a chart with operators. `webhook` is the Service of an operator with another name."""

    name: str
    chart: str
    namespace: str
    webhook: str = ""


TRAINING_OPERATOR = Release("training-operator", "training-operator", "training-operator")
TRAINER = Release("kubeflow-trainer", "kubeflow-trainer", "kubeflow-system")


@dataclass(frozen=True)
class _Operator:
    """One Deployment of a release, and the ports of this machine that its process listens on."""

    plane: ControlPlane
    deployment: Object
    ports: dict[str, int]

    @property
    def name(self) -> str:
        return str(self.deployment["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.deployment["metadata"]["namespace"])

    @property
    def pod(self) -> Object:
        spec: Object = self.deployment["spec"]["template"]["spec"]
        return spec

    @property
    def container(self) -> Object:
        container: Object = self.pod["containers"][0]
        return container

    @property
    def ports_of_container(self) -> dict[str, int]:
        return {port["name"]: port["containerPort"] for port in self.container["ports"]}

    @property
    def folder(self) -> Path:
        return self.plane.folder / self.name


def install(
    plane: ControlPlane,
    release: Release,
    settings: Settings | None = None,
    adapt: Callable[[Object], Object | None] = lambda found: found,
) -> None:
    """Install a release, or change its settings, and wait until its operators are ready.

    `adapt` gives the objects of a foreign chart the names of ours, and leaves out those for which it returns None.
    """
    objects = [found for one in render(plane, release, settings or {}) if (found := adapt(one)) is not None]
    operators = [_operator(plane, found) for found in objects if found["kind"] == "Deployment"]
    ports = {release.webhook or operator.name: operator.ports["webhook"] for operator in operators}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": release.namespace}}
    reachable = [_reachable(found, ports) for found in objects if found["kind"] != "Deployment"]
    # The definitions of kinds come first, because others are of these kinds.
    ordered = sorted(reachable, key=lambda found: found["kind"] != "CustomResourceDefinition")
    for operator in operators:
        if operator.name in plane.processes.names:
            plane.processes.stop(operator.name)
    document = {"apiVersion": "v1", "kind": "List", "items": [namespace, *ordered]}
    plane.kubectl("apply", "--server-side", "--force-conflicts", "--filename=-", stdin=json.dumps(document))
    for operator in operators:
        _start(operator)
    for operator in operators:
        api.wait_until(partial(_is_ready, operator), what=f"{operator.name} to be ready", seconds=START_SECONDS)


def render(plane: ControlPlane, release: Release, settings: Settings) -> Iterator[Object]:
    """Yield the objects of a release."""
    words = [word for name, value in settings.items() for word in ("--set-json", f"{name}={json.dumps(value)}")]
    chart = Path(release.chart)
    if not chart.is_absolute():
        chart = Path(__file__).parents[2] / "charts" / chart
    text = Helm(plane.kubeconfig).run("template", release.name, str(chart), f"--namespace={release.namespace}", *words)
    yield from filter(None, yaml.load_all(text, Loader=yaml.CSafeLoader))


def _operator(plane: ControlPlane, deployment: Object) -> _Operator:
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    return _Operator(plane, deployment, {port["name"]: free_port() for port in container["ports"]})


def _reachable(found: Any, ports: dict[str, int]) -> Any:
    """Return an object with the ports of the processes; a Service leads to this machine."""
    if isinstance(found, list):
        return [_reachable(item, ports) for item in found]
    if not isinstance(found, dict):
        return found
    if found.get("kind") == "Service":
        return found | {"spec": {"type": "ExternalName", "externalName": "localhost"}}
    if isinstance(service := found.get("service"), dict) and service.get("name") in ports:
        return found | {"service": service | {"port": ports[service["name"]]}}
    return {key: _reachable(value, ports) for key, value in found.items()}


def _start(operator: _Operator) -> None:
    plane, container = operator.plane, operator.container
    temporary, run = operator.folder / "tmp", operator.folder / "run"
    for folder in (temporary, run):
        folder.mkdir(parents=True, exist_ok=True)
    _write_account(operator, run / "secrets/kubernetes.io/serviceaccount")
    arguments = _with_files(operator, container["args"])
    arguments += [flag.format(operator.ports[port]) for port, flag in FLAGS.get(container["name"], {}).items()]
    values = {"metadata.namespace": operator.namespace, "metadata.name": operator.name}
    environment = {
        item["name"]: item.get("value") or values[item["valueFrom"]["fieldRef"]["fieldPath"]]
        for item in container.get("env", [])
    }
    environment |= {
        "KUBECONFIG": "",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(port_of(plane.addresses["kube-apiserver"])),
    }
    program = binary(BINARIES.get(name := str(container["name"]), name))
    inside: list[str | Path] = ["unshare", "--mount", "--map-root-user", "--", "sh", "-c", ENTER, "sh", temporary, run]
    plane.processes.start(operator.name, [*inside, program, *arguments], environment)
    # Only JobSet and Kueue ask who reads their metrics, with TLS.
    scheme = "https" if operator.ports_of_container["metrics"] == SECURE_METRICS else "http"
    plane.addresses[operator.name] = f"{scheme}://127.0.0.1:{operator.ports['metrics']}"


def _write_account(operator: _Operator, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    account = operator.pod["serviceAccountName"]
    token = operator.plane.kubectl("create", "token", account, "--duration=24h", f"--namespace={operator.namespace}")
    (folder / "token").write_text(token.strip())
    (folder / "namespace").write_text(operator.namespace)
    (folder / "ca.crt").write_bytes(operator.plane.certificate.read_bytes())


def _with_files(operator: _Operator, arguments: list[str]) -> list[str]:
    """Write the ConfigMaps that the pod mounts, with the process's ports, and return arguments that name the files."""
    numbers = {str(number): str(operator.ports[name]) for name, number in operator.ports_of_container.items()}
    pattern = re.compile(rf"\b({'|'.join(numbers)})\b")
    sources = {volume["name"]: volume["configMap"] for volume in operator.pod["volumes"] if "configMap" in volume}
    for mount in operator.container["volumeMounts"]:
        if (source := sources.get(mount["name"])) is None:
            continue
        folder = operator.folder / mount["name"]
        folder.mkdir(exist_ok=True)
        found = _get(operator, "configmap", source["name"])
        for name, text in found["data"].items():
            (folder / name).write_text(pattern.sub(lambda match: numbers[match[0]], text))
        place = str(folder / mount.get("subPath", ""))
        arguments = [argument.replace(mount["mountPath"], place) for argument in arguments]
    return arguments


def _is_ready(operator: _Operator) -> bool:
    """Copy the certificate that the operator has written, as a kubelet would, and ask whether it is ready."""
    operator.plane.processes.check()
    names = [volume["secret"]["secretName"] for volume in operator.pod["volumes"] if "secret" in volume]
    folder = operator.folder / CERTIFICATES.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for file, text in _get(operator, "secret", name).get("data", {}).items():
            (folder / file).write_bytes(base64.b64decode(text))
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{operator.ports['probes']}/readyz") as answer:
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        return False


def _get(operator: _Operator, kind: str, name: str) -> Object:
    text = operator.plane.kubectl("get", kind, name, f"--namespace={operator.namespace}", "--output=json")
    found: Object = json.loads(text)
    return found
