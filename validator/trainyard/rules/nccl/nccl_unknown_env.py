"""No NCCL release reads a variable of this name, so it has no effect.

NCCL looks up the names that it knows and never reports others: a typo gives no message at any level of `NCCL_DEBUG`.
The names come from the sources of 62 releases, from 2.3.5 to 2.30.7, from the libraries of 2.31.2 and 2.32.3, and from
the documentation.

The rule ignores variables of plugins and tools (`NCCL_FASTRAK_*`, `NCCL_GPUDIRECTTCPX_*`, `NCCL_IBEXT_*`,
`NCCL_SHARP_*`, `NCCL_TUNER_CONFIG_*` and others), names that PyTorch reads, names that the container's own script uses,
pods with AMD GPUs, whose RCCL knows more names, and targets newer than the list.

`NCCL_TIMEOUT` is such an unknown name: the timeout of a collective is the `timeout` of
`torch.distributed.init_process_group`.

Write the name that the documentation has, or remove the variable.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.analysis.resources.devices import uses_rccl
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.nccl import registry
from trainyard.facts.nccl.names import is_foreign
from trainyard.model.run import Container, Setting

# Wrong names that are seen in the wild, and for which fuzzy matching would not find the right one.
MEANT = {
    "NCCL_BUFFER_SIZE": "NCCL_BUFFSIZE",
    "NCCL_DEBUG_LEVEL": "NCCL_DEBUG",
    "NCCL_GDR_LEVEL": "NCCL_NET_GDR_LEVEL",
    "NCCL_GDR_READ": "NCCL_NET_GDR_READ",
    "NCCL_IB_QPS": "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_IFNAME": "NCCL_SOCKET_IFNAME",
    "NCCL_LOG_LEVEL": "NCCL_DEBUG",
    "NCCL_MAX_CHANNELS": "NCCL_MAX_CTAS",
    "NCCL_MIN_CHANNELS": "NCCL_MIN_CTAS",
}
# Prefixes of the wild that are meant to be NCCL's; Intel's oneCCL has other names behind `CCL_`.
_TORN = ("CCL_", "NCLL_", "NCL_", "NNCL_", "NCCCL_")
ADVICE = {"NCCL_TIMEOUT": "pass `timeout` to `init_process_group`: it is the timeout of a collective"}


@rule(
    code="NC001",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.3.5-5 to v2.30.7-1 src/: NCCL_PARAM, ncclGetEnv and getenv; docs/userguide/source/env.rst",
        "nvidia-nccl-cu13 2.31.2 and 2.32.3: names in .rodata of libnccl.so.2",
    ),
    fix="unsafe",
    needs=("CCL_", "NCLL_", "NCL_"),
)
def nccl_unknown_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A name that neither NCCL nor a known plugin reads."""
    name, container = setting.name, context.container
    if name.startswith(_TORN) and container is not None and not _is_used(name, container):
        yield from _torn(setting, container)
    if not name.startswith("NCCL_") or name in registry.nccl_variables() or is_foreign(name) or container is None:
        return
    if (
        (context.target.nccl or registry.NEWEST) > registry.NEWEST
        or uses_rccl(context.run)
        or _is_used(name, container)
    ):
        return
    meant = None if name in ADVICE else MEANT.get(name) or _alike(name)
    edits = rename_variable(setting, meant) if meant is not None and container.setting(meant) is None else ()
    yield Problem(
        name_at(setting),
        f"no NCCL release reads {name}: it has no effect",
        ADVICE.get(name) or (f"did you mean {meant}?" if meant else "remove it"),
        edits,
    )


def _torn(setting: Setting, container: Container) -> Iterator[Problem]:
    meant = f"NCCL_{setting.name.partition('_')[2]}"
    if meant in registry.nccl_variables():
        edits = rename_variable(setting, meant) if container.setting(meant) is None else ()
        message = f"no NCCL release reads {setting.name}: it has no effect"
        yield Problem(name_at(setting), message, f"did you mean {meant}?", edits)


def _is_used(name: str, container: Container) -> bool:
    texts = (*container.command, *container.args, *(script.text for script in container.scripts))
    holding = [text for text in texts if name in text]
    return bool(holding) and any(re.search(rf"\$[({{]?{re.escape(name)}\b", text) for text in holding)


def _alike(name: str) -> str | None:
    # Compared without the common prefix, which would make all names similar. Few typos change both ends of a word, and
    # comparing a file of unknown names with every name would take seconds.
    bare = name[5:]
    begins, ends = _current()
    near = (*begins.get(bare[:2], ()), *ends.get(bare[-3:], ()))
    found = closest_match(bare, near, 0.85)
    return f"NCCL_{found}" if found is not None else None


@functools.cache
def _current() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The names that NCCL reads today, without their prefix, by their first and by their last letters."""
    begins: dict[str, list[str]] = {}
    ends: dict[str, list[str]] = {}
    for known in registry.nccl_variables().values():
        if known.last and not known.status:
            bare = known.name[5:]
            begins.setdefault(bare[:2], []).append(bare)
            ends.setdefault(bare[-3:], []).append(bare)
    return begins, ends
