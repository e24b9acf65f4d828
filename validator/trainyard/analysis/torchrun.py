"""How torchrun is started in a container, and what it takes from its environment.

Source: pytorch torch/distributed/run.py (options, `PET_` variables, defaults), kubeflow/training-operator v1.9.3
pkg/controller.v1/pytorch/envvar.go, elastic.go and master.go (variables that the operator appends behind the user's),
kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins/torch/torch.go.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from validator.facts.kubeflow import elastic_range
from validator.fields import decimal, mapping, text
from validator.model import Command, Container, Run

_MODULES = ("torch.distributed.run", "torch.distributed.launch")
# Programs that start the one behind their own options.
_WRAPPERS = ("nsys", "numactl", "stdbuf", "timeout", "tini")
_FLAGS = frozenset(
    (
        "--standalone", "-m", "--module", "--no-python", "--run-path", "--virtual-local-rank", "--use-env",
        "-h", "--help",
    )
)  # fmt: skip
# What the operator appends: in every job, and in one with a Master.
_ALWAYS = frozenset(("PET_NNODES", "PET_NPROC_PER_NODE"))
_WITH_MASTER = _ALWAYS | {
    "MASTER_ADDR", "MASTER_PORT", "PET_MASTER_ADDR", "PET_MASTER_PORT", "RANK", "WORLD_SIZE", "PET_NODE_RANK",
}  # fmt: skip
LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0")  # noqa: S104


def launches(container: Container) -> Iterator[Command]:
    """Every start of torchrun, without the training script and its arguments."""
    for command in container.commands:
        span = _span(command.words)
        if span is not None:
            start, end = span
            yield Command(("torchrun", *command.words[start:end]), command.word_at[start - 1 : end], command.at)


@functools.lru_cache(maxsize=256)
def _span(words: tuple[str, ...]) -> tuple[int, int] | None:
    """Where torchrun's options begin and end; most pods of a run start the same command."""
    start = _start(words)
    return None if start is None else (start, _end(words, start))


def _start(words: tuple[str, ...]) -> int | None:
    """Index of the first word behind the program."""
    program = words[0].rsplit("/", 1)[-1] if words else ""
    if program == "torchrun":
        return 1
    if program.startswith("python"):
        return next(
            (n + 1 for n in range(2, min(len(words), 5)) if words[n] in _MODULES and words[n - 1] == "-m"), None
        )
    if program in _WRAPPERS:
        return next((n + 1 for n, word in enumerate(words) if word.rsplit("/", 1)[-1] == "torchrun"), None)
    return None


def _end(words: tuple[str, ...], start: int) -> int:
    """Index of the training script: the first word that is neither an option nor the value of one."""
    index = start
    while index < len(words) and words[index].startswith("-"):
        bare = words[index].replace("_", "-")
        index += 1 if "=" in bare or bare in _FLAGS else 2
    return min(index, len(words))


def appended(run: Run) -> frozenset[str]:
    """The variables that the training operator appends to every container of a PyTorchJob: its values win."""
    if run.kind != "PyTorchJob" or not run.api_version.startswith("kubeflow.org/"):
        return frozenset()
    names = _ALWAYS if run.role("Master") is None else _WITH_MASTER
    if run.elastic is not None:
        names |= {"PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND"}
        options = {"maxRestarts": "PET_MAX_RESTARTS", "rdzvId": "PET_RDZV_ID", "rdzvConf": "PET_RDZV_CONF"}
        names |= {variable for field, variable in options.items() if run.elastic.get(field) is not None}
    return names


def nodes(launch: Command, container: Container, run: Run) -> tuple[int, int] | None:
    """The fewest and the most pods that torchrun waits for, None where the files do not say."""
    told = launch.option("--nnodes")
    if told is not None:
        return bounds(told)
    if "PET_NNODES" in appended(run):
        return _operator_nodes(run)
    if run.kind == "TrainJob" and has_torch_policy(run) is not False:
        return (run.nodes, run.nodes) if run.nodes is not None and has_torch_policy(run) else None
    setting = container.setting("PET_NNODES")
    if setting is not None:
        return bounds(setting.value or "")
    return (1, 1)


def has_torch_policy(run: Run) -> bool | None:
    """Whether a TrainJob's runtime hands `PET_` variables to torchrun; None where the runtime is not in the files."""
    if run.runtime is not None:
        return "torch" in mapping(run.runtime, "mlPolicy")
    return True if text(run.spec, "runtimeRef", "name").startswith("torch") else None


def bounds(written: str) -> tuple[int, int] | None:
    """`--nnodes` as numbers: `4` or `2:8`."""
    first, colon, last = written.partition(":")
    low = count(first)
    high = count(last) if colon else low
    return (low, high) if low is not None and high is not None else None


def count(written: str | None) -> int | None:
    """A written number of nodes or processes; None for `gpu`, a variable and all else."""
    return decimal(written) if written is not None else None


def _operator_nodes(run: Run) -> tuple[int, int] | None:
    """`PET_NNODES` as the operator sets it in the pods of a PyTorchJob."""
    low, high = elastic_range(run) if run.elastic is not None else (run.nodes, run.nodes)
    return (low, high) if low is not None and high is not None else None


def processes(launch: Command, container: Container, run: Run) -> str | None:
    """`--nproc-per-node` as torchrun receives it; None where the files do not say."""
    told = launch.option("--nproc-per-node")
    if told is not None:
        return told
    if run.kind == "PyTorchJob":
        elastic = (run.elastic or {}).get("nProcPerNode")
        field = elastic if elastic is not None else run.spec.get("nprocPerNode")
        return str(field) if isinstance(field, str | int) else "auto"
    if run.kind == "TrainJob" and has_torch_policy(run) is not False:
        own = mapping(run.spec, "trainer").get("numProcPerNode")
        field = own if own is not None else mapping(run.runtime or {}, "mlPolicy", "torch").get("numProcPerNode")
        return str(field) if isinstance(field, str | int) else None
    setting = container.setting("PET_NPROC_PER_NODE")
    return setting.value if setting is not None else "1"
