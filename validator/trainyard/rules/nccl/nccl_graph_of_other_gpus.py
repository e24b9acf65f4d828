"""`NCCL_GRAPH_FILE` describes more GPUs than the container has, so NCCL stops with "dev not found".

A graph file fixes the channels of one machine: it names every GPU by its number. NCCL does not fall back to its own
search if one of them is missing. Images of Azure for NC A100 v4 set the graph of four GPUs in `/etc/nccl.conf` on
machines of all sizes, and copied settings carry it on.

The rule reads the graph from a ConfigMap of the files, or knows it by its path. In a batch script of Slurm it compares
the graph with `--gpus-per-node` or `--gres`. It leaves out a container with one
GPU, and a graph that names ranks beside the GPUs, which later releases take.

Remove `NCCL_GRAPH_FILE`: NCCL finds good channels by itself. Keep `NCCL_TOPO_FILE`, which describes virtual machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.analysis.launchers.slurm import Batch, batches
from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.analysis.pods.settings import literal_value, remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.files import GRAPHS
from trainyard.model.run import Setting
from trainyard.startup import pattern

_VARIABLE = "NCCL_GRAPH_FILE"
_RANK = pattern(r"<gpu [^>]*\brank=")
_COUNT = pattern(r"(?:^|:)(\d{1,3})$")
_GPU = pattern(r'<gpu dev="(\d+)"')


@rule(
    code="NC050",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/search.cc: ncclTopoGetChannelFromXml",
        "github.com/NVIDIA/nccl issue 1008, github.com/Azure/azurehpc pull 730",
    ),
    fix="unsafe",
    needs=(_VARIABLE,),
)
def nccl_graph_of_other_gpus(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report graphs with GPUs that are not there."""
    container = context.container
    path = literal_value(setting) if setting.name == _VARIABLE else None
    if path is None or container is None:
        return
    batch = next(batches(container), None)
    if batch is None and (setting.via == "mpirun" or not is_effective(setting, container)):
        return
    whole = whole_gpus(container)
    told = (whole[1] if whole is not None else None) if batch is None else _gpus_of_batch(batch)
    found = mounted_text(path, container, context)
    if found is not None and _RANK.search(found[0]):
        return
    numbers = {int(number) for number in _GPU.findall(found[0])} if found is not None else set()
    count = max(numbers) + 1 if numbers else GRAPHS.get(path, 0)
    if told is not None and 1 < told < count:
        where = "the container" if batch is None else "a node of the job"
        yield Problem(
            setting.at,
            f"the graph of {_VARIABLE} has {count} GPUs, and {where} has {told}: NCCL fails",
            f"remove {_VARIABLE}",
            remove_variable(setting),
        )


def _gpus_of_batch(batch: Batch) -> int | None:
    """Returns the number of GPUs of each node of a batch script; None if it is not told."""
    counts = (_COUNT.search(batch.option(name) or "") for name in ("--gpus-per-node", "--gres"))
    return next((int(match[1]) for match in counts if match is not None), None)
