"""A command names a file in a folder of the image, and the ConfigMap with this file is mounted in another folder.

A relative path starts at `workingDir`, or at the folder of the last `cd`. If the ConfigMap with the file is mounted
elsewhere, the program looks in the image: it ends with `No such file or directory`, or uses an old file of the image.
The same holds for a whole path with another folder, as after a change of `mountPath`.

The rule looks at programs, scripts and values of options. It knows the folder of a relative path if `workingDir` or one
`cd` tells it. It ignores containers that copy, link or fetch files or name the folder of the mount, and folders in a
volume.

Write the path of the mount, mount the ConfigMap where the command looks, or set `workingDir` to its folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import launcher_in
from trainyard.loaders.manifests.shell import SHELLS
from trainyard.model.run import Command, Container, Run

_FILE = re.compile(r"(?:\./|/)?\w[\w./@%+-]*\.(?:py|sh|bash|json|ya?ml|toml|conf|cfg|ini)\Z")
_READERS = (*SHELLS, "source", ".", "exec")
# Programs that bring files into a folder.
_BRINGERS = frozenset(
    (
        "cp", "ln", "mv", "install", "rsync", "scp", "git", "wget", "curl", "tar", "unzip", "gsutil", "gcloud", "aws",
        "az", "azcopy", "rclone", "hf", "huggingface-cli", "envsubst", "tee", "cat", "sed", "printf", "echo", "pushd",
    )
)  # fmt: skip


@rule(
    code="RF045",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/configmap: files of a mounted ConfigMap",
        "github.com/deepspeedai/DeepSpeed issue 4156",
    ),
    needs=("ConfigMap", "configMapGenerator"),
)
def file_in_another_folder(container: Container, context: Context) -> Iterator[Problem]:
    """Report relative paths to files that are mounted elsewhere."""
    run = context.run
    files = _mounted(container, context, run) if run is not None else {}
    if not files or any(one.program in _BRINGERS for one in container.commands):
        return
    folders = {id(command): folder for command, folder in _folders(container)}
    for command in container.commands:
        for path, at in _paths(command):
            mounted = files.get(posixpath.basename(path))
            whole = posixpath.normpath(posixpath.join(folders.get(id(command), ""), path))
            if mounted is None or whole == mounted or not whole.startswith("/"):
                continue
            if mount_of(container, whole) is not None:
                continue
            if not _names(container, posixpath.dirname(mounted)):
                where = f"`{path}` is in the image" if whole == path else f"`{path}` means `{whole}` of the image"
                yield Problem(at, f"{where}, but the ConfigMap mounts the file at `{mounted}`", f"write `{mounted}`")
                return


def _mounted(container: Container, context: Context, run: Run) -> dict[str, str]:
    """Returns the paths of the files of mounted ConfigMaps by their names, of those with one path."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for index, mount in enumerate(items(container.tree, "volumeMounts")):
        volume = context.pod.volume(text(mount, "name")) if context.pod is not None else None
        if volume is None or volume.kind != "configMap" or index >= len(container.mounts):
            continue
        known = fitting(context.project, "ConfigMap", text(volume.body, "name"), run.namespace, volume.at)
        listed = [text(one, "path") for one in items(volume.body, "items")]
        keys = listed or (known[0].keys if len(known) == 1 else None) or ()
        folder = text(mount, "mountPath")
        for key in (text(mount, "subPath"),) if "subPath" in mount else keys:
            name = posixpath.basename(folder if "subPath" in mount else key)
            twice |= {name} & found.keys()
            found[name] = folder if "subPath" in mount else posixpath.join(folder, key)
    return {name: path for name, path in found.items() if name not in twice}


def _names(container: Container, folder: str) -> bool:
    """True if a word, a script or a variable names the folder: the program knows it."""
    texts = (*container.command, *container.args, *(one.text for one in container.scripts))
    return any(folder in one for one in texts) or any(folder in (one.value or "") for one in container.settings)


def _folders(container: Container) -> Iterator[tuple[Command, str]]:
    """Yields the commands whose folder is known, with it."""
    folder = text(container.tree, "workingDir")
    moves = [one for one in container.commands if one.program == "cd"]
    if len(moves) > 1 or any(len(one.words) != 2 or not one.words[1].startswith("/") for one in moves):
        return
    for command in container.commands:
        if command.program == "cd":
            folder = command.words[1]
        elif folder.startswith("/") and "$" not in folder:
            yield command, folder


def _paths(command: Command) -> Iterator[tuple[str, Place]]:
    program = command.program
    reads = program in _READERS or program.startswith("python") or launcher_in(command.words) is not None
    for word, at in zip(command.words, command.word_at, strict=True) if reads else ():
        path = word.rpartition("=")[2] if word.startswith("-") else word
        if _FILE.match(path):
            yield path, at
