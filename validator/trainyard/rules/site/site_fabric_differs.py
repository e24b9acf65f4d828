"""The run's fabric profile is not the site's, so its pods stay Pending or train over TCP.

`fabric.profile` of a run adds what a provider requires of a training pod: devices, variables, mounts, capabilities. A
site has one fabric, which its values name under the same key, and passes it to its runs as default values. A run that
names another profile replaces all of it: its pods stay Pending for a device of another cloud, or NCCL finds no adapter
and falls back to TCP.

Remove `fabric.profile` from the run, or write that of the site.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.origins import value_at
from trainyard.loaders.training_job.values import ValuesDocument


@rule(
    code="SI001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("charts/training-platform values.yaml: fabric.profile; charts/training-job values.yaml: fabric.profile",),
    of_site=True,
)
def site_fabric_differs(document: ValuesDocument, context: Context) -> Iterator[Problem]:
    """Values with a fabric profile that is not the site's."""
    site = context.site
    own = value_at(document.tree, ("fabric", "profile"))
    if site is None or not isinstance(own, str) or own == (site.profile or "none"):
        return
    if own == "none":
        # A run without a fabric may be a single-node run; the rules of the site's fabric check it.
        return
    yield Problem(
        document.place(("fabric", "profile")),
        f"the run uses the fabric profile {own}, but the site has {site.profile or 'no fast network'}",
        f"write {site.profile or 'none'}, or remove it and use the site's",
        related=site.note("the site's fabric", "fabric", "profile"),
    )
