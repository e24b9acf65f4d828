"""Command line to configuration."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from ..errors import ConfigError
from . import file
from .initial_weights import follow_initial_weights
from .option import flag
from .schema import FieldError, TrainerConfig

DESCRIPTION = """\
Train a model on all ranks of this launch, and save checkpoints. A later run with the same --checkpoint-dir resumes from
the newest valid checkpoint. Each field is a flag, a key of the --config file and a key of --set. Flags override the
file, and --set overrides flags."""

EXAMPLES = """\
examples:
  python -m trainer                                            one process
  torchrun --nproc-per-node 2 -m trainer --epochs 5            two processes on this node
  torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d \\
    --rdzv-endpoint HOST:29500 -m trainer                      one process on each of two nodes
  python -m trainer --config run.yaml --set batch_size=64      fields from a file, one overridden
  python -m trainer --model gpt --data text                    a small GPT on the text of Python's help
  python -m trainer.evaluate checkpoints                       verify and evaluate the newest checkpoint"""


class _Parser(argparse.ArgumentParser):
    # argparse prints and exits by itself; under torchrun every rank would print the same message.
    def error(self, message: str) -> NoReturn:
        unknown = re.match("unrecognized arguments: ([^ =]+)", message)
        near = get_close_matches(unknown[1], self._option_string_actions, n=1) if unknown else []
        advice = f"did you mean {near[0]}?" if near else "`python -m trainer --help` lists every flag"
        raise ConfigError(f"{message}: {advice}")


def parse_flags(arguments: Sequence[str]) -> TrainerConfig:
    """The configuration that `arguments`, and the file that they name, ask for.

    Raises:
        ConfigError: A flag or key is unknown, its value does not parse or is out of range, or the file cannot be read.
    """
    given = vars(_parser().parse_args(arguments))
    path: Path | None = given.pop("config")
    assigned = dict(map(file.assignment, given.pop("set")))
    from_file = file.read_config_file(path) if path else {}
    try:
        return TrainerConfig(**follow_initial_weights({**from_file, **given, **assigned}))
    except FieldError as error:
        if path and error.name in from_file and error.name not in {**given, **assigned}:
            raise ConfigError(f"{path}: {error.in_file}") from error
        raise


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m trainer",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # An abbreviation that works today would break when a longer flag is added.
        allow_abbrev=False,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="YAML file of fields, such as `batch_size: 32`")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set one field, such as --set batch_size=32; repeatable",
    )
    for config_field in fields(TrainerConfig):
        default, bounds = config_field.default, config_field.metadata["bounds"]
        kind: dict[str, Any] = {"type": type(default), "metavar": type(default).__name__.removeprefix("Posix").upper()}
        if isinstance(default, bool):
            kind = {"action": argparse.BooleanOptionalAction}
        elif bounds.choices:
            kind["metavar"] = "|".join(bounds.choices)
        # An absent flag must leave no value, or it would override the file.
        parser.add_argument(
            flag(config_field.name),
            default=argparse.SUPPRESS,
            help=f"{config_field.metadata['help']} (default: {file.spelled(default)})",
            **kind,
        )
    return parser
