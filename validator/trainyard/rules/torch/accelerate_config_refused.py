"""accelerate refuses its configuration: a key, a word or a combination that it does not know.

`accelerate launch` ends with "The config file had unknown keys" for a key at the top level that no option has. FSDP
checks its words when the first model is prepared: `fsdp_sharding_strategy`, `fsdp_auto_wrap_policy`,
`fsdp_backward_prefetch` and `fsdp_state_dict_type` have a fixed list each, in any case. FSDP 2 has no
`LOCAL_STATE_DICT`, and its activation checkpointing needs a policy that wraps layers. Loading on one rank,
`fsdp_cpu_ram_efficient_loading`, needs `fsdp_sync_module_states` in FSDP 1. Counts, ranks and ports are whole numbers,
and so is `fsdp_min_num_params` for `SIZE_BASED_WRAP`: accelerate does not read `1e8` as a whole number, and stops. In
`deepspeed_config`, stages, devices, switches and numbers are those of the options of `accelerate launch`.

The section has no other keys of DeepSpeed: accelerate ignores `train_micro_batch_size_per_gpu` there, and takes it from
the file that `deepspeed_config_file` names.

The rank of a machine is less than their number, `gpu_ids` is a list, and `main_process_ip` has no port. Keys of FSDP
that resemble a known one are misspelt: accelerate ignores them.

The classes of `fsdp_transformer_layer_cls_to_wrap` stand in one text with commas and no spaces: accelerate looks for a
class of ` LlamaMLP`, and finds none.

The rule leaves out files for SageMaker, and keys of former releases.

Write one of the words that the message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.launchers.accelerate_config import AccelerateConfig, accelerate_configs
from trainyard.analysis.launchers.option_values import fits, is_told, wanted
from trainyard.document.document import Place
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.accelerate import (
    FSDP_INTEGERS,
    FSDP_KEYS,
    FSDP_SWITCHES,
    FSDP_WORDS,
    INTEGERS,
    KEYS,
    MIXED,
    TYPES,
)
from trainyard.facts.programs.deepspeed import SECTIONS, TOP_LEVEL
from trainyard.facts.programs.hugging_face import SWITCH_WORDS
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.facts.programs.option_forms import ACCELERATE
from trainyard.model.run import Project

_OPTIONS = frozenset(
    one[2:].replace("-", "_")
    for one in (*BY_NAME["accelerate"].valued, *BY_NAME["accelerate"].flags)
    if one.startswith("--")
)
_LAYERS = "fsdp_transformer_layer_cls_to_wrap"
_RANGE = re.compile(r"\d+-\d+")
_WITH_PORT = re.compile(r"[\w.-]+:\d+")


@rule(
    code="TD037",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 16cb6eb src/accelerate/commands/config/config_args.py: from_yaml_file, ClusterConfig",
        "huggingface/accelerate 16cb6eb src/accelerate/utils/dataclasses.py: FullyShardedDataParallelPlugin",
        "huggingface/accelerate 16cb6eb src/accelerate/utils/launch.py: prepare_multi_gpu_env",
        "github.com/huggingface/accelerate issues 2298 and 3822, pull 1361; huggingface/diffusers pull 14806",
    ),
    needs=("distributed_type",),
)
def accelerate_config_refused(project: Project) -> Iterator[Problem]:
    """Report what accelerate does not know."""
    for config in accelerate_configs(project):
        if text(config.tree, "compute_environment") in ("", "LOCAL_MACHINE"):
            yield from _top(config)
            yield from _integers(config.tree, config.at, INTEGERS)
            if text(config.tree, "distributed_type") == "DEEPSPEED":
                yield from _deepspeed(config)
            if text(config.tree, "distributed_type") == "FSDP":
                yield from _words(config)
                yield from _layers(config)
                yield from _unknown_keys(config)
                yield from _sizes(config)
                yield from _switches(config)
                yield from _together(config)


def _top(config: AccelerateConfig) -> Iterator[Problem]:
    for key in config.tree:
        if key not in KEYS and "{" not in str(key):
            near = closest_match(str(key), sorted(KEYS), 0.7)
            yield Problem(
                config.at.child(key).key(),
                f"accelerate knows no key `{key}` here, and ends with `unknown keys`",
                f"did you mean `{near}`?" if near is not None else "remove it",
            )
    for key, known in (("distributed_type", TYPES), ("mixed_precision", MIXED)):
        value = config.tree.get(key)
        if isinstance(value, str) and value not in known and "{" not in value and "$" not in value:
            yield Problem(config.at.child(key), f"`{key}` is `{value}`, which accelerate does not know", _one_of(known))
    if config.tree.get("mixed_precision") is True:
        at = config.at.child("mixed_precision")
        yield Problem(at, "`mixed_precision` is `true`, which accelerate does not know", _one_of(MIXED))
    yield from _machine(config)
    port = config.tree.get("main_process_port")
    if isinstance(port, int) and not 0 <= port <= 65535:
        at = config.at.child("main_process_port")
        yield Problem(at, f"the port {port} is above 65535: no process can listen there", "choose a port below 65536")


def _machine(config: AccelerateConfig) -> Iterator[Problem]:
    """Yields the problems of the machine: its rank, its GPUs and the address of the first one."""
    rank, machines = integer(config.tree, "machine_rank"), integer(config.tree, "num_machines")
    if rank is not None and machines and rank >= machines:
        message = f"machine_rank {rank} is beyond the {machines} machine{'s' * (machines > 1)}, which count from 0"
        yield Problem(config.at.child("machine_rank"), message, f"write 0 to {machines - 1}")
    if _RANGE.fullmatch(text(config.tree, "gpu_ids")):
        message = f"`gpu_ids` is `{text(config.tree, 'gpu_ids')}`: CUDA takes a list, and sees the first GPU alone"
        yield Problem(config.at.child("gpu_ids"), message, "write a list such as `0,1,2,3`, or `all`")
    if _WITH_PORT.fullmatch(address := text(config.tree, "main_process_ip")):
        message = f"`main_process_ip` is `{address}`: no host has this name, and the port is a key of its own"
        yield Problem(config.at.child("main_process_ip"), message, "write the port into `main_process_port`")


def _unknown_keys(config: AccelerateConfig) -> Iterator[Problem]:
    """Yields keys of FSDP that resemble a known one: accelerate ignores others."""
    for key in mapping(config.tree, "fsdp_config"):
        name = str(key) if str(key).startswith("fsdp") else f"fsdp_{key}"
        near = closest_match(name, FSDP_KEYS, 0.9) if name not in FSDP_KEYS and "{" not in name else None
        if near is not None:
            at = config.at.child("fsdp_config", key).key()
            yield Problem(at, f"FSDP has no `{key}`: accelerate ignores it", f"did you mean `{near}`?")


def _words(config: AccelerateConfig) -> Iterator[Problem]:
    fsdp = mapping(config.tree, "fsdp_config")
    for key, known in FSDP_WORDS.items():
        value = fsdp.get(key)
        if not isinstance(value, str | int) or isinstance(value, bool) or "{" in str(value) or "$" in str(value):
            continue
        word = str(value)
        # A number is the place in the list, from one.
        if word.upper() in known or (
            word.isdigit() and 1 <= int(word) <= len(known) and key != "fsdp_auto_wrap_policy"
        ):
            continue
        yield Problem(
            config.at.child("fsdp_config", key), f"FSDP has no `{key}` of `{word}`: the start fails", _one_of(known)
        )


def _layers(config: AccelerateConfig) -> Iterator[Problem]:
    """Yields a list of classes that accelerate does not split into their names."""
    written = mapping(config.tree, "fsdp_config").get(_LAYERS)
    names = [str(one) for one in written] if isinstance(written, list) else str(written or "").split(",")
    if "{" in str(written) or not (isinstance(written, list) or any(name != name.strip() for name in names)):
        return
    what = "reads one text" if isinstance(written, list) else "does not strip the spaces"
    right = ",".join(name.strip() for name in names)
    at = config.at.child("fsdp_config", _LAYERS)
    yield Problem(at, f"accelerate {what} in `{_LAYERS}`, and finds no such class to wrap", f"write `{right}`")


def _deepspeed(config: AccelerateConfig) -> Iterator[Problem]:
    yield from _unread(config)
    for key, value in mapping(config.tree, "deepspeed_config").items():
        form = ACCELERATE.get(f"--{str(key).replace('_', '-')}")
        written = str(value)
        if form is None or value is None or not is_told(written) or written.lower() in ("none", "auto"):
            continue
        if not fits(written, form):
            message = f"`{key}` is `{written}`, which accelerate or DeepSpeed refuses: the start fails"
            yield Problem(config.at.child("deepspeed_config", key), message, wanted(written, form))


def _unread(config: AccelerateConfig) -> Iterator[Problem]:
    """Yields keys of `deepspeed_config` that are no options of accelerate: those of DeepSpeed, and misspelt ones."""
    for key in mapping(config.tree, "deepspeed_config"):
        name = str(key)
        if name in _OPTIONS or "{" in name:
            continue
        near = closest_match(name, sorted(_OPTIONS), 0.9)
        help_ = "write it into DeepSpeed's own file, and name that in `deepspeed_config_file`"
        if name in TOP_LEVEL or name in SECTIONS or near is not None:
            yield Problem(
                config.at.child("deepspeed_config", key).key(),
                f"accelerate has no option `{name}` for DeepSpeed, and ignores it",
                f"did you mean `{near}`?" if near is not None else help_,
            )


def _integers(tree: dict[str, Any], at: Place, names: tuple[str, ...]) -> Iterator[Problem]:
    for name in names:
        value = tree.get(name)
        is_text = isinstance(value, str) and not value.strip().isdecimal() and not any(one in value for one in "{$<")
        if isinstance(value, bool | float) or (is_text and value not in ("null", "")):
            message = f"accelerate reads `{name}` as a whole number, but it is `{value}`: the start fails"
            yield Problem(at.child(name), message, "write a whole number")


def _sizes(config: AccelerateConfig) -> Iterator[Problem]:
    """Yields sizes that are no whole numbers. accelerate reads them for the policy of sizes alone."""
    fsdp = mapping(config.tree, "fsdp_config")
    if text(fsdp, "fsdp_auto_wrap_policy").upper() == "SIZE_BASED_WRAP":
        yield from _integers(fsdp, config.at.child("fsdp_config"), FSDP_INTEGERS)


def _switches(config: AccelerateConfig) -> Iterator[Problem]:
    fsdp = mapping(config.tree, "fsdp_config")
    for name in FSDP_SWITCHES:
        value = fsdp.get(name)
        if isinstance(value, str) and value.lower() not in SWITCH_WORDS and "{" not in value and "$" not in value:
            at = config.at.child("fsdp_config", name)
            yield Problem(at, f"`{name}` is `{value}`, which is neither true nor false", "write `true` or `false`")


def _together(config: AccelerateConfig) -> Iterator[Problem]:
    fsdp, at = mapping(config.tree, "fsdp_config"), config.at.child("fsdp_config")
    second = str(fsdp.get("fsdp_version", 1)) == "2"
    if second and str(fsdp.get("fsdp_state_dict_type")).upper() == "LOCAL_STATE_DICT":
        yield Problem(at.child("fsdp_state_dict_type"), "FSDP 2 has no LOCAL_STATE_DICT", "write SHARDED_STATE_DICT")
    if not second and _on(fsdp, "fsdp_cpu_ram_efficient_loading") and _off(fsdp, "fsdp_sync_module_states"):
        yield Problem(
            at.child("fsdp_sync_module_states"),
            "`fsdp_cpu_ram_efficient_loading` loads the model on one rank, and the others lack it: the start fails",
            "write `fsdp_sync_module_states: true`",
        )
    if (
        second
        and _on(fsdp, "fsdp_activation_checkpointing")
        and str(fsdp.get("fsdp_auto_wrap_policy")).upper() == "NO_WRAP"
    ):
        yield Problem(
            at.child("fsdp_auto_wrap_policy"),
            "activation checkpointing of FSDP 2 wraps layers by the policy, and NO_WRAP wraps none: the start fails",
            "write TRANSFORMER_BASED_WRAP, or turn `fsdp_activation_checkpointing` off",
        )


def _on(tree: dict[str, Any], key: str) -> bool:
    return str(tree.get(key)).lower() == "true"


def _off(tree: dict[str, Any], key: str) -> bool:
    return str(tree.get(key)).lower() == "false"


def _one_of(known: tuple[str, ...]) -> str:
    return f"write one of {', '.join(known)}"
