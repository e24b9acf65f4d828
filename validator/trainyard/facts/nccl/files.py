"""Variables that name a file which NCCL opens, with what happens without the file.

Sources: NVIDIA/nccl v2.30.7-1 src/graph/xml.cc: ncclTopoGetXmlFromFile, ncclTopoGetXmlGraphFromFile; src/misc/param.cc:
setEnvFile.
"""

from __future__ import annotations

FILES = {
    "NCCL_TOPO_FILE": "NCCL uses the topology that it detects",
    "NCCL_CONF_FILE": "NCCL runs without its settings",
    "NCCL_GRAPH_FILE": "NCCL fails with a system error",
}

# Graphs of images, with the number of their GPUs. Source: Azure/azhpc-images topology/ncv4-graph.xml.
GRAPHS = {"/opt/microsoft/ncv4/graph.xml": 4}
