"""`NCCL_GRAPH_FILE` describes more GPUs than the container has, so NCCL stops with "dev not found".

A graph file fixes the channels of one machine: it names every GPU by its number. NCCL does not fall back to its own
search if one of them is missing. Images of Azure for NC A100 v4 set the graph of four GPUs in `/etc/nccl.conf` on
machines of all sizes, and copied settings carry it on.

The rule reads the graph from a ConfigMap of the files, or knows it by its path. It leaves out a container with one
GPU, and a graph that names ranks beside the GPUs, which later releases take.

Remove `NCCL_GRAPH_FILE`: NCCL finds good channels by itself. Keep `NCCL_TOPO_FILE`, which describes virtual machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.analysis.pods.settings import literal_value, remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.files import GRAPHS
from trainyard.model.run import Setting
from trainyard.startup import pattern

_VARIABLE = "NCCL_GRAPH_FILE"
_RANK = pattern(r"<gpu [^>]*\brank=")
_GPU = pattern(r'<gpu dev="(\d+)"')


@rule(
    code="NC050",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/search.cc: ncclTopoGetChannelFromXml",
        "github.com/NVIDIA/nccl issue 1008",
    ),
    fix="unsafe",
    needs=(_VARIABLE,),
)
def nccl_graph_of_other_gpus(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report graphs with GPUs that are not there."""
    container = context.container
    path = literal_value(setting) if setting.name == _VARIABLE else None
    if path is None or container is None or setting.via == "mpirun" or not is_effective(setting, container):
        return
    told = whole_gpus(container)
    found = mounted_text(path, container, context)
    if found is not None and _RANK.search(found[0]):
        return
    numbers = {int(number) for number in _GPU.findall(found[0])} if found is not None else set()
    count = max(numbers) + 1 if numbers else GRAPHS.get(path, 0)
    if told is not None and 1 < told[1] < count:
        yield Problem(
            setting.at,
            f"the graph of {_VARIABLE} has {count} GPUs, and the container has {told[1]}: NCCL fails",
            f"remove {_VARIABLE}",
            remove_variable(setting),
        )
