"""Each node of the job looks for the first rank on itself, so the ranks of several nodes do not meet.

`localhost` and `127.0.0.1` are another machine on each node. With such a rendezvous, or such a `MASTER_ADDR`, the
ranks of the first node find its store, and those of the others wait for one until they time out.

The rule checks the options of launchers that srun starts for several nodes, and `MASTER_ADDR` if the script sets it
once. It leaves out launchers of one node, `MASTER_ADDR` beside a launcher with an address of its own, which
replaces it, and values that `read` replaces.

Write the name of the first node: `$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, NODES, Batch, Step, batches, node_count, steps
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_OWN = ("localhost", "127.0.0.1", "::1", "[::1]")
_ADDRESSES = ("--rdzv-endpoint", "--master-addr", "--main-process-ip")
_VARIABLE = "MASTER_ADDR"
_READ = re.compile(rf"\bread\b.*\b{_VARIABLE}\b")
_HELP = 'write `$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)`'


@rule(
    code="SL008",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --rdzv-endpoint, --master-addr",
        "slurm.schedmd.com/sbatch.html: SLURM_JOB_NODELIST",
    ),
    needs=(MARK,),
)
def slurm_address_of_own_node(container: Container) -> Iterator[Problem]:
    """Report addresses that differ from node to node."""
    for batch in batches(container):
        if (batch.nodes or 1) < 2:
            continue
        found = list(steps(batch, container))
        for step in found:
            host = _host(step)
            if step.of_srun and (step.nodes or 1) > 1 and host in _OWN and _is_for_several(step):
                yield Problem(
                    step.at, f"each of {step.nodes} nodes looks for the first rank on its own `{host}`", _HELP
                )
        settings = [one for one in container.settings if one.name == _VARIABLE and one.via == "script"]
        starts = any(command.program == SRUN for command in container.commands)
        if starts and len(settings) == 1 and settings[0].value in _OWN and not _is_replaced(batch, found):
            at = settings[0].at
            yield Problem(at, f"{_VARIABLE} is `{settings[0].value}` on each of {batch.nodes} nodes", _HELP)


def _is_replaced(batch: Batch, found: list[Step]) -> bool:
    """True if the launcher sets the address for its processes, or a later command of the script."""
    launched = [step for step in found if step.launcher is not None]
    own = [step.command.has("--standalone") or _host(step) not in ("", *_OWN) for step in launched]
    return (bool(own) and all(own)) or _READ.search(batch.script.text) is not None


def _host(step: Step) -> str:
    told = step.command.option(*_ADDRESSES) if step.launcher is not None else None
    told = told or ""
    return told if told in _OWN else told.rpartition(":")[0]


def _is_for_several(step: Step) -> bool:
    count, told = node_count(step)
    return (count or 1) > 1 or told.strip("${}") in NODES
