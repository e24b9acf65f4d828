"""Starts the stand-ins of examples as forks of servers that have imported PyTorch, the linter and the trainer once.

The imports take several times the processor time of a call. The programs on PATH hand their descriptors, folder,
environment and arguments to their server, and end with the exit status of the fork.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import trainyard
from tests.charts.helm import WITHOUT_COLLECTOR
from tests.documentation import stand_ins
from tests.documentation.stand_ins import ROOT
from tests.harness.trainer import environment
from tests.harness.trainer.fork_server import REQUEST_BYTES, finish, reap
from trainyard.loaders.training_job import release

# A fork copies the page tables of its server, so only programs that need PyTorch have a server that has imported it.
SERVERS = {
    ("python", "torchrun"): ("tests.harness.cluster.lifecycle", "torch.distributed.run", "trainer.config"),
    ("trainyard", "helm", "kubectl", "make", "docker"): tuple(
        module.name
        for module in pkgutil.walk_packages(trainyard.__path__, "trainyard.")
        if not module.name.endswith(".__main__")
    ),
}
STANDARD_STREAMS = (0, 1, 2)
# One thread for arithmetic: a process with several cannot be forked.
ENVIRONMENT = (
    environment.ENVIRONMENT | WITHOUT_COLLECTOR | {"PYTHONPATH": f"{ROOT}:{ROOT / 'validator'}", "COLUMNS": "120"}
)

CLIENT = """#!{python} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    words = [{name!r}, *sys.argv[1:]]
    variables = ["=".join(variable) for variable in os.environ.items()]
    request = "\\0".join([os.getcwd(), str(len(words)), *words, *variables])
    socket.send_fds(server, [os.fsencode(request)], [0, 1, 2])
    sys.exit(int(server.recv(8)))
"""


@contextlib.contextmanager
def programs(folder: Path) -> Iterator[Path]:
    """Fills a folder for PATH with the stand-ins, whose servers end with the context."""
    with contextlib.ExitStack() as servers:
        for names in SERVERS:
            address = servers.enter_context(_server(names))
            for name in names:
                (folder / name).write_text(CLIENT.format(python=sys.executable, address=address, name=name))
                (folder / name).chmod(0o755)
        # All that examples pipe into or from.
        for name in ("grep", "sed"):
            (folder / name).symlink_to(f"/bin/{name}")
        yield folder


@contextlib.contextmanager
def _server(names: tuple[str, ...]) -> Iterator[bytes]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        # Linux chooses a free name that is no file.
        server.bind("")
        server.listen()
        address: bytes = server.getsockname()
        command = [sys.executable, "-m", "tests.documentation.stand_in_server", str(server.fileno()), *names]
        process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, pass_fds=[server.fileno()])
    try:
        yield address
    finally:
        process.terminate()
        process.wait()


def _import(modules: Sequence[str]) -> None:
    """Imports what the stand-ins import, and reads what most calls need: options of kubectl, and the chart of a run."""
    for module in modules:
        importlib.import_module(module)
    stand_ins.tool("helm")
    stand_ins.global_options()
    if "trainyard.loaders.training_job.release" in modules:
        # Reading and compiling the templates takes twice as long as rendering them.
        own = {"image": {"repository": "registry.example.com/team/trainer", "tag": "2026.11"}}
        release.release_objects(release.merged_values(own), release.Release("run", "default"))
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        raise RuntimeError("this process has threads, and forks of it may hang")
    # A garbage collection in a fork would write to, and so copy, the memory pages that it shares with the server.
    gc.collect()
    gc.freeze()


def _serve(server: socket.socket) -> NoReturn:
    while True:
        connection, _ = server.accept()
        with connection:
            # The keeper waits for the stand-in, so that the server does not have to.
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                server.close()
                _keep(connection)


def _keep(connection: socket.socket) -> NoReturn:
    request, descriptors, _, _ = socket.recv_fds(connection, REQUEST_BYTES, len(STANDARD_STREAMS))
    process = os.fork()
    if not process:
        connection.close()
        _become_stand_in(os.fsdecode(request), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    connection.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
    os._exit(0)


def _become_stand_in(request: str, descriptors: Sequence[int]) -> NoReturn:
    for descriptor, standard in zip(descriptors, STANDARD_STREAMS, strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    folder, count, *texts = request.split("\0")
    words, variables = texts[: int(count)], texts[int(count) :]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update({name: value for name, _, value in (variable.partition("=") for variable in variables)})
    finish(lambda: stand_ins.call(words))


def main(descriptor: int, *names: str) -> None:
    """Serves requests for these programs from this listening socket."""
    # Waited for, a process adds to the processor time of its parent, which the steps of `make test` report.
    signal.signal(signal.SIGCHLD, reap)
    _import(SERVERS[names])
    with socket.socket(fileno=descriptor) as server:
        _serve(server)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
