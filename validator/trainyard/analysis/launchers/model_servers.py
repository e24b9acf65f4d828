"""Starts of model servers in a container, and the GPUs that they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.facts.programs.model_servers import SERVERS, ModelServer
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container

# Resources of which each is a GPU of its own.
_WHOLE = ("nvidia.com/gpu", "amd.com/gpu")
# Parts of a program that are no server of a model.
_OTHER_PARTS = (("disaggregated",), ("disaggregated_mpi_worker",), ("mm_embedding_serve",))
# Words of scripts that start several servers, or one on several pods.
_LOOPS = ("for ", "while ", "CUDA_VISIBLE_DEVICES=", "ray start", "multi-node-serving", " & ", "&\n", "xargs", "if ")


class ServerStart(NamedTuple):
    """A start of a server."""

    server: ModelServer
    command: Command


class Size(NamedTuple):
    """A parallel size as written; the place is None for the default of 1."""

    option: str
    value: int
    at: Place | None


def server_starts(container: Container) -> list[ServerStart]:
    """Returns the starts of model servers."""
    return _starts.of(container)


def only_server(container: Container) -> ServerStart | None:
    """Returns the server that a container certainly starts once; None if a script may start several."""
    found = server_starts(container)
    plain = not any(word in script.text for script in container.scripts for word in _LOOPS)
    return found[0] if len(found) == 1 and plain else None


def sizes(start: ServerStart) -> list[Size] | None:
    """Returns the parallel sizes of a server on this pod alone; None if they are not known."""
    command, server = start.command, start.server
    if command.has(*server.elsewhere):
        return None
    found = []
    options = server.sizes[:-1] if command.has(*server.shared) else server.sizes
    for names in options:
        told = command.option_at(*names)
        value = decimal(told[0]) if told is not None else 1
        if not value:
            return None
        found.append(Size(names[0], value, told[1] if told is not None else None))
    return found


def port(start: ServerStart) -> int | None:
    """Returns the port of a server; None if it is not known."""
    if start.command.has("--config", "--headless", "--uds", "--grpc"):
        return None
    told = start.command.option("--port")
    return start.server.port if told is None else decimal(told)


def whole_gpus(container: Container) -> tuple[str, int] | None:
    """Returns the name of the GPUs that a container limits, and their number; None for shares and other devices."""
    for name in _WHOLE:
        value = container.limits.get(name)
        number = decimal(str(value)) if value is not None else None
        if number:
            return name, number
    return None


def _find(container: Container) -> list[ServerStart]:
    return list(_in_commands(container))


def _in_commands(container: Container) -> Iterator[ServerStart]:
    for command in container.commands:
        for server in SERVERS:
            if _is_start(command, server):
                yield ServerStart(server, command)
    if not container.command and container.args:
        for server in SERVERS:
            if server.image and server.image in (container.image or ""):
                places = tuple(container.at.child("args", index) for index in range(len(container.args)))
                yield ServerStart(server, Command(container.args, places, container.at.child("args")))


def _is_start(command: Command, server: ModelServer) -> bool:
    words = command.words
    if command.program == server.command[0]:
        return words[1 : len(server.command)] == server.command[1:] and words[1:2] not in _OTHER_PARTS
    if command.program.startswith("python") or command.program == "exec":
        return any(module in words[:6] for module in server.modules)
    return False


# Several rules ask for each container.
_starts: LastIndex[Container, list[ServerStart]] = LastIndex(_find)
