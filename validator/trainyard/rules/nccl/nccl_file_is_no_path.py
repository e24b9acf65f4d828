"""The variable holds a word where NCCL opens a file, so NCCL does not find it.

`NCCL_TOPO_FILE`, `NCCL_GRAPH_FILE` and `NCCL_CONF_FILE` are paths. A word without a slash and a dot is usually a name
that a template has left, or the name of a ConfigMap. NCCL then runs with the topology that it detects, or fails.

Write the path of the mounted file.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.files import FILES
from trainyard.model.run import Setting


@rule(
    code="NC046",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/xml.cc: ncclTopoGetXmlFromFile, ncclTopoGetXmlGraphFromFile",
        "NVIDIA/nccl v2.30.7-1 src/misc/param.cc: setEnvFile",
        "github.com/NVIDIA-NeMo/nemo-platform pull 319",
    ),
    needs=("NCCL_CONF_FILE", "NCCL_GRAPH_FILE", "NCCL_TOPO_FILE"),
)
def nccl_file_is_no_path(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report words in place of paths."""
    path = setting.value or ""
    if setting.name not in FILES or not is_effective(setting, context.container):
        return
    if path and not any(sign in path for sign in "/.${"):
        yield Problem(
            setting.at,
            f"{setting.name} is `{path}`, which is not a path: {FILES[setting.name]}",
            "write the path of the mounted file",
        )
