"""Every task of a TFJob meets all the others at the addresses of TF_CONFIG, as TensorFlow's servers would."""

from __future__ import annotations

import json
import os
import socket
import threading
import time

SECONDS = 120

config = json.loads(os.environ["TF_CONFIG"])
own = f"{config['task']['type']}/{config['task']['index']}"
cluster: dict[str, str] = {
    f"{role}/{index}": address
    for role, addresses in config["cluster"].items()
    for index, address in enumerate(addresses)
}
heard: set[str] = set()


def listen(server: socket.socket) -> None:
    """Note the name that each of the other tasks sends."""
    while len(heard) < len(cluster) - 1:
        with server.accept()[0] as connection:
            heard.add(connection.recv(1024).decode())


def greet(address: str) -> None:
    """Send this task's name to another, whose pod may still have to start."""
    host, port = address.rsplit(":", 1)
    until = time.monotonic() + SECONDS
    while True:
        try:
            connection = socket.create_connection((host, int(port)), timeout=5)
            break
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(1)
    with connection:
        connection.sendall(own.encode())


with socket.create_server(("", int(cluster[own].rsplit(":", 1)[1]))) as server:
    listener = threading.Thread(target=listen, args=(server,), daemon=True)
    listener.start()
    for name, address in cluster.items():
        if name != own:
            greet(address)
    listener.join(SECONDS)
print("result", json.dumps({"task": own, "heard": sorted(heard)}))
