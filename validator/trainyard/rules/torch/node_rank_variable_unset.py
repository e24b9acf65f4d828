"""A launcher that is configured by variables gets no rank of its node, so every pod starts as node 0.

`llamafactory-cli` and the commands of ms-swift start torchrun themselves, with `NNODES`, `NODE_RANK`, `MASTER_ADDR` and
`MASTER_PORT` of the environment. Without `NODE_RANK`, the rank of the node is 0 in every pod, and the rendezvous never
completes. LLaMA-Factory read `RANK` up to 0.9.0, and reads `NODE_RANK` since 0.9.1.

The rule looks at runs of several pods with more than one node in `NNODES`. It leaves out ms-swift in a PyTorchJob,
whose operator sets variables of torchrun, and containers with variables that are not in the files.

Set `NODE_RANK` to the index of the pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import LLAMA_FACTORY, SWIFT
from trainyard.model.run import Command, Container, Role
from trainyard.startup import pattern

_FACTORY, _SWIFT = "LLaMA-Factory", "ms-swift"
# Operators that set `PET_NODE_RANK`, which torchrun reads if it gets no option.
_OF_TORCHRUN = ("PyTorchJob", "TrainJob", "HyperPodPyTorchJob")
_FORMER = pattern(r":v?0\.([0-8]\.\d+|9\.0)($|[-_.])")


@rule(
    code="TD093",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "hiyouga/LLaMA-Factory v0.9.0 and v0.9.1 src/llamafactory/cli.py, ff6d4d12 src/llamafactory/launcher.py",
        "modelscope/ms-swift swift/cli/main.py: get_torchrun_args",
        "github.com/hiyouga/LlamaFactory issue 5450",
    ),
    needs=("NNODES",),
)
def node_rank_variable_unset(role: Role, context: Context) -> Iterator[Problem]:
    """Report launchers of several nodes without the rank of the node."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or (run.nodes or 0) < 2:
        return
    nodes = container.setting("NNODES")
    unset = all(container.setting(name) is None for name in ("NODE_RANK", "RDZV_ID"))
    if nodes is None or (decimal(nodes.value or "") or 0) < 2 or not unset or has_unknown_variables(container, context):
        return
    for command in container.commands:
        launcher = _launcher(command)
        if launcher and not _is_told(launcher, container, run.kind):
            yield Problem(
                command.word_at[0],
                f"{launcher} reads the rank of the node from NODE_RANK, which nothing sets: each of the {run.nodes} "
                "pods starts as node 0",
                "set NODE_RANK to the index of the pod",
                related=((nodes.at, "the number of nodes"),),
            )


def _launcher(command: Command) -> str:
    words = command.words
    if command.program == LLAMA_FACTORY and "train" in words[1:2]:
        return _FACTORY
    is_swift = command.program in (SWIFT, "megatron") and words[1:2] in (("sft",), ("pt",), ("rlhf",))
    return _SWIFT if is_swift else ""


def _is_told(launcher: str, container: Container, kind: str) -> bool:
    """True if the launcher gets the rank in another way."""
    if launcher == _SWIFT:
        return kind in _OF_TORCHRUN
    return _FORMER.search(container.image or "") is not None and container.setting("RANK") is not None
