"""Arguments of Lightning's Trainer on a command line, as LightningCLI and Hydra take them.

Source: Lightning 2.6.6 pytorch/cli.py, fabric/plugins/environments (lightning.py, torchelastic.py, slurm.py).
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.facts.programs.launchers import launcher_in
from trainyard.model.run import Command

_NODES, _DEVICES = "num-nodes", "devices"
# LightningCLI has `--trainer.devices`; Hydra has `trainer.devices`, and a plus in front of a key that is new.
_FORMS = ("--trainer.", "trainer.", "+trainer.", "++trainer.")
# A file, or an object of its own, that may hold further arguments of the Trainer.
_FILES = ("--config", "-c", "--trainer", "--fit.config", "--config-path", "--config-name")
_LONGEST = 64


class LightningSizes(NamedTuple):
    """The numbers of nodes, and of devices on each, that the Trainer gets; None if the command does not tell.

    `at` is the place of the argument that tells the nodes, or the devices.
    """

    nodes: int | None
    devices: int | None
    at: Place


def lightning_sizes(command: Command) -> LightningSizes | None:
    """Returns the sizes in the arguments of a program; None if it has none of them."""
    nodes, devices = _argument(command, _NODES), _argument(command, _DEVICES)
    at = nodes or devices
    if at is None:
        return None
    # Without another source, the Trainer has one node.
    default = 1 if nodes is None and _is_alone(command) else None
    return LightningSizes(_number(nodes) or default, _number(devices), at[1])


def is_plain(command: Command) -> bool:
    """True if python itself starts the program."""
    return command.program.startswith("python") and launcher_in(command.words) is None


def _argument(command: Command, name: str) -> tuple[str, Place] | None:
    return command.option_at(*(f"{form}{name}" for form in _FORMS))


def _number(told: tuple[str, Place] | None) -> int | None:
    return decimal(told[0]) if told is not None else None


def _is_alone(command: Command) -> bool:
    """True if LightningCLI reads no file and no words that the files do not show."""
    is_cli = any(word.startswith("--trainer.") for word in command.words)
    return is_cli and not command.has(*_FILES) and not any("$" in word for word in command.words[:_LONGEST])
