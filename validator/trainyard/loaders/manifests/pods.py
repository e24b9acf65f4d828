"""Loads pod templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.placeholders import has_parameter
from trainyard.facts.hardware.devices import gpus
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.loaders.manifests import shell
from trainyard.loaders.manifests.surroundings import Surroundings
from trainyard.loaders.manifests.templates import Template
from trainyard.model.run import Command, Container, Mount, Pod, Script, Setting, Volume
from trainyard.startup import pattern

ConfigMaps = Surroundings
# The name of a script, in a command such as `bash /workspace/train.sh` or `./train.sh`.
_SHELL_FILE = pattern(r"(?:^|[\s;&|])(?:\./)?([\w/][\w./-]{0,200}\.sh)(?![\w./-])")
_FIRST_WORDS = 4
# The file that NCCL reads for all users, and that of root, the user of most images.
NCCL_FILES = ("/etc/nccl.conf", "/root/.nccl.conf")


def load_pod(template: dict[str, Any], at: Place, namespace: str, config_maps: ConfigMaps) -> Pod:
    """Returns a pod template, with the variables and files of its namespace's ConfigMaps."""
    found = Template((), mapping(template, "spec"), mapping(template, "metadata"), template, "containers")
    return load_template(found, at.child("spec"), at, namespace, config_maps)


def load_template(found: Template, at: Place, template_at: Place, namespace: str, config_maps: ConfigMaps) -> Pod:
    """Returns the pod of a template: `at` is the place of its spec."""
    volumes = tuple(_volumes(found.spec, at))
    scope = _Scope(namespace, config_maps, {volume.name: volume for volume in volumes})
    return Pod(
        containers=tuple(_containers(found.spec, found.field, at, scope)),
        init_containers=tuple(_containers(found.spec, "initContainers", at, scope)),
        volumes=volumes,
        labels=mapping(found.metadata, "labels"),
        annotations=mapping(found.metadata, "annotations"),
        host_network=found.spec.get("hostNetwork") is True,
        tree=found.spec,
        at=at,
        template_at=template_at,
    )


class _Scope:
    """The objects that the names in a pod may refer to."""

    def __init__(self, namespace: str, config_maps: ConfigMaps, volumes: dict[str, Volume]) -> None:
        self._namespace = namespace
        self._config_maps = config_maps
        self._volumes = volumes

    def config_map(self, name: str) -> tuple[dict[str, Any], Place] | None:
        return self._config_maps.get((self._namespace, name)) or self._config_maps.get(("", name))

    def script(self, path: str) -> tuple[str, Place] | None:
        """Returns the text of a script beside the file of the pod, and its place."""
        found = self._config_maps.script(path)
        return (found.source.text, Place(found)) if found is not None else None

    def mounted_files(self, mounts: tuple[Mount, ...]) -> Iterator[tuple[str, str, Place]]:
        """Yields path in the container, text and place of every file that a mounted ConfigMap holds."""
        for mount in mounts:
            volume = self._volumes.get(mount.volume)
            if volume is None or volume.kind != "configMap":
                continue
            found = self.config_map(text(volume.body, "name"))
            if found is None:
                continue
            data, at = found
            for key, value in data.items():
                if isinstance(value, str):
                    yield f"{mount.mount_path.rstrip('/')}/{key}", value, at.child(key)
                    yield mount.mount_path, value, at.child(key)


def _volumes(spec: dict[str, Any], at: Place) -> Iterator[Volume]:
    for index, volume in enumerate(items(spec, "volumes")):
        if isinstance(volume, dict):
            kind = next((key for key in volume if key != "name"), "emptyDir")
            yield Volume(text(volume, "name"), kind, mapping(volume, kind), at.child("volumes", index))


def _containers(spec: dict[str, Any], field: str, at: Place, scope: _Scope) -> Iterator[Container]:
    if isinstance(spec.get(field), dict):
        yield load_container(spec[field], at.child(field), scope)
    for index, tree in enumerate(items(spec, field)):
        if isinstance(tree, dict):
            yield load_container(tree, at.child(field, index), scope)


def load_container(tree: dict[str, Any], at: Place, scope: _Scope) -> Container:
    """Returns one container."""
    mounts = tuple(
        Mount(text(mount, "name"), text(mount, "mountPath"), mount.get("readOnly") is True, at.child("volumeMounts", i))
        for i, mount in enumerate(items(tree, "volumeMounts"))
        if isinstance(mount, dict)
    )
    command, args = _words(tree, "command", at), _words(tree, "args", at)
    argv = command + args
    scripts = tuple(_scripts(argv, mounts, scope))
    commands, exported = _commands(argv, scripts)
    settings = [*_nccl_conf(mounts, scope), *_env_from(tree, scope), *_env(tree, at, scope), *exported]
    image = tree.get("image")
    limits, requests = mapping(tree, "resources", "limits"), mapping(tree, "resources", "requests")
    return Container(
        name=text(tree, "name"),
        image=image if isinstance(image, str) else None,
        command=tuple([word for word, _ in command]),
        args=tuple([word for word, _ in args]),
        settings=tuple(settings),
        scripts=scripts,
        commands=tuple(commands),
        limits=limits,
        requests=requests,
        gpus=gpus(limits, requests),
        mounts=mounts,
        tree=tree,
        at=at,
    )


def _words(tree: dict[str, Any], field: str, at: Place) -> list[tuple[str, Place]]:
    """Returns the items of a list of words, each with its place."""
    return [(str(word), at.child(field, index)) for index, word in enumerate(items(tree, field))]


def overridden(
    base: Container, fields: dict[str, Any], at: Place, template: Pod, namespace: str, config_maps: ConfigMaps
) -> Container:
    """Returns a runtime's container with the fields of a TrainJob's `trainer`, at `at`, in place of its own."""
    scope = _Scope(namespace, config_maps, {volume.name: volume for volume in template.volumes})
    argv: list[tuple[str, Place]] = []
    for field in ("command", "args"):
        tree, place = (fields, at) if isinstance(fields.get(field), list) else (base.tree, base.at)
        argv += _words(tree, field, place)
    scripts = tuple(_scripts(argv, base.mounts, scope))
    commands, exported = _commands(argv, scripts)
    inherited = [*_nccl_conf(base.mounts, scope), *_env_from(base.tree, scope), *_env(base.tree, base.at, scope)]
    image = fields.get("image")
    resources = mapping(fields, "resourcesPerNode") or mapping(base.tree, "resources")
    limits, requests = mapping(resources, "limits"), mapping(resources, "requests")
    replaced = {key: fields[key] for key in ("image", "command", "args") if fields.get(key)}
    return base._replace(
        image=image if isinstance(image, str) else base.image,
        command=tuple(str(word) for word in items(fields, "command")) or base.command,
        args=tuple(str(word) for word in items(fields, "args")) or base.args,
        settings=(*inherited, *_env(fields, at, scope), *exported),
        scripts=scripts,
        commands=tuple(commands),
        limits=limits,
        requests=requests,
        gpus=gpus(limits, requests),
        tree={**base.tree, **replaced, "resources": resources},
    )


def patched(template: Pod, patch: Pod) -> Pod:
    """Returns a pod template with a patch that adds volumes, mounts, variables, labels and scheduling."""
    added = {key: value for key, value in patch.tree.items() if key not in ("containers", "initContainers", "volumes")}
    return template._replace(
        containers=tuple(_joined(container, patch.containers) for container in template.containers),
        init_containers=tuple(_joined(container, patch.init_containers) for container in template.init_containers),
        volumes=template.volumes + patch.volumes,
        labels={**template.labels, **patch.labels},
        annotations={**template.annotations, **patch.annotations},
        tree={**template.tree, **added},
    )


def _joined(container: Container, patches: tuple[Container, ...]) -> Container:
    for patch in patches:
        if patch.name == container.name:
            container = container._replace(
                settings=container.settings + patch.settings, mounts=container.mounts + patch.mounts
            )
    return container


def _scripts(argv: list[tuple[str, Place]], mounts: tuple[Mount, ...], scope: _Scope) -> Iterator[Script]:
    words = [word for word, _ in argv]
    inline = None
    if words and words[0].rsplit("/", 1)[-1] in shell.SHELLS:
        for index, word in enumerate(words[1:], 1):
            if word.startswith("-") and not word.startswith("--") and word.endswith("c") and index + 1 < len(words):
                ends_options = word == "-c" and words[index + 1] == "--" and index + 2 < len(words)
                inline = Script(*argv[index + 2 if ends_options else index + 1])
                yield inline
                break
            if not word.startswith(("-", "+")):
                break
    mounted = list(scope.mounted_files(mounts))
    started = " ".join(words) if mounted else ""
    written = [one for one in mounted if one[0] in started and looks_like_shell(*one[:2])]
    # A path below a folder names one file of it, and not the others.
    named = [one for one in written if _is_whole_path(one[0], started)]
    seen: set[Place] = set()
    for path, content, at in named or written:
        if at not in seen:
            seen.add(at)
            yield Script(content, at, path)
    yield from _scripts_beside(words, inline, {path for path, _, _ in mounted}, scope)


def _is_whole_path(path: str, started: str) -> bool:
    """True if a command has a path that does not go on below it."""
    return re.search(re.escape(path) + r"(?!/[\w.])", started) is not None


def _scripts_beside(words: list[str], inline: Script | None, mounted: set[str], scope: _Scope) -> Iterator[Script]:
    """Yields the scripts that a command starts from the image, or from a volume that is not in the files."""
    if inline is not None:
        paths = _SHELL_FILE.findall(inline.text[: shell.MAX_LENGTH])
    else:
        paths = [word for word in words[:_FIRST_WORDS] if word.endswith(".sh")]
    for path in dict.fromkeys(paths):
        found = scope.script(path) if path not in mounted else None
        if found is not None:
            yield Script(*found, path)


def looks_like_shell(name: str, content: str) -> bool:
    """True if a file is a shell script, by its name or its first line."""
    first = content.lstrip().split("\n", 1)[0]
    return name.endswith(".sh") or (first.startswith("#!") and any(first.rstrip().endswith(s) for s in shell.SHELLS))


def _commands(argv: list[tuple[str, Place]], scripts: tuple[Script, ...]) -> tuple[list[Command], list[Setting]]:
    commands: list[Command] = []
    settings: list[Setting] = []
    for script in scripts:
        found, exported = shell.parse_script(script.text, script.at)
        commands += found
        settings += exported
    if not scripts and argv:
        words = argv[1:] if argv[0][0] == "env" else argv
        while words and "=" in words[0][0] and words[0][0].partition("=")[0].isidentifier():
            name, _, value = words[0][0].partition("=")
            settings.append(Setting(name, value, value, "command", words[0][1]))
            words = words[1:]
        if words:
            names, places = zip(*words, strict=True)
            commands.append(Command(names, places, words[0][1]))
    for command in commands:
        if command.program in MPI_LAUNCHERS:
            settings += shell.mpirun_settings(command)
    return commands, settings


def _env(tree: dict[str, Any], at: Place, scope: _Scope) -> Iterator[Setting]:
    for index, entry in enumerate(items(tree, "env")):
        if not isinstance(entry, dict):
            continue
        place = at.child("env", index, "value")
        raw = entry.get("value")
        reference = mapping(entry, "valueFrom", "configMapKeyRef") if "valueFrom" in entry else None
        found = scope.config_map(text(reference, "name")) if reference else None
        if found is not None and text(reference, "key") in found[0]:
            raw, place = found[0][text(reference, "key")], found[1].child(text(reference, "key"))
        elif "valueFrom" in entry:
            yield Setting(text(entry, "name"), None, None, "env", at.child("env", index, "valueFrom"))
            continue
        value = as_text(raw)
        yield Setting(text(entry, "name"), None if value and has_parameter(value) else value, raw, "env", place)


def _env_from(tree: dict[str, Any], scope: _Scope) -> Iterator[Setting]:
    for entry in items(tree, "envFrom"):
        name = text(mapping(entry, "configMapRef"), "name") if isinstance(entry, dict) else ""
        found = scope.config_map(name) if name else None
        if found is None:
            continue
        prefix = text(entry, "prefix")
        data, place = found
        for key, value in data.items():
            yield Setting(prefix + key, as_text(value), value, "envFrom", place.child(key))


def _nccl_conf(mounts: tuple[Mount, ...], scope: _Scope) -> Iterator[Setting]:
    """Yields the lines of NCCL's file, which give way to variables of the same name (src/misc/param.cc: setEnvFile)."""
    for path, content, at in scope.mounted_files(mounts):
        # A mount of one file is yielded with each key of its ConfigMap.
        if path not in NCCL_FILES or not str(at.path[-1]).endswith("nccl.conf"):
            continue
        yield from conf_settings(content, at)


def conf_settings(content: str, at: Place) -> Iterator[Setting]:
    """Yields the lines of an `nccl.conf`, or of another file of variables."""
    for number, line in enumerate(content.split("\n")):
        name, equals, value = line.partition("=")
        # NCCL keeps spaces and quotes, which another rule reports.
        if equals and name.isidentifier() and value == value.strip(" \t\r\"'"):
            yield Setting(name, value, value, "file", at.word(number, line))


def as_text(raw: Any) -> str | None:
    """Returns a scalar as the text of an environment variable; None for null and for collections."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return str(raw) if isinstance(raw, str | int | float) else None
