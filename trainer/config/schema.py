"""The configuration of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from trainer.config.checkpoints import CheckpointConfig
from trainer.config.data import DataConfig
from trainer.config.model import ModelConfig
from trainer.config.optimization import OptimizationConfig
from trainer.config.option import flag
from trainer.config.parallel import ParallelConfig
from trainer.config.runtime import RuntimeConfig
from trainer.errors import ConfigError


class FieldError(ConfigError):
    """The value of one field is wrong. The message spells the field as a flag; `in_file` as it is in a file."""

    def __init__(self, name: str, problem: str, example: object) -> None:
        super().__init__(f"{flag(name)} {problem}: for example {flag(name)} {example}")
        self.in_file = f"{name} {problem}: for example `{name}: {example}`"
        self.name = name


@dataclass(frozen=True, kw_only=True)
# The last named come first, in --help and in the schema.
class TrainerConfig(RuntimeConfig, CheckpointConfig, ParallelConfig, DataConfig, ModelConfig, OptimizationConfig):
    """One run. Every field is a flag and a key of the configuration file, both of the same name.

    Raises:
        FieldError: A value is out of range; the message names the field and what to write.
    """

    def __post_init__(self) -> None:
        for config_field in fields(self):
            bounds = config_field.metadata["bounds"]
            value = getattr(self, config_field.name)
            if not bounds.hold(value):
                raise FieldError(config_field.name, f"must be {bounds}, not {value}", config_field.default)
        if self.model == "gpt" and self.hidden_size % self.num_heads:
            problem = f"must divide hidden_size, which is {self.hidden_size}, and {self.num_heads} does not"
            raise FieldError("num_heads", problem, _divisor(self.hidden_size, self.num_heads))
        if self.model == "gpt" and self.data == "digits":
            raise FieldError("data", "digits has images, and model gpt reads tokens", "text")
        if self.model != "gpt" and self.data == "text":
            raise FieldError("model", f"{self.model} classifies images, and data text has tokens", "gpt")

    def check_world_size(self, world_size: int) -> None:
        """Raises FieldError unless every rank gets a part of each batch, and groups of ranks are whole."""
        if self.batch_size < world_size:
            problem = f"is {self.batch_size} over all ranks, and there are {world_size}: some would have nothing to do"
            raise FieldError("batch_size", problem, world_size)
        for name, holds in (("shard_size", self.strategy == "fsdp2"), ("tensor_size", self.strategy == "tensor")):
            size = getattr(self, name)
            if holds and size and world_size % size:
                raise FieldError(
                    name, f"must divide the {world_size} ranks, and {size} does not", _divisor(world_size, size)
                )

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrainerConfig:
        """The configuration whose `as_json` is `values`.

        Raises:
            ConfigError: A field is unknown or out of range.
        """
        paths = {config_field.name for config_field in fields(cls) if isinstance(config_field.default, Path)}
        fields_of: dict[str, Any] = {name: Path(value) if name in paths else value for name, value in values.items()}
        try:
            return cls(**fields_of)
        except TypeError as error:
            raise ConfigError(f"not the configuration of a run of this trainer: {error}") from error


def _divisor(number: int, near: int) -> int:
    return max(size for size in range(1, min(near, number) + 1) if number % size == 0)
