"""Runs commands on the other nodes for mpirun, which uses `remote.py PORT KEY_FILE HOST COMMAND...` instead of ssh.

The image needs no sshd, and a command has the environment of its pod. Both ends authenticate with a key that the chart
generates for one preflight: without it no client in the cluster can run a command.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Thread


def agent(port: int, key: Path) -> str:
    """Returns the command that mpirun starts instead of ssh."""
    return shlex.join([sys.executable, str(Path(__file__).absolute()), str(port), str(key)])


def serve(port: int, key: Path) -> None:
    """Run the commands of other nodes in a background thread, until the process ends."""
    family, address = ("AF_INET6", "::") if socket.has_dualstack_ipv6() else ("AF_INET", "0.0.0.0")  # noqa: S104
    listener = Listener((address, port), family, backlog=16, authkey=key.read_bytes())
    Thread(target=_accept, args=(listener,), daemon=True).start()


def _accept(listener: Listener) -> None:
    while True:
        try:
            connection = listener.accept()
        except (AuthenticationError, EOFError, ConnectionError):
            continue  # an unauthenticated client, such as a port scan
        Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: Connection) -> None:
    command = connection.recv_bytes().decode()
    finished = subprocess.run(  # noqa: S602 (as sshd does)
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    with suppress(OSError):  # the client has ended
        connection.send_bytes(json.dumps([finished.returncode, finished.stdout.decode(errors="replace")]).encode())
    connection.close()


def call(host: str, port: int, key: bytes, command: str) -> int:
    """Run a command on a node, print its output, and return its exit status."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with Client((str(address[0]), port), family.name, authkey=key) as connection:
        connection.send_bytes(command.encode())
        status, output = json.loads(connection.recv_bytes())
    sys.stderr.write(output)
    return int(status)


def main() -> int:
    """Command line, as of ssh: the words are joined, and the remote shell splits them."""
    _, port, key, host, *words = sys.argv
    try:
        return call(host, int(port), Path(key).read_bytes(), " ".join(words))
    except (AuthenticationError, EOFError, OSError) as error:
        print(f"preflight: error: {host} cannot run a command: {error or 'the connection was closed'}", file=sys.stderr)
        return 255


if __name__ == "__main__":
    sys.exit(main())
