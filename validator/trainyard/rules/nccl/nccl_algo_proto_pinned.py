"""A pinned `NCCL_ALGO` or `NCCL_PROTO` overrides NCCL's tuner for every message size and collective.

NCCL chooses the algorithm and the protocol for each call from the topology, the message size and the collective. A
value that won a benchmark at one message size is slower at others, and it stays in the manifest when the cluster or the
NCCL release changes. The documentation discourages `NCCL_PROTO`, except to rule out one protocol when a bug is
suspected: forcing LL128 on a platform that cannot keep its 128-byte writes together corrupts data without an error.

The rule ignores a value that only excludes, such as `^LL128`.

Leave both variables unset. If a vendor asks for a value, suppress this rule and name the vendor.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.tuning import ELEMENTS
from trainyard.model.run import Setting


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
    """An algorithm or protocol that is pinned."""
    value = setting.value or ""
    if setting.name not in ELEMENTS or not value or value.startswith("^"):
        return
    forced = setting.name == "NCCL_PROTO" and "ll128" in value.lower().split(",")
    risk = "; LL128 corrupts data where the platform does not support it" if forced else ""
    yield Problem(
        setting.at,
        f"{setting.name}=`{value}` overrides NCCL's tuner for every call{risk}",
        "remove it unless a vendor asks for it on this hardware",
        remove_variable(setting),
    )
