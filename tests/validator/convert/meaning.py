"""The meaning of a run, as facts that two files of different form can be compared by.

The judge of `trainyard convert`: it knows nothing of the conversion. Places, names of volumes and of the program's
container, the order of variables, and defaults that Kubernetes fills in are no part of the meaning. The options by
which torchrun and mpirun meet their peers are compared by what they tell: the numbers of nodes and processes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.model.run import Container, Pod, Role, Run

Facts = dict[str, Any]

# Fields that the training operator, the MPI operator or the chart write for the rendezvous (see `charts/training-job`).
_RENDEZVOUS = (
    "--nnodes", "--nproc-per-node", "--node-rank", "--master-addr", "--master-port", "--rdzv-backend",
    "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf",
)  # fmt: skip
_TORCHRUN_FLAGS = ("--standalone", "-m", "--module", "--no-python", "--run-path")
_MPI_OWN = {
    "-np": 1, "-n": 1, "--np": 1, "-N": 1, "-npernode": 1, "-ppn": 1, "--hostfile": 1, "-hostfile": 1, "-f": 1,
    "-localhost": 1, "-map-by": 1, "--map-by": 1, "--allow-run-as-root": 0, "-bind-to": 1, "--bind-to": 1,
}  # fmt: skip
# Variables that the operator or the chart sets in every pod, whatever the files say.
_PEERS = frozenset((
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "PET_MASTER_ADDR", "PET_MASTER_PORT",
    "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE",
))  # fmt: skip
_POD_DEFAULTS: Mapping[str, Any] = {
    "restartPolicy": None, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
    "automountServiceAccountToken": True, "enableServiceLinks": True, "shareProcessNamespace": False,
    "hostNetwork": False, "schedulerName": "default-scheduler",
}  # fmt: skip
_CONTAINER_OWN = (
    "name", "image", "imagePullPolicy", "command", "args", "env", "envFrom", "ports", "resources", "securityContext",
    "volumeMounts",
)  # fmt: skip


def differences(original: Run, converted: Run) -> list[tuple[str, Any, Any]]:
    """Returns the facts that differ: each name with its two values, None for a fact that a run does not have."""
    moved = original.kind != converted.kind
    ours, theirs = facts(original, moved=moved), facts(converted, moved=moved)
    names = sorted({*ours, *theirs})
    return [(name, ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)]


def facts(run: Run, *, moved: bool = False) -> Facts:
    """Returns the facts of a run. If it `moved` to another kind, its nodes are one role, and hosts have other names."""
    found: Facts = {"name": run.name, "namespace": run.namespace or "default", "nodes": run.nodes}
    if run.kind != "JobSet":
        found["processes"] = run.processes
    found |= {f"job.label.{key}": value for key, value in run.labels.items()}
    found |= {f"job.annotation.{key}": value for key, value in run.annotations.items()}
    found |= dict(_policy(run))
    trains = [role for role in run.roles if role.trains]
    for role in run.roles:
        name = role.name
        if role.trains and (moved or run.kind in ("TrainJob", "JobSet")):
            name = "Node" if role is trains[-1] else ""
        if name:
            if name != "Node":
                found[f"{name}.replicas"] = role.replicas
            found |= {f"{name}.{key}": value for key, value in _role(run, role)}
    return {key: value for key, value in found.items() if value not in (None, {}, [], ())}


def _policy(run: Run) -> Iterator[tuple[str, Any]]:
    spec = run.spec
    policy = mapping(spec, "runPolicy")
    own = run.runtime if run.runtime is not None else spec
    if run.kind in ("TrainJob", "JobSet"):
        node = next((role for role in reversed(run.roles) if role.trains), None)
        inner = node.tree if node is not None else {}
        policy = {key: inner.get(key) for key in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished")}
        policy = {
            **policy,
            **{key: spec[key] for key in ("suspend", "managedBy", "ttlSecondsAfterFinished") if key in spec},
        }
        job_set = mapping(own, "template", "spec") if run.kind == "TrainJob" else spec
        yield "policy.failure", job_set.get("failurePolicy")
        yield "policy.success", job_set.get("successPolicy")
        yield "policy.group", own.get("podGroupPolicy")
        yield "policy.pod-failure", inner.get("podFailurePolicy")
    else:
        yield "policy.cleanPodPolicy", policy.get("cleanPodPolicy", "None")
        yield "policy.success", spec.get("successPolicy") or None
    for key in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished", "managedBy"):
        yield f"policy.{key}", policy.get(key)
    # Kueue suspends every job of a queue.
    queued = "kueue.x-k8s.io/queue-name" in run.labels
    yield "policy.suspend", True if policy.get("suspend") and not queued else None
    for key, value in mapping(policy, "schedulingPolicy").items():
        yield f"policy.scheduling.{key}", _quantities(value) if key == "minResources" else value
    for key, value in mapping(spec, "elasticPolicy").items():
        yield f"elastic.{key}", value
    others = {
        "runPolicy",
        "elasticPolicy",
        "nprocPerNode",
        "successPolicy",
        "suspend",
        "managedBy",
        "runtimeRef",
        "trainer",
    }
    others |= {"replicatedJobs", "failurePolicy", "network", "ttlSecondsAfterFinished", "slotsPerWorker"}
    others |= {
        "podTemplateOverrides",
        "podSpecOverrides",
        "runtimePatches",
        "sshAuthMountPath",
        "launcherCreationPolicy",
    }
    others |= {"mpiImplementation"}
    for key, value in spec.items():
        if key not in others and not key.endswith("ReplicaSpecs"):
            yield f"spec.{key}", value
    if run.kind == "MPIJob":
        yield "spec.mpiImplementation", spec.get("mpiImplementation", "OpenMPI")


def _role(run: Run, role: Role) -> Iterator[tuple[str, Any]]:
    pod, container = role.pod, role.container
    yield "restartPolicy", _restart_policy(run, role)
    for key, value in pod.labels.items():
        yield f"label.{key}", value
    for key, value in pod.annotations.items():
        yield f"annotation.{key}", value
    skipped = ("containers", "initContainers", "volumes", "securityContext", "restartPolicy", "imagePullSecrets")
    for key, value in pod.tree.items():
        if key not in skipped and value != _POD_DEFAULTS.get(key):
            yield f"pod.{key}", value
    yield "pod.imagePullSecrets", sorted(text(one, "name") for one in items(pod.tree, "imagePullSecrets"))
    for other in (*pod.init_containers, *pod.containers):
        if other is not container:
            yield f"container.{other.name}", _other(pod, other)
    if container is not None:
        yield from _container(run, role, pod, container)


def _restart_policy(run: Run, role: Role) -> str:
    # The defaults of kubeflow/training-operator v1.9.3, pkg/apis/kubeflow.org/v1/*_types.go, and of
    # kubeflow/mpi-operator v0.8.2, pkg/apis/kubeflow/v2beta1/default.go.
    if role.restart_policy:
        return role.restart_policy
    if run.kind == "MPIJob" and run.api_version.endswith("v2beta1"):
        return "OnFailure" if role.name == "Launcher" else "Never"
    if run.kind in ("TrainJob", "JobSet"):
        # JobSet's webhook: pkg/webhooks/jobset_webhook.go of kubernetes-sigs/jobset v0.12.0.
        return "OnFailure"
    return "OnFailure" if run.kind in ("PyTorchJob", "PaddleJob") else "Never"


def _container(run: Run, role: Role, pod: Pod, container: Container) -> Iterator[tuple[str, Any]]:
    yield "image", _image(container.image or "")
    yield "pull", container.tree.get("imagePullPolicy") or _pull_policy(container.image or "")
    # The workers of an MPIJob run sshd.
    if not (run.kind == "MPIJob" and role.name == "Worker"):
        yield from _program(run, role, container)
    for key, value in container.tree.items():
        # The probe of sshd belongs to the connection of the MPI operator.
        if key not in _CONTAINER_OWN and not (run.kind == "MPIJob" and key.endswith("Probe")):
            yield f"field.{key}", value
    yield from _variables(container)
    yield "envFrom", sorted(json.dumps(one, sort_keys=True) for one in items(container.tree, "envFrom"))
    for port in items(container.tree, "ports"):
        if not (run.kind == "MPIJob" and port.get("name") == "ssh"):
            yield f"port.{port.get('containerPort')}", port.get("name", "")
    limits, requests = _quantities(container.limits), _quantities(container.requests)
    for name, value in limits.items():
        yield f"limit.{name}", value
    for name, value in {**limits, **requests}.items():
        yield f"request.{name}", value
    yield "claims", items(container.tree, "resources", "claims")
    for key, value in {**mapping(pod.tree, "securityContext"), **mapping(container.tree, "securityContext")}.items():
        yield f"security.{key}", value
    for path, mount in _mounts(pod, container):
        yield f"mount.{path}", mount


def _variables(container: Container) -> Iterator[tuple[str, Any]]:
    # Of several settings of a variable, the last one counts.
    last = {setting.name: setting for setting in container.settings if setting.via in ("env", "mpirun")}
    for name, setting in last.items():
        if name not in _PEERS and not (setting.via == "mpirun" and setting.value is None):
            yield f"env.{name}", _variable(container, setting.value, setting.at)


def _mounts(pod: Pod, container: Container) -> Iterator[tuple[str, Any]]:
    for mount in container.mounts:
        volume = pod.volume(mount.volume)
        body = {} if volume is None else {key: value for key, value in volume.body.items() if key != "readOnly"}
        read_only = mount.read_only or (volume is not None and volume.body.get("readOnly") is True)
        written = _written(mount.at)
        rest = {key: value for key, value in written.items() if key not in ("name", "mountPath", "readOnly")}
        source = {"none" if volume is None else volume.kind: body}
        told = json.dumps([source, rest], sort_keys=True)
        yield mount.mount_path.rstrip("/"), f"{told}{' read-only' if read_only else ''}"


def _written(at: Place) -> dict[str, Any]:
    """Returns the mapping at a place, or the one that holds it."""
    node: Any = at.document.tree
    found: dict[str, Any] = {}
    for step in at.path:
        node = node[step]
        found = node if isinstance(node, dict) else found
    return found


def _other(pod: Pod, container: Container) -> Any:
    """Returns another container, with the sources of its mounts in place of the names of volumes."""
    own = {
        key: value for key, value in container.tree.items() if key not in ("volumeMounts", "terminationMessagePolicy")
    }
    if own.get("securityContext") == {}:
        del own["securityContext"]
    own.setdefault("imagePullPolicy", _pull_policy(container.image or ""))
    return {**own, "volumeMounts": sorted(_mounts(pod, container))}


def _variable(container: Container, value: str | None, at: Place) -> Any:
    if value is not None:
        return _expanded(value, container)
    written = _written(at)
    return written.get("valueFrom", written)


def _expanded(word: str, container: Container) -> str:
    """Returns a word as Kubernetes hands it on; a reference to a variable stays, marked.

    Source: kubernetes v1.34.4 third_party/forked/golang/expansion/expand.go.
    """
    known = {setting.name for setting in container.settings if setting.via in ("env", "envFrom")} | _PEERS

    def replaced(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        return f"<{found[1]}>" if found[1] in known else found[0]

    return re.sub(r"\$\$|\$\(([^()]*)\)", replaced, word)


def _program(run: Run, role: Role, container: Container) -> Iterator[tuple[str, Any]]:
    words = [_expanded(word, container) for word in (*container.command, *container.args)]
    if words[:1] and words[0].rsplit("/", 1)[-1] in ("torchrun",):
        yield from _torchrun(run, words[1:])
    elif words[1:3] == ["-m", "torch.distributed.run"]:
        yield from _torchrun(run, words[3:])
    elif role.name == "Launcher":
        yield from _mpirun(run, container)
    else:
        yield "words", tuple(words)


def _torchrun(run: Run, words: list[str]) -> Iterator[tuple[str, Any]]:
    options: dict[str, str] = {}
    left: list[str] = []
    module = False
    while words and words[0].startswith("-"):
        word, words = words[0], words[1:]
        name, equals, value = word.partition("=")
        name = name.replace("_", "-") if name.startswith("--") else name
        if name in ("-m", "--module"):
            module = True
        elif name in _TORCHRUN_FLAGS:
            left.append(name)
        else:
            if not equals:
                value, words = words[0], words[1:]
            options[name] = value
    yield "torchrun.options", sorted([*left, *(f"{k}={v}" for k, v in options.items() if k not in _RENDEZVOUS)])
    yield "torchrun.program", ("-m" if module else "file", *words)
    told = options.get("--nnodes")
    if told is not None and run.nodes is not None and told != str(run.nodes) and run.elastic is None:
        yield "torchrun.nnodes", told
    host = options.get("--rdzv-endpoint", "").partition(":")[0]
    host = options.get("--master-addr", host)
    if host and host not in (f"{run.name}-worker-0", f"{run.name}-master-0", "<MASTER_ADDR>", "$MASTER_ADDR"):
        yield "torchrun.host", host
    if options.get("--rdzv-backend", "c10d") not in ("c10d", "static"):
        yield "torchrun.backend", options["--rdzv-backend"]


def _mpirun(run: Run, container: Container) -> Iterator[tuple[str, Any]]:
    starts = [command for command in container.commands if command.program in ("mpirun", "mpiexec")]
    others = [command.words for command in container.commands if command not in starts and command.words[0] != "set"]
    if len(starts) != 1 or others:
        yield "words", tuple(_expanded(word, container) for word in (*container.command, *container.args))
        return
    words = [_expanded(word, container) for word in starts[0].words[1:]]
    options: list[tuple[str, ...]] = []
    variables: list[str] = []
    # Without a number, mpirun starts a process in each slot of its host file.
    count = str(run.world_size)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-x",):
            variables.append(words.pop(0).partition("=")[0])
        elif word in ("-genv", "-genvlist"):
            variables += [one.partition("=")[0] for one in words.pop(0).split(",")]
        elif word in ("-mca", "--mca"):
            options.append(("--mca", words.pop(0), words.pop(0)))
        elif word in _MPI_OWN:
            count = words[0] if word in ("-np", "-n", "--np") else count
            words = words[_MPI_OWN[word] :]
        else:
            options.append((word,))
    yield "mpirun.processes", count
    yield "mpirun.options", sorted(options)
    yield "mpirun.program", tuple(words)
    yield "mpirun.variables", sorted(set(variables) - {"PATH", "LD_LIBRARY_PATH"})


def _image(image: str) -> str:
    last = image.rsplit("/", 1)[-1]
    return image if ":" in last or "@" in last else f"{image}:latest"


def _pull_policy(image: str) -> str:
    return "Always" if _image(image).endswith(":latest") else "IfNotPresent"


def _quantities(tree: Any) -> dict[str, Any]:
    """Returns quantities as text, which `8` and `"8"` have in common."""
    return {str(name): str(value) for name, value in tree.items()} if isinstance(tree, dict) else {}
