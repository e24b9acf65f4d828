"""Pods and Jobs that fail, each for one cause of `trainyard doctor`, made in one namespace at the same time."""

from __future__ import annotations

from typing import Any, NamedTuple

Tree = dict[str, Any]
WEBHOOK = "doctor.trainyard.test"
ABSENT = "absent"
# The value of a variable in a pod, which the pod prints as well.
TOKEN = "not-a-real-one"  # noqa: S105 (no secret)
_SMALL = {"cpu": "20m", "memory": "64Mi"}
_USER = {"runAsUser": 1000, "runAsNonRoot": True}


class Failing(NamedTuple):
    """An object that fails.

    Attributes:
        kind: Pod or Job.
        spec: Its spec; a Job's holds the pod's as `template`.
        causes: Causes that doctor must report, and no other one.
        first: The rank that failed first, if the cause tells it.
    """

    kind: str
    spec: Tree
    causes: frozenset[str]
    first: str | None = None


def _pod(container: Tree, *causes: str, first: str | None = None, **spec: Any) -> Failing:
    return Failing("Pod", _spec(container, **spec), frozenset(causes), first)


def _job(container: Tree, *causes: str, **spec: Any) -> Failing:
    return Failing("Job", {"backoffLimit": 0, "template": {"spec": _spec(container, **spec)}}, frozenset(causes))


def _spec(container: Tree, **spec: Any) -> Tree:
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "resources": {"requests": _SMALL}, **container}],
        **spec,
    }


def _python(program: str, **container: Any) -> Tree:
    return {"command": ["python3", "-c", program], **container}


def _torch(program: str, **variables: str) -> Tree:
    named = {"OMP_NUM_THREADS": "1", **variables}
    environment = [{"name": name, "value": value} for name, value in named.items()]
    return _python(f"import datetime, torch, torch.distributed as dist\n{program}", env=environment)


def _launch(program: str, *options: str) -> Tree:
    start = ["python3", "-m", "torch.distributed.run", *options]
    script = f"cat > /tmp/train.py <<'END'\n{program}\nEND\nexec {' '.join(start)} /tmp/train.py"
    return {"command": ["sh", "-c", script]}


_JOIN = 'dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))'
_TWO_RANKS = ("--nproc-per-node=2", "--master-port=29512")
_KILLED = """
import os, signal, time
if os.environ["RANK"] == "1":
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(60)
"""
_LOADER = """
from torch.utils.data import DataLoader
class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, index): return torch.ones(64 << 20)
for _ in DataLoader(Data(), batch_size=None, num_workers=1, multiprocessing_context="fork"): pass
"""
_SIZES = """
import datetime, os, torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
if os.environ["RANK"] == "0":
    dist.send(torch.ones(16), 1)
else:
    dist.recv(torch.ones(4), 0)
"""
_ARGUMENTS = """
import argparse
parser = argparse.ArgumentParser("train.py")
parser.add_argument("--epochs", required=True)
parser.parse_args([])
"""
_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
files = [open("/dev/null") for _ in range(32)]
"""
_TAKEN = """
import socket
taken = socket.create_server(("", 29500))
dist.TCPStore("127.0.0.1", 29500, 1, True)
"""


def failing(slow: bool = True) -> dict[str, Failing]:
    """Returns all failing objects by their names; those with PyTorch take seconds of a processor."""
    quick = {**_placement(), **_containers(), **_programs(), **_mistakes(), **_refused()}
    return {**quick, **(_with_torch() if slow else {})}


def _placement() -> dict[str, Failing]:
    sleep = _python("import time; time.sleep(600)")
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": ABSENT}}
    config = {"name": "config", "configMap": {"name": ABSENT}}
    mount = {"name": "config", "mountPath": "/config"}
    return {
        "image": _pod({**sleep, "image": "localhost/trainyard/absent:none"}, "image-pull"),
        "gpu": _pod({**sleep, "resources": {"limits": {"example.com/gpu": "1"}}}, "unschedulable-resources"),
        "selector": _pod(sleep, "unschedulable-affinity", nodeSelector={"pool": ABSENT}),
        "claim": _pod(sleep, "unschedulable-volume", volumes=[claim]),
        "config-volume": _pod({**sleep, "volumeMounts": [mount]}, "volume-mount", volumes=[config]),
        "secret": _pod({**sleep, "envFrom": [{"secretRef": {"name": ABSENT}}]}, "config-object-missing"),
    }


def _containers() -> dict[str, Failing]:
    sleep = _python("import time; time.sleep(600)")
    folder = {"name": "data", "mountPath": "/data"}
    fill = "import time\nopen('/data/checkpoint', 'wb').write(bytes(20 << 20))\ntime.sleep(600)"
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    token = {"name": "HF_TOKEN", "value": TOKEN}
    crash = "import os\nprint('logged in with', os.environ['HF_TOKEN'], flush=True)\nraise SystemExit(1)"
    limits = {"requests": _SMALL, "limits": {"memory": "64Mi"}}
    disk = {"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}
    memory = {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
    return {
        "entrypoint": _pod({"command": ["torchrun-absent"]}, "entrypoint-not-found"),
        "memory": _pod(_python("bytearray(256 << 20)", resources=limits), "host-out-of-memory"),
        "evicted": _pod(_python(fill, volumeMounts=[folder]), "pod-evicted", volumes=[disk]),
        "deadline": _pod(sleep, "deadline-exceeded", activeDeadlineSeconds=4),
        "liveness": _pod({**sleep, "livenessProbe": probe}, "liveness-probe-failed", restartPolicy="Always"),
        "crash": _pod(_python(crash, env=[token]), "crash-loop", restartPolicy="Always"),
        "backoff": _job(_python("raise SystemExit(1)"), "backoff-limit"),
        "disk": _pod(_python(fill, volumeMounts=[folder]), "disk-full", volumes=[memory]),
    }


def _programs() -> dict[str, Failing]:
    root = {"securityContext": {"readOnlyRootFilesystem": True}}
    store = "open('/opt/checkpoint', 'w')"
    # mpirun of Open MPI is not run as root.
    return {
        "module": _pod(_python("import absent_package"), "module-not-found"),
        "read-only": _pod(_python("open('/tmp/cache', 'w')", **root), "read-only-file-system"),
        "permission": _pod(_python(store, securityContext=_USER), "permission-denied"),
        "dns": _pod(_python(f"import socket\nsocket.getaddrinfo('{ABSENT}-0.{ABSENT}', 29500)"), "name-not-known"),
        "slots": _pod({"command": ["mpirun", "-np", "64", "true"], "securityContext": _USER}, "mpi-no-slots"),
        "executable": _pod(
            {"command": ["mpirun", "-np", "1", "/absent"], "securityContext": _USER}, "mpi-executable-missing"
        ),
    }


def _mistakes() -> dict[str, Failing]:
    """Return programs with a mistake of their own."""
    url = "http://127.0.0.1:9/weights"
    return {
        "command": _pod({"command": ["sh", "-c", "torchrun-absent train.py"]}, "entrypoint-not-found"),
        "arguments": _pod(_python(_ARGUMENTS), "arguments-refused"),
        "attribute": _pod(_python("import json\njson.absent"), "package-version-mismatch"),
        "library": _pod(_python("import ctypes\nctypes.CDLL('libabsent.so.1')"), "shared-library-missing"),
        "download": _pod(_python(f"import urllib.request\nurllib.request.urlopen('{url}')"), "download-failed"),
        "files": _pod(_python(_FILES), "too-many-open-files"),
        "allocation": _pod(_python("bytearray(1 << 50)"), "host-allocation-failed"),
        "folder": _pod(_python("import os\nos.mkdir('/tmp')"), "cache-written-together"),
        "data": _pod(_python("import json\njson.loads('{')"), "data-damaged"),
        "exception": _pod(_python("{}['input_ids']"), "program-failed"),
    }


def _refused() -> dict[str, Failing]:
    sleep = _python("import time; time.sleep(600)")
    quota = {"limits": {"nvidia.com/gpu": "1"}}
    refused = _job(sleep, "webhook-refused")
    refused.spec["template"]["metadata"] = {"labels": {WEBHOOK: "ask"}}
    return {
        "quota": _job({**sleep, "resources": quota}, "quota-exceeded"),
        "security": _job(sleep, "pod-security", hostNetwork=True),
        "account": _job(sleep, "service-account-missing", serviceAccountName=ABSENT),
        "webhook": refused,
    }


def _with_torch() -> dict[str, Failing]:
    alone = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "RANK": "0", "WORLD_SIZE": "1"}
    late = {**alone, "RANK": "1", "WORLD_SIZE": "2"}
    join = ("--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:29511", "--rdzv-conf=join_timeout=4")
    return {
        "shm": _pod(_torch(_LOADER), "shared-memory-full"),
        "port": _pod(_torch(_TAKEN), "address-in-use"),
        "interface": _pod(_torch(_JOIN, **alone, GLOO_SOCKET_IFNAME="rail9"), "gloo-interface-absent"),
        "master": _pod(_torch(_JOIN, **late), "master-unreachable"),
        "rendezvous": _pod(_launch("", *join), "rendezvous-timeout"),
        "rank": _pod(_launch(_KILLED, *_TWO_RANKS), "process-killed", first="rank 1"),
        "checkpoint": _pod(
            _torch("open('/tmp/last.pt', 'wb').write(b'PK\\x03\\x04' + bytes(100))\ntorch.load('/tmp/last.pt')"),
            "checkpoint-corrupt",
        ),
        "sizes": _pod(_launch(_SIZES, *_TWO_RANKS), "mismatched-collectives"),
        "variables": _pod(_torch(_JOIN), "rendezvous-variables-missing"),
        "group": _pod(_torch("dist.get_rank()"), "process-group-missing"),
        "model": _pod(
            _torch("torch.nn.Linear(4, 4).load_state_dict(torch.nn.Linear(4, 8).state_dict())"), "checkpoint-mismatch"
        ),
    }


def manifests(namespace: str, image: str, wanted: dict[str, Failing]) -> list[Tree]:
    """Returns the manifests of the objects, and of the quota and the webhook that refuse two of them."""
    client = {"service": {"name": ABSENT, "namespace": namespace}}
    selected = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    webhook = {
        "name": WEBHOOK,
        "clientConfig": client,
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "objectSelector": {"matchLabels": {WEBHOOK: "ask"}},
        "namespaceSelector": selected,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return [
        _object("v1", "ResourceQuota", "gpus", namespace, spec={"hard": {"requests.nvidia.com/gpu": "0"}}),
        _object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", namespace, webhooks=[webhook]),
        *(_failing(namespace, image, name, one) for name, one in wanted.items()),
    ]


def sleeping(namespace: str, name: str, image: str, annotations: dict[str, str] | None = None) -> Tree:
    """Return a pod that does nothing, if it starts."""
    pod = _failing(namespace, image, name, _pod(_python("import time; time.sleep(600)")))
    pod["metadata"]["annotations"] = annotations or {}
    return pod


def _failing(namespace: str, image: str, name: str, one: Failing) -> Tree:
    pod = one.spec["template"]["spec"] if one.kind == "Job" else one.spec
    for container in pod["containers"]:
        container.setdefault("image", image)
        container.setdefault("imagePullPolicy", "IfNotPresent")
    return _object("batch/v1" if one.kind == "Job" else "v1", one.kind, name, namespace, spec=one.spec)


def _object(version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Tree:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **place}, **fields}
