"""A variable of the manifest names itself with `$`, which nothing expands, so the paths of the image are lost.

Kubernetes replaces `$(NAME)` alone, and only variables of the same manifest: `$LD_LIBRARY_PATH` in a value stays as it
is. The program searches a folder of that name, and none of the folders that the image has set: NCCL misses its network
plugin, or Python its packages.

The rule leaves out containers whose script evaluates the variable.

Write the folders of the image into the value, or set the variable in the script: `export PATH=/opt/bin:$PATH`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Setting
from trainyard.startup import pattern

_SELF = pattern(r"\$\{?(\w+)\b")
_VIA = ("env", "envFrom")


@rule(
    code="SC023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference: EnvVar.value expands $(VAR_NAME) of variables defined before in the container",
        "github.com/awslabs/awsome-distributed-ai pull 881",
    ),
    needs=("$",),
)
def path_not_expanded(container: Container) -> Iterator[Problem]:
    """Report variables whose value names the variable itself."""
    for setting in container.settings:
        if setting.via in _VIA and _names_itself(setting) and not _is_read_by_shell(container, setting.name):
            yield Problem(
                setting.at,
                f"Kubernetes does not expand `${setting.name}` in {setting.name}: what the image has set is lost",
                f"write the folders, or `export {setting.name}=...:${setting.name}` in the script",
            )


def _names_itself(setting: Setting) -> bool:
    if setting.value is None or "PATH" not in setting.name or "$" not in setting.value:
        return False
    return any(found[1] == setting.name for found in _SELF.finditer(setting.value))


def _is_read_by_shell(container: Container, name: str) -> bool:
    """True if a script sets the variable anew, or evaluates text."""
    return any(f"{name}=" in script.text or "eval" in script.text for script in container.scripts)
