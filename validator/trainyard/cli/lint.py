"""`trainyard lint`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validator import exit_codes
from validator.cli import output
from validator.cli.chart import chart_options
from validator.cli.options import FILES, selection, session

if TYPE_CHECKING:
    from validator.linting import Report
    from validator.session import Session

HELP = """Say what will go wrong in files, folders and standard input.

Everything that is named is judged together: a job is compared with the networks, policies and ConfigMaps beside it.

\b
  trainyard lint run.yaml
  trainyard lint k8s/ --ignore NC,shm-too-small
  trainyard lint k8s/ --profile eks-efa --target nccl=2.21 --target torch=2.7
  trainyard lint --chart charts/training-job -f run.yaml
  trainyard lint --site site.yaml run.yaml
  helm template run another-chart | trainyard lint -
  trainyard lint k8s/ --output-format text --output-format sarif=trainyard.sarif
  trainyard lint k8s/ --baseline trainyard-baseline.json

With --site a run is compared with what the site has: its fabric, networks, devices, queues and operator.
`site.yaml` is the values of charts/training-platform. Values of a run are judged with those that the site has
for all its runs, as they are installed; `--chart charts/training-job -f run.yaml -n vision` also says where.

A finding that is right here is allowed with a reason, at its line or the line above:

\b
  value: "1"  # trainyard: allow nccl-ib-disabled: these nodes have no InfiniBand

Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, 3 nothing was linted, or a chart
cannot be rendered.
"""


@click.command(name="lint", help=HELP)
@FILES
@chart_options
@selection
@output.options
@click.option("--baseline", metavar="FILE", type=click.Path(path_type=Path), help="Hide what is written down there.")
def command(
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    baseline: Path | None,
    color: str,
    statistics: bool,
    **options: Any,
) -> int:
    """Lint, and report."""
    targets = output.targets(outputs)
    run = session(files, **options)
    report = run.lint()
    if baseline is not None:
        report = _without_known(report, baseline, run)
    for name, path in targets:
        output.write(name, path, report, run.rules, color=color, statistics=statistics)
    return exit_codes.of(report)


def _without_known(report: Report, path: Path, run: Session) -> Report:
    from validator import baseline, fingerprint
    from validator.config import ConfigError

    try:
        known = baseline.read(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        hint = f"`trainyard baseline --output {path}` writes it"
        raise ConfigError(f"--baseline {path}: {reason.lower()}; {hint}") from None
    except baseline.BaselineError as error:
        raise ConfigError(f"--baseline {path}: {error}") from None
    files = [fingerprint.relative(name) for name in report.files]
    new, hidden, stale = baseline.apply(known, report.findings, files, [rule.code for rule in run.rules])
    if stale:
        first = ", ".join(f"{entry.rule} in {entry.path}" for entry in stale[:3])
        more = " and more" if len(stale) > 3 else ""
        click.echo(
            f"{path}: {len(stale)} of its findings are gone ({first}{more}); `trainyard baseline` writes it anew",
            err=True,
        )
    return report._replace(findings=tuple(new), baselined=hidden)
