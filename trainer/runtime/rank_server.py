"""The fork server of `multiprocessing` as a fork of this process, so that one process imports PyTorch for both."""

from __future__ import annotations

import importlib
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker, util
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from .imports import no_garbage_collection

METHOD = "forkserver"


def start(modules: Sequence[str], *, in_server: Sequence[str]) -> None:
    """Imports modules, and makes a fork of this process the server, which imports further ones.

    The server ends with this process, as that of `multiprocessing` does.

    Raises:
        ConfigError: A module started a thread or opened CUDA, and forks of this process could hang.
    """
    with no_garbage_collection():
        for name in modules:
            importlib.import_module(name)
    _check(_faults(os.getpid()))
    multiprocessing.set_forkserver_preload(list(in_server))
    # This one stays a program of its own.
    resource_tracker.ensure_running()
    with _forked_programs():
        forkserver.ensure_running()


def wait_until_ready() -> None:
    """Waits until the server has imported everything.

    Raises:
        ConfigError: As `start`, for the modules of the server.
    """
    with multiprocessing.get_context(METHOD).Pool(1) as pool:
        _check(pool.apply(_faults_of_server))


def _faults_of_server() -> list[str]:
    """The faults of this process's parent, whose fork has its CUDA context."""
    return _faults(os.getppid())


def _faults(process: int) -> list[str]:
    import torch

    tasks = list(Path(f"/proc/{process}/task").iterdir())
    faults = [f"{len(tasks)} threads"] if len(tasks) > 1 else []
    return [*faults, *(["CUDA"] if torch.cuda.is_initialized() else [])]  # type: ignore[no-untyped-call]


def _check(faults: Sequence[str]) -> None:
    if faults:
        raise ConfigError(f"a package starts {' and '.join(faults)} while it is imported: use torchrun")


@contextmanager
def _forked_programs() -> Iterator[None]:
    """Lets `multiprocessing` run a Python command in a fork of this process, where it would start Python."""
    modules: Any = util
    spawn, before = modules.spawnv_passfds, _descriptors()

    def fork(_path: bytes, command: Sequence[str], passed: Sequence[int]) -> int:
        if process := os.fork():
            return process
        try:
            # The server ends when nobody else has the other end of its pipe.
            for descriptor in _descriptors() - before - set(passed):
                os.close(descriptor)
            exec(command[-1])  # noqa: S102 - the command that Python would run
        finally:
            os._exit(1)

    modules.spawnv_passfds = fork
    try:
        yield
    finally:
        modules.spawnv_passfds = spawn


def _descriptors() -> set[int]:
    # The list has the descriptor of its own folder, which is closed now.
    names = os.listdir("/proc/self/fd")  # noqa: PTH208
    return {int(name) for name in names if os.path.lexists(f"/proc/self/fd/{name}")}
