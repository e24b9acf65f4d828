"""The volume for downloaded models is smaller than the model, so the download fails or the pod is evicted.

The weights of a model take two bytes for each parameter in 16 bits: 141 GB for a name with `70B`. A claim that is
smaller ends with `No space left on device`. An `emptyDir` with a smaller `sizeLimit` is evicted, and so is its
successor, which downloads the model again.

The rule applies to vLLM and SGLang with a model of the hub whose name tells its size. It leaves out names and options
of quantized models, mixtures such as `8x7B`, and claims that are not in the files. It counts 1.8 bytes a parameter.

Write a size of twice the weights, which leaves room for a second version of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import ServerStart, only_server
from trainyard.analysis.objects.claims import claim_of
from trainyard.analysis.pods.caches import cache_path
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.resources.shared_memory import size_limit
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Role, Run, Workload

BYTES = 1.8e9
# By precedence; the last one is the default of root, which images of servers run as.
CACHES = {"HF_HUB_CACHE": "", "HUGGINGFACE_HUB_CACHE": "", "HF_HOME": "/hub", "XDG_CACHE_HOME": "/huggingface/hub"}
DEFAULT = "/root/.cache/huggingface/hub"
_SIZE = re.compile(r"(?<![\dA-Za-z.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")
_SMALLER = re.compile(
    r"awq|gptq|fp8|fp4|int[48]|[48][-_]?bit|w[48]a|bnb|gguf|quant|mxfp|gpt-oss|\dx\d|ternary|squeeze|autoround|exl",
    re.IGNORECASE,
)


@rule(
    code="RS018",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/huggingface_hub src/huggingface_hub/constants.py: HF_HUB_CACHE; file_download.py: the free space",
        "github.com/llm-d/llm-d issue 857, github.com/rwlove/home-ops pull 12384",
    ),
    needs=("vllm", "sglang"),
)
def model_larger_than_cache(run: Workload, context: Context) -> Iterator[Problem]:
    """Report volumes that the weights do not fit into."""
    for role in run.roles:
        for container in role.pod.containers:
            start = only_server(container)
            billions = _billions(start, container) if start is not None else None
            held = _volume(start, container, role, run, context) if start is not None and billions else None
            if billions and held is not None and held[0] < billions * BYTES:
                yield Problem(
                    held[1],
                    f"the weights of {billions:g} billion parameters take {2 * billions:.0f} GB in 16 bits, and the "
                    f"volume of the cache has {held[0] / 1e9:.0f} GB",
                    "write a larger size",
                )


def _billions(start: ServerStart, container: Container) -> float | None:
    """Returns the parameters of a model of the hub in 16 bits; None if they are not known."""
    command = start.command
    model = command.option("--model", "--model-path")
    if model is None and command.words[1:2] == ("serve",) and len(command.words) > 2:
        model = command.words[2]
    if (
        model is None
        or model.count("/") != 1
        or model.startswith(("/", "."))
        or _SMALLER.search(" ".join(command.words))
    ):
        return None
    if any(setting.name.endswith("ENDPOINT") for setting in container.settings):
        return None
    found = [float(number) for number in _SIZE.findall(model.partition("/")[2])]
    return max(found) if found else None


def _volume(
    start: ServerStart, container: Container, role: Role, run: Run, context: Context
) -> tuple[float, Place] | None:
    """Returns the size of the volume with the cache in bytes, and its place."""
    path = start.command.option("--download-dir")
    for name, below in CACHES.items():
        if path is None and container.setting(name) is not None:
            known = cache_path(container, name)
            if known is None:
                return None
            path = known + below
    if path is None and container.setting("HOME") is not None:
        return None
    mount = mount_of(container, path or DEFAULT)
    volume = role.pod.volume(mount.volume) if mount is not None else None
    if volume is None:
        return None
    if volume.kind == "emptyDir":
        limit = size_limit(volume)
        return (limit, volume.at.child("emptyDir", "sizeLimit")) if limit else None
    claim = claim_of(volume, run, context.project)
    asked = ("spec", "resources", "requests")
    size = parse_quantity(mapping(claim.tree, *asked).get("storage")) if claim is not None else None
    return (size, claim.at.child(*asked, "storage")) if size and claim is not None else None
