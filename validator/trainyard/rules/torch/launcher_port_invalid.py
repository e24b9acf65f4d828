"""The port of the rendezvous is above 65535, so no process can listen there.

Ports have 16 bits. A higher number makes the launcher fail, or end without a message. Ports made of the digits of a
date or of a job's number are the usual cause.

The rule checks the options of torchrun and Accelerate, and `MASTER_PORT`.

Choose a port between 1024 and 65535.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container

OPTIONS = ("--master-port", "--main-process-port", "--rdzv-endpoint")
VARIABLES = ("MASTER_PORT", "PET_MASTER_PORT", "PET_RDZV_ENDPOINT")
MOST = 65535


@rule(
    code="TD039",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/TCPStore.cpp: the port is a uint16_t",
        "github.com/huggingface/accelerate issue 647",
    ),
    needs=("port", "PORT", "endpoint", "ENDPOINT"),
)
def launcher_port_invalid(container: Container) -> Iterator[Problem]:
    """Report ports that do not exist."""
    settings = (setting for setting in container.settings if setting.name in VARIABLES)
    found = [(setting.value, setting.at) for setting in settings if setting.value]
    if any(_is_invalid(told[0]) for command in container.commands for told in _options(command)):
        # Nearly no file comes here, and the options of a script must be left out.
        from trainyard.analysis.launchers.accelerate import accelerate_commands
        from trainyard.analysis.launchers.torchrun import torchrun_commands

        for launch in (*accelerate_commands(container), *torchrun_commands(container)):
            found += _options(launch)
    for written, at in found:
        if _is_invalid(written):
            port = written.rpartition(":")[2]
            yield Problem(at, f"the port {port} is above {MOST}: no process can listen there", "choose a lower port")


def _options(command: Command) -> list[tuple[str, Place]]:
    return [told for option in OPTIONS if (told := command.option_at(option)) is not None]


def _is_invalid(written: str) -> bool:
    port = written.rpartition(":")[2]
    return port.isdecimal() and int(port) > MOST
