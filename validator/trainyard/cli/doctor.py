"""`trainyard doctor`."""

from __future__ import annotations

import click

from trainyard.linting.exit_codes import CLEAN, FINDINGS

HELP = """Find the cause of a failed run in its logs.

LOG is a file, a folder of files, or - for standard input: output of the ranks (NCCL, torchrun, gloo, DeepSpeed, MPI),
`kubectl describe` or events, and dmesg of the nodes. Give the logs of all pods: torchrun's report, times, and
prefixes of ranks or pods tell the first failure from those that it took down. No cluster is needed, nothing is sent.

\b
  trainyard doctor logs/                       the logs of all pods in a folder
  kubectl logs -l training.kubeflow.org/job-name=llm --prefix --timestamps --tail=-1 | trainyard doctor -
  kubectl describe pods | trainyard doctor -   why pods do not start
  trainyard doctor --format json logs/         for programs

Exit codes: 0 no known cause, 1 causes found, 2 wrong usage or logs that cannot be read.
"""


@click.command(name="doctor", help=HELP)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path())
@click.option(
    "--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output."
)
def command(logs: tuple[str, ...], output: str) -> int:
    """Prints the diagnosis of the logs."""
    from trainyard.doctor import report
    from trainyard.doctor.diagnosis import diagnose
    from trainyard.reporters.escaping import whole_line

    result = diagnose(logs)
    for reason in result.skipped:
        click.echo(whole_line(f"not read: {reason}"), err=True)
    if output == "json":
        import json

        click.echo(json.dumps(report.tree(result), indent=2))
    else:
        for line in report.text(result):
            click.echo(whole_line(line))
    return FINDINGS if result.causes else CLEAN
