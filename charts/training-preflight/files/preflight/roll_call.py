"""Rendezvous of the nodes: they join the store of the first node and learn all names, or which nodes are missing."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.distributed_c10d import Store

# Time for the last node to read the answer of the first one.
ANSWER_SECONDS = 60
POLL_SECONDS = 0.5
FOREVER = timedelta(days=1)


class Absent(Exception):  # noqa: N818 (a state of the nodes, not an error of the program)
    """The numbers of missing nodes, and the names of the present ones."""

    def __init__(self, nodes: list[int], names: dict[int, str]) -> None:
        super().__init__(f"nodes {nodes} did not join")
        self.nodes = nodes
        self.names = names


def meet(address: str, port: int, *, is_host: bool, seconds: float) -> Store:
    """Returns the store that the first process of the first node hosts. Raises `Absent` if it does not answer."""
    try:
        return TCPStore(address, port, is_master=is_host, timeout=timedelta(seconds=seconds), wait_for_workers=False)
    except dist.DistError as error:
        if is_host:
            raise
        raise Absent([0], {}) from error


def names(store: Store, node: int, name: str, *, count: int, is_host: bool, seconds: float) -> list[str]:
    """Returns the name of every node. Raises `Absent` if some do not join within this time."""
    store.set(_key(node), name)
    if is_host:
        store.set("roll", json.dumps(_present(store, count, seconds)))
    store.wait(["roll"], timedelta(seconds=seconds + ANSWER_SECONDS))
    present = {int(number): name for number, name in json.loads(store.get("roll")).items()}
    absent = sorted(set(range(count)) - set(present))
    if absent:
        raise Absent(absent, present)
    return [present[number] for number in range(count)]


def say(store: Store, what: str, node: int, said: str = "") -> None:
    """Publish a node's value, which `hear` waits for."""
    store.set(f"{what}/{node}", said)


def hear(store: Store, what: str, count: int) -> list[str]:
    """Wait until every node has published its value, and return the values."""
    return [value.decode() for value in store.multi_get([f"{what}/{number}" for number in range(count)])]


def wait(store: Store, key: str) -> None:
    """Wait for a key of the first node without a timeout. If that node ends, the store closes and raises an error."""
    store.wait([key], FOREVER)


def agree(store: Store, node: int, names: list[str], what: str) -> None:
    """Raises `ValueError` with the value of each node if they differ."""
    say(store, "has", node, what)
    said = hear(store, "has", len(names))
    if len(set(said)) > 1:
        raise ValueError("; ".join(f"{name} has {value}" for name, value in zip(names, said)))


def _present(store: Store, count: int, seconds: float) -> dict[int, str]:
    until = time.monotonic() + seconds
    awaited = set(range(count))
    while awaited:
        awaited = {node for node in awaited if not store.check([_key(node)])}
        if time.monotonic() > until:
            break
        time.sleep(POLL_SECONDS)
    return {node: store.get(_key(node)).decode() for node in range(count) if node not in awaited}


def _key(node: int) -> str:
    return f"node/{node}"
