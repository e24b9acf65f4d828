"""`trainyard init`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli.new_file import refuse_existing, write
from trainyard.cli.option_list import option_list
from trainyard.cli.output import say
from trainyard.facts.jobs.kubeflow import CHART_KINDS
from trainyard.linting.exit_codes import CLEAN

if TYPE_CHECKING:
    from trainyard.commands.convert.beginning import Answers

HELP = """Write the values of a new run.

On a terminal, the command asks for the values that no option gives: the image, the program, the number of nodes, the
GPUs of each node, the claim of the checkpoints, and the kind. Anywhere else, and with --yes, it takes the defaults and
asks nothing. The image and the program have no default. --site reads the values of charts/training-platform: a value
that they set for all runs is the default, and is left out of the file.

\b
  trainyard init --image registry.example.com/team/trainer:2026.11 --program /app/train.py --yes
  trainyard init --image registry.example.com/llm:1 --program "-m llm.pretrain --epochs 3" --nodes 4 --gpus 8 --yes
  trainyard init --site site.yaml --image registry.example.com/llm:1 --program /app/train.py --yes -o llm.yaml

Exit codes: 0 written, 2 wrong usage, a file that exists, or values that the chart refuses.
"""


class Image(click.ParamType[str]):
    """A reference of an image with a tag or a digest: without one, nodes run different images over time."""

    name = "image"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the reference."""
        text = str(value).strip()
        if not text or any(letter.isspace() for letter in text):
            self.fail(f"`{value}` is no image; write it as REPOSITORY:TAG", param, ctx)
        if ":" not in text.rsplit("/", 1)[-1]:
            self.fail(f"`{value}` has no tag; write it as REPOSITORY:TAG", param, ctx)
        return text


class Program(click.ParamType[str]):
    """A command line without its launcher."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the line."""
        from trainyard.commands.convert.beginning import program
        from trainyard.commands.convert.errors import ConvertError

        try:
            program(str(value))
        except ConvertError as error:
            self.fail(str(error).removeprefix("--program: "), param, ctx)
        return str(value)


class Claim(click.ParamType[str]):
    """The name of a claim, or nothing."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the name."""
        from trainyard.commands.audit.references import is_name

        text = str(value).strip()
        if text and not is_name(text):
            self.fail(f"`{text}` is no name of a claim; write lower-case letters, digits and `-`", param, ctx)
        return text


class Count(click.IntRange):
    """A whole number that is not too small."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the number."""
        if not str(value).strip().lstrip("+-").isdecimal():
            self.fail(f"`{value}` is no number; write {self.min} or more", param, ctx)
        return super().convert(value, param, ctx)


_OPTIONS = (
    click.option("--image", metavar="IMAGE", type=Image(), help="Image of the program, with its tag."),
    click.option(
        "--program",
        metavar="WORDS",
        type=Program(),
        help="A Python file of the image, or -m MODULE, with its arguments.",
    ),
    click.option("--nodes", metavar="N", type=Count(min=1), help="Number of nodes. Default: 2."),
    click.option("--gpus", metavar="N", type=Count(min=0), help="GPUs of each node. Default: 8."),
    click.option(
        "--claim", metavar="NAME", type=Claim(), help="Claim that keeps checkpoints. Default: the chart creates one."
    ),
    click.option("--kind", type=click.Choice(CHART_KINDS), help="Kind of the job. Default: PyTorchJob, or the site's."),
    click.option("--site", metavar="FILE", type=click.Path(), help="Values of charts/training-platform."),
    click.option(
        "-o",
        "--output",
        metavar="FILE|-",
        type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
        default=Path("run.yaml"),
        show_default=True,
        help="File for the values; - is standard output.",
    ),
    click.option("--force", is_flag=True, help="Replace the file of --output if it exists."),
    click.option("--yes", is_flag=True, help="Ask nothing, and take the defaults."),
)


@click.command(name="init", help=HELP)
@option_list(*_OPTIONS)
def command(site: str | None, output: Path, force: bool, yes: bool, **given: Any) -> int:
    """Asks, and writes the values."""
    to_stdout = str(output) == "-"
    if not to_stdout:
        refuse_existing(output, force=force)
    from trainyard.commands.convert import beginning
    from trainyard.loaders.site.loading import load_site

    known = load_site(site) if site is not None else None
    defaults = beginning.defaults(known)
    asks = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    try:
        answers = _asked(given, defaults) if asks else _given(given, defaults)
    except click.Abort:
        # The line of the question has no end yet.
        click.echo(err=True)
        say("Stopped; no file is written")
        raise
    text = beginning.text_of(answers, known)
    if to_stdout:
        click.echo(text, nl=False)
        return CLEAN
    write(output, text)
    also = f" --site {site}" if site is not None else ""
    say(f"Wrote {output}; `trainyard lint {output}{also}` checks it")
    return CLEAN


def _given(given: dict[str, Any], defaults: Answers) -> Answers:
    """Returns the answers of the options, and defaults for the others."""
    answers = defaults._replace(**{name: value for name, value in given.items() if value is not None})
    missing = [f"--{name}" for name in ("image", "program") if not getattr(answers, name)]
    if missing:
        raise click.UsageError(f"{' and '.join(missing)}: a run needs them; on a terminal, the command asks for them")
    return answers


def _asked(given: dict[str, Any], defaults: Answers) -> Answers:
    """Returns the answers of the options, and asks for the others. An empty answer takes the default in brackets."""
    questions: tuple[tuple[str, str, Any], ...] = (
        ("image", "Image of the program (REPOSITORY:TAG)", Image()),
        ("program", "Program in the image (/app/train.py, or -m MODULE), with arguments", Program()),
        ("nodes", "Number of nodes", Count(min=1)),
        ("gpus", "GPUs of each node (0: none)", Count(min=0)),
        ("claim", "Claim that keeps checkpoints (empty: the chart creates one)", Claim()),
        ("kind", "Kind of the job", click.Choice(CHART_KINDS)),
    )
    found: dict[str, Any] = {}
    for name, question, kind in questions:
        if given[name] is not None:
            found[name] = given[name]
            continue
        known = getattr(defaults, name)
        # Only the claim may stay empty.
        default = known if known != "" or name == "claim" else None
        found[name] = click.prompt(question, default=default, type=kind, err=True, show_default=default != "")
    return defaults._replace(**found)
