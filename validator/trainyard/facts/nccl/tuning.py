"""The values of NCCL_ALGO and NCCL_PROTO, and the algorithms that serve each collective.

Source: NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc (parseList since v2.24.3-1; ncclTopoTuneModel says which pairs of
collective and algorithm get a bandwidth) and src/init.cc (ncclFuncStr, ncclAlgoStr, ncclProtoStr).
"""

from __future__ import annotations

# The first release that refuses unknown words, and that knows lists for single functions.
STRICT = (2, 24)

_ALL_REDUCE = frozenset(("tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree"))
_GATHERING = frozenset(("ring", "collnetdirect", "nvls", "pat"))
ALGORITHMS_OF = {
    "Broadcast": frozenset(("ring",)),
    "Reduce": frozenset(("ring",)),
    "AllGather": _GATHERING,
    "ReduceScatter": _GATHERING,
    "AllReduce": _ALL_REDUCE,
}
ALGORITHMS = ("Ring", "Tree", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
ELEMENTS = {"NCCL_ALGO": ALGORITHMS, "NCCL_PROTO": PROTOCOLS}


class Refused(Exception):  # noqa: N818
    """A value that NCCL does not accept; `args[0]` gives the reason."""


def selected(value: str, elements: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Returns the elements that stay enabled for each collective, in lower case."""
    known = frozenset(element.lower() for element in elements)
    result = dict.fromkeys(ALGORITHMS_OF, known)
    for index, entry in enumerate(part for part in value.split(";") if part):
        function, _, listed = entry.rpartition(":")
        if not function and (index or value.startswith(";")):
            raise Refused(f"`{entry}` does not name a function; only the first entry may omit it")
        names = [name for name in ALGORITHMS_OF if not function or name.lower() == function.lower()]
        if not names:
            raise Refused(f"`{function}` is not a function")
        chosen = _chosen(listed, known)
        result.update((name, known - chosen if listed.startswith("^") else chosen) for name in names)
    return result


def _chosen(listed: str, known: frozenset[str]) -> frozenset[str]:
    words = [word for word in listed.removeprefix("^").split(",") if word]
    for word in words:
        if word.lower() not in known:
            raise Refused(f"`{word}` is not a known name" + (" (it contains a space)" if " " in word else ""))
    return frozenset(word.lower() for word in words)
