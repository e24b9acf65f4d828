"""Finds DeepSpeed configurations in all their places, and the runs that use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.programs.launchers import launcher_in
from trainyard.loaders.manifests.node_counts import bounds
from trainyard.loaders.manifests.surroundings import Neighbourhood
from trainyard.model.run import Command, Container, DeepSpeed, Pod, Resource, Run
from trainyard.startup import pattern

# One of the first is enough; the others occur in the configurations of other libraries too, and need company.
SURE = ("zero_optimization", "train_micro_batch_size_per_gpu")
LIKELY = ("train_batch_size", "gradient_accumulation_steps", "elasticity")
COMPANY = (
    "gradient_clipping", "steps_per_print", "wall_clock_breakdown", "communication_data_type", "prescale_gradients",
    "zero_allow_untested_optimizer", "zero_force_ds_cpu_optimizer",
)  # fmt: skip
# The key that each of these sections has. The optimizer of torchtune has `_component_`, that of Hydra `_target_`.
SECTIONS = {"fp16": "enabled", "bf16": "enabled", "amp": "enabled", "optimizer": "type", "scheduler": "type"}
# Keys of GPT-NeoX, whose files hold those of DeepSpeed and of the model side by side.
# Source: EleutherAI/gpt-neox megatron/neox_arguments: NeoXArgsModel, NeoXArgsParallelism, NeoXArgsTraining.
_OF_NEOX = frozenset(("num_layers", "hidden_size", "pipe_parallel_size", "model_parallel_size", "train_iters"))
# Arguments of Hugging Face's Trainer: LLaMA-Factory, for one, has files with nothing else, and any name.
_OF_TRAINER = frozenset(("per_device_train_batch_size", "num_train_epochs", "output_dir", "model_name_or_path"))
# Options that name the file: Hugging Face's TrainingArguments, DeepSpeed's parser, Accelerate's launcher and variable.
TRAINER_OPTION = "--deepspeed"
NATIVE_OPTION = "--deepspeed-config"
OPTIONS = (TRAINER_OPTION, NATIVE_OPTION, "--deepspeed-config-file", "--ds-config")
VARIABLE = "ACCELERATE_DEEPSPEED_CONFIG_FILE"

# A larger number of pods is a misprint, or too many to check one by one.
MOST_NODES = 10_000
MOST_DIGITS = 8

# Signs that a batch is split over fewer processes than there are.
_MODEL_PARALLEL_KEYS = ("tensor_parallel", "sequence_parallel_size", "pipeline", "expert_parallel")
_MODEL_PARALLEL = pattern(
    r"(tensor|pipeline|pipe|model|sequence|context|ulysses)[-_]?(model[-_]?)?parallel|ulysses|megatron|^--(tp|pp|sp|cp)\b",
    re.I,
)


def deepspeeds(
    documents: tuple[Document, ...], resources: tuple[Resource, ...], runs: tuple[Run, ...], near: Neighbourhood
) -> Iterator[DeepSpeed]:
    """Yields every configuration, once for each run that uses it, or once without a run if the files show none."""
    # The number of processes of a runtime is that of the TrainJobs that refer to it.
    runs = tuple(run for run in runs if run.kind not in RUNTIMES)
    found = [document for document in documents if _is_configuration(document)]
    named = _by_file(found, runs) if found else {}
    for document in found:
        users = named.get(id(document), []) or _alone_with(document, runs)
        yield from _for_each(document.tree, Place(document), users)
    config_maps = [resource for resource in resources if resource.kind == "ConfigMap"]
    mounting = _by_config_map(runs, config_maps, near)
    for resource in config_maps:
        yield from _of_config_map(resource, mounting.get(resource.at.child("data"), []))


def _is_configuration(document: Document) -> bool:
    tree = document.tree
    return isinstance(tree, dict) and "kind" not in tree and is_deepspeed(_base(document.source.name), tree)


def _by_file(documents: list[Document], runs: tuple[Run, ...]) -> dict[int, list[Run]]:
    """Returns the runs that name a file, by the identity of its document; of several files the nearest one."""
    by_name: dict[str, list[Document]] = {}
    for document in documents:
        by_name.setdefault(_base(document.source.name), []).append(document)
    users: dict[int, list[Run]] = {}
    for run in runs:
        for name in config_files(run) & by_name.keys():
            nearest = _nearest(by_name[name], run)
            if nearest is not None:
                users.setdefault(id(nearest), []).append(run)
    return users


def _nearest(documents: list[Document], run: Run) -> Document | None:
    """Returns the file in the folder of a run, or in the nearest folder above, or the only one."""
    if len(documents) == 1:
        return documents[0]
    by_folder = {document.source.name.rpartition("/")[0]: document for document in documents}
    folder = run.at.document.source.name
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in by_folder:
            return by_folder[folder]
    return None


def is_deepspeed(name: str, tree: dict[str, Any]) -> bool:
    """True if a mapping configures DeepSpeed, by its keys and the name of its file."""
    if any(str(key).replace("-", "_") in _OF_NEOX for key in tree):
        return False
    if any(key in tree for key in SURE):
        return True
    # A trainer's own file names the configuration of DeepSpeed.
    if "deepspeed" in tree or not any(key in tree for key in LIKELY) or not _OF_TRAINER.isdisjoint(tree):
        return False
    named = "deepspeed" in name.lower() or name.lower().startswith(("ds_", "ds-", "ds."))
    if any(key in tree for key in COMPANY):
        return True
    return named or any(inner in mapping(tree, section) for section, inner in SECTIONS.items())


def config_files(run: Run) -> frozenset[str]:
    """Returns the names of the DeepSpeed configurations in a run's commands and variables, without folders."""
    return frozenset(name for container in run.containers for name in _files(container))


def _files(container: Container) -> Iterator[str]:
    for command in container.commands:
        for option in OPTIONS:
            value = _value(command, option)
            if value:
                yield _base(value)
    setting = container.setting(VARIABLE)
    if setting is not None and setting.value:
        yield _base(setting.value)


def loads_itself(run: Run) -> bool:
    """True if DeepSpeed reads the file on its own, and no library fills in missing or `auto` values."""
    commands = run.commands
    filled = any(command.program == "accelerate" or _value(command, TRAINER_OPTION) for command in commands)
    return not filled and any(_value(command, NATIVE_OPTION) for command in commands)


def commands_of_trainer(run: Run) -> list[Command]:
    """Returns the commands that pass a file to Hugging Face's Trainer; one of those with the same words."""
    return list({command.words: command for command in run.commands if _value(command, TRAINER_OPTION)}.values())


def _value(command: Command, option: str) -> str | None:
    value = command.option(option)
    return value if value and not value.startswith("-") else None


def data_parallel_sizes(run: Run, config: dict[str, Any]) -> tuple[int, ...]:
    """Returns the numbers of processes that may split a batch; empty if unknown, or if the run splits models too."""
    if any(key in config for key in _MODEL_PARALLEL_KEYS):
        return ()
    if any(_splits_models(container) for container in run.containers):
        return ()
    commands = run.commands
    for command in commands:
        start = launcher_in(command.words)
        told = command.option(*start.launcher.total) if start is not None and start.launcher.total else None
        if told is not None:
            return (int(told),) if told.isdecimal() and len(told) < MOST_DIGITS else ()
    nodes = _nodes(run, commands)
    if nodes is None or run.processes is None or not 0 < nodes[0] <= nodes[1] <= MOST_NODES:
        return ()
    return tuple(count * run.processes for count in range(nodes[0], nodes[1] + 1))


def _splits_models(container: Container) -> bool:
    words = (word for command in container.commands for word in command.words)
    names = (setting.name for setting in container.settings if setting.value not in (None, "1"))
    return any(_MODEL_PARALLEL.search(word) for word in (*words, *names))


def _nodes(run: Run, commands: tuple[Command, ...]) -> tuple[int, int] | None:
    """Returns the minimum and maximum number of training pods."""
    for command in commands:
        told = command.option("--nnodes", "--num-nodes")
        if told is not None:
            return bounds(told)
    if run.elastic is not None:
        fewest, most = integer(run.elastic, "minReplicas"), integer(run.elastic, "maxReplicas")
        return (fewest, most) if fewest is not None and most is not None else None
    return (run.nodes, run.nodes) if run.nodes is not None else None


def _base(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _alone_with(document: Document, runs: tuple[Run, ...]) -> list[Run]:
    """Returns the only run in the configuration's own file: they were written for each other."""
    beside = [run for run in runs if run.at.document.source is document.source]
    return beside if len(beside) == 1 else []


def _for_each(tree: dict[str, Any], at: Place, users: list[Run]) -> Iterator[DeepSpeed]:
    if not users:
        yield DeepSpeed(tree, None, at)
    for user in users:
        yield DeepSpeed(tree, user, at)


def _by_config_map(runs: tuple[Run, ...], config_maps: list[Resource], near: Neighbourhood) -> dict[Place, list[Run]]:
    """Returns the runs that mount a ConfigMap, by the place of its data.

    Each run looks its names up: files may hold thousands of runs, and as many ConfigMaps of one name.
    """
    namespaces: dict[str, dict[str, None]] = {}
    for resource in config_maps:
        namespaces.setdefault(resource.name, {})[resource.namespace] = None
    mounting: dict[Place, list[Run]] = {}
    for run in runs:
        for name in dict.fromkeys(name for role in run.roles for name in _config_maps(role.pod)):
            known = namespaces.get(name, {})
            for namespace in dict.fromkeys(("", run.namespace)) if run.namespace else known:
                found = near.config_map((namespace, name), run.at.document.source) if namespace in known else None
                if found is not None:
                    mounting.setdefault(found[1], []).append(run)
    return mounting


def _of_config_map(resource: Resource, mounting: list[Run]) -> Iterator[DeepSpeed]:
    found: dict[str, Place] = {}
    for key, value in mapping(resource.tree, "data").items():
        if isinstance(value, str) and any(name in value for name in SURE + LIKELY):
            inner = embedded(resource.at.child("data", key), value)
            if not isinstance(inner, BrokenText) and isinstance(inner.tree, dict) and is_deepspeed(key, inner.tree):
                found[key] = Place(inner)
    if not found:
        return
    for key, at in found.items():
        users = [run for run in mounting if key in config_files(run) or (len(found) == 1 and not config_files(run))]
        yield from _for_each(at.document.tree, at, users)


def _config_maps(pod: Pod) -> Iterator[str]:
    for volume in pod.volumes:
        if volume.kind == "configMap":
            yield text(volume.body, "name")
        elif volume.kind == "projected":
            for source in items(volume.body, "sources"):
                yield text(source, "configMap", "name")
