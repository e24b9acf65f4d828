"""A training run as every rule sees it, from any loader: values, a rendered chart or a hand-written manifest.

The types are tuples because these import and build several times as fast as data classes, and linting must not be
slower than a schema check. They are immutable. Fields called `at` hold the place in the files; two runs are the same if
they are equal except for these (`tests.validator.loaders.compare`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.document.source import Source
from trainyard.model.last_index import LastIndex
from trainyard.startup import NamedTuple

# Fewer settings or volumes are searched as fast as an index of them is made.
_MANY = 64


class Setting(NamedTuple):
    """An environment variable of a process, wherever it is set.

    `value` is None if it is not in the files: it comes from a Secret, a field of the pod or an unknown ConfigMap. `raw`
    is the value as parsed from YAML, so that an unquoted `1` can be told from `"1"`. `via` is one of "env", "envFrom",
    "script" (`export A=B`), "command" (`env A=B program`), "mpirun" (`-x A=B`) and "file" (a line of `nccl.conf`).
    """

    name: str
    value: str | None
    raw: Any
    via: str
    at: Place


class Script(NamedTuple):
    """Shell text that a container runs: the argument of `sh -c`, or the file `path` from a ConfigMap."""

    text: str
    at: Place
    path: str = ""


class Command(NamedTuple):
    """A program and its arguments, from argv or from a script; `$(NAME)` and `$NAME` stay as written.

    `words` have lost their quotes. `at` is the script's line, or the field of argv; `word_at` is the place of each
    word.
    """

    words: tuple[str, ...]
    word_at: tuple[Place, ...]
    at: Place

    @property
    def program(self) -> str:
        """The name of the program without its folder; empty if there is none."""
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""

    def option(self, *names: str) -> str | None:
        """Returns the value of the last of these options, as `--name value` or `--name=value`.

        Names have dashes here; the command may spell them with underscores.
        """
        found = self.option_at(*names)
        return found[0] if found is not None else None

    def option_at(self, *names: str) -> tuple[str, Place] | None:
        """Returns the result of `option`, with the place of the word that holds the value."""
        known = _options(self.words)
        value, last, at = None, -1, 0
        for name in names:
            found = known.get(name)
            if found is not None and found[0] > last and found[1] is not None:
                last, value, at = found
        return (value, self.word_at[at]) if value is not None else None

    def given(self, names: Set[str]) -> list[str]:
        """Returns the options of this set that are among the words."""
        known = _options(self.words)
        return [] if known.keys().isdisjoint(names) else [name for name in known if name in names]

    def has(self, *names: str) -> bool:
        """True if one of these flags is among the words, with or without a value."""
        return not _options(self.words).keys().isdisjoint(names)


@functools.lru_cache(maxsize=256)
def _options(words: tuple[str, ...]) -> dict[str, tuple[int, str | None, int]]:
    """Returns every possible option: its last index with a value, that value, and the value's own index.

    Most pods of a run start the same command, and most rules ask for its options.
    """
    options: dict[str, tuple[int, str | None, int]] = {}
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if equals:
            options[name] = (index, value, index)
        elif index + 1 < len(words):
            options[name] = (index, words[index + 1], index + 1)
        else:
            options.setdefault(name, (index, None, index))
    return options


class Mount(NamedTuple):
    """A volume in a container."""

    volume: str
    mount_path: str
    read_only: bool
    at: Place


class Volume(NamedTuple):
    """A volume of a pod: `kind` is the field of its source (`emptyDir`, `persistentVolumeClaim` ...)."""

    name: str
    kind: str
    body: dict[str, Any]
    at: Place


class Container(NamedTuple):
    """A container; `tree` is all of it as written. `settings` has every variable, in the order in which they apply.

    `gpus` is the number of accelerators in `limits` and `requests`, which most rules ask for first.
    """

    name: str
    image: str | None
    command: tuple[str, ...]
    args: tuple[str, ...]
    settings: tuple[Setting, ...]
    scripts: tuple[Script, ...]
    commands: tuple[Command, ...]
    limits: dict[str, Any]
    requests: dict[str, Any]
    gpus: int
    mounts: tuple[Mount, ...]
    tree: dict[str, Any]
    at: Place

    def setting(self, name: str) -> Setting | None:
        """Returns the effective entry for a variable: the last one."""
        if len(self.settings) > _MANY:
            return _settings_by_name.of(self.settings).get(name)
        found = None
        for setting in self.settings:
            if setting.name == name:
                found = setting
        return found

    def quantity(self, resource: str) -> Any:
        """Returns the limit of a resource, or its request if there is no limit."""
        return self.limits.get(resource, self.requests.get(resource))

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The added capabilities."""
        context = self.tree.get("securityContext")
        capabilities = context.get("capabilities") if isinstance(context, dict) else None
        added = capabilities.get("add") if isinstance(capabilities, dict) else None
        return tuple(str(name) for name in added) if isinstance(added, list) else ()

    @property
    def privileged(self) -> bool:
        """True if the container is privileged."""
        context = self.tree.get("securityContext")
        return isinstance(context, dict) and context.get("privileged") is True


class Pod(NamedTuple):
    """A pod template. `tree` is its spec as written; `at` the place of the spec, `template_at` of the template."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...]
    volumes: tuple[Volume, ...]
    labels: dict[str, Any]
    annotations: dict[str, Any]
    host_network: bool
    tree: dict[str, Any]
    at: Place
    template_at: Place

    def volume(self, name: str) -> Volume | None:
        """Returns the volume with this name: the first one."""
        if len(self.volumes) > _MANY:
            return _volumes_by_name.of(self.volumes).get(name)
        for volume in self.volumes:
            if volume.name == name:
                return volume
        return None

    def mounted(self, container: Container, mount_path: str) -> Volume | None:
        """Returns the volume at exactly this path of a container."""
        for mount in container.mounts:
            if mount.mount_path.rstrip("/") == mount_path.rstrip("/"):
                return self.volume(mount.volume)
        return None


class Role(NamedTuple):
    """The replicas of a run that share a pod template: Master, Worker, Launcher, or a JobSet's replicated job.

    `replicas` is the number of pods, None if it is missing or not a number. `trains` is False for roles that only start
    or serve others (MPI launcher, dataset initializer). `main` is the index of the container that trains.
    """

    name: str
    replicas: int | None
    restart_policy: str | None
    pod: Pod
    main: int
    trains: bool
    tree: dict[str, Any]
    at: Place

    def is_same(self, other: Role) -> bool:
        """True for the same role of a run. `is` does not tell, because rules may get a copy of a role."""
        return (self.at, self.pod.at) == (other.at, other.pod.at)

    @property
    def container(self) -> Container | None:
        """The container that trains."""
        return self.pod.containers[self.main] if self.main < len(self.pod.containers) else None


class Run(NamedTuple):
    """A training run: a job of Kubeflow, JobSet, Kubernetes, Volcano, LeaderWorkerSet, Ray or HyperPod.

    `is_job` is false for any other object with pods: a server, or a job whose controller is not known. `groups` is the
    number of equal groups of pods that train independently, as those of a LeaderWorkerSet.
    `spec` is the job's spec as written, `runtime` the spec of the (Cluster)TrainingRuntime under a TrainJob.
    `processes` is the number of training processes in each pod, None if the files do not say.
    """

    kind: str
    api_version: str
    name: str
    namespace: str
    labels: dict[str, Any]
    annotations: dict[str, Any]
    roles: tuple[Role, ...]
    processes: int | None
    spec: dict[str, Any]
    runtime: dict[str, Any] | None
    at: Place
    is_job: bool = True
    groups: int = 1

    def role(self, name: str) -> Role | None:
        """Returns the role with this name."""
        for role in self.roles:
            if role.name == name:
                return role
        return None

    @property
    def training_roles(self) -> tuple[Role, ...]:
        """The roles whose pods train."""
        return tuple(role for role in self.roles if role.trains)

    @property
    def containers(self) -> tuple[Container, ...]:
        """The containers of all roles, without init containers."""
        return tuple(container for role in self.roles for container in role.pod.containers)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands of these containers."""
        return tuple(command for container in self.containers for command in container.commands)

    @property
    def nodes(self) -> int | None:
        """The number of pods that train together, None if a role does not say."""
        total = _nodes.of(self.roles)
        return total if total is None or self.groups == 1 else total // self.groups

    @property
    def world_size(self) -> int | None:
        """The number of training processes, None if the files do not say."""
        return self.nodes * self.processes if self.nodes is not None and self.processes is not None else None

    @property
    def elastic(self) -> dict[str, Any] | None:
        """The elasticPolicy of a PyTorchJob."""
        policy = self.spec.get("elasticPolicy")
        return policy if isinstance(policy, dict) else None


# Rules whose check takes a `Workload` are also asked about runs that are no jobs, such as servers.
Workload = Run


class Network(NamedTuple):
    """A NetworkAttachmentDefinition: `config` is its CNI configuration, None if it is invalid for the reason `fault`.

    `plugins` are the configurations of a plugin list, or the single one; `config_at` is the place of the JSON.
    """

    name: str
    namespace: str
    resource: str | None
    config: dict[str, Any] | None
    plugins: tuple[tuple[dict[str, Any], Place], ...]
    fault: str | None
    config_at: Place
    at: Place


class DeepSpeed(NamedTuple):
    """A DeepSpeed configuration and the run that uses it, None if the files do not show one."""

    config: dict[str, Any]
    run: Run | None
    at: Place


class Resource(NamedTuple):
    """Any Kubernetes object; `tree` is all of it. `is_too_large` is true if it certainly exceeds etcd's limit.

    `wrapper` is the object that holds it, such as an AppWrapper.
    """

    kind: str
    api_version: str
    name: str
    namespace: str
    tree: dict[str, Any]
    at: Place
    is_too_large: bool = False
    wrapper: Resource | None = None


class Misfit(NamedTuple):
    """A part of an object that its API server drops or refuses, whatever the values of the other parts.

    `fault` is one of "unknown field", "other release", "wrong value", "missing field", "not served", "dropped" and
    "unknown kind".
    `name` is the right name of the field, kind or version, None if it is not known. `wanted` is the type that the
    field takes, and `value` what it has; for a version that Kubernetes dropped, the release that did so. For
    one that an operator dropped, `value` is its name and that release.
    """

    fault: str
    at: Place
    message: str
    help: str = ""
    name: str | None = None
    wanted: str = ""
    value: Any = None


class Project(NamedTuple):
    """Everything that is linted together.

    `resources` holds every object, those of the other fields included, and `kinds` the same ones by their kind.
    `unread` holds the places of texts of objects that cannot be read, and `misfits` what the schemas of their kinds
    refuse. `around` is the project of the folder with a chart that this project is a release of.
    """

    runs: tuple[Run, ...]
    networks: tuple[Network, ...]
    deepspeeds: tuple[DeepSpeed, ...]
    resources: tuple[Resource, ...]
    documents: tuple[Document, ...]
    kinds: Mapping[str, Sequence[Resource]]
    unread: tuple[Place, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    around: Project | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, each once: a file may have a thousand documents."""
        return tuple({id(document.source): document.source for document in self.documents}.values())

    def of_kind(self, *kinds: str) -> tuple[Resource, ...]:
        """Returns the objects of these kinds."""
        return tuple(resource for kind in kinds for resource in self.kinds.get(kind, ()))

    def named(self, kind: str, name: str, namespace: str) -> Resource | None:
        """Returns the object of this name in a namespace; an object whose file gives no namespace matches any."""
        found = _resources_by_name.of(self.kinds.get(kind, ())).get(name, {})
        return found.get(namespace) or found.get("")

    def has_group(self, group: str) -> bool:
        """True if there is an object of this API group."""
        return group in _groups.of(self.resources)


def _by_name(resources: Sequence[Resource]) -> dict[str, dict[str, Resource]]:
    """Returns the resources by name and namespace; the last of equal ones wins."""
    found: dict[str, dict[str, Resource]] = {}
    for resource in resources:
        found.setdefault(resource.name, {})[resource.namespace] = resource
    return found


def _sum_of_replicas(roles: tuple[Role, ...]) -> int | None:
    total = None
    for role in roles:
        if role.trains:
            if role.replicas is None:
                return None
            total = (total or 0) + role.replicas
    return total


# Rules ask for each container of the run.
_nodes: LastIndex[tuple[Role, ...], int | None] = LastIndex(_sum_of_replicas)
_resources_by_name: LastIndex[Sequence[Resource], dict[str, dict[str, Resource]]] = LastIndex(_by_name)
_groups: LastIndex[tuple[Resource, ...], frozenset[str]] = LastIndex(
    lambda resources: frozenset(resource.api_version.partition("/")[0] for resource in resources)
)
_settings_by_name: LastIndex[tuple[Setting, ...], dict[str, Setting]] = LastIndex(
    lambda settings: {setting.name: setting for setting in settings}
)
_volumes_by_name: LastIndex[tuple[Volume, ...], dict[str, Volume]] = LastIndex(
    lambda volumes: {volume.name: volume for volume in reversed(volumes)}
)
