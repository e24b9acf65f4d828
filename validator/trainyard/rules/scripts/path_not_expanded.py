"""A variable of the manifest names itself with `$`, which nothing expands, so the paths of the image are lost.

Kubernetes replaces `$(NAME)` alone, and only variables that the manifest sets before: `$LD_LIBRARY_PATH` in a value
stays as it is, and so does `$(LD_LIBRARY_PATH)` in the variable itself. The program searches a folder of that name, and
none of the folders that the image has set: NCCL misses its network plugin, or Python its packages.

The rule leaves out containers whose script evaluates the variable, and a value `${NAME}` beside others of this form,
which `envsubst` fills in.

Write the folders of the image into the value, or set the variable in the script: `export PATH=/opt/bin:$PATH`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Container, Setting
from trainyard.startup import pattern

_SELF = pattern(r"\$[({]?(\w+)\b")
_WHOLE = pattern(r"\$\{(\w+)\}")
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
    """Report variables whose value names the variable itself, at the first of a container."""
    found = [one for one in container.settings if one.via in _VIA and _names_itself(one)]
    if any(one.via in _VIA and _is_filled(one) for one in container.settings):
        # A script fills in the others, and these as well.
        found = [one for one in found if one.value != f"${{{one.name}}}"]
    found = [one for one in found if not _is_known(container, one) and not _is_read_by_shell(container, one.name)]
    if not found:
        return
    first, *others = found
    itself = f"`{_reference(first)}` in {first.name}"
    several = f"{format_list(f'`{_reference(one)}`' for one in found)} in their own values"
    yield Problem(
        first.at,
        f"Kubernetes does not expand {several if others else itself}: what the image has set is lost",
        f"write the folders, or `export {first.name}=...:${first.name}` in the script",
        related=tuple((one.at, f"`{_reference(one)}` stays as it is") for one in others),
    )


def _names_itself(setting: Setting) -> bool:
    if setting.value is None or "PATH" not in setting.name or "$" not in setting.value:
        return False
    return any(found[1] == setting.name for found in _SELF.finditer(setting.value))


def _is_filled(setting: Setting) -> bool:
    """True for a value that is nothing but another variable, as `envsubst` replaces it."""
    whole = _WHOLE.fullmatch(setting.value or "")
    return whole is not None and whole[1] != setting.name


def _reference(setting: Setting) -> str:
    return f"$({setting.name})" if f"$({setting.name})" in (setting.value or "") else f"${setting.name}"


def _is_known(container: Container, setting: Setting) -> bool:
    """True if the manifest may set the variable before, so that `$(NAME)` is replaced."""
    if f"$({setting.name})" not in (setting.value or ""):
        return False
    names = [one.get("name") for one in items(container.tree, "env") if isinstance(one, dict)]
    return bool(container.tree.get("envFrom")) or names.count(setting.name) != 1


def _is_read_by_shell(container: Container, name: str) -> bool:
    """True if a script sets the variable anew, or evaluates text."""
    return any(f"{name}=" in script.text or "eval" in script.text for script in container.scripts)
