"""The run is made for another fabric than the site has, so it asks for devices that are not there or trains over TCP.

`fabric.profile` of a run brings what a provider asks of a training pod: devices, variables, mounts, capabilities. A
site has one fabric, which its values name under the same key, and keeps it for its runs as values that are installed
below theirs. A run that names another profile replaces all of it: its pods stay Pending for a device of another cloud,
or NCCL finds no adapter and falls back to TCP.

Remove `fabric.profile` from the run, or write that of the site.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.roads.origins import at
from validator.roads.values import ValuesDocument
from validator.rule import Context, Problem, rule


@rule(
    code="SI001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("charts/training-platform values.yaml: fabric.profile; charts/training-job values.yaml: fabric.profile",),
    of_site=True,
)
def site_fabric_differs(document: ValuesDocument, context: Context) -> Iterator[Problem]:
    """Values with the profile of another site."""
    site = context.site
    own = at(document.tree, ("fabric", "profile"))
    if site is None or not isinstance(own, str) or own == (site.profile or "none"):
        return
    if own == "none":
        # Without a fabric a run is judged by what the site's needs: it may be one of a single node.
        return
    yield Problem(
        document.place(("fabric", "profile")),
        f"the run is made for {own}, and the site has {site.profile or 'no fast network'}",
        f"write {site.profile or 'none'}, or leave it to the site",
        related=site.note("the site's fabric", "fabric", "profile"),
    )
