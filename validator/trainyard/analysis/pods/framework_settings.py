"""Settings of training frameworks: of files, of overrides `name=value`, and of options.

A file is known by keys that only its framework has. Overrides stand behind the program. A name that `+` or `++` adds is
among the settings with and without `+`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Context
from trainyard.facts.programs.launchers import COMPOSER
from trainyard.facts.programs.launchers import LLAMA_FACTORY as LLAMA_FACTORY_CLI
from trainyard.facts.programs.refused_settings import (
    AXOLOTL,
    DEEPSPEED,
    EASY_R1,
    LLAMA_FACTORY,
    LLM_FOUNDRY,
    NEMO_RL,
    OPEN_RLHF,
    OPEN_RLHF_TRAINER,
    VERL,
    Program,
    Refused,
)
from trainyard.loaders.manifests.shell import parse_script
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Project, Resource
from trainyard.startup import pattern

# Words of the files, one of which each of them has.
SIGNS = ("base_model", "finetuning_type", "finetuning-type", "verl", "run_", "openrlhf")
_NONE: tuple[Any, ...] = (None, "", "null", "None", [], {})
_FALSE = ("false", "no", "off")
_OPEN = pattern(r"[${}<]")
_NAME = re.compile(r"\{([\w.]+)\}")
_OVERRIDE = pattern(r"[A-Za-z_][\w.]*")
_ELSEWHERE = ("--config-name", "--config-path", "--config-dir", "-cn", "-cp", "-cd")
_TRAINER = pattern(r"openrlhf\.cli\.train_(sft|dpo|rm|kto|kd|prm)")
_NEMO = pattern(r"(.*/)?run_(grpo|dpo|sft|rm|distillation|vlm_grpo)\w*\.py")


class UnknownValueError(Exception):
    """The value of a setting is not in the files."""


class Settings:
    """The settings of a program: the `Told` of its checks. It knows the place of the setting that was asked last."""

    def __init__(self, program: Program, told: Mapping[str, tuple[Any, Place]], at: Place) -> None:
        """Takes the values with their places, and the place of the file or command."""
        self.program = program
        self.told = told
        self.at = at
        self.last = at

    def _value(self, name: str) -> Any:
        found = self.told.get(name)
        if found is None:
            return self.program.defaults.get(name)
        if isinstance(found[0], str) and _OPEN.search(found[0]):
            raise UnknownValueError(name)
        self.last = found[1]
        return found[0]

    def on(self, name: str) -> bool:
        """True if a setting has a value that is not empty, 0 or false."""
        value = self._value(name)
        return value not in _NONE and value not in (0, "0", "0.0") and str(value).lower() not in _FALSE

    def off(self, name: str) -> bool:
        """True if a setting is explicitly false."""
        return str(self._value(name)).lower() in _FALSE

    def given(self, name: str) -> bool:
        """True if a setting has a value, or a default."""
        return self._value(name) not in _NONE

    def text(self, name: str) -> str:
        """Returns a value as text, or its default; empty if there is none."""
        value = self._value(name)
        return "" if value in _NONE else str(value)

    def number(self, name: str) -> float:
        """Returns a number, or its default. Raises `UnknownValueError` if there is none."""
        value = self._value(name)
        try:
            number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
        except ValueError:
            number = 0.0
        if not 0 < number < 1e12 and value not in (0, "0"):
            raise UnknownValueError(name)
        return int(number) if number == int(number) else number

    def refused(self, entries: Iterable[Refused]) -> Iterator[tuple[Place, str, str]]:
        """Yields the place, the message and the remedy of each combination that the program refuses."""
        for entry in entries:
            self.last = self.at
            try:
                is_refused = entry.check(self)
            except (UnknownValueError, ZeroDivisionError):
                continue
            if is_refused:
                message = _NAME.sub(lambda match: self._shown(match[1]), entry.message)
                yield self.last, message, entry.help

    def _shown(self, name: str) -> str:
        found = self.told.get(name)
        value = found[0] if found is not None else self.program.defaults.get(name)
        return str(value)


def framework_settings(project: Project) -> Sequence[Settings]:
    """Returns the settings of all frameworks in a project, each place once."""
    return _settings.of(project)


def _all(project: Project) -> list[Settings]:
    return list(_found(project))


# Several rules ask for each project.
_settings = LastIndex(_all)


def _found(project: Project) -> Iterator[Settings]:
    yield from _files(project)
    seen: set[tuple[str, str, int]] = set()
    for command in _commands(project):
        at = command.at
        place = (at.document.source.name, str(at), at.line)
        if place not in seen:
            seen.add(place)
            yield from _of_command(command)
    for deepspeed in project.deepspeeds:
        told = dict(_flat(deepspeed.config, deepspeed.at, ""))
        yield Settings(DEEPSPEED, told, deepspeed.at)


def foundry_settings(container: Container, context: Context) -> Iterator[Settings]:
    """Yields the settings of LLM Foundry's file that `composer` starts with, and the number of ranks."""
    ranks = context.run.world_size if context.run is not None else None
    for command in container.commands:
        if command.program != COMPOSER or not ranks or any(word in command.words for word in _RANKS):
            continue
        paths = [word for word in command.words if word.endswith((".yaml", ".yml")) and word.startswith("/")]
        found = mounted_text(paths[0], container, context) if len(paths) == 1 else None
        inner = embedded_mapping(found[1], found[0]) if found is not None else None
        overrides = any(word.startswith("global_train_batch_size=") for word in command.words)
        if inner is not None and not overrides:
            at = Place(inner)
            told = dict(_flat(inner.tree, at, ""))
            told["ranks"] = (ranks, told.get("global_train_batch_size", (None, at))[1])
            yield Settings(LLM_FOUNDRY, told, at)


_RANKS = ("-n", "--nproc", "--world_size", "--base_rank", "--node_rank")


def entrypoint_settings(resource: Resource) -> Iterator[Settings]:
    """Yields the settings in the entrypoint of a RayJob."""
    for command in _of_entrypoint(resource):
        yield from _of_command(command)


def _of_entrypoint(resource: Resource) -> list[Command]:
    entrypoint = text(resource.tree, "spec", "entrypoint")
    if not entrypoint or "{{" in entrypoint:
        return []
    return parse_script(entrypoint, resource.at.child("spec", "entrypoint"))[0]


def _commands(project: Project) -> Iterator[Command]:
    jobs = (command for resource in project.of_kind("RayJob") for command in _of_entrypoint(resource))
    return itertools.chain(jobs, (command for run in project.runs for command in run.commands))


def _files(project: Project) -> Iterator[Settings]:
    for document in project.documents:
        if isinstance(document.tree, dict):
            yield from _of_file(document.tree, Place(document))
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and any(sign in raw for sign in SIGNS[:2]):
                inner = embedded_mapping(resource.at.child("data", key), raw)
                if inner is not None:
                    yield from _of_file(inner.tree, Place(inner))


def _of_file(tree: dict[str, Any], at: Place) -> Iterator[Settings]:
    if "base_model" in tree and "datasets" in tree and ("sequence_len" in tree or "micro_batch_size" in tree):
        yield Settings(AXOLOTL, dict(_flat(tree, at, "")), at)
    elif "finetuning_type" in tree and "model_name_or_path" in tree and ("stage" in tree or "template" in tree):
        yield Settings(LLAMA_FACTORY, dict(_flat(tree, at, "")), at)


def _flat(tree: Mapping[Any, Any], at: Place, prefix: str) -> Iterator[tuple[str, tuple[Any, Place]]]:
    """Yields the values by their names with dots; sections of axolotl stay values as well."""
    for key, value in tree.items():
        name, place = f"{prefix}{key}", at.child(key)
        yield name, (value, place)
        if isinstance(value, dict) and name.count(".") < 8:
            yield from _flat(value, place, f"{name}.")


def _of_command(command: Command) -> Iterator[Settings]:
    """Yields the settings of the first program in a command that is known."""
    found = (settings for index, _ in enumerate(command.words) if (settings := _at_word(command, index)) is not None)
    yield from itertools.islice(found, 1)


def _at_word(command: Command, index: int) -> Settings | None:
    """Returns the settings behind a word that names a program; None for any other word."""
    words, word, at = command.words, command.words[index], command.word_at[index]
    if word == "verl.trainer.main_ppo" or word.endswith("verl/trainer/main_ppo.py"):
        is_elsewhere = any(one.partition("=")[0] in _ELSEWHERE for one in words[index:])
        return None if is_elsewhere else Settings(VERL, dict(_overrides(command, index + 1)), at)
    if word == "verl.trainer.main":
        return Settings(EASY_R1, dict(_overrides(command, index + 1)), at)
    if _NEMO.fullmatch(word):
        config = command.option_at("--config")
        named = {"config": config} if config is not None else {}
        return Settings(NEMO_RL, {**dict(_overrides(command, index + 1)), **named}, at)
    if word == "openrlhf.cli.train_ppo_ray":
        return Settings(OPEN_RLHF, dict(_options(command, index + 1)), at)
    if _TRAINER.fullmatch(word):
        ranks = command.option_at("--num-gpus")
        is_one_node = not command.has("--num-nodes", "--hostfile", "--include") and command.program == "deepspeed"
        told = dict(_options(command, index + 1))
        return Settings(OPEN_RLHF_TRAINER, {**told, "ranks": ranks}, at) if ranks and is_one_node else None
    if word == LLAMA_FACTORY_CLI and words[index + 1 : index + 2] == ("train",):
        told = dict(_options(command, index + 2))
        return Settings(LLAMA_FACTORY, told, at) if "stage" in told else None
    return None


def _overrides(command: Command, start: int) -> Iterator[tuple[str, tuple[Any, Place]]]:
    for word, at in zip(command.words[start:], command.word_at[start:], strict=True):
        name, equals, value = word.partition("=")
        if equals and _OVERRIDE.fullmatch(name.lstrip("+")):
            yield name.lstrip("+"), (value, at)
            if name.startswith("+"):
                yield f"+{name.lstrip('+')}", (value, at)


def _options(command: Command, start: int) -> Iterator[tuple[str, tuple[Any, Place]]]:
    words = command.words[start:]
    for index, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word[2:].partition("=")
        after = words[index + 1] if index + 1 < len(words) else "--"
        is_alone = not equals and after.startswith("--")
        told, place = (value, index) if equals else ("true", index) if is_alone else (after, index + 1)
        yield name.replace("-", "_"), (told, command.word_at[start + place])
