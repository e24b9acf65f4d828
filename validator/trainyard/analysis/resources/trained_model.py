"""The size of the model that a container trains, and the host memory of its states.

Source: NVIDIA/Megatron-LM megatron/training/arguments.py (shapes of layers, and their defaults); hiyouga/LLaMA-Factory
hparams/finetuning_args.py and modelscope/ms-swift (both train LoRA by default).
"""

from __future__ import annotations

from typing import Any

from trainyard.analysis.jobs.kubeflow import elastic_range
from trainyard.analysis.resources.shared_memory import GIB
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.facts.kubernetes.quantities import finite_number
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.model.run import Command, Container, Pod, Project, Run
from trainyard.startup import NamedTuple, pattern

# Weights and both moments of Adam in fp32.
STATE_BYTES = 12
TRAINER_FILE = "trainer.json"

_NAMES = (
    "--model-name-or-path", "--model-name", "--model", "--model-path", "--model-id", "--base-model",
    "--pretrained-model-name-or-path", "--pretrained", "--model.flavor", "--model-type",
)  # fmt: skip
# `70b` in a name. In `8x7B` and `A3B` the number is not that of all parameters.
_BILLIONS = pattern(r"(?<![0-9a-z.])(\d{1,4}(?:\.\d+)?)b(?![0-9a-z])", 2)
# Words of programs that train a part of the weights, or weights of fewer bits.
_PARTIAL = pattern(r"lora|peft|adapter|freez|frozen|bitfit|tuner|galore|quant|gptq|awq|[48][-_]?bit|int[48]|fp8", 2)
_KINDS = ("--finetuning-type", "--train-type", "--tuner-type", "--tuning-type")
_UNKNOWN_SHAPES = ("--num-experts", "--multi-latent-attention", "--use-precision-aware-optimizer")


class TrainedModel(NamedTuple):
    """The least number of parameters that a container trains, and the place that tells it.

    `fields` are those of the reference trainer's configuration, empty without one.
    """

    parameters: float
    at: Place
    fields: dict[str, Any]


def trained_model(pod: Pod, container: Container, run: Run, project: Project) -> TrainedModel | None:
    """Returns the model that a container trains as a whole, None if the files do not tell."""
    for command in container.commands:
        if _trains_a_part(command):
            continue
        fields, at = trainer_fields(pod, container, run, project) if command.has("--config") else ({}, command.at)
        found = _by_shape(command, fields, at) or _by_name(command)
        if found is not None:
            return found
    return None


def state_bytes(model: TrainedModel, run: Run) -> float | None:
    """Returns the share of a node in the states of the optimizer with the weights; None if the nodes are not known."""
    nodes = elastic_range(run)[1] if run.elastic is not None else run.nodes
    return model.parameters * STATE_BYTES / nodes if nodes else None


def trainer_fields(pod: Pod, container: Container, run: Run, project: Project) -> tuple[dict[str, Any], Place]:
    """Returns the fields of the reference trainer in a mounted file, and their place."""
    for mount in container.mounts:
        volume = pod.volume(mount.volume)
        name = text(volume.body, "name") if volume is not None and volume.kind == "configMap" else ""
        resource = project.named("ConfigMap", name, run.namespace) if name else None
        written = mapping(resource.tree, "data").get(TRAINER_FILE) if resource is not None else None
        if resource is not None and isinstance(written, str):
            inner = embedded(resource.at.child("data", TRAINER_FILE), written)
            if not isinstance(inner, BrokenText) and isinstance(inner.tree, dict):
                return inner.tree, Place(inner)
    return {}, container.at


def _trains_a_part(command: Command) -> bool:
    kind = command.option(*_KINDS)
    launcher = BY_NAME.get(command.program)
    if kind is None and launcher is not None and launcher.trains_lora:
        return True
    names = [word for word in command.words if not word.replace("_", "-").startswith(_KINDS) and word != kind]
    return kind not in (None, "full") or any(_PARTIAL.search(word) for word in names)


def _by_name(command: Command) -> TrainedModel | None:
    told = command.option_at(*_NAMES)
    numbers = _BILLIONS.findall(told[0]) if told is not None else []
    return TrainedModel(float(numbers[-1]) * 1e9, told[1], {}) if told is not None and numbers else None


def _by_shape(command: Command, fields: dict[str, Any], at: Place) -> TrainedModel | None:
    """Counts the matrices of the layers: queries, outputs and the MLP, without keys, values and embeddings."""
    if command.has(*_UNKNOWN_SHAPES):
        return None

    def number(*names: str) -> float | None:
        told = command.option(*(f"--{name}" for name in names))
        written = [fields[key] for key in (name.replace("-", "_") for name in names) if key in fields]
        return finite_number(told if told is not None else next(iter(written), None))

    layers, width, inner = number("num-layers"), number("hidden-size"), number("ffn-hidden-size", "mlp-size")
    if not layers or not width:
        return None
    matrices = 3 if command.has("--swiglu") or _is_llama(command, fields) else 2
    inner_size = matrices * inner if inner else 8 * width
    parameters = layers * width * (2 * width + inner_size)
    place = command.option_at("--num-layers")
    return TrainedModel(parameters, place[1] if place is not None else at.child("num_layers"), fields)


def _is_llama(command: Command, fields: dict[str, Any]) -> bool:
    return (command.option("--model") or fields.get("model")) == "llama"


def gibibytes(size: float) -> str:
    """Returns a size as text, `391 GiB`."""
    return f"{int(size / GIB)} GiB"
