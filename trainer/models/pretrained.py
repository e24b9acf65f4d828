"""Weights in safetensors files: of a Hugging Face model, or exported by the trainer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..config import ModelConfig
from ..errors import ConfigError
from .huggingface import Parts, is_ignored, tensors_of, without_prefix
from .model import Model

SINGLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_DTYPES = {"F64", "F32", "F16", "BF16"}


def load_weights(model: Model, config: ModelConfig) -> None:
    """Replaces the weights of `model`, which may be on the meta device, by those of `init_from`, on the CPU in fp32.

    Tensors are read one at a time, so the host needs memory for the model in fp32 and for the largest tensor.

    Raises:
        ConfigError: A tensor is missing, has another shape or no place in the model; or a file cannot be read.
    """
    path = Path(config.init_from)
    try:
        with _opened(path) as archive:
            weights = _read(archive, model, config, path)
    except (OSError, SafetensorError) as error:
        raise ConfigError(f"cannot read --init-from {path}: {error}") from error
    model.load_state_dict(weights, assign=True)


class _Archive:
    """The tensors in open files, by name."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files
        self.names = files.keys()

    def shape(self, name: str) -> list[int]:
        return list(self._files[name].get_slice(name).get_shape())

    def dtype(self, name: str) -> str:
        return str(self._files[name].get_slice(name).get_dtype())

    def read(self, name: str) -> Tensor:
        tensor: Tensor = self._files[name].get_tensor(name)
        return tensor


@contextmanager
def _opened(path: Path) -> Iterator[_Archive]:
    with ExitStack() as stack:
        found: dict[str, Any] = {}
        for file, listed in _files(path).items():
            opened = stack.enter_context(safe_open(file, framework="pt"))
            names = set(opened.keys())
            if listed is not None and (missing := sorted(listed - names)):
                raise ConfigError(f"--init-from {path}: {_INDEX} names {missing[0]}, which {file.name} does not have")
            found |= dict.fromkeys(names if listed is None else listed, opened)
        yield _Archive(found)


def _files(path: Path) -> dict[Path, set[str] | None]:
    """Returns the files with weights, and the tensors that the index lists for each; None without an index."""
    if path.is_file():
        return {path: None}
    if (path / SINGLE).exists():
        return {path / SINGLE: None}
    if not (path / _INDEX).exists():
        raise ConfigError(
            f"--init-from {path} has neither {SINGLE} nor {_INDEX}: pickled weights (.bin) are not loaded, because "
            "they can run code; write a folder that `save_pretrained` of transformers 5 wrote"
        )
    files: dict[Path, set[str] | None] = {}
    for name, file in _weight_map(path / _INDEX).items():
        listed = files.setdefault(path / file, set())
        assert listed is not None  # noqa: S101 - for mypy
        listed.add(name)
    return files


def _weight_map(index: Path) -> dict[str, str]:
    try:
        found = json.loads(index.read_bytes())["weight_map"].items()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(f"--init-from {index} has no weight_map: download it again") from error
    # A name with folders could lead out of the folder that the user has named.
    if wrong := [file for _, file in found if not isinstance(file, str) or Path(file).name != file]:
        raise ConfigError(f"--init-from {index} names {wrong[0]!r}, which is not a file in its folder")
    return dict(found)


def _read(archive: _Archive, model: Model, config: ModelConfig, path: Path) -> dict[str, Tensor]:
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    if path.is_dir():
        wanted = tensors_of(config)
        spelled = {without_prefix(config, name): name for name in archive.names}
        spelled = {short: name for short, name in spelled.items() if not is_ignored(config, short)}
    else:
        wanted = {name: Parts((name,)) for name in shapes}
        spelled = {name: name for name in archive.names}
    for short, parts in wanted.items():
        if short not in spelled:
            raise ConfigError(f"--init-from {path} lacks the tensor {short}: use weights of the whole model")
        _check(archive, spelled[short], parts.shape(shapes), path)
    if more := sorted(spelled.keys() - wanted.keys()):
        raise ConfigError(
            f"--init-from {path} has the tensor {spelled[more[0]]}, which this model has no place for: use weights of "
            f"a {config.model} as its configuration describes it"
        )
    weights: dict[str, Tensor] = {}
    for short, parts in wanted.items():
        weights |= parts.split(archive.read(spelled[short]))
    return weights


def _check(archive: _Archive, name: str, shape: list[int], path: Path) -> None:
    if (had := archive.shape(name)) != shape:
        raise ConfigError(
            f"--init-from {path}: tensor {name} has the shape {had}, and this run's model needs {shape}: write the "
            "fields of the model, and the data, that the weights were trained with"
        )
    if (kind := archive.dtype(name)) not in _DTYPES:
        raise ConfigError(
            f"--init-from {path}: tensor {name} is of the type {kind}, and only {', '.join(sorted(_DTYPES))} are "
            "supported: use weights that are not quantized"
        )


__all__ = ["SINGLE", "load_weights"]
