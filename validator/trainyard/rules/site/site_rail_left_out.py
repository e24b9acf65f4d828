"""A run over several nodes leaves out a rail of its site, so two or more GPUs share an adapter.

A site passes its networks to all runs in `fabric.networks`. A list in the values of a run replaces it. NCCL then has
the adapters of that list alone, and the others of the node are idle.

The rule compares runs over several nodes that ask for at least as many GPUs as the site has networks for them, and that
attach some of these networks. A run with fewer GPUs may need fewer rails.

Remove `fabric.networks` from the run, or add the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.loaders.training_job.values import ValuesDocument


@rule(
    code="SI011",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "charts/training-platform README.md: values for runs; charts/training-job values.yaml: fabric.networks",
        "NVIDIA/nccl 2.30.7 docs/userguide/source/env.rst: NCCL_IB_HCA, NCCL_CROSS_NIC",
    ),
    of_site=True,
)
def site_rail_left_out(document: ValuesDocument, context: Context) -> Iterator[Problem]:
    """Report values that attach some rails of the site, and not all."""
    if context.site is None:
        return
    offered, own = _networks(context.site.run_values.tree), _networks(document.tree)
    missing = [name for name in offered if name not in own]
    if not missing or not any(name in own for name in offered):
        return
    nodes = mapping(document.tree).get("nodes")
    if not isinstance(nodes, int) or nodes < 2 or _gpus(document.tree) < len(offered):
        return
    yield Problem(
        document.place(("fabric", "networks")).key(),
        f"the run leaves out {format_list(missing)} of the {len(offered)} networks that the site gives to its runs",
        f"add {format_list(missing)}, or remove `fabric.networks` to attach all",
        related=context.site.note("the site's networks", "networks", "networks"),
    )


def _networks(tree: Any) -> list[str]:
    return [text(one, "name") for one in items(tree, "fabric", "networks")]


def _gpus(tree: Any) -> int:
    counts = [
        count
        for name, count in mapping(tree, "resources", "limits").items()
        if is_accelerator(str(name)) and isinstance(count, int)
    ]
    return max(counts, default=0)
