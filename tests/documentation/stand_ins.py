"""Programs as an example calls them, without a cluster: rendered, parsed or planned instead of executed.

A stand-in returns the exit status, which is 0 if the call is right. It has a process of its own, which it may end.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import click

from tests.harness.cluster import tools
from tests.harness.trainer.fork_server import become

ROOT = Path(__file__).parents[2]
# Rendering needs no cluster, and refuses the same charts, values and flags.
RENDERED = ("install", "upgrade", "template")
# Flags of `helm upgrade` that rendering does not have.
OF_UPGRADES = ("--install", "--reuse-values")


def trainyard(words: list[str]) -> int:
    """Commands that need a cluster or a bundle of one are parsed only. `run` prints its commands. All others run."""
    from trainyard.cli import main

    live = {"--run", "--collect"} & set(words) or words[-1].endswith(".tar.gz")
    if words[0] in ("audit", "status", "logs", "top", "report") or (words[:1] == ["doctor"] and live):
        return parsed(main.trainyard, words)
    return main.main([*words, "--dry-run"] if words[:1] == ["run"] and "--dry-run" not in words else words)


def helm(words: list[str]) -> int:
    """Charts of this repository are rendered, and a release is that of a job. For other calls the flags are checked."""
    if words[0] == "trainyard":
        return trainyard(words[1:])
    if words[0] in RENDERED:
        rendered = [word for word in words[1:] if words[0] != "upgrade" or word not in OF_UPGRADES]
        return subprocess.run([tool("helm"), "template", *rendered], check=False).returncode
    if words[:2] == ["get", "manifest"]:
        sys.stdout.write(Path("job.yaml").read_text())
    return flags_exist("helm", words)


def kubectl(words: list[str]) -> int:
    """The flags are checked. Standard output gets the job of a folder for Kustomize, else an empty file of values."""
    if words[0] == "trainyard":
        return trainyard(words[1:])
    if "-" in words:
        sys.stdin.read()
    sys.stdout.write(Path(words[1], "job.yaml").read_text() if words[0] == "kustomize" else "{}\n")
    # The namespace may stand before the command.
    return flags_exist("kubectl", words[2:] if words[0] == "-n" else words)


def make(words: list[str]) -> int:
    """The target is planned. The environment is ready, so only the target itself counts."""
    command = ["/usr/bin/make", "--dry-run", "--directory", str(ROOT), *words]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def python(words: list[str]) -> int:
    """`python -m MODULE`: the arguments are parsed."""
    _, module, *arguments = words
    if module == "pip":
        installs = re.fullmatch(r"\.(\[(audit|checks|lsp|plot|report|status)\])?", arguments[-1])
        return 0 if installs and arguments[0] == "install" else 2
    if module == "trainer":
        return trainer(arguments)
    if module in ("trainer.evaluate", "trainer.export"):
        return 0 if len(arguments) == (1 if module.endswith("evaluate") else 2) else 2
    if importlib.util.find_spec(module) is not None:
        command = [word for word in arguments if not word.startswith("-")][:1]
        run_here([module, *command, "--help"])
    return 127


def run_here(arguments: list[str]) -> NoReturn:
    """Run a module of the repository in this process, which has imported most of what it needs."""
    os.chdir(ROOT)
    become(arguments, dict(os.environ))


def torchrun(words: list[str]) -> int:
    """Torchrun's own parser and the trainer's."""
    from torch.distributed.run import get_args_parser

    given = get_args_parser().parse_args(words)
    if not (given.module and given.training_script == "trainer"):
        return 2
    return trainer(given.training_script_args)


def trainer(words: Sequence[str]) -> int:
    """The trainer's parser."""
    from trainer.config import parse_flags

    words = list(words)
    # The trainer reads the fields of the model, which is not here.
    if "--init-from" in words:
        place = words.index("--init-from")
        del words[place : place + 2]
    parse_flags(words)
    return 0


def docker(words: list[str]) -> int:
    """The Dockerfile exists: the one that is named, or that of the context."""
    file = words[words.index("--file") + 1] if "--file" in words else f"{words[-1]}/Dockerfile"
    return 0 if (ROOT / file).is_file() else 2


def parsed(command: click.Command, words: list[str]) -> int:
    """Parse the words with a command, and do not invoke it."""
    name, *rest = words
    assert isinstance(command, click.Group)
    found = command.get_command(click.Context(command), name)
    assert found is not None
    found.make_context(name, rest)
    return 0


def flags_exist(program: str, words: list[str]) -> int:
    """The help of the command names each flag."""
    commands = []
    for word in words:
        if word.startswith("-"):
            break
        commands.append(word)
    text = ""
    while commands and not text:
        shown = subprocess.run([tool(program), *commands, "--help"], check=False, capture_output=True, text=True)
        text = shown.stdout if "Usage:" in shown.stdout else ""
        commands.pop()
    if program == "kubectl":
        text += global_options()
    flags = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    unknown = sorted(flag for flag in flags if not re.search(rf"(?<![\w-]){flag}\b", text))
    if unknown or not text:
        sys.stderr.write(f"{program} {' '.join(words)}: no such flag: {', '.join(unknown)}\n")
    return 2 if unknown or not text else 0


@functools.cache
def global_options() -> str:
    """The options of every command of kubectl."""
    return subprocess.run([tool("kubectl"), "options"], check=True, capture_output=True, text=True).stdout


@functools.cache
def tool(name: str) -> str:
    """The path of a pinned tool."""
    return str(tools.binary(name))


PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "trainyard": trainyard,
    "helm": helm,
    "kubectl": kubectl,
    "make": make,
    "python": python,
    "torchrun": torchrun,
    "docker": docker,
}


def call(words: Sequence[str]) -> NoReturn:
    """Call the program that the first word names, and end the process."""
    program, *rest = words
    try:
        status = PROGRAMS[program](rest)
    except Exception as error:  # a parser's refusal has many types
        sys.exit(f"{program} {' '.join(rest)}: {error}")
    sys.exit(status)
