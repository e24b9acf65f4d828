"""Files with arguments of Hugging Face's Trainer, as LLaMA-Factory, TRL and recipes built on them read them.

Source: huggingface/transformers 5.23.0 hf_argparser.py: parse_yaml_file, whose keys are the names of the options.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Context
from trainyard.model.run import Command, Container, Project

SIGN = "per_device_train_batch_size"


def trainer_files(project: Project) -> Iterator[Command]:
    """Yields each file as the command with the same arguments, from ConfigMaps and from files of their own."""
    for document in project.documents:
        if isinstance(document.tree, dict) and SIGN in document.tree:
            yield _command(document.tree, Place(document))
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and SIGN in raw:
                yield from _parsed(raw, resource.at.child("data", key))


def with_file(command: Command, container: Container, context: Context) -> Command:
    """Returns a command with the arguments of the file that its option `--config` names, as far as it is mounted."""
    path = command.option("--config") or ""
    found = mounted_text(path, container, context) if path.startswith("/") else None
    told = next(_parsed(*found), None) if found is not None and SIGN in found[0] else None
    # An option overrides the file, and the last of two is the one that counts.
    return told._replace(words=told.words + command.words, word_at=told.word_at + command.word_at) if told else command


def _parsed(raw: str, at: Place) -> Iterator[Command]:
    inner = embedded(at, raw)
    if not isinstance(inner, BrokenText) and isinstance(inner.tree, dict) and SIGN in inner.tree:
        yield _command(inner.tree, Place(inner))


def _command(tree: dict[str, Any], at: Place) -> Command:
    told = [(str(key), value) for key, value in tree.items() if isinstance(value, str | int | float)]
    words = tuple(f"--{key}={_written(key, value)}" for key, value in told)
    return Command(words, tuple(at.child(key) for key, _ in told), at)


def _written(key: str, value: str | float) -> str:
    # YAML reads the word `no` as a boolean.
    return "no" if value is False and key.endswith("_strategy") else str(value)
