"""A pinned `NCCL_ALGO` or `NCCL_PROTO` takes the choice from NCCL's tuner for every size and every collective.

NCCL chooses algorithm and protocol anew for each call from the topology, the size and the collective. A value that won
a benchmark of one message size loses at others, and stays behind when the cluster or the NCCL release changes. The
documentation discourages `NCCL_PROTO` altogether but for ruling out one protocol when a bug is suspected: forcing LL128
on a platform that cannot keep its 128-byte writes together corrupts data without an error.

A value that only excludes (`^LL128`) is left alone.

Leave both variables unset. Where a vendor asks for a value, suppress this rule and say who asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped
from validator.facts.nccl_tuning import ELEMENTS
from validator.model import Setting
from validator.rule import Problem, rule


@rule(
    code="NC023",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_PROTO, NCCL_ALGO",),
    fix="unsafe",
    needs=("NCCL_ALGO", "NCCL_PROTO"),
)
def nccl_algo_proto_pinned(setting: Setting) -> Iterator[Problem]:
    """An algorithm or protocol that is not NCCL's choice."""
    value = setting.value or ""
    if setting.name not in ELEMENTS or not value or value.startswith("^"):
        return
    forced = setting.name == "NCCL_PROTO" and "ll128" in value.lower().split(",")
    risk = "; LL128 corrupts data where the platform does not support it" if forced else ""
    yield Problem(
        setting.at,
        f"{setting.name}=`{value}` replaces NCCL's own choice for every call{risk}",
        "remove it unless a vendor asks for it on this hardware",
        dropped(setting),
    )
