"""Flags to configuration."""

import argparse
from collections.abc import Sequence
from dataclasses import fields
from typing import NoReturn

from trainer.config.schema import TrainerConfig, flag
from trainer.errors import ConfigError

DESCRIPTION = """\
Train a classifier of handwritten digits with DistributedDataParallel and checkpoint after every epoch.
Started again on the same --checkpoint-dir, it resumes from the newest valid checkpoint."""

EXAMPLES = """\
examples:
  python -m trainer                                            one process
  torchrun --nproc-per-node 2 -m trainer --epochs 5            two processes on this node
  torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d \\
    --rdzv-endpoint HOST:29500 -m trainer                      one process on each of two nodes
  python -m trainer.evaluate checkpoints                       verify and evaluate the newest checkpoint"""


class _Parser(argparse.ArgumentParser):
    # argparse prints and exits by itself; under torchrun every rank would print the same message.
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}: `python -m trainer --help` lists every flag")


def parse_flags(arguments: Sequence[str]) -> TrainerConfig:
    """The configuration that `arguments` ask for.

    Raises:
        ConfigError: A flag is unknown, its value does not parse or is out of range.
    """
    parser = _Parser(
        prog="python -m trainer",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # An abbreviation that works today would break when a longer flag is added.
        allow_abbrev=False,
    )
    for config_field in fields(TrainerConfig):
        parser.add_argument(
            flag(config_field),
            type=type(config_field.default),
            default=config_field.default,
            metavar=type(config_field.default).__name__.removeprefix("Posix").upper(),
            help=f"{config_field.metadata['help']} (default: %(default)s)",
        )
    return TrainerConfig(**vars(parser.parse_args(arguments)))
