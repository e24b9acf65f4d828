"""Paths that the commands of a container certainly write to.

Sources: GNU coreutils, tar, wget, curl and git manuals; AWS CLI `s3 cp` and `s3 sync`; gsutil and `gcloud storage` `cp`
and `rsync`; huggingface_hub `hf download --local-dir`; transformers TrainingArguments.output_dir; Megatron-LM
arguments.py `--save`; Lightning Trainer.default_root_dir.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.launchers.training_commands import training_indexes
from trainyard.document.document import Place
from trainyard.model.run import Command, Container

# Options whose path is never only read. `--checkpoint-dir` and `--ckpt-path` often name the model to start from.
OPTIONS = ("--output-dir", "--save-dir", "--save-path", "--save", "--out-dir", "--default-root-dir", "--logging-dir")
# Devices of every container, which store nothing.
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr")
# Programs whose last argument is the destination, with the words that must follow the program.
_COPY: dict[str, tuple[str, ...]] = {
    "aws": ("cp", "sync", "mv"), "gsutil": ("cp", "rsync", "mv"), "gcloud": ("cp", "rsync"), "azcopy": ("copy", "sync"),
    "s5cmd": ("cp", "sync"), "rclone": ("copy", "sync"), "cp": (), "mv": (), "rsync": (), "git": ("clone",),
}  # fmt: skip
# Programs with an option for the destination.
_OPTION: dict[str, tuple[str, ...]] = {
    "wget": ("-O", "-P", "--output-document", "--directory-prefix"), "curl": ("-o", "--output", "--output-dir"),
    "unzip": ("-d",), "huggingface-cli": ("--local-dir", "--cache-dir"), "hf": ("--local-dir", "--cache-dir"),
}  # fmt: skip


class Written(NamedTuple):
    """An absolute path; `by` is the program or the option that writes there."""

    path: str
    by: str
    at: Place


def written_paths(container: Container) -> Iterator[Written]:
    """Yields the absolute paths that the commands write to."""
    training = training_indexes([command.words for command in container.commands])
    for index, command in enumerate(container.commands):
        found = _option(command, OPTIONS) if index in training else _of_program(command)
        if found is not None and found.path.startswith("/") and "$" not in found.path and found.path not in _DEVICES:
            yield found


def _of_program(command: Command) -> Written | None:
    program = command.program
    if program in _OPTION:
        found = _option(command, _OPTION[program])
        return found._replace(by=program) if found is not None else None
    if program == "tar":
        extracts = any(word.lstrip("-").startswith("x") or "x" in word[:4] for word in command.words[1:2])
        found = _option(command, ("-C", "--directory")) if extracts else None
        return found._replace(by=program) if found is not None else None
    if program not in _COPY or not (not _COPY[program] or set(command.words[1:5]) & set(_COPY[program])):
        return None
    plain = [index for index, word in enumerate(command.words) if index and not word.startswith("-")]
    # The last word may be the value of an option: `aws s3 sync SOURCE /data --region eu-west-1`.
    paths = [index for index in plain if command.words[index].startswith("/")]
    if len(plain) < 2 or not paths or paths[-1] < plain[1]:
        return None
    # The value of an option comes last too: `rclone copy SOURCE /data --config /etc/rclone.conf`.
    free = [index for index in paths if not command.words[index - 1].startswith("--") and index > plain[1]]
    last = (free or paths)[-1]
    has_source = any(index < last and (program != "git" or "/" in command.words[index]) for index in plain)
    uploads = any(_is_remote(command.words[index], program) for index in plain if index > last)
    if not has_source or uploads:
        return None
    return Written(command.words[last], program, command.word_at[last])


def _is_remote(word: str, program: str) -> bool:
    """True for an address, and for a remote of rclone: `crypt:folder`."""
    return "://" in word or (program == "rclone" and not word.startswith("/") and ":" in word)


def _option(command: Command, names: tuple[str, ...]) -> Written | None:
    for name in names:
        found = command.option_at(name)
        if found is not None:
            return Written(found[0], name, found[1])
    return None
