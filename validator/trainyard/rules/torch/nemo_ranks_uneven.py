"""The parallel sizes of a NeMo command take more ranks than its trainer has, or divide them unevenly, so it stops.

Megatron Core splits the ranks by the tensor, the pipeline and the context parallel size, and ends with "world_size
(1) is not divisible by 4" if their product does not divide the number of ranks. NeMo has `trainer.devices` times
`trainer.num_nodes` ranks, with any launcher.

The rule reads commands that set `trainer.devices` and a parallel size in words, as Hydra takes them.

Raise `trainer.devices` or `trainer.num_nodes`, or lower a size. A model keeps the sizes that its checkpoint was split
by.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container

_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
_DEVICES, _NODES = "trainer.devices", "trainer.num_nodes"


@rule(
    code="TD096",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/Megatron-LM megatron/core/parallel_state.py: initialize_model_parallel, RankGenerator",
        "github.com/NVIDIA-NeMo/Speech issue 10782",
    ),
    needs=("model_parallel_size",),
)
def nemo_ranks_uneven(container: Container) -> Iterator[Problem]:
    """Report ranks that the parallel sizes do not divide."""
    for command in container.commands:
        words = dict(_words(command))
        devices, nodes = (decimal(words[name][0]) if name in words else None for name in (_DEVICES, _NODES))
        if not devices or (nodes is None and _NODES in words):
            continue
        sizes = [words[name] for name in _SIZES if name in words]
        product = 1
        for value, _ in sizes:
            product *= decimal(value) or 0
        ranks = devices * (nodes or 1)
        if product and ranks % product:
            yield Problem(
                next(at for value, at in sizes if value != "1"),
                f"the product of the parallel sizes, {product}, does not divide the number of ranks, {ranks}: "
                "NeMo stops",
                f"raise {_DEVICES}, or lower a size",
                related=((words[_DEVICES][1], _DEVICES),),
            )


def _words(command: Command) -> Iterator[tuple[str, tuple[str, Place]]]:
    """Yields the names and values of a command for Hydra. The sizes may be those of `model`."""
    for word, at in zip(command.words, command.word_at, strict=True):
        name, equal, value = word.partition("=")
        if equal and not word.startswith("-"):
            yield name.lstrip("+").removeprefix("model."), (value, at)
