"""The environment of a container's process, and the role whose ranks a variable applies to."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import is_env_entry
from trainyard.document.document import Append, Edit
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context
from trainyard.model.run import Container, Role, Setting
from trainyard.startup import pattern

REFERENCE = pattern(r"(\$*)\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
# Service links: the kubelet sets these for every Service of the namespace.
SERVICE_LINK = pattern(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)\Z|KUBERNETES_")


def references(text: str) -> Iterator[str]:
    """Yields the names of variables that a text refers to as `$(NAME)`; two dollar signs are for one of the text."""
    for dollars, name in REFERENCE.findall(text) if "$(" in text else ():
        if len(dollars) % 2 == 0:
            yield name


def is_effective(setting: Setting, container: Container | None) -> bool:
    """True if the process sees this entry: of several with one name, the last one wins."""
    return container is not None and container.setting(setting.name) is setting


def value_of(container: Container, name: str) -> str | None:
    """Returns the value of a variable, None if it is not set or not known."""
    setting = container.setting(name)
    return setting.value if setting is not None else None


def has_unknown_variables(container: Container, context: Context) -> bool:
    """True if the container takes variables from a Secret, an unknown ConfigMap or a file that its script sources."""
    namespace = context.run.namespace if context.run is not None else ""
    for entry in items(container.tree, "envFrom"):
        if context.project.named("ConfigMap", text(entry, "configMapRef", "name"), namespace) is None:
            return True
    return any(command.words[:1] in (("source",), (".",)) for command in container.commands)


def set_variable(setting: Setting, name: str, value: str) -> tuple[Edit, ...]:
    """Returns the edit that sets another variable in the same `env`; none if the variable is set elsewhere."""
    if not is_env_entry(setting):
        return ()
    return (Append(setting.at._replace(path=setting.at.path[:-2]), {"name": name, "value": value}),)


def ranks_of(setting: Setting, context: Context) -> tuple[Container, ...]:
    """Returns the containers whose processes see a variable: with `mpirun -x` those of all roles."""
    if setting.via == "mpirun" and context.run is not None:
        return tuple(role.container for role in context.run.roles if role.container is not None)
    return (context.container,) if context.container is not None else ()


def role_of_ranks(context: Context) -> Role | None:
    """Returns the role whose pods run the ranks: the variable's own, or for a launcher the role of its workers."""
    run, role = context.run, context.role
    if run is None or role is None or role.trains:
        return role
    return next(iter(run.training_roles), None)
