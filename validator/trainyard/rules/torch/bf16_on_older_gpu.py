"""The program asks for bf16 or TF32 on GPUs that have neither, so it stops, or runs slower than in fp16.

Units for bfloat16 and TF32 exist since the Ampere generation. On V100, T4, P100 and older GPUs, vLLM refuses
`--dtype=bfloat16`, and Trainer refuses `--tf32`. Whether `--bf16` is refused depends on the releases of Transformers
and PyTorch: later ones emulate it, without the tensor cores.

The rule knows the GPU from the node selector or the required node affinity of the pod: the product that the GPU
operator labels, the accelerator of GKE, and instance types of AWS and Azure. It reads options, variables, and the files
of DeepSpeed and Accelerate in ConfigMaps. Every GPU that the pod accepts must be an
older one.

Write fp16, or select newer GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.analysis.pods.placement import required_expressions
from trainyard.analysis.pods.settings import literal_value
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Pod

_PRODUCTS = (
    "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name", "gpu.nvidia.com/class", "gpu.nvidia.com/model",
)  # fmt: skip
_TYPES = (
    "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family",
    "eks.amazonaws.com/instance-family",
)  # fmt: skip
# Generations before Ampere. A T400 and an A10 have none of these names.
_OLDER = re.compile(
    r"(?i)(?<![a-z0-9])(V100S?|T4G?|P100|P40|P4|K80|M60|GTX[-_ ]?1\d{3}|RTX[-_ ]?20\d{2}|TITAN-V)(?![a-z0-9])"
)
_OLDER_TYPE = re.compile(r"(?i)(p2|p3|p3dn|g3s?|g4dn|g5g)(\.\w+)?|Standard_(NC\d+s_v[23]|NC\d+as_T4_v3|ND\d+rs_v2)")
_TRUE = ("", "true", "1", "yes")
# Options that are right with the value true, or without one.
_SWITCHES = {"--bf16": "bf16", "--tf32": "TF32", "--bf16-full-eval": "bf16"}
_WORDS = {"--mixed-precision": "bf16", "--dtype": "bfloat16", "--precision": "bf16", "--trainer.precision": "bf16"}
_FILES = (".json", ".yaml", ".yml")
_IN_FILE = re.compile(
    r"\"bf(?:loat)?16\"\s*:\s*\{[^{}]*\"enabled\"\s*:\s*true|^mixed_precision:\s*['\"]?bf16", re.MULTILINE
)
_VARIABLES = {"ACCELERATE_MIXED_PRECISION": "bf16"}


@rule(
    code="TD062",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.nvidia.com/cuda/cuda-c-programming-guide: compute capability 8.0, bfloat16 and TF32",
        "huggingface/transformers 5.23.0 training_args.py: --tf32 requires Ampere or a newer GPU",
        "vllm-project/vllm v0.10 vllm/platforms/cuda.py: check_if_supports_dtype, bfloat16 from 8.0",
        "github.com/lm-sys/FastChat issue 399, github.com/databrickslabs/dolly issue 11",
    ),
    needs=("bf16", "tf32", "bfloat16"),
)
def bf16_on_older_gpu(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report precisions that the selected GPUs lack."""
    older = _older(pod)
    for container in pod.containers if older else ():
        if container.gpus:
            yield from _asked(container, older)
            yield from _in_files(container, older, context)


def _older(pod: Pod) -> str:
    """Returns the older GPU that a pod selects; empty if it accepts a newer one, or does not tell."""
    chosen = mapping(pod.tree, "nodeSelector")
    for label in (*_PRODUCTS, *_TYPES):
        if found := _name(label, text(chosen, label)):
            return found
    for expression, _ in required_expressions(pod):
        label, values = text(expression, "key"), items(expression, "values")
        if label in (*_PRODUCTS, *_TYPES) and text(expression, "operator") == "In" and values:
            names = [_name(label, str(value)) for value in values]
            if all(names):
                return names[0]
    return ""


def _name(label: str, value: str) -> str:
    if label in _TYPES:
        return value if _OLDER_TYPE.fullmatch(value) else ""
    found = _OLDER.search(value)
    return found[1].upper() if found else ""


def _asked(container: Container, older: str) -> Iterator[Problem]:
    for command in container.commands:
        for precision, at in _in_command(command):
            yield _problem(precision, older, at)
    for name, word in _VARIABLES.items():
        setting = container.setting(name)
        if setting is not None and literal_value(setting) == word:
            yield _problem("bf16", older, setting.at)


def _in_files(container: Container, older: str, context: Context) -> Iterator[Problem]:
    """Yields the precision in files of DeepSpeed and Accelerate that a command names and a ConfigMap holds."""
    paths = {word.rpartition("=")[2] for command in container.commands for word in command.words}
    for path in sorted(one for one in paths if one.startswith("/") and one.endswith(_FILES)):
        known = mounted_text(path, container, context.of_container(container))
        found = _IN_FILE.search(known[0]) if known is not None else None
        if known is not None and found is not None:
            yield _problem("bf16", older, known[1].below(known[0].count("\n", 0, found.start())))


def _in_command(command: Command) -> Iterator[tuple[str, Place]]:
    words = command.words
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = name.replace("_", "-").lower()
        following = words[index + 1] if index + 1 < len(words) and not equals else ""
        if name in _SWITCHES:
            told = value if equals else following if following.lower() in (*_TRUE, "false", "0", "no") else ""
            if told.lower() in _TRUE:
                yield _SWITCHES[name], command.word_at[index]
        elif name in _WORDS and (value or following).lower().startswith(_WORDS[name]):
            yield "bf16", command.word_at[index if equals else index + 1]


def _problem(precision: str, older: str, at: Place) -> Problem:
    said = f"the pod selects {older}, which has no units for {precision}: programs refuse it, or run slower"
    return Problem(at, said, "write fp16" if precision == "bf16" else "remove the option")
