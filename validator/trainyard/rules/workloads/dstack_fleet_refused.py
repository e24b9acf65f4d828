"""dstack refuses the fleet: it says neither how many nodes it has nor which hosts, or it says both.

A fleet of a cloud has `nodes`, such as `2` or `0..4`; one of machines that are there has `ssh_config` with their hosts.
The server answers "No ssh_config or nodes specified", or that the two are mutually exclusive.

Write one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.dstack import FLEET, configurations
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="WL046",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/dstackai/dstack issue 1463",
        "dstackai/dstack 0.21.2 server/services/fleets.py: _validate_fleet_configuration_subtype_specific_fields",
    ),
    needs=("type: fleet", '"fleet"'),
)
def dstack_fleet_refused(project: Project) -> Iterator[Problem]:
    """Report fleets without nodes and hosts, or with both."""
    for one in configurations(project):
        nodes, hosts = (one.tree.get(field) is not None for field in ("nodes", "ssh_config"))
        if one.kind != FLEET or nodes != hosts:
            continue
        if nodes:
            yield Problem(
                one.at.child("nodes").key(),
                "a fleet has `nodes` or `ssh_config`, and not both: dstack refuses it",
                "remove `nodes` if the hosts are those of `ssh_config`",
            )
        else:
            yield Problem(
                one.at.child("type").key(),
                "the fleet has neither `nodes` nor `ssh_config`: dstack refuses it",
                "write `nodes: 2`, or a range such as `0..2`",
            )
