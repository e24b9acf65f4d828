"""The command line `trainyard`. Each command is a module of its own, imported only when it is called."""

from __future__ import annotations

import errno
import importlib
import sys
from typing import Any

import click

from trainyard import __version__
from trainyard.cli.errors import EndError
from trainyard.document.errors import MistakeError
from trainyard.linting.exit_codes import BUG, CLEAN, INTERRUPTED, USAGE

COMMANDS = {
    "lint": "Check files, folders and standard input for mistakes.",
    "fix": "Correct the mistakes that have an automatic fix.",
    "explain": "Show a rule's page: the fact behind it and what to write instead.",
    "rules": "List all rules.",
    "run": "Run the values of a training job on this machine, without a cluster.",
    "init": "Write the values of a new run, from the answers to a few questions.",
    "convert": "Convert a job's manifest into values of a run.",
    "diff": "Compare two runs by their meaning.",
    "plan": "Estimate memory, traffic, time, failures and cost of a run.",
    "doctor": "Find the cause of a failed run in its logs.",
    "status": "Show what a run in a cluster waits for, or how far it is.",
    "logs": "Print the logs of all ranks of a run in a cluster.",
    "top": "Watch a run in a cluster.",
    "report": "Write a report about a run in a cluster to one HTML file.",
    "audit": "Check the runs that are live in a cluster.",
    "lsp": "Serve an editor: findings while you type, pages of rules, and fixes.",
    "baseline": "Record today's findings, so that only new ones are reported.",
    "policy": "Print rules as ValidatingAdmissionPolicies of Kubernetes.",
    "schema": "Print the JSON Schema of the configuration file, of the JSON output, or of values.",
}

HELP = """Find mistakes in distributed training runs before they cost GPU time.

Trainyard reads Helm values, Kubernetes manifests and DeepSpeed configurations. Each finding names the line, the reason
and the fix.

\b
  trainyard lint run.yaml                      one file
  trainyard lint k8s/ --target nccl=2.21       a folder, for one version of NCCL
  helm template run . | trainyard lint -       the output of a chart
  trainyard fix --diff run.yaml                preview the fixes
  trainyard explain nccl-word-boolean          the fact behind a rule
  trainyard run -f run.yaml --local            start the run on this machine
  trainyard plan -f run.yaml --model mistral-7b --gpu h100-sxm   time, memory and cost of the run
  trainyard doctor logs/                       why the run failed, and which rank first
  trainyard status my-run -n research          what the run in a cluster waits for

Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, 3 nothing was linted.
"""

EPILOG = """Shell completion:
eval "$(_TRAINYARD_COMPLETE=bash_source trainyard)". Use zsh_source or fish_source for those shells."""


class Commands(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Lists the names in the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports the command with this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"trainyard.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Lists the commands in the help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Calls the command. Click alone would end with 1, which means findings, when the reader closes the pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # No message would be seen.
            sys.stdout = None
            raise click.Abort from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is called. Suggests a name if there is no such command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"there is no command `{args[0]}`; {_advice(args[0])}", ctx) from error


def _advice(word: str) -> str:
    """Returns the suggestion for a word that is not a command."""
    if "." in word or "/" in word:
        return "`trainyard lint FILE` checks a file"
    from trainyard.engine.selection import nearest

    return nearest(word, COMMANDS) or "`trainyard --help` lists all"


@click.group(
    cls=Commands,
    help=HELP,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", prog_name="trainyard", message="%(prog)s %(version)s")
@click.pass_context
def trainyard(context: click.Context) -> int:
    """Finds mistakes; the help text is HELP. Without a command, the help is shown."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return USAGE
    return CLEAN


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns the exit code. No user input ends in a traceback."""
    try:
        result: Any = trainyard.main(arguments, prog_name="trainyard", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else CLEAN
    except MistakeError as error:
        _show(click.ClickException(str(error)))
        return USAGE
    except click.ClickException as error:
        _show(error)
        return error.exit_code if isinstance(error, EndError) else USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does: no message would be seen.
        sys.stdout = None
        return INTERRUPTED
    except FileNotFoundError:
        if _has_folder():
            return _report_bug()
        click.echo("Error: the current folder has been deleted; change to another one", err=True)
        return USAGE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _report_bug()
        # Python flushes stdout once more when it exits, and would report the same fault as a traceback.
        sys.stdout = None
        click.echo(f"Error: the output cannot be written: {(error.strerror or '').lower()}", err=True)
        return USAGE
    except Exception:
        return _report_bug()


def _show(error: click.ClickException) -> None:
    """Prints an error: its message quotes arguments and files."""
    from trainyard.reporters.escaping import visible

    message = visible(error.format_message())
    shown = (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else click.ClickException(message)
    )
    shown.show()


def _has_folder() -> bool:
    """True if there is a current folder."""
    from pathlib import Path

    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _report_bug() -> int:
    import traceback

    from trainyard.reporters.escaping import whole_line

    for line in traceback.format_exc().splitlines():
        click.echo(whole_line(line), err=True)
    click.echo("\ntrainyard: this is a bug in Trainyard, and not in your files; please report it", err=True)
    return BUG
