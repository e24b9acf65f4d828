"""A library cannot read the value of its environment variable, so the program stops or does something else.

Each library parses its variables in its own way. vLLM converts switches with `int`, so `VLLM_SERVER_DEV_MODE=true`
ends the server. The launcher of Text Generation Inference takes `true` and `false` in lower case only. Libraries of
Hugging Face take every unknown word for false: `HF_HUB_OFFLINE=enabled` downloads after all. Quotation marks within a
value, as in `value: '"1"'`, are part of it. NVIDIA's device plugin, GPU feature discovery and DCGM exporter are
programs in Go: their switches take `true` and `1`, but neither `yes` nor `on`.

PyTorch's allocator refuses an option that it does not know, and `expandable_segments` other than `True` and `False`.
`max_split_size_mb` is a number of MiB and at least 20: of `1GB` it reads the 1. `garbage_collection_threshold` is a
share between 0 and 1, and commas separate the options.

Write one of the values that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value
from trainyard.analysis.pods.variable_values import is_taken, wanted_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.library_variables import (
    ALLOCATOR,
    ALLOCATOR_BACKENDS,
    ALLOCATOR_POWERS,
    ALLOCATOR_SWITCHES,
    KNOWN,
    SMALLEST_SPLIT,
)
from trainyard.model.run import Setting
from trainyard.startup import pattern

_ALLOCATORS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
# The number at the start of a value, with as many digits as fit.
_START = pattern(r"[+-]?[0-9]{1,18}")
_NUMBERS = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_PORT")
_CAPITALS = pattern(r"[A-Z]|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SHARE = pattern(r"[+-]?([0-9]{1,18}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


@rule(
    code="TD040",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/library_variables.py: the source of each library",
        "github.com/huggingface/text-generation-inference issue 1451, github.com/openucx/ucx pull 9832",
        "github.com/containers/ai-lab-recipes pull 731; github.com/pytorch/pytorch issue 186453",
    ),
    needs=(
        "VLLM_", "SHARD", "DISABLE_", "MAX_", "TRUST_REMOTE", "DTYPE", "USAGE_STATS", "JSON_OUTPUT", "VALIDATION_WO",
        "WAITING_SERVED", "_MEMORY_FRACTION", "PROMETHEUS_PORT", "PAYLOAD_LIMIT", "SPECULATE", "NGROK", "ENABLE_",
        "HF_", "TRANSFORMERS_OFFLINE", "ACCELERATE_", "WANDB_MODE", "TORCH_", "MASTER_PORT", "WORLD_SIZE", "CUDA_",
        "NVIDIA_DRIVER", "UCX_", "FI_", "HOROVOD_", "_ALLOC_CONF", "FSDP_", "OMP_NUM_THREADS", "RANK",
        "_STRATEGY", "DCGM_EXPORTER_", "GFD_", "FAIL_ON_INIT", "PASS_DEVICE", "GDS_ENABLED", "MOFED_ENABLED",
        "GDRCOPY_ENABLED", "IMEX_REQUIRED", "_ALLOCATION_POLICY", "KUBERNETES_",
    ),
)  # fmt: skip
def library_variable_refused(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report a value that the library of a variable does not take."""
    if setting.name in _ALLOCATORS:
        yield from _allocator(setting)
        return
    known = KNOWN.get(setting.name)
    value = literal_value(setting) if known is not None else None
    if known is None or value is None or "{" in value or "<" in value or _is_stand_in(setting.name, value):
        return
    if known.image and (context.container is None or known.image not in (context.container.image or "")):
        return
    if not is_taken(value, known):
        shown = f"`{value}`" if value else "empty"
        yield Problem(setting.at, f"{setting.name} is {shown}: the program {known.effect}", wanted_value(value, known))


def _is_stand_in(name: str, value: str) -> bool:
    """True for `NUM_WORKERS` or `N` in place of a number of PyTorch, which a script writes."""
    return name in _NUMBERS and _CAPITALS.fullmatch(value) is not None


def _allocator(setting: Setting) -> Iterator[Problem]:
    value = literal_value(setting)
    if value is None or "{" in value or "[" in value or "<" in value:
        # A list in brackets has commas of its own.
        return
    # A comma at the end is taken.
    for one in value.strip().removesuffix(",").split(","):
        name, colon, state = (part.strip() for part in one.partition(":"))
        if not colon or name not in ALLOCATOR:
            if not value.strip():
                return
            near = closest_match(name, ALLOCATOR, 0.7)
            yield Problem(
                setting.at,
                f"the allocator of PyTorch knows no option `{one.strip()}`: the program stops",
                f"write `{near}:VALUE`" if near is not None else "write `NAME:VALUE`, separated by commas",
            )
            return
        told = _allocator_wanted(name, state)
        if told:
            yield Problem(
                setting.at,
                f"`{name}` is `{state}`: the allocator of PyTorch stops the program"
                if state
                else f"`{name}` has no value: the allocator of PyTorch stops the program",
                told,
            )


def _allocator_wanted(name: str, state: str) -> str:
    """Returns what to write instead of the value of an option; empty if PyTorch takes it."""
    if ":" in state or ";" in state:
        return "write a comma between the options"
    if name in ALLOCATOR_SWITCHES:
        return "" if state in ("True", "False") else "write `True` or `False`, with a capital"
    number = _START.match(state)
    if name == "backend":
        return "" if state in ALLOCATOR_BACKENDS else "write `native` or `cudaMallocAsync`"
    if name == "max_split_size_mb":
        # A negative number is a very large one.
        fits = number is not None and (int(number[0]) < 0 or int(number[0]) >= SMALLEST_SPLIT)
        return "" if fits else f"write a number of MiB, at least {SMALLEST_SPLIT}"
    if name == "garbage_collection_threshold":
        share = _SHARE.match(state)
        return "" if share is not None and 0 < float(share[0]) < 1 else "write a share between 0 and 1, such as `0.8`"
    if name in ALLOCATOR_POWERS:
        return "" if number is not None and int(number[0]).bit_count() == 1 else "write a power of 2"
    return "" if state else "write its value behind the colon"
