"""Servers of ssh in containers, through which mpirun starts ranks, and their ports. Source: OpenSSH sshd(8)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.run import Command, Container


def ssh_servers(container: Container) -> list[Command]:
    """Returns the commands that start `sshd`."""
    return [command for command in container.commands if command.program == "sshd"]


def ports(server: Command) -> Iterator[str]:
    """Yields the ports that the options name: `-p 22`, `-p22`, `-o Port=22` or `-oPort=22`."""
    for index, word in enumerate(server.words[1:], 2):
        if word == "-p":
            yield server.words[index] if index < len(server.words) else ""
            continue
        if word.startswith("-p"):
            yield word[2:]
            continue
        name, _, port = word.removeprefix("-o").replace(" ", "=").partition("=")
        if name.lower() == "port":
            yield port
