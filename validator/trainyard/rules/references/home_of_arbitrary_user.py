"""The container runs as a user without a home folder, and its program writes there.

A user that the image does not know has the home `/`, which belongs to root. `pip install --user` then writes to
`/.local`, and the command lines of Hugging Face to `/.cache`: both end with "Permission denied". On OpenShift, each
namespace has a range of such users, from 1000600000 on. CRI-O makes the working directory the home.

The rule applies to `runAsUser` above 65535: no image has such a user. It leaves out containers with variables that move
the folders, and with a working directory on a volume.

Set `HOME` to a writable volume, or the variable of the program: `PYTHONUSERBASE`, or `HF_HOME`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.caches import OF_HUB
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.users import user_of
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

LAST = 65535
_PYTHON = pattern(r"python[\d.]*")
_PIP = ("pip", "pip3")
_HUB = ("huggingface-cli", "hf")
# Options with which nothing is written to the home.
_ELSEWHERE = ("--target", "-t", "--prefix", "--root")


@rule(
    code="RF088",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubeflow/sdk issue 89 and github.com/kubeflow/mcp-server issues 33 and 41: /.local and /.cache",
        "docs.openshift.com: Guidelines for creating images, arbitrary user IDs",
    ),
    needs=("runAsUser",),
)
def home_of_arbitrary_user(container: Container, context: Context) -> Iterator[Problem]:
    """Report writes to the home of a user without one."""
    pod = context.pod
    user, _ = user_of(container, pod) if pod is not None else (None, None)
    if user is None or user <= LAST or container.setting("HOME") is not None or _works_on_volume(container):
        return
    for command in container.commands:
        for folder, names, variable in _writes(command):
            if mount_of(container, folder) is None and not any(map(container.setting, names)):
                yield Problem(
                    command.at,
                    f"user {user} has no home, so `{command.program}` writes to `{folder}` and is not permitted to",
                    f"set {variable} to a folder on a volume, or HOME",
                )


def _works_on_volume(container: Container) -> bool:
    folder = text(container.tree, "workingDir")
    return bool(folder) and mount_of(container, folder) is not None


def _writes(command: Command) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yields the folders that a command writes, the variables that move them, and the one to set."""
    words = command.words
    if command.program in _PIP:
        rest = words[1:]
    elif _PYTHON.fullmatch(command.program) and words[1:3] in (("-m", "pip"), ("-m", "pip3")):
        rest = words[3:]
    elif command.program in _HUB and words[1:2] == ("download",):
        if not command.has("--local-dir", "--cache-dir"):
            yield "/.cache", (*OF_HUB, "XDG_CACHE_HOME"), "HF_HOME"
        return
    else:
        return
    if rest[:1] == ("install",) and "--user" in rest and not command.has(*_ELSEWHERE):
        yield "/.local", ("PYTHONUSERBASE",), "PYTHONUSERBASE"
