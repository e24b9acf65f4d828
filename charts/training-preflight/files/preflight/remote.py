"""Runs commands on the other nodes for mpirun, which uses `remote.py PORT KEY_FILE HOST COMMAND...` instead of ssh.

The image needs no sshd, and a command has the environment of its pod. Both ends authenticate with a key that the chart
generates for one preflight: without it no client in the cluster can run a command.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from threading import BoundedSemaphore, Thread, Timer

AUTHENTICATION_SECONDS = 10
# Each takes a thread until it has authenticated; the next ones wait.
MOST_STRANGERS = 64
PAUSE_SECONDS = 1


def agent(port: int, key: Path) -> str:
    """Returns the command that mpirun starts instead of ssh."""
    return shlex.join([sys.executable, str(Path(__file__).absolute()), str(port), str(key)])


def serve(port: int, key: Path) -> None:
    """Run the commands of other nodes in a background thread, until the process ends."""
    family, address = ("AF_INET6", "::") if socket.has_dualstack_ipv6() else ("AF_INET", "0.0.0.0")  # noqa: S104
    listener = Listener((address, port), family, backlog=16)
    Thread(target=_accept, args=(listener, key.read_bytes()), daemon=True).start()


def _accept(listener: Listener, key: bytes) -> None:
    places = BoundedSemaphore(MOST_STRANGERS)
    while True:
        places.acquire()
        while (connection := _client(listener)) is None:
            time.sleep(PAUSE_SECONDS)
        Thread(target=_receive, args=(connection, key, places), daemon=True).start()


def _client(listener: Listener) -> Connection | None:
    """Return the next client; None if it is gone already, or if the process has no file descriptor for it."""
    try:
        return listener.accept()
    except OSError as error:
        print(f"preflight: cannot accept a connection: {error}", file=sys.stderr, flush=True)
        return None


def _receive(connection: Connection, key: bytes, places: BoundedSemaphore) -> None:
    """Answer a client that has the key. Any other one, such as a port scan, loses its connection after a while."""
    with connection:
        try:
            _authenticate(connection, key)
        except (AuthenticationError, EOFError, OSError):
            return
        finally:
            places.release()
        _answer(connection)


def _authenticate(connection: Connection, key: bytes) -> None:
    """As `Listener` does, but in the thread of the connection and with a limit of time for all of it."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        # A timeout of the socket would begin again with each byte.
        limit = Timer(AUTHENTICATION_SECONDS, _shut_down, [same])
        limit.daemon = True  # the process may end meanwhile
        limit.start()
        try:
            deliver_challenge(connection, key)
            answer_challenge(connection, key)
        finally:
            limit.cancel()
            limit.join()


def _shut_down(same: socket.socket) -> None:
    with suppress(OSError):  # the client has ended
        same.shutdown(socket.SHUT_RDWR)


def _answer(connection: Connection) -> None:
    command = connection.recv_bytes().decode()
    finished = subprocess.run(  # noqa: S602 (as sshd does)
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    with suppress(OSError):  # the client has ended
        connection.send_bytes(json.dumps([finished.returncode, finished.stdout.decode(errors="replace")]).encode())


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
