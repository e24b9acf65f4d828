"""The rendezvous of torchrun, its restarts, and the store that its rounds share.

Source: pytorch torch/distributed/elastic/rendezvous: dynamic_rendezvous.py (next_rendezvous), static_tcp_rendezvous.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import operator_variables, torchrun_commands
from trainyard.document.document import Place
from trainyard.model.run import Command, Container, Run

# With the value 1, rank 0 of each round hosts a new store.
VARIABLE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
# The first release whose rounds write the same keys.
FIRST = (2, 6)
# Both are torchrun's DynamicRendezvousHandler; `etcd` is a handler of its own.
DYNAMIC = ("c10d", "etcd-v2")


def starts(container: Container, run: Run) -> Iterator[Command]:
    """Yields every start of torchrun. A pod of an elastic job without a command starts that of its image."""
    yield from torchrun_commands(container)
    if run.elastic is not None and not container.command:
        yield Command(("torchrun",), (container.at,), container.at)


def restarts(launch: Command, container: Container, run: Run) -> tuple[int, Place] | None:
    """Returns the number of restarts if it is known and not 0, and its place. An option overrides a variable."""
    told = launch.option_at("--max-restarts")
    if told is None and run.elastic is not None and "PET_MAX_RESTARTS" in operator_variables(run):
        told = str(run.elastic["maxRestarts"]), run.at.child("spec", "elasticPolicy", "maxRestarts")
    setting = container.setting("PET_MAX_RESTARTS")
    if told is None and setting is not None and setting.value is not None:
        told = setting.value, setting.at
    return positive(told)


def positive(told: tuple[str, Place] | None) -> tuple[int, Place] | None:
    """Returns a number with its place; None if it is 0, or not known."""
    return (int(told[0]), told[1]) if told is not None and told[0].isdecimal() and int(told[0]) else None


def backend(launch: Command, container: Container, run: Run) -> tuple[str, Place] | None:
    """Returns the rendezvous that torchrun uses, and the place that names it; None if the files do not say."""
    if launch.has("--standalone"):
        return "c10d", launch.word_at[0]
    told = launch.option_at("--rdzv-backend")
    if told is not None:
        return told[0].lower(), told[1]
    if run.elastic is not None and "PET_RDZV_BACKEND" in operator_variables(run):
        policy = run.at.child("spec", "elasticPolicy")
        written = run.elastic.get("rdzvBackend")
        return (str(written).lower(), policy.child("rdzvBackend")) if written else ("c10d", policy.key())
    setting = container.setting("PET_RDZV_BACKEND")
    if setting is None:
        return "static", launch.word_at[0]
    return (setting.value, setting.at) if setting.value is not None else None
