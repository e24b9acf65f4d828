"""The smallest number of channels or CTAs is larger than the largest one, so NCCL ignores the smallest one.

NCCL first raises its number to the smallest one and then lowers it to the largest one. With `NCCL_MIN_NCHANNELS=32` and
`NCCL_MAX_NCHANNELS=8`, all operations use 8 channels. NCCL writes no warning, or one at `NCCL_DEBUG=INFO`.

Raise the largest number, or remove one of the variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.numbers import LIMITS
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

_LARGEST = dict(LIMITS)


@rule(
    code="NC048",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/connect.cc: ncclTopoPostset, minNchannels and maxNchannels; src/init.cc: "
        "envConfigOverride, minCTAs is larger than maxCTAs",
    ),
    needs=tuple(_LARGEST),
)
def nccl_limits_reversed(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report a smallest number above the largest one."""
    name = _LARGEST.get(setting.name)
    other = context.container.setting(name) if name is not None and context.container is not None else None
    low, high = parse_integer(setting.value), parse_integer(other.value) if other is not None else None
    if other is not None and low is not None and high is not None and low > high > 0:
        yield Problem(
            setting.at,
            f"{setting.name}={low} is larger than {other.name}={high}: NCCL uses {high}",
            f"write {low} or more into {other.name}, or remove one of them",
            related=((other.at, "the largest number"),),
        )
