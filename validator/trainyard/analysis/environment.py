"""What a process sees of the variables of its container."""

from __future__ import annotations

from validator.aspects.settings import in_env
from validator.fields import items, text
from validator.model import Container, Setting
from validator.rule import Append, Context, Edit


def counts(setting: Setting, container: Container | None) -> bool:
    """Whether this entry is the one that the process sees: of several with one name, the last."""
    return container is not None and container.setting(setting.name) is setting


def value_of(container: Container, name: str) -> str | None:
    """The value of a variable, None where it is not set or not known."""
    setting = container.setting(name)
    return setting.value if setting is not None else None


def open_ended(container: Container, context: Context) -> bool:
    """Whether the container takes variables from a Secret, an unknown ConfigMap or a file that its script reads."""
    namespace = context.run.namespace if context.run is not None else ""
    for entry in items(container.tree, "envFrom"):
        if context.project.named("ConfigMap", text(entry, "configMapRef", "name"), namespace) is None:
            return True
    return any(command.words[:1] in (("source",), (".",)) for command in container.commands)


def beside(setting: Setting, name: str, value: str) -> tuple[Edit, ...]:
    """The edit that sets another variable in the same `env`; none where the variable comes from elsewhere."""
    if not in_env(setting):
        return ()
    return (Append(setting.at._replace(path=setting.at.path[:-2]), {"name": name, "value": value}),)
