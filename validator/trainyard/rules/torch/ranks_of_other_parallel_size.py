"""mpirun starts another number of ranks than the parallel sizes of TensorRT-LLM take, so the program stops.

TensorRT-LLM needs one rank for each GPU: tensor times pipeline parallel size. With eight ranks and sizes of 8 and 2 it
ends with an assertion about the world size. A rank more than the sizes take ends it too.

The rule looks at `trtllm-serve`, `trtllm-bench` and `trtllm-llmapi-launch` behind mpirun with a number of processes. It
leaves out programs with a file of options, which may hold the sizes.

Start as many ranks as the product of the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import mpi_processes
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container

_TENSOR = ("--tp", "--tp_size", "--tensor_parallel_size")
_PIPELINE = ("--pp", "--pp_size", "--pipeline_parallel_size")
# Options whose files or values change the number of ranks.
_ELSEWHERE = (
    "--config",
    "--extra_llm_api_options",
    "--cp",
    "--cp_size",
    "--engine_dir",
    "--engine-dir",
    "--cluster_size",
)


@rule(
    code="TD066",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/TensorRT-LLM v1.0 tensorrt_llm/mapping.py: world_size must equal tp_size * pp_size * cp_size",
        "github.com/NVIDIA/TensorRT-LLM pull 17235",
    ),
    needs=("trtllm-",),
)
def ranks_of_other_parallel_size(container: Container) -> Iterator[Problem]:
    """Report ranks of mpirun that the parallel sizes do not take."""
    for command in container.commands:
        ranks = mpi_processes(command)
        start = next((index for index, word in enumerate(command.words) if word.startswith("trtllm-")), None)
        if not ranks or start is None:
            continue
        options = dict(_options(command, start))
        sizes = [next((options[name] for name in names if name in options), None) for names in (_TENSOR, _PIPELINE)]
        if not any(sizes) or any(name in options for name in _ELSEWHERE):
            continue
        tensor, pipeline = (decimal(size[0]) if size is not None else 1 for size in sizes)
        if tensor and pipeline and tensor * pipeline != ranks:
            at = next(size[1] for size in reversed(sizes) if size is not None)
            yield Problem(
                at,
                f"mpirun starts {ranks} ranks, and the parallel sizes take {tensor} x {pipeline} = {tensor * pipeline}",
                f"start {tensor * pipeline} ranks, or change a size",
            )


def _options(command: Command, start: int) -> Iterator[tuple[str, tuple[str, Place]]]:
    """Yields the options of the program behind mpirun, with their values."""
    for index in range(start + 1, len(command.words)):
        name, equal, value = command.words[index].partition("=")
        at = command.word_at[index]
        if not equal and index + 1 < len(command.words):
            value, at = command.words[index + 1], command.word_at[index + 1]
        if name.startswith("--"):
            yield name, (value, at)
