"""The configuration file: YAML, one key for each field."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from ..errors import ConfigError
from .schema import FieldError, TrainerConfig

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", Path: "a path"}
FIELDS = {config_field.name: config_field for config_field in fields(TrainerConfig)}


def read_config_file(path: Path) -> dict[str, Any]:
    """The values of the fields that the file says.

    Raises:
        ConfigError: The file cannot be read, is no YAML mapping, or a key or value is wrong; it is named.
    """
    try:
        tree = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}: write the path of the run's configuration") from error
    # A ValueError is of the encoding, or of a value such as the date 2026-02-30.
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{path} holds no mapping: write one line `field: value` for each field, e.g. `epochs: 3`")
    try:
        return {str(name): convert(str(name), value) for name, value in tree.items()}
    except FieldError as error:
        raise ConfigError(f"{path}: {error.in_file}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def assignment(text: str) -> tuple[str, Any]:
    """Field and value of `key=value`, the value in YAML.

    Raises:
        ConfigError: There is no `=`, or what is before or behind it is wrong.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set {text}: write --set key=value, for example --set epochs=3")
    try:
        return name, convert(name, yaml.safe_load(value))
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"--set {text}: the value is not YAML; put it in quotes") from error


def convert(name: str, value: object) -> Any:
    """`value`, as YAML gives it, in the type of the field `name`.

    Raises:
        ConfigError: There is no such field.
        FieldError: The value is of another type.
    """
    if name not in FIELDS:
        near = get_close_matches(name, FIELDS, n=1)
        advice = f"did you mean {near[0]}?" if near else "`python -m trainer --help` lists them"
        raise ConfigError(f"there is no field {name}: {advice}")
    default = FIELDS[name].default
    wanted = type(default)
    if isinstance(default, Path):
        wanted = Path
    if wanted is Path and isinstance(value, str):
        return Path(value)
    # YAML 1.1 reads 1e-3 as a text, for want of a dot.
    if wanted is float and isinstance(value, int | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            return float(value)
    if type(value) is not wanted:
        raise FieldError(name, f"must be {_WORDS[wanted]}, not {value!r}", spelled(default))
    return value


def spelled(default: object) -> str:
    """A value as YAML writes it."""
    return str(default).lower() if isinstance(default, bool) else str(default)
