"""The run asks dstack for resources that no instance of its fleets may have, so no instance is ever found for it.

dstack joins the `resources` of a run with those of the fleet that it names. A number alone, such as `disk: 5GB`, means
exactly this size; a range such as `5GB..` means at least. If the ranges of the fleet and of the run have nothing in
common, the fleet is left out: the run ends with "No fleets" or without capacity.

The rule compares what both of them say, if all fleets of `fleets` are in the files.

Write a range, such as `disk: 5GB..`, in the run or in the fleet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.jobs.dstack import FLEET, Configuration, Range, configurations, ranges
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_Clash = tuple[tuple[str, ...], Configuration]


@rule(
    code="WL047",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/elasticdotventures/_b00t_ pull 1282",
        "dstackai/dstack 0.21.2 server/services/requirements/combine.py: combine_fleet_and_run_requirements",
        "dstackai/dstack 0.21.2 core/models/resources.py: Range, a number alone is its own minimum and maximum",
    ),
    needs=("fleets",),
)
def dstack_run_fits_no_fleet(project: Project) -> Iterator[Problem]:
    """Report resources of runs that have nothing in common with those of the fleets that they name."""
    known = list(configurations(project))
    fleets = {one.name: one for one in known if one.kind == FLEET and one.name}
    for run in known:
        names = items(run.tree, "fleets")
        if run.kind == FLEET or not names or not all(isinstance(name, str) and name in fleets for name in names):
            continue
        clashes = [_clash(run, fleets[name]) for name in names]
        if clashes[0] is None or None in clashes:
            continue
        path, fleet = clashes[0]
        asked, given = ranges(mapping(run.tree, "resources"))[path], ranges(mapping(fleet.tree, "resources"))[path]
        title, least = " ".join(path), min(asked[0], given[0])
        yield Problem(
            _place(run, path),
            f"the run asks for {_written(asked, path)} of {title}, and fleet `{fleet.name}` has "
            f"{_written(given, path)}: no instance fits both",
            f"write a range, such as `{_written((least, math.inf), path)}`" if least > 0 else "let the ranges overlap",
            related=((_place(fleet, path), f"the {title} of the fleet"),),
        )


def _clash(run: Configuration, fleet: Configuration) -> _Clash | None:
    """Returns the first field of which the ranges of a run and a fleet have nothing in common."""
    asked, given = ranges(mapping(run.tree, "resources")), ranges(mapping(fleet.tree, "resources"))
    for path in asked:
        if path in given and max(asked[path][0], given[path][0]) > min(asked[path][1], given[path][1]):
            return path, fleet
    return None


def _place(one: Configuration, path: tuple[str, ...]) -> Place:
    holder = mapping(one.tree, "resources").get(path[0])
    return one.at.child("resources", *(path if isinstance(holder, dict) and path[-1] in holder else path[:1]))


def _written(found: Range, path: tuple[str, ...]) -> str:
    unit = "" if path[-1] in ("cpu", "count") else "GB"
    low, high = ("" if abs(end) == math.inf else f"{end:g}{unit}" for end in found)
    return low if low == high else f"{low}..{high}"
