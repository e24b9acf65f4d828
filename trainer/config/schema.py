"""The configuration of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from .checkpoints import CheckpointConfig
from .data import DataConfig
from .evaluation import EvaluationConfig
from .model import ModelConfig
from .optimization import OptimizationConfig
from .option import flag
from .parallel import ParallelConfig
from .runtime import RuntimeConfig


class FieldError(ConfigError):
    """The value of one field is wrong. The message spells the field as a flag; `in_file` as it is in a file."""

    def __init__(self, name: str, problem: str, example: object) -> None:
        super().__init__(f"{flag(name)} {problem}: for example {flag(name, example)}")
        self.in_file = f"{name} {problem}: for example `{name}: {example}`"
        self.name = name


@dataclass(frozen=True, kw_only=True)
# The last named come first, in --help and in the schema.
class TrainerConfig(
    RuntimeConfig, CheckpointConfig, ParallelConfig, EvaluationConfig, DataConfig, ModelConfig, OptimizationConfig
):
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
        if self.reads_tokens:
            self._check_transformer()
        if self.reads_tokens and self.data == "digits":
            raise FieldError("data", f"digits has images, and model {self.model} reads tokens", "text")
        if not self.reads_tokens and self.data == "text":
            raise FieldError("model", f"{self.model} classifies images, and data text has tokens", "gpt")
        if self.min_learning_rate > self.learning_rate:
            problem = f"must be at most learning_rate, which is {self.learning_rate}, not {self.min_learning_rate}"
            raise FieldError("min_learning_rate", problem, self.learning_rate / 10)

    def _check_transformer(self) -> None:
        if (self.model == "gpt" or not self.head_size) and self.hidden_size % self.num_heads:
            problem = f"must divide hidden_size, which is {self.hidden_size}, and {self.num_heads} does not"
            raise FieldError("num_heads", problem, _divisor(self.hidden_size, self.num_heads))
        if self.model == "llama" and self.num_heads % self.derived("num_kv_heads"):
            problem = f"must divide num_heads, which is {self.num_heads}, and {self.num_kv_heads} does not"
            raise FieldError("num_kv_heads", problem, _divisor(self.num_heads, self.num_kv_heads))
        if self.model == "llama" and self.derived("head_size") % 2:
            raise FieldError("head_size", f"must be even, not {self.derived('head_size')}", 64)
        if self.rope_high_freq_factor <= self.rope_low_freq_factor:
            problem = f"must be above rope_low_freq_factor, which is {self.rope_low_freq_factor}"
            raise FieldError("rope_high_freq_factor", problem, 4 * self.rope_low_freq_factor)
        if self.context_length > self.derived("max_positions"):
            problem = f"must be at most max_positions, which is {self.max_positions}, not {self.context_length}"
            raise FieldError("context_length", problem, self.max_positions)

    def check_world_size(self, world_size: int) -> None:
        """Raises FieldError unless every rank gets a part of each batch, and groups of ranks are whole."""
        for name, holds in (("shard_size", self.strategy == "fsdp2"), ("tensor_size", self.strategy == "tensor")):
            size = getattr(self, name)
            if holds and size and world_size % size:
                raise FieldError(
                    name, f"must divide the {world_size} ranks, and {size} does not", _divisor(world_size, size)
                )
        # The ranks that share each matrix compute every sample together.
        together = self.tensor_size if self.strategy == "tensor" else 1
        if self.batch_size < (parts := world_size // together):
            of = f" in groups of {together}, which take {parts} parts" if together > 1 else ""
            problem = (
                f"is {self.batch_size} over all ranks, and there are {world_size}{of}: some would have nothing to do"
            )
            raise FieldError("batch_size", problem, parts)

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
