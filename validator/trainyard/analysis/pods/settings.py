"""Environment variables in the text of a file: the place of a name, and edits that change or remove a variable."""

from __future__ import annotations

from trainyard.document.document import Edit, Place, Remove, Rename, SetValue, Substitute
from trainyard.document.source import lines
from trainyard.model.run import Setting

_QUOTES = ("", '"', "'")


def literal_value(setting: Setting) -> str | None:
    """Returns the value; None if it is not in the files or computed at run time (`$(NAME)`, `${NAME}`, backticks)."""
    value = setting.value
    return None if value is None or "$" in value or "`" in value else value


def name_at(setting: Setting) -> Place:
    """Returns the place of the variable's name."""
    if is_env_entry(setting):
        return setting.at._replace(path=(*setting.at.path[:-1], "name"))
    return setting.at.key() if setting.via == "envFrom" else setting.at


def change_value(setting: Setting, value: str) -> tuple[Edit, ...]:
    """Returns the edit that changes the variable's value; none if its text cannot be found."""
    if setting.via in ("env", "envFrom"):
        return (SetValue(setting.at, value),)
    line = _text(setting)
    for quote in _QUOTES:
        old = f"{setting.name}={quote}{setting.value}{quote}"
        if old in line:
            return (Substitute(setting.at, old, f"{setting.name}={quote}{value}{quote}"),)
    return ()


def rename_variable(setting: Setting, name: str) -> tuple[Edit, ...]:
    """Returns the edit that renames the variable."""
    if is_env_entry(setting):
        return (SetValue(name_at(setting), name),)
    if setting.via == "envFrom":
        # The prefix of an envFrom entry is not part of the key.
        return (Rename(setting.at, name),) if setting.at.path[-1] == setting.name else ()
    old = f"{setting.name}="
    return (Substitute(setting.at, old, f"{name}="),) if old in _text(setting) else ()


def remove_variable(setting: Setting) -> tuple[Edit, ...]:
    """Returns the edit that removes the variable; none for shell text, where removing a part is not safe."""
    if is_env_entry(setting):
        return (Remove(setting.at._replace(path=setting.at.path[:-1])),)
    return (Remove(setting.at),) if setting.via == "envFrom" else ()


def is_env_entry(setting: Setting) -> bool:
    """True if the variable is an entry of `env` with a literal value."""
    # A value from a ConfigMap key has its place there; the entry of `env` is elsewhere.
    path = setting.at.path
    return setting.via == "env" and len(path) > 2 and path[-3] == "env"


def _text(setting: Setting) -> str:
    position = setting.at.document.locate(setting.at)
    return "\n".join(lines(position.source)[position.line - 1 : position.end_line])
