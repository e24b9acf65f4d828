"""The configuration of a run."""

import math
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from trainer.errors import ConfigError


def flag(config_field: "Field[Any]") -> str:
    """The command-line spelling of a field: `batch_size` is `--batch-size`."""
    return "--" + config_field.name.replace("_", "-")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainerConfig:
    """One run. Every field is a flag of the same name; `help` is its documentation.

    Raises:
        ConfigError: A value is out of range; the message names the flag and what to write.
    """

    epochs: int = field(default=3, metadata={"help": "train until this many epochs are done, resumed ones included"})
    batch_size: int = field(
        default=32,
        metadata={"help": "samples per step over all ranks together (global); a multiple of the world size"},
    )
    learning_rate: float = field(default=0.002, metadata={"help": "AdamW's learning rate"})
    hidden_size: int = field(default=128, metadata={"help": "width of the hidden layer"})
    dropout: float = field(default=0.1, metadata={"help": "probability that a hidden unit is dropped in training"})
    seed: int = field(default=0, metadata={"help": "fixes initial weights, train/test split, order and dropout"})
    checkpoint_dir: Path = field(
        default=Path("checkpoints"),
        metadata={"help": "where a checkpoint is published after every epoch and resumed from; one run at a time"},
    )
    keep_checkpoints: int = field(default=3, metadata={"help": "newest checkpoints to keep, at least 2"})
    timeout_seconds: float = field(
        default=600.0,
        metadata={"help": "a collective that takes longer fails the run; must exceed the time of a save"},
    )
    metrics_port: int = field(
        default=0, metadata={"help": "port on which one process of each node serves Prometheus metrics; 0 is none"}
    )

    def __post_init__(self) -> None:
        self._require("epochs", self.epochs >= 1, "at least 1")
        self._require("batch_size", self.batch_size >= 1, "at least 1")
        self._require("learning_rate", 0 < self.learning_rate < math.inf, "a finite number above 0")
        self._require("hidden_size", self.hidden_size >= 1, "at least 1")
        self._require("dropout", 0 <= self.dropout < 1, "at least 0 and below 1")
        self._require("seed", 0 <= self.seed < 2**63, "at least 0 and below 2**63")
        # With one kept, the only checkpoint could be the one that a later, failing disk has just corrupted.
        self._require("keep_checkpoints", self.keep_checkpoints >= 2, "at least 2")
        self._require("timeout_seconds", 1 <= self.timeout_seconds < 1e6, "at least 1 and below 1000000")
        self._require("metrics_port", 0 <= self.metrics_port <= 65535, "at least 0 and at most 65535")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            config_field = next(f for f in fields(self) if f.name == name)
            raise ConfigError(
                f"{flag(config_field)} must be {expected}, not {getattr(self, name)}: "
                f"for example {flag(config_field)} {config_field.default}"
            )

    def check_world_size(self, world_size: int) -> None:
        """Raises ConfigError unless the global batch splits into equal parts, one per rank."""
        if self.batch_size % world_size == 0:
            return
        below = self.batch_size - self.batch_size % world_size
        choices = [str(size) for size in (below, below + world_size) if size > 0]
        raise ConfigError(
            f"--batch-size {self.batch_size} is global and does not divide among {world_size} ranks: "
            f"write --batch-size {' or '.join(choices)} (any multiple of {world_size} works)"
        )

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "TrainerConfig":
        """The configuration whose `as_json` is `values`.

        Raises:
            ConfigError: A field is unknown or out of range.
        """
        try:
            return cls(**{**values, "checkpoint_dir": Path(values["checkpoint_dir"])})
        except (KeyError, TypeError) as error:
            raise ConfigError(f"not the configuration of a run of this trainer: {error}") from error
