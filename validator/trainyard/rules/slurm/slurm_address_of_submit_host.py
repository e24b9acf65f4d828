"""The address of the first rank is the host where the job was submitted, and no rank runs there.

`SLURM_SUBMIT_HOST` is the machine on which somebody called `sbatch`, mostly a login node or the controller. The ranks
of all nodes look for the store there, where nothing listens, until they time out.

The rule checks the address in options of launchers and in `MASTER_ADDR`, also if another variable of the script holds
the name.

Write the name of the first node: `$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import batches, variables, with_values
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_HOST = "SLURM_SUBMIT_HOST"
_ADDRESSES = ("--rdzv-endpoint", "--master-addr", "--main-process-ip", "--address", "--dist-init-addr")
_VARIABLES = ("MASTER_ADDR", "MAIN_PROCESS_IP")
_HELP = 'write `$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)`'


@rule(
    code="SL025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: SLURM_SUBMIT_HOST, SLURM_JOB_NODELIST",
        "github.com/aws-samples/aws-hpc-tutorials pull 448",
    ),
    needs=(_HOST,),
)
def slurm_address_of_submit_host(container: Container) -> Iterator[Problem]:
    """Report addresses of the host of sbatch."""
    if not any(batch.directives for batch in batches(container)):
        return
    known = variables(container)
    named = [
        one for one in container.settings if one.name in _VARIABLES and one.via == "script" and _is(one.value, known)
    ]
    for setting in named:
        yield Problem(setting.at, f"{setting.name} is `{_HOST}`, where sbatch was called and no rank runs", _HELP)
    for command in container.commands if not named else ():
        told = command.option_at(*_ADDRESSES)
        if told is not None and _is(told[0], known):
            yield Problem(told[1], f"the ranks look for the first one on `{_HOST}`, where sbatch was called", _HELP)


def _is(value: str | None, known: dict[str, str]) -> bool:
    return _HOST in " ".join(with_values((value or "",), known))
