"""A command names a file in the folder of a mounted ConfigMap, and the ConfigMap has no such file.

A ConfigMap volume holds one file for each key, or for each of its `items`, and hides everything that the image has in
the folder. A program that is started by another name ends with `No such file or directory`, and the job restarts until
its limit.

The rule looks at the programs and scripts that a container starts, and at the values of their options, such as
`--deepspeed` and `--config`, also where a variable that the script sets once holds the path. It applies if the
ConfigMap is in the files.

Write the name of the file as in the ConfigMap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import variables, with_values
from trainyard.analysis.objects.known_objects import Known, fitting
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.launchers import launcher_in
from trainyard.loaders.manifests.shell import SHELLS
from trainyard.model.run import Command, Container, Mount, Volume

# A plain path to a file with a suffix: folders are often named in arguments, too.
FILE = re.compile(r"/[\w./@%+-]*\.(?:py|sh|bash|json|ya?ml|toml|conf|cfg|ini|txt)\Z")
# Programs that only read the files of their arguments, as launchers do.
READERS = (*SHELLS, "source", ".", "exec")


@rule(
    code="RF005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/configmap: each key becomes a file of the mounted volume",
        "kubernetes v1.34 pkg/volume/configmap/configmap.go: MakePayload",
    ),
    needs=("ConfigMap", "configMapGenerator"),
)
def mounted_file_missing(container: Container, context: Context) -> Iterator[Problem]:
    """Files that are not in the ConfigMap mounted at their folder."""
    pod, run = context.pod, context.run
    if pod is None or run is None or not any(volume.kind == "configMap" for volume in pod.volumes):
        return
    done: set[str] = set()
    told = Counter(setting.name for setting in container.settings)
    known_once = {name: value for name, value in variables(container).items() if told[name] == 1}
    for path, at in (found for command in container.commands for found in _paths(command, known_once)):
        mount = mount_of(container, path)
        volume = pod.volume(mount.volume) if mount is not None else None
        if mount is None or volume is None or volume.kind != "configMap" or path in done:
            continue
        done.add(path)
        known = fitting(context.project, "ConfigMap", text(volume.body, "name"), run.namespace, volume.at)
        files = _files(volume, known[0]) if len(known) == 1 and not _has_sub_path(container, mount) else None
        rest = path[len(mount.mount_path.rstrip("/")) + 1 :]
        if files is None or rest in files or volume.body.get("optional") is True:
            continue
        near = closest_match(rest, sorted(files), 0.5)
        yield Problem(
            at,
            f"`{path}` does not exist: ConfigMap `{known[0].name}`, mounted at `{mount.mount_path}`, has no `{rest}`",
            f"did you mean `{near}`?" if near is not None else f"its files are {format_list(sorted(files))}",
            related=((known[0].at, "the ConfigMap"),),
        )


def _paths(command: Command, variables_of_script: dict[str, str]) -> Iterator[tuple[str, Place]]:
    program = command.program
    reads = program in READERS or program.startswith("python") or launcher_in(command.words) is not None
    if not (reads or FILE.match(command.words[0])):
        return
    for word, at in zip(command.words, command.word_at, strict=True):
        path = word.rpartition("=")[2] if word.startswith("-") else word
        if "$" in path:
            path = " ".join(with_values((path,), variables_of_script))
        if FILE.match(path):
            yield path, at


def _files(volume: Volume, known: Known) -> frozenset[str] | None:
    """The files of the volume; None if they are not known."""
    listed = items(volume.body, "items")
    return frozenset(text(item, "path") for item in listed) if listed else known.keys


def _has_sub_path(container: Container, mount: Mount) -> bool:
    return any(
        text(one, "mountPath") == mount.mount_path and ("subPath" in one or "subPathExpr" in one)
        for one in items(container.tree, "volumeMounts")
        if isinstance(one, dict)
    )
