"""`trainyard lint`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli import output
from trainyard.cli.chart import chart_options
from trainyard.cli.options import FILES, outcome, selection, session
from trainyard.linting import exit_codes

if TYPE_CHECKING:
    from trainyard.linting.report import Report
    from trainyard.linting.session import Session

HELP = """Check files, folders and standard input for mistakes.

All inputs are checked together: a job is compared with the networks, policies, queues, claims and ConfigMaps beside it.
A shell script that a job starts is read if it lies beside the file of the job.

\b
  trainyard lint run.yaml
  trainyard lint .                            also the charts in this folder
  trainyard lint k8s/ --fail-on error         warnings do not fail
  trainyard lint k8s/ --ignore NC,shm-too-small-for-gpus
  trainyard lint k8s/ --profile eks-efa --target nccl=2.21 --target torch=2.7
  trainyard lint --chart charts/training-job -f run.yaml
  trainyard lint --site site.yaml run.yaml
  helm template run another-chart | trainyard lint -
  trainyard lint k8s/ --output-format text --output-format sarif=trainyard.sarif
  trainyard lint k8s/ --baseline trainyard-baseline.json

Charts in folders are rendered without Helm, with their defaults and with each `ci/*-values.yaml`. Files that git
ignores are skipped in folders. `fail-on`, `min-severity` and `exit-zero` can also be set in the configuration.

--site compares a run with its cluster: fabric, networks, devices, queues and operator. `site.yaml` holds the values of
charts/training-platform. The values of a run are merged over the site's values for runs, as at installation. Add
`--chart charts/training-job -f run.yaml -n vision` to check the run in that namespace.

A comment at the line, or on the line above, allows a finding and gives the reason:

\b
  value: "1"  # trainyard: allow nccl-ib-disabled-with-rdma: these nodes have no working InfiniBand

Exit codes: 0 clean, 1 findings, 2 wrong usage or configuration, 3 nothing was linted, or a chart cannot be rendered.
"""


@click.command(name="lint", help=HELP)
@FILES
@chart_options
@selection
@outcome
@output.options
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Ignore the findings recorded in this baseline file.",
)
def command(
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    baseline: Path | None,
    color: str,
    statistics: bool,
    **options: Any,
) -> int:
    """Lints and reports."""
    targets = output.targets(outputs)
    run = session(files, **options)
    report = run.lint()
    if baseline is not None:
        report = _without_known(report, baseline, run)
    output.show_notes(report)
    for name, path in targets:
        output.write(name, path, report, run.rules, color=color, statistics=statistics)
    return exit_codes.exit_code(report, run.config)


def _without_known(report: Report, path: Path, run: Session) -> Report:
    from trainyard.document import opening
    from trainyard.linting import baseline, fingerprint
    from trainyard.linting.config import ConfigError

    try:
        known = baseline.load_baseline(opening.read_text(str(path)))
    except (OSError, UnicodeDecodeError) as error:
        reason = opening.reason(error) if isinstance(error, OSError) else "it is not text"
        hint = f"`trainyard baseline --output {path}` writes it"
        raise ConfigError(f"--baseline {path}: {reason}; {hint}") from None
    except baseline.BaselineError as error:
        raise ConfigError(f"--baseline {path}: {error}") from None
    files = [fingerprint.relative(name) for name in report.files]
    new, hidden, stale = baseline.apply_baseline(known, report.findings, files, [rule.code for rule in run.rules])
    if stale:
        first = ", ".join(f"{entry.rule} in {entry.path}" for entry in stale[:3])
        more = " and more" if len(stale) > 3 else ""
        output.say(f"{path}: {len(stale)} of its findings are gone ({first}{more}); `trainyard baseline` updates it")
    return report._replace(findings=tuple(new), baselined=hidden)
