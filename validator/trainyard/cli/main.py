"""The command line: `trainyard`. Each command is a module of its own, imported only when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from validator import __version__
from validator.cli.errors import EndError
from validator.exit_codes import BUG, CLEAN, INTERRUPTED, USAGE
from validator.mistake import MistakeError

COMMANDS = {
    "lint": "Say what will go wrong in files, folders and standard input.",
    "fix": "Correct what can be corrected, and keep everything else as it is.",
    "explain": "Show the page of a rule: the fact behind it, and what to write instead.",
    "rules": "List the rules.",
    "run": "Run the values of a training job on this machine, without a cluster.",
    "audit": "Say what is wrong with the runs that are live in a cluster.",
    "baseline": "Write down what is found today, so that only new findings count.",
    "schema": "Print the JSON Schema of the configuration or of the JSON output.",
}

HELP = """Find what will go wrong in a distributed training run before a GPU is spent.

Trainyard reads Helm values, Kubernetes manifests and DeepSpeed configurations, and names every mistake with its
place, its reason and its fix.

\b
  trainyard lint run.yaml                      one file
  trainyard lint k8s/ --target nccl=2.21       a folder, for a version of NCCL
  helm template run . | trainyard lint -       what a chart renders
  trainyard fix --diff run.yaml                what a fix would change
  trainyard explain nccl-word-boolean          why
  trainyard run -f run.yaml --local            the run itself, on this machine

Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, 3 nothing was linted.
"""

EPILOG = """Completion for your shell:
eval "$(_TRAINYARD_COMPLETE=bash_source trainyard)", with zsh_source or fish_source for these."""


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names, in the order in which they are met."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command with this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"validator.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands in the help, for which none of them needs to be imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; for a wrong name, what may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = "`trainyard lint FILE` checks a file" if "." in args[0] or "/" in args[0] else ""
            if hint:
                raise click.UsageError(f"there is no command `{args[0]}`; {hint}", ctx) from error
            raise


@click.group(cls=Commands, help=HELP, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="trainyard", message="%(prog)s %(version)s")
def trainyard() -> None:
    """Find what will go wrong; the text is in HELP."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code. Nothing that a user writes ends in a traceback."""
    try:
        result: Any = trainyard.main(arguments, prog_name="trainyard", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else CLEAN
    except MistakeError as error:
        click.ClickException(str(error)).show()
        return USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code if isinstance(error, EndError) else USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as `head` does: there is nobody left to tell.
        sys.stdout = None
        return INTERRUPTED
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("\ntrainyard: this is a bug in Trainyard, and not in your files; please report it", err=True)
        return BUG
