"""`NCCL_ALGO` or `NCCL_PROTO` contains a name that NCCL does not know, so NCCL refuses to start or ignores it.

Since NCCL 2.24 the value is a list such as `ring,tree`. Lists for single functions follow after semicolons:
`ring,tree;allreduce:^nvls`. NCCL checks every name. A misspelt name, a name with a space in front of it (`Ring, Tree`),
an unknown function, or a second list without a function makes every rank fail with `ncclInvalidUsage` at its first
communicator. `NCCL_DEBUG=WARN` shows the name that was refused. Earlier releases skip such names without a message, so
a manifest may have carried the mistake for a long time. They do not know lists for functions either.

The functions are broadcast, reduce, allgather, reducescatter and allreduce. Case does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.tuning import ELEMENTS, STRICT, Refused, selected
from trainyard.facts.versions import before, since
from trainyard.model.run import Setting


@rule(
    code="NC021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc: parseList (since v2.24.3-1)",
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_ALGO, NCCL_PROTO",
    ),
    needs=("NCCL_ALGO", "NCCL_PROTO"),
)
def nccl_algo_proto_grammar(setting: Setting, context: Context) -> Iterator[Problem]:
    """An unknown name in the list of algorithms or protocols."""
    elements = ELEMENTS.get(setting.name)
    if elements is None or not setting.value or "$" in setting.value:
        return
    try:
        selected(setting.value, elements)
    except Refused as refused:
        release = versions.nccl(context)
        fails = "NCCL fails with ncclInvalidUsage"
        if before(release.version, STRICT):
            fails = f"NCCL {release} skips it, and 2.24 and later fail with ncclInvalidUsage"
        elif not since(release.version, STRICT):
            fails = "NCCL 2.24 and later fail with ncclInvalidUsage, and older releases skip it"
        message = f"{setting.name}=`{setting.value}`: {refused}. {fails}"
        choice = f"choose from {', '.join(elements)}, without spaces, or leave the variable unset"
        yield Problem(setting.at, message, choice)
