"""Environment variables in the text of a file: where their name stands, and edits that change or remove them."""

from __future__ import annotations

from validator.model import Setting
from validator.rule import Edit, Remove, Rename, SetValue, Substitute
from validator.source import Place

_QUOTES = ("", '"', "'")


def literal(setting: Setting) -> str | None:
    """The value, None when it is not in the files or is made at run time (`$(NAME)`, `${NAME}`, backticks)."""
    value = setting.value
    return None if value is None or "$" in value or "`" in value else value


def name_at(setting: Setting) -> Place:
    """Where the variable's name is written."""
    if in_env(setting):
        return setting.at._replace(path=(*setting.at.path[:-1], "name"))
    return setting.at.key() if setting.via == "envFrom" else setting.at


def changed(setting: Setting, value: str) -> tuple[Edit, ...]:
    """The edit that gives the variable another value; none when its text cannot be found."""
    if setting.via in ("env", "envFrom"):
        return (SetValue(setting.at, value),)
    line = _text(setting)
    for quote in _QUOTES:
        old = f"{setting.name}={quote}{setting.value}{quote}"
        if old in line:
            return (Substitute(setting.at, old, f"{setting.name}={quote}{value}{quote}"),)
    return ()


def renamed(setting: Setting, name: str) -> tuple[Edit, ...]:
    """The edit that gives the variable another name."""
    if in_env(setting):
        return (SetValue(name_at(setting), name),)
    if setting.via == "envFrom":
        # A prefix of the envFrom entry is no part of the key.
        return (Rename(setting.at, name),) if setting.at.path[-1] == setting.name else ()
    old = f"{setting.name}="
    return (Substitute(setting.at, old, f"{name}="),) if old in _text(setting) else ()


def dropped(setting: Setting) -> tuple[Edit, ...]:
    """The edit that removes the variable; none for shell text, of which a part cannot be cut out blindly."""
    if in_env(setting):
        return (Remove(setting.at._replace(path=setting.at.path[:-1])),)
    return (Remove(setting.at),) if setting.via == "envFrom" else ()


def in_env(setting: Setting) -> bool:
    """Whether the variable is an entry of `env` that has its value beside its name."""
    # A value out of a ConfigMap key has its place there: the entry of `env` is elsewhere.
    path = setting.at.path
    return setting.via == "env" and len(path) > 2 and path[-3] == "env"


def _text(setting: Setting) -> str:
    position = setting.at.document.locate(setting.at)
    return "\n".join(position.source.text.split("\n")[position.line - 1 : position.end_line])
