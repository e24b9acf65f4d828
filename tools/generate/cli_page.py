"""docs/cli.md: every command of `trainyard` with its help, options and exit codes, and the variables that it reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from tests.harness.cluster.errors import ClusterError
from tools import markdown
from trainyard.cli.main import COMMANDS, trainyard
from trainyard.linting import exit_codes

ROOT = Path(__file__).parents[2]
FILES = "docs/cli.md"
PACKAGE = ROOT / "validator" / "trainyard"
# The page of each command that shows how it is used.
GUIDES = {
    "lint": "validator/index.md",
    "fix": "validator/index.md",
    "explain": "rules/index.md",
    "rules": "rules/index.md",
    "run": "run-local.md",
    "init": "init.md",
    "convert": "convert.md",
    "diff": "diff.md",
    "plan": "plan.md",
    "doctor": "doctor.md",
    "status": "status.md",
    "logs": "status.md",
    "top": "status.md",
    "report": "report.md",
    "audit": "validator/audit.md",
    "lsp": "validator/editor.md",
    "baseline": "validator/index.md",
    "policy": "validator/policy.md",
    "schema": "validator/configuration.md",
}
# What the programs do with each variable that they read.
VARIABLES = {
    "CLICOLOR_FORCE": "Text is coloured in a pipe too, as with `FORCE_COLOR`.",
    "CUDA_VISIBLE_DEVICES": "GPUs that `trainyard run --local` may use.",
    "FORCE_COLOR": "Text is coloured in a pipe too. `--color` takes precedence.",
    "HELM_BIN": "Path of the Helm binary. `--helm` takes precedence.",
    "KUBECONFIG": "Kubeconfig of the cluster. `--kubeconfig` takes precedence.",
    "KUBERNETES_SERVICE_HOST": "Set in pods: without a kubeconfig, the ServiceAccount of the pod is used.",
    "NO_COLOR": "Nothing is coloured. `NO_COLOR` takes precedence over `FORCE_COLOR`, and `--color` over both.",
    "TERM": "The value `dumb` means a terminal without colours.",
    "TRAINYARD_CACHE": "Folder of the caches. Default: `trainyard` in the cache folder of the user.",
    "TRAINYARD_DOCS_URL": "Address of this documentation, to which findings link.",
    "_TRAINYARD_COMPLETE": "Set for a single call: the command prints the completion of a shell.",
}
CODES = {
    exit_codes.CLEAN: "The command has done its work, and nothing is wrong.",
    exit_codes.FINDINGS: "The command has found mistakes, differences or causes, or the run failed.",
    exit_codes.USAGE: "The usage is wrong, or a file, the configuration or the answer of a cluster cannot be used.",
    exit_codes.NOTHING: "There is nothing to work on, or something that the command needs is not installed.",
    exit_codes.BUG: "A bug in Trainyard. Report it with its traceback.",
    exit_codes.INTERRUPTED: "Ctrl-C, or the program that reads the output has ended.",
}
# An option and its effect, with the commands that have both.
Shared = dict[tuple[str, str], list[str]]
_VARIABLE = re.compile(r"[A-Z_]{4,}")
INTRODUCTION = """\
# Command line

All commands of `trainyard` with their options, as `--help` prints them. `kubectl trainyard` is the same program.
`python -m tools.generate cli` writes this page from the program."""


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from INTRODUCTION.splitlines()
    yield ""
    rows = ((f"[`{name}`](#trainyard-{name})", task, f"[guide]({GUIDES[name]})") for name, task in COMMANDS.items())
    yield from markdown.table(("command", "task", "use"), rows)
    yield from ("", " ".join((trainyard.epilog or "").split()))
    yield from ("", "## Exit codes", "", "The section of each command has the exact meaning of its codes.", "")
    yield from markdown.table(("code", "meaning"), ((str(code), meaning) for code, meaning in CODES.items()))
    yield from ("", "## Environment variables", "")
    yield from markdown.table(("variable", "effect"), ((f"`{name}`", VARIABLES[name]) for name in _variables()))
    commands = dict(_commands())
    shared = _shared(commands)
    yield from (
        "",
        "## Shared options",
        "",
        "Several commands have these options. A section lists those of one command alone.",
        "",
    )
    common = ((*record, ", ".join(f"`{name}`" for name in names)) for record, names in shared.items())
    yield from markdown.table(("option", "effect", "commands"), (*_common(), *common))
    for name, command in commands.items():
        usage = " ".join(("trainyard", name, *command.collect_usage_pieces(click.Context(command)))).strip()
        yield from ("", f"## `trainyard {name}`", "", "```text", usage, "```", *_help(command))
        yield from _options(command, shared)


def _commands() -> Iterator[tuple[str, click.Command]]:
    context = trainyard.make_context("trainyard", [], resilient_parsing=True)
    for name in COMMANDS:
        command = trainyard.get_command(context, name)
        assert command is not None
        yield name, command


def _help(command: click.Command) -> Iterator[str]:
    """Yield the paragraphs of a help text, which names the exit codes. Examples start with a backspace."""
    if "Exit codes" not in (command.help or ""):
        raise ClusterError(f"the help of `trainyard {command.name}` has no paragraph on its exit codes")
    for paragraph in (command.help or "").strip().split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("", "```text", *(line.removeprefix("  ") for line in paragraph.splitlines()[1:]), "```")
        else:
            yield from ("", *paragraph.splitlines())


def _options(command: click.Command, shared: Shared) -> Iterator[str]:
    own = [record for record in map(_record, _of(command)) if record not in shared]
    if own:
        yield from ("", *markdown.table(("option", "effect"), own))
    names = ", ".join(f"`{option.opts[0]}`" for option in _of(command) if _record(option) in shared)
    if names:
        yield from ("", f"[Shared options](#shared-options): {names}.")


def _shared(commands: dict[str, click.Command]) -> Shared:
    """Return the options that several commands have, with the same words, and the names of these commands."""
    found: Shared = {}
    for name, command in commands.items():
        for option in _of(command):
            found.setdefault(_record(option), []).append(name)
    return {record: names for record, names in found.items() if len(names) > 1}


def _common() -> Iterator[tuple[str, str, str]]:
    """Yield the options of all commands, and that of the program."""
    help_option = trainyard.get_help_option(trainyard.make_context("trainyard", [], resilient_parsing=True))
    assert help_option is not None
    yield (*_record(help_option), "all")
    for option in _of(trainyard):
        yield (*_record(option), "`trainyard`")


def _of(command: click.Command) -> Iterator[click.Option]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield parameter


def _record(option: click.Option) -> tuple[str, str]:
    """Return an option and what it does. A pipe would end the cell on a page of GitHub."""
    found = option.get_help_record(click.Context(trainyard))
    assert found is not None
    words, effect = found
    code = f"<code>{words.replace('|', '&#124;')}</code>" if "|" in words else f"`{words}`"
    return code, re.sub(r"\s+(?=\[)", " ", effect).replace("|", "\\|")


def _variables() -> list[str]:
    """Return the variables that the programs read.

    Raises `ClusterError` if `VARIABLES` does not describe one, or describes another.
    """
    parsed = (option.envvar for _, command in _commands() for option in _of(command) if isinstance(option.envvar, str))
    found = {"_TRAINYARD_COMPLETE", *parsed}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "os.environ" in text:
            found |= set(_read(ast.parse(text)))
    if wrong := sorted(found ^ VARIABLES.keys()):
        raise ClusterError(
            f"variables that are read and not described, or described and not read: {', '.join(wrong)}",
            hint="correct VARIABLES in tools/generate/cli_page.py",
        )
    return sorted(found)


def _read(tree: ast.Module) -> Iterator[str]:
    """Yield the names in `os.environ.get(...)` and `... in os.environ`, and those of a loop around them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.Compare | ast.GeneratorExp):
            source = ast.unparse(node)
            if re.search(r"os\.environ(\.get\(|$)| in os\.environ", source) and "items()" not in source:
                yield from (
                    found.value
                    for found in ast.walk(node)
                    if isinstance(found, ast.Constant)
                    and isinstance(found.value, str)
                    and _VARIABLE.fullmatch(found.value)
                )


def write(root: Path) -> None:
    """Write the page below a root."""
    (root / FILES).parent.mkdir(exist_ok=True, parents=True)
    (root / FILES).write_text("\n".join(page()) + "\n")
