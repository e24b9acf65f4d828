"""NCCL refuses to start when it meets a word in `NCCL_ALGO` or `NCCL_PROTO` that it does not know.

Since 2.24 the value is a list such as `ring,tree` with further lists for single functions behind semicolons:
`ring,tree;allreduce:^nvls`. Every word is checked. One that is misspelt, one with a blank in front of it (`Ring,
Tree`), an unknown function, or a second list without a function make every rank end with `ncclInvalidUsage` at its
first communicator; `NCCL_DEBUG=WARN` shows which word it was. Earlier releases passed over such words in silence, so a
manifest may have carried the mistake for long. The rule is silent when the target is known to be older than 2.24.

Functions are broadcast, reduce, allgather, reducescatter and allreduce. Case does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.nccl_tuning import ELEMENTS, STRICT, Refused, selected
from validator.model import Setting
from validator.rule import Context, Problem, rule


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
    """A word that NCCL's list of algorithms or protocols does not have."""
    elements = ELEMENTS.get(setting.name)
    if elements is None or not setting.value or "$" in setting.value:
        return
    if context.target.nccl is not None and context.target.nccl < STRICT:
        return
    try:
        selected(setting.value, elements)
    except Refused as refused:
        yield Problem(
            setting.at,
            f"NCCL ends with ncclInvalidUsage for {setting.name}=`{setting.value}`: {refused}",
            f"choose from {', '.join(elements)}, without blanks, or leave the variable unset",
        )
