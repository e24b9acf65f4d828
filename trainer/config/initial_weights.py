"""The fields that follow the initial weights of a run, `init_from`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from .huggingface import fields_of
from .model import ARCHITECTURE, DERIVED, TOKEN_MODELS, ModelConfig
from .schema import FieldError

CONFIG_NAME = "config.json"
# The key of the fields in the metadata of an exported file.
FIELDS_KEY = "fields"
_SUFFIX = ".safetensors"
_BYTES = 256
_TYPES = {known.name: type(known.default) for known in fields(ModelConfig) if known.name in ARCHITECTURE}
_TYPES["classes"] = int
_HEADER_LIMIT = 100_000_000  # as that of the safetensors library


def follow_initial_weights(written: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a run: those `written`, and for the others of the model those of `init_from`.

    Raises:
        ConfigError: `init_from` cannot be read, or is not a model that the trainer can compute.
        FieldError: A field that was written differs.
    """
    if not written.get("init_from"):
        return dict(written)
    path = Path(written["init_from"])
    try:
        known = _describe(path)
    except OSError as error:
        raise ConfigError(
            f"cannot read --init-from {error.filename or path} ({error.strerror}): write the folder of a Hugging Face "
            "model, or a file of `python -m trainer.export`"
        ) from error
    for name, value in known.items():
        had = written.get(name, value)
        if had != value and not (name in DERIVED and had == 0):
            raise FieldError(name, f"must be {value} as in {path}, or not set; it is {had}", value)
    if written.get("data") == "text" and known.get("model") in TOKEN_MODELS and known["classes"] < _BYTES:
        problem = f"{path} has a vocabulary of {known['classes']}, and data text has {_BYTES} different tokens: write"
        raise FieldError("data", problem, "folder")
    if known.get("max_positions"):
        known["context_length"] = known["max_positions"]
    return {**known, **written}


def described_fields(config: ModelConfig, classes: int) -> dict[str, Any]:
    """Returns the fields that describe the model of `config`, for the metadata of an exported file."""
    return {name: config.derived_or_set(name) for name in ARCHITECTURE} | {"classes": classes}


def _describe(path: Path) -> dict[str, Any]:
    if path.is_dir():
        return _of_folder(path)
    if path.suffix != _SUFFIX and path.exists():
        raise ConfigError(
            f"--init-from {path} is not a {_SUFFIX} file, and loading a pickle can run code: write a folder that "
            "`save_pretrained` of transformers 5 wrote, which contains safetensors"
        )
    return _of_file(path)


def _of_folder(folder: Path) -> dict[str, Any]:
    text = (folder / CONFIG_NAME).read_bytes()
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"--init-from {folder / CONFIG_NAME} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"--init-from {folder / CONFIG_NAME} is not a JSON object")
    try:
        return fields_of(found)
    except ConfigError as error:
        raise ConfigError(f"--init-from {folder / CONFIG_NAME}: {error}") from error


def _of_file(file: Path) -> dict[str, Any]:
    """Returns the fields in the metadata of an exported file; none for a file of an earlier version.

    Format: https://github.com/huggingface/safetensors#format
    """
    metadata = _metadata(file)
    if "step" not in metadata:
        raise ConfigError(
            f"--init-from {file} is not a file of `python -m trainer.export`: for a Hugging Face model, write the "
            f"folder that has {CONFIG_NAME}"
        )
    try:
        found: dict[str, Any] = dict(json.loads(metadata.get(FIELDS_KEY, "{}")))
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--init-from {file} has damaged metadata: export it again") from error
    if wrong := [name for name, value in found.items() if type(value) is not _TYPES.get(name)]:
        raise ConfigError(f"--init-from {file} has the field {wrong[0]}: export it with this version of the trainer")
    return found


def _metadata(file: Path) -> dict[str, str]:
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        try:
            found = json.loads(stream.read(min(size, _HEADER_LIMIT)))
            return dict(found.get("__metadata__", {}))
        except (ValueError, AttributeError) as error:
            raise ConfigError(f"--init-from {file} is not a safetensors file: copy it again") from error
