"""Starts of torchrun in a container, and the options that it takes from its environment.

Source: pytorch torch/distributed/run.py (options, `PET_` variables, defaults), kubeflow/training-operator v1.9.3
pkg/controller.v1/pytorch/envvar.go, elastic.go and master.go (variables that the operator appends to the user's),
kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins/torch/torch.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.analysis.jobs.kubeflow import elastic_range
from trainyard.analysis.jobs.workloads import pytorch_plugin_variables
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.facts.jobs.training_runtimes import shipped_runtime
from trainyard.facts.programs.launchers import launcher_in
from trainyard.loaders.manifests.node_counts import bounds
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Run

_FLAGS = frozenset(
    (
        "--standalone", "-m", "--module", "--no-python", "--run-path", "--virtual-local-rank", "--use-env",
        "-h", "--help",
    )
)  # fmt: skip
# Variables that the operator appends: to every job, and to one with a Master.
_ALWAYS = frozenset(("PET_NNODES", "PET_NPROC_PER_NODE"))
_WITH_MASTER = _ALWAYS | {
    "MASTER_ADDR", "MASTER_PORT", "PET_MASTER_ADDR", "PET_MASTER_PORT", "RANK", "WORLD_SIZE", "PET_NODE_RANK",
}  # fmt: skip
LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0")  # noqa: S104


def torchrun_commands(container: Container) -> Iterator[Command]:
    """Yields every start of torchrun, without the training script and its arguments."""
    for launch, _ in torchrun_scripts(container):
        yield launch


def torchrun_scripts(container: Container) -> Sequence[tuple[Command, Command]]:
    """Returns every start of torchrun, and the training script with its arguments; no words if there is none."""
    return _starts.of(container.commands)


def _find_starts(commands: tuple[Command, ...]) -> list[tuple[Command, Command]]:
    found = []
    for command in commands:
        start = _start(command.words)
        if start is not None:
            end = _end(command.words, start)
            launch = Command(("torchrun", *command.words[start:end]), command.word_at[start - 1 : end], command.at)
            found.append((launch, Command(command.words[end:], command.word_at[end:], command.at)))
    return found


# A dozen rules ask for each container.
_starts = LastIndex(_find_starts)


def _start(words: tuple[str, ...]) -> int | None:
    """Returns the index of the first word after the program."""
    start = launcher_in(words)
    return start.after if start is not None and start.launcher.takes_torchrun else None


def _end(words: tuple[str, ...], start: int) -> int:
    """Returns the index of the training script: the first word that is neither an option nor an option's value."""
    index = start
    while index < len(words) and words[index].startswith("-"):
        bare = words[index].replace("_", "-")
        index += 1 if "=" in bare or bare in _FLAGS else 2
    return min(index, len(words))


def rendezvous_options(container: Container) -> Iterator[tuple[str, Place]]:
    """Yields the addresses that options of torchrun give, with their places."""
    for launch in torchrun_commands(container):
        for option in ("--rdzv-endpoint", "--master-addr"):
            found = launch.option_at(option)
            if found is not None:
                yield found


def operator_variables(run: Run) -> frozenset[str]:
    """Returns the variables that the operator appends to every container. They win over the user's.

    The training operator appends them in a PyTorchJob, and Volcano's pytorch plugin in a Job.
    """
    if run.kind != "PyTorchJob" or not run.api_version.startswith("kubeflow.org/"):
        return pytorch_plugin_variables(run)
    names = _ALWAYS if run.role("Master") is None else _WITH_MASTER
    if run.elastic is not None:
        names |= {"PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND"}
        options = {"maxRestarts": "PET_MAX_RESTARTS", "rdzvId": "PET_RDZV_ID", "rdzvConf": "PET_RDZV_CONF"}
        names |= {variable for field, variable in options.items() if run.elastic.get(field) is not None}
    return names


def node_range(launch: Command, container: Container, run: Run) -> tuple[int, int] | None:
    """Returns the minimum and maximum number of pods that torchrun waits for, None if the files do not say."""
    told = launch.option("--nnodes")
    if told is not None:
        return bounds(told)
    if "PET_NNODES" in operator_variables(run):
        return _operator_nodes(run)
    if run.kind == "TrainJob" and has_torch_policy(run) is not False:
        return (run.nodes, run.nodes) if run.nodes is not None and has_torch_policy(run) else None
    setting = container.setting("PET_NNODES")
    if setting is not None:
        return bounds(setting.value or "")
    # HyperPod's operator is closed source: what it passes to torchrun is not known.
    return (1, 1) if run.kind != "HyperPodPyTorchJob" else None


def has_torch_policy(run: Run) -> bool | None:
    """True if a TrainJob's runtime passes `PET_` variables to torchrun; None if the runtime is not in the files."""
    if run.runtime is not None:
        return "torch" in mapping(run.runtime, "mlPolicy")
    shipped = shipped_runtime(run.spec)
    if shipped is not None:
        return shipped.framework == "torch"
    return True if text(run.spec, "runtimeRef", "name").startswith("torch") else None


def _operator_nodes(run: Run) -> tuple[int, int] | None:
    """Returns `PET_NNODES` as the operator sets it in the pods of a PyTorchJob."""
    low, high = elastic_range(run) if run.elastic is not None else (run.nodes, run.nodes)
    return (low, high) if low is not None and high is not None else None


def processes_per_node(launch: Command, container: Container, run: Run) -> str | None:
    """Returns `--nproc-per-node` as torchrun receives it; None if the files do not say."""
    told = launch.option("--nproc-per-node")
    if told is not None:
        return told
    if run.kind == "PyTorchJob":
        elastic = (run.elastic or {}).get("nProcPerNode")
        field = elastic if elastic is not None else run.spec.get("nprocPerNode")
        return str(field) if isinstance(field, str | int) else "auto"
    if run.kind in ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime") and has_torch_policy(run) is not False:
        own = mapping(run.spec, "trainer").get("numProcPerNode")
        field = own if own is not None else mapping(run.runtime or {}, "mlPolicy", "torch").get("numProcPerNode")
        return str(field) if isinstance(field, str | int) else None
    setting = container.setting("PET_NPROC_PER_NODE")
    if setting is None and run.kind == "HyperPodPyTorchJob":
        return None
    return setting.value if setting is not None else "1"
